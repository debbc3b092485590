//! Filters along time: recursive (second-order sections), finite impulse response, both forward and backward,
//! convolution, running medians, smoothing by polynomials and Gaussians, detrending, and Teager-Kaiser energy.

mod centred;
pub mod convolve;
pub mod detrend;
mod edge;
pub mod gaussian;
#[cfg(feature = "gpu")]
pub(in crate::ops) mod halo;
pub mod lfilter;
pub mod median;
mod planar;
pub mod savgol;
pub mod sosfilt;
pub mod sosfiltfilt;
pub mod teager_kaiser;
mod transfer;

pub use convolve::{Convolve, Mode, fftconvolve, oaconvolve};
pub use detrend::{Detrend, Trend, detrend};
pub use edge::Edge;
pub use gaussian::{GaussianFilter, GaussianOptions, gaussian_filter1d};
pub use lfilter::{FirFilter, lfilter};
pub use median::{MedianFilter, medfilt, median_filter};
pub use savgol::{SavgolFilter, SavgolOptions, savgol_filter};
pub use sosfilt::{SosFilter, sosfilt};
pub use sosfiltfilt::{FiltFilt, Padding, SosFiltFilt, filtfilt, sosfiltfilt};
pub use teager_kaiser::{TeagerKaiser, teager_kaiser};
