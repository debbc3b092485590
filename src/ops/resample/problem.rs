//! One problem behind `resample_poly`, `upfirdn` and `decimate`: a bank of phases, where the first result stands, and how many
//! there are.

use std::sync::Arc;

use super::bank::{Bank, Stand, resampled};
#[cfg(feature = "gpu")]
use super::gpu;
use super::padtype::PadType;
use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// How many results there are of so many samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// As many as span the same time: `ceil(samples * up / down)`.
    SameTime,
    /// All to which a sample contributes.
    Full,
    /// Those whose newest sample is there.
    Ready,
}

/// A change of the rate with all that it needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Polyphase {
    pub(super) operation: &'static str,
    pub(super) bank: Arc<Bank>,
    /// Where the first result stands, in steps of the raised rate.
    pub(super) offset: u64,
    pub(super) count: Count,
    pub(super) padtype: PadType,
}

impl Polyphase {
    /// Results of a channel of `samples`.
    pub(super) fn count(&self, samples: usize) -> usize {
        let Bank { up, down, len, .. } = *self.bank;
        match self.count {
            Count::SameTime => resampled(samples, up, down),
            Count::Full => {
                let last = samples.saturating_sub(1) as u128 * up as u128 + (len - 1) as u128;
                (last / down as u128 + 1).min(usize::MAX as u128) as usize
            }
            Count::Ready => self.bank.first_at(samples, self.offset),
        }
    }

    /// Where a result stands.
    pub(super) fn stand(&self, m: usize) -> Stand {
        self.bank.stand(m, self.offset)
    }

    /// Results from the first one whose samples all lie in a channel of `samples`, up to the first one that has some behind
    /// it; not before the former.
    pub(super) fn inside(&self, samples: usize) -> (usize, usize) {
        let count = self.count(samples);
        let first = self.bank.first_at(self.bank.longest() - 1, self.offset).min(count);
        (first, self.bank.first_at(samples, self.offset).clamp(first, count))
    }
}

impl Problem for Polyphase {
    fn operation(&self) -> &'static str {
        self.operation
    }

    fn class(&self) -> String {
        let near = |rate: usize| if rate <= 16 { rate } else { rate.next_power_of_two() };
        let level = if self.padtype.is_level() { "-level" } else { "" };
        let Bank { up, down, len, .. } = *self.bank;
        format!("up{}-down{}-taps{}{level}", near(up), near(down), len.next_power_of_two())
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 && shape.channels > 0 {
            return Err(Error::shape(format!(
                "a channel without samples cannot be resampled by {}; pass at least one sample",
                self.operation
            )));
        }
        let results = self.count(shape.samples);
        match results.checked_mul(shape.channels).filter(|n| *n <= isize::MAX as usize / 8) {
            Some(_) => Ok(()),
            None => Err(Error::shape(format!(
                "{} samples at {}/{} of their rate are more than fit in memory; use a lower rate",
                shape.samples, self.bank.up, self.bank.down
            ))),
        }
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.count(input.samples), ..input }
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        // What a level adds is no larger than the input.
        let level = if self.padtype.is_level() { 1.0 } else { 0.0 };
        Tolerance { relative: 1e-6, gain: self.bank.magnitude() + level, ..Default::default() }
    }

    /// On the CPU every result adds the same products in the same order, however rows are cut.
    fn rounding(&self, variant: &Variant) -> String {
        match variant.method {
            "tile" => format!("tile R={} K={}", variant.get("R"), variant.get("K")),
            "phases" => "phases".into(),
            _ => "lanes".into(),
        }
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self, shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        gpu::variants(self, facts)
    }

    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        gpu::refusal(self, facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(self, gpu, variant, x, y)
    }
}
