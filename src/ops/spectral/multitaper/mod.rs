//! Power by several orthogonal windows at once (Thomson 1982): each gives an estimate of its own from all of the samples,
//! and their average is steadier than any one of them, at the resolution one chooses.

use super::frames::{Detrend, Geometry, Scaling, Segments};
use super::welch::Spectra;
use crate::design::Window;
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::Source;

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
mod tapers;
#[cfg(test)]
mod tests;

use problem::Tapered;

/// How the spectra of the tapers are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TaperWeights {
    /// By the share of each taper's energy within the band.
    #[default]
    Eigen,
    /// All alike.
    Unity,
    /// By Thomson's adaptive rule, for each frequency: tapers that leak count less where the spectrum is low.
    Adaptive,
}

/// How to taper, transform and average.
#[derive(Debug, Clone, PartialEq)]
pub struct MultitaperOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Half the bandwidth times the length of a frame: a frequency stands for those nearer than `nw * fs / nperseg`. Above 0
    /// and below half of `nperseg`. Default: 4.
    pub nw: f64,
    /// How many tapers, at most as many as a frame has samples. Default: `2 * nw - 1`, those that hardly leak.
    pub tapers: Option<usize>,
    /// How their spectra are put together. Default: by their energy within the band.
    pub weights: TaperWeights,
    /// Samples of a frame; a channel shorter than that is one frame. Default: the whole channel.
    pub nperseg: Option<usize>,
    /// Samples that two frames share, fewer than `nperseg`. Default: half of `nperseg`.
    pub noverlap: Option<usize>,
    /// Points of the transforms, as many as a frame has samples or more. Default: as many.
    pub nfft: Option<usize>,
    /// What is taken off each frame. Default: its mean.
    pub detrend: Detrend,
    /// What the spectrum is relative to. Default: density.
    pub scaling: Scaling,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for MultitaperOptions {
    fn default() -> Self {
        MultitaperOptions {
            fs: 1.0,
            nw: 4.0,
            tapers: None,
            weights: TaperWeights::Eigen,
            nperseg: None,
            noverlap: None,
            nfft: None,
            detrend: Detrend::Constant,
            scaling: Scaling::Density,
            runtime: None,
        }
    }
}

/// Power of each channel by Slepian tapers ([`crate::design::dpss`]), one-sided, averaged over frames; for
/// whole channels `mne.time_frequency.psd_array_multitaper(x, fs, normalization="full")` with the same tapers. No samples
/// give no frequencies.
///
/// With the spectrum `X` of the frame times taper `h`, whose weight is `w`, the density is the sum of `w |X|^2` over tapers,
/// by that of `w fs`, twice for all frequencies with a negative counterpart. [`Scaling::Spectrum`] divides by the sum of
/// `w (sum h)^2` instead, so that a sine keeps its power.
///
/// # Errors
/// A sampling rate that is not above 0, `nperseg` of 0, `noverlap` of `nperseg` or more or without it, `nfft` below the length of a frame,
/// `nw` that is not above 0 and below half of that length, no tapers or more than it, a runtime that cannot be used, or no
/// memory.
///
/// ```
/// use dspk::ops::spectral::{MultitaperOptions, Scaling, multitaper};
/// use dspk::signal::View;
/// // A sine of amplitude 3 at 100 Hz has the power 3 * 3 / 2.
/// let x: Vec<f32> = (0..1000).map(|n| 3.0 * (0.2 * std::f32::consts::PI * n as f32).sin()).collect();
/// let options = MultitaperOptions { fs: 1000.0, scaling: Scaling::Spectrum, ..Default::default() };
/// let p = multitaper(View::new(&x, 1, 1000)?, &options)?;
/// assert_eq!(p.f[100], 100.0);
/// assert!((p.values.row(0)[100] - 4.5).abs() < 1e-3);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn multitaper<'a>(x: impl Into<Source<'a>>, options: &MultitaperOptions) -> Result<Spectra> {
    Multitaper::new(options)?.apply(x)
}

/// Multitaper spectra ready for any recording.
#[derive(Debug, Clone)]
pub struct Multitaper {
    problem: Tapered,
    runtime: Option<String>,
}

impl Multitaper {
    /// Checks the options and, if the length of a frame is known, makes the tapers.
    ///
    /// # Errors
    /// Those of [`multitaper`] that do not depend on the recording.
    pub fn new(options: &MultitaperOptions) -> Result<Self> {
        let MultitaperOptions { fs, nw, tapers, weights, nperseg, noverlap, nfft, detrend, scaling, runtime } =
            options.clone();
        if let (Some(noverlap), None) = (noverlap, nperseg) {
            return Err(Error::invalid(format!(
                "noverlap is {noverlap}, but a channel is one frame; pass nperseg, or leave noverlap out"
            )));
        }
        let segments = Segments {
            fs,
            taper: Window::Boxcar.into(),
            nperseg,
            noverlap,
            nfft,
            detrend,
            scaling,
            whole: nperseg.is_none(),
            ..Default::default()
        };
        let problem = Tapered::new(segments.checked()?, nw, tapers, weights)?;
        Ok(Multitaper { problem, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`multitaper`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Spectra> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let f = match x.samples() {
            0 => Vec::new(),
            samples => {
                let g: Geometry = self.problem.geometry(samples)?;
                g.frequencies(self.problem.segments.fs)
            }
        };
        Ok(Spectra { f, values })
    }

    /// The values of [`multitaper`] where the array lives: `[channels, frequencies]`. It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &[
        "spectral/trend",
        "spectral/frames",
        "spectral/fft",
        "spectral/variance",
        "spectral/adapt",
        "spectral/average",
        "spectral/finish",
    ],
    cpu_source: concat!(
        include_str!("cpu.rs"),
        include_str!("tapers.rs"),
        include_str!("../frames/geometry.rs"),
        include_str!("../frames/load.rs")
    ),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("tapers.rs"),
        include_str!("../frames/averages.rs"),
        include_str!("../frames/gpu.rs"),
        include_str!("../frames/geometry.rs"),
        include_str!("../fft/gpu.rs"),
        include_str!("../fft/gpu/plan.rs"),
        include_str!("../fft/gpu/tables.rs"),
        include_str!("../fft/recipe.rs")
    ),
    representatives: || {
        let of = |options: &MultitaperOptions| Ok(Representative::planar(Multitaper::new(options)?.problem));
        let frames = MultitaperOptions { nperseg: Some(1024), ..Default::default() };
        let adaptive = MultitaperOptions { weights: TaperWeights::Adaptive, ..frames.clone() };
        [MultitaperOptions::default(), frames, adaptive].iter().map(of).collect()
    },
    ideal_bytes: once_each,
};
