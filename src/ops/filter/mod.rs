//! Filters along time: recursive (second-order sections) and finite impulse response.

pub mod lfilter;
pub mod sosfilt;

pub use lfilter::{FirFilter, lfilter};
pub use sosfilt::{SosFilter, sosfilt};
