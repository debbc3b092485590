//! The progress bar and the texts that are printed.

use std::io::IsTerminal;
use std::time::Duration;

use dspk::tune::cache::Cleared;
use dspk::tune::{ImportSummary, Progress, RuntimeSummary};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on stderr, where that is a terminal.
pub struct Bar(ProgressBar);

impl Bar {
    /// Shows nothing unless `wanted`.
    pub fn new(wanted: bool) -> Bar {
        let visible = wanted && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        Bar(match ProgressStyle::with_template("{prefix:>6} [{bar:32}] {pos}/{len} {wide_msg}") {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        })
    }

    /// Draws how far the run has come.
    pub fn show(&self, progress: &Progress<'_>) {
        self.0.set_length(progress.total as u64);
        self.0.set_position(progress.done as u64);
        self.0.set_prefix(progress.runtime.to_string());
        let left = progress.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
        let waiting = if progress.waiting { " (waiting for another process)" } else { "" };
        let (channels, samples) = progress.size;
        self.0.set_message(format!("{} {channels} x {samples}{waiting}{left}", progress.operation));
    }

    /// Writes something else meanwhile.
    pub fn pause(&self, write: impl FnOnce() -> u8) {
        self.0.suspend(write);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// Minutes and seconds.
fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// `1 class`, `2 classes`.
pub fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

/// `1 result`, `2 results`.
pub fn results(number: usize) -> String {
    count(number, "result", "results")
}

/// The summaries, keyed by runtime.
pub fn summaries_json(summaries: &[RuntimeSummary]) -> serde_json::Value {
    summaries.iter().map(|summary| (summary.runtime.clone(), serde_json::json!(summary))).collect()
}

/// The summaries for people; a column of inconclusive classes only where there are any.
pub fn table(summaries: &[RuntimeSummary]) -> String {
    let width = summaries.iter().map(|s| s.runtime.len()).max().unwrap_or(0).max("runtime".len());
    let any_inconclusive = summaries.iter().any(|s| s.inconclusive > 0);
    let inconclusive = |text: String| if any_inconclusive { format!("  {text:>12}") } else { String::new() };
    let mut text = format!(
        "{:width$}  {:>5}  {:>8}  {:>6}  {:>6}{}  {:>7}  {:>6}  {:>10}\n",
        "runtime",
        "sizes",
        "seconds",
        "tuned",
        "cached",
        inconclusive("inconclusive".into()),
        "skipped",
        "failed",
        "launches"
    );
    for s in summaries {
        text.push_str(&format!(
            "{:width$}  {:>5}  {:>8.1}  {:>6}  {:>6}{}  {:>7}  {:>6}  {:>10}\n",
            s.runtime,
            s.sizes,
            s.seconds,
            s.tuned,
            s.cached,
            inconclusive(s.inconclusive.to_string()),
            s.skipped,
            s.failed.len(),
            s.benchmark_launches
        ));
    }
    if any_inconclusive {
        text.push_str("inconclusive: no evidence within the time that one class may take; the default stays\n");
    }
    if summaries.iter().any(|s| s.skipped > 0) {
        text.push_str("skipped: did not fit the budget; tuned when first met (a larger --budget tunes them now)\n");
    }
    text
}

/// What an import did.
pub fn imported(summary: &ImportSummary) -> String {
    let mut text = format!("imported    {} (each is verified before its first use)\n", results(summary.imported));
    if summary.kept > 0 {
        let kept = count(summary.kept, "class", "classes");
        text.push_str(&format!("kept        {kept} that this machine has measured itself (--force replaces them)\n"));
    }
    if summary.other_version > 0 {
        let other = results(summary.other_version);
        text.push_str(&format!("left out    {other} of operations or kernels that this build does not have\n"));
    }
    for device in &summary.other_devices {
        text.push_str(&format!("left out    {device}: not a device of this machine (--force takes it over)\n"));
    }
    text
}

/// What a clearing did.
pub fn cleared(cleared: &Cleared) -> String {
    let files = count(usize::try_from(cleared.files).unwrap_or(usize::MAX), "file", "files");
    let mut text = format!("removed     {files}, {}\n", bytes(cleared.bytes));
    if cleared.left > 0 {
        text.push_str(&format!("left alone  {}: in use, or not written by dspk\n", cleared.left));
    }
    text
}

/// `512 bytes`, `83.2 kB`.
fn bytes(number: u64) -> String {
    let (mut value, mut unit) = (number as f64, "bytes");
    for larger in ["kB", "MB", "GB"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "bytes" { format!("{number} bytes") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!((results(1), results(0)), ("1 result".into(), "0 results".into()));
        let all: Vec<String> = [0, 999, 1000, 83_211, 5_000_000, 7_000_000_000_000].map(bytes).into();
        assert_eq!(all, ["0 bytes", "999 bytes", "1.0 kB", "83.2 kB", "5.0 MB", "7000.0 GB"]);
    }

    #[test]
    fn an_import_says_what_was_left_out_and_why() {
        let nothing = ImportSummary::default();
        assert_eq!(imported(&nothing).lines().count(), 1);
        let all = ImportSummary { imported: 3, kept: 1, other_version: 2, other_devices: vec!["gfx".into()] };
        let text = imported(&all);
        assert!(text.contains("3 results") && text.contains("1 class that") && text.contains("2 results of"), "{text}");
        assert!(text.contains("gfx: not a device of this machine"), "{text}");
    }
}
