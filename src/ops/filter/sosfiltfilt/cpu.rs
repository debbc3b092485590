//! Forward and backward on the CPU.
//!
//! `channels` puts 16 channels in the lanes. The forward pass leaves its results in the output, the backward pass reads
//! them from the end on: what it needs first is still in the cache. The extensions are filtered in float64 and never
//! stored. `time`, for few long channels, filters each way with pieces of the channels in the lanes.

use fearless_simd::Simd;
use rayon::prelude::*;

use super::extension::Extension;
use crate::error::{Error, Result};
use crate::ops::filter::sosfilt::{
    cpu as forward,
    form::{Cascade, Form},
    kernel::{States, filter, filter_wide, silence},
    reference::advance,
};
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Signal, Source, ViewMut};
use crate::simd::{
    self, Kernel,
    lanes::{BLOCK, Frame, LANES, Lanes, groups, pack_rows, unpack},
    stream,
};

/// Sixteen rows of float64.
type Wide = [f64; LANES];

/// What to compute.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) sos: &'a [[f64; 6]],
    /// scipy's states after an endless run of ones.
    pub(super) step: &'a [[f64; 2]],
    pub(super) extension: Extension,
}

/// Ways to compute, the default first: those of the forward filter.
pub(super) fn variants(sos: &[[f64; 6]], shape: Shape) -> Vec<Variant> {
    forward::variants(sos, shape)
}

/// Filters `x` into `y`, of the same shape and longer than the extension.
pub(super) fn run(task: Task<'_>, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    if x.channels() == 0 || x.samples() == 0 {
        return Ok(());
    }
    match variant.method {
        "channels" => by_channels(task, variant, x, y),
        "time" => by_time(task, variant, x, y),
        other => Err(Error::invalid(format!("sosfiltfilt has no variant `{other}`; it has channels and time"))),
    }
}

fn by_channels(task: Task<'_>, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (level, tile) = (simd::level(), (variant.get("tile") as usize).next_multiple_of(BLOCK).max(BLOCK));
    let streamed = stream::pays(x.channels().saturating_mul(x.samples()).saturating_mul(size_of::<f32>()));
    // States begin and end here, so any form will do.
    let cascades = [Cascade::cheapest(task.sos, false), Cascade::general(task.sos)];
    let steady = cascades.each_ref().map(Cascade::steady);
    let samples = y.samples();
    groups(y, samples).into_par_iter().enumerate().with_max_len(1).for_each(|(group, mut rows)| {
        let first = group * LANES;
        let lanes = Lanes::channels(x, first, rows.len());
        let edges = Edges::new(task.extension, &x, first, rows.len());
        for (cascade, steady) in cascades.iter().zip(&steady) {
            let rows = &mut rows;
            let finite = level.run(Both { cascade, steady, lanes: &lanes, edges: &edges, rows, tile, streamed });
            // The forms differ in the samples after an infinity; the general one does what scipy does.
            if finite || cascade.form == Form::General {
                break;
            }
        }
    });
    Ok(())
}

/// The extensions of up to sixteen rows.
struct Edges {
    head: Vec<Wide>,
    tail: Vec<Wide>,
    first: Wide,
}

impl Edges {
    fn new(extension: Extension, x: &Source<'_>, channel: usize, count: usize) -> Self {
        let mut edges = Edges {
            head: vec![[0.0; LANES]; extension.edge],
            tail: vec![[0.0; LANES]; extension.edge],
            first: [0.0; LANES],
        };
        for lane in 0..count {
            edges.head.iter_mut().zip(extension.head(x, channel + lane)).for_each(|(wide, v)| wide[lane] = v);
            edges.tail.iter_mut().zip(extension.tail(x, channel + lane)).for_each(|(wide, v)| wide[lane] = v);
            edges.first[lane] = f64::from(x.get(channel + lane, 0));
        }
        edges
    }
}

/// Both ways over one group of rows; whether all states stayed finite.
struct Both<'a, 'b> {
    cascade: &'a Cascade,
    /// Its states after an endless run of ones.
    steady: &'a [f64],
    lanes: &'a Lanes<'a>,
    edges: &'a Edges,
    rows: &'a mut [&'b mut [f32]],
    tile: usize,
    streamed: bool,
}

impl Both<'_, '_> {
    /// The states after an endless run of these values.
    fn steady(&self, values: &Wide) -> States {
        self.steady.iter().map(|z| values.map(|v| z * v)).collect()
    }
}

impl Kernel for Both<'_, '_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let (cascade, count, samples) = (self.cascade, self.lanes.count(), self.rows[0].len());
        let mut frames: Vec<Frame> = vec![[0.0; LANES]; self.tile];
        let mut wide: Vec<Wide> = vec![[0.0; LANES]; self.tile];

        let mut edge = self.edges.head.clone();
        let mut states = self.steady(edge.first().unwrap_or(&self.edges.first));
        filter_wide(simd, cascade, count, &mut edge, &mut states);
        for t in (0..samples).step_by(self.tile) {
            let n = self.tile.min(samples - t);
            let block = &mut frames[..n.next_multiple_of(BLOCK)];
            self.lanes.pack(simd, t, self.tile, block);
            filter(simd, cascade, count, &mut block[..n], &mut wide, &mut states);
            silence(&mut states);
            unpack(simd, t, block, self.rows, false);
        }
        edge.clone_from(&self.edges.tail);
        filter_wide(simd, cascade, count, &mut edge, &mut states);
        let mut finite = states.as_flattened().iter().all(|v| v.is_finite());

        edge.reverse();
        let mut last = [0.0; LANES];
        self.rows.iter().zip(&mut last).for_each(|(row, last)| *last = f64::from(row[samples - 1]));
        states = self.steady(edge.first().unwrap_or(&last));
        filter_wide(simd, cascade, count, &mut edge, &mut states);
        // Tiles begin where whole blocks do, so that blocks never reach into results.
        for t in (0..samples).step_by(self.tile).rev() {
            let n = self.tile.min(samples - t);
            let block = &mut frames[..n.next_multiple_of(BLOCK)];
            pack_rows(simd, t, self.rows, self.tile, block);
            block[..n].reverse();
            filter(simd, cascade, count, &mut block[..n], &mut wide, &mut states);
            silence(&mut states);
            block[..n].reverse();
            unpack(simd, t, block, self.rows, self.streamed);
        }
        if self.streamed {
            stream::fence();
        }
        finite &= states.as_flattened().iter().all(|v| v.is_finite());
        finite
    }
}

/// Few long channels: each way in pieces, between them reversed in place.
fn by_time(task: Task<'_>, variant: &Variant, x: Source<'_>, mut y: ViewMut<'_>) -> Result<()> {
    let (channels, samples, sos) = (x.channels(), x.samples(), task.sos);
    let steady = |v: f64| task.step.iter().flatten().map(move |z| z * v);
    let mut between = Signal::dirty(channels, samples)?;
    let mut states = Vec::with_capacity(channels * sos.len() * 2);
    for c in 0..channels {
        let mut head = task.extension.head(&x, c).peekable();
        let first = head.peek().copied().unwrap_or_else(|| f64::from(x.get(c, 0)));
        let start = states.len();
        states.extend(steady(first));
        head.for_each(|v| {
            advance(sos, &mut states[start..], v);
        });
    }
    forward::run(sos, variant, x, between.view_mut(), Some(&mut states))?;
    for (c, state) in states.chunks_exact_mut(sos.len() * 2).enumerate() {
        let mut tail: Vec<f64> = task.extension.tail(&x, c).map(|v| advance(sos, state, v)).collect();
        tail.reverse();
        let last = tail.first().copied().unwrap_or_else(|| f64::from(between.row(c)[samples - 1]));
        state.iter_mut().zip(steady(last)).for_each(|(s, v)| *s = v);
        for v in tail {
            advance(sos, state, v);
        }
        reverse(between.row_mut(c));
    }
    forward::run(sos, variant, (&between).into(), y.reborrow(), Some(&mut states))?;
    (0..channels).for_each(|c| reverse(y.row_mut(c)));
    Ok(())
}

/// In place, from both ends at once.
fn reverse(row: &mut [f32]) {
    const PART: usize = 1 << 16;
    // The value in the middle of a row of odd length stays.
    let half = row.len() / 2;
    let (low, high) = row.split_at_mut(row.len() - half);
    low[..half].par_chunks_mut(PART).zip(high.par_rchunks_mut(PART)).for_each(|(low, high)| {
        low.iter_mut().zip(high.iter_mut().rev()).for_each(|(a, b)| std::mem::swap(a, b));
    });
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
