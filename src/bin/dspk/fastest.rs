//! Which device is fastest from host to host, as far as the tuner has measured: read from its files alone, so that the
//! report of devices opens none of them.

use dspk::accelerator;
use dspk::tune::{DeviceFacts, DeviceResults, Entry};
use serde_json::{Value, json};

/// Sizes shown: a short recording of few channels and a long one of many, both on the standard grid.
const SIZES: [(u64, u64); 2] = [(32, 8192), (384, 131_072)];

/// One operation, with one kind of parameters, at one size.
struct Line {
    operation: String,
    parameters: String,
    size: (u64, u64),
    /// Fastest first.
    times: Vec<Time>,
}

struct Time {
    device: String,
    software: bool,
    seconds: f64,
}

/// The section for people.
pub fn text() -> String {
    let lines = lines(&here());
    let mut out = String::from("\nFastest from host to host (measured by autotune)\n");
    if lines.is_empty() {
        out.push_str("  not measured yet; run autotune\n");
    }
    for line in lines {
        let (channels, samples) = line.size;
        out.push_str(&format!("  {} {}, {channels} x {samples}\n", line.operation, line.parameters));
        let best = line.times.first().map_or(1.0, |time| time.seconds);
        for time in &line.times {
            let software = if time.software { "  software adapter" } else { "" };
            let (ms, ratio) = (1e3 * time.seconds, time.seconds / best);
            out.push_str(&format!("           {ms:>10.3} ms  {ratio:>6.2}x  {}{software}\n", time.device));
        }
    }
    out
}

/// The same for programs.
pub fn json() -> Value {
    let time = |time: &Time| json!({ "device": time.device, "software": time.software, "seconds": time.seconds });
    let line = |line: &Line| {
        json!({
            "operation": line.operation,
            "parameters": line.parameters,
            "channels": line.size.0,
            "samples": line.size.1,
            "times": line.times.iter().map(time).collect::<Vec<_>>(),
        })
    };
    lines(&here()).iter().map(line).collect()
}

/// The results of devices that are here now.
fn here() -> Vec<DeviceResults> {
    let mut results = dspk::runtime::tuning_results();
    if results.is_empty() {
        return results;
    }
    let cpu = dspk::runtime::resolve(Some("cpu")).map(|target| target.key()).unwrap_or_default();
    let usable: Vec<_> = accelerator::devices().into_iter().filter(|device| device.usable).collect();
    let is_here = |facts: &DeviceFacts| match facts.runtime.as_str() {
        "cpu" => facts.device == cpu,
        runtime => usable.iter().any(|device| device.runtime == runtime && device.name == facts.name),
    };
    results.retain(|device| is_here(&device.facts));
    results
}

fn lines(results: &[DeviceResults]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for size in SIZES {
        for device in results {
            for entry in newest(device, size) {
                let parameters = parameters(&entry.class);
                let time = Time {
                    device: format!("{}: {}", device.facts.runtime, device.facts.name),
                    software: device.facts.software,
                    seconds: entry.end_to_end,
                };
                let same = |line: &&mut Line| {
                    line.size == size && line.operation == entry.operation && line.parameters == parameters
                };
                match lines.iter_mut().find(same) {
                    Some(line) => line.times.push(time),
                    None => lines.push(Line {
                        operation: entry.operation.clone(),
                        parameters: parameters.to_string(),
                        size,
                        times: vec![time],
                    }),
                }
            }
        }
    }
    for line in &mut lines {
        line.times.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    }
    lines.sort_by(|a, b| (&a.operation, &a.parameters, a.size).cmp(&(&b.operation, &b.parameters, b.size)));
    lines
}

/// Of each class of this size that was timed from host to host, the newest result.
fn newest(device: &DeviceResults, size: (u64, u64)) -> Vec<&Entry> {
    let mut found: Vec<&Entry> = Vec::new();
    let timed = |e: &&Entry| (e.work.channels, e.work.samples) == size && e.end_to_end > 0.0;
    for entry in device.entries.iter().filter(timed) {
        let same = |e: &&mut &Entry| e.operation == entry.operation && parameters(&e.class) == parameters(&entry.class);
        match found.iter_mut().find(same) {
            Some(known) if known.date < entry.date => *known = entry,
            Some(_) => {}
            None => found.push(entry),
        }
    }
    found
}

/// The part of a class's name before its size.
fn parameters(class: &str) -> &str {
    class.rsplit_once("--").map_or(class, |(parameters, _)| parameters)
}

#[cfg(test)]
mod tests {
    use dspk::tune::{Outcome, Work};

    use super::*;

    fn device(runtime: &str, times: &[(&str, (u64, u64), f64, &str)]) -> DeviceResults {
        let entry = |&(class, (channels, samples), end_to_end, date): &(&str, (u64, u64), f64, &str)| Entry {
            schema: 1,
            device: runtime.into(),
            operation: "fir".into(),
            class: class.into(),
            identity: "0".repeat(32),
            driver: String::new(),
            outcome: Outcome::DefaultKept,
            winner: "direct".into(),
            default: "direct".into(),
            rounds: 5,
            date: date.into(),
            candidates: vec![],
            rejected: vec![],
            budget: 1.0,
            untried: vec![],
            reason: String::new(),
            work: Work { channels, samples, bytes: 1 },
            setup: 0.0,
            end_to_end,
            imported: false,
        };
        let facts = DeviceFacts { runtime: runtime.into(), name: "n".into(), ..DeviceFacts::default() };
        DeviceResults { facts, entries: times.iter().map(entry).collect() }
    }

    #[test]
    fn the_fastest_comes_first_and_old_results_do_not_count() {
        let small = SIZES[0];
        let cpu = device(
            "cpu",
            &[
                ("a--c5-s13", small, 2.0, "2026-01-01"),
                ("a--c5-s13-v1", small, 3.0, "2026-02-01"),
                ("b--c1", (1, 1), 1.0, ""),
            ],
        );
        let card = device("wgpu", &[("a--c5-s13", small, 1.0, "2026"), ("a--c9-s17", SIZES[1], 0.0, "2026")]);
        let lines = lines(&[cpu, card]);
        assert_eq!(lines.len(), 1);
        let times: Vec<_> = lines[0].times.iter().map(|time| (time.device.as_str(), time.seconds)).collect();
        assert_eq!(times, [("wgpu: n", 1.0), ("cpu: n", 3.0)]);
    }
}
