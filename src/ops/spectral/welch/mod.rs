//! Averages over frames: `welch`, `csd`, `coherence`, and `periodogram`, the spectrum of a whole channel.

use super::frames::{Detrend, Geometry, Scaling, Segments, Taper};
use crate::design::Window;
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{ComplexSignal, Signal, Source};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

pub use problem::Average;
use problem::{Averaged, Kind};

/// How to cut, transform and average; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct WelchOptions {
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
    /// What is taken off each frame. Default: its mean.
    pub detrend: Detrend,
    /// What the spectra are relative to; `coherence` does not depend on it. Default: density.
    pub scaling: Scaling,
    /// How frames are put together; `coherence` takes the mean. Default: the mean.
    pub average: Average,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for WelchOptions {
    fn default() -> Self {
        WelchOptions {
            fs: 1.0,
            window: Taper::default(),
            nperseg: None,
            noverlap: None,
            nfft: None,
            detrend: Detrend::Constant,
            scaling: Scaling::Density,
            average: Average::Mean,
            runtime: None,
        }
    }
}

/// How to transform a whole channel; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct PeriodogramOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Weights of the channel. Default: none, a boxcar.
    pub window: Taper,
    /// Points of the transform: the channel is cut or padded with zeros to it. Default: as many as it has samples.
    pub nfft: Option<usize>,
    /// What is taken off the channel. Default: its mean.
    pub detrend: Detrend,
    /// What the spectrum is relative to. Default: density.
    pub scaling: Scaling,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for PeriodogramOptions {
    fn default() -> Self {
        PeriodogramOptions {
            fs: 1.0,
            window: Window::Boxcar.into(),
            nfft: None,
            detrend: Detrend::Constant,
            scaling: Scaling::Density,
            runtime: None,
        }
    }
}

/// Spectra of channels.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectra {
    /// The frequencies, in units of `fs`.
    pub f: Vec<f64>,
    /// `[channels, frequencies]`.
    pub values: Signal,
}

/// Spectra of pairs of channels.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossSpectra {
    /// The frequencies, in units of `fs`.
    pub f: Vec<f64>,
    /// `[channels, frequencies]`.
    pub values: ComplexSignal,
}

/// Power by Welch's method, the average over overlapping frames: `scipy.signal.welch` of each channel. No samples give no
/// frequencies.
///
/// # Errors
/// A sampling rate that is not above 0, `nperseg` of 0, `noverlap` of `nperseg` or more, `nfft` below `nperseg`, a window
/// that has another length than `nperseg` or is longer than the channels, or whose sum is 0, a runtime that cannot be used,
/// or no memory.
///
/// ```
/// use dspk::ops::spectral::{Scaling, WelchOptions, welch};
/// use dspk::signal::View;
/// // A sine of amplitude 3 at 100 Hz has the power 3 * 3 / 2.
/// let x: Vec<f32> = (0..1000).map(|n| 3.0 * (0.2 * std::f32::consts::PI * n as f32).sin()).collect();
/// let options =
///     WelchOptions { fs: 1000.0, nperseg: Some(100), scaling: Scaling::Spectrum, ..Default::default() };
/// let p = welch(View::new(&x, 1, 1000)?, &options)?;
/// assert_eq!(p.f[10], 100.0);
/// assert!((p.values.row(0)[10] - 4.5).abs() < 1e-4);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn welch<'a>(x: impl Into<Source<'a>>, options: &WelchOptions) -> Result<Spectra> {
    Welch::new(options)?.apply(x)
}

/// Power of whole channels, unaveraged: `scipy.signal.periodogram` of each. No samples give no frequencies.
///
/// # Errors
/// A sampling rate that is not above 0, `nfft` of 0, a window that has another length than what is transformed or whose sum
/// is 0, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{PeriodogramOptions, periodogram};
/// use dspk::signal::View;
/// let p = periodogram(View::new(&[1.0f32, -1.0, 1.0, -1.0], 1, 4)?, &PeriodogramOptions::default())?;
/// assert_eq!((p.f.as_slice(), p.values.row(0)), (&[0.0, 0.25, 0.5][..], &[0.0, 0.0, 4.0][..]));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn periodogram<'a>(x: impl Into<Source<'a>>, options: &PeriodogramOptions) -> Result<Spectra> {
    Periodogram::new(options)?.apply(x)
}

/// Cross power of channel `c` of `x` and channel `c` of `y`, `conj(X) Y` averaged over frames: `scipy.signal.csd(x, y)`.
/// Computed in float64. Deviation: `x` and `y` have one shape.
///
/// # Errors
/// As [`welch`], and two shapes that differ.
///
/// ```
/// use dspk::ops::spectral::{WelchOptions, csd, welch};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| (n % 10) as f32).collect();
/// let y: Vec<f32> = x.iter().map(|v| -2.0 * v).collect();
/// let (x, y) = (View::new(&x, 1, 1000)?, View::new(&y, 1, 1000)?);
/// let cross = csd(x, y, &WelchOptions::default())?;
/// let power = welch(x, &WelchOptions::default())?;
/// assert!((cross.values.row(0)[26].re / power.values.row(0)[26] + 2.0).abs() < 1e-5);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn csd<'a, 'b>(x: impl Into<Source<'a>>, y: impl Into<Source<'b>>, options: &WelchOptions) -> Result<CrossSpectra> {
    Csd::new(options)?.apply(x, y)
}

/// How much of the power of channel `c` of `y` goes along with channel `c` of `x`, 0 to 1 at each frequency:
/// `scipy.signal.coherence(x, y)`. Computed in float64 on the CPU; NaN where one of them has no power, as in scipy. On devices
/// powers are float32: amplitudes below 1e-19 count as no power. Deviation: `x` and `y` have one shape.
///
/// # Errors
/// As [`csd`], and an average other than the mean.
///
/// ```
/// use dspk::ops::spectral::{WelchOptions, coherence};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| ((n * n) % 17) as f32).collect();
/// let y: Vec<f32> = x.iter().map(|v| -2.0 * v).collect();
/// let c = coherence(View::new(&x, 1, 1000)?, View::new(&y, 1, 1000)?, &WelchOptions::default())?;
/// assert!(c.values.row(0).iter().all(|v| (v - 1.0).abs() < 1e-6));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn coherence<'a, 'b>(
    x: impl Into<Source<'a>>,
    y: impl Into<Source<'b>>,
    options: &WelchOptions,
) -> Result<Spectra> {
    Coherence::new(options)?.apply(x, y)
}

fn problem(kind: Kind, options: &WelchOptions) -> Result<Averaged> {
    let WelchOptions { fs, window, nperseg, noverlap, nfft, detrend, scaling, average, .. } = options.clone();
    let segments =
        Segments { fs, taper: window, nperseg, noverlap, nfft, detrend, scaling, ..Default::default() }.checked()?;
    Ok(Averaged { kind, segments, average })
}

fn frequencies(problem: &Averaged, samples: usize) -> Result<Vec<f64>> {
    if samples == 0 {
        return Ok(Vec::new());
    }
    let g: Geometry = problem.segments.geometry(samples)?;
    Ok(g.frequencies(problem.segments.fs))
}

/// Rows of both signals, one after the other.
fn paired(x: Source<'_>, y: Source<'_>) -> Result<Signal> {
    if (x.channels(), x.samples()) != (y.channels(), y.samples()) {
        return Err(Error::shape(format!(
            "x is {} x {}, y is {} x {} (channels x samples); pass two arrays of one shape, compared channel by channel",
            x.channels(),
            x.samples(),
            y.channels(),
            y.samples()
        )));
    }
    let samples = x.samples();
    let both = samples.checked_mul(2).ok_or_else(|| Error::shape(format!("{samples} samples are too many")))?;
    let mut rows = Signal::dirty(x.channels(), both)?;
    if samples > 0 {
        for channel in 0..x.channels() {
            let (first, second) = rows.row_mut(channel).split_at_mut(samples);
            copy(&x, channel, first);
            copy(&y, channel, second);
        }
    }
    rows.zero_padding();
    Ok(rows)
}

fn copy(x: &Source<'_>, channel: usize, to: &mut [f32]) {
    match x {
        Source::F32(view) if view.row(channel).is_some_and(|row| row.len() == to.len()) => {
            to.copy_from_slice(view.row(channel).unwrap_or(&[]));
        }
        _ => to.iter_mut().enumerate().for_each(|(k, to)| *to = x.get(channel, k)),
    }
}

/// What the median of `n` values of exponentially distributed power is, over their mean.
fn median_bias(n: usize) -> f64 {
    (1..=n.saturating_sub(1) / 2).map(|k| 2.0 * k as f64).map(|even| 1.0 / (even + 1.0) - 1.0 / even).sum::<f64>() + 1.0
}

/// Welch's method ready for any recording.
#[derive(Debug, Clone)]
pub struct Welch {
    problem: Averaged,
    runtime: Option<String>,
}

impl Welch {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`welch`] that do not depend on the recording.
    pub fn new(options: &WelchOptions) -> Result<Self> {
        Ok(Welch { problem: problem(Kind::Welch, options)?, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`welch`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Spectra> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let f = frequencies(&self.problem, x.samples())?;
        Ok(Spectra { f, values })
    }

    /// The values of [`welch`], where the array lives: `[channels, frequencies]`. It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

/// A periodogram ready for any recording.
#[derive(Debug, Clone)]
pub struct Periodogram {
    problem: Averaged,
    runtime: Option<String>,
}

impl Periodogram {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`periodogram`] that do not depend on the recording.
    pub fn new(options: &PeriodogramOptions) -> Result<Self> {
        let PeriodogramOptions { fs, window, nfft, detrend, scaling, runtime } = options.clone();
        let segments = Segments { fs, taper: window, nfft, detrend, scaling, whole: true, ..Default::default() };
        let problem = Averaged { kind: Kind::Periodogram, segments: segments.checked()?, average: Average::Mean };
        Ok(Periodogram { problem, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`periodogram`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Spectra> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let f = frequencies(&self.problem, x.samples())?;
        Ok(Spectra { f, values })
    }

    /// The values of [`periodogram`], where the array lives: `[channels, frequencies]`. It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

/// Cross power ready for any recordings.
#[derive(Debug, Clone)]
pub struct Csd {
    problem: Averaged,
    runtime: Option<String>,
}

impl Csd {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`csd`] that do not depend on the recording.
    pub fn new(options: &WelchOptions) -> Result<Self> {
        Ok(Csd { problem: problem(Kind::Csd, options)?, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`csd`].
    pub fn apply<'a, 'b>(&self, x: impl Into<Source<'a>>, y: impl Into<Source<'b>>) -> Result<CrossSpectra> {
        let rows = paired(x.into(), y.into())?;
        let values = execute::host(&self.problem, (&rows).into(), None, self.runtime.as_deref())?;
        let f = frequencies(&self.problem, rows.samples() / 2)?;
        Ok(CrossSpectra { f, values: ComplexSignal::from_parts(values)? })
    }
}

/// Coherence ready for any recordings.
#[derive(Debug, Clone)]
pub struct Coherence {
    problem: Averaged,
    runtime: Option<String>,
}

impl Coherence {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`coherence`] that do not depend on the recording.
    pub fn new(options: &WelchOptions) -> Result<Self> {
        if options.average != Average::Mean {
            return Err(Error::invalid("coherence is defined by means over frames; pass Average::Mean"));
        }
        Ok(Coherence { problem: problem(Kind::Coherence, options)?, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`coherence`].
    pub fn apply<'a, 'b>(&self, x: impl Into<Source<'a>>, y: impl Into<Source<'b>>) -> Result<Spectra> {
        let rows = paired(x.into(), y.into())?;
        let values = execute::host(&self.problem, (&rows).into(), None, self.runtime.as_deref())?;
        let f = frequencies(&self.problem, rows.samples() / 2)?;
        Ok(Spectra { f, values })
    }
}

const fn entry(command: crate::ops::command::Command, representatives: fn() -> Result<Vec<Representative>>) -> Entry {
    Entry {
        command,
        kernels: &[
            "spectral/sums",
            "spectral/trend",
            "spectral/frames",
            "spectral/fft",
            "spectral/average",
            "spectral/median",
            "spectral/finish",
        ],
        cpu_source: concat!(
            include_str!("cpu.rs"),
            include_str!("../frames/geometry.rs"),
            include_str!("../frames/load.rs"),
            include_str!("../frames/real.rs")
        ),
        gpu_source: concat!(
            include_str!("gpu.rs"),
            include_str!("../frames/averages.rs"),
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

fn representative(kind: Kind) -> Result<Vec<Representative>> {
    let options = WelchOptions { nperseg: Some(1024), ..Default::default() };
    Ok(vec![Representative::planar(problem(kind, &options)?)])
}

pub(crate) const WELCH: Entry = entry(command::WELCH, || representative(Kind::Welch));
pub(crate) const CSD: Entry = entry(command::CSD, || representative(Kind::Csd));
pub(crate) const COHERENCE: Entry = entry(command::COHERENCE, || representative(Kind::Coherence));
pub(crate) const PERIODOGRAM: Entry = entry(command::PERIODOGRAM, || {
    Ok(vec![Representative::planar(Periodogram::new(&PeriodogramOptions::default())?.problem)])
});
