//! From an adapter to a tested device, opened once and shared.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::adapters::{AdapterSummary, find, within_probe_time};
use super::device::{Parts, WgpuDevice};
use super::faults::lock;
use super::kept::Kept;
use super::selftest;
use crate::disk::cache_folder;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::binaries::Binaries;
use crate::runtime::gpu::{DeviceClass, Facts, Gpu};

/// Bytes of unused buffers kept: on a card with its own memory, and where it is shared with the host.
const POOL_BYTES: [u64; 2] = [4 << 30, 2 << 30];

/// Deviations from what the adapter offers, so that tests reach every path on any machine.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// A smaller binding limit, in bytes.
    pub binding_bytes: Option<u64>,
    /// A smaller limit of work groups per dimension.
    pub groups_per_dimension: Option<u32>,
    /// Transfer through staging buffers even where memory is shared.
    pub force_staging: bool,
    /// Bytes of unused buffers kept.
    pub pool_bytes: Option<u64>,
    /// Where compiled kernels are kept, in place of the cache folder.
    pub cache: Option<PathBuf>,
}

type Slot = Arc<Mutex<Option<Arc<WgpuDevice>>>>;

static DEVICES: Mutex<Option<HashMap<String, Slot>>> = Mutex::new(None);

/// Opens the adapter at this place of the listing, or returns it if it is open already. A failed open can be tried again;
/// a lost device is replaced by a fresh one.
///
/// # Errors
/// [`ErrorKind::Unavailable`] with the driver's reason.
pub fn open(index: usize) -> Result<Arc<dyn Gpu>> {
    let (adapter, summary, before) = find(index)?;
    let AdapterSummary { backend, name, vendor_id, device_id, pci_bus_id, .. } = &summary;
    let identity = format!("{backend} {vendor_id:x} {device_id:x} {pci_bus_id} {name} {before}");
    let slot = lock(&DEVICES).get_or_insert_default().entry(identity).or_default().clone();
    let mut slot = lock(&slot);
    if let Some(device) = slot.as_ref().filter(|d| !d.is_lost()) {
        return Ok(device.clone());
    }
    let device = start(adapter, summary, Overrides::default())?;
    *slot = Some(device.clone());
    Ok(device)
}

/// Opens an adapter for this caller alone, with overrides.
pub fn open_with(index: usize, overrides: Overrides) -> Result<Arc<WgpuDevice>> {
    let (adapter, summary, _) = find(index)?;
    start(adapter, summary, overrides)
}

fn start(adapter: wgpu::Adapter, summary: AdapterSummary, overrides: Overrides) -> Result<Arc<WgpuDevice>> {
    let name = summary.name.clone();
    within_probe_time(&format!("opening {name}"), move || request(&adapter, &summary, overrides))?
        .map(Arc::new)
        .map_err(|e| e.context(format!("{name} cannot be used")))
}

fn request(adapter: &wgpu::Adapter, summary: &AdapterSummary, overrides: Overrides) -> Result<WgpuDevice> {
    use wgpu::Features as F;
    let shared = matches!(summary.class, DeviceClass::Cpu | DeviceClass::Integrated);
    let mut wanted = F::SUBGROUP | F::SHADER_F16 | F::SHADER_F64 | F::PIPELINE_CACHE;
    if summary.timestamps {
        wanted |= F::TIMESTAMP_QUERY | F::TIMESTAMP_QUERY_INSIDE_ENCODERS;
    }
    if shared && !overrides.force_staging {
        wanted |= F::MAPPABLE_PRIMARY_BUFFERS;
    }
    let features = adapter.features() & wanted;
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("dspk"),
        required_features: features,
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| {
        Error::new(ErrorKind::Unavailable, format!("the driver does not open the device: {e}")).with_source(e)
    })?;
    let checked = checked_shaders();
    let facts = facts(summary, checked, &overrides);
    let kept = features.contains(F::PIPELINE_CACHE).then(|| {
        let cache = overrides.cache.or_else(cache_folder);
        Kept::new(Binaries::new(cache, &facts.key), summary.backend, &facts.driver)
    });
    let mut device = WgpuDevice::new(Parts {
        device,
        queue,
        facts,
        mappable: features.contains(F::MAPPABLE_PRIMARY_BUFFERS),
        checked,
        kept,
        pool_bytes: overrides.pool_bytes.unwrap_or(POOL_BYTES[usize::from(shared)]),
    });
    device.facts.compensation = selftest::compensation(&device)?;
    Ok(device)
}

fn facts(summary: &AdapterSummary, checked: bool, overrides: &Overrides) -> Facts {
    let mut limits = summary.limits;
    if let Some(bytes) = overrides.binding_bytes {
        limits.binding_bytes = limits.binding_bytes.min(bytes);
    }
    if let Some(groups) = overrides.groups_per_dimension {
        limits.groups_per_dimension = limits.groups_per_dimension.min(groups);
    }
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    Facts {
        key: key(summary, checked, threads),
        runtime: "wgpu",
        vendor: if summary.vendor_id == 0 { String::new() } else { format!("{:04x}", summary.vendor_id) },
        name: summary.name.clone(),
        driver: format!("{} {}", summary.driver, summary.driver_info).trim().to_string(),
        class: summary.class,
        limits,
        subgroups: summary.subgroups,
        // The clock of a software adapter is the host's anyway, and includes what its own timestamps leave out.
        timestamps: summary.timestamps && !summary.is_software,
        float16: summary.float16,
        float64: summary.float64,
        compensation: false,
    }
}

/// Bounds and loop checks in shaders: on in debug builds, off in release; `DSPK_CHECKED_SHADERS` = 1 or 0 decides.
fn checked_shaders() -> bool {
    match std::env::var("DSPK_CHECKED_SHADERS").as_deref().map(str::trim) {
        Ok("1") => true,
        Ok("0") => false,
        Ok("") | Err(_) => cfg!(debug_assertions),
        Ok(other) => {
            log::warn!("DSPK_CHECKED_SHADERS={other} is neither 0 nor 1; using the build's default");
            cfg!(debug_assertions)
        }
    }
}

/// What the device is in silicon. A software adapter's ids say nothing, so its vector width (from the name) and the
/// number of threads stand in.
fn key(summary: &AdapterSummary, checked: bool, threads: usize) -> String {
    let AdapterSummary { backend, vendor_id, device_id, limits, .. } = summary;
    let mut key = format!("wgpu-{backend}-{vendor_id:04x}-{device_id:04x}");
    if let Some((low, high)) = summary.subgroups {
        key.push_str(&format!("-sg{low}-{high}"));
    }
    key.push_str(&format!("-wg{}-sm{}", limits.group_size, limits.group_bytes));
    if summary.is_software {
        if let Some(bits) = vector_bits(&summary.name) {
            key.push_str(&format!("-llvm{bits}"));
        }
        key.push_str(&format!("-t{threads}"));
    }
    if checked {
        key.push_str("-checked");
    }
    key
}

/// The number before "bits" in `llvmpipe (LLVM 15.0.6, 256 bits)`.
fn vector_bits(name: &str) -> Option<u32> {
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == "bits").and_then(|pair| pair[0].parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::gpu::Limits;

    fn summary(name: &str, vendor_id: u32, device_id: u32, is_software: bool) -> AdapterSummary {
        AdapterSummary {
            index: 0,
            backend: "vulkan",
            name: name.into(),
            vendor_id,
            device_id,
            class: if is_software { DeviceClass::Cpu } else { DeviceClass::Discrete },
            driver: String::new(),
            driver_info: String::new(),
            pci_bus_id: String::new(),
            subgroups: Some((if is_software { 8 } else { 32 }, if is_software { 8 } else { 32 })),
            float16: false,
            float64: true,
            timestamps: true,
            limits: Limits {
                binding_bytes: 1 << 30,
                buffer_bytes: 1 << 30,
                uniform_bytes: 65_536,
                groups_per_dimension: 65_535,
                group_size: 1024,
                group_bytes: if is_software { 32_768 } else { 49_152 },
                storage_alignment: 16,
            },
            is_software,
        }
    }

    #[test]
    fn keys_are_silicon_facts() {
        let card = summary("NVIDIA H200", 0x10de, 0x2330, false);
        assert_eq!(key(&card, false, 16), "wgpu-vulkan-10de-2330-sg32-32-wg1024-sm49152");
        assert_eq!(key(&card, true, 8), "wgpu-vulkan-10de-2330-sg32-32-wg1024-sm49152-checked");
        let pipe = summary("llvmpipe (LLVM 15.0.6, 256 bits)", 0x10005, 0, true);
        assert_eq!(key(&pipe, false, 2), "wgpu-vulkan-10005-0000-sg8-8-wg1024-sm32768-llvm256-t2");
        assert_eq!(vector_bits("SwiftShader Device"), None);
    }

    #[test]
    fn overrides_only_lower_limits() {
        let card = summary("card", 1, 2, false);
        let low = Overrides { binding_bytes: Some(1 << 20), groups_per_dimension: Some(7), ..Default::default() };
        let limits = facts(&card, false, &low).limits;
        assert_eq!((limits.binding_bytes, limits.groups_per_dimension), (1 << 20, 7));
        let high = Overrides { binding_bytes: Some(u64::MAX), ..Default::default() };
        assert_eq!(facts(&card, false, &high).limits, card.limits);
    }
}
