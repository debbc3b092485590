//! Convolution along time with a response that is known as a whole: scipy's `fftconvolve` and `oaconvolve`.
//!
//! Both are one problem here: how it is computed (direct sums, or overlap-save by Fourier transforms of blocks: Stockham,
//! 1966) follows from the lengths and from what the tuner has measured, and all ways hold one error bound and treat values
//! that are not finite as the plain sum does.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{Signal, Source, ViewMut};

pub(super) mod blocks;
pub(crate) mod command;
pub(super) mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
pub(super) mod overlap;
mod problem;
mod reference;
mod repair;
mod rows;
pub(super) mod spectra;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(feature = "gpu")]
mod transforms;

use problem::{Convolution, Taps};

/// Which results of a convolution are kept; `N` samples, `M` taps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// All that sample and tap meet in: `N + M - 1`.
    #[default]
    Full,
    /// As many as there are samples, those in the middle of all: from `(M - 1) / 2` on.
    Same,
    /// Those that depend on no sample beyond the ends, `N - M + 1`; of a response longer than the channel, those in which
    /// the whole channel takes part, `M - N + 1`.
    Valid,
}

impl Mode {
    /// scipy's names.
    pub const NAMES: [&'static str; 3] = ["full", "same", "valid"];

    /// The mode of scipy's name.
    ///
    /// # Errors
    /// Any other name.
    pub fn named(name: &str) -> Result<Mode> {
        match name {
            "full" => Ok(Mode::Full),
            "same" => Ok(Mode::Same),
            "valid" => Ok(Mode::Valid),
            _ => Err(Error::invalid(format!("mode '{name}' is none of {}", Mode::NAMES.join(", ")))),
        }
    }

    /// scipy's name.
    pub fn name(self) -> &'static str {
        Mode::NAMES[self as usize]
    }
}

/// Convolves every channel with a response, on the current runtime: `scipy.signal.fftconvolve(x, taps[None], mode, axes=-1)`.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32`. A NaN or an infinity reaches exactly the
/// results that the plain sum `y[n] = sum over k of taps[k] * x[n - k]` gives it to (scipy's transform spreads it over the
/// channel). Channels without samples give channels without results.
///
/// # Errors
/// No taps, a tap that is not finite in float32, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::filter::{Mode, fftconvolve};
/// use dspk::signal::View;
/// let x = [1.0f32, 2.0, 3.0];
/// let y = fftconvolve(View::new(&x, 1, 3)?, &[1.0, 0.5], Mode::Full)?;
/// assert!(y.row(0).iter().zip([1.0, 2.5, 4.0, 1.5]).all(|(y, e)| (y - e).abs() < 1e-5));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn fftconvolve<'a>(x: impl Into<Source<'a>>, taps: &[f64], mode: Mode) -> Result<Signal> {
    Convolve::new(taps, mode)?.apply(x)
}

/// The same as [`fftconvolve`], under the name of scipy's overlap-add method: `scipy.signal.oaconvolve(x, taps[None], mode,
/// axes=-1)`. Either function computes in the way that is fastest for the lengths.
///
/// # Errors
/// Those of [`fftconvolve`].
///
/// ```
/// use dspk::ops::filter::{Mode, oaconvolve};
/// use dspk::signal::View;
/// let x = [1.0f32, 2.0, 3.0, 4.0];
/// let y = oaconvolve(View::new(&x, 1, 4)?, &[0.25, 0.5, 0.25], Mode::Same)?;
/// assert!(y.row(0).iter().zip([1.0, 2.0, 3.0, 2.75]).all(|(y, e)| (y - e).abs() < 1e-5));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn oaconvolve<'a>(x: impl Into<Source<'a>>, taps: &[f64], mode: Mode) -> Result<Signal> {
    fftconvolve(x, taps, mode)
}

/// A convolution ready for any recording; spectra of the response are computed once and kept.
///
/// ```
/// use dspk::ops::filter::{Convolve, Mode};
/// use dspk::signal::View;
///
/// let delays = Convolve::per_channel(&[[1.0, 0.0], [0.0, 1.0]], Mode::Same)?;
/// let y = delays.apply(View::new(&[1.0f32, 2.0, 3.0, 4.0], 2, 2)?)?;
/// let expected = [1.0, 2.0, 0.0, 3.0];
/// assert!(y.to_vec().iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-5));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Convolve {
    problem: Arc<Convolution>,
    runtime: Option<String>,
}

impl Convolve {
    /// One response for all channels: at least one tap, all finite in float32.
    ///
    /// # Errors
    /// No taps, or one that is not finite.
    pub fn new(taps: &[f64], mode: Mode) -> Result<Self> {
        Ok(Convolve { problem: Arc::new(Convolution::new(Taps::one(taps)?, mode)), runtime: None })
    }

    /// A response for each channel, all of one length.
    ///
    /// # Errors
    /// No rows, rows of different lengths, no taps, or one that is not finite.
    pub fn per_channel<R: AsRef<[f64]>>(rows: &[R], mode: Mode) -> Result<Self> {
        let rows = rows.iter().map(|row| row.as_ref().to_vec()).collect();
        Ok(Convolve { problem: Arc::new(Convolution::new(Taps::each(rows)?, mode)), runtime: None })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// How many results a channel of so many samples has.
    pub fn results(&self, samples: usize) -> usize {
        self.problem.part(samples).count
    }

    /// As [`fftconvolve`].
    ///
    /// # Errors
    /// Another number of channels than of responses, a runtime that cannot be used, or no memory.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(&*self.problem, x.into(), None, self.runtime.as_deref())
    }

    /// As [`fftconvolve`], into an array of as many samples as there are [`Convolve::results`].
    ///
    /// # Errors
    /// Those of [`Convolve::apply`], and an array of another shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(&*self.problem, x.into(), y, None, self.runtime.as_deref())
    }

    /// As [`fftconvolve`], where the array lives; the result stays on that device.
    ///
    /// # Errors
    /// Those of [`Convolve::apply`], and channels longer than what the device binds at once.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&*self.problem, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::FFTCONVOLVE,
    kernels: &["filter/fir", "filter/overlap_load", "filter/overlap_multiply", "filter/overlap_store", "spectral/fft"],
    cpu_source: concat!(
        include_str!("cpu.rs"),
        include_str!("rows.rs"),
        include_str!("blocks.rs"),
        include_str!("overlap.rs"),
        include_str!("repair.rs"),
        include_str!("spectra.rs"),
        include_str!("../lfilter/direct.rs"),
        include_str!("../lfilter/kernel.rs"),
        include_str!("../lfilter/plan.rs"),
        include_str!("../../spectral/fft/lanes/mod.rs"),
        include_str!("../../spectral/fft/lanes/butterflies.rs"),
    ),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("transforms.rs"),
        include_str!("spectra.rs"),
        include_str!("../lfilter/gpu.rs"),
        include_str!("../../spectral/fft/gpu.rs"),
        include_str!("../../spectral/fft/gpu/plan.rs"),
        include_str!("../../spectral/fft/gpu/tables.rs"),
    ),
    representatives: || {
        // A decaying oscillation; any 255 taps cost the same.
        let taps: Vec<f64> = (0..255).map(f64::from).map(|k| (0.3 * k).sin() * (-k / 60.0).exp()).collect();
        Ok(vec![Representative::planar(Convolution::new(Taps::one(&taps)?, Mode::Same))])
    },
    ideal_bytes: once_each,
};
