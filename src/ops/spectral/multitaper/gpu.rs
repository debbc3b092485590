//! Multitaper spectra on devices: frames have a row, and a spectrum, for each taper (see the module `frames::gpu`).
//!
//! Fixed weights are part of the tapers, so that the estimate is the sum of all powers, which is averaged like frames
//! (`frames::averages`). By the adaptive rule `spectral/adapt.wgsl` makes one power of those of a frame's tapers first, from
//! them and the frame's variance (`spectral/variance.wgsl`).

use super::problem::Tapered;
use super::tapers::{STEPS, Tapers};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, constant, is_software, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::only;
use crate::ops::spectral::frames::averages::{Averages, Term, part};
use crate::ops::spectral::frames::gpu::{self as frames, Batch, Spectra, Weights, each};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Variants, the default first: those of the transform.
pub(super) fn variants(p: &Tapered, facts: &Facts, shape: Shape) -> Vec<Variant> {
    p.geometry(shape.samples).map_or_else(|_| Vec::new(), |g| frames::variants(g, facts, shape))
}

/// Records all channels.
pub(super) fn record(
    p: &Tapered,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let (from, to) = (only("multitaper", x)?, only("multitaper", y)?);
    let g = p.geometry(x.samples())?;
    let tapers = p.tapers(g.nperseg)?;
    let weights = Weights::tapers(gpu, &tapers.values, &tapers.factors())?;
    let mut spectra = Spectra::new(gpu, variant, (from, 1), g, weights, false)?;
    let all = spectra.batches();
    let most = all.iter().map(|batch| batch.channels * batch.frames).max().unwrap_or(0);
    let adaptive = tapers.adaptive().then(|| Adaptive::new(gpu, &tapers, &spectra, most, g.bins())).transpose()?;
    // Powers of tapers are added up like those of frames.
    let rows = if adaptive.is_some() { 1 } else { tapers.values.len() };
    let parts = g.frames.div_ceil(part(g.frames));
    let most = all.iter().map(|batch| batch.channels).max().unwrap_or(0);
    let averages = Averages {
        gpu,
        term: Term::Power,
        ready: adaptive.is_some(),
        signals: 1,
        bins: g.bins(),
        nfft: g.nfft,
        part: rows * part(g.frames),
        parts,
        from: adaptive.as_ref().map_or(spectra.spectra(), |a| Slice::from(&a.estimates)),
        sums: gpu.allocate((most * Averages::bytes(Term::Power, parts, g.bins())) as u64)?,
        to,
    };
    let mut commands = Vec::new();
    for batch in &all {
        commands.extend(spectra.record(batch)?);
        if let Some(adaptive) = &adaptive {
            commands.extend(adaptive.record(&spectra, batch)?);
        }
        commands.push(averages.add(&Batch { frame: rows * batch.frame, frames: rows * batch.frames, ..*batch })?);
        if batch.frame + batch.frames == g.frames {
            commands.push(averages.finish(batch, g.frames as f64)?);
        }
    }
    Ok(commands)
}

/// What the adaptive rule needs.
struct Adaptive<'a> {
    gpu: &'a dyn Gpu,
    bins: usize,
    tapers: usize,
    /// What power and variance are multiplied by.
    unit: f64,
    /// Share within the band, share outside of it and norm of each taper.
    table: Slice,
    variances: DeviceBuffer,
    estimates: DeviceBuffer,
}

impl<'a> Adaptive<'a> {
    /// For batches of at most so many frames of all their channels.
    fn new(gpu: &'a dyn Gpu, tapers: &Tapers, spectra: &Spectra<'_>, frames: usize, bins: usize) -> Result<Self> {
        let rounds = STEPS * tapers.values.len() + spectra.variance_parts();
        if is_software(gpu.facts()) && rounds as u64 > SOFTWARE_ROUNDS {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "adaptive weights of {} tapers are more than {} counts in one launch; use the cpu runtime or fewer tapers",
                    tapers.values.len(),
                    gpu.facts().name
                ),
            ));
        }
        let bytes: Vec<u8> = tapers.shares().iter().flatten().flat_map(|v| (*v as f32).to_le_bytes()).collect();
        Ok(Adaptive {
            bins,
            tapers: tapers.values.len(),
            unit: tapers.unit(),
            table: constant(gpu, &bytes)?,
            variances: gpu.allocate((4 * frames * spectra.variance_parts()) as u64)?,
            estimates: gpu.allocate((4 * frames * bins) as u64)?,
            gpu,
        })
    }

    /// Makes one power of those of the tapers, for all frames of a batch.
    fn record(&self, spectra: &Spectra<'_>, batch: &Batch) -> Result<[Command; 2]> {
        let rows = batch.channels * batch.frames;
        let parts = spectra.variance_parts();
        let args = [word(rows)?, word(self.bins)?, word(self.tapers)?, word(parts)?, word(STEPS)?, 0, 0, 0];
        let buffers =
            [spectra.spectra(), Slice::from(&self.variances), self.table.clone(), Slice::from(&self.estimates)];
        Ok([
            spectra.variances(batch, self.unit, &self.variances)?,
            each(self.gpu, "spectral/adapt", &[], &args, &buffers, rows * self.bins)?,
        ])
    }
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
