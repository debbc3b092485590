//! Cascaded second-order sections.

#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
mod precision;
