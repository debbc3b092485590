//! Where work runs: choosing a runtime, devices, device arrays.

#[cfg(feature = "gpu")]
mod array;
pub mod binaries;
#[cfg(feature = "gpu")]
mod check;
pub mod cpu;
mod current;
#[cfg(feature = "gpu")]
pub mod gpu;
mod machine;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod null;
#[cfg(feature = "gpu")]
mod pack;
mod select;
mod selector;
#[cfg(all(test, feature = "wgpu"))]
pub(crate) mod testing;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub use crate::facade::{
    Basis, Estimate, Recommendation, autotune, autotune_with, clear_cache, explain, import_tuning, recommend,
    tuning_results,
};
#[cfg(feature = "gpu")]
pub use array::{DeviceArray, Layout, Segment};
#[cfg(feature = "gpu")]
pub use current::device;
#[cfg(feature = "gpu")]
pub(crate) use current::is_default;
pub use current::{
    available, capabilities, current, describe, device_string, devices, gpu_active_backend, gpu_devices,
    gpu_set_backend, is_cuda, is_gpu, neural_engines, report, resolve, resolve_device, set, supports_bfloat16,
    supports_float16, supports_float64,
};
pub use select::{Target, VARIABLE};
pub use selector::{Pick, Selector};
