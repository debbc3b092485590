//! Gaussian filters along time: `scipy.ndimage.gaussian_filter1d`.

use crate::error::{Error, Result};
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

/// Widest reach to one side.
const FARTHEST: usize = 1 << 24;

/// What [`gaussian_filter1d`] computes beside its width; the default is scipy's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianOptions {
    /// Order of the derivative. Default: 0, smoothing.
    pub order: usize,
    /// What lies beyond the ends. Default: [`Edge::Reflect`].
    pub edge: Edge,
    /// Where the response is cut, in standard deviations. Default: 4.
    pub truncate: f64,
    /// Samples to both sides; `None`: as `truncate` says, `truncate * sigma + 0.5` rounded down. Default: `None`.
    pub radius: Option<usize>,
}

impl Default for GaussianOptions {
    fn default() -> Self {
        GaussianOptions { order: 0, edge: Edge::Reflect, truncate: 4.0, radius: None }
    }
}

/// Smooths every channel with a Gaussian of a standard deviation of `sigma` samples, or with its derivative:
/// `scipy.ndimage.gaussian_filter1d(x, sigma, axis=-1, ...)`, on the current runtime.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` of the same shape.
///
/// # Errors
/// A `sigma` that is not above 0, a reach above 2^24 samples, coefficients beyond float32, a runtime that cannot be used, or
/// no memory.
///
/// ```
/// use dspk::ops::filter::{GaussianOptions, gaussian_filter1d};
/// use dspk::signal::View;
/// let x = [0.0f32, 0.0, 1.0, 0.0, 0.0];
/// let y = gaussian_filter1d(View::new(&x, 1, 5)?, 0.5, &GaussianOptions::default())?;
/// assert!((y.row(0)[2] - 0.78657).abs() < 1e-4 && (y.row(0)[1] - 0.10645).abs() < 1e-4);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn gaussian_filter1d<'a>(x: impl Into<Source<'a>>, sigma: f64, options: &GaussianOptions) -> Result<Signal> {
    GaussianFilter::new(sigma, options)?.apply(x)
}

/// A Gaussian filter ready for any recording.
///
/// ```
/// use dspk::ops::filter::{GaussianFilter, GaussianOptions};
/// let filter = GaussianFilter::new(2.0, &GaussianOptions::default())?;
/// assert_eq!(filter.coefficients().len(), 17);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianFilter {
    filter: Centred,
    runtime: Option<String>,
}

impl GaussianFilter {
    /// A plan, see [`gaussian_filter1d`].
    pub fn new(sigma: f64, options: &GaussianOptions) -> Result<Self> {
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(Error::invalid(format!("sigma = {sigma:?} is not possible; pass a finite number above 0")));
        }
        if !(options.truncate >= 0.0 && options.truncate.is_finite()) {
            return Err(Error::invalid(format!(
                "truncate = {:?} is not possible; pass a finite number of at least 0",
                options.truncate
            )));
        }
        let reach = options.radius.map_or(options.truncate * sigma + 0.5, |r| r as f64);
        if reach > FARTHEST as f64 {
            return Err(Error::invalid(format!(
                "the filter would reach {reach:?} samples to both sides, at most {FARTHEST} are possible; give a smaller sigma or radius"
            )));
        }
        let radius = reach as usize;
        let weights = weights(sigma, options.order, radius);
        Ok(GaussianFilter { filter: Centred::new(weights, radius, Ends::Edge(options.edge))?, runtime: None })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The coefficients, in the order of the samples.
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

/// A Gaussian of unit sum times the polynomial that its derivative has, as weights on the samples: reversed.
fn weights(sigma: f64, order: usize, radius: usize) -> Vec<f64> {
    let places = || (0..=2 * radius).map(|i| i as f64 - radius as f64);
    let bell: Vec<f64> = places().map(|t| (-0.5 * t * t / (sigma * sigma)).exp()).collect();
    let sum: f64 = bell.iter().sum();
    // d/dt (q g) = (q' - t q / sigma^2) g.
    let mut q = vec![0.0; order + 1];
    q[0] = 1.0;
    for _ in 0..order {
        let slope = |k: usize| q.get(k + 1).map_or(0.0, |v| (k + 1) as f64 * v);
        let shifted = |k: usize| if k == 0 { 0.0 } else { q[k - 1] / (sigma * sigma) };
        q = (0..=order).map(|k| slope(k) - shifted(k)).collect();
    }
    let polynomial = |t: f64| q.iter().rev().fold(0.0, |value, c| value * t + c);
    let mut weights: Vec<f64> = places().zip(&bell).map(|(t, g)| polynomial(t) * (g / sum)).collect();
    weights.reverse();
    weights
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: centred::KERNELS,
    cpu_source: centred::CPU_SOURCE,
    gpu_source: centred::GPU_SOURCE,
    representatives: || Ok(vec![Representative::planar(GaussianFilter::new(5.0, &GaussianOptions::default())?)]),
    ideal_bytes: once_each,
};

impl Problem for GaussianFilter {
    fn operation(&self) -> &'static str {
        "gaussian_filter1d"
    }

    centred::problem!();
}

#[cfg(test)]
mod tests;
