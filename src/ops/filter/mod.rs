//! Filters along time: recursive (second-order sections), finite impulse response, and both forward and backward.

pub mod lfilter;
pub mod sosfilt;
pub mod sosfiltfilt;
mod transfer;

pub use lfilter::{FirFilter, lfilter};
pub use sosfilt::{SosFilter, sosfilt};
pub use sosfiltfilt::{FiltFilt, Padding, SosFiltFilt, filtfilt, sosfiltfilt};
