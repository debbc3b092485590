//! Conversion of element types and layouts.

#[cfg(feature = "gpu")]
pub mod gpu;
