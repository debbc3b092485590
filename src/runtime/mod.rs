//! Where work runs: choosing a runtime, devices, device arrays.

#[cfg(feature = "gpu")]
mod array;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(all(test, feature = "gpu"))]
pub(crate) mod testing;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(feature = "gpu")]
pub use array::{DeviceArray, Layout, Segment};
