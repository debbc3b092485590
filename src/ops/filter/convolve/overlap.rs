//! Overlap-save, 32 blocks at a time: two neighbouring blocks in a lane, as real and imaginary parts of one transform.
//!
//! The taps are real, so the parts stay apart, and no spectrum of real rows has to be taken apart or put together. Samples
//! are read once (those that blocks share, twice), results written once; all between stays in the second cache.

use std::cell::RefCell;

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};
use rayon::prelude::*;

use super::blocks::{history, step};
use super::repair::Piece;
use super::spectra::Kept;
use crate::error::{Error, Result};
use crate::ops::spectral::fft::lanes::{Ahead, Plan, Point};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    Kernel, Level,
    lanes::{BLOCK, Cut, Frame, LANES, Lanes, TINY, groups, unpack},
    stream,
};

/// Frames that are asked for while others are packed.
const PREFETCHED: usize = 64;
/// Frames of results that are turned into rows at a time.
const NEAR: usize = 4 * BLOCK;

thread_local! {
    static SPACE: RefCell<Vec<Point>> = const { RefCell::new(Vec::new()) };
}

/// Channels that have one response, and how they are convolved with it.
pub(in crate::ops::filter) struct Overlap<'a> {
    pub taps: &'a [f64],
    /// Points of a transform.
    pub points: usize,
    pub spectra: &'a Kept,
    /// The row of the taps there.
    pub row: usize,
    /// The first result, as counted in the full convolution.
    pub first: usize,
}

impl Overlap<'_> {
    /// Convolves all channels of `x` into as many results as `y` takes.
    pub fn run(&self, level: Level, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
        let (history, step) = (history(self.taps.len()), step(self.taps.len(), self.points));
        let plan = Plan::get(self.points).filter(|_| step > 0).ok_or_else(|| {
            Error::internal(format!("{} taps have no blocks of {} points", self.taps.len(), self.points))
        })?;
        let factors = self.spectra.in_lanes(self.row, self.taps, self.points, &plan);
        let (channels, count) = (y.channels(), y.samples());
        let streamed = stream::pays(channels.saturating_mul(count).saturating_mul(size_of::<f32>()));
        let cut = Cut::every(count, 2 * step);
        groups(y, cut.len).into_par_iter().enumerate().with_max_len(1).for_each(|(group, mut rows)| {
            let place = |lane: usize| {
                let (channel, piece) = cut.locate(group * LANES + lane);
                (channel, self.first + piece * cut.len)
            };
            let windows = (0..rows.len()).map(|lane| {
                let (channel, first) = place(lane);
                (channel, first as isize - history as isize, self.points + step)
            });
            let ahead = self.ahead(x, place(rows.len()), &plan, step);
            let found = SPACE.with_borrow_mut(|z| {
                if z.len() < self.points {
                    z.resize(self.points, [[0.0; LANES]; 2]);
                }
                level.run(Blocks {
                    plan: &plan,
                    factors: &factors,
                    lanes: Lanes::windows(x, windows),
                    history,
                    step,
                    z: &mut z[..self.points],
                    rows: &mut rows,
                    ahead,
                    streamed,
                })
            });
            for (lane, results) in rows.into_iter().enumerate() {
                let (channel, first) = place(lane);
                let piece = Piece { taps: self.taps, x, channel, first, results };
                if found.overflow[lane] {
                    piece.sum();
                } else if found.strange[lane] {
                    piece.spread();
                }
            }
        });
        Ok(())
    }

    /// The samples of the next group, whose first piece is at a place; asked for during the transforms of this one.
    fn ahead<'x>(&self, x: Source<'x>, (channel, first): (usize, usize), plan: &Plan, step: usize) -> Ahead<'x> {
        match x {
            Source::F32(v) if v.sample_stride() == 1 && channel < v.channels() => {
                let start = channel * v.channel_stride() + first.min(v.samples());
                Ahead::new(v.data(), start..start + LANES * 2 * step, 2 * plan.butterflies())
            }
            _ => Ahead::default(),
        }
    }
}

/// Which lanes need to be looked at again.
struct Found {
    /// Their samples are not all finite.
    strange: [bool; LANES],
    /// Their results are not all finite.
    overflow: [bool; LANES],
}

/// One group of pieces.
struct Blocks<'a, 'b> {
    plan: &'a Plan,
    factors: &'a [[f32; 2]],
    /// The samples, from `history` before the first result on.
    lanes: Lanes<'a>,
    history: usize,
    step: usize,
    z: &'a mut [Point],
    rows: &'a mut [&'b mut [f32]],
    ahead: Ahead<'a>,
    streamed: bool,
}

impl Kernel for Blocks<'_, '_> {
    type Output = Found;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Found {
        let strange = self.pack(simd);
        self.plan.convolve(simd, self.factors, self.z, &mut self.ahead);
        let zero = f32x16::splat(simd, 0.0);
        // Zero times what is not finite is NaN.
        let mut overflow = zero;
        // The parts come back exchanged.
        for (part, start) in [(1, 0), (0, self.step)] {
            let mut near = [[0.0; LANES]; NEAR];
            for (i, points) in self.z[self.history..].chunks(NEAR).enumerate() {
                for (frame, point) in near.iter_mut().zip(points) {
                    let v = f32x16::load_array_ref(simd, &point[part]);
                    overflow = v.mul_add(zero, overflow);
                    v.store_array(frame);
                }
                unpack(simd, start + i * NEAR, &near[..points.len()], self.rows, self.streamed);
            }
        }
        if self.streamed {
            stream::fence();
        }
        Found { strange: marked(strange), overflow: marked(overflow) }
    }
}

impl Blocks<'_, '_> {
    /// Brings samples into lanes, zeros for those that are tiny or not finite; gives NaN for lanes that have such.
    #[inline(always)]
    fn pack<S: Simd>(&mut self, simd: S) -> f32x16<S> {
        let (zero, points) = (f32x16::splat(simd, 0.0), self.z.len());
        let (tiny, largest) = (f32x16::splat(simd, TINY), f32x16::splat(simd, f32::MAX));
        let mut strange = zero;
        let mut frames: [Frame; BLOCK] = [[0.0; LANES]; BLOCK];
        for t in (0..points + self.step).step_by(BLOCK) {
            self.lanes.pack(simd, t, PREFETCHED, &mut frames);
            for frame in &mut frames {
                let v = f32x16::load_array_ref(simd, frame);
                strange = v.mul_add(zero, strange);
                let size = v.abs();
                (size.simd_ge(tiny) & size.simd_le(largest)).select(v, zero).store_array(frame);
            }
            if t < points {
                for (point, frame) in self.z[t..t + BLOCK].iter_mut().zip(&frames) {
                    point[0] = *frame;
                }
            }
            if t >= self.step {
                for (point, frame) in self.z[t - self.step..][..BLOCK].iter_mut().zip(&frames) {
                    point[1] = *frame;
                }
            }
        }
        strange
    }
}

#[inline(always)]
fn marked<S: Simd>(v: f32x16<S>) -> [bool; LANES] {
    let mut lanes = [0.0f32; LANES];
    v.store_array(&mut lanes);
    lanes.map(f32::is_nan)
}
