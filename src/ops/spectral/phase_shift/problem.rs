//! Delays as one problem, and the roots of unity that make them.

use std::f64::consts::TAU;

use num_complex::Complex;

use super::{Shifts, between, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::convenient;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Every channel delayed.
#[derive(Debug, Clone)]
pub(crate) struct Shifted {
    shifts: Shifts,
    /// Zeros follow a channel: as many as the largest delay of all takes.
    reach: Option<f64>,
}

/// Roots of unity by bin, as products: `low[k % low.len()] * high[k / low.len()]`.
pub(super) struct Roots {
    pub low: Vec<Complex<f64>>,
    pub high: Vec<Complex<f64>>,
}

impl Roots {
    /// Bits of a bin that index the lower part.
    pub fn low_bits(bins: usize) -> u32 {
        bins.next_power_of_two().trailing_zeros().div_ceil(2)
    }

    /// `exp(-2 pi i k shift / n)` for `k` below `bins`.
    fn new(n: usize, bins: usize, shift: f64) -> Roots {
        let low = 1usize << Self::low_bits(bins);
        // Whole turns of every bin do not count.
        let turns = (shift % n as f64) / n as f64;
        let root = |k: usize| Complex::from_polar(1.0, -TAU * (k as f64 * turns).fract());
        Roots { low: (0..low).map(root).collect(), high: (0..bins.div_ceil(low)).map(|k| root(k * low)).collect() }
    }
}

impl Shifted {
    pub fn new(shifts: Shifts, padded: bool) -> Result<Self> {
        let all = match &shifts {
            Shifts::One(shift) => std::slice::from_ref(shift),
            Shifts::PerChannel(shifts) => shifts,
        };
        if let Some(at) = all.iter().position(|s| !s.is_finite()) {
            return Err(Error::invalid(format!("shifts[{at}] is {}; pass finite numbers of samples", all[at])));
        }
        let reach = padded.then(|| all.iter().fold(0f64, |reach, s| reach.max(s.abs())));
        Ok(Shifted { shifts, reach })
    }

    /// Points of the transforms of channels of `samples`.
    pub fn points(&self, samples: usize) -> usize {
        match self.reach {
            None => samples,
            Some(reach) => convenient(samples.saturating_add(reach.ceil().min(samples as f64) as usize)),
        }
    }

    /// The delay of a channel of `samples`.
    pub fn shift(&self, channel: usize, samples: usize) -> f64 {
        let shift = match &self.shifts {
            Shifts::One(shift) => *shift,
            Shifts::PerChannel(shifts) => shifts.get(channel).copied().unwrap_or(0.0),
        };
        if self.reach.is_some() { shift.clamp(-(samples as f64), samples as f64) } else { shift }
    }

    /// Whether every channel has the same delay.
    #[cfg(feature = "gpu")]
    pub fn is_one(&self) -> bool {
        matches!(self.shifts, Shifts::One(_))
    }

    /// What the spectrum of a channel of `samples` is multiplied by.
    pub(super) fn roots(&self, channel: usize, samples: usize) -> Roots {
        let n = self.points(samples);
        Roots::new(n, n / 2 + 1, self.shift(channel, samples))
    }
}

impl Problem for Shifted {
    fn operation(&self) -> &'static str {
        "phase_shift"
    }

    fn class(&self) -> String {
        if self.reach.is_some() { "padded" } else { "whole" }.into()
    }

    fn check(&self, shape: Shape) -> Result<()> {
        match &self.shifts {
            Shifts::PerChannel(shifts) if shifts.len() != shape.channels => Err(Error::shape(format!(
                "shifts has {} values for {} channels; give one number, or one for each channel",
                shifts.len(),
                shape.channels
            ))),
            _ => Ok(()),
        }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn of_channels(&self, first: usize, count: usize) -> Option<Box<dyn Problem>> {
        let Shifts::PerChannel(shifts) = &self.shifts else { return None };
        let some = shifts.iter().skip(first).take(count).copied().collect();
        Some(Box::new(Shifted { shifts: Shifts::PerChannel(some), reach: self.reach }))
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok((0..x.channels()).flat_map(|c| reference::run(self, x.channel_range(c, 1), c)).collect())
    }

    fn reference_of(&self, x: Source<'_>, channel: usize) -> Result<Vec<f64>> {
        Ok(reference::run(self, x, channel))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        // What is moved out of a channel by padding leaves less than came in.
        let gain = if self.reach.is_some() { 1.0 } else { 0.0 };
        Tolerance { relative: 1e-6, gain, float64_tight: false, distance: Distance::Norm, ..Default::default() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("rows", &[])]
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        debug_assert_eq!(variant.method, "rows");
        let samples = x.samples();
        let n = self.points(samples);
        let scale = 1.0 / n as f64;
        between::cpu::Pair::kept(n, n).rows(
            x,
            y,
            |channel, spectrum| {
                let roots = self.roots(channel, samples);
                for (z, high) in spectrum.chunks_mut(roots.low.len()).zip(&roots.high) {
                    for (z, low) in z.iter_mut().zip(&roots.low) {
                        let root = low * high * scale;
                        *z *= Complex::new(root.re as f32, root.im as f32);
                    }
                }
            },
            |_, row, out| out.copy_from_slice(&row[..samples]),
        )
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        let n = self.points(shape.samples);
        between::gpu::variants(facts, shape.samples, n, n)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        super::gpu::record(self, gpu, variant, x, y)
    }
}
