//! Convolution on devices by transforms of blocks, overlap-save: rows of blocks are gathered, transformed, multiplied by
//! the spectra of their responses, transformed back and put where they belong, some rows at a time, so that the work space
//! stays bounded. What is not finite needs no care on the way (see `filter/overlap_store.wgsl`).

use super::gpu::only;
use super::problem::Convolution;
use crate::error::Result;
use crate::ops::launch::{SOFTWARE_ROUNDS, all, compose_plain, constant, is_software, launch, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::{self as fft, Rows, room};
use crate::ops::spectral::fft::{Kind, Norm, Transform};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu, Slice};
use crate::signal::pitch;

/// From so many taps on transforms are tried.
const SOME_TAPS: usize = 64;
/// And from so many on they are the better guess.
const MANY_TAPS: usize = 256;
/// Shortest transform that is worth its launches.
const SHORTEST: usize = 2048;
/// Bytes of the spectra of the blocks at once.
const SCRATCH_BYTES: u64 = 64 << 20;
/// The same on software devices, whose caches are smaller.
const SOFTWARE_SCRATCH_BYTES: u64 = 4 << 20;
/// Values of a row that a work group takes.
const GROUP: usize = 256;

/// Variants by transforms, and whether they are a better guess than direct sums.
pub(super) fn variants(c: &Convolution, facts: &Facts, shape: Shape) -> (Vec<Variant>, bool) {
    let taps = c.taps.len();
    // What is not finite is summed up by one thread for each result.
    if !(SOME_TAPS..SOFTWARE_ROUNDS as usize).contains(&taps) || shape.samples == 0 {
        return (Vec::new(), false);
    }
    let shortest = (4 * taps).next_power_of_two().max(SHORTEST);
    let whole = (c.part(shape.samples).count + taps - 1).next_power_of_two().max(SHORTEST);
    let mut all = Vec::new();
    for points in [shortest.min(whole), (4 * shortest).min(whole)] {
        let of = |kind, samples| {
            let t = Transform { kind, n: Some(points), norm: Norm::Backward };
            fft::variants(&t, facts, Shape { channels: 1, samples })
        };
        let back = of(Kind::Irfft, points + 2);
        let both = of(Kind::Rfft, points).into_iter().filter(|v| back.iter().any(|b| b.settings == v.settings));
        for variant in both.take(2) {
            let mut settings = variant.settings.clone();
            settings.insert("points", points as u32);
            let name = format!("transforms points={points} {}", variant.name);
            if all.iter().all(|v: &Variant| v.name != name) {
                all.push(Variant { name, method: "transforms", settings });
            }
        }
    }
    (all, taps >= MANY_TAPS)
}

/// Records all channels.
pub(super) fn record(
    c: &Convolution,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let (from, to) = (only(x)?, only(y)?);
    let (taps, part) = (c.taps.len(), c.part(x.samples()));
    let points = variant.get("points") as usize;
    let step = (points + 1).saturating_sub(taps).max(1);
    let blocks = part.count.div_ceil(step);
    let mut inner = Variant { method: "stockham", ..variant.clone() };
    inner.settings.remove("points");

    let row = pitch(points + 2);
    let most = if is_software(gpu.facts()) { SOFTWARE_SCRATCH_BYTES } else { SCRATCH_BYTES };
    let fitting = most.min(room(&gpu.facts().limits)) / (4 * row as u64);
    let rows = x.channels() * blocks;
    let at_once = (fitting as usize).clamp(1, rows);
    let space = |samples: usize| -> Result<Rows> {
        let buffer = gpu.allocate(4 * (at_once * row) as u64)?;
        Ok(Rows { slice: Slice::from(&buffer), count: at_once, samples, pitch: row })
    };
    let (real, spectra) = (space(points)?, space(points + 2)?);
    let forward = Transform { kind: Kind::Rfft, n: Some(points), norm: Norm::Backward };
    // The spectra of responses hold the factor of the inverse.
    let inverse = Transform { kind: Kind::Irfft, n: Some(points), norm: Norm::Forward };

    let each = c.taps.shared().is_none();
    let responses = if each { x.channels() } else { 1 };
    let bytes = |values: &mut dyn Iterator<Item = f32>| values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let halves: Vec<_> = (0..responses).map(|channel| c.spectra.half(channel, c.taps.of(channel), points)).collect();
    let factors = constant(gpu, &bytes(&mut halves.iter().flat_map(|half| half.iter().flatten().copied())))?;
    let sums = constant(gpu, &bytes(&mut (0..responses).flat_map(|channel| c.taps.of(channel)).map(|t| *t as f32)))?;
    let between = |values: usize| if each { values } else { 0 };

    let (load, multiply, store) = (
        compose_plain("filter/overlap_load", &[])?,
        compose_plain("filter/overlap_multiply", &[])?,
        compose_plain("filter/overlap_store", &[])?,
    );
    let mut commands = Vec::new();
    let mut passes = Vec::new();
    for first in (0..rows).step_by(at_once) {
        let count = at_once.min(rows - first);
        let (real, spectra) = (Rows { count, ..real.clone() }, Rows { count, ..spectra.clone() });
        let groups = |values: usize| values.div_ceil(GROUP);
        let args = [
            word(count)?,
            word(groups(points))?,
            word(points)?,
            word(row)?,
            word(blocks)?,
            word(step)?,
            word(first)?,
            // Where it is negative it is so in 32 bits, too.
            word(part.first)?.wrapping_sub(word(taps - 1)?),
            word(from.samples)?,
            word(from.pitch)?,
            0,
            0,
        ];
        let threads = |values: usize| (count * groups(values)) as u64;
        commands.push(launch(gpu, &load, &args, &[all(from), real.slice.clone()], threads(points))?);
        commands.extend(fft::rows_within(&forward, gpu, &inner, &real, &spectra, &mut passes)?);
        let bins = points / 2 + 1;
        let args = [
            word(count)?,
            word(groups(bins))?,
            word(bins)?,
            word(row / 2)?,
            word(blocks)?,
            word(first)?,
            word(between(bins))?,
            0,
        ];
        commands.push(launch(gpu, &multiply, &args, &[factors.clone(), spectra.slice.clone()], threads(bins))?);
        commands.extend(fft::rows_within(&inverse, gpu, &inner, &spectra, &real, &mut passes)?);
        // The last block also writes what lies behind the results of a channel.
        let results = step.max(to.pitch - (blocks - 1) * step);
        let args = [
            word(count)?,
            word(groups(results))?,
            word(row)?,
            word(blocks)?,
            word(step)?,
            word(first)?,
            word(part.first)?,
            word(taps)?,
            word(between(taps))?,
            word(from.samples)?,
            word(from.pitch)?,
            word(to.samples)?,
            word(to.pitch)?,
            1f32.to_bits(),
            0,
            0,
        ];
        let buffers = [real.slice.clone(), all(from), sums.clone(), all(to)];
        commands.push(launch(gpu, &store, &args, &buffers, threads(results))?);
    }
    Ok(commands)
}
