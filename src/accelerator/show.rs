//! The report as text for people and as JSON for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::capability::{Operation, capabilities};
use super::record::Record;
use super::report::Report;

impl Report {
    /// A table for people: the default device, the four runtimes, the devices with their notes, the neural engines.
    pub fn text(&self) -> String {
        let mut out = format!("Default  {}\n\nRuntimes\n", self.default_device().describe());
        for row in self.runtimes() {
            let state = match (row.usable, row.compiled) {
                (true, _) => "usable",
                (false, true) => "not usable",
                (false, false) => "not compiled in",
            };
            push(&mut out, &format!("  {:<5} {:<16} {}", row.name, state, row.note));
        }
        out.push_str("\nDevices\n");
        for device in self.devices() {
            let name = if device.device.is_empty() { device.runtime } else { &device.device };
            push(&mut out, &format!("  {name:<8} {}", device.label));
            push_rest(&mut out, &features(device));
            push_rest(&mut out, &device.note);
        }
        out.push_str("\nNeural engines (never used)\n");
        if self.neural_engines().is_empty() {
            out.push_str("  none found\n");
        }
        for engine in self.neural_engines() {
            push(&mut out, &format!("  {} {}", engine.name, engine.identity));
        }
        out
    }

    /// `{"default", "devices", "runtimes", "capabilities", "neural_engines"}`; capabilities are those of the default
    /// device for the operations given.
    pub fn json(&self, operations: &[Operation]) -> Value {
        let default = self.default_device();
        json!({
            "capabilities": capabilities(default, operations),
            "default": default,
            "devices": self.devices(),
            "runtimes": self.runtimes(),
            "neural_engines": self.neural_engines(),
        })
    }
}

fn push(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

fn push_rest(out: &mut String, text: &str) {
    if !text.is_empty() {
        push(out, &format!("           {text}"));
    }
}

/// What the device computes in, and its driver.
fn features(device: &Record) -> String {
    let mut list = Vec::new();
    for (has, name) in [
        (device.float64, "float64"),
        (device.float16, "float16"),
        (device.bfloat16, "bfloat16"),
        (device.timestamps, "timestamps"),
    ] {
        if has {
            list.push(name.to_owned());
        }
    }
    if let Some((small, large)) = device.subgroups {
        list.push(if small == large { format!("subgroups {small}") } else { format!("subgroups {small}..{large}") });
    }
    let mut text = list.join(", ");
    if !device.driver.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        // A write into a String does not fail.
        let _ = write!(text, "{separator}driver {}", device.driver);
    }
    if !device.identity.is_empty() {
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{}", device.identity);
    }
    text
}
