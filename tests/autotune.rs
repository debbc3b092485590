//! The `autotune` binary: interrupted and resumed, within its budget, and its results shown, carried and removed.
#![cfg(feature = "cli")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program with a cache of its own, on the CPU, whatever the environment says.
fn command(cache: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autotune"));
    command.args(arguments.split_whitespace()).env("DSPK_CACHE_DIR", cache).env("DSPK_RUNTIME", "cpu");
    command.env_remove("DSPK_AUTOTUNE").env_remove("DSPK_LOG").stdin(Stdio::null());
    command
}

fn run(cache: &Path, arguments: &str) -> Output {
    command(cache, arguments).output().unwrap()
}

/// The standard output of a run that must succeed.
fn output(cache: &Path, arguments: &str) -> String {
    let done = run(cache, arguments);
    assert_eq!(done.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn json(cache: &Path, arguments: &str) -> Value {
    serde_json::from_str(&output(cache, arguments)).unwrap()
}

/// Everything below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let inner = fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path());
    inner.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Stored results: files of an operation, whole.
fn entries(cache: &Path) -> usize {
    let is_entry = |path: &&PathBuf| path.extension().is_some_and(|e| e == "json") && !path.ends_with("device.json");
    files(cache).iter().filter(is_entry).count()
}

/// A few small sizes of two operations: some seconds.
const SMALL: &str = "--runtime cpu --ops convert,lfilter --channels 4 --samples 512,2048 --json --budget 2m";

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    use std::os::unix::process::ExitStatusExt;
    let cache = tempfile::tempdir().unwrap();
    let sizes = "--runtime cpu --channels 4,6,9,16 --samples 512,2048,5000,16384,40000 --json --budget 5m";
    let mut child = command(cache.path(), sizes).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while entries(cache.path()) < 2 {
        assert!(start.elapsed() < Duration::from_secs(120), "no result in two minutes");
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: `kill` reads two integers; the process is our child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
    let status = child.wait().unwrap();
    // A shell shows 130 for this.
    assert_eq!((status.code(), status.signal()), (None, Some(libc::SIGINT)));
    let kept = entries(cache.path());
    assert!(kept >= 2);

    let again = json(cache.path(), "--runtime cpu --channels 4 --samples 512 --json --budget 2m");
    assert!(again["cpu"]["cached"].as_u64().unwrap() >= 1, "{again}");
    assert_eq!(again["cpu"]["failed"], Value::Array(vec![]));
    let names: Vec<String> =
        files(cache.path()).iter().map(|f| f.file_name().unwrap().to_string_lossy().into()).collect();
    assert!(names.iter().all(|name| name.ends_with(".json") || name == "lock"), "{names:?}");
    for file in files(cache.path()).iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
        serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
}

#[test]
fn a_budget_ends_a_large_grid() {
    let cache = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let done = json(cache.path(), "--runtime cpu --channels 32,64,128,384 --budget 3s --json");
    // Three seconds; generous, since tests share the machine and one step may be under way when time is up.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(done["cpu"]["skipped"].as_u64().unwrap() > 0, "{done}");
    assert_eq!(done["cpu"]["failed"], Value::Array(vec![]));
}

#[test]
fn results_are_shown_carried_and_removed() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, there) = (here.path(), there.path());
    let refused = run(here, "--export results.json");
    assert_eq!(refused.status.code(), Some(1));
    let unknown = json(here, "--explain lfilter --channels 4 --samples 512 --json");
    assert_eq!(unknown[0]["origin"], "default");
    assert!(files(here).is_empty(), "explaining measures nothing");

    let tuned = json(here, SMALL);
    let classes = tuned["cpu"]["tuned"].as_u64().unwrap() + tuned["cpu"]["inconclusive"].as_u64().unwrap();
    assert_eq!(classes, 4, "{tuned}");
    let known = output(here, "--explain lfilter --channels 4 --samples 512");
    assert!(known.contains("lfilter taps64") && known.contains("timed  "), "{known}");

    let report = there.join("report.html");
    output(here, &format!("{SMALL} --report {}", report.display()));
    let page = fs::read_to_string(&report).unwrap();
    assert!(page.contains("lfilter") && page.contains("<svg ") && page.ends_with("</html>\n"));
    fs::remove_file(report).unwrap();

    let file = there.join("results.json");
    assert_eq!(json(here, &format!("--export {} --json", file.display()))["results"], 4);
    assert_eq!(output(here, "--export -"), fs::read_to_string(&file).unwrap());
    assert_eq!(json(there, &format!("--import {} --json", file.display()))["imported"], 4);
    assert_eq!(json(here, &format!("--import {} --json", file.display()))["kept"], 4);
    let resumed = json(there, SMALL);
    assert_eq!((&resumed["cpu"]["benchmark_launches"], &resumed["cpu"]["cached"]), (&0.into(), &4.into()), "{resumed}");

    let cleared = json(here, "--clear --runtime cpu --json");
    assert!(cleared["files"].as_u64().unwrap() >= 5 && cleared["bytes"].as_u64().unwrap() > 1000, "{cleared}");
    assert!(files(here).is_empty(), "{:?}", files(here));
    assert_eq!(json(here, "--clear --json")["files"], 0);
}

#[test]
fn files_of_other_devices_or_of_none_are_refused() {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("in.json");
    let import = |text: &str| {
        fs::write(&path, text).unwrap();
        let done = run(cache.path(), &format!("--import {}", path.display()));
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), err.lines().count()), (Some(2), 1), "{err}");
        err
    };
    assert!(import("no results").contains("these are no tuning results"));
    let facts =
        r#"{"schema": 1, "device": "gfx", "runtime": "", "architecture": "", "vendor": "", "name": "", "driver": ""}"#;
    let foreign = format!(r#"{{"schema": 1, "made_by": "", "devices": [{{"facts": {facts}, "entries": []}}]}}"#);
    assert!(import(&foreign).contains("other devices (gfx)"));
    assert_eq!(run(cache.path(), "--import absent.json").status.code(), Some(2));
}

#[test]
fn an_unknown_policy_is_wrong_usage() {
    let cache = tempfile::tempdir().unwrap();
    let done = command(cache.path(), "--explain sosfilt").env("DSPK_AUTOTUNE", "always").output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8(done.stderr).unwrap().contains("DSPK_AUTOTUNE"));
    assert_eq!(run(cache.path(), "--explain nonsense").status.code(), Some(2));
}
