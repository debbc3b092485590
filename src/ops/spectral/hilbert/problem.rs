//! The analytic signal as one problem.

use super::{cpu, reference};
use crate::error::Result;
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::work_space;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// What is kept of the analytic signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Analytic {
    /// Its values.
    Signal,
    /// Their magnitudes.
    Envelope,
}

impl Problem for Analytic {
    fn operation(&self) -> &'static str {
        match self {
            Analytic::Signal => "hilbert",
            Analytic::Envelope => "envelope",
        }
    }

    fn class(&self) -> String {
        "whole".into()
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn output(&self, input: Shape) -> Shape {
        let width = if *self == Analytic::Signal { 2 } else { 1 };
        Shape { samples: input.samples.saturating_mul(width), ..input }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(*self, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        let (relative, distance) = match self {
            Analytic::Signal => (1e-6, Distance::Norm),
            Analytic::Envelope => (2e-6, Distance::Largest),
        };
        Tolerance { relative, gain: 0.0, float64_tight: true, distance, ..Default::default() }
    }

    fn work_space(&self, shape: Shape) -> usize {
        work_space(shape.samples)
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        cpu::variants()
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(*self, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        super::gpu::variants(facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        super::gpu::record(*self, gpu, variant, x, y)
    }
}
