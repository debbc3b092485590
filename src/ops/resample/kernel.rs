//! Results of a group of sixteen rows, as sums of frames: a register tile holds results of one phase, `step` frames apart.
//!
//! The taps of a block are as far apart as the windows of two neighbouring results, so that a tile of R results and K taps
//! needs R + K - 1 loads for R K multiply-adds, whatever the step. Phases too short for that take neighbouring taps, and a
//! load for each product.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::bank::{Bank, Phase};
use crate::ops::filter::lfilter::plan::Block;
use crate::simd::{
    Kernel,
    lanes::{BLOCK, Frame, LANES, Lanes, unpack},
    stream,
};

/// Computes a group of rows.
pub(super) struct Rows<'a, 'b> {
    pub(super) bank: &'a Bank,
    /// Where a row's first result stands: its newest sample as a time of the lanes is at least the longest phase less one.
    pub(super) offset: u64,
    pub(super) lanes: Lanes<'a>,
    pub(super) rows: &'a mut [&'b mut [f32]],
    /// Results of a row.
    pub(super) len: usize,
    /// Results in a tile, a multiple of 16.
    pub(super) tile: usize,
    /// Results of a register tile: 16, or 8 where there are 16 registers only.
    pub(super) outputs: usize,
    /// Write past the caches.
    pub(super) streamed: bool,
}

/// Frames in near memory: those from time `start` on.
struct Near {
    frames: Vec<Frame>,
    start: usize,
    end: usize,
    /// No value up to this time may be taken for finite.
    spoiled: usize,
}

impl Near {
    /// Makes the frames from `start` up to `end` near, keeping those that are.
    #[inline(always)]
    fn fetch<S: Simd>(&mut self, simd: S, lanes: &Lanes<'_>, start: usize, end: usize, watch: bool) {
        if start >= self.end {
            (self.start, self.end) = (start, start);
        } else {
            self.frames.copy_within(start - self.start..self.end - self.start, 0);
            self.start = start;
        }
        let missing = end.saturating_sub(self.end).next_multiple_of(BLOCK);
        let at = self.end - self.start;
        if self.frames.len() < at + missing {
            self.frames.resize(at + missing, [0.0; LANES]);
        }
        lanes.pack(simd, self.end, missing, &mut self.frames[at..at + missing]);
        self.end += missing;
        if watch && !finite(simd, &self.frames[at..at + missing]) {
            self.spoiled = self.end;
        }
    }
}

/// Whether all values are finite.
#[inline(always)]
fn finite<S: Simd>(simd: S, frames: &[Frame]) -> bool {
    let zero = f32x16::simd_from(simd, 0.0);
    let mut sum = zero;
    for frame in frames {
        sum = f32x16::load_array_ref(simd, frame).mul_add(zero, sum);
    }
    sum.to_array() == [0.0; LANES]
}

impl Kernel for Rows<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (bank, tile) = (self.bank, self.tile.next_multiple_of(BLOCK).max(BLOCK));
        let before = bank.longest() - 1;
        let mut near = Near { frames: Vec::new(), start: 0, end: 0, spoiled: 0 };
        let watch = bank.phases.iter().any(|p| !p.dropped.is_empty());
        let mut out: Vec<Frame> = vec![[0.0; LANES]; tile.min(self.len.next_multiple_of(BLOCK))];
        for first in (0..self.len).step_by(tile) {
            let count = tile.min(self.len - first);
            let from = bank.stand(first, self.offset).newest as usize - before;
            let end = bank.stand(first + count - 1, self.offset).newest as usize + 1;
            near.fetch(simd, &self.lanes, from, end, watch);
            for slot in 0..bank.up.min(count) {
                let stand = bank.stand(first + slot, self.offset);
                let phase = Results {
                    phase: &bank.phases[stand.phase],
                    spread: bank.spread,
                    frames: &near.frames,
                    at: stand.newest as usize - near.start,
                    step: bank.down,
                    slot,
                    stride: bank.up,
                    count,
                    rows: self.lanes.count(),
                };
                if self.outputs >= 16 {
                    simd.vectorize(
                        #[inline(always)]
                        || phase.all::<S, 16, 8>(simd, &mut out),
                    );
                } else {
                    simd.vectorize(
                        #[inline(always)]
                        || phase.all::<S, 8, 4>(simd, &mut out),
                    );
                }
                if near.spoiled > near.start {
                    phase.spoil(&mut out);
                }
            }
            let whole = count.next_multiple_of(BLOCK);
            unpack(simd, first, &out[..whole], self.rows, self.streamed);
        }
        if self.streamed {
            stream::fence();
        }
    }
}

/// The results `slot`, `slot + stride`, ... below `count` of a tile.
struct Results<'a> {
    phase: &'a Phase,
    spread: usize,
    frames: &'a [Frame],
    /// The newest frame of the first of them, and frames from one to the next.
    at: usize,
    step: usize,
    slot: usize,
    stride: usize,
    count: usize,
    rows: usize,
}

impl Results<'_> {
    #[inline(always)]
    fn all<S: Simd, const R: usize, const K: usize>(&self, simd: S, out: &mut [Frame]) {
        let results = (self.count - self.slot).div_ceil(self.stride);
        for lane in (0..self.rows).step_by(S::f32s::LEN) {
            let mut i = 0;
            while i + R <= results {
                self.tile::<S, R, K>(simd, i, lane, out);
                i += R;
            }
            if R > 8 && i + 8 <= results {
                self.tile::<S, 8, K>(simd, i, lane, out);
                i += 8;
            }
            if i + 4 <= results {
                self.tile::<S, 4, K>(simd, i, lane, out);
                i += 4;
            }
            while i < results {
                self.tile::<S, 1, K>(simd, i, lane, out);
                i += 1;
            }
        }
    }

    /// What dropped taps make of values that are not finite.
    fn spoil(&self, out: &mut [Frame]) {
        for (i, m) in (self.slot..self.count).step_by(self.stride).enumerate() {
            for j in &self.phase.dropped {
                let frame = &self.frames[self.at + i * self.step - j];
                for (y, x) in out[m].iter_mut().zip(frame).filter(|(_, x)| !x.is_finite()) {
                    *y += (self.phase.taps[*j] * f64::from(*x)) as f32;
                }
            }
        }
    }

    /// `R` results from the `i`-th on, of one vector of rows.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const K: usize>(&self, simd: S, i: usize, lane: usize, out: &mut [Frame]) {
        // Never above it; known to be so, no load of a vector is checked.
        let lane = lane.min(LANES - S::f32s::LEN);
        let zero = S::f32s::simd_from(simd, 0.0);
        let mut sums = [zero; R];
        let mut totals = [[S::f64s::simd_from(simd, 0.0); 2]; R];
        let mut flushed = false;
        let at = self.at + i * self.step;
        for block in &self.phase.blocks {
            if block.flush {
                for (total, sum) in totals.iter_mut().zip(&mut sums) {
                    let (low, high) = sum.widen();
                    *total = [total[0] + low, total[1] + high];
                    *sum = zero;
                }
                flushed = true;
            }
            let at = at - block.first;
            let place = (at, self.step);
            if self.spread == self.step {
                match block.len {
                    8 if K == 8 => share::<S, R, 8>(simd, &block.taps, self.frames, place, lane, &mut sums),
                    8 => {
                        let older = (at - 4 * self.step, self.step);
                        share::<S, R, 4>(simd, &block.taps[4..], self.frames, older, lane, &mut sums);
                        share::<S, R, 4>(simd, &block.taps, self.frames, place, lane, &mut sums);
                    }
                    4 => share::<S, R, 4>(simd, &block.taps, self.frames, place, lane, &mut sums),
                    2 => share::<S, R, 2>(simd, &block.taps, self.frames, place, lane, &mut sums),
                    _ => share::<S, R, 1>(simd, &block.taps, self.frames, place, lane, &mut sums),
                }
            } else {
                match block.len {
                    8 => add::<S, R, 8>(simd, block, self.frames, place, lane, &mut sums),
                    4 => add::<S, R, 4>(simd, block, self.frames, place, lane, &mut sums),
                    2 => add::<S, R, 2>(simd, block, self.frames, place, lane, &mut sums),
                    _ => add::<S, R, 1>(simd, block, self.frames, place, lane, &mut sums),
                }
            }
        }
        for r in 0..R {
            let result = if flushed {
                let (low, high) = sums[r].widen();
                (totals[r][0] + low).narrow(totals[r][1] + high)
            } else {
                sums[r]
            };
            result.store_slice(&mut out[self.slot + (i + r) * self.stride][lane..lane + S::f32s::LEN]);
        }
    }
}

/// Adds `K` taps, `step` frames apart as the results are, to `R` results, the first of which has its newest frame at `at`.
/// Written out by macro: the sums live in registers only if every index is a constant.
#[inline(always)]
fn share<S: Simd, const R: usize, const K: usize>(
    simd: S,
    taps: &[f32],
    frames: &[Frame],
    (at, step): (usize, usize),
    lane: usize,
    sums: &mut [S::f32s; R],
) {
    let Some(taps) = taps.first_chunk::<K>() else { return };
    let taps = taps.map(|h| S::f32s::simd_from(simd, h));
    let window = &frames[at - (K - 1) * step..at + (R - 1) * step + 1];
    // Diagonal d holds the frame that tap k brings to result `d + 1 - K + k`.
    macro_rules! tap {
        ($x:ident $d:literal: $($k:literal)*) => {$(
            if $k < K && $d + $k + 1 >= K && $d + $k + 1 - K < R {
                sums[$d + $k + 1 - K] = taps[$k].mul_add($x, sums[$d + $k + 1 - K]);
            }
        )*};
    }
    macro_rules! diagonal {
        ($($d:literal)*) => {$(
            if $d < R + K - 1 {
                let x = S::f32s::from_slice(simd, &window[$d * step][lane..lane + S::f32s::LEN]);
                tap!(x $d: 0 1 2 3 4 5 6 7);
            }
        )*};
    }
    diagonal!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
}

/// Adds `K` neighbouring taps to `R` results, the first of which has its newest frame at `at.0`. As above.
#[inline(always)]
fn add<S: Simd, const R: usize, const K: usize>(
    simd: S,
    block: &Block,
    frames: &[Frame],
    (at, step): (usize, usize),
    lane: usize,
    sums: &mut [S::f32s; R],
) {
    let mut windows: [&[Frame]; R] = [&[]; R];
    for (r, window) in windows.iter_mut().enumerate() {
        let at = at + r * step;
        *window = &frames[at + 1 - K..at + 1];
    }
    macro_rules! result {
        ($h:ident $k:literal: $($r:literal)*) => {$(
            if $r < R {
                let x = S::f32s::from_slice(simd, &windows[$r][K - 1 - $k][lane..lane + S::f32s::LEN]);
                sums[$r] = $h.mul_add(x, sums[$r]);
            }
        )*};
    }
    macro_rules! tap {
        ($($k:literal)*) => {$(
            if $k < K {
                let h = S::f32s::simd_from(simd, block.taps[$k]);
                result!(h $k: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
            }
        )*};
    }
    tap!(7 6 5 4 3 2 1 0);
}
