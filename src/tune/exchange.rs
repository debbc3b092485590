//! Results that travel: one file with the results of one or more devices, as `autotune --export` writes it, `--import`
//! reads it, and `tuning/devices/` ships it.
//!
//! What comes from elsewhere is advice, not proof: an imported winner is verified here before its first use.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::Tuner;
use super::cache::{self, DeviceResults, Entry, SCHEMA};
use crate::error::{Error, Result};

/// Larger files are not read.
const MAX_BYTES: usize = 64 << 20;

/// The results of some devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Collection {
    /// Version of this form.
    pub schema: u32,
    /// Name and version of the program that wrote it.
    pub made_by: String,
    /// By device key.
    pub devices: Vec<DeviceResults>,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// Results taken over.
    pub imported: usize,
    /// Results left out because this machine has measured the class itself.
    pub kept: usize,
    /// Results left out because they are of an operation or of kernels that this build does not have.
    pub other_version: usize,
    /// Devices left out because this machine has none with that key.
    pub other_devices: Vec<String>,
}

impl Collection {
    /// Results to write to a file.
    pub fn new(devices: Vec<DeviceResults>) -> Collection {
        let made_by = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Collection { schema: SCHEMA, made_by, devices }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// None that can be met: every number in a result is finite.
    pub fn to_text(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::internal("tuning results could not be written as JSON").with_source(e))?;
        text.push('\n');
        Ok(text)
    }

    /// Reads a file, no more of it than results may be long.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] if it cannot be read, else those of [`Collection::parse`].
    pub fn read(file: impl Read) -> Result<Collection> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        // A file cut off within a character is too long, which is said first.
        Collection::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Reads a file's text. Everything in it is checked as if a stranger had written it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] if it is not a collection of sound results, with what is wrong.
    pub fn parse(text: &str) -> Result<Collection> {
        if text.len() > MAX_BYTES {
            return Err(Error::invalid(format!("tuning results of more than {MAX_BYTES} bytes are not read")));
        }
        let wrong = |what: String| {
            Error::invalid(format!("these are no tuning results: {what}; expected a file of `autotune --export`"))
        };
        let collection: Collection = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        if collection.schema != SCHEMA {
            return Err(wrong(format!("schema {}, this build reads {SCHEMA}", collection.schema)));
        }
        for device in &collection.devices {
            device.facts.check().map_err(|e| wrong(format!("device {:?}: {e}", device.facts.device)))?;
            for entry in &device.entries {
                let name = || format!("{} {} on {}", entry.operation, entry.class, entry.device);
                entry.check().map_err(|e| wrong(format!("{}: {e}", name())))?;
                if entry.device != device.facts.device {
                    return Err(wrong(format!("{} is listed under {}", name(), device.facts.device)));
                }
            }
        }
        Ok(collection)
    }
}

impl Tuner {
    /// Everything stored, by device.
    pub fn results(&self) -> Vec<DeviceResults> {
        self.store.read_all()
    }

    /// Stores results measured elsewhere for the devices of these keys (for all, with `force`), so far as `is_current`
    /// says that this build has their recipe. What this machine has measured itself stays, unless `force` is set.
    /// Classes that this process has already met keep the choice it has made.
    pub fn import(
        &self,
        collection: &Collection,
        devices: &[String],
        force: bool,
        is_current: &dyn Fn(&Entry) -> bool,
    ) -> ImportSummary {
        let mut summary = ImportSummary::default();
        for device in &collection.devices {
            if !force && !devices.contains(&device.facts.device) {
                summary.other_devices.push(device.facts.device.clone());
                continue;
            }
            for entry in &device.entries {
                if !is_current(entry) {
                    summary.other_version += 1;
                    continue;
                }
                let own = self.store.peek(&entry.device, &entry.operation, &entry.class);
                if !force && own.is_some_and(|own| own.identity == entry.identity && !own.imported) {
                    summary.kept += 1;
                    continue;
                }
                self.store.save(&Entry { imported: true, ..entry.clone() }, &device.facts);
                summary.imported += 1;
            }
        }
        summary
    }

    /// The rate of a plain copy on a device, bytes read and written per second, if it has been measured.
    pub fn copy_rate(&self, device: &str) -> Option<f64> {
        self.store.facts(device)?.copy_bytes_per_second
    }

    /// Stores a device's facts, a newly measured copy rate among them.
    pub fn describe(&self, facts: &cache::DeviceFacts) {
        self.store.write_facts(facts);
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
