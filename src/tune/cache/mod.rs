//! What the tuner remembers between processes.
//!
//! One small JSON file per entry, `<cache>/tune/v1/<device>/<operation>/<class>.json`, with the device's facts in
//! `<device>/device.json`. A file is replaced whole (written beside, synced, renamed), so that processes need no lock to
//! share the store and none loses what another wrote. Anything that is not a sound entry is damage: it is renamed aside
//! with one warning and measured again. Where nothing can be written, results stay in memory, with one warning.

mod clear;
mod entry;
mod lock;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

pub use clear::{Cleared, clear};
pub(crate) use entry::{Candidate, Entry, Outcome, Rejection, SCHEMA, identity_text, iso_date};
pub(crate) use lock::{Exclusion, Turn};

use super::{Tunable, class};
pub use crate::disk::CACHE_VARIABLE;
use crate::disk::{cache_folder, file_name, files};

/// Larger files are not entries.
const MAX_BYTES: u64 = 1 << 20;

/// Files of one operation that a search for the nearest class looks at.
const MAX_SCANNED: usize = 1024;

/// Where tuning results are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Location {
    /// `DSPK_CACHE_DIR`, else the user's cache folder for `dspk`.
    #[default]
    Standard,
    /// This folder, in place of `<cache>`.
    At(PathBuf),
    /// In memory alone.
    Memory,
}

/// What was found for a key.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Entry(Box<Entry>),
    /// Something is in the way that will not go: keep the result in memory.
    Blocked,
}

/// Date and time now, ISO 8601, UTC.
pub(crate) fn date_now() -> String {
    iso_date(SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs()))
}

/// The store of one tuner.
#[derive(Debug, Default)]
pub(crate) struct Store {
    location: Location,
    warned: AtomicBool,
    described: Mutex<Vec<String>>,
}

impl Store {
    pub fn new(location: Location) -> Store {
        Store { location, ..Store::default() }
    }

    fn root(&self) -> Option<PathBuf> {
        let cache = match &self.location {
            Location::Memory => return None,
            Location::At(folder) => Some(folder.clone()),
            Location::Standard => cache_folder(),
        };
        if cache.is_none() {
            self.warn_once("no cache folder is known (is HOME set?)");
        }
        Some(cache?.join("tune").join(format!("v{SCHEMA}")))
    }

    fn device_folder(&self, device: &str) -> Option<PathBuf> {
        Some(self.root()?.join(file_name(device)))
    }

    fn folder(&self, tunable: &dyn Tunable) -> Option<PathBuf> {
        Some(self.device_folder(tunable.device())?.join(file_name(tunable.operation())))
    }

    /// The file of an entry.
    pub fn path(&self, tunable: &dyn Tunable) -> Option<PathBuf> {
        Some(self.folder(tunable)?.join(entry_name(tunable.class())))
    }

    /// The file to lock while timing on a device.
    pub fn lock_path(&self, device: &str) -> Option<PathBuf> {
        Some(self.device_folder(device)?.join("lock"))
    }

    /// Looks an entry up. Damage is warned about, once, and moved aside; an entry of another recipe counts as nothing.
    pub fn load(&self, tunable: &dyn Tunable) -> Found {
        let Some(path) = self.path(tunable) else { return Found::Nothing };
        let reason = match files::read(&path, MAX_BYTES) {
            files::Content::Missing => return Found::Nothing,
            files::Content::Blocked(reason) => {
                log::warn!(
                    "tuning entry {} cannot be used: {reason}; the result stays in memory, remove it to store results",
                    path.display()
                );
                return Found::Blocked;
            }
            files::Content::Damaged(reason) => reason,
            files::Content::Bytes(bytes) => match Entry::parse(&bytes) {
                Err(reason) => reason,
                Ok(entry) if !belongs(&entry, tunable) => "it belongs to another device, operation or class".into(),
                Ok(entry) if entry.identity != identity_text(tunable.identity()) => return Found::Nothing,
                Ok(entry) => return Found::Entry(Box::new(entry)),
            },
        };
        if set_aside(&path, &reason) { Found::Nothing } else { Found::Blocked }
    }

    /// The variants of the nearest stored class with the same recipe, best first; empty if there is none.
    pub fn nearest(&self, tunable: &dyn Tunable) -> Vec<String> {
        let identity = identity_text(tunable.identity());
        let files = self.folder(tunable).and_then(|folder| std::fs::read_dir(folder).ok());
        files
            .into_iter()
            .flatten()
            .flatten()
            .take(MAX_SCANNED)
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .filter_map(|path| match files::read(&path, MAX_BYTES) {
                files::Content::Bytes(bytes) => Entry::parse(&bytes).ok(),
                _ => None,
            })
            .filter(|entry| {
                entry.device == tunable.device()
                    && entry.operation == tunable.operation()
                    && entry.class != tunable.class()
                    && entry.identity == identity
            })
            .filter_map(|entry| Some((class::distance(&entry.class, tunable.class())?, entry)))
            .min_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.class.cmp(&b.1.class)))
            .map(|(_, entry)| entry.merit())
            .unwrap_or_default()
    }

    /// Stores an entry; a failure is warned about once per store.
    pub fn save(&self, tunable: &dyn Tunable, entry: &Entry) {
        let Some(folder) = self.folder(tunable) else { return };
        files::remove_leftovers(&folder);
        let written = entry
            .to_bytes()
            .map_err(std::io::Error::from)
            .and_then(|bytes| files::write(&folder, &entry_name(tunable.class()), &bytes));
        match written {
            Ok(()) => self.describe(tunable),
            Err(e) => self.warn_once(&format!("{} cannot be written: {e}", folder.display())),
        }
    }

    /// Notes in the stored entry, if there is one of this recipe, that a variant failed in use.
    pub fn reject(&self, tunable: &dyn Tunable, variant: &str, reason: String) {
        let Some(path) = self.path(tunable) else { return };
        let files::Content::Bytes(bytes) = files::read(&path, MAX_BYTES) else { return };
        let Ok(mut entry) = Entry::parse(&bytes) else { return };
        if belongs(&entry, tunable) && entry.identity == identity_text(tunable.identity()) {
            entry.reject(variant, reason);
            self.save(tunable, &entry);
        }
    }

    /// Removes what killed processes left anywhere under a device.
    pub fn remove_leftovers(&self, device: &str) {
        let Some(folder) = self.device_folder(device) else { return };
        files::remove_leftovers(&folder);
        let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        inner.filter(|item| item.path().is_dir()).for_each(|item| files::remove_leftovers(&item.path()));
    }

    /// Writes the device's facts beside its entries, once per process. They are for people: nothing reads them back.
    fn describe(&self, tunable: &dyn Tunable) {
        let device = tunable.device();
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        if described.iter().any(|known| known == device) {
            return;
        }
        described.push(device.to_string());
        let facts: serde_json::Map<String, serde_json::Value> =
            tunable.device_facts().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect();
        let text = serde_json::json!({
            "schema": SCHEMA, "device": device, "driver": tunable.driver(), "facts": facts, "date": date_now(),
        });
        let bytes = format!("{text:#}\n").into_bytes();
        if let Some(folder) = self.device_folder(device)
            && let Err(e) = files::write(&folder, "device.json", &bytes)
        {
            self.warn_once(&format!("{} cannot be written: {e}", folder.display()));
        }
    }

    fn warn_once(&self, what: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            log::warn!("tuning results stay in memory: {what}; set {CACHE_VARIABLE} to a writable folder");
        }
    }
}

fn entry_name(class: &str) -> String {
    format!("{}.json", file_name(class))
}

fn belongs(entry: &Entry, tunable: &dyn Tunable) -> bool {
    entry.device == tunable.device() && entry.operation == tunable.operation() && entry.class == tunable.class()
}

/// Renames a damaged file out of the way and says so: the one warning about it. `false` = it is still there.
fn set_aside(path: &Path, reason: &str) -> bool {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".damaged");
    let renamed = std::fs::rename(path, &aside);
    let kept = match &renamed {
        Ok(()) => format!("kept as {}", Path::new(&aside).display()),
        Err(e) => format!("it could not be renamed: {e}"),
    };
    log::warn!("tuning entry {} is damaged: {reason}; it is ignored ({kept})", path.display());
    renamed.is_ok()
}
