//! Filters along time: recursive (second-order sections), finite impulse response, both forward and backward, and
//! convolution.

pub mod convolve;
pub mod lfilter;
pub mod sosfilt;
pub mod sosfiltfilt;
mod transfer;

pub use convolve::{Convolve, Mode, fftconvolve, oaconvolve};
pub use lfilter::{FirFilter, lfilter};
pub use sosfilt::{SosFilter, sosfilt};
pub use sosfiltfilt::{FiltFilt, Padding, SosFiltFilt, filtfilt, sosfiltfilt};
