//! Spectra of frames on devices: made and laid as lines of one frequency in one kernel where work-group memory holds a frame
//! (see the module `frames::fused`), else batches of them in scratch (see the module `frames::gpu`), turned by
//! `spectral/turn.wgsl`.

use super::problem::{Kept, Local};
use crate::error::Result;
use crate::ops::launch::word;
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::only;
use crate::ops::spectral::frames::fused::{self, Fused};
use crate::ops::spectral::frames::gpu::{self as frames, Spectra, Weights, each};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu, Slice};

/// Variants, the default first: those in one kernel, then those of the transform.
pub(super) fn variants(local: &Local, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let Ok(g) = local.segments.geometry(shape.samples) else { return Vec::new() };
    frames::after(fused::keeping(&g, facts), g, facts, shape)
}

/// Records all channels.
pub(super) fn record(
    local: &Local,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let operation = if local.kept == Kept::Complex { "stft" } else { "spectrogram" };
    let (from, to) = (only(operation, x)?, only(operation, y)?);
    let g = local.segments.geometry(x.samples())?;
    let table = local.segments.table(g.nperseg)?;
    let factor = local.segments.factor(&table)?;
    let kept = match local.kept {
        Kept::Complex => 0,
        Kept::Power => 1,
        Kept::Magnitude => 2,
    };
    if variant.method == fused::METHOD {
        return Ok(vec![Fused::new(gpu, variant, (from, 1), g, &table, factor)?.lines(kept, local.width(), &to)?]);
    }
    let mut spectra = Spectra::new(gpu, variant, (from, 1), g, Weights::window(gpu, &table, factor)?, false)?;
    let bins = g.bins();
    let mut commands = Vec::new();
    for batch in spectra.batches() {
        commands.extend(spectra.record(&batch)?);
        let args = [
            word(batch.channels)?,
            word(batch.frames)?,
            word(bins)?,
            word(batch.channel)?,
            word(batch.frame)?,
            word(g.frames)?,
            word(to.pitch / local.width())?,
            word(bins * g.frames)?,
            word(g.nfft)?,
            0,
            0,
            0,
        ];
        let buffers: [Slice; 2] = [spectra.spectra(), to.slice.clone()];
        let threads = batch.channels * batch.frames * bins.div_ceil(frames::TURNED);
        commands.push(each(gpu, "spectral/turn", &[("KEPT", kept)], &args, &buffers, threads)?);
    }
    Ok(commands)
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
