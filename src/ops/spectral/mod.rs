//! Spectra: the discrete Fourier transform of any length and what is built on it.

pub mod fft;
mod frames;
pub(crate) mod hilbert;
pub(crate) mod istft;
pub(crate) mod stft;
pub(crate) mod welch;

pub use fft::{Fft, FftOptions, Norm, fft, ifft, irfft, rfft};
pub use frames::{Boundary, Detrend, Scaling, Taper};
pub use hilbert::{HilbertOptions, envelope, hilbert, instantaneous_frequency, instantaneous_phase};
pub use istft::{Istft, IstftOptions, istft};
pub use stft::{
    ComplexFrames, PowerFrames, Spectrogram, SpectrogramMode, SpectrogramOptions, Stft, StftOptions, spectrogram, stft,
};
pub use welch::{
    Average, Coherence, CrossSpectra, Csd, Periodogram, PeriodogramOptions, Spectra, Welch, WelchOptions, coherence,
    csd, periodogram, welch,
};

/// Why a device has no variant of an operation.
#[cfg(feature = "gpu")]
fn host_only(operation: &str) -> crate::Error {
    crate::Error::new(
        crate::ErrorKind::Unsupported,
        format!("{operation} has no kernel for devices; choose the cpu runtime"),
    )
}
