//! The transforms as one problem: what the tuner, the tests and every runtime see.

use super::{Norm, Recipe, cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Which transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Fft,
    Ifft,
    Rfft,
    Irfft,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fft => "fft",
            Kind::Ifft => "ifft",
            Kind::Rfft => "rfft",
            Kind::Irfft => "irfft",
        }
    }

    pub fn inverse(self) -> bool {
        matches!(self, Kind::Ifft | Kind::Irfft)
    }

    pub fn complex_input(self) -> bool {
        self != Kind::Rfft
    }

    /// float32 values of a row of input of a transform of `n` points.
    pub fn floats(self, n: usize) -> usize {
        match self {
            Kind::Fft | Kind::Ifft => 2 * n,
            Kind::Rfft => n,
            Kind::Irfft => 2 * (n / 2 + 1),
        }
    }
}

/// A transform of each channel. Complex arrays are real ones of twice the length, real and imaginary parts in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transform {
    pub kind: Kind,
    pub n: Option<usize>,
    pub norm: Norm,
}

impl Transform {
    /// Points of the transform of rows of `samples` real values; 0 = not defined.
    pub fn points(&self, samples: usize) -> usize {
        self.n.unwrap_or(match self.kind {
            Kind::Fft | Kind::Ifft => samples / 2,
            Kind::Rfft => samples,
            Kind::Irfft => (samples / 2).saturating_sub(1).saturating_mul(2),
        })
    }

    /// Real values of a row of the result.
    fn length(&self, n: usize) -> usize {
        match self.kind {
            Kind::Fft | Kind::Ifft => n.saturating_mul(2),
            Kind::Rfft => (n / 2 + 1).saturating_mul(2),
            Kind::Irfft => n,
        }
    }
}

/// Largest prime factor that keeps a length "smooth" in the tuner's classes.
fn family(n: usize) -> &'static str {
    match Recipe::new(n) {
        Recipe::Mixed(factors) if factors.iter().all(|f| *f <= 4 && *f != 3) => "pow2",
        Recipe::Mixed(_) => "mixed",
        Recipe::Bluestein { .. } => "prime",
    }
}

impl Problem for Transform {
    fn operation(&self) -> &'static str {
        self.kind.name()
    }

    fn class(&self) -> String {
        match self.n {
            // Short transforms have plans of their own.
            Some(n) if n <= 4096 => format!("n{n}"),
            Some(n) => format!("n{}-{}", n.next_power_of_two().trailing_zeros(), family(n)),
            None => "whole".into(),
        }
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if self.kind.complex_input() && !shape.samples.is_multiple_of(2) {
            return Err(Error::shape(format!(
                "{} takes complex values, {} samples are not pairs of a real and an imaginary part",
                self.kind.name(),
                shape.samples
            )));
        }
        if shape.samples == 0 && shape.channels > 0 || self.points(shape.samples) == 0 {
            return Err(Error::shape(format!(
                "{} of {} values gives a transform of no points; pass at least one value{}",
                self.kind.name(),
                if self.kind.complex_input() { shape.samples / 2 } else { shape.samples },
                if self.kind == Kind::Irfft { ", or n" } else { "" }
            )));
        }
        if self.length(self.points(shape.samples)) > isize::MAX as usize / 8 {
            return Err(Error::invalid(format!(
                "a transform of {} points does not fit in memory",
                self.points(shape.samples)
            )));
        }
        Ok(())
    }

    fn nearest(&self, shape: Shape) -> Shape {
        match self.kind {
            Kind::Rfft => shape,
            Kind::Fft | Kind::Ifft => Shape { samples: shape.samples.next_multiple_of(2), ..shape },
            Kind::Irfft => Shape { samples: shape.samples.next_multiple_of(2).max(4), ..shape },
        }
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.length(self.points(input.samples)), ..input }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        let relative = if self.n.is_some_and(|n| matches!(Recipe::new(n), Recipe::Mixed(_))) { 5e-7 } else { 1e-6 };
        Tolerance { relative, gain: 0.0, float64_tight: true, distance: Distance::Norm, ..Default::default() }
    }

    fn work_space(&self, shape: Shape) -> usize {
        super::work_space(self.points(shape.samples))
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self, shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        super::gpu::variants(self, facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        super::gpu::record(self, gpu, variant, x, y)
    }
}
