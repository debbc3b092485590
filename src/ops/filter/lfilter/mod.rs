//! FIR filters.

#[cfg(feature = "gpu")]
pub mod gpu;
