//! Multitaper spectra as one problem: rows of the result are spectra.

use std::sync::{Arc, Mutex, PoisonError};

use super::tapers::Tapers;
use super::{TaperWeights, cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::frames::{Geometry, Segments};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Tapers and the length of frame that they are for.
type Made = (usize, Arc<Tapers>);

/// Power of each channel by tapers.
#[derive(Debug, Clone)]
pub(crate) struct Tapered {
    pub segments: Segments,
    nw: f64,
    count: usize,
    pub rule: TaperWeights,
    /// The tapers made last, and for which length.
    made: Arc<Mutex<Option<Made>>>,
}

impl Tapered {
    pub fn new(segments: Segments, nw: f64, count: Option<usize>, rule: TaperWeights) -> Result<Self> {
        if !(nw.is_finite() && nw > 0.0) {
            return Err(Error::invalid(format!("nw is {nw}; pass a finite number above 0, 4 is usual")));
        }
        let count = count.unwrap_or(((2.0 * nw).floor() as usize).saturating_sub(1).max(1));
        if count == 0 {
            return Err(Error::invalid("no tapers were asked for; pass 1 or more, 2 nw - 1 is usual"));
        }
        let problem = Tapered { segments, nw, count, rule, made: Arc::default() };
        if let Some(nperseg) = problem.segments.nperseg {
            problem.tapers(nperseg)?;
        }
        Ok(problem)
    }

    /// The frames of a channel of so many samples.
    pub fn geometry(&self, samples: usize) -> Result<Geometry> {
        match self.segments.nfft {
            Some(nfft) if self.segments.whole && nfft < samples => Err(Error::invalid(format!(
                "nfft is {nfft}, a frame has all {samples} samples of a channel; pass nfft of {samples} or more, or nperseg"
            ))),
            _ => self.segments.geometry(samples),
        }
    }

    /// The tapers of a frame of `n` samples.
    pub fn tapers(&self, n: usize) -> Result<Arc<Tapers>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tapers)) = made.as_ref().filter(|(length, _)| *length == n) {
            return Ok(tapers.clone());
        }
        let tapers = Arc::new(Tapers::new(&self.segments, n, self.nw, self.count, self.rule)?);
        *made = Some((n, tapers.clone()));
        Ok(tapers)
    }
}

impl Problem for Tapered {
    fn operation(&self) -> &'static str {
        "multitaper"
    }

    fn class(&self) -> String {
        let rule = if self.rule == TaperWeights::Adaptive { "adaptive" } else { "linear" };
        format!("{}-k{}-{rule}", self.segments.class(), self.count)
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 {
            return Ok(());
        }
        self.tapers(self.geometry(shape.samples)?.nperseg).map(|_| ())
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.geometry(input.samples).map_or(0, |g| g.bins()), ..input }
    }

    /// As many samples as the tapers need.
    fn nearest(&self, shape: Shape) -> Shape {
        let fewest = self.count.max((2.0 * self.nw).floor() as usize + 1);
        Shape { samples: shape.samples.max(fewest), ..shape }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        reference::run(self, self.nw, self.count, x)
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { relative: 2e-6, gain: 0.0, float64_tight: true, ..Default::default() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("fused", &[])]
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        debug_assert_eq!(variant.method, "fused");
        cpu::run(self, x, y)
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
