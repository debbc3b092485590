//! The common reference.

#[cfg(feature = "gpu")]
pub mod gpu;
pub mod plan;
