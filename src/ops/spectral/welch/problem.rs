//! Averages over frames as one problem: rows of the result are spectra.
//!
//! Spectra of pairs take both channels of a pair as one row, the first signal and then the second: so a channel of the
//! result depends on that channel of the input alone, as for every other transform.

use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::work_space;
use crate::ops::spectral::frames::{Geometry, Segments};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// How frames are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Average {
    /// Their mean.
    #[default]
    Mean,
    /// Their median, corrected for its bias: frames with artefacts do not count.
    Median,
}

/// What is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Welch,
    Periodogram,
    Csd,
    Coherence,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Welch => "welch",
            Kind::Periodogram => "periodogram",
            Kind::Csd => "csd",
            Kind::Coherence => "coherence",
        }
    }

    /// Whether a row holds two signals.
    pub fn paired(self) -> bool {
        matches!(self, Kind::Csd | Kind::Coherence)
    }
}

/// An average over the frames of each channel.
#[derive(Debug, Clone)]
pub(crate) struct Averaged {
    pub kind: Kind,
    pub segments: Segments,
    pub average: Average,
}

impl Averaged {
    /// The frames of a row of so many samples.
    pub fn geometry(&self, samples: usize) -> Result<Geometry> {
        self.segments.geometry(if self.kind.paired() { samples / 2 } else { samples })
    }
}

impl Problem for Averaged {
    fn operation(&self) -> &'static str {
        self.kind.name()
    }

    fn class(&self) -> String {
        format!("{}-{:?}", self.segments.class(), self.average).to_lowercase()
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 {
            return Ok(());
        }
        if self.kind.paired() && !shape.samples.is_multiple_of(2) {
            return Err(Error::shape(format!(
                "{} takes rows of two signals, {} samples are not two equal halves",
                self.kind.name(),
                shape.samples
            )));
        }
        self.geometry(shape.samples).map(|_| ())
    }

    fn output(&self, input: Shape) -> Shape {
        let width = if self.kind == Kind::Csd { 2 } else { 1 };
        Shape { samples: self.geometry(input.samples).map_or(0, |g| g.bins() * width), ..input }
    }

    fn nearest(&self, shape: Shape) -> Shape {
        // Coherence needs two samples of each signal: less is nothing over nothing.
        let least = if self.kind == Kind::Coherence { 4 } else { 2 };
        let samples = match self.kind.paired() {
            true => 2 * self.segments.nearest(shape.samples.max(least).div_ceil(2)),
            false => self.segments.nearest(shape.samples),
        };
        Shape { samples, ..shape }
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
        // Where devices transform in float32, ratios of powers and medians around zero keep fewer digits than those have.
        let cancels = self.kind == Kind::Coherence || (self.kind, self.average) == (Kind::Csd, Average::Median);
        let float32 = cancels.then_some(1e-5);
        Tolerance { relative: 2e-6, float32, gain: 0.0, float64_tight: true, ..Default::default() }
    }

    fn work_space(&self, shape: Shape) -> usize {
        let float64 = usize::from(self.kind.paired());
        self.geometry(shape.samples).map_or(0, |g| work_space(g.nfft).saturating_mul(1 + float64))
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
