//! The process-wide choice of a runtime and the questions asked of it.

use std::sync::{Arc, LazyLock};

use super::machine::{COMPILED, System};
use super::select::{Machine, Resolver, Target};
use crate::accelerator::{Capability, Class, Operation, Record, Report, capabilities as judged, on_empty_cache};
use crate::error::{Error, ErrorKind, Result};

static CHOICE: LazyLock<Resolver<System>> = LazyLock::new(|| {
    on_empty_cache(|| CHOICE.trim());
    Resolver::new(System::default())
});

/// Names the runtimes of this build in order of preference. Touches no driver.
pub fn available() -> &'static [&'static str] {
    COMPILED
}

/// Chooses the runtime of all later calls that name none; `None` gives the choice back to `DSPK_RUNTIME` and the default.
/// A name means what it means as an argument: `cuda`, `hip` (`rocm`), `wgpu`, `cpu`, `vulkan`, `metal`, `dx12`, `gpu`,
/// `auto`, or one device such as `wgpu:0`.
///
/// # Errors
/// [`ErrorKind::UnknownRuntime`] or [`ErrorKind::NotCompiled`], and the choice stays as it was. Whether the device is
/// there shows when it is used.
pub fn set(name: Option<&str>) -> Result<()> {
    CHOICE.set(name)
}

/// The canonical name (`cuda`, `hip`, `wgpu`, `cpu`) of the runtime that calls use now. Opens the device if need be.
///
/// # Errors
/// As [`resolve`]: a runtime that was chosen by name and cannot be used is never replaced.
pub fn current() -> Result<&'static str> {
    Ok(CHOICE.resolve(None)?.record.runtime)
}

/// Where a call with this `runtime` argument runs. The device is opened on first use and shared.
///
/// # Errors
/// [`ErrorKind::UnknownRuntime`], [`ErrorKind::NotCompiled`], or [`ErrorKind::Unavailable`] with what is missing on this
/// machine. Without any name it cannot fail.
pub fn resolve(argument: Option<&str>) -> Result<Target> {
    Ok(CHOICE.resolve(argument)?.target)
}

/// Whether a call with this `runtime` argument leaves the choice to the default: what has no kernel for the device then
/// runs on the CPU. A named choice is never replaced.
#[cfg(feature = "gpu")]
pub(crate) fn is_default(argument: Option<&str>) -> bool {
    CHOICE.is_default(argument)
}

/// A GPU by name (as for [`set`]), opened on first use and shared: what device arrays are made on.
///
/// # Errors
/// As [`resolve`], and [`ErrorKind::InvalidArgument`] for a name that means the CPU.
///
/// ```no_run
/// use dspk::runtime::DeviceArray;
/// use dspk::signal::View;
/// let gpu = dspk::runtime::device("wgpu")?;
/// let x = DeviceArray::upload(&gpu, View::new(&[1.0f32, 2.0], 1, 2)?.into())?;
/// # Ok::<(), dspk::Error>(())
/// ```
#[cfg(feature = "gpu")]
pub fn device(name: &str) -> Result<Arc<dyn super::gpu::Gpu>> {
    match resolve(Some(name))? {
        Target::Gpu(gpu) => Ok(gpu),
        Target::Cpu => {
            Err(Error::invalid(format!("'{name}' is the CPU here; name a GPU runtime: {}", available().join(", "))))
        }
    }
}

/// The device report of this machine, made on first use; `refresh` looks again.
pub fn report(refresh: bool) -> Arc<Report> {
    match refresh {
        true => CHOICE.refresh(),
        false => CHOICE.machine().report(false),
    }
}

/// Every device found, usable or not.
pub fn devices() -> Vec<Record> {
    report(false).devices().to_vec()
}

/// Neural engines, named as found and never selected.
pub fn neural_engines() -> Vec<Record> {
    report(false).neural_engines().to_vec()
}

/// The device that calls use now; `refresh` looks at the machine again. Never fails: where a runtime was chosen by name
/// and cannot be used, the record is unusable and its note says why.
pub fn resolve_device(refresh: bool) -> Record {
    if refresh {
        CHOICE.refresh();
    }
    match CHOICE.resolve(None) {
        Ok(resolved) => (*resolved.record).clone(),
        Err(e) => Record::unusable(e.to_string()),
    }
}

/// One line on the device that calls use now.
pub fn describe() -> String {
    resolve_device(false).describe()
}

/// Name of the device that calls use now, such as `wgpu:0` or `cpu`; empty if the one chosen by name cannot be used.
pub fn device_string() -> String {
    resolve_device(false).device
}

/// What the device that calls use now does with each operation.
pub fn capabilities(operations: &[Operation]) -> Vec<Capability> {
    judged(&resolve_device(false), operations)
}

/// Whether the device that calls use now computes in float64.
pub fn supports_float64() -> bool {
    resolve_device(false).float64
}

/// Whether the device that calls use now computes in float16.
pub fn supports_float16() -> bool {
    resolve_device(false).float16
}

/// Whether the device that calls use now computes in bfloat16.
pub fn supports_bfloat16() -> bool {
    resolve_device(false).bfloat16
}

/// Whether calls run on a GPU made of silicon now.
pub fn is_gpu() -> bool {
    resolve_device(false).is_gpu()
}

/// Whether calls run on an NVIDIA GPU through CUDA now.
pub fn is_cuda() -> bool {
    resolve_device(false).is_cuda()
}

/// Every GPU found, through each runtime; software adapters are marked as such ([`Record::fallback`]).
pub fn gpu_devices() -> Vec<Record> {
    devices().into_iter().filter(|d| d.class != Class::Cpu).collect()
}

/// Chooses by backend: `cuda`, `rocm`, `metal`, `vulkan`, `dx12`, `cpu`, or `auto`, the first hardware GPU, else the CPU;
/// `None` takes the choice back. The same choice as [`set`], under the backends' names.
///
/// # Errors
/// As [`set`].
pub fn gpu_set_backend(backend: Option<&str>) -> Result<()> {
    let Some(backend) = backend else { return set(None) };
    match backend.trim().to_lowercase().as_str() {
        name @ ("cuda" | "rocm" | "metal" | "vulkan" | "dx12" | "cpu" | "auto") => set(Some(name)),
        _ => Err(Error::new(
            ErrorKind::UnknownRuntime,
            format!("there is no backend '{}'; known: cuda, rocm, metal, vulkan, dx12, cpu, auto", backend.trim()),
        )),
    }
}

/// Backend that calls use now: `cuda`, `rocm`, `metal`, `vulkan`, `dx12` or `cpu`.
///
/// # Errors
/// As [`current`].
pub fn gpu_active_backend() -> Result<&'static str> {
    Ok(CHOICE.resolve(None)?.record.backend)
}
