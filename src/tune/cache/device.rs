//! What is written of a device beside its entries: `<device>/device.json`.

use serde::{Deserialize, Serialize};

use super::entry::SCHEMA;
use crate::tune::statistics::is_void;

/// Longest text that is believed.
const MAX_TEXT: usize = 1024;

/// A device as the tuner's files name it. The key tells devices apart; the rest is for people and for finding the next
/// best results where a device has none of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Version of this form.
    pub schema: u32,
    /// Silicon facts, never an index or a marketing name: names the folder.
    pub device: String,
    /// `cpu`, `wgpu`, `cuda`, `hip`.
    pub runtime: String,
    /// What devices with the same best variants have in common: instruction set, or vendor, class and subgroups.
    pub architecture: String,
    /// Who made it; empty = unknown.
    pub vendor: String,
    /// Marketing name.
    pub name: String,
    /// Driver and its version; empty = there is none.
    pub driver: String,
    /// Whether it is a program that pretends to be a GPU.
    #[serde(default)]
    pub software: bool,
    /// Bytes that a plain copy reads and writes in a second, together; `None` = not measured.
    #[serde(default)]
    pub copy_bytes_per_second: Option<f64>,
    /// When this was written, ISO 8601, UTC.
    #[serde(default)]
    pub date: String,
}

impl DeviceFacts {
    /// Facts of which only the key and the driver are known.
    pub(crate) fn bare(device: &str, driver: &str) -> DeviceFacts {
        DeviceFacts { schema: SCHEMA, device: device.into(), driver: driver.into(), ..DeviceFacts::default() }
    }

    /// Reads and checks; the error says what is wrong.
    pub(crate) fn parse(bytes: &[u8]) -> Result<DeviceFacts, String> {
        let facts: DeviceFacts = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        facts.check()?;
        Ok(facts)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("it says schema {}, expected {SCHEMA}", self.schema));
        }
        let texts =
            [&self.device, &self.runtime, &self.architecture, &self.vendor, &self.name, &self.driver, &self.date];
        if texts.iter().any(|text| text.len() > MAX_TEXT || text.contains(char::is_control)) {
            return Err("a text in it is too long or has control characters".into());
        }
        if self.copy_bytes_per_second.is_some_and(is_void) {
            return Err("its copy_bytes_per_second is not a rate".into());
        }
        Ok(())
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
