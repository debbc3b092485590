//! Spectra of overlapping frames: `stft` and `spectrogram`.

use super::frames::{Boundary, Detrend, Geometry, Scaling, Segments, Taper};
use crate::design::Window;
use crate::error::Result;
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{Complex32, ComplexSignal, Signal, Source};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use problem::{Kept, Local};

/// How to cut and transform; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct StftOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Weights of a frame. Default: Hann.
    pub window: Taper,
    /// Samples of a frame. Default: 256, or as many as the window has weights; a channel shorter than that is one frame.
    pub nperseg: Option<usize>,
    /// Samples that two frames share, fewer than `nperseg`. Default: half of `nperseg`.
    pub noverlap: Option<usize>,
    /// Points of the transforms, `nperseg` or more: frames are padded with zeros to it. Default: `nperseg`.
    pub nfft: Option<usize>,
    /// What is taken off each frame. Default: nothing.
    pub detrend: Detrend,
    /// How the channel goes on at its ends, where it gets half a frame more. Default: zeros.
    pub boundary: Boundary,
    /// Whether zeros are added until the last frame is whole, so that every sample is in one. Default: true.
    pub padded: bool,
    /// What the spectra are relative to: [`Scaling::Spectrum`], a sine of amplitude A has A/2 at its frequency, or
    /// [`Scaling::Density`] (scipy's `"psd"`). Default: spectrum.
    pub scaling: Scaling,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for StftOptions {
    fn default() -> Self {
        StftOptions {
            fs: 1.0,
            window: Taper::default(),
            nperseg: None,
            noverlap: None,
            nfft: None,
            detrend: Detrend::None,
            boundary: Boundary::Zeros,
            padded: true,
            scaling: Scaling::Spectrum,
            runtime: None,
        }
    }
}

/// What a spectrogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SpectrogramMode {
    /// Power of each frame, as in a periodogram.
    #[default]
    Psd,
    /// Magnitude of each frame's spectrum, as of [`stft`].
    Magnitude,
}

/// How to cut and transform; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectrogramOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Weights of a frame. Default: Tukey, 0.25.
    pub window: Taper,
    /// Samples of a frame. Default: 256, or as many as the window has weights; a channel shorter than that is one frame.
    pub nperseg: Option<usize>,
    /// Samples that two frames share, fewer than `nperseg`. Default: an eighth of `nperseg`.
    pub noverlap: Option<usize>,
    /// Points of the transforms, `nperseg` or more. Default: `nperseg`.
    pub nfft: Option<usize>,
    /// What is taken off each frame. Default: its mean.
    pub detrend: Detrend,
    /// What the result is relative to. Default: density.
    pub scaling: Scaling,
    /// Power or magnitude. Default: power.
    pub mode: SpectrogramMode,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for SpectrogramOptions {
    fn default() -> Self {
        SpectrogramOptions {
            fs: 1.0,
            window: Window::Tukey { alpha: 0.25 }.into(),
            nperseg: None,
            noverlap: None,
            nfft: None,
            detrend: Detrend::Constant,
            scaling: Scaling::Density,
            mode: SpectrogramMode::Psd,
            runtime: None,
        }
    }
}

/// Complex spectra of frames.
#[derive(Debug, Clone, PartialEq)]
pub struct ComplexFrames {
    /// The frequencies, in units of `fs`.
    pub f: Vec<f64>,
    /// The middle of each frame, in units of 1 / `fs`.
    pub t: Vec<f64>,
    /// `[channels, frequencies, frames]`: each channel `frequencies` lines of `frames` values.
    pub values: ComplexSignal,
}

impl ComplexFrames {
    /// One frequency of a channel, frame after frame.
    ///
    /// # Panics
    /// If one of them is out of range, like slice indexing.
    pub fn line(&self, channel: usize, frequency: usize) -> &[Complex32] {
        &self.values.row(channel)[frequency * self.t.len()..][..self.t.len()]
    }
}

/// Power or magnitudes of frames.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerFrames {
    /// The frequencies, in units of `fs`.
    pub f: Vec<f64>,
    /// The middle of each frame, in units of 1 / `fs`.
    pub t: Vec<f64>,
    /// `[channels, frequencies, frames]`: each channel `frequencies` lines of `frames` values.
    pub values: Signal,
}

impl PowerFrames {
    /// One frequency of a channel, frame after frame.
    ///
    /// # Panics
    /// If one of them is out of range, like slice indexing.
    pub fn line(&self, channel: usize, frequency: usize) -> &[f32] {
        &self.values.row(channel)[frequency * self.t.len()..][..self.t.len()]
    }
}

/// The spectrum of every frame: `scipy.signal.stft` of each channel. No samples give no frequencies and no frames.
///
/// # Errors
/// A sampling rate that is not above 0, `nperseg` of 0, `noverlap` of `nperseg` or more, `nfft` below `nperseg`, a window
/// that has another length than `nperseg` or is longer than the channels, or whose sum is 0, a runtime that cannot be used,
/// or no memory.
///
/// ```
/// use dspk::ops::spectral::{StftOptions, stft};
/// use dspk::signal::View;
/// // A sine of amplitude 3 at 100 Hz.
/// let x: Vec<f32> = (0..1000).map(|n| 3.0 * (0.2 * std::f32::consts::PI * n as f32).sin()).collect();
/// let options = StftOptions { fs: 1000.0, nperseg: Some(100), ..Default::default() };
/// let z = stft(View::new(&x, 1, 1000)?, &options)?;
/// assert_eq!((z.f.len(), z.t.len(), z.f[10], z.t[10]), (51, 21, 100.0, 0.5));
/// assert!((z.line(0, 10)[10].norm() - 1.5).abs() < 1e-5);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn stft<'a>(x: impl Into<Source<'a>>, options: &StftOptions) -> Result<ComplexFrames> {
    Stft::new(options)?.apply(x)
}

/// Power or magnitude of every frame: `scipy.signal.spectrogram` of each channel. No samples give no frequencies and no
/// frames. Deviation: the modes `complex`, `angle` and `phase` are [`stft`]'s, without a boundary and not padded.
///
/// # Errors
/// As [`stft`].
///
/// ```
/// use dspk::ops::spectral::{SpectrogramOptions, spectrogram};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| (n % 10) as f32).collect();
/// let s = spectrogram(View::new(&x, 1, 1000)?, &SpectrogramOptions { fs: 1000.0, ..Default::default() })?;
/// assert_eq!((s.f.len(), s.t.len(), s.t[0]), (129, 4, 0.128));
/// assert!(s.line(0, 26)[0] > 100.0 * s.line(0, 13)[0]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn spectrogram<'a>(x: impl Into<Source<'a>>, options: &SpectrogramOptions) -> Result<PowerFrames> {
    Spectrogram::new(options)?.apply(x)
}

/// The axes of a result.
fn axes(segments: &Segments, samples: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    if samples == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let g: Geometry = segments.geometry(samples)?;
    Ok((g.frequencies(segments.fs), g.times(segments.fs)))
}

/// A short-time Fourier transform ready for any recording.
#[derive(Debug, Clone)]
pub struct Stft {
    problem: Local,
    runtime: Option<String>,
}

impl Stft {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`stft`] that do not depend on the recording.
    pub fn new(options: &StftOptions) -> Result<Self> {
        let StftOptions { fs, window, nperseg, noverlap, nfft, detrend, boundary, padded, scaling, runtime } =
            options.clone();
        let segments = Segments {
            fs,
            taper: window,
            nperseg,
            noverlap,
            nfft,
            detrend,
            boundary,
            padded,
            scaling,
            folded: true,
            ..Default::default()
        };
        Ok(Stft { problem: Local { segments: segments.checked()?, kept: Kept::Complex }, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`stft`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<ComplexFrames> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let (f, t) = axes(&self.problem.segments, x.samples())?;
        Ok(ComplexFrames { f, t, values: ComplexSignal::from_parts(values)? })
    }

    /// As [`stft`], where the array lives: `[channels, frequencies x frames]`, real and imaginary parts in turn. It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

/// A spectrogram ready for any recording.
#[derive(Debug, Clone)]
pub struct Spectrogram {
    problem: Local,
    runtime: Option<String>,
}

impl Spectrogram {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`spectrogram`] that do not depend on the recording.
    pub fn new(options: &SpectrogramOptions) -> Result<Self> {
        let SpectrogramOptions { fs, window, nperseg, noverlap, nfft, detrend, scaling, mode, runtime } =
            options.clone();
        let segments = Segments {
            fs,
            taper: window,
            nperseg,
            noverlap,
            share: 8,
            nfft,
            detrend,
            scaling,
            folded: true,
            ..Default::default()
        };
        let kept = if mode == SpectrogramMode::Psd { Kept::Power } else { Kept::Magnitude };
        Ok(Spectrogram { problem: Local { segments: segments.checked()?, kept }, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`spectrogram`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<PowerFrames> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let (f, t) = axes(&self.problem.segments, x.samples())?;
        Ok(PowerFrames { f, t, values })
    }

    /// As [`spectrogram`], where the array lives: `[channels, frequencies x frames]`. It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

const fn entry(command: crate::ops::command::Command, representatives: fn() -> Result<Vec<Representative>>) -> Entry {
    Entry {
        command,
        kernels: &["spectral/local", "spectral/trend", "spectral/frames", "spectral/fft", "spectral/turn"],
        cpu_source: concat!(
            include_str!("cpu.rs"),
            include_str!("../frames/geometry.rs"),
            include_str!("../frames/load.rs"),
            include_str!("../frames/real.rs")
        ),
        gpu_source: concat!(
            include_str!("gpu.rs"),
            include_str!("../frames/fused.rs"),
            include_str!("../frames/gpu.rs"),
            include_str!("../frames/geometry.rs"),
            include_str!("../fft/gpu.rs"),
            include_str!("../fft/gpu/near.rs"),
            include_str!("../fft/gpu/plan.rs"),
            include_str!("../fft/gpu/tables.rs"),
            include_str!("../fft/recipe.rs")
        ),
        representatives,
        ideal_bytes: once_each,
    }
}

pub(crate) const STFT: Entry = entry(command::STFT, || {
    let options = StftOptions { nperseg: Some(1024), ..Default::default() };
    Ok(vec![Representative::planar(Stft::new(&options)?.problem)])
});

pub(crate) const SPECTROGRAM: Entry = entry(command::SPECTROGRAM, || {
    Ok(vec![Representative::planar(Spectrogram::new(&SpectrogramOptions::default())?.problem)])
});
