//! The analytic signal, whose real part is the signal and whose spectrum has no negative frequencies: `hilbert`, its
//! magnitude (`envelope`), its phase, and how fast that turns.

use std::f64::consts::TAU;

use super::frames::check_fs;
use crate::error::Result;
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
use crate::signal::{ComplexSignal, Signal, Source};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use problem::Analytic;

/// Where to compute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HilbertOptions {
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// The analytic signal of each channel: `scipy.signal.hilbert`. Its real parts are the samples themselves. No samples give
/// an empty result (scipy refuses them).
///
/// # Errors
/// A runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{HilbertOptions, hilbert};
/// use dspk::signal::{Complex32, View};
/// let z = hilbert(View::new(&[1.0f32, 2.0, 3.0, 4.0], 1, 4)?, &HilbertOptions::default())?;
/// let expected = [(1.0, 1.0), (2.0, -1.0), (3.0, -1.0), (4.0, 1.0)].map(|(re, im)| Complex32::new(re, im));
/// assert!(z.row(0).iter().zip(expected).all(|(z, e)| (z - e).norm() < 1e-6));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn hilbert<'a>(x: impl Into<Source<'a>>, options: &HilbertOptions) -> Result<ComplexSignal> {
    let signal = execute::host(&Analytic::Signal, x.into(), None, options.runtime.as_deref())?;
    ComplexSignal::from_parts(signal)
}

/// The envelope of each channel: the magnitude of its [`hilbert`]. Its mean counts as part of the signal (unlike in
/// `scipy.signal.envelope`).
///
/// # Errors
/// As [`hilbert`].
///
/// ```
/// use dspk::ops::spectral::{HilbertOptions, envelope};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..100).map(|n| 3.0 * (0.4 * std::f32::consts::PI * n as f32).sin()).collect();
/// let e = envelope(View::new(&x, 1, 100)?, &HilbertOptions::default())?;
/// assert!(e.row(0).iter().all(|v| (v - 3.0).abs() < 1e-4));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn envelope<'a>(x: impl Into<Source<'a>>, options: &HilbertOptions) -> Result<Signal> {
    execute::host(&Analytic::Envelope, x.into(), None, options.runtime.as_deref())
}

/// The phase of each channel in radians, without jumps: `numpy.unwrap(numpy.angle(hilbert(x)))`. On the CPU and in float64,
/// because a difference in the last digit of a step of nearly half a turn shifts all that follows by a whole one.
///
/// # Errors
/// No memory.
///
/// ```
/// use dspk::ops::spectral::instantaneous_phase;
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..100).map(|n| (0.2 * std::f32::consts::PI * n as f32).cos()).collect();
/// let phase = instantaneous_phase(View::new(&x, 1, 100)?)?;
/// assert!((phase.row(0)[99] - 0.2 * std::f32::consts::PI * 99.0).abs() < 1e-4);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn instantaneous_phase<'a>(x: impl Into<Source<'a>>) -> Result<Signal> {
    let x = x.into();
    cpu::phases(x, x.samples(), |phase, out| out.iter_mut().zip(phase).for_each(|(out, v)| *out = *v as f32))
}

/// How fast the phase of each channel turns, in units of `fs`: `numpy.diff(phase) * fs / (2 pi)`, one value fewer than
/// there are samples. Computed as [`instantaneous_phase`], and rounded only at the end.
///
/// # Errors
/// A sampling rate that is not above 0, or no memory.
///
/// ```
/// use dspk::ops::spectral::instantaneous_frequency;
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..100).map(|n| (0.2 * std::f32::consts::PI * n as f32).cos()).collect();
/// let f = instantaneous_frequency(View::new(&x, 1, 100)?, 1000.0)?;
/// assert_eq!(f.samples(), 99);
/// assert!(f.row(0).iter().all(|v| (v - 100.0).abs() < 1e-2));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn instantaneous_frequency<'a>(x: impl Into<Source<'a>>, fs: f64) -> Result<Signal> {
    check_fs(fs)?;
    let x = x.into();
    cpu::phases(x, x.samples().saturating_sub(1), |phase, out| {
        out.iter_mut().zip(phase.windows(2)).for_each(|(out, w)| *out = ((w[1] - w[0]) * fs / TAU) as f32);
    })
}

const fn entry(command: crate::ops::command::Command, representatives: fn() -> Result<Vec<Representative>>) -> Entry {
    Entry {
        command,
        kernels: &["spectral/fft", "spectral/spectrum", "spectral/analytic"],
        cpu_source: concat!(include_str!("cpu.rs"), include_str!("../between/cpu.rs")),
        gpu_source: concat!(
            include_str!("gpu.rs"),
            include_str!("../between/gpu.rs"),
            include_str!("../fft/gpu.rs"),
            include_str!("../fft/gpu/plan.rs"),
            include_str!("../fft/gpu/tables.rs"),
            include_str!("../fft/recipe.rs")
        ),
        representatives,
        ideal_bytes: once_each,
    }
}

pub(crate) const HILBERT: Entry = entry(command::HILBERT, || Ok(vec![Representative::planar(Analytic::Signal)]));
pub(crate) const ENVELOPE: Entry = entry(command::ENVELOPE, || Ok(vec![Representative::planar(Analytic::Envelope)]));
