//! Averages over frames on devices: spectra of a batch of frames in scratch (see the module `frames::gpu`), summed by
//! `spectral/average.wgsl` or searched by `spectral/median.wgsl`, and finished by `spectral/finish.wgsl`.
//!
//! How a channel is cut into parts of frames depends on its length alone, sums of a part go on from batch to batch, and all
//! keep their rounding errors. Transforms are float32, those of pairs, too: what two signals share is exact to the
//! rounding of either, not to that of what they share, which the CPU's float64 transforms keep.

use super::median_bias;
use super::problem::{Average, Averaged, Kind};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, is_software, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::{Rows, only};
use crate::ops::spectral::frames::Geometry;
use crate::ops::spectral::frames::gpu::{self as frames, Batch, Spectra, each};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Frames of a part, at least.
const PART: usize = 64;
/// Parts of a channel, at most.
const MAX_PARTS: usize = 64;
/// Passes of the search for a median, the last look included.
const PASSES: usize = 17;

/// Variants, the default first: those of the transform.
pub(super) fn variants(p: &Averaged, facts: &Facts, shape: Shape) -> Vec<Variant> {
    p.geometry(shape.samples).map_or_else(|_| Vec::new(), |g| frames::variants(g, facts, shape))
}

/// Records all channels.
pub(super) fn record(
    p: &Averaged,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let (from, to) = (only(p.kind.name(), x)?, only(p.kind.name(), y)?);
    let g = p.geometry(x.samples())?;
    let table = p.segments.table(g.nperseg)?;
    let factor = p.segments.factor(&table)?;
    let signals = if p.kind.paired() { 2 } else { 1 };
    let median = p.average == Average::Median;
    let mut spectra = Spectra::new(gpu, variant, (from, signals), g, (&table, factor), median)?;
    let all = spectra.batches();
    let part = if median { g.frames } else { PART.max(g.frames.div_ceil(MAX_PARTS)) };
    let kind = match p.kind {
        Kind::Welch | Kind::Periodogram => 0,
        Kind::Csd => 1,
        Kind::Coherence => 2,
    };
    let most = all.iter().map(|batch| batch.channels).max().unwrap_or(0);
    let parts = g.frames.div_ceil(part);
    let sums = gpu.allocate((most * parts * g.bins() * (4 << kind)) as u64)?;
    let averages = Averages { gpu, kind, signals, g, part, parts, spectra: spectra.spectra(), sums, to };
    let mut commands = Vec::new();
    for batch in &all {
        commands.extend(spectra.record(batch)?);
        match p.average {
            Average::Mean => commands.push(averages.add(batch)?),
            Average::Median => averages.median(batch, &mut commands)?,
        }
        if batch.frame + batch.frames == g.frames {
            commands.push(averages.finish(batch, if median { median_bias(g.frames) } else { g.frames as f64 })?);
        }
    }
    Ok(commands)
}

/// What is recorded after the transforms.
struct Averages<'a> {
    gpu: &'a dyn Gpu,
    /// `KIND` of the kernels.
    kind: u32,
    /// Of a row.
    signals: usize,
    g: Geometry,
    /// Frames of a part.
    part: usize,
    /// Of a channel.
    parts: usize,
    spectra: Slice,
    sums: DeviceBuffer,
    to: Rows,
}

impl Averages<'_> {
    /// Adds the frames of a batch to their parts.
    fn add(&self, batch: &Batch) -> Result<Command> {
        let bins = self.g.bins();
        let first = batch.frame / self.part;
        let parts = (batch.frame + batch.frames).div_ceil(self.part) - first;
        let args = [
            word(batch.channels)?,
            word(self.signals)?,
            word(batch.frames)?,
            word(bins)?,
            word(batch.frame)?,
            word(first)?,
            word(parts)?,
            word(self.parts)?,
            word(self.part)?,
            1f32.to_bits(),
            0,
            0,
        ];
        let buffers = [self.spectra.clone(), Slice::from(&self.sums)];
        let threads = batch.channels * parts * bins;
        each(self.gpu, "spectral/average", &[("KIND", self.kind)], &args, &buffers, threads)
    }

    /// Searches the medians of a batch, in as many launches as the loops of a device allow.
    fn median(&self, batch: &Batch, commands: &mut Vec<Command>) -> Result<()> {
        let (frames, bins) = (self.g.frames, self.g.bins());
        let at_once = match is_software(self.gpu.facts()) {
            true => (SOFTWARE_ROUNDS as usize - PASSES) / frames,
            false => (LONGEST / frames).max(1),
        };
        if at_once == 0 {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "medians of {frames} frames are more than {} counts in one launch; use the cpu runtime or longer frames",
                    self.gpu.facts().name
                ),
            ));
        }
        for first in (0..PASSES).step_by(at_once) {
            let args = [
                word(batch.channels)?,
                word(self.signals)?,
                word(frames)?,
                word(bins)?,
                word(first)?,
                word(at_once.min(PASSES - first))?,
                f32::INFINITY.to_bits(),
                0,
            ];
            let buffers = [self.spectra.clone(), Slice::from(&self.sums)];
            let threads = batch.channels * bins;
            commands.push(each(self.gpu, "spectral/median", &[("KIND", self.kind)], &args, &buffers, threads)?);
        }
        Ok(())
    }

    /// Writes the rows of the result: sums divided by `over`.
    fn finish(&self, batch: &Batch, over: f64) -> Result<Command> {
        let pitch = if self.kind == 1 { self.to.pitch / 2 } else { self.to.pitch };
        let args = [
            word(batch.channels)?,
            word(self.parts)?,
            word(self.g.bins())?,
            word(batch.channel)?,
            word(pitch)?,
            word(self.g.nfft)?,
            ((1.0 / over) as f32).to_bits(),
            1f32.to_bits(),
        ];
        let buffers = [Slice::from(&self.sums), self.to.slice.clone()];
        each(self.gpu, "spectral/finish", &[("KIND", self.kind)], &args, &buffers, batch.channels * pitch)
    }
}

/// Rounds of a thread after which a launch ends on devices that have other work to do.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
