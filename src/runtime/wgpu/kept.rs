//! Compiled kernels between processes: what a driver's compiler made of a kernel, handed back to it.
//!
//! Vulkan hands compiled code out as a pipeline cache: opaque bytes that name the device and driver they are for. Each
//! kernel gets a pipeline cache of its own, filled from the [store](crate::runtime::binaries) if it holds one, and is
//! written back if compiling has changed it: not at all where the driver found what it needed, or gives nothing away.
//! Whatever fails here only costs time: the kernel is then compiled without.

use super::faults::{Faults, scoped};
use crate::error::{ErrorKind, Result};
use crate::kernel::Kernel;
use crate::runtime::binaries::Binaries;

/// The version of wgpu and naga that turn a kernel into what the driver compiles; a test compares it to the manifest.
const COMPILER: &str = "30";

/// The store of one device.
pub(super) struct Kept {
    store: Binaries,
    /// What all keys of the device have in common.
    place: String,
}

impl Kept {
    pub(super) fn new(store: Binaries, backend: &str, driver: &str) -> Self {
        Kept { store, place: format!("wgpu {COMPILER}\nbackend {backend}\ndriver {driver}") }
    }

    /// Everything the compiled code depends on. Checked kernels also start with their group memory at zero.
    pub(super) fn key(&self, kernel: &Kernel, checked: bool) -> String {
        format!("{}\nkernel {:032x}\nchecked {checked}", self.place, kernel.hash)
    }

    /// Makes a pipeline with `build`, which is handed a pipeline cache, or nothing if there can be none.
    pub(super) fn help<T>(
        &self,
        kernel: &Kernel,
        checked: bool,
        faults: &Faults,
        build: impl Fn(Option<&wgpu::PipelineCache>) -> Result<T>,
    ) -> Result<T> {
        let key = self.key(kernel, checked);
        let stored = self.store.load(&key);
        let Some(cache) = open(faults, kernel, stored.as_deref()) else { return build(None) };
        let before = cache.get_data();
        match build(Some(&cache)) {
            Ok(made) => {
                if let Some(after) = cache.get_data().filter(|after| before.as_ref() != Some(after)) {
                    self.store.save(&key, &after);
                }
                Ok(made)
            }
            Err(e) if stored.is_some() && e.kind() == ErrorKind::Kernel => {
                self.store.discard(&key, &format!("kernel {} does not compile with it ({e})", kernel.name));
                build(None)
            }
            Err(e) => Err(e),
        }
    }
}

/// A pipeline cache that starts with this data, or empty if the driver has no use for it.
fn open(faults: &Faults, kernel: &Kernel, data: Option<&[u8]>) -> Option<wgpu::PipelineCache> {
    let (cache, error) = scoped(faults.device(), |device| {
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some(kernel.name), data, fallback: true };
        // SAFETY: the store returns bytes only as it was given them, by their checksum, under a key that names the device,
        // the backend and the driver; it was given them by `help`, which had them from `get_data`.
        unsafe { device.create_pipeline_cache(&descriptor) }
    });
    if let Some(error) = &error {
        log::debug!("kernel {} is compiled without a pipeline cache: {error}", kernel.name);
    }
    error.is_none().then_some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_names_the_compiler_of_the_manifest() {
        let manifest = include_str!("../../../Cargo.toml");
        for name in ["wgpu", "naga"] {
            let wanted = format!("{name} = {{ version = \"{COMPILER}\"");
            assert!(manifest.lines().any(|line| line.starts_with(&wanted)), "{wanted}");
        }
    }
}
