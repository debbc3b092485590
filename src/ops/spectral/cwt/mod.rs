//! The continuous wavelet transform with Morlet wavelets: short waves under a bell curve, whose length follows their period.

use std::f64::consts::TAU;

use super::frames::check_fs;
use super::stft::ComplexFrames;
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{ComplexSignal, Source};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use problem::Wavelets;

/// How to transform.
#[derive(Debug, Clone, PartialEq)]
pub struct CwtOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Angle, in radians, by which a wavelet turns within one standard deviation of its bell curve: the more, the sharper
    /// in frequency and the longer in time. Above 0. Default: 5.
    pub w: f64,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for CwtOptions {
    fn default() -> Self {
        CwtOptions { fs: 1.0, w: 5.0, runtime: None }
    }
}

/// Each channel by Morlet wavelets of these frequencies: `scipy.signal.cwt(x, morlet2, w * fs / (2 * pi * frequencies), w=w)`
/// of scipy before 1.15, which removed it. The wavelet of width `s`, `pi^-1/4 s^-1/2 exp(i w t / s - (t / s)^2 / 2)`, has
/// `10 s` samples, or as many as a channel has; zeros stand before and after a channel. No samples give no result.
///
/// # Errors
/// A sampling rate or `w` that is not above 0, no frequencies, one that is not above 0 and at most half the sampling rate,
/// a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{CwtOptions, cwt};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| (0.2 * std::f32::consts::PI * n as f32).sin()).collect();
/// let z = cwt(View::new(&x, 1, 1000)?, &[50.0, 100.0, 200.0], &CwtOptions { fs: 1000.0, ..Default::default() })?;
/// assert_eq!((z.f.as_slice(), z.t[999]), (&[50.0, 100.0, 200.0][..], 0.999));
/// assert!(z.line(0, 1)[500].norm() > 10.0 * z.line(0, 0)[500].norm());
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn cwt<'a>(x: impl Into<Source<'a>>, frequencies: &[f64], options: &CwtOptions) -> Result<ComplexFrames> {
    Cwt::new(frequencies, options)?.apply(x)
}

/// A wavelet transform ready for any recording.
#[derive(Debug, Clone)]
pub struct Cwt {
    problem: Wavelets,
    frequencies: Vec<f64>,
    fs: f64,
    runtime: Option<String>,
}

impl Cwt {
    /// For these frequencies, in units of `fs`.
    ///
    /// # Errors
    /// Those of [`cwt`] that do not depend on the recording.
    pub fn new(frequencies: &[f64], options: &CwtOptions) -> Result<Self> {
        let CwtOptions { fs, w, runtime } = options.clone();
        check_fs(fs)?;
        if !(w.is_finite() && w > 0.0) {
            return Err(Error::invalid(format!("w is {w}; pass a finite number above 0, 5 or 6 are usual")));
        }
        if let Some(at) = frequencies.iter().position(|f| !(*f > 0.0 && *f <= fs / 2.0)) {
            return Err(Error::invalid(format!(
                "frequencies[{at}] is {}; pass frequencies above 0 and up to {}, half the sampling rate",
                frequencies[at],
                fs / 2.0
            )));
        }
        let problem = Wavelets::new(frequencies.iter().map(|f| w * fs / (TAU * f)).collect(), w)?;
        Ok(Cwt { problem, frequencies: frequencies.to_vec(), fs, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`cwt`]: a line of complex values for each frequency, one value for each sample.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<ComplexFrames> {
        let x = x.into();
        let values = execute::host(&self.problem, x, None, self.runtime.as_deref())?;
        let t = (0..x.samples()).map(|k| k as f64 / self.fs).collect();
        Ok(ComplexFrames { f: self.frequencies.clone(), t, values: ComplexSignal::from_parts(values)? })
    }

    /// The values of [`cwt`] where the array lives: `[channels, frequencies x samples]` of real and imaginary parts in turn.
    /// It has to lie in one piece.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["spectral/trend", "spectral/frames", "spectral/fft", "spectral/wavelets", "spectral/scales"],
    cpu_source: concat!(include_str!("cpu.rs"), include_str!("problem.rs")),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("problem.rs"),
        include_str!("../frames/gpu.rs"),
        include_str!("../fft/gpu.rs"),
        include_str!("../fft/gpu/plan.rs"),
        include_str!("../fft/gpu/tables.rs"),
        include_str!("../fft/recipe.rs")
    ),
    representatives: || {
        let plan = Cwt::new(&[0.25, 0.1, 0.05, 0.02], &CwtOptions::default())?;
        Ok(vec![Representative::planar(plan.problem)])
    },
    ideal_bytes: once_each,
};
