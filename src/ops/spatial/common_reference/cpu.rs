//! The common reference on the CPU.
//!
//! Threads take time windows and walk them in tiles narrow enough for the second-level cache: the tile is packed into
//! blocks of 16 samples (32 for 16-bit integers) x all channels, so that a lane is a sample and reductions across
//! channels run down the rows of a block without shuffles; then each block's references are taken from the first-level
//! cache, and the tile is written once, in pieces of whole cache lines.

use std::marker::PhantomData;

use fearless_simd::{Simd, f32x16, prelude::*};
use rayon::prelude::*;

use super::block::{Element, Pair, Work};
use super::plan::{Operator, Plan};
use crate::error::{Error, Result};
use crate::ops::columns::{self, Columns};
use crate::ops::{Shape, Variant};
use crate::signal::{Buffer, Sample, Source, View, ViewMut};
use crate::simd::select::{LANES, NETWORK_ROWS};
use crate::simd::{self, Kernel, Level, prefetch, stream};

/// Most rows whose 16-bit values [`Element`] can count in 16 bits.
const MAX_WIDE_ROWS: usize = i16::MAX as usize;

/// The ways to compute `plan` at `shape`, the default first: `tile` samples at a time, `stream` = stores past the cache.
pub fn variants(plan: &Plan, shape: Shape) -> Vec<Variant> {
    let widest =
        plan.resolve(shape.channels).map_or(0, |parts| parts.iter().map(|p| p.source.len()).max().unwrap_or(0));
    let (method, other) = match plan.operator() {
        Operator::Mean => ("sum", None),
        Operator::Median if widest <= NETWORK_ROWS => ("network", Some("select")),
        Operator::Median => ("select", None),
    };
    let stream = u32::from(stream::pays(shape.channels.saturating_mul(shape.samples).saturating_mul(size_of::<f32>())));
    let mut list = vec![Variant::new(method, &[("tile", 128), ("stream", stream)])];
    list.extend(other.map(|other| Variant::new(other, &[("tile", 128), ("stream", stream)])));
    list.push(Variant::new(method, &[("tile", 128), ("stream", 1 - stream)]));
    list.extend([64, 256].map(|tile| Variant::new(method, &[("tile", tile), ("stream", stream)])));
    list
}

/// Writes the referenced recording to `y`, which has the shape of `x`.
pub fn run(plan: &Plan, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    run_at(simd::level(), plan, variant, x, y)
}

fn run_at(level: Level, plan: &Plan, variant: &Variant, x: Source<'_>, mut y: ViewMut<'_>) -> Result<()> {
    if (x.channels(), x.samples()) != (y.channels(), y.samples()) {
        return Err(Error::shape(format!(
            "a common reference of {} channels x {} samples needs an output of the same shape, not {} x {}",
            x.channels(),
            x.samples(),
            y.channels(),
            y.samples()
        )));
    }
    let work = Work::new(plan, x.channels(), variant.method == "network")?;
    let tile = (variant.get("tile") as usize).clamp(WIDTH, 4096).next_multiple_of(WIDTH);
    let window = Window { work: &work, tile, streamed: variant.get("stream") == 1 };
    let one = |y: Columns<'_>| match x {
        Source::F32(x) => level.run(Task::<f32, f32> { window, x, y, element: PhantomData }),
        Source::I16(x) if work.widest() > MAX_WIDE_ROWS => {
            level.run(Task::<i16, f32> { window, x, y, element: PhantomData })
        }
        Source::I16(x) => level.run(Task::<i16, i16> { window, x, y, element: PhantomData }),
    };
    let windows = columns::split(&mut y, tile);
    match windows.len() {
        0 | 1 => windows.into_iter().try_for_each(one),
        _ => windows.into_par_iter().try_for_each(one),
    }
}

/// Tiles are multiples of this: the widest block.
const WIDTH: usize = 32;

/// How threads work on their windows.
#[derive(Clone, Copy)]
struct Window<'a> {
    work: &'a Work,
    tile: usize,
    streamed: bool,
}

/// One window: packed as `E`.
struct Task<'a, T, E> {
    window: Window<'a>,
    x: View<'a, T>,
    y: Columns<'a>,
    element: PhantomData<E>,
}

impl<T: Sample, E: Element + From<T>> Kernel for Task<'_, T, E> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<()> {
        let Window { work, tile, streamed } = self.window;
        let (channels, parts, range) = (self.x.channels(), work.parts(), self.y.range());
        let blocks = tile.min(range.len()).div_ceil(E::COLUMNS);
        let mut packed = Buffer::<E::Block>::dirty(blocks * channels)?;
        let mut scratch = Buffer::<E::Block>::dirty(2 * work.widest())?;
        let mut references = vec![E::Reference::default(); blocks * parts];
        for start in range.clone().step_by(tile) {
            let len = tile.min(range.end - start);
            let packed = &mut packed[..len.div_ceil(E::COLUMNS) * channels];
            pack::<T, E>(&self.x.window(start, len), packed);
            for (block, references) in packed.chunks_exact(channels).zip(references.chunks_exact_mut(parts)) {
                E::references(simd, work, block, &mut scratch, references);
            }
            let at = start - range.start;
            for (c, row) in self.y.rows.iter_mut().enumerate() {
                let references = &references[work.part_of(c)..];
                subtract::<S, E>(simd, &packed[c..], channels, references, parts, &mut row[at..at + len], streamed);
            }
        }
        if streamed {
            stream::fence();
        }
        Ok(())
    }
}

/// Packs a tile into blocks, one after the other, of one row per channel. Lanes past the end are zero.
#[inline(always)]
fn pack<T: Sample, E: Element + From<T>>(x: &View<'_, T>, blocks: &mut [E::Block]) {
    let (channels, samples) = (x.channels(), x.samples());
    if x.sample_stride() == 1 {
        for c in 0..channels {
            let row = &x.data()[c * x.channel_stride()..];
            for i in 0..samples.div_ceil(E::COLUMNS) {
                let at = i * E::COLUMNS;
                // The same row of the tile after this one: too far away for the hardware to foresee.
                prefetch(row, at + samples);
                blocks[i * channels + c] = E::row(&row[at..samples.min(at + E::COLUMNS)]);
            }
        }
        return;
    }
    if samples % E::COLUMNS > 0 {
        let last = blocks.len() - channels;
        for block in &mut blocks[last..] {
            E::values(block).fill(E::default());
        }
    }
    for n in 0..samples {
        let (block, lane) = (&mut blocks[n / E::COLUMNS * channels..][..channels], n % E::COLUMNS);
        let frame = &x.data()[n * x.sample_stride()..];
        if x.channel_stride() == 1 {
            for (b, &v) in block.iter_mut().zip(frame) {
                E::values(b)[lane] = E::from(v);
            }
        } else {
            for (c, b) in block.iter_mut().enumerate() {
                E::values(b)[lane] = E::from(frame[c * x.channel_stride()]);
            }
        }
    }
}

/// One channel of a tile, less its references. Its rows are `channels` apart in `blocks`, its references `parts` apart.
#[inline(always)]
fn subtract<S: Simd, E: Element>(
    simd: S,
    blocks: &[E::Block],
    channels: usize,
    references: &[E::Reference],
    parts: usize,
    row: &mut [f32],
    streamed: bool,
) {
    let per_block = E::COLUMNS / LANES;
    let (lines, rest) = row.as_chunks_mut::<LANES>();
    let mut last = [0.0; LANES];
    for (k, line) in lines.iter_mut().chain((!rest.is_empty()).then_some(&mut last)).enumerate() {
        let (i, half) = (k / per_block, k % per_block);
        let pair: &Pair = &E::pairs(&references[i * parts])[half];
        let v: f32x16<S> = E::widen(simd, &blocks[i * channels], half);
        let v = v - f32x16::load_array_ref(simd, &pair.value) - f32x16::load_array_ref(simd, &pair.rest);
        if streamed {
            stream::store(simd, v, line);
        } else {
            v.store_array(line);
        }
    }
    rest.copy_from_slice(&last[..rest.len()]);
}

#[cfg(test)]
mod tests;
