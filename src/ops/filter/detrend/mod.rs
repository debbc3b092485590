//! Means and straight lines taken off channels: `scipy.signal.detrend`.
//!
//! Sums run over differences from a piece's first sample, in float64 (on devices in pairs of floats), so that an offset or
//! a slope costs what is left no digits, and a constant leaves exact zeros.

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod reference;

/// What is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Trend {
    /// The straight line of least squares.
    #[default]
    Linear,
    /// The mean.
    Constant,
}

/// Takes the trend off every channel: `scipy.signal.detrend(x, type=trend, bp=breakpoints)`, on the current runtime.
///
/// Between breakpoints, samples at which a piece begins, each piece has its own line; for [`Trend::Constant`] they are
/// without effect, as in scipy. Their order is free, and `[]` is one piece. `x` is any `[channels, samples]` array of `f32`
/// or `i16`; the result is `f32` of the same shape. A NaN or an infinity makes its piece NaN.
///
/// # Errors
/// A breakpoint beyond the channel's length, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::filter::{Trend, detrend};
/// use dspk::signal::View;
/// let x = [1.0f32, 2.0, 3.0, 10.0, 8.0, 6.0];
/// let y = detrend(View::new(&x, 1, 6)?, Trend::Linear, &[3])?;
/// assert!(y.row(0).iter().all(|v| v.abs() < 1e-6));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn detrend<'a>(x: impl Into<Source<'a>>, trend: Trend, breakpoints: &[usize]) -> Result<Signal> {
    Detrend::new(trend, breakpoints).apply(x)
}

/// A detrending ready for any recording.
///
/// ```
/// use dspk::ops::filter::{Detrend, Trend};
/// use dspk::signal::View;
/// let y = Detrend::new(Trend::Constant, &[]).apply(View::new(&[1.0f32, 2.0, 6.0], 1, 3)?)?;
/// assert_eq!(y.row(0), [-2.0, -1.0, 3.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Detrend {
    trend: Trend,
    /// In order, each once.
    breakpoints: Vec<usize>,
    runtime: Option<String>,
}

impl Detrend {
    /// A plan, see [`detrend`].
    pub fn new(trend: Trend, breakpoints: &[usize]) -> Self {
        let mut breakpoints = breakpoints.to_vec();
        breakpoints.sort_unstable();
        breakpoints.dedup();
        Detrend { trend, breakpoints, runtime: None }
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// Detrends an array.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Detrends into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Detrends an array where it lives; the result stays on that device.
    ///
    /// # Errors
    /// Those of [`detrend`], and an array of more than one segment: a line is that of all of them.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// First sample and length of each piece.
    fn pieces(&self, samples: usize) -> Vec<(usize, usize)> {
        let inner = match self.trend {
            Trend::Linear => &self.breakpoints[..],
            Trend::Constant => &[],
        };
        let mut ends: Vec<usize> = inner.iter().copied().filter(|b| (1..samples).contains(b)).collect();
        ends.push(samples);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, end)| (start, end - start)).filter(|(_, len)| *len > 0).collect()
    }
}

/// Sum of the squared distances of `n` places from their middle, inverted; 0 for one place.
fn inverse_spread(n: usize) -> f64 {
    let n = n as f64;
    if n > 1.0 { 12.0 / (n * (n * n - 1.0)) } else { 0.0 }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["filter/detrend"],
    cpu_source: concat!(include_str!("cpu.rs"), include_str!("../edge.rs"), include_str!("../planar.rs")),
    gpu_source: include_str!("gpu.rs"),
    representatives: || Ok(vec![Representative::planar(Detrend::new(Trend::Linear, &[]))]),
    ideal_bytes: once_each,
};

impl Problem for Detrend {
    fn operation(&self) -> &'static str {
        "detrend"
    }

    fn class(&self) -> String {
        let name = if self.trend == Trend::Linear { "linear" } else { "constant" };
        format!("{name}-pieces{}", (self.breakpoints.len() + 1).next_power_of_two())
    }

    fn check(&self, shape: Shape) -> Result<()> {
        match self.breakpoints.last() {
            Some(last) if *last > shape.samples => Err(Error::invalid(format!(
                "breakpoint {last} lies beyond the {} samples of a channel; breakpoints are at most that",
                shape.samples
            ))),
            _ => Ok(()),
        }
    }

    fn nearest(&self, shape: Shape) -> Shape {
        Shape { samples: shape.samples.max(self.breakpoints.last().copied().unwrap_or(0)), ..shape }
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn tolerance(&self) -> Tolerance {
        // What is left of a straight line is rounding of float64, or of pairs of floats.
        Tolerance { relative: 3e-7, gain: 1e-3, ..Default::default() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("sums", &[])]
    }

    fn run_cpu(&self, _: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        gpu::variants(facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(self, gpu, variant, x, y)
    }
}

#[cfg(test)]
mod tests;
