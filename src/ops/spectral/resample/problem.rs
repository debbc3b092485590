//! Fourier's method as one problem, and what it does to a spectrum.

use std::sync::{Arc, Mutex, PoisonError};

use super::{between, reference};
use crate::design::{Window, get_window};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::work_space;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Factors and the length of channel that they are for.
type Made = (usize, Arc<Factors>);

/// Every channel at `num` samples.
#[derive(Debug, Clone)]
pub(crate) struct Fourier {
    pub num: usize,
    pub window: Option<Window>,
    /// The factors made last, and for which length.
    made: Arc<Mutex<Option<Made>>>,
}

/// Factors of the bins of a one-sided spectrum, those of 1 at both ends left out.
#[derive(Debug)]
pub(super) struct Factors {
    /// The first bin that has one.
    pub first: usize,
    pub values: Vec<f64>,
}

impl Fourier {
    pub fn new(num: usize, window: Option<Window>) -> Result<Self> {
        match num {
            0 => Err(Error::invalid("num is 0; ask for 1 sample or more")),
            n if n > isize::MAX as usize / 64 => Err(Error::invalid(format!("{n} samples do not fit in memory"))),
            num => Ok(Fourier { num, window, made: Arc::default() }),
        }
    }

    /// Bins of the spectrum of `n` samples that are kept.
    pub fn kept(&self, n: usize) -> usize {
        n.min(self.num) / 2 + 1
    }

    /// The bin that has a counterpart on one side only: two of the longer spectrum are one of the shorter.
    fn unpaired(&self, n: usize) -> Option<(usize, f64)> {
        let shorter = n.min(self.num);
        let factor = if self.num < n { 2.0 } else { 0.5 };
        (shorter.is_multiple_of(2) && self.num != n).then_some((shorter / 2, factor))
    }

    /// The weights of the window, both sides of the spectrum of `n` samples in the order of the transform.
    pub fn weights(&self, n: usize) -> Result<Option<Vec<f64>>> {
        let Some(window) = &self.window else { return Ok(None) };
        let mut weights = get_window(window, n, true)?;
        weights.rotate_left(n.div_ceil(2));
        Ok(Some(weights))
    }

    /// What the spectrum of `n` samples is multiplied by.
    pub(super) fn factors(&self, n: usize) -> Result<Arc<Factors>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, factors)) = made.as_ref().filter(|(length, _)| *length == n) {
            return Ok(factors.clone());
        }
        let unpaired = self.unpaired(n);
        let (first, mut values) = match self.weights(n)? {
            // A real signal sees the mean of both sides.
            Some(w) => (0, (0..self.kept(n)).map(|k| (w[k] + w[(n - k) % n]) / 2.0).collect()),
            None => (unpaired.map_or(0, |(bin, _)| bin), vec![1.0; usize::from(unpaired.is_some())]),
        };
        if let Some((bin, factor)) = unpaired {
            values[bin - first] *= factor;
        }
        let factors = Arc::new(Factors { first, values });
        *made = Some((n, factors.clone()));
        Ok(factors)
    }
}

impl Problem for Fourier {
    fn operation(&self) -> &'static str {
        "resample"
    }

    fn class(&self) -> String {
        let size = if self.num > 4096 { self.num.next_power_of_two() } else { self.num };
        format!("num{size}{}", if self.window.is_some() { "-window" } else { "" })
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 && shape.channels > 0 {
            return Err(Error::shape("a channel without samples cannot be resampled; pass at least one sample"));
        }
        self.factors(shape.samples.max(1)).map(|_| ())
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.num, ..input }
    }

    /// As many samples as the window needs.
    fn nearest(&self, shape: Shape) -> Shape {
        match self.window {
            Some(Window::Dpss { nw }) => Shape { samples: shape.samples.max((2.0 * nw) as usize + 1), ..shape },
            _ => shape,
        }
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

    /// What is left out counts: all that a channel holds may lie beyond the new rate.
    fn tolerance(&self) -> Tolerance {
        Tolerance { relative: 1e-6, gain: 1.0, float64_tight: false, distance: Distance::Norm, ..Default::default() }
    }

    fn work_space(&self, shape: Shape) -> usize {
        work_space(shape.samples).saturating_add(work_space(self.output(shape).samples))
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("rows", &[])]
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        debug_assert_eq!(variant.method, "rows");
        let n = x.samples();
        let (factors, kept, scale) = (self.factors(n)?, self.kept(n), 1.0 / n as f64);
        let factors: (usize, Vec<f32>) = (factors.first, factors.values.iter().map(|v| *v as f32).collect());
        between::cpu::Pair::kept(n, self.num).rows(
            x,
            y,
            |_, spectrum| {
                spectrum.truncate(kept);
                spectrum.iter_mut().skip(factors.0).zip(&factors.1).for_each(|(z, factor)| *z *= factor);
                spectrum.iter_mut().for_each(|z| *z *= scale as f32);
            },
            |_, row, out| out.copy_from_slice(row),
        )
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        between::gpu::variants(facts, shape.samples, shape.samples, self.num)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        super::gpu::record(self, gpu, variant, x, y)
    }
}
