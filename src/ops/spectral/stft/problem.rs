//! Spectra of frames as one problem: rows of the result are `[frequencies, frames]`.

use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::work_space;
use crate::ops::spectral::frames::Segments;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// What is kept of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Its values.
    Complex,
    /// Their squared magnitudes, both sides.
    Power,
    /// Their magnitudes.
    Magnitude,
}

/// Every frame's spectrum.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    pub segments: Segments,
    pub kept: Kept,
}

impl Local {
    /// float32 values of a frequency of a frame.
    pub fn width(&self) -> usize {
        if self.kept == Kept::Complex { 2 } else { 1 }
    }
}

impl Problem for Local {
    fn operation(&self) -> &'static str {
        if self.kept == Kept::Complex { "stft" } else { "spectrogram" }
    }

    fn class(&self) -> String {
        format!("{}-{:?}", self.segments.class(), self.kept).to_lowercase()
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 {
            return Ok(());
        }
        let g = self.segments.geometry(shape.samples)?;
        let values = g.bins().checked_mul(g.frames).and_then(|n| n.checked_mul(self.width()));
        match values.is_some_and(|n| n <= isize::MAX as usize / 8) {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{} frames of {} frequencies do not fit in memory; pass a smaller noverlap or nfft",
                g.frames,
                g.bins()
            ))),
        }
    }

    fn output(&self, input: Shape) -> Shape {
        let samples = self.segments.geometry(input.samples).map_or(0, |g| g.bins() * g.frames * self.width());
        Shape { samples, ..input }
    }

    fn nearest(&self, shape: Shape) -> Shape {
        Shape { samples: self.segments.nearest(shape.samples), ..shape }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        reference::run(self, x)
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        let (relative, distance) = match self.kept {
            Kept::Complex => (1e-6, Distance::Norm),
            Kept::Power | Kept::Magnitude => (2e-6, Distance::Largest),
        };
        Tolerance { relative, gain: 0.0, float64_tight: true, distance, ..Default::default() }
    }

    fn work_space(&self, shape: Shape) -> usize {
        self.segments.geometry(shape.samples).map_or(0, |g| work_space(g.nfft))
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
