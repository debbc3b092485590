//! Other sampling rates: polyphase filters between rational rates, in one piece or as a stream, and decimation.
//!
//! Fourier's method, which takes a whole channel for one period, is [`crate::ops::spectral::resample`].

mod bank;
#[cfg(feature = "gpu")]
mod beyond;
mod cpu;
pub(crate) mod decimate;
#[cfg(feature = "gpu")]
mod gpu;
mod kernel;
mod padtype;
mod problem;
mod reference;
pub(crate) mod resample_poly;
mod stream;
pub(crate) mod upfirdn;

pub use decimate::{Decimate, DecimateFilter, DecimateOptions, decimate};
pub use padtype::PadType;
pub use resample_poly::{PolyFilter, ResamplePoly, ResamplePolyOptions, resample_poly};
pub use stream::{ResampleState, Resampler};
pub use upfirdn::{Upfirdn, UpfirdnOptions, upfirdn};

use problem::Polyphase;

/// Text of the CPU kernels.
const CPU_SOURCE: &str = concat!(
    include_str!("bank.rs"),
    include_str!("cpu.rs"),
    include_str!("kernel.rs"),
    include_str!("padtype.rs"),
    include_str!("../filter/lfilter/plan.rs")
);

/// Text of the code that launches kernels.
const GPU_SOURCE: &str = concat!(
    include_str!("bank.rs"),
    include_str!("beyond.rs"),
    include_str!("gpu.rs"),
    include_str!("padtype.rs"),
    include_str!("../filter/halo.rs")
);

#[cfg(test)]
mod tests;
