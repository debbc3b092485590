//! The inverse on devices: lines of one frequency turned into frames (`spectral/turn.wgsl`), transformed, and added up where
//! they overlap (`spectral/overlap.wgsl`), a batch of frames at a time in scratch that stays in the caches.
//!
//! Sums of a channel that has more frames than a batch go on in the result; the last frame of a sample divides by its
//! norm.

use super::LEAST_NORM;
use super::problem::Inverse;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{constant, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::Norm;
use crate::ops::spectral::fft::gpu::{self as fft, Rows, only};
use crate::ops::spectral::fft::{Kind, Transform};
use crate::ops::spectral::frames::filled;
use crate::ops::spectral::frames::gpu::{self as frames, Batch, batches, each};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Variants, the default first: those of the transform.
pub(super) fn variants(p: &Inverse, facts: &Facts, shape: Shape) -> Vec<Variant> {
    fft::variants(&transform(p), facts, Shape { samples: 2 * taken(p), ..shape })
}

fn transform(p: &Inverse) -> Transform {
    Transform { kind: Kind::Irfft, n: Some(p.nfft), norm: Norm::Backward }
}

/// Frequencies that the transform takes.
fn taken(p: &Inverse) -> usize {
    p.bins.min(p.nfft / 2 + 1)
}

/// Records all channels.
pub(super) fn record(
    p: &Inverse,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let (from, to) = (only("istft", x)?, only("istft", y)?);
    let bins = taken(p);
    let row = (8 * bins).max(4 * p.nfft.next_multiple_of(2)) as u64;
    let room = fft::room(&gpu.facts().limits);
    if row > room {
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "a frame of {} points takes {row} bytes in one binding, {} allows {room}; use the cpu runtime",
                p.nfft,
                gpu.facts().name
            ),
        ));
    }
    let all = p.frames(x.samples());
    let fitting = usize::try_from(frames::batch_bytes(gpu.facts()) / row).unwrap_or(usize::MAX);
    let at_once = fitting.clamp(1, from.count.saturating_mul(all));
    let inverse = Adder {
        gpu,
        p,
        all,
        spectra: gpu.allocate(at_once as u64 * 8 * bins as u64)?,
        frames: gpu.allocate(at_once as u64 * 4 * p.nfft.next_multiple_of(2) as u64)?,
        weights: frames::weights(gpu, &p.table, p.factor())?,
        norms: constant(gpu, &norms(p, all)?)?,
        from,
        to,
    };
    let (mut commands, mut space) = (Vec::new(), Vec::new());
    for batch in batches(x.channels(), all, at_once) {
        commands.push(inverse.turn(&batch)?);
        let rows = |buffer, samples, pitch| Rows {
            slice: Slice::from(buffer),
            count: batch.channels * batch.frames,
            samples,
            pitch,
        };
        let from = rows(&inverse.spectra, 2 * bins, 2 * bins);
        let to = rows(&inverse.frames, p.nfft, p.nfft.next_multiple_of(2));
        commands.extend(fft::rows_within(&transform(p), gpu, variant, &from, &to, &mut space)?);
        commands.extend(inverse.add(&batch)?);
    }
    Ok(commands)
}

/// What sums are multiplied by: where frames are missing before, by their place in a step, and where they are missing
/// behind; little-endian floats.
fn norms(p: &Inverse, frames: usize) -> Result<Vec<u8>> {
    let (nperseg, step) = (p.nperseg(), p.step);
    let square = |i: usize| p.table.weight(i) * p.table.weight(i);
    // Squares of a weight and of those whole steps before, or behind it.
    let (mut before, mut behind) = (filled(nperseg, 0.0)?, filled(nperseg, 0.0)?);
    for i in 0..nperseg {
        before[i] = square(i) + if i >= step { before[i - step] } else { 0.0 };
        let k = nperseg - 1 - i;
        behind[k] = square(k) + behind.get(k + step).copied().unwrap_or(0.0);
    }
    // A channel of few frames may lack those on both sides.
    let few = frames * step < nperseg;
    let head = (0..nperseg).map(|at| if few { p.norm(at, frames) } else { before[at] });
    let steady = (0..step).map(|i| before[i + (nperseg - 1 - i) / step * step]);
    let inverse = head.chain(steady).chain((step..nperseg).map(|i| behind[i]));
    let inverse = inverse.map(|norm| if norm > LEAST_NORM { 1.0 / norm } else { 1.0 });
    let mut bytes: Vec<u8> = inverse.flat_map(|v| (v as f32).to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    Ok(bytes)
}

/// What is recorded beside the transforms.
struct Adder<'a> {
    gpu: &'a dyn Gpu,
    p: &'a Inverse,
    /// Frames of a channel.
    all: usize,
    spectra: DeviceBuffer,
    frames: DeviceBuffer,
    weights: Slice,
    norms: Slice,
    from: Rows,
    to: Rows,
}

impl Adder<'_> {
    /// Brings the frames of a batch from the lines of the input.
    fn turn(&self, batch: &Batch) -> Result<Command> {
        let bins = taken(self.p);
        let args = [
            word(batch.channels)?,
            word(batch.frames)?,
            word(bins)?,
            word(batch.channel)?,
            word(batch.frame)?,
            word(self.all)?,
            word(self.from.pitch / 2)?,
            word(self.from.samples / 2)?,
            word(self.p.nfft)?,
            0,
            0,
            0,
        ];
        let buffers = [self.from.slice.clone(), Slice::from(&self.spectra)];
        let threads = batch.channels * batch.frames * bins.div_ceil(frames::TURNED);
        each(self.gpu, "spectral/turn", &[("KEPT", 3)], &args, &buffers, threads)
    }

    /// Adds the frames of a batch to the result, if any of their samples is kept.
    fn add(&self, batch: &Batch) -> Result<Option<Command>> {
        let (p, length) = (self.p, self.to.samples);
        let last = batch.frame + batch.frames == self.all;
        let reach = (batch.frame + batch.frames - 1) * p.step + p.nperseg();
        let first = (batch.frame * p.step).saturating_sub(p.crop()).min(length);
        let end = if last { self.to.pitch } else { reach.saturating_sub(p.crop()).min(length) };
        if end <= first {
            return Ok(None);
        }
        let args = [
            word(batch.channels)?,
            word(batch.frames)?,
            word(batch.channel)?,
            word(batch.frame)?,
            word(self.all)?,
            word(p.nfft.next_multiple_of(2))?,
            word(p.nperseg())?,
            word(p.step)?,
            word(first)?,
            word(end - first)?,
            word(p.crop())?,
            word(length)?,
            word(self.to.pitch)?,
            (p.factor() as f32).to_bits(),
            1f32.to_bits(),
            0,
        ];
        let settings = [("WEIGHTED", u32::from(!p.table.weights.is_empty()))];
        let buffers = [Slice::from(&self.frames), self.weights.clone(), self.norms.clone(), self.to.slice.clone()];
        each(self.gpu, "spectral/overlap", &settings, &args, &buffers, batch.channels * (end - first)).map(Some)
    }
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
