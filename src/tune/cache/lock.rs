//! One tuner per device at a time, so that two do not disturb each other's timing. Correctness never depends on it.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The devices this process is tuning.
#[derive(Debug, Default)]
pub(crate) struct Exclusion {
    devices: Mutex<HashSet<String>>,
}

/// The right to time on a device; given back on drop.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    exclusion: &'a Exclusion,
    device: String,
    /// Held open: closing it releases the lock of other processes.
    _file: Option<File>,
}

impl Exclusion {
    /// Takes the device if no other thread and no other process has it. `path`: the lock file, `None` = this process
    /// alone counts. A file system without locks counts as free.
    pub fn try_take(&self, device: &str, path: Option<&Path>) -> Option<Turn<'_>> {
        if !self.devices.lock().unwrap_or_else(PoisonError::into_inner).insert(device.to_string()) {
            return None;
        }
        let mut turn = Turn { exclusion: self, device: device.to_string(), _file: None };
        if let Some(path) = path {
            turn._file = open(path);
            if let Some(Err(TryLockError::WouldBlock)) = turn._file.as_ref().map(File::try_lock) {
                return None;
            }
        }
        Some(turn)
    }
}

fn open(path: &Path) -> Option<File> {
    fs::create_dir_all(path.parent()?).ok()?;
    // The file is never removed: a lock on a removed file would exclude nobody.
    File::options().create(true).truncate(false).write(true).open(path).ok()
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.exclusion.devices.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.device);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_turn_per_device_and_process() {
        let here = Exclusion::default();
        let turn = here.try_take("gpu", None);
        assert!(turn.is_some());
        assert!(here.try_take("gpu", None).is_none());
        assert!(here.try_take("cpu", None).is_some());
        drop(turn);
        assert!(here.try_take("gpu", None).is_some());
    }

    #[test]
    fn the_lock_file_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu/lock");
        // Two exclusions share nothing but the file, like two processes.
        let (one, two) = (Exclusion::default(), Exclusion::default());
        let turn = one.try_take("gpu", Some(&path)).unwrap();
        assert!(two.try_take("gpu", Some(&path)).is_none());
        drop(turn);
        assert!(two.try_take("gpu", Some(&path)).is_some());
        assert!(path.exists());
    }

    #[test]
    fn no_place_for_the_file_counts_as_free() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(Exclusion::default().try_take("gpu", Some(&file.join("gpu/lock"))).is_some());
        // A directory where the lock file should be.
        assert!(Exclusion::default().try_take("gpu", Some(folder.path())).is_some());
    }
}
