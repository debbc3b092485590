//! Averages over frames on devices: summed where the spectra are made if work-group memory holds a frame (see the module
//! `frames::fused`); else, and for medians, from spectra of a batch of frames in scratch (see the module `frames::gpu`),
//! summed (see `frames::averages`) or searched by `spectral/median.wgsl`.
//!
//! Transforms are float32, those of pairs, too: what two signals share is exact to the rounding of either, not to that of
//! what they share, which the CPU's float64 transforms keep.

use super::median_bias;
use super::problem::{Average, Averaged, Kind};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, is_software, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::{Rows, only};
use crate::ops::spectral::frames::Geometry;
use crate::ops::spectral::frames::averages::{Averages, Term, part};
use crate::ops::spectral::frames::fused::{self, Fused};
use crate::ops::spectral::frames::gpu::{self as frames, Batch, Spectra, Weights, each};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu, Slice};

/// Passes of the search for a median, the last look included.
const PASSES: usize = 17;

/// Variants, the default first: of means those in one kernel, then those of the transform.
pub(super) fn variants(p: &Averaged, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let Ok(g) = p.geometry(shape.samples) else { return Vec::new() };
    let fewer = match p.average {
        Average::Mean => fused::averaging(&g, signals(p), facts),
        Average::Median => Vec::new(),
    };
    frames::after(fewer, g, facts, shape)
}

/// Of a row.
fn signals(p: &Averaged) -> usize {
    if p.kind.paired() { 2 } else { 1 }
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
    let signals = signals(p);
    let median = p.average == Average::Median;
    let term = match p.kind {
        Kind::Welch | Kind::Periodogram => Term::Power,
        Kind::Csd => Term::Cross,
        Kind::Coherence => Term::Both,
    };
    if variant.method == fused::METHOD {
        return summed(&Fused::new(gpu, variant, (from, signals), g, &table, factor)?, (gpu, term, signals), &g, to);
    }
    let weights = Weights::window(gpu, &table, factor)?;
    let mut spectra = Spectra::new(gpu, variant, (from, signals), g, weights, median)?;
    let all = spectra.batches();
    let most = all.iter().map(|batch| batch.channels).max().unwrap_or(0);
    let part = if median { g.frames } else { part(g.frames) };
    let (parts, bins) = (g.frames.div_ceil(part), g.bins());
    let sums = gpu.allocate((most * Averages::bytes(term, parts, bins)) as u64)?;
    let from = spectra.spectra();
    let averages = Averages { gpu, term, ready: false, signals, bins, nfft: g.nfft, part, parts, from, sums, to };
    let mut commands = Vec::new();
    for batch in &all {
        commands.extend(spectra.record(batch)?);
        match p.average {
            Average::Mean => commands.push(averages.add(batch)?),
            Average::Median => search(&averages, batch, g.frames, &mut commands)?,
        }
        if batch.frame + batch.frames == g.frames {
            commands.push(averages.finish(batch, if median { median_bias(g.frames) } else { g.frames as f64 })?);
        }
    }
    Ok(commands)
}

/// Records sums of all channels and what becomes of them.
fn summed(
    fused: &Fused<'_>,
    (gpu, term, signals): (&dyn Gpu, Term, usize),
    g: &Geometry,
    to: Rows,
) -> Result<Vec<Command>> {
    let (part, parts, bins) = (fused.part, fused.parts(), g.bins());
    let row = Averages::bytes(term, parts, bins);
    let all = fused.batches(row);
    let most = all.iter().map(|batch| batch.channels).max().unwrap_or(0);
    let sums = gpu.allocate((most * row) as u64)?;
    let from = Slice::from(&sums);
    let averages = Averages { gpu, term, ready: true, signals, bins, nfft: g.nfft, part, parts, from, sums, to };
    let mut commands = Vec::new();
    for batch in &all {
        commands.push(fused.add(batch, term, &averages.sums)?);
        commands.push(averages.finish(batch, g.frames as f64)?);
    }
    Ok(commands)
}

/// Searches the medians of a batch, in as many launches as the loops of a device allow.
fn search(averages: &Averages<'_>, batch: &Batch, frames: usize, commands: &mut Vec<Command>) -> Result<()> {
    let Averages { gpu, bins, .. } = *averages;
    let at_once = match is_software(gpu.facts()) {
        true => (SOFTWARE_ROUNDS as usize - PASSES) / frames,
        false => (LONGEST / frames).max(1),
    };
    if at_once == 0 {
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "medians of {frames} frames are more than {} counts in one launch; use the cpu runtime or longer frames",
                gpu.facts().name
            ),
        ));
    }
    for first in (0..PASSES).step_by(at_once) {
        let args = [
            word(batch.channels)?,
            word(averages.signals)?,
            word(frames)?,
            word(bins)?,
            word(first)?,
            word(at_once.min(PASSES - first))?,
            f32::INFINITY.to_bits(),
            0,
        ];
        let buffers = [averages.from.clone(), Slice::from(&averages.sums)];
        let (settings, threads) = ([("KIND", averages.term as u32)], batch.channels * bins);
        commands.push(each(gpu, "spectral/median", &settings, &args, &buffers, threads)?);
    }
    Ok(())
}

/// Rounds of a thread after which a launch ends on devices that have other work to do.
const LONGEST: usize = 1 << 20;

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
