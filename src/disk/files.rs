//! Writing a file whole or not at all, and clearing away what killed processes left.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Ending of a file that is being written.
const TEMPORARY: &str = ".tmp";
/// A temporary file this old belongs to nobody, whatever its process number.
const ABANDONED: Duration = Duration::from_secs(3600);

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// What stands at a path.
pub(crate) enum Content {
    Missing,
    Bytes(Vec<u8>),
    /// A file that cannot be an entry.
    Damaged(String),
    /// Something that is not a file, or may not be read.
    Blocked(String),
}

/// Reads a regular file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Content {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Content::Missing,
        _ => Content::Blocked(e.to_string()),
    };
    // Asked first: opening a pipe would wait for its writer.
    match fs::metadata(path) {
        Ok(facts) if !facts.is_file() => return Content::Blocked("it is not a file".into()),
        Ok(_) => {}
        Err(e) => return failed(e),
    }
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
        Err(e) => failed(e),
        Ok(_) if bytes.len() as u64 > most => Content::Damaged(format!("it is larger than {most} bytes")),
        Ok(_) => Content::Bytes(bytes),
    }
}

/// Puts `bytes` at `folder/name`: written beside it, synced, renamed.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    put(folder, name, bytes, File::sync_all)
}

/// Like [`write`], but does not wait for the disk: after a power failure the file may be torn, so its reader has to be
/// able to tell.
pub(crate) fn write_unsynced(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    put(folder, name, bytes, |_| Ok(()))
}

fn put(folder: &Path, name: &str, bytes: &[u8], finish: fn(&File) -> io::Result<()>) -> io::Result<()> {
    match put_once(folder, name, bytes, finish) {
        // The folder is missing, or somebody cleared it away, or took our temporary file for a dead process's.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            put_once(folder, name, bytes, finish)
        }
        done => done,
    }
}

fn put_once(folder: &Path, name: &str, bytes: &[u8], finish: fn(&File) -> io::Result<()>) -> io::Result<()> {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!("{name}.{}-{count}{TEMPORARY}", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| finish(&file)))
        .and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        // Nothing more can be done about a file that cannot be removed; a later run tries again.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The name a temporary file was to get, and the process that wrote it; `None` for any other name.
pub(crate) fn temporary(name: &str) -> Option<(&str, u32)> {
    let (target, id) = name.strip_suffix(TEMPORARY)?.rsplit_once('.')?;
    let (process, count) = id.split_once('-')?;
    count.parse::<u64>().ok()?;
    Some((target, process.parse().ok()?))
}

/// Removes the temporary files of processes that are gone.
pub(crate) fn remove_leftovers(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let Some(name) = name.to_str().filter(|name| name.ends_with(TEMPORARY)) else { continue };
        let age = file.metadata().and_then(|facts| facts.modified()).ok().and_then(|time| time.elapsed().ok());
        let old = age.is_some_and(|age| age > ABANDONED);
        if old || temporary(name).is_some_and(|(_, process)| is_gone(process)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Whether a process certainly no longer runs; where that cannot be told without system calls, age alone decides.
fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    process != std::process::id() && processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        write(&inner, "x.json", b"one").unwrap();
        write_unsynced(&inner, "x.json", b"two").unwrap();
        assert!(matches!(read(&inner.join("x.json"), 9), Content::Bytes(b) if b == b"two"));
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 1);
    }

    #[test]
    fn temporary_names_are_told_from_others() {
        assert_eq!(temporary("x.json.17-3.tmp"), Some(("x.json", 17)));
        for other in ["x.json", "x.tmp", "x.json.tmp", "x.json.17.tmp", "x.json.a-3.tmp", "x.json.17-b.tmp", ".tmp", ""]
        {
            assert_eq!(temporary(other), None, "{other}");
        }
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x.json")).unwrap();
        fs::write(folder.path().join("x.json/full"), b"").unwrap();
        assert!(write(folder.path(), "x.json", b"one").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(matches!(read(&folder.path().join("x.json"), 9), Content::Blocked(_)));
        assert!(matches!(read(&folder.path().join("none"), 9), Content::Missing));
    }

    #[test]
    fn a_huge_file_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        File::create(&path).unwrap().set_len(1 << 33).unwrap();
        assert!(matches!(read(&path, 1 << 20), Content::Damaged(_)));
    }

    #[test]
    fn leftovers_of_the_dead_and_the_old_go() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = folder.path().join(name);
            fs::write(&path, b"half").unwrap();
            path
        };
        let (dead, ours) = (put("x.json.4294967294-0.tmp"), put(&format!("x.json.{}-7.tmp", std::process::id())));
        let (odd, old, entry) = (put("strange.tmp"), put("other.tmp"), put("x.json"));
        let past = std::time::SystemTime::now() - 2 * ABANDONED;
        File::options().write(true).open(&old).unwrap().set_modified(past).unwrap();
        remove_leftovers(folder.path());
        assert!(!dead.exists() || !Path::new("/proc/self").exists());
        assert!(!old.exists());
        assert!(ours.exists() && odd.exists() && entry.exists());
        remove_leftovers(&folder.path().join("missing"));
    }
}
