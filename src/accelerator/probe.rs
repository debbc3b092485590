//! What device APIs tell the report, and how long they may take.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::record::{Class, Limits};
use super::trouble::Trouble;

/// How long one look at the devices may take; a driver that needs longer is given up on and reported. Where
/// `DSPK_PROBE_SECONDS` allows a driver more, so does the report.
pub const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// A device as its API lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Position in the API's list, which `runtime:index` names.
    pub index: usize,
    /// `cuda`, `rocm`, `metal`, `vulkan` or `dx12`.
    pub backend: &'static str,
    /// What the API says it is; a software adapter may claim anything, so the name is looked at too.
    pub class: Class,
    /// Marketing name.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// PCI vendor number, 0 = unknown.
    pub vendor_id: u32,
    /// PCI device number, 0 = unknown.
    pub device_id: u32,
    /// PCI address (`0000:01:00.0`) or UUID; empty = unknown.
    pub identity: String,
    /// Memory in MiB, 0 = unknown.
    pub mem_mb: u64,
    /// Computes in float64.
    pub float64: bool,
    /// Computes in float16.
    pub float16: bool,
    /// Computes in bfloat16.
    pub bfloat16: bool,
    /// Smallest and largest subgroup, where subgroup operations work.
    pub subgroups: Option<(u32, u32)>,
    /// Device timestamps work.
    pub timestamps: bool,
    /// Limits.
    pub limits: Limits,
    /// Why it cannot be used all the same.
    pub trouble: Option<Trouble>,
}

/// What one API found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Its devices.
    pub devices: Vec<Found>,
    /// Why there are none, or why some may be missing.
    pub trouble: Option<Trouble>,
}

/// A device API that is compiled in. It runs on a thread of its own; one that panics or takes longer than
/// [`PROBE_LIMIT`] counts as having found nothing and is reported as such.
pub trait Probe: Send + Sync {
    /// `cuda`, `hip` or `wgpu`.
    fn runtime(&self) -> &'static str;

    /// Lists the devices without opening any for work.
    fn probe(&self) -> Findings;
}

/// Asks all probes at once.
pub(super) fn ask(probes: &[Arc<dyn Probe>], limit: Duration) -> Vec<(&'static str, Findings)> {
    let start = Instant::now();
    let asked: Vec<_> = probes
        .iter()
        .map(|probe| {
            let (tell, hear) = channel();
            let worker = probe.clone();
            let thread = std::thread::Builder::new().name(format!("dspk-probe-{}", probe.runtime()));
            let started = thread.spawn(move || {
                // The other end may have given up; then nobody wants the answer any more.
                let _ = tell.send(worker.probe());
            });
            (probe.runtime(), hear, started.err())
        })
        .collect();
    asked
        .into_iter()
        .map(|(runtime, hear, failed)| {
            let left = limit.saturating_sub(start.elapsed());
            let findings = hear.recv_timeout(left).unwrap_or_else(|e| {
                let trouble = match (e, failed) {
                    (_, Some(e)) => Trouble::Said(format!("no thread could be started to look for {runtime}: {e}")),
                    (RecvTimeoutError::Timeout, None) => Trouble::Hung { seconds: limit.as_secs() },
                    (RecvTimeoutError::Disconnected, None) => Trouble::Said(format!(
                        "looking for {runtime} devices failed inside a driver; update the driver"
                    )),
                };
                Findings { devices: Vec::new(), trouble: Some(trouble) }
            });
            (runtime, findings)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scripted(&'static str, fn() -> Findings);

    impl Probe for Scripted {
        fn runtime(&self) -> &'static str {
            self.0
        }
        fn probe(&self) -> Findings {
            (self.1)()
        }
    }

    #[test]
    fn hanging_and_panicking_probes_are_reported_and_the_others_kept() {
        let probes: Vec<Arc<dyn Probe>> = vec![
            Arc::new(Scripted("cuda", || {
                std::thread::sleep(Duration::from_secs(3600));
                Findings::default()
            })),
            Arc::new(Scripted("hip", || std::panic::resume_unwind(Box::new("driver")))),
            Arc::new(Scripted("wgpu", Findings::default)),
        ];
        let start = Instant::now();
        let answers = ask(&probes, Duration::from_millis(200));
        assert!(start.elapsed() < Duration::from_secs(30), "the limit holds for all probes together");
        assert_eq!(answers[0].1.trouble, Some(Trouble::Hung { seconds: 0 }));
        assert!(matches!(&answers[1].1.trouble, Some(Trouble::Said(text)) if text.contains("hip")));
        assert_eq!(answers[2], ("wgpu", Findings::default()));
    }
}
