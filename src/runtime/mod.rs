//! Where work runs: choosing a runtime, devices, device arrays.

#[cfg(feature = "gpu")]
mod array;
#[cfg(feature = "gpu")]
pub mod gpu;

#[cfg(feature = "gpu")]
pub use array::{DeviceArray, Layout, Segment};
