//! Removing tuning results.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::SCHEMA;
pub use crate::disk::Cleared;
use crate::disk::{clear as disk, files};
use crate::error::Result;

/// Removes the tuning results of these devices, by key (`None` = of all), from a cache folder, and the folders that are
/// then empty. Only what dspk wrote goes: entries, entries set aside as damaged, unfinished files, lock files that nobody
/// holds. Anything else stays; links are neither followed nor removed; a missing folder is nothing to do. Running
/// processes keep what they have in memory.
///
/// # Errors
/// [`crate::ErrorKind::Io`], naming the path, where something may not be listed or removed; what went before is gone.
pub fn clear(cache: &Path, devices: Option<&[String]>) -> Result<Cleared> {
    disk::clear(cache, ["tune", &format!("v{SCHEMA}")], devices, 1, is_ours)
}

fn is_ours(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if name == "lock" {
        return is_free(path);
    }
    let target = files::temporary(name).map_or(name, |(target, _)| target);
    target.strip_suffix(".damaged").unwrap_or(target).ends_with(".json")
}

/// Whether nobody holds the lock: removing one that is held would let a second tuner in.
fn is_free(lock: &Path) -> bool {
    let file = File::options().write(true).open(lock);
    !matches!(file.map(|file| file.try_lock()), Ok(Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn put(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"1234").unwrap();
    }

    #[test]
    fn results_go_and_the_rest_stays() {
        let cache = tempfile::tempdir().unwrap();
        let cache = cache.path();
        assert_eq!(clear(cache, None).unwrap(), Cleared::default());
        for name in ["device.json", "lock", "fir/a.json", "fir/a.json.damaged", "fir/a.json.4294967294-0.tmp"] {
            put(&cache.join("tune/v1/card").join(name));
        }
        put(&cache.join("tune/v1/other/sosfilt/a.json"));
        let foreign = ["card/fir/notes.txt", "card/fir/deep/a.json", "card/fir/x.tmp", "card/x.damaged", "a.json"];
        let foreign: Vec<_> = foreign.iter().map(|name| cache.join("tune/v1").join(name)).collect();
        foreign.iter().for_each(|path| put(path));
        put(&cache.join("kernels/v1/card/a.json"));

        let card = ["card".to_string()];
        assert_eq!(clear(cache, Some(&card)).unwrap(), Cleared { files: 5, bytes: 20, left: 4 });
        assert!(cache.join("tune/v1/other/sosfilt/a.json").exists());
        assert_eq!(clear(cache, None).unwrap(), Cleared { files: 1, bytes: 4, left: 5 });
        assert!(foreign.iter().all(|path| path.exists()) && !cache.join("tune/v1/other").exists());
        assert!(cache.join("kernels/v1/card/a.json").exists());
    }

    #[test]
    fn a_lock_that_is_held_stays() {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().join("tune/v1/card/lock");
        put(&path);
        let file = File::open(&path).unwrap();
        file.lock().unwrap();
        assert_eq!(clear(cache.path(), None).unwrap(), Cleared { left: 1, ..Cleared::default() });
        drop(file);
        assert_eq!(clear(cache.path(), None).unwrap(), Cleared { files: 1, bytes: 4, left: 0 });
        assert!(!cache.path().join("tune").exists());
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let (cache, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = outside.path().join("fir/a.json");
        put(&theirs);
        put(&cache.path().join("tune/v1/card/device.json"));
        std::os::unix::fs::symlink(outside.path(), cache.path().join("tune/v1/linked")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("fir"), cache.path().join("tune/v1/card/fir")).unwrap();
        std::os::unix::fs::symlink(&theirs, cache.path().join("tune/v1/card/a.json")).unwrap();
        assert_eq!(clear(cache.path(), None).unwrap(), Cleared { files: 1, bytes: 4, left: 3 });
        assert!(theirs.exists());
    }
}
