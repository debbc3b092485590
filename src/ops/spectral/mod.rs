//! Spectra: the discrete Fourier transform of any length and what is built on it.

pub mod fft;

pub use fft::{Fft, FftOptions, Norm, fft, ifft, irfft, rfft};
