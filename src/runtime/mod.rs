//! Where work runs: choosing a runtime, devices, device arrays.

#[cfg(feature = "gpu")]
mod array;
#[cfg(feature = "gpu")]
mod check;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub mod null;
#[cfg(feature = "gpu")]
mod pack;
#[cfg(all(test, feature = "wgpu"))]
pub(crate) mod testing;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(feature = "gpu")]
pub use array::{DeviceArray, Layout, Segment};
