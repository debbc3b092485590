//! What wgpu finds on this machine.
//!
//! Listing loads every installed driver, and a broken one can hang or crash while it does: it runs on a thread of its
//! own, is given up after a stated time (10 s, `DSPK_PROBE_SECONDS` changes it), and goes on in the background, so that
//! a later call can still find its result.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::faults::lock;
use crate::accelerator::is_software_name;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::gpu::{DeviceClass, Limits};

/// Seconds a driver may take to answer.
const PROBE_SECONDS: f64 = 10.0;

const BACKENDS: wgpu::Backends = wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// One adapter as a backend shows it. A card visible through two backends is listed twice.
#[derive(Debug, Clone)]
pub struct AdapterSummary {
    /// Place in the listing: what [`open`](super::open) takes.
    pub index: usize,
    /// `vulkan`, `metal` or `dx12`.
    pub backend: &'static str,
    /// Marketing name.
    pub name: String,
    /// PCI vendor, where the backend knows it, else 0.
    pub vendor_id: u32,
    /// PCI device, where the backend knows it, else 0.
    pub device_id: u32,
    /// Physical class.
    pub class: DeviceClass,
    /// Name of the driver; may be empty.
    pub driver: String,
    /// Version of the driver; may be empty.
    pub driver_info: String,
    /// PCI address (`0000:01:00.0`), or empty.
    pub pci_bus_id: String,
    /// Smallest and largest subgroup, where shaders may use subgroup operations.
    pub subgroups: Option<(u32, u32)>,
    /// Shaders may use `f16`.
    pub float16: bool,
    /// Shaders may use `f64`.
    pub float64: bool,
    /// Timestamps can be written between commands.
    pub timestamps: bool,
    /// The adapter's own limits.
    pub limits: Limits,
    /// Runs on the CPU, by its type or by its name.
    pub is_software: bool,
}

/// What is missing before any driver can be found: `Some` text with the remedy where this system's Vulkan loader does not
/// load, `None` where it does or none is needed (Metal, DX12).
pub fn loader_note() -> Option<&'static str> {
    #[cfg(target_os = "linux")]
    if !loads(c"libvulkan.so.1") {
        return Some(
            "no Vulkan loader (libvulkan.so.1) found: install libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora) or vulkan-icd-loader (Arch), and the GPU's driver",
        );
    }
    None
}

#[cfg(target_os = "linux")]
fn loads(library: &std::ffi::CStr) -> bool {
    // SAFETY: the name is a C string; opening and closing a library by its system name runs no code of ours.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL);
        !handle.is_null() && libc::dlclose(handle) == 0
    }
}

/// Lists the adapters of Vulkan, Metal and DX12; an empty list is no error (see [`loader_note`]). The listing is made
/// once and remembered; `refresh` makes it anew.
///
/// # Errors
/// [`ErrorKind::Unavailable`] if a driver did not answer in time or failed while it was asked.
pub fn adapters(refresh: bool) -> Result<Vec<AdapterSummary>> {
    Ok(listing(refresh)?.iter().enumerate().map(|(index, adapter)| summarise(index, adapter)).collect())
}

/// The adapter at a place of the listing, and how many equal ones stand before it.
pub(super) fn find(index: usize) -> Result<(wgpu::Adapter, AdapterSummary, usize)> {
    let adapters = listing(false)?;
    let Some(adapter) = adapters.get(index) else {
        let found = match (adapters.len(), loader_note()) {
            (0, Some(note)) => note.to_string(),
            (0, None) => {
                "no driver offers a device: install the GPU's Vulkan driver, and check the permissions of /dev/dri"
                    .into()
            }
            (n, _) => format!("there are {n}, counted from 0"),
        };
        return Err(Error::new(ErrorKind::Unavailable, format!("there is no wgpu adapter {index}: {found}")));
    };
    let info = adapter.get_info();
    let before = adapters[..index].iter().filter(|a| a.get_info() == info).count();
    Ok((adapter.clone(), summarise(index, adapter), before))
}

type Listed = Arc<Vec<wgpu::Adapter>>;

#[derive(Default)]
struct Listing {
    found: Option<Listed>,
    /// A listing that did not finish in time.
    late: Option<Receiver<Vec<wgpu::Adapter>>>,
}

static LISTING: Mutex<Listing> = Mutex::new(Listing { found: None, late: None });
static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();

fn listing(refresh: bool) -> Result<Listed> {
    let mut listing = lock(&LISTING);
    if let (false, Some(found)) = (refresh, &listing.found) {
        return Ok(found.clone());
    }
    // One that is late has had its time: it is looked at, never waited for again.
    let (receiver, wait) = match listing.late.take() {
        Some(late) => (late, Duration::ZERO),
        None => (start("listing the GPU adapters", enumerate)?, probe_time()),
    };
    match receiver.recv_timeout(wait) {
        Ok(found) => {
            let found = Arc::new(found);
            listing.found = Some(found.clone());
            Ok(found)
        }
        Err(RecvTimeoutError::Timeout) => {
            listing.late = Some(receiver);
            Err(gave_up("listing the GPU adapters"))
        }
        Err(RecvTimeoutError::Disconnected) => Err(crashed("listing the GPU adapters")),
    }
}

fn enumerate() -> Vec<wgpu::Adapter> {
    let instance = INSTANCE.get_or_init(|| {
        wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: BACKENDS,
            flags: wgpu::InstanceFlags::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        })
    });
    pollster::block_on(instance.enumerate_adapters(BACKENDS))
}

/// Runs a call into a driver on a thread of its own and waits for it as long as a probe may take.
pub(super) fn within_probe_time<T: Send + 'static>(what: &str, call: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    start(what, call)?.recv_timeout(probe_time()).map_err(|e| match e {
        RecvTimeoutError::Timeout => gave_up(what),
        RecvTimeoutError::Disconnected => crashed(what),
    })
}

fn start<T: Send + 'static>(what: &str, call: impl FnOnce() -> T + Send + 'static) -> Result<Receiver<T>> {
    let (sender, receiver) = channel();
    let run = move || {
        // A receiver that has given up is no fault of this thread.
        let _ = sender.send(call());
    };
    std::thread::Builder::new().name("dspk-probe".into()).spawn(run).map_err(|e| {
        Error::new(ErrorKind::Unavailable, format!("{what} needs a thread, and none can be started: {e}"))
            .with_source(e)
    })?;
    Ok(receiver)
}

fn gave_up(what: &str) -> Error {
    let seconds = probe_time().as_secs_f64();
    Error::new(
        ErrorKind::Unavailable,
        format!(
            "{what} was given up after {seconds} s: a driver does not answer; update or remove it, or allow it more time with DSPK_PROBE_SECONDS"
        ),
    )
}

fn crashed(what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{what} failed inside a driver; update or remove that driver"))
}

fn probe_time() -> Duration {
    let Ok(text) = std::env::var("DSPK_PROBE_SECONDS") else { return Duration::from_secs_f64(PROBE_SECONDS) };
    let seconds = text.trim().parse::<f64>().ok().filter(|s| *s > 0.0 && *s <= 86_400.0);
    Duration::from_secs_f64(seconds.unwrap_or_else(|| {
        log::warn!("DSPK_PROBE_SECONDS={text} is not a number of seconds above 0; using {PROBE_SECONDS}");
        PROBE_SECONDS
    }))
}

fn summarise(index: usize, adapter: &wgpu::Adapter) -> AdapterSummary {
    use wgpu::Features as F;
    let (info, features) = (adapter.get_info(), adapter.features());
    let is_software = info.device_type == wgpu::DeviceType::Cpu || is_software_name(&info.name);
    let class = match info.device_type {
        _ if is_software => DeviceClass::Cpu,
        wgpu::DeviceType::IntegratedGpu => DeviceClass::Integrated,
        wgpu::DeviceType::DiscreteGpu => DeviceClass::Discrete,
        _ => DeviceClass::Other,
    };
    AdapterSummary {
        index,
        backend: match info.backend {
            wgpu::Backend::Metal => "metal",
            wgpu::Backend::Dx12 => "dx12",
            _ => "vulkan",
        },
        name: info.name,
        vendor_id: info.vendor,
        device_id: info.device,
        class,
        driver: info.driver,
        driver_info: info.driver_info,
        pci_bus_id: info.device_pci_bus_id,
        subgroups: features.contains(F::SUBGROUP).then_some((info.subgroup_min_size, info.subgroup_max_size)),
        float16: features.contains(F::SHADER_F16),
        float64: features.contains(F::SHADER_F64),
        timestamps: features.contains(F::TIMESTAMP_QUERY | F::TIMESTAMP_QUERY_INSIDE_ENCODERS),
        limits: limits(&adapter.limits()),
        is_software,
    }
}

fn limits(l: &wgpu::Limits) -> Limits {
    Limits {
        // A binding's size is a multiple of 4 bytes; some drivers offer 2^32 - 1.
        binding_bytes: l.max_storage_buffer_binding_size & !15,
        buffer_bytes: l.max_buffer_size & !15,
        uniform_bytes: l.max_uniform_buffer_binding_size,
        groups_per_dimension: l.max_compute_workgroups_per_dimension,
        group_size: l.max_compute_invocations_per_workgroup.min(l.max_compute_workgroup_size_x),
        group_bytes: l.max_compute_workgroup_storage_size,
        storage_alignment: u64::from(l.min_storage_buffer_offset_alignment.max(l.min_uniform_buffer_offset_alignment)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_missing_loader_is_told_from_missing_drivers() {
        assert!(loads(c"libc.so.6") && !loads(c"libno-such-loader.so.1"));
        assert_eq!(loader_note().is_none(), loads(c"libvulkan.so.1"));
    }

    #[test]
    fn a_driver_that_hangs_or_dies_is_an_error() {
        let e = start("asking", std::thread::park).unwrap().recv_timeout(Duration::from_millis(20));
        assert_eq!(e, Err(RecvTimeoutError::Timeout));
        assert_eq!(within_probe_time("asking", || 7).unwrap(), 7);
        let e = within_probe_time("asking", || -> u32 { std::panic::resume_unwind(Box::new("driver")) }).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unavailable);
        assert!(gave_up("asking").to_string().contains("DSPK_PROBE_SECONDS"));
    }
}
