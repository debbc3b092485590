//! This machine and this build, as choosing a runtime sees them.

use std::sync::{Arc, Mutex, PoisonError};

use super::select::{Machine, Target, VARIABLE};
#[cfg(feature = "wgpu")]
use crate::accelerator::{Class, Findings, Found, Limits, Trouble};
use crate::accelerator::{Probe, Record, Report, Roots, missing_library};
use crate::error::{Error, Result};

/// Runtimes of this build, in order of preference.
pub(super) const COMPILED: &[&str] = &[
    #[cfg(feature = "wgpu")]
    "wgpu",
    "cpu",
];

/// The machine the process runs on.
#[derive(Default)]
pub(super) struct System {
    report: Mutex<Option<Arc<Report>>>,
}

impl Machine for System {
    fn compiled(&self) -> &'static [&'static str] {
        COMPILED
    }

    fn environment(&self) -> Option<String> {
        std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned())
    }

    fn report(&self, refresh: bool) -> Arc<Report> {
        // Held while looking, so that threads that start together look once.
        let mut kept = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref().filter(|_| !refresh) {
            Some(report) => report.clone(),
            None => {
                let report = Arc::new(Report::build(&Roots::system(), &probes(refresh)));
                *kept = Some(report.clone());
                report
            }
        }
    }

    fn cpu(&self) -> Option<Record> {
        Some(super::cpu::facts().record())
    }

    fn missing_library(&self, runtime: &str) -> Option<String> {
        missing_library(&Roots::system(), runtime).map(|trouble| trouble.to_string())
    }

    fn open(&self, device: &Record) -> Result<Target> {
        match device.runtime {
            #[cfg(feature = "wgpu")]
            "wgpu" => super::wgpu::open(index(device)?).map(Target::Gpu),
            other => Err(Error::internal(format!("runtime '{other}' opens no devices in this build"))),
        }
    }
}

/// The number in `wgpu:1`.
#[cfg(feature = "wgpu")]
fn index(device: &Record) -> Result<usize> {
    let number = device.device.rsplit_once(':').and_then(|(_, number)| number.parse().ok());
    number.ok_or_else(|| Error::internal(format!("'{}' is not a device of a listing", device.device)))
}

/// One probe for each GPU runtime of this build.
#[cfg(feature = "wgpu")]
fn probes(refresh: bool) -> Vec<Arc<dyn Probe>> {
    vec![Arc::new(WgpuProbe { refresh })]
}

/// This build has no GPU runtime.
#[cfg(not(feature = "wgpu"))]
fn probes(_refresh: bool) -> Vec<Arc<dyn Probe>> {
    Vec::new()
}

#[cfg(feature = "wgpu")]
struct WgpuProbe {
    refresh: bool,
}

#[cfg(feature = "wgpu")]
impl Probe for WgpuProbe {
    fn runtime(&self) -> &'static str {
        "wgpu"
    }

    fn probe(&self) -> Findings {
        match super::wgpu::adapters(self.refresh) {
            Ok(list) => {
                let nothing = list.is_empty().then(super::wgpu::loader_note).flatten();
                Findings {
                    devices: list.into_iter().map(found).collect(),
                    trouble: nothing.map(|note| Trouble::Said(note.to_owned())),
                }
            }
            Err(e) => Findings { devices: Vec::new(), trouble: Some(Trouble::Said(e.to_string())) },
        }
    }
}

#[cfg(feature = "wgpu")]
fn found(adapter: super::wgpu::AdapterSummary) -> Found {
    use super::gpu::DeviceClass;
    let limits = adapter.limits;
    Found {
        index: adapter.index,
        backend: adapter.backend,
        class: match adapter.class {
            _ if adapter.is_software => Class::Software,
            DeviceClass::Cpu => Class::Software,
            DeviceClass::Integrated => Class::Integrated,
            DeviceClass::Discrete => Class::Discrete,
            DeviceClass::Other => Class::Other,
        },
        driver: format!("{} {}", adapter.driver, adapter.driver_info).trim().to_owned(),
        name: adapter.name,
        vendor_id: adapter.vendor_id,
        device_id: adapter.device_id,
        identity: adapter.pci_bus_id,
        mem_mb: 0,
        float64: adapter.float64,
        float16: adapter.float16,
        // WGSL has no such type.
        bfloat16: false,
        subgroups: adapter.subgroups,
        timestamps: adapter.timestamps,
        limits: Limits {
            binding_bytes: limits.binding_bytes,
            buffer_bytes: limits.buffer_bytes,
            groups_per_dimension: limits.groups_per_dimension,
            group_size: limits.group_size,
            group_bytes: limits.group_bytes,
        },
        trouble: None,
    }
}
