//! Short responses centred on their sample: `y[n] = sum of weights[j] * x[n - left + j]`, with an edge rule. What Savitzky-
//! Golay and Gaussian filters are made of.
//!
//! Inside a channel this is an FIR filter that looks `right` samples ahead, and runs on the machinery of `lfilter`. Near
//! the ends the samples come from an [`Edge`], or the result has weights of its own ([`Ends`]).

use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

use super::edge::Edge;

mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod reference;

/// Text of the CPU kernels.
pub(super) const CPU_SOURCE: &str = concat!(
    include_str!("cpu.rs"),
    include_str!("../edge.rs"),
    include_str!("../lfilter/cpu.rs"),
    include_str!("../lfilter/kernel.rs"),
    include_str!("../lfilter/plan.rs")
);

/// Text of the code that launches kernels.
pub(super) const GPU_SOURCE: &str = concat!(include_str!("gpu.rs"), include_str!("../halo.rs"));

/// Names of the kernels.
pub(super) const KERNELS: &[&str] = &["filter/halo", "filter/centred", "filter/ends"];

/// What holds where the response reaches over an end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ends {
    /// Samples beyond the ends.
    Edge(Edge),
    /// Weights of the first results, each on the first samples, as many as the response has; the last results mirror the
    /// places: the row `last[i]` is that of the result `last.len() - i` before the end, on the last samples.
    Rows { first: Vec<Vec<f64>>, last: Vec<Vec<f64>> },
}

/// A response with its ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Centred {
    /// Weights in the order of the samples.
    pub(super) weights: Vec<f64>,
    /// Samples before the result's own place.
    pub(super) left: usize,
    pub(super) ends: Ends,
}

impl Centred {
    /// A response of these weights, at least one, all finite in float32.
    pub(super) fn new(weights: Vec<f64>, left: usize, ends: Ends) -> Result<Self> {
        if let Some(k) = weights.iter().position(|w| !(*w as f32).is_finite()) {
            return Err(Error::invalid(format!(
                "coefficient {k} of the filter is {}; every one must be finite in float32: change the scale of derivatives",
                weights[k]
            )));
        }
        match ends {
            Ends::Edge(edge) if !edge.constant().is_finite() => Err(Error::invalid(format!(
                "the constant beyond the ends is {}; it must be finite in float32",
                edge.constant()
            ))),
            ends => Ok(Centred { weights, left, ends }),
        }
    }

    fn right(&self) -> usize {
        self.weights.len() - 1 - self.left
    }

    /// Rows of weights for single results of a channel of `samples`: the result, its row, its first sample.
    fn rows(&self, samples: usize) -> Vec<(usize, &[f64], usize)> {
        let Ends::Rows { first, last } = &self.ends else { return Vec::new() };
        let tail = samples - last.len();
        let head = first.iter().enumerate().map(|(i, row)| (i, &row[..], 0));
        let rest = last.iter().enumerate().map(|(i, row)| (tail + i, &row[..], samples - self.weights.len()));
        head.chain(rest).collect()
    }

    pub(super) fn class(&self) -> String {
        format!("taps{}", self.weights.len().next_power_of_two())
    }

    /// Whether a channel is long enough for the ends' rows.
    pub(super) fn check(&self, shape: Shape) -> Result<()> {
        match &self.ends {
            Ends::Rows { .. } if shape.samples > 0 && shape.samples < self.weights.len() => Err(Error::shape(format!(
                "a window of {} samples does not fit a channel of {}; with mode \"interp\" it has to: use a shorter window or another mode",
                self.weights.len(),
                shape.samples
            ))),
            _ => Ok(()),
        }
    }

    pub(super) fn nearest(&self, shape: Shape) -> Shape {
        match &self.ends {
            Ends::Rows { .. } => Shape { samples: shape.samples.max(self.weights.len()), ..shape },
            Ends::Edge(_) => shape,
        }
    }

    pub(super) fn tolerance(&self) -> Tolerance {
        let gain = |row: &[f64]| row.iter().map(|w| w.abs()).sum::<f64>();
        let rows = match &self.ends {
            Ends::Rows { first, last } => first.iter().chain(last).map(|r| gain(r)).fold(0.0, f64::max),
            // A constant beyond the ends is not in the magnitude of the input.
            Ends::Edge(_) => 0.0,
        };
        Tolerance { relative: 1e-6, gain: gain(&self.weights).max(rows), ..Default::default() }
    }

    pub(super) fn rounding(&self, variant: &Variant) -> String {
        #[cfg(feature = "gpu")]
        if variant.method == "centred" {
            return format!("centred R={}", variant.get("R"));
        }
        let _ = variant;
        "lanes".into()
    }

    pub(super) fn reference(&self, x: Source<'_>) -> Vec<f64> {
        reference::run(self, x)
    }

    pub(super) fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        super::lfilter::direct_variants(self.weights.len(), shape)
    }

    pub(super) fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
        cpu::run(self, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    pub(super) fn gpu_variants(&self, facts: &Facts) -> Vec<Variant> {
        gpu::variants(self, facts)
    }

    #[cfg(feature = "gpu")]
    pub(super) fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        gpu::refusal(self, facts)
    }

    #[cfg(feature = "gpu")]
    pub(super) fn record(
        &self,
        gpu: &dyn Gpu,
        variant: &Variant,
        x: &DeviceArray,
        y: &DeviceArray,
    ) -> Result<Vec<Command>> {
        gpu::record(self, gpu, variant, x, y)
    }
}

/// The methods of [`Problem`](crate::ops::problem::Problem) for a filter whose field `filter` is a [`Centred`].
macro_rules! problem {
    () => {
        fn class(&self) -> String {
            self.filter.class()
        }

        fn check(&self, shape: Shape) -> Result<()> {
            self.filter.check(shape)
        }

        fn nearest(&self, shape: Shape) -> Shape {
            self.filter.nearest(shape)
        }

        fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
            Ok(self.filter.reference(x))
        }

        fn locality(&self) -> Locality {
            Locality::Channel
        }

        fn tolerance(&self) -> Tolerance {
            self.filter.tolerance()
        }

        fn rounding(&self, variant: &Variant) -> String {
            self.filter.rounding(variant)
        }

        fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
            self.filter.cpu_variants(shape)
        }

        fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
            self.filter.run_cpu(variant, x, y)
        }

        #[cfg(feature = "gpu")]
        fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
            self.filter.gpu_variants(facts)
        }

        #[cfg(feature = "gpu")]
        fn gpu_refusal(&self, facts: &Facts) -> Option<crate::error::Error> {
            self.filter.gpu_refusal(facts)
        }

        #[cfg(feature = "gpu")]
        fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
            self.filter.record(gpu, variant, x, y)
        }
    };
}
pub(super) use problem;
