//! What can be asked for.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Parser};
use dspk::tune::AutotuneOptions;

/// Sizes that `--explain` asks about unless told otherwise: two seconds of a 384-channel probe at 30 kHz.
const EXPLAINED: ([usize; 1], [usize; 1]) = ([384], [60_000]);

/// Measures which kernel variants are fastest on this machine's devices and remembers them.
///
/// Runs ahead of time what DSPK_AUTOTUNE=on-miss does at first use. What is already settled is not measured again.
/// Results are kept below DSPK_CACHE_DIR, by default the user's cache folder.
#[derive(Debug, Parser)]
#[command(name = "autotune", version)]
#[command(group = ArgGroup::new("action").args(["explain", "export", "import", "clear", "report"]))]
#[command(group = ArgGroup::new("instead").args(["explain", "export", "import", "clear"])
    .conflicts_with_all(["budget", "ops"]))]
pub struct Arguments {
    /// Runtime to tune, repeatable: cpu, wgpu, cuda, hip, or one device as listed by `dspk devices` [default: cpu and
    /// every hardware device here]
    #[arg(long = "runtime", value_name = "NAME", value_delimiter = ',')]
    pub runtimes: Vec<String>,

    /// Channel counts [default: 32,64,128,384]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub channels: Vec<usize>,

    /// Samples per channel [default: 8192,32768,131072,524288]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub samples: Vec<usize>,

    /// Operations by name [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub ops: Vec<String>,

    /// Wall time per runtime: 90, 90s or 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_budget, allow_hyphen_values = true)]
    pub budget: Duration,

    /// Measure again what is already settled; with --import: take over results of other devices, too, and in place of
    /// this machine's own
    #[arg(long, conflicts_with_all = ["explain", "export", "clear"])]
    pub force: bool,

    /// Then write a page with all results of this machine (with --runtime: of its device), plots and reasons
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Tune nothing; say which variant of this operation calls use now, and why [default: 384 channels, 60000 samples,
    /// the current runtime]
    #[arg(long, value_name = "OP")]
    pub explain: Option<String>,

    /// Tune nothing; write the results of this machine (with --runtime: of its device) to a file that --import reads; `-`
    /// = stdout
    #[arg(long, value_name = "FILE", conflicts_with_all = ["channels", "samples"])]
    pub export: Option<PathBuf>,

    /// Tune nothing; take over results for this machine's devices that --export wrote elsewhere; `-` = stdin. They are
    /// verified before their first use
    #[arg(long, value_name = "FILE", conflicts_with_all = ["channels", "samples", "runtimes"])]
    pub import: Option<PathBuf>,

    /// Tune nothing; remove stored results and compiled kernels of all devices (with --runtime: of its device)
    #[arg(long, conflicts_with_all = ["channels", "samples"])]
    pub clear: bool,

    /// Print the result as JSON; of tuning, keyed by runtime
    #[arg(long)]
    pub json: bool,

    /// No progress bar and no table
    #[arg(long, short)]
    pub quiet: bool,
}

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// clap's, which also stands for `--help` and `--version`.
    pub fn read(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(arguments)
    }

    /// What tuning is asked for.
    pub fn options(&self) -> AutotuneOptions {
        AutotuneOptions {
            runtimes: self.runtimes.clone(),
            channels: self.channels.clone(),
            samples: self.samples.clone(),
            operations: self.ops.clone(),
            budget: self.budget,
            force: self.force,
        }
    }

    /// Every combination of channels, samples and runtime that `--explain` asks about.
    pub fn explained(&self) -> Vec<(usize, usize, Option<&str>)> {
        let or = |given: &[usize], default: &[usize]| if given.is_empty() { default.to_vec() } else { given.to_vec() };
        let (channels, samples) = (or(&self.channels, &EXPLAINED.0), or(&self.samples, &EXPLAINED.1));
        let runtimes: Vec<Option<&str>> = match &self.runtimes[..] {
            [] => vec![None],
            named => named.iter().map(|name| Some(name.as_str())).collect(),
        };
        let mut all = Vec::new();
        for runtime in runtimes {
            for &c in &channels {
                all.extend(samples.iter().map(|&s| (c, s, runtime)));
            }
        }
        all
    }
}

/// `90`, `90s`, `1.5m` or `2h`.
pub fn parse_budget(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let scale = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{unit:?} is not a unit of time; use s, m or h")),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| "expected a time such as 90, 90s or 5m".to_string())?;
    match Duration::try_from_secs_f64(seconds * scale) {
        Ok(budget) if !budget.is_zero() => Ok(budget),
        _ => Err("a time must be above 0 and finite".into()),
    }
}
