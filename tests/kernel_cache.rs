//! The store of compiled kernels between processes: nothing is lost or torn, damage is said once, clearing is safe.
//!
//! The processes are this test binary again, told by the environment what to do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, Once};
use std::time::Duration;

use dspk::runtime::binaries::{Binaries, Cleared, clear};

const JOB: &str = "DSPK_TEST_KERNELS_JOB";
const CACHE: &str = "DSPK_TEST_KERNELS_CACHE";
const KEYS: usize = 12;

fn store(cache: &Path) -> Binaries {
    Binaries::new(Some(cache.into()), "card")
}

fn binary(key: usize) -> Vec<u8> {
    (0..20_000 + key).map(|i| ((i * i + key) % 253) as u8).collect()
}

fn files(cache: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(cache.join("kernels/v1/card")).unwrap();
    folder.map(|file| file.unwrap().path()).collect()
}

fn start(cache: &Path, job: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env(CACHE, cache)
        .env(JOB, job)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a child does: `write` stores and reads every key, starting anywhere; `endless` does so until it is killed;
/// `clear` clears again and again.
#[test]
#[ignore = "started by the other tests, with its job in the environment"]
fn child() {
    // Without a job somebody runs all ignored tests: this is none.
    let Ok(job) = std::env::var(JOB) else { return };
    let cache = PathBuf::from(std::env::var_os(CACHE).unwrap());
    let store = store(&cache);
    if job == "clear" {
        for _ in 0..50 {
            clear(&cache, None).unwrap();
        }
        return;
    }
    let first = std::process::id() as usize;
    for round in 0.. {
        for key in (0..KEYS).map(|i| (first + i) % KEYS) {
            store.save(&format!("{key}"), &binary(key));
            let found = store.load(&format!("{key}"));
            assert!(found.is_none_or(|found| found == binary(key)), "{key}");
        }
        if job == "write" && round == 4 {
            break;
        }
    }
}

#[test]
fn processes_share_a_store_and_one_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = start(folder.path(), "endless");
    let children: Vec<Child> = (0..8).map(|_| start(folder.path(), "write")).collect();
    std::thread::sleep(Duration::from_millis(50));
    victim.kill().unwrap();
    victim.wait().unwrap();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = store(folder.path());
    for key in 0..KEYS {
        assert_eq!(store.load(&format!("{key}")), Some(binary(key)));
    }
    // The first write also clears away what the killed process was writing.
    store.save("0", &binary(0));
    assert!(files(folder.path()).len() == KEYS || !Path::new("/proc/self").exists());
}

#[test]
fn clearing_and_writing_at_once_harm_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> =
        ["write", "clear", "write", "clear"].iter().map(|job| start(folder.path(), job)).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    clear(folder.path(), None).unwrap();
    assert_eq!(clear(folder.path(), None).unwrap(), Cleared::default());
    assert!(!folder.path().join("kernels").exists());
}

struct Recorder;

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl log::Log for Recorder {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }
    fn log(&self, record: &log::Record<'_>) {
        WARNINGS.lock().unwrap().push(record.args().to_string());
    }
    fn flush(&self) {}
}

/// Takes the warnings so far that name something below `folder`.
fn warnings(folder: &Path) -> Vec<String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Recorder).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
    let name = folder.display().to_string();
    WARNINGS.lock().unwrap().extract_if(.., |text| text.contains(&name)).collect()
}

#[test]
fn damage_is_said_once_and_a_missing_cache_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(warnings(folder.path()), [""; 0]);
    let file = folder.path().join("file");
    std::fs::write(&file, b"").unwrap();
    // A file for a folder, and a name that no folder can have.
    for cache in [file, folder.path().join("x".repeat(300))] {
        store(&cache).save("0", &binary(0));
        assert_eq!(store(&cache).load("0"), None);
    }
    let store = store(folder.path());
    assert_eq!(store.load("0"), None);
    store.save("0", &binary(0));
    assert_eq!(warnings(folder.path()), [""; 0]);
    let path = files(folder.path()).remove(0);
    std::fs::write(&path, b"half").unwrap();
    assert_eq!((store.load("0"), store.load("0")), (None, None));
    let said = warnings(folder.path());
    assert!(said.len() == 1 && said[0].contains(&path.display().to_string()), "{said:?}");
    std::fs::create_dir(&path).unwrap();
    assert_eq!(store.load("0"), None);
    let said = warnings(folder.path());
    assert!(said.len() == 1 && said[0].contains(&path.display().to_string()), "{said:?}");
    std::fs::remove_dir(&path).unwrap();
    store.save("0", &binary(0));
    assert_eq!(store.load("0"), Some(binary(0)));
}
