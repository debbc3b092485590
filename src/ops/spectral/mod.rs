//! Spectra: the discrete Fourier transform of any length and what is built on it.

mod between;
pub(crate) mod cwt;
pub mod fft;
mod frames;
pub(crate) mod hilbert;
pub(crate) mod istft;
pub(crate) mod multitaper;
pub(crate) mod phase_shift;
pub(crate) mod resample;
pub(crate) mod stft;
pub(crate) mod welch;

pub use cwt::{Cwt, CwtOptions, cwt};
pub use fft::{Fft, FftOptions, Norm, fft, ifft, irfft, rfft};
pub use frames::{Boundary, Detrend, Scaling, Taper};
pub use hilbert::{HilbertOptions, envelope, hilbert, instantaneous_frequency, instantaneous_phase};
pub use istft::{Istft, IstftOptions, istft};
pub use multitaper::{Multitaper, MultitaperOptions, TaperWeights, multitaper};
pub use phase_shift::{PhaseShift, PhaseShiftOptions, Shifts, phase_shift};
pub use resample::{Resample, ResampleOptions, resample};
pub use stft::{
    ComplexFrames, PowerFrames, Spectrogram, SpectrogramMode, SpectrogramOptions, Stft, StftOptions, spectrogram, stft,
};
pub use welch::{
    Average, Coherence, CrossSpectra, Csd, Periodogram, PeriodogramOptions, Spectra, Welch, WelchOptions, coherence,
    csd, periodogram, welch,
};
