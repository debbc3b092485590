//! Savitzky-Golay filters along time: `scipy.signal.savgol_filter`.

use crate::design::{SavgolCoeffsOptions, TapOrder, savgol_coeffs};
use crate::error::Result;
use crate::ops::execute;
use crate::ops::filter::centred::{self, Centred, Ends};
use crate::ops::filter::edge::Edge;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

pub(crate) mod command;

/// What [`savgol_filter`] computes beside its window and order; the default is scipy's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SavgolOptions {
    /// Order of the derivative. Default: 0, smoothing.
    pub deriv: usize,
    /// Distance of the samples, which scales derivatives. Default: 1.
    pub delta: f64,
    /// What lies beyond the ends; `None`, scipy's `mode="interp"`: results there come from the polynomials fitted to the
    /// first and the last window. Default: `None`.
    pub edge: Option<Edge>,
}

impl Default for SavgolOptions {
    fn default() -> Self {
        SavgolOptions { deriv: 0, delta: 1.0, edge: None }
    }
}

/// Smooths every channel, or takes a derivative, by polynomials of order `polyorder` fitted to `window_length` samples
/// around each: `scipy.signal.savgol_filter(x, window_length, polyorder, ...)`, on the current runtime.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` of the same shape. An even window reaches
/// one sample further to the right than to the left, as in scipy.
///
/// # Errors
/// No samples, an order that is not below their number, a `delta` of 0, coefficients beyond float32, without an edge mode a
/// channel shorter than the window, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::filter::{SavgolOptions, savgol_filter};
/// use dspk::signal::View;
/// // A parabola is what it is.
/// let x: Vec<f32> = (0..9).map(|n| (n * n) as f32).collect();
/// let slope = SavgolOptions { deriv: 1, ..Default::default() };
/// let y = savgol_filter(View::new(&x, 1, 9)?, 5, 2, &slope)?;
/// assert!(y.row(0).iter().enumerate().all(|(n, v)| (v - 2.0 * n as f32).abs() < 1e-4));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn savgol_filter<'a>(
    x: impl Into<Source<'a>>,
    window_length: usize,
    polyorder: usize,
    options: &SavgolOptions,
) -> Result<Signal> {
    SavgolFilter::new(window_length, polyorder, options)?.apply(x)
}

/// A Savitzky-Golay filter ready for any recording.
///
/// ```
/// use dspk::ops::filter::{Edge, SavgolFilter, SavgolOptions};
/// use dspk::signal::View;
///
/// let options = SavgolOptions { edge: Some(Edge::Mirror), ..Default::default() };
/// let filter = SavgolFilter::new(3, 1, &options)?;
/// let y = filter.apply(View::new(&[3.0f32, 0.0, 3.0, 6.0], 1, 4)?)?;
/// assert!(y.row(0).iter().zip([1.0, 2.0, 3.0, 4.0]).all(|(y, e)| (y - e).abs() < 1e-5));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SavgolFilter {
    filter: Centred,
    runtime: Option<String>,
}

impl SavgolFilter {
    /// A plan, see [`savgol_filter`].
    pub fn new(window_length: usize, polyorder: usize, options: &SavgolOptions) -> Result<Self> {
        let SavgolOptions { deriv, delta, edge } = *options;
        let at = |pos| {
            let options = SavgolCoeffsOptions { deriv, delta, pos, order: TapOrder::Dot };
            savgol_coeffs(window_length, polyorder, &options)
        };
        let weights = at(None)?;
        let half = window_length / 2;
        let rows = |from: usize| (from..from + half).map(|i| at(Some(i as f64))).collect::<Result<Vec<_>>>();
        let ends = match edge {
            Some(edge) => Ends::Edge(edge),
            None => Ends::Rows { first: rows(0)?, last: rows(window_length - half)? },
        };
        let left = (window_length - 1) / 2;
        Ok(SavgolFilter { filter: Centred::new(weights, left, ends)?, runtime: None })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The coefficients inside a channel, in the order of the samples.
    pub fn coefficients(&self) -> &[f64] {
        &self.filter.weights
    }

    /// Filters an array.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Filters into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Filters an array where it lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: centred::KERNELS,
    cpu_source: centred::CPU_SOURCE,
    gpu_source: centred::GPU_SOURCE,
    representatives: || {
        let edge = SavgolOptions { edge: Some(Edge::Nearest), ..Default::default() };
        let filter = |options| Ok(Representative::planar(SavgolFilter::new(21, 3, &options)?));
        [SavgolOptions::default(), edge].into_iter().map(filter).collect()
    },
    ideal_bytes: once_each,
};

impl Problem for SavgolFilter {
    fn operation(&self) -> &'static str {
        "savgol_filter"
    }

    centred::problem!();
}

#[cfg(test)]
mod tests;
