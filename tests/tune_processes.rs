//! Many processes on one store: nothing is lost, nothing is torn, nothing stays behind.
//!
//! The processes are this test binary again, told by the environment what to do.

mod tune_support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dspk::tune::cache::{CACHE_VARIABLE, Location};
use dspk::tune::{Effort, Origin, Policy, Settings, Tuner, Tuning};
use tune_support::{Scripted, files, process, warnings};

const PROCESSES: usize = 8;
const JOB: &str = "DSPK_TEST_TUNE_JOB";
const CACHE: &str = "DSPK_TEST_TUNE_CACHE";

fn operation(index: usize) -> String {
    format!("operation{}", index % PROCESSES)
}

fn start(cache: &Path, job: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env(CACHE, cache)
        .env(JOB, job)
        .env_remove(CACHE_VARIABLE)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a child does. Job `tune I` tunes two operations, `unlocked I` the same without file locks, `endless` tunes again
/// and again until it is killed, `homeless` tunes at the standard place.
#[test]
#[ignore = "started by the other tests, with its job in the environment"]
fn child() {
    // Without a job somebody runs all ignored tests: this is none.
    let Ok(job) = std::env::var(JOB) else { return };
    let cache = std::env::var_os(CACHE).unwrap();
    let (what, index) = job.split_once(' ').unwrap_or((&job, "0"));
    let index: usize = index.parse().unwrap();
    let location = if what == "homeless" { Location::Standard } else { Location::At(cache.into()) };
    let tuner = Tuner::new(Settings { location, locking: what != "unlocked", ..Settings::default() });
    let effort = |force| Effort { budget: Duration::from_secs(30), wait: Duration::from_secs(120), force };
    if what == "endless" {
        for step in 0.. {
            tuner.tune(&Scripted::new(&operation(step)), effort(true), &mut || ()).unwrap();
        }
    }
    for step in [index, index + 1] {
        let done = tuner.tune(&Scripted::new(&operation(step)), effort(false), &mut || ()).unwrap();
        assert!(matches!(done, Tuning::Tuned | Tuning::Cached), "{done:?}");
    }
}

fn all_succeed(children: Vec<Child>) {
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

/// The store answers for every operation without measuring, and holds sound entries alone (and notes of what a killed
/// process was trying).
fn is_whole(cache: &Path) {
    for index in 0..PROCESSES {
        let fake = Scripted::new(&operation(index));
        let choice = process(cache).choose(&fake, Policy::OnMiss);
        assert_eq!((choice.variant, choice.origin, fake.timed()), (1, Origin::Tuned, 0), "{index}");
    }
    assert_eq!(warnings(cache), [""; 0]);
    let names: Vec<String> = files(cache).iter().map(|f| f.file_name().unwrap().to_string_lossy().into()).collect();
    assert!(
        names.iter().all(|name| name.ends_with(".json") || name.ends_with(".trying") || name == "lock"),
        "{names:?}"
    );
    for file in files(cache).iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read_to_string(file).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema"], 1, "{}", file.display());
    }
}

#[test]
fn eight_processes_share_an_empty_store() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        all_succeed((0..PROCESSES).map(|i| start(folder.path(), &format!("tune {i}"))).collect());
        is_whole(folder.path());
    }
}

#[test]
fn eight_processes_without_file_locks() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        all_succeed((0..PROCESSES).map(|i| start(folder.path(), &format!("unlocked {i}"))).collect());
        is_whole(folder.path());
    }
}

#[test]
fn processes_killed_while_writing_harm_nobody() {
    for round in 0..5u64 {
        let folder = tempfile::tempdir().unwrap();
        let mut doomed: Vec<Child> = (0..2).map(|_| start(folder.path(), "endless")).collect();
        let rest: Vec<Child> = (0..PROCESSES).map(|i| start(folder.path(), &format!("tune {i}"))).collect();
        std::thread::sleep(Duration::from_millis(30 + 17 * round));
        for child in &mut doomed {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        all_succeed(rest);
        process(folder.path()).remove_leftovers("scripted");
        is_whole(folder.path());
    }
}

/// A file system that takes no more bytes: the results stay in memory, the process succeeds, nothing half-written stays,
/// and what was stored before is still there.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    all_succeed(vec![start(folder.path(), "tune 0")]);
    let before: Vec<_> = files(folder.path()).into_iter().map(|f| (std::fs::read(&f).unwrap(), f)).collect();
    // No file may grow; the signal that says so is ignored, so that writing fails as on a full disk.
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" --exact child --ignored"])
        .arg(std::env::current_exe().unwrap())
        .env(CACHE, folder.path())
        .env(JOB, "tune 1")
        .env_remove(CACHE_VARIABLE)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    assert_eq!(files(folder.path()).iter().filter(|f| f.to_string_lossy().ends_with(".tmp")).count(), 0);
    for (bytes, file) in before {
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{}", file.display());
    }
    let fake = Scripted::new(&operation(2));
    assert_eq!(process(folder.path()).choose(&fake, Policy::Cached).origin, Origin::Default);
}

/// A home that is no folder: the result stays in memory and the process succeeds.
#[cfg(unix)]
#[test]
fn a_process_without_a_home_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env(CACHE, folder.path())
        .env(JOB, "homeless")
        .env("HOME", "/dev/null/nobody")
        .env_remove("XDG_CACHE_HOME")
        .env_remove(CACHE_VARIABLE)
        .stdout(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    assert!(files(folder.path()).is_empty());
}
