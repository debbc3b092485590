//! Running medians on the CPU.
//!
//! `network` (short windows): a tile of a channel is turned into 16 streams, every sixteenth sample each, so that a vector
//! holds places 16 apart and the 16 windows between two of them are one program of minima and maxima (see `network`). It
//! runs over the whole tile step by step, on values that stay in the first cache.
//!
//! `ranks` (long windows): a piece of a channel is sorted once, and the window slides over the ranks (see `ranks`); the
//! time for a sample hardly depends on the width.
//!
//! Both select values of the input. A window that holds a NaN gives NaN; zeros come out positive. Where pieces are cut
//! depends on the width alone.

use fearless_simd::{Simd, f32x16, prelude::*};
use rayon::prelude::*;

use super::network::{OUTPUTS, Operand, Program};
use super::ranks;
use crate::error::{Error, Result};
use crate::ops::filter::edge::{Edge, Extended};
use crate::ops::filter::planar::planar;
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Buffer, Source, ViewMut};
use crate::simd::{self, Kernel, Level, prefetch, stream, transpose};

/// Longest window that a network is made for.
pub(super) const NETWORK_WIDTH: usize = 128;
/// Windows up to this width go through networks by default.
const NETWORK_DEFAULT: usize = 100;
/// Places of a stream in a tile.
const PLACES: usize = 64;
/// Samples of a tile.
const TILE: usize = OUTPUTS * PLACES;
/// Tiles that a thread takes at once.
const TILES: usize = 16;

/// Ways to compute, the default first.
pub(super) fn variants(width: usize, _: Shape) -> Vec<Variant> {
    let (network, ranks) = (Variant::new("network", &[]), Variant::new("ranks", &[]));
    if width <= NETWORK_DEFAULT {
        vec![network, ranks]
    } else if width <= NETWORK_WIDTH {
        vec![ranks, network]
    } else {
        vec![ranks]
    }
}

/// The running median of rank `width / 2` of `x` into `y`, of the same shape. `program` is that of the width.
pub(super) fn run(
    program: &Program,
    width: usize,
    edge: Edge,
    variant: &Variant,
    x: Source<'_>,
    y: ViewMut<'_>,
) -> Result<()> {
    run_at(simd::level(), program, width, edge, variant, x, y)
}

fn run_at(
    level: Level,
    program: &Program,
    width: usize,
    edge: Edge,
    variant: &Variant,
    x: Source<'_>,
    y: ViewMut<'_>,
) -> Result<()> {
    let samples = x.samples();
    if x.channels() == 0 || samples == 0 {
        return Ok(());
    }
    let rows = planar(x)?;
    let x = rows.as_ref().map_or(x, Source::from);
    let piece = match variant.method {
        "network" if width <= NETWORK_WIDTH => TILE * TILES,
        "ranks" => ranks::piece(width),
        other => {
            return Err(Error::invalid(format!(
                "a running median of {width} samples has no variant `{other}`; it has network (to {NETWORK_WIDTH} samples) and ranks"
            )));
        }
    };
    let streamed = stream::pays(x.channels().saturating_mul(samples).saturating_mul(size_of::<f32>()));
    let pitch = y.pitch().max(samples);
    let rows = y.into_data().chunks_mut(pitch).take(x.channels()).enumerate();
    let pieces: Vec<(usize, usize, &mut [f32])> = rows
        .flat_map(|(c, row)| row[..samples].chunks_mut(piece).enumerate().map(move |(i, out)| (c, i * piece, out)))
        .collect();
    pieces.into_par_iter().with_max_len(1).try_for_each(|(channel, start, out)| {
        let row = Extended::new(x, channel, edge);
        let first = start as i64 - (width / 2) as i64;
        if variant.method == "ranks" {
            return ranks::run(row, first, width, out);
        }
        let streams = Streams::new(width, program.slots)?;
        level.run(Tiles { program, width, row, first, out, streams, streamed });
        Ok(())
    })
}

/// Makes every output NaN whose window, `width` values of `window` from its own place on, holds one.
pub(super) fn spoil(window: &[f32], width: usize, out: &mut [f32]) {
    let mut reach = 0;
    for (i, v) in window.iter().enumerate() {
        if v.is_nan() {
            reach = i + 1;
        }
        // The window that ends here starts at i + 1 - width.
        if let Some(start) = (i + 1).checked_sub(width)
            && reach > start
            && let Some(out) = out.get_mut(start)
        {
            *out = f32::NAN;
        }
    }
}

/// Memory of a tile: the streams, then the places of intermediate values, all floats of one buffer.
struct Streams {
    values: Buffer<f32>,
    /// Distance of streams.
    stride: usize,
    /// Blocks of 16 samples that windows of the tile reach.
    blocks: usize,
    /// The samples themselves, where they do not lie in one piece of the input.
    copy: Buffer<f32>,
}

impl Streams {
    fn new(width: usize, slots: usize) -> Result<Self> {
        let blocks = PLACES + (width + OUTPUTS - 2) / OUTPUTS;
        let stride = blocks.next_multiple_of(OUTPUTS);
        Ok(Streams {
            values: Buffer::dirty(OUTPUTS * stride + slots * PLACES)?,
            stride,
            blocks,
            copy: Buffer::dirty(blocks * OUTPUTS)?,
        })
    }

    fn place(&self, operand: Operand) -> usize {
        match operand {
            Operand::Sample(k) => k % OUTPUTS * self.stride + k / OUTPUTS,
            Operand::Slot(s) => self.slot(s),
        }
    }

    fn slot(&self, slot: usize) -> usize {
        OUTPUTS * self.stride + slot * PLACES
    }
}

/// A piece of a channel through the network.
struct Tiles<'a, 'b> {
    program: &'a Program,
    width: usize,
    row: Extended<'a>,
    /// Place of the first sample of the first window.
    first: i64,
    out: &'b mut [f32],
    streams: Streams,
    streamed: bool,
}

impl Kernel for Tiles<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let steps: Vec<Places> = self.program.steps.iter().map(|s| Places::new(s, &self.streams)).collect();
        let results = self.program.results.map(|r| self.streams.place(r));
        let out = std::mem::take(&mut self.out);
        for (i, out) in out.chunks_mut(TILE).enumerate() {
            let first = self.first + (i * TILE) as i64;
            let spoiled = self.load(simd, first);
            // While this tile is computed, the next one's new samples come near.
            let reach = first + (self.streams.blocks * OUTPUTS) as i64;
            let next = self.row.direct(reach, TILE).unwrap_or_default();
            for (k, step) in steps.iter().enumerate() {
                prefetch(next, k * OUTPUTS);
                step.take(simd, &mut self.streams.values);
            }
            self.store(simd, &results, out);
            if spoiled {
                let mut window = vec![0.0; out.len() + self.width - 1];
                self.row.fill(first, &mut window);
                spoil(&window, self.width, out);
            }
        }
        if self.streamed {
            stream::fence();
        }
    }
}

impl Tiles<'_, '_> {
    /// Turns the samples from `first` on into streams; says whether there is a NaN, in whose place infinity then stands.
    #[inline(always)]
    fn load<S: Simd>(&mut self, simd: S, first: i64) -> bool {
        let Streams { values, stride, blocks, copy } = &mut self.streams;
        let len = *blocks * OUTPUTS;
        let samples = match self.row.direct(first, len) {
            Some(samples) => samples,
            None => {
                self.row.fill(first, &mut copy[..len]);
                &copy[..len]
            }
        };
        let zero = f32x16::splat(simd, 0.0);
        let mut spoiled = zero;
        let (chunks, _) = samples.as_chunks::<OUTPUTS>();
        for chunk in chunks {
            // Products with 0: zeros, or NaN for infinities and NaN.
            let v = f32x16::load_array_ref(simd, chunk);
            spoiled = v.mul_add(zero, spoiled);
        }
        let spoiled = !spoiled.simd_eq(zero).all_true() && samples.iter().any(|v| v.is_nan());
        let streams = &mut values[..OUTPUTS * *stride];
        let (whole, rest) = chunks.as_chunks::<OUTPUTS>();
        for (i, block) in whole.iter().enumerate() {
            let mut rows = streams.chunks_exact_mut(*stride);
            let mut spare = [[0f32; OUTPUTS]; OUTPUTS];
            let mut dst = spare.each_mut();
            for (dst, row) in dst.iter_mut().zip(&mut rows) {
                if let Some(place) = row.get_mut(i * OUTPUTS..).and_then(|rest| rest.first_chunk_mut()) {
                    *dst = place;
                }
            }
            transpose::block(simd, &block.each_ref(), &mut dst, false);
        }
        for (i, chunk) in rest.iter().enumerate() {
            let at = whole.len() * OUTPUTS + i;
            streams.iter_mut().skip(at).step_by(*stride).zip(chunk).for_each(|(to, v)| *to = *v);
        }
        if spoiled {
            streams.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = f32::INFINITY);
        }
        spoiled
    }

    /// Brings the results back into the order of time.
    #[inline(always)]
    fn store<S: Simd>(&self, simd: S, results: &[usize; OUTPUTS], out: &mut [f32]) {
        let values = &self.streams.values[..];
        let zero = f32x16::splat(simd, 0.0);
        for (i, out) in out.chunks_mut(OUTPUTS * OUTPUTS).enumerate() {
            let mut block = [[0f32; OUTPUTS]; OUTPUTS];
            for (row, at) in block.iter_mut().zip(results) {
                if let Some(v) = values.get(at + i * OUTPUTS..).and_then(|rest| rest.first_chunk()) {
                    // Whichever zero was selected, the positive one is the result.
                    (f32x16::load_array_ref(simd, v) + zero).store_array(row);
                }
            }
            let mut spare = [[0f32; OUTPUTS]; OUTPUTS];
            let mut dst = spare.each_mut();
            let (lines, rest) = out.as_chunks_mut::<OUTPUTS>();
            let written = lines.len();
            for (dst, line) in dst.iter_mut().zip(lines) {
                *dst = line;
            }
            transpose::block(simd, &block.each_ref(), &mut dst, self.streamed);
            if let Some(last) = spare.get(written) {
                rest.iter_mut().zip(last).for_each(|(to, v)| *to = *v);
            }
        }
    }
}

/// A step with the floats it works on.
struct Places {
    a: usize,
    b: usize,
    low: Option<usize>,
    high: Option<usize>,
}

impl Places {
    fn new(step: &super::network::Step, streams: &Streams) -> Self {
        Places {
            a: streams.place(step.a),
            b: streams.place(step.b),
            low: step.low.map(|s| streams.slot(s)),
            high: step.high.map(|s| streams.slot(s)),
        }
    }

    #[inline(always)]
    fn take<S: Simd>(&self, simd: S, values: &mut [f32]) {
        let (a, b) = (place(simd, values, self.a), place(simd, values, self.b));
        if let Some(place) = self.low.and_then(|at| values.get_mut(at..at + PLACES)) {
            for ((a, b), part) in a.iter().zip(&b).zip(place.as_chunks_mut::<16>().0) {
                a.min(*b).store_array(part);
            }
        }
        if let Some(place) = self.high.and_then(|at| values.get_mut(at..at + PLACES)) {
            for ((a, b), part) in a.iter().zip(&b).zip(place.as_chunks_mut::<16>().0) {
                a.max(*b).store_array(part);
            }
        }
    }
}

/// The values of a place.
#[inline(always)]
fn place<S: Simd>(simd: S, values: &[f32], at: usize) -> [f32x16<S>; PLACES / 16] {
    let mut all = [f32x16::splat(simd, 0.0); PLACES / 16];
    if let Some(place) = values.get(at..at + PLACES) {
        for (v, part) in all.iter_mut().zip(place.as_chunks::<16>().0) {
            *v = f32x16::load_array_ref(simd, part);
        }
    }
    all
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
