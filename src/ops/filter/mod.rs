//! Filters along time: recursive (second-order sections), finite impulse response, and running medians.

mod edge;
#[cfg(feature = "gpu")]
mod halo;
pub mod lfilter;
pub mod median;
pub mod sosfilt;

pub use edge::Edge;
pub use lfilter::{FirFilter, lfilter};
pub use median::{MedianFilter, medfilt, median_filter};
pub use sosfilt::{SosFilter, sosfilt};
