//! The direct form: a tile of outputs in registers, 16 rows in the lanes.
//!
//! A vector of inputs is loaded once and used by every output and tap of the tile it belongs to (the diagonal `n - k`), so
//! that a tile of R outputs and K taps needs R + K - 1 loads for R K multiply-adds.

use fearless_simd::{Simd, prelude::*};

use super::plan::{Block, WIDTH};
use crate::simd::{
    Kernel,
    lanes::{BLOCK, Frame, LANES, Lanes, drop_tiny, unpack},
    stream,
};

/// Filters a group of rows. Time `history` of the lanes is the first output's.
pub(super) struct Filter<'a, 'b> {
    pub(super) blocks: &'a [Block],
    pub(super) lanes: Lanes<'a>,
    /// Frames before the first output; at least the number of taps less one, a multiple of 16.
    pub(super) history: usize,
    /// Outputs.
    pub(super) len: usize,
    pub(super) rows: &'a mut [&'b mut [f32]],
    /// Frames in a tile.
    pub(super) tile: usize,
    /// Outputs of a register tile: 16, or 8 where there are 16 registers only.
    pub(super) outputs: usize,
    /// Write past the caches.
    pub(super) streamed: bool,
}

impl Kernel for Filter<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (tile, history) = (self.tile.next_multiple_of(BLOCK).max(BLOCK), self.history);
        let mut frames: Vec<Frame> = vec![[0.0; LANES]; history + tile];
        let mut out: Vec<Frame> = vec![[0.0; LANES]; tile];
        self.lanes.pack(simd, 0, history, &mut frames[..history]);
        drop_tiny(&mut frames[..history]);
        let mut t = 0;
        while t < self.len {
            let n = tile.min(self.len - t).next_multiple_of(BLOCK);
            self.lanes.pack(simd, history + t, tile, &mut frames[history..history + n]);
            drop_tiny(&mut frames[history..history + n]);
            let (frames_now, out_now) = (&frames[..history + n], &mut out[..n]);
            if self.outputs >= 16 {
                simd.vectorize(
                    #[inline(always)]
                    || outputs::<S, 16, WIDTH>(simd, self.blocks, self.lanes.count(), frames_now, history, out_now),
                );
            } else {
                simd.vectorize(
                    #[inline(always)]
                    || outputs::<S, 8, 4>(simd, self.blocks, self.lanes.count(), frames_now, history, out_now),
                );
            }
            unpack(simd, t, out_now, self.rows, self.streamed);
            frames.copy_within(n..n + history, 0);
            t += n;
        }
        if self.streamed {
            stream::fence();
        }
    }
}

/// All outputs of a tile, `R` at a time.
#[inline(always)]
fn outputs<S: Simd, const R: usize, const K: usize>(
    simd: S,
    blocks: &[Block],
    rows: usize,
    frames: &[Frame],
    history: usize,
    out: &mut [Frame],
) {
    for lane in (0..rows).step_by(S::f32s::LEN) {
        for (i, out) in out.as_chunks_mut::<R>().0.iter_mut().enumerate() {
            register_tile::<S, R, K>(simd, blocks, frames, history + i * R, lane, out);
        }
    }
}

/// `R` outputs of one vector of rows; `at` = frame of the first.
#[inline(always)]
fn register_tile<S: Simd, const R: usize, const K: usize>(
    simd: S,
    blocks: &[Block],
    frames: &[Frame],
    at: usize,
    lane: usize,
    out: &mut [Frame; R],
) {
    let zero = S::f32s::simd_from(simd, 0.0);
    let half = S::f64s::LEN;
    let mut sums = [zero; R];
    let mut totals = [[S::f64s::simd_from(simd, 0.0); 2]; R];
    let mut flushed = false;
    for block in blocks {
        if block.flush {
            for (total, sum) in totals.iter_mut().zip(&mut sums) {
                let (low, high) = sum.widen();
                *total = [total[0] + low, total[1] + high];
                *sum = zero;
            }
            flushed = true;
        }
        let at = at - block.first;
        match block.len {
            8 if K == 8 => diagonals::<S, R, 8>(simd, &block.taps, frames, at, lane, &mut sums),
            8 => {
                diagonals::<S, R, 4>(simd, &block.taps[4..], frames, at - 4, lane, &mut sums);
                diagonals::<S, R, 4>(simd, &block.taps, frames, at, lane, &mut sums);
            }
            4 => diagonals::<S, R, 4>(simd, &block.taps, frames, at, lane, &mut sums),
            2 => diagonals::<S, R, 2>(simd, &block.taps, frames, at, lane, &mut sums),
            _ => diagonals::<S, R, 1>(simd, &block.taps, frames, at, lane, &mut sums),
        }
    }
    for ((out, sum), total) in out.iter_mut().zip(sums).zip(totals) {
        let result = if flushed {
            let (low, high) = sum.widen();
            (total[0] + low).narrow(total[1] + high)
        } else {
            sum
        };
        result.store_slice(&mut out[lane..lane + 2 * half]);
    }
}

/// Adds `K` taps to `R` outputs. Written out by macro: the sums live in registers only if every index is a constant.
#[inline(always)]
fn diagonals<S: Simd, const R: usize, const K: usize>(
    simd: S,
    taps: &[f32],
    frames: &[Frame],
    at: usize,
    lane: usize,
    sums: &mut [S::f32s; R],
) {
    let Some(taps) = taps.first_chunk::<K>() else { return };
    let taps = taps.map(|h| S::f32s::simd_from(simd, h));
    let window = &frames[at + 1 - K..at + R];
    // Diagonal d holds frame `at + d + 1 - K`, which tap k brings to output `d + 1 - K + k`.
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
                let x = S::f32s::from_slice(simd, &window[$d][lane..lane + S::f32s::LEN]);
                tap!(x $d: 0 1 2 3 4 5 6 7);
            }
        )*};
    }
    diagonal!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22);
}

/// scipy's final state of one channel: `old` moved on by the samples, plus what the last of them (`last`, the newest first)
/// still have to give.
pub(super) struct FinalState<'a> {
    pub(super) taps: &'a [f64],
    pub(super) last: &'a [f64],
    /// Holds the moved-on initial state.
    pub(super) state: &'a mut [f64],
}

impl Kernel for FinalState<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let lanes = S::f64s::LEN;
        for (t, x) in self.last.iter().enumerate() {
            let taps = &self.taps[1 + t..];
            let state = &mut self.state[..taps.len()];
            let x_lanes = S::f64s::simd_from(simd, *x);
            let mut pieces = state.chunks_exact_mut(lanes);
            let mut tap_pieces = taps.chunks_exact(lanes);
            for (z, h) in (&mut pieces).zip(&mut tap_pieces) {
                let sum = x_lanes.mul_add(S::f64s::from_slice(simd, h), S::f64s::from_slice(simd, z));
                sum.store_slice(z);
            }
            for (z, h) in pieces.into_remainder().iter_mut().zip(tap_pieces.remainder()) {
                *z += x * h;
            }
        }
    }
}
