//! `autotune`: tunes the operations of this machine's devices ahead of time.
//!
//! Argument parsing and printing only. Every class is stored, whole, when it is settled, so an interrupted run keeps what
//! it has done and the next one goes on from there.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use dspk::tune::{AutotuneOptions, Progress, RuntimeSummary};
use dspk::{Error, ErrorKind};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Measures which kernel variants are fastest on this machine's devices and remembers them.
///
/// Runs ahead of time what DSPK_AUTOTUNE=on-miss does at first use. What is already settled is not measured again.
/// Results are kept below DSPK_CACHE_DIR, by default the user's cache folder.
#[derive(Debug, Parser)]
#[command(name = "autotune", version)]
struct Arguments {
    /// Runtime to tune, repeatable: cpu, wgpu, cuda, hip, or one device as listed by `dspk devices` [default: cpu and
    /// every hardware device here]
    #[arg(long = "runtime", value_name = "NAME", value_delimiter = ',')]
    runtimes: Vec<String>,

    /// Channel counts [default: 32,64,128,384]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    channels: Vec<usize>,

    /// Samples per channel [default: 8192,32768,131072,524288]
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    samples: Vec<usize>,

    /// Operations by name [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    ops: Vec<String>,

    /// Wall time per runtime: 90, 90s or 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_budget)]
    budget: Duration,

    /// Measure again what is already settled
    #[arg(long)]
    force: bool,

    /// Print the result as JSON, keyed by runtime
    #[arg(long)]
    json: bool,

    /// No progress bar and no table
    #[arg(long, short)]
    quiet: bool,
}

/// What does the work: `dspk::runtime::autotune_with`, or a scripted one in tests.
type Backend<'a> =
    &'a mut dyn FnMut(&AutotuneOptions, &mut dyn FnMut(&Progress<'_>)) -> Result<Vec<RuntimeSummary>, Error>;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::new().filter_or("DSPK_LOG", "error,dspk=warn")).init();
    let mut backend = dspk::runtime::autotune_with;
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    ExitCode::from(run(std::env::args_os(), &mut backend, &mut out, &mut err))
}

const OK: u8 = 0;
const FAILED: u8 = 1;
const USAGE: u8 = 2;

/// The whole program; gives the exit code.
fn run(
    arguments: impl IntoIterator<Item = impl Into<std::ffi::OsString> + Clone>,
    backend: Backend<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => return finish(write!(out, "{error}"), OK),
        Err(error) => return finish(writeln!(err, "{}", one_line(&error.to_string())), USAGE),
    };
    let bar = progress_bar(!arguments.quiet && !arguments.json);
    let mut waiting = false;
    let result = backend(&arguments.options(), &mut |progress| {
        show(&bar, progress);
        if progress.waiting && !std::mem::replace(&mut waiting, true) && !arguments.quiet {
            let text = format!("waiting: another process is tuning {}", progress.runtime);
            bar.suspend(|| finish(writeln!(err, "{text}"), OK));
        }
    });
    bar.finish_and_clear();
    let summaries = match result {
        Ok(summaries) => summaries,
        Err(error) => {
            return finish(writeln!(err, "{}", one_line(&format!("error: {error}"))), exit_code(&error));
        }
    };
    for failure in summaries.iter().flat_map(|summary| summary.failed.iter().map(move |f| (&summary.runtime, f))) {
        finish(writeln!(err, "{}", one_line(&format!("error: {}: {}", failure.0, failure.1))), OK);
    }
    let code = if summaries.iter().any(|summary| !summary.failed.is_empty()) { FAILED } else { OK };
    if arguments.json {
        return finish(writeln!(out, "{}", json(&summaries)), code);
    }
    if arguments.quiet { code } else { finish(write!(out, "{}", table(&summaries)), code) }
}

/// A closed pipe on the other side is no reason to fail.
fn finish(written: std::io::Result<()>, code: u8) -> u8 {
    match written {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => code.max(FAILED),
        _ => code,
    }
}

fn exit_code(error: &Error) -> u8 {
    if error.kind().is_usage() || error.kind() == ErrorKind::UnknownRuntime { USAGE } else { FAILED }
}

impl Arguments {
    fn options(&self) -> AutotuneOptions {
        AutotuneOptions {
            runtimes: self.runtimes.clone(),
            channels: self.channels.clone(),
            samples: self.samples.clone(),
            operations: self.ops.clone(),
            budget: self.budget,
            force: self.force,
        }
    }
}

/// `90`, `90s`, `1.5m` or `2h`.
fn parse_budget(text: &str) -> Result<Duration, String> {
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

/// The first paragraph of a message, on one line.
fn one_line(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn progress_bar(wanted: bool) -> ProgressBar {
    let visible = wanted && std::io::stderr().is_terminal();
    let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{prefix:>6} [{bar:32}] {pos}/{len} {wide_msg}");
    let bar = ProgressBar::with_draw_target(Some(0), target);
    match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, progress: &Progress<'_>) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    bar.set_prefix(progress.runtime.to_string());
    let left = progress.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let waiting = if progress.waiting { " (waiting for another process)" } else { "" };
    let (channels, samples) = progress.size;
    bar.set_message(format!("{} {channels} x {samples}{waiting}{left}", progress.operation));
}

/// Minutes and seconds.
fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

fn json(summaries: &[RuntimeSummary]) -> serde_json::Value {
    summaries.iter().map(|summary| (summary.runtime.clone(), serde_json::json!(summary))).collect()
}

fn table(summaries: &[RuntimeSummary]) -> String {
    let width = summaries.iter().map(|s| s.runtime.len()).max().unwrap_or(0).max("runtime".len());
    let mut text = format!(
        "{:width$}  {:>5}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>10}\n",
        "runtime", "sizes", "seconds", "tuned", "cached", "skipped", "failed", "launches"
    );
    for s in summaries {
        text.push_str(&format!(
            "{:width$}  {:>5}  {:>8.1}  {:>6}  {:>6}  {:>7}  {:>6}  {:>10}\n",
            s.runtime,
            s.sizes,
            s.seconds,
            s.tuned,
            s.cached,
            s.skipped,
            s.failed.len(),
            s.benchmark_launches
        ));
    }
    if summaries.iter().any(|s| s.skipped > 0) {
        text.push_str("skipped: did not fit the budget; tuned when first met (a larger --budget tunes them now)\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(runtime: &str, failed: &[&str]) -> RuntimeSummary {
        RuntimeSummary {
            runtime: runtime.into(),
            sizes: 16,
            seconds: 12.3,
            benchmark_launches: 4210,
            verification_runs: 80,
            tuned: 30,
            cached: 2,
            inconclusive: 0,
            skipped: 1,
            failed: failed.iter().map(|f| f.to_string()).collect(),
        }
    }

    /// Runs the program on a scripted backend: exit code, stdout, stderr, the options it got.
    fn program(
        arguments: &[&str],
        answer: Result<Vec<RuntimeSummary>, Error>,
    ) -> (u8, String, String, Option<AutotuneOptions>) {
        let (mut out, mut err, mut got) = (Vec::new(), Vec::new(), None);
        let mut backend = |options: &AutotuneOptions, progress: &mut dyn FnMut(&Progress<'_>)| {
            got = Some(options.clone());
            for waiting in [false, true, true] {
                let left = Some(Duration::from_secs(61));
                let size = (32, 8192);
                progress(&Progress { runtime: "cpu", operation: "fir", size, done: 1, total: 4, left, waiting });
            }
            answer.clone()
        };
        let all = std::iter::once("autotune").chain(arguments.iter().copied());
        let code = run(all, &mut backend, &mut out, &mut err);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap(), got)
    }

    #[test]
    fn defaults() {
        let (code, out, err, options) = program(&[], Ok(vec![summary("cpu", &[])]));
        assert_eq!(code, OK);
        assert_eq!(options.unwrap(), AutotuneOptions::default());
        assert!(out.starts_with("runtime") && out.contains("4210") && out.contains("skipped: "), "{out}");
        assert_eq!(err, "waiting: another process is tuning cpu\n");
    }

    #[test]
    fn every_argument_arrives() {
        let arguments =
            "--runtime cpu --runtime wgpu:0 --channels 3,5 --samples 100 --ops fir,sosfilt --budget 2m --force";
        let (_, _, _, options) = program(&arguments.split(' ').collect::<Vec<_>>(), Ok(vec![]));
        let expected = AutotuneOptions {
            runtimes: vec!["cpu".into(), "wgpu:0".into()],
            channels: vec![3, 5],
            samples: vec![100],
            operations: vec!["fir".into(), "sosfilt".into()],
            budget: Duration::from_secs(120),
            force: true,
        };
        assert_eq!(options.unwrap(), expected);
    }

    #[test]
    fn json_is_keyed_by_runtime() {
        let (code, out, _, _) = program(&["--json"], Ok(vec![summary("cpu", &[]), summary("wgpu", &[])]));
        assert_eq!(code, OK);
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["cpu"]["sizes"], 16);
        assert_eq!(value["cpu"]["seconds"], 12.3);
        assert_eq!(value["wgpu"]["benchmark_launches"], 4210);
        assert!(value["cpu"].get("runtime").is_none());
        let (_, nothing, _, _) = program(&["--json"], Ok(vec![]));
        assert_eq!(nothing.trim(), "{}");
    }

    #[test]
    fn quiet_prints_nothing() {
        let (code, out, err, _) = program(&["--quiet"], Ok(vec![summary("cpu", &[])]));
        assert_eq!((code, out.as_str(), err.as_str()), (OK, "", ""));
    }

    #[test]
    fn a_failed_operation_is_one_line_and_exit_1() {
        let failed = vec![summary("cpu", &["fir 32 x 8192: no variant\nis right"])];
        let (code, _, err, _) = program(&["--quiet"], Ok(failed));
        assert_eq!(code, FAILED);
        assert_eq!(err, "error: cpu: fir 32 x 8192: no variant is right\n");
    }

    #[test]
    fn a_failed_runtime_is_one_line_and_exit_1() {
        let error = Error::from(std::io::Error::other("no\ndevice"));
        let (code, out, err, _) = program(&["--quiet"], Err(error));
        assert_eq!((code, out.as_str(), err.as_str()), (FAILED, "", "error: no device\n"));
    }

    #[test]
    fn wrong_usage_is_one_line_and_exit_2() {
        for arguments in [["--budget", "soon"], ["--channels", "many"], ["--nonsense", "1"], ["--budget", "-5"]] {
            let (code, out, err, options) = program(&arguments, Ok(vec![]));
            assert_eq!(code, USAGE, "{arguments:?}");
            assert!(options.is_none() && out.is_empty());
            assert_eq!(err.lines().count(), 1, "{err}");
            assert!(err.starts_with("error: "), "{err}");
        }
        let (code, out, _, _) = program(&["--help"], Ok(vec![]));
        assert_eq!(code, OK);
        assert!(out.contains("--budget"));
    }

    #[test]
    fn budgets() {
        let budget = |text| parse_budget(text).map(|b| b.as_secs_f64());
        assert_eq!(budget("90"), Ok(90.0));
        assert_eq!(budget("90s"), Ok(90.0));
        assert_eq!(budget(" 1.5 m "), Ok(90.0));
        assert_eq!(budget("2h"), Ok(7200.0));
        for wrong in ["", "s", "5x", "0", "-1", "nan", "inf", "1e300", "5m5"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
