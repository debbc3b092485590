//! A winner that was tuned for another shape, or that a store names and nobody knows: results stay right.
//!
//! Each test works in processes of its own, which are this binary again, because the store is the process's.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use common::{close, noise, runtimes};
use dspk::design::{Band, butter};
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::filter::{FirFilter, SosFilter};
use dspk::ops::spatial::{CommonReferenceOptions, Operator, common_reference};
use dspk::signal::View;
use dspk::tune::AutotuneOptions;
use dspk::tune::POLICY_VARIABLE;
use dspk::tune::cache::CACHE_VARIABLE;

const JOB: &str = "DSPK_TEST_TUNE_FIELD_JOB";
const TUNED: usize = 128;
const SAMPLES: usize = 1001;

/// Runs this binary's [`child`] with a job on a store.
fn run(cache: &Path, policy: &str, job: &str) {
    let done = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "child", "--ignored"])
        .env(CACHE_VARIABLE, cache)
        .env(POLICY_VARIABLE, policy)
        .env(JOB, job)
        .output()
        .expect("started");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{job} ({policy}): {}{}", said(&done.stdout), said(&done.stderr));
}

/// Every entry of a store.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path()) {
        match path.is_dir() {
            true => found.extend(entries(&path)),
            false if std::fs::read_to_string(&path).is_ok_and(|text| text.contains("\"winner\"")) => found.push(path),
            false => {}
        }
    }
    found
}

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Recorder;

impl log::Log for Recorder {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }
    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            WARNINGS.lock().expect("warnings").push(record.args().to_string());
        }
    }
    fn flush(&self) {}
}

/// What a child does: `tune RUNTIME`, `shapes RUNTIME` (at other widths), `edited RUNTIME` (every
/// operation at the tuned width, with one warning for each entry whose winner is unknown).
#[test]
#[ignore = "started by the other tests, with its job in the environment"]
fn child() {
    // Without a job somebody runs all ignored tests: this is none.
    let Ok(job) = std::env::var(JOB) else { return };
    let (what, runtime) = job.split_once(' ').expect("a job and a runtime");
    match what {
        "tune" => {
            let options = AutotuneOptions {
                runtimes: vec![runtime.into()],
                channels: vec![TUNED],
                samples: vec![SAMPLES],
                operations: ["convert", "lfilter", "sosfilt", "common_reference"].map(String::from).to_vec(),
                ..Default::default()
            };
            let done = dspk::runtime::autotune_with(&options, &mut |_| ()).expect("tuned");
            assert!(done[0].failed.is_empty() && done[0].tuned > 0, "{done:?}");
        }
        "shapes" => [TUNED, 126, 104, 208, 440, 7].into_iter().for_each(|channels| check(runtime, channels)),
        _ => {
            log::set_logger(&Recorder).expect("the first logger");
            log::set_max_level(log::LevelFilter::Warn);
            (0..3).for_each(|_| check(runtime, TUNED));
            let mut said = WARNINGS.lock().expect("warnings").clone();
            said.retain(|text| text.contains("tuning entry"));
            let cache = PathBuf::from(std::env::var_os(CACHE_VARIABLE).expect("a store"));
            for entry in entries(&cache) {
                let naming = said.iter().filter(|text| text.contains(&entry.display().to_string())).count();
                assert_eq!(naming, 1, "{}: {said:?}", entry.display());
            }
            assert_eq!(said.len(), entries(&cache).len(), "{said:?}");
        }
    }
}

/// The operations that were tuned, against float64.
fn check(runtime: &str, channels: usize) {
    let raw: Vec<i16> = noise(channels * SAMPLES, 9).iter().map(|v| (v * 3000.0) as i16).collect();
    let raw_view = View::interleaved(&raw, channels).expect("view");
    let options = ConvertOptions { gain: Scale::One(0.195), runtime: Some(runtime.into()), ..Default::default() };
    let converted = convert(raw_view, &options).expect("converted");
    let x: Vec<f32> = noise(channels * SAMPLES, 5).iter().enumerate().map(|(i, v)| v + (i / SAMPLES) as f32).collect();
    let view = View::new(&x, channels, SAMPLES).expect("view");
    let taps: Vec<f64> = (0..63).map(|k| (0.3 * f64::from(k)).cos() / 40.0).collect();
    let fir = FirFilter::new(&taps).expect("filter").on(runtime).apply(view).expect("filtered");
    let sos = butter(5, Band::Pass(300.0, 6000.0), 30_000.0).expect("design");
    let iir = SosFilter::new(&sos).expect("filter").on(runtime).apply(view).expect("filtered");
    let reference = |operator| {
        let options = CommonReferenceOptions { operator, runtime: Some(runtime.into()), ..Default::default() };
        common_reference(view, &options).expect("referenced")
    };
    let (means, medians) = (reference(Operator::Mean), reference(Operator::Median));
    let columns: Vec<Vec<f64>> = (0..SAMPLES)
        .map(|n| {
            let mut column: Vec<f64> = (0..channels).map(|c| f64::from(x[c * SAMPLES + n])).collect();
            column.sort_by(f64::total_cmp);
            column
        })
        .collect();
    let middle = |v: &Vec<f64>| (v[(channels - 1) / 2] + v[channels / 2]) / 2.0;
    let mean = |v: &Vec<f64>| v.iter().sum::<f64>() / channels as f64;
    let gain: f64 = taps.iter().map(|t| t.abs()).sum();
    for c in 0..channels {
        let what = |op: &str| format!("{op}, channel {c} of {channels} on {runtime}");
        let row: Vec<f64> = x[c * SAMPLES..(c + 1) * SAMPLES].iter().map(|v| f64::from(*v)).collect();
        let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let scaled: Vec<f64> = (0..SAMPLES).map(|n| f64::from(raw[n * channels + c]) * 0.195).collect();
        close(&what("convert"), converted.row(c), &scaled, 1.5e-7, 0.0);
        let filtered: Vec<f64> =
            (0..SAMPLES).map(|n| taps.iter().take(n + 1).enumerate().map(|(k, h)| h * row[n - k]).sum()).collect();
        close(&what("lfilter"), fir.row(c), &filtered, 1e-6, gain * largest);
        close(&what("sosfilt"), iir.row(c), &cascade(sos.sections(), &row), 1e-6, 0.0);
        let less = |f: &dyn Fn(&Vec<f64>) -> f64| row.iter().zip(&columns).map(|(v, m)| v - f(m)).collect::<Vec<_>>();
        close(&what("mean"), means.row(c), &less(&mean), 3e-7, largest);
        close(&what("median"), medians.row(c), &less(&middle), 3e-7, largest);
    }
}

/// The float64 recursion of a cascade.
fn cascade(sections: &[[f64; 6]], x: &[f64]) -> Vec<f64> {
    let mut z = vec![[0.0; 2]; sections.len()];
    let step = |x: &f64| {
        sections.iter().zip(&mut z).fold(*x, |x, (s, z)| {
            let y = s[0] * x + z[0];
            z[0] = s[1] * x - s[4] * y + z[1];
            z[1] = s[2] * x - s[5] * y;
            y
        })
    };
    x.iter().map(step).collect()
}

/// Tuned at 128 channels, then used at widths in the same class and near it, with and without tuning on the way.
#[test]
fn winners_of_one_width_are_right_at_others() {
    for runtime in runtimes() {
        let folder = tempfile::tempdir().expect("folder");
        run(folder.path(), "on-miss", &format!("tune {runtime}"));
        run(folder.path(), "cached", &format!("shapes {runtime}"));
        run(folder.path(), "on-miss", &format!("shapes {runtime}"));
    }
}

/// A store that names winners nobody knows: the next valid candidate runs, with one warning.
#[test]
fn unknown_winners_give_way_with_one_warning() {
    for runtime in runtimes() {
        let folder = tempfile::tempdir().expect("folder");
        run(folder.path(), "on-miss", &format!("tune {runtime}"));
        assert!(entries(folder.path()).len() >= 4, "{runtime}");
        for entry in entries(folder.path()) {
            let text = std::fs::read_to_string(&entry).expect("entry");
            let value: serde_json::Value = serde_json::from_str(&text).expect("sound");
            let winner = format!("\"{}\"", value["winner"].as_str().expect("winner"));
            std::fs::write(&entry, text.replace(&winner, "\"search WG=1024 VEC=64\"")).expect("edited");
        }
        run(folder.path(), "cached", &format!("edited {runtime}"));
    }
}
