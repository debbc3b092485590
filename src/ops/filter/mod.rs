//! Filters along time: recursive (second-order sections) and finite impulse response, and convolution.

pub mod convolve;
pub mod lfilter;
pub mod sosfilt;

pub use convolve::{Convolve, Mode, fftconvolve, oaconvolve};
pub use lfilter::{FirFilter, lfilter};
pub use sosfilt::{SosFilter, sosfilt};
