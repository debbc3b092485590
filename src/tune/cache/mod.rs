//! What the tuner remembers between processes.
//!
//! One small JSON file per entry, `<cache>/tune/v1/<device>/<operation>/<class>.json`, with the device's facts in
//! `<device>/device.json`. A file is replaced whole (written beside, synced, renamed), so that processes need no lock to
//! share the store and none loses what another wrote. Anything that is not a sound entry is damage: it is renamed aside
//! with one warning and measured again. Where nothing can be written, results stay in memory, with one warning.

mod clear;
mod device;
mod entry;
mod lock;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

pub use clear::{Cleared, clear};
pub use device::DeviceFacts;
pub use entry::{Candidate, Entry, Outcome, Rejection, Work};
pub(crate) use entry::{SCHEMA, identity_text, iso_date};
pub(crate) use lock::{Exclusion, Turn};

use super::{Tunable, class};
pub use crate::disk::CACHE_VARIABLE;
use crate::disk::{cache_folder, file_name, files};

/// Larger files are not entries.
const MAX_BYTES: u64 = 1 << 20;
/// Name of the file with a device's facts.
const DEVICE_FILE: &str = "device.json";
/// Ending of a file that names a variant being tried.
const TRYING: &str = ".trying";

/// Files of one folder that a search looks at.
const MAX_SCANNED: usize = 1024;

/// All that is stored of one device.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DeviceResults {
    /// What it is.
    pub facts: DeviceFacts,
    /// Its results, by operation and class.
    pub entries: Vec<Entry>,
}

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

    fn folder(&self, device: &str, operation: &str) -> Option<PathBuf> {
        Some(self.device_folder(device)?.join(file_name(operation)))
    }

    /// The file of an entry.
    pub fn path(&self, tunable: &dyn Tunable) -> Option<PathBuf> {
        Some(self.folder(tunable.device(), tunable.operation())?.join(entry_name(tunable.class())))
    }

    /// The file that names the variant being tried.
    pub fn attempts_path(&self, tunable: &dyn Tunable) -> Option<PathBuf> {
        let folder = self.folder(tunable.device(), tunable.operation())?;
        Some(folder.join(format!("{}{TRYING}", file_name(tunable.class()))))
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

    /// The stored entries of the same operation and recipe whose classes are near, nearest first; without the class's own.
    pub fn neighbours(&self, tunable: &dyn Tunable) -> Vec<Entry> {
        let identity = identity_text(tunable.identity());
        let folder = self.folder(tunable.device(), tunable.operation());
        let mut near: Vec<(u32, Entry)> = folder
            .into_iter()
            .flat_map(|folder| entries_in(&folder))
            .filter(|entry| {
                entry.device == tunable.device()
                    && entry.operation == tunable.operation()
                    && entry.class != tunable.class()
                    && entry.identity == identity
            })
            .filter_map(|entry| Some((class::distance(&entry.class, tunable.class())?, entry)))
            .collect();
        near.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.class.cmp(&b.1.class)));
        near.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Stores an entry; a failure is warned about once per store. Whether it is stored.
    pub fn save(&self, entry: &Entry, facts: &DeviceFacts) -> bool {
        let Some(folder) = self.folder(&entry.device, &entry.operation) else { return false };
        // What would not be believed when read is not written.
        if let Err(reason) = entry.check() {
            self.warn_once(&format!("the result of {:?} cannot be stored: {reason}", entry.class));
            return false;
        }
        files::remove_leftovers(&folder);
        let written = entry
            .to_bytes()
            .map_err(std::io::Error::from)
            .and_then(|bytes| files::write(&folder, &entry_name(&entry.class), &bytes));
        match &written {
            Ok(()) => self.describe(facts),
            Err(e) => self.warn_once(&format!("{} cannot be written: {e}", folder.display())),
        }
        written.is_ok()
    }

    /// Whether something could not be stored.
    pub fn is_unwritable(&self) -> bool {
        self.warned.load(Ordering::Relaxed)
    }

    /// Notes in the stored entry, if there is one of this recipe, that a variant failed in use.
    pub fn reject(&self, tunable: &dyn Tunable, variant: &str, reason: &str) {
        let Some(path) = self.path(tunable) else { return };
        let files::Content::Bytes(bytes) = files::read(&path, MAX_BYTES) else { return };
        let Ok(mut entry) = Entry::parse(&bytes) else { return };
        if belongs(&entry, tunable) && entry.identity == identity_text(tunable.identity()) {
            entry.reject(variant, reason);
            self.save(&entry, &tunable.facts());
        }
    }

    /// Removes what killed processes left anywhere under a device.
    pub fn remove_leftovers(&self, device: &str) {
        let Some(folder) = self.device_folder(device) else { return };
        files::remove_leftovers(&folder);
        let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        inner.filter(|item| item.path().is_dir()).for_each(|item| files::remove_leftovers(&item.path()));
    }

    /// What is written of a device.
    pub fn facts(&self, device: &str) -> Option<DeviceFacts> {
        let path = self.device_folder(device)?.join(DEVICE_FILE);
        match files::read(&path, MAX_BYTES) {
            files::Content::Bytes(bytes) => DeviceFacts::parse(&bytes).ok().filter(|facts| facts.device == device),
            _ => None,
        }
    }

    /// Writes a device's facts beside its entries, once per process; a rate measured earlier under the same driver stays.
    fn describe(&self, facts: &DeviceFacts) {
        {
            let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
            if described.contains(&facts.device) {
                return;
            }
            described.push(facts.device.clone());
        }
        let known = self.facts(&facts.device).filter(|known| known.driver == facts.driver);
        let rate = facts.copy_bytes_per_second.or(known.and_then(|known| known.copy_bytes_per_second));
        self.write_facts(&DeviceFacts { copy_bytes_per_second: rate, ..facts.clone() });
    }

    /// Writes a device's facts.
    pub fn write_facts(&self, facts: &DeviceFacts) {
        let Some(folder) = self.device_folder(&facts.device) else { return };
        let dated = DeviceFacts { schema: SCHEMA, date: date_now(), ..facts.clone() };
        let written = dated.to_bytes().map_err(std::io::Error::from);
        if let Err(e) = written.and_then(|bytes| files::write(&folder, DEVICE_FILE, &bytes)) {
            log::debug!("{} cannot be written: {e}", folder.join(DEVICE_FILE).display());
        }
    }

    /// Everything stored, by device key, operation and class. What is no sound entry is left out.
    pub fn read_all(&self) -> Vec<DeviceResults> {
        let Some(root) = self.root() else { return Vec::new() };
        let mut all = Vec::new();
        for folder in folders_in(&root) {
            let file = files::read(&folder.join(DEVICE_FILE), MAX_BYTES);
            let written = match file {
                files::Content::Bytes(bytes) => DeviceFacts::parse(&bytes).ok(),
                _ => None,
            };
            let mut entries: Vec<Entry> = folders_in(&folder).iter().flat_map(|inner| entries_in(inner)).collect();
            let Some(first) = entries.first() else { continue };
            let facts = written.unwrap_or_else(|| DeviceFacts::bare(&first.device, &first.driver));
            entries.retain(|entry| entry.device == facts.device);
            entries.sort_by(|a, b| (&a.operation, &a.class).cmp(&(&b.operation, &b.class)));
            all.push(DeviceResults { facts, entries });
        }
        all
    }

    /// The stored entry of a class, whatever its recipe; damage counts as none and stays where it is.
    pub fn peek(&self, device: &str, operation: &str, class: &str) -> Option<Entry> {
        let path = self.folder(device, operation)?.join(entry_name(class));
        match files::read(&path, MAX_BYTES) {
            files::Content::Bytes(bytes) => {
                Entry::parse(&bytes).ok().filter(|e| e.device == device && e.operation == operation && e.class == class)
            }
            _ => None,
        }
    }

    fn warn_once(&self, what: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            log::warn!("tuning results stay in memory: {what}; set {CACHE_VARIABLE} to a writable folder");
        }
    }
}

/// The sound entries of a folder.
fn entries_in(folder: &Path) -> Vec<Entry> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_SCANNED).map(|file| file.path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter_map(|path| match files::read(&path, MAX_BYTES) {
            files::Content::Bytes(bytes) => Entry::parse(&bytes).ok(),
            _ => None,
        })
        .collect()
}

/// The folders in a folder, by name.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let inner = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_SCANNED).map(|item| item.path());
    let mut folders: Vec<PathBuf> = inner.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
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
