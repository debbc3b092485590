//! The inverse as one problem: rows are `[frequencies, frames]` of complex values, the result is samples.

use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::frames::{Scaling, Table};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Frames added up to a signal.
#[derive(Debug, Clone)]
pub(crate) struct Inverse {
    pub fs: f64,
    pub table: Table,
    pub step: usize,
    pub nfft: usize,
    /// Frequencies of the input.
    pub bins: usize,
    pub scaling: Scaling,
    /// Half a frame goes off at both ends.
    pub boundary: bool,
}

impl Inverse {
    /// Samples of a frame.
    pub fn nperseg(&self) -> usize {
        self.table.len
    }

    /// Frames of a row of so many float32 values.
    pub fn frames(&self, samples: usize) -> usize {
        samples / (2 * self.bins)
    }

    /// Samples that go off at each end.
    pub fn crop(&self) -> usize {
        if self.boundary { self.nperseg() / 2 } else { 0 }
    }

    /// Samples of so many frames.
    pub fn length(&self, frames: usize) -> usize {
        let Some(last) = frames.checked_sub(1) else { return 0 };
        (self.nperseg() + last * self.step).saturating_sub(2 * self.crop())
    }

    /// What a spectrum is multiplied by, apart from 1 / nfft.
    pub fn factor(&self) -> f64 {
        match self.scaling {
            Scaling::Spectrum => self.table.sum(),
            Scaling::Density => (self.fs * self.table.squares()).sqrt(),
        }
    }

    /// The sum of the squared weights of those of `frames` that hold a sample; 1 where nothing does.
    pub fn norm(&self, at: usize, frames: usize) -> f64 {
        let first = (at + 1).saturating_sub(self.nperseg()).div_ceil(self.step);
        let last = (at / self.step).min(frames - 1);
        let norm = (first..=last).map(|k| self.table.weight(at - k * self.step)).map(|w| w * w).sum();
        if norm > super::LEAST_NORM { norm } else { 1.0 }
    }
}

impl Problem for Inverse {
    fn operation(&self) -> &'static str {
        "istft"
    }

    fn class(&self) -> String {
        let n = if self.nfft > 4096 { self.nfft.next_power_of_two() } else { self.nfft };
        format!("n{n}-o{}", self.nperseg() / self.step)
    }

    fn check(&self, shape: Shape) -> Result<()> {
        match shape.samples.is_multiple_of(2 * self.bins) {
            true => Ok(()),
            false => Err(Error::shape(format!(
                "{} values of a channel are not frames of {} complex ones",
                shape.samples, self.bins
            ))),
        }
    }

    fn nearest(&self, shape: Shape) -> Shape {
        Shape { samples: shape.samples.next_multiple_of(2 * self.bins).max(4 * self.bins), ..shape }
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.length(self.frames(input.samples)), ..input }
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
        // Frames can cancel each other, so that the input counts: by the root of the sum of squares of what one frequency
        // adds to a sample, twice each.
        let gain = 2.0 * self.factor().abs() * (self.bins as f64).sqrt() / self.nfft as f64;
        Tolerance { relative: 1e-6, gain, float64_tight: false, distance: Distance::Norm, ..Default::default() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        cpu::variants()
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
