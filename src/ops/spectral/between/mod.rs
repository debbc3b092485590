//! What operations between a forward and an inverse transform share.

pub(super) mod cpu;
#[cfg(feature = "gpu")]
pub(super) mod gpu;
