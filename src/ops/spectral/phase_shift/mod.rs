//! Channels delayed by parts of a sample, each by its own, by Fourier's method: what channels that an amplifier samples one
//! after the other need before they are compared.

use super::between;
use crate::error::Result;
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{Signal, Source};

pub(crate) mod command;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use problem::Shifted;

/// Delays in samples, to later times where they are above 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Shifts {
    /// The same for every channel.
    One(f64),
    /// By channel.
    PerChannel(Vec<f64>),
}

/// No delay.
impl Default for Shifts {
    fn default() -> Self {
        Shifts::One(0.0)
    }
}

/// How to delay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PhaseShiftOptions {
    /// By how many samples. Default: 0.
    pub shifts: Shifts,
    /// Whether zeros stand before and after a channel; otherwise what leaves it at one end comes in at the other. With
    /// zeros a delay of more than the whole channel counts as one of the whole channel. Default: false.
    pub padded: bool,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// Each channel delayed: `numpy.fft.irfft(numpy.fft.rfft(x) * exp(-2j * pi * f * shift), n)`, with `f` in cycles per sample.
/// Between samples, that is the one signal without frequencies beyond half the sampling rate that has these samples. The
/// frequency of half the sampling rate itself, of an even number of samples, keeps the real part of its turn.
///
/// # Errors
/// A delay that is not finite, another number of delays than channels, channels without samples, a runtime that cannot be
/// used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{PhaseShiftOptions, Shifts, phase_shift};
/// use dspk::signal::View;
/// let x = View::new(&[1.0f32, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0], 2, 4)?;
/// let options = PhaseShiftOptions { shifts: Shifts::PerChannel(vec![1.0, -1.0]), ..Default::default() };
/// let y = phase_shift(x, &options)?;
/// let expected = [4.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 1.0];
/// assert!(y.to_vec().iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-5));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn phase_shift<'a>(x: impl Into<Source<'a>>, options: &PhaseShiftOptions) -> Result<Signal> {
    PhaseShift::new(options)?.apply(x)
}

/// Delays ready for any recording.
#[derive(Debug, Clone)]
pub struct PhaseShift {
    problem: Shifted,
    runtime: Option<String>,
}

impl PhaseShift {
    /// Checks the options, as far as that is possible without knowing the number of channels.
    ///
    /// # Errors
    /// A delay that is not finite.
    pub fn new(options: &PhaseShiftOptions) -> Result<Self> {
        let problem = Shifted::new(options.shifts.clone(), options.padded)?;
        Ok(PhaseShift { problem, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`phase_shift`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(&self.problem, x.into(), None, self.runtime.as_deref())
    }

    /// As [`phase_shift`], where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["spectral/fft", "spectral/spectrum", "spectral/analytic"],
    cpu_source: concat!(include_str!("problem.rs"), include_str!("../between/cpu.rs")),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("problem.rs"),
        include_str!("../between/gpu.rs"),
        include_str!("../fft/gpu.rs"),
        include_str!("../fft/gpu/plan.rs"),
        include_str!("../fft/gpu/tables.rs"),
        include_str!("../fft/recipe.rs")
    ),
    representatives: || Ok(vec![Representative::planar(Shifted::new(Shifts::One(0.3), false)?)]),
    ideal_bytes: once_each,
};
