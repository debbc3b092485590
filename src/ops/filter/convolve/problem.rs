//! The convolution as one problem: what the tuner, the tests and every runtime see.

use super::blocks::Part;
use super::spectra::Kept;
use super::{Mode, cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// One response, or one for each channel; all of one length, none empty, all finite.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Taps {
    rows: Vec<Vec<f64>>,
    /// Whether the rows are those of the channels.
    each: bool,
}

impl Taps {
    pub fn one(taps: &[f64]) -> Result<Self> {
        check(taps).map_err(|e| Error::invalid(format!("{e}; pass the impulse response")))?;
        Ok(Taps { rows: vec![taps.to_vec()], each: false })
    }

    pub fn each(rows: Vec<Vec<f64>>) -> Result<Self> {
        let Some(first) = rows.first() else {
            return Err(Error::invalid("there are no responses; pass one for each channel"));
        };
        for (channel, row) in rows.iter().enumerate() {
            if row.len() != first.len() {
                return Err(Error::shape(format!(
                    "the response of channel {channel} has {} taps, that of channel 0 has {}; pad the shorter ones with zeros",
                    row.len(),
                    first.len()
                )));
            }
            check(row).map_err(|e| Error::invalid(format!("the response of channel {channel}: {e}")))?;
        }
        Ok(Taps { rows, each: true })
    }

    /// How many taps a response has.
    pub fn len(&self) -> usize {
        self.rows[0].len()
    }

    /// The row that holds the response of a channel.
    pub fn row(&self, channel: usize) -> usize {
        if self.each { channel } else { 0 }
    }

    /// The response of a channel.
    pub fn of(&self, channel: usize) -> &[f64] {
        &self.rows[self.row(channel)]
    }

    /// The response of all channels, if they have one.
    pub fn shared(&self) -> Option<&[f64]> {
        (!self.each).then(|| &self.rows[0][..])
    }
}

fn check(taps: &[f64]) -> std::result::Result<(), String> {
    if taps.is_empty() {
        return Err("a convolution needs at least one tap, got none".into());
    }
    match taps.iter().position(|t| !(*t as f32).is_finite()) {
        Some(k) => Err(format!("tap {k} is {}, every tap must be finite in float32", taps[k])),
        None => Ok(()),
    }
}

/// Every channel convolved.
#[derive(Debug)]
pub(crate) struct Convolution {
    pub taps: Taps,
    pub mode: Mode,
    pub spectra: Kept,
}

impl Convolution {
    pub fn new(taps: Taps, mode: Mode) -> Self {
        Convolution { taps, mode, spectra: Kept::default() }
    }

    /// Which results are kept of channels of so many samples.
    pub fn part(&self, samples: usize) -> Part {
        Part::of(self.mode, samples, self.taps.len())
    }
}

impl Problem for Convolution {
    fn operation(&self) -> &'static str {
        "fftconvolve"
    }

    fn class(&self) -> String {
        let each = if self.taps.each { "-each" } else { "" };
        format!("{}-taps{}{each}", self.mode.name(), self.taps.len().next_power_of_two())
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if self.taps.each && self.taps.rows.len() != shape.channels {
            return Err(Error::shape(format!(
                "there are responses for {} channels, the input has {}; pass one response for all, or one for each channel",
                self.taps.rows.len(),
                shape.channels
            )));
        }
        Ok(())
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: self.part(input.samples).count, ..input }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn of_channels(&self, first: usize, count: usize) -> Option<Box<dyn Problem>> {
        if !self.taps.each {
            return None;
        }
        let rows = self.taps.rows.iter().skip(first).take(count).cloned().collect();
        Some(Box::new(Convolution::new(Taps { rows, each: true }, self.mode)))
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        let part = self.part(x.samples());
        Ok((0..x.channels()).flat_map(|c| reference::run(self.taps.of(c), x, c, part)).collect())
    }

    fn reference_of(&self, x: Source<'_>, channel: usize) -> Result<Vec<f64>> {
        Ok(reference::run(self.taps.of(channel), x, 0, self.part(x.samples())))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        // Of several responses the one that amplifies most counts.
        let sum = |row: &Vec<f64>| row.iter().map(|t| t.abs()).sum::<f64>();
        let gain = self.taps.rows.iter().map(sum).fold(0.0, f64::max);
        Tolerance { relative: 1e-6, gain, ..Default::default() }
    }

    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        cpu::tiles(variant, self.taps.len())
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self, shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self, variant, x, y)
    }

    fn work_space(&self, shape: Shape) -> usize {
        cpu::work_space(self, shape)
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
