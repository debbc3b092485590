//! Stored results as the page shows them: by operation, parameters and size.

use crate::tune::{DeviceFacts, DeviceResults, Entry, Explanation, Origin, Outcome, Policy};

/// Rates that are believed, bytes a second: others come from damaged files.
const POSSIBLE: std::ops::Range<f64> = 1.0..1e18;

/// All sizes of one operation with one kind of parameters, on one device.
pub struct Class<'a> {
    pub operation: &'a str,
    /// The parameter part of the class names.
    pub parameters: &'a str,
    /// By increasing size.
    pub entries: Vec<&'a Entry>,
}

impl<'a> Class<'a> {
    /// The classes of a device, in the order of their names.
    pub fn all(device: &'a DeviceResults) -> Vec<Class<'a>> {
        let mut classes: Vec<Class<'a>> = Vec::new();
        for entry in &device.entries {
            let (parameters, _) = parts(&entry.class);
            match classes.iter_mut().find(|c| c.operation == entry.operation && c.parameters == parameters) {
                Some(class) => class.entries.push(entry),
                None => classes.push(Class { operation: &entry.operation, parameters, entries: vec![entry] }),
            }
        }
        for class in &mut classes {
            class.entries.sort_by_key(|e| (e.work.values(), e.work.channels));
        }
        classes.sort_by(|a, b| (a.operation, a.parameters).cmp(&(b.operation, b.parameters)));
        classes
    }

    /// The channel counts that were measured, increasing.
    pub fn channels(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.entries.iter().map(|e| e.work.channels).filter(|&c| c > 0).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The largest size at which several variants were timed, else the largest.
    pub fn example(&self) -> Option<&'a Entry> {
        let raced = self.entries.iter().rev().find(|e| e.candidates.len() > 1);
        raced.or(self.entries.last()).copied()
    }

    /// The newest result of a size.
    pub fn at(&self, channels: u64, samples: u64) -> Option<&'a Entry> {
        let of_size = self.entries.iter().filter(|e| (e.work.channels, e.work.samples) == (channels, samples));
        of_size.max_by(|a, b| a.date.cmp(&b.date)).copied()
    }
}

/// A class's name as (parameters, size).
fn parts(class: &str) -> (&str, &str) {
    class.rsplit_once("--").unwrap_or((class, ""))
}

/// The size that was timed, `384 × 131072`; where it is not known, the size class.
pub fn size(entry: &Entry) -> String {
    let work = entry.work;
    if work.values() > 0 { format!("{} × {}", work.channels, work.samples) } else { parts(&entry.class).1.to_string() }
}

/// Bytes a second that a variant moves, as far as an ideal implementation has to.
pub fn rate(entry: &Entry, variant: &str) -> Option<f64> {
    let rate = entry.work.bytes as f64 / entry.seconds(variant)?;
    POSSIBLE.contains(&rate).then_some(rate)
}

/// Bytes a second of a plain copy, if measured.
pub fn copy_rate(facts: &DeviceFacts) -> Option<f64> {
    facts.copy_bytes_per_second.filter(|rate| POSSIBLE.contains(rate))
}

/// Time of a variant relative to the default, with its spread.
pub fn ratio(entry: &Entry, variant: &str) -> Option<(f64, f64)> {
    entry.candidates.iter().find(|c| c.variant == variant).map(|c| (c.ratio, c.spread))
}

/// Why calls of this class use what they use, as a sentence.
pub fn reason(entry: &Entry) -> String {
    let explanation = Explanation {
        operation: entry.operation.clone(),
        class: entry.class.clone(),
        device: entry.device.clone(),
        policy: Policy::OnMiss,
        variant: entry.winner.clone(),
        origin: Origin::Tuned,
        default: entry.default.clone(),
        // A race that did not begin names no variants; there were several, else there is none.
        variants: match entry.outcome {
            Outcome::Inconclusive => 2,
            _ => entry.candidates.len() + entry.rejected.len() + entry.untried.len(),
        },
        path: None,
        entry: Some(entry.clone()),
        copy_bytes_per_second: None,
    };
    let reason = explanation.reason();
    let mut letters = reason.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let how = if entry.outcome == Outcome::Inconclusive { "Inconclusive. " } else { "" };
    how.chars().chain(first).chain(letters).chain(['.']).collect()
}

/// A device in few words: its runtime and name, or its key where it has none.
pub fn label(facts: &DeviceFacts) -> String {
    match (facts.runtime.as_str(), facts.name.as_str()) {
        ("", _) | (_, "") => facts.device.clone(),
        (runtime, name) => format!("{runtime}: {name}"),
    }
}

/// [`label`], with the key where several devices have the same.
pub fn unique_label(facts: &DeviceFacts, devices: &[DeviceResults]) -> String {
    let name = label(facts);
    let same = devices.iter().filter(|other| label(&other.facts) == name).count();
    if same > 1 && name != facts.device { format!("{name} [{}]", facts.device) } else { name }
}

/// The runtime's name where only one device has it, else [`unique_label`].
pub fn brief(facts: &DeviceFacts, devices: &[DeviceResults]) -> String {
    let alike = devices.iter().filter(|other| other.facts.runtime == facts.runtime).count();
    if alike == 1 && !facts.runtime.is_empty() { facts.runtime.clone() } else { unique_label(facts, devices) }
}

/// Three significant digits; very large and very small numbers as powers of ten.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        v if !(1e-3..1e6).contains(&v) => format!("{value:.1e}"),
        v if v < 10.0 => format!("{value:.2}"),
        v if v < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A ratio to the default.
pub fn ratio_text(ratio: f64) -> String {
    if (0.001..10.0).contains(&ratio) { format!("{ratio:.3}") } else { short(ratio) }
}

/// A time in a unit that suits it.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{} ns", short(1e9 * s)),
        s if s < 1e-3 => format!("{} µs", short(1e6 * s)),
        s if s < 1.0 => format!("{} ms", short(1e3 * s)),
        s => format!("{} s", short(s)),
    }
}

/// A round time, as ticks of an axis have it: `5 ms`.
pub fn round_time(seconds: f64) -> String {
    match seconds {
        s if !(1e-9..1e6).contains(&s) => time(s),
        s if s < 0.9995e-6 => format!("{} ns", trimmed(1e9 * s)),
        s if s < 0.9995e-3 => format!("{} µs", trimmed(1e6 * s)),
        s if s < 0.9995 => format!("{} ms", trimmed(1e3 * s)),
        s => format!("{} s", trimmed(s)),
    }
}

/// A rate in GB/s.
pub fn gigabytes(rate: f64) -> String {
    short(rate / 1e9)
}

/// A count with a suffix: `8192`, `262 k`, `16.8 M`.
pub fn amount(value: f64) -> String {
    match value {
        v if v >= 1e12 => format!("{v:.1e}"),
        v if v >= 1e9 => format!("{} G", trimmed(v / 1e9)),
        v if v >= 1e6 => format!("{} M", trimmed(v / 1e6)),
        v if v >= 1e4 => format!("{} k", trimmed(v / 1e3)),
        v => trimmed(v),
    }
}

fn trimmed(value: f64) -> String {
    let tenths = (10.0 * value).round() / 10.0;
    if value >= 100.0 || tenths.fract() == 0.0 { format!("{value:.0}") } else { format!("{tenths:.1}") }
}

/// The beginning of a text, if it is longer than `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let all = [0.0, 0.1234, 5.678, 56.78, 567.8, 1e300, 1e-9].map(short);
        assert_eq!(all, ["0", "0.12", "5.68", "56.8", "568", "1.0e300", "1.0e-9"]);
        assert_eq!(
            [2e-9, 3.4e-5, 0.0123, 65.0, 1e300].map(time),
            ["2.00 ns", "34.0 µs", "12.3 ms", "65.0 s", "1.0e300 s"]
        );
        assert_eq!(
            [100.0, 8192.0, 262_144.0, 16_777_216.0, 1e19].map(amount),
            ["100", "8192", "262 k", "16.8 M", "1.0e19"]
        );
        assert_eq!(
            (ratio_text(0.6119), ratio_text(12.34), ratio_text(1e-300)),
            ("0.612".into(), "12.3".into(), "1.0e-300".into())
        );
        assert_eq!((cut("µµµµ", 4), cut("µµµµµ", 4)), ("µµµµ".into(), "µµµ…".into()));
    }

    #[test]
    fn ticks_are_round() {
        let seconds = [2e-9, 10f64.powf(-3.0), 0.999999e-3, 1.5e-2, 0.4, 10f64.powf(1.0), 1e9];
        assert_eq!(seconds.map(round_time), ["2 ns", "1 ms", "1 ms", "15 ms", "400 ms", "10 s", "1.0e9 s"]);
    }

    #[test]
    fn a_class_name_is_parameters_and_size() {
        assert_eq!(parts("taps64-f32--c7-s15-v12"), ("taps64-f32", "c7-s15-v12"));
        assert_eq!(parts("odd"), ("odd", ""));
    }
}
