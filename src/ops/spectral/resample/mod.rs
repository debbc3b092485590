//! Another number of samples for the same stretch of time, by Fourier's method: a channel is taken for one period of a
//! signal, whose spectrum is cut or continued with zeros.

use super::between;
use crate::design::Window;
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

use problem::Fourier;

/// How to resample; scipy's names and defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResampleOptions {
    /// Weights of the spectrum: a window as long as a channel, its middle at frequency 0. Default: none.
    pub window: Option<Window>,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// Each channel at `num` samples for the stretch of time that it has: `scipy.signal.resample(x, num, axis=-1)`. What the
/// new rate cannot hold is left out, so nothing is aliased; the ends of a channel are neighbours, and a step between them
/// rings on both.
///
/// # Errors
/// `num` of 0, channels without samples, a window that does not have their length, a runtime that cannot be used, or no
/// memory.
///
/// ```
/// use dspk::ops::spectral::{ResampleOptions, resample};
/// use dspk::signal::View;
/// let y = resample(View::new(&[1.0f32, 0.0, -1.0, 0.0], 1, 4)?, 8, &ResampleOptions::default())?;
/// let half = 0.5f32.sqrt();
/// let expected = [1.0, half, 0.0, -half, -1.0, -half, 0.0, half];
/// assert!(y.row(0).iter().zip(expected).all(|(y, e)| (y - e).abs() < 1e-6));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn resample<'a>(x: impl Into<Source<'a>>, num: usize, options: &ResampleOptions) -> Result<Signal> {
    Resample::new(num, options)?.apply(x)
}

/// A change of the number of samples ready for any recording.
#[derive(Debug, Clone)]
pub struct Resample {
    problem: Fourier,
    runtime: Option<String>,
}

impl Resample {
    /// To `num` samples.
    ///
    /// # Errors
    /// `num` of 0, or more than memory holds.
    pub fn new(num: usize, options: &ResampleOptions) -> Result<Self> {
        Ok(Resample { problem: Fourier::new(num, options.window.clone())?, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`resample`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(&self.problem, x.into(), None, self.runtime.as_deref())
    }

    /// As [`resample`], where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["spectral/fft", "spectral/spectrum"],
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
    representatives: || Ok(vec![Representative::planar(Fourier::new(2000, None)?)]),
    ideal_bytes: once_each,
};
