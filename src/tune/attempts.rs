//! Variants that take the process down with them.
//!
//! A driver that dies in its compiler, or is killed over a hanging kernel, kills the process, and the next one would try
//! the same variant again. So a small file beside the entry, `<class>.trying`, names the variant that is being proven or
//! timed for the first time. Who finds it, and the process that wrote it gone, counts that against the variant; after
//! [`LIMIT`] ends it is rejected. A user who stops a run hits the same variant of the same class that often only by bad
//! luck, and `autotune --force` tries again. The built-in default is never rejected for it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Tunable;
use super::cache::{DeviceFacts, Work};
use crate::disk::files;
use crate::error::{Error, ErrorKind, Result};

/// Ends of processes that a variant is forgiven.
const LIMIT: u32 = 3;
/// Larger files are not of this kind.
const MAX_BYTES: u64 = 1 << 16;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    process: u32,
    /// What that process is trying; empty = nothing now.
    variant: String,
    /// How often a process ended while it tried a variant.
    ends: BTreeMap<String, u32>,
}

/// A choice whose first tries are noted on disk before they are made.
pub(super) struct Watched<'a> {
    inner: &'a dyn Tunable,
    path: Option<PathBuf>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    record: Record,
    timed: Vec<usize>,
}

impl<'a> Watched<'a> {
    /// Notes tries at `path` (`None` = nowhere); `forgive` forgets what it says of earlier ones.
    pub fn new(inner: &'a dyn Tunable, path: Option<PathBuf>, forgive: bool) -> Watched<'a> {
        let mut record = path.as_deref().and_then(read).unwrap_or_default();
        if forgive {
            record.ends.clear();
        } else if !record.variant.is_empty() && files::is_gone(record.process) {
            *record.ends.entry(std::mem::take(&mut record.variant)).or_default() += 1;
        }
        record.variant.clear();
        Watched { inner, path, state: RefCell::new(State { record, timed: Vec::new() }) }
    }

    fn note(&self, variant: &str) {
        let Some(path) = &self.path else { return };
        let mut state = self.state.borrow_mut();
        if state.record.variant == variant && state.record.process == std::process::id() {
            return;
        }
        (state.record.variant, state.record.process) = (variant.into(), std::process::id());
        if let (Some(folder), Some(name), Ok(bytes)) =
            (path.parent(), path.file_name().and_then(|n| n.to_str()), serde_json::to_vec(&state.record))
            && let Err(e) = files::write_unsynced(folder, name, &bytes)
        {
            log::debug!("{} cannot be written: {e}", path.display());
        }
    }
}

impl Drop for Watched<'_> {
    /// All tries have been survived: what they were found guilty of is in the entry now.
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && self.state.borrow().record.process == std::process::id()
        {
            // A file that cannot be removed names no variant's end: its process, this one, counts only once gone.
            let _ = fs::remove_file(path);
        }
    }
}

fn read(path: &std::path::Path) -> Option<Record> {
    match files::read(path, MAX_BYTES) {
        files::Content::Bytes(bytes) => serde_json::from_slice(&bytes).ok(),
        _ => None,
    }
}

impl Tunable for Watched<'_> {
    fn operation(&self) -> &str {
        self.inner.operation()
    }
    fn class(&self) -> &str {
        self.inner.class()
    }
    fn identity(&self) -> u128 {
        self.inner.identity()
    }
    fn device(&self) -> &str {
        self.inner.device()
    }
    fn driver(&self) -> &str {
        self.inner.driver()
    }
    fn variants(&self) -> &[String] {
        self.inner.variants()
    }
    fn verify(&self, variant: usize) -> Result<()> {
        let name = self.variants().get(variant).map_or("", String::as_str);
        let ends = self.state.borrow().record.ends.get(name).copied().unwrap_or(0);
        // The built-in default is what runs without a tuner, too: rejecting it would help nobody.
        if ends >= LIMIT && variant != 0 {
            log::warn!(
                "variant {name:?} of {} is not tried again: {ends} processes ended while they did",
                self.operation()
            );
            let text = format!("{ends} processes ended while they tried it; autotune --force tries again");
            return Err(Error::new(ErrorKind::Kernel, text));
        }
        self.note(name);
        self.inner.verify(variant)
    }
    fn time(&self, variant: usize, repeats: u32) -> Result<f64> {
        let known = self.state.borrow().timed.contains(&variant);
        self.note(if known { "" } else { self.variants().get(variant).map_or("", String::as_str) });
        let seconds = self.inner.time(variant, repeats)?;
        if !known {
            self.state.borrow_mut().timed.push(variant);
        }
        Ok(seconds)
    }
    fn rounding(&self, variant: usize) -> &str {
        self.inner.rounding(variant)
    }
    fn prepare(&self) -> Result<()> {
        self.inner.prepare()
    }
    fn work(&self) -> Work {
        self.inner.work()
    }
    fn end_to_end(&self, variant: usize) -> Result<Option<f64>> {
        self.inner.end_to_end(variant)
    }
    fn facts(&self) -> DeviceFacts {
        self.inner.facts()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::fake::Fake;
    use super::*;

    /// A process that ends while it tries a variant.
    fn dies_at(path: &Path, variant: usize) {
        let fake = Fake::new(&[1.0, 1.0]);
        let watched = Watched::new(&fake, Some(path.into()), false);
        watched.verify(variant).unwrap();
        // Its number goes to nobody; its end runs no code.
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replace(&format!("\"process\":{}", std::process::id()), "\"process\":4294967294"))
            .unwrap();
        std::mem::forget(watched);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_variant_that_ended_three_processes_is_not_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("op/class.trying");
        let fake = Fake::new(&[1.0, 1.0]);
        for _ in 0..LIMIT {
            assert!(Watched::new(&fake, None, false).verify(1).is_ok());
            dies_at(&path, 1);
        }
        let watched = Watched::new(&fake, Some(path.clone()), false);
        assert!(watched.verify(1).unwrap_err().to_string().contains("3 processes ended"));
        watched.verify(0).unwrap();
        drop(watched);
        assert!(!path.exists());
        for _ in 0..LIMIT {
            dies_at(&path, 1);
        }
        assert!(Watched::new(&fake, Some(path), true).verify(1).is_ok());
    }

    #[test]
    fn a_process_that_still_runs_counts_nothing_and_damage_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("class.trying");
        let fake = Fake::new(&[1.0, 1.0]);
        let first = Watched::new(&fake, Some(path.clone()), false);
        first.verify(1).unwrap();
        let second = Watched::new(&fake, Some(path.clone()), false);
        assert!(second.state.borrow().record.ends.is_empty());
        drop(first);
        for damage in [&b""[..], b"{", b"\xff", b"[1]", b"{\"process\":-1}"] {
            fs::write(&path, damage).unwrap();
            let watched = Watched::new(&fake, Some(path.clone()), false);
            assert_eq!(watched.state.borrow().record, Record::default());
        }
    }

    #[test]
    fn rounds_blame_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("class.trying");
        let fake = Fake::new(&[1.0, 1.0]);
        let watched = Watched::new(&fake, Some(path.clone()), false);
        for step in 0..2 {
            for variant in 0..2 {
                watched.time(variant, 1).unwrap();
                let tried = read(&path).unwrap().variant;
                assert_eq!(tried, if step == 0 { format!("v{variant}") } else { String::new() });
            }
        }
    }
}
