//! One frame of a channel: taken, freed of its mean or trend, weighted, padded with zeros.
//!
//! The mean and the line are found in float64 relative to the frame's first sample, so that a constant, however large,
//! leaves exact zeros; differences are rounded to float32 only after they have been taken.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, f64x8};

use super::{Boundary, Detrend, Geometry, Real, Table};
use crate::error::Result;
use crate::signal::{Signal, Source, View};
use crate::simd::{self, Kernel};

/// Hands over rows whose samples lie side by side, copied only if they do not.
pub(crate) fn planar<R>(x: Source<'_>, run: impl FnOnce(View<'_, f32>) -> Result<R>) -> Result<R> {
    match x {
        Source::F32(view) if view.channels() == 0 || view.row(0).is_some() => run(view),
        _ => run(Signal::from_source(x)?.view()),
    }
}

/// What is taken off a frame: `value + slope * (i - middle)`, relative to `origin`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line {
    pub origin: f64,
    pub value: f64,
    pub slope: f64,
}

/// Makes the frames of one channel.
pub(crate) struct Loader<'a> {
    row: &'a [f32],
    geometry: &'a Geometry,
    table: &'a Table,
}

impl<'a> Loader<'a> {
    /// `row` holds at least the samples that count.
    pub fn new(row: &'a [f32], geometry: &'a Geometry, table: &'a Table) -> Self {
        Loader { row: &row[..geometry.samples], geometry, table }
    }

    /// Frame `index` into the first `nperseg` of `out`, zeros into the rest. `copy` is work space.
    pub fn frame<T: Real>(&self, index: usize, copy: &mut Vec<f32>, out: &mut [T]) {
        let Geometry { nperseg, step, edge, detrend, .. } = *self.geometry;
        let (start, end) = (index * step, index * step + nperseg);
        let (out, rest) = out.split_at_mut(nperseg);
        rest.fill(T::zero());
        let x = match start >= edge && end - edge <= self.row.len() {
            true => &self.row[start - edge..end - edge],
            false => {
                copy.clear();
                copy.extend((start..end).map(|at| self.extended(at as isize - edge as isize)));
                copy.as_slice()
            }
        };
        simd::level().run(Weigh { x, detrend, table: self.table, out });
    }

    /// The sample at `at` of the channel and what goes on beyond its ends.
    fn extended(&self, at: isize) -> f32 {
        let (x, last, edge) = (self.row, self.row.len() as isize - 1, self.geometry.edge as isize);
        if (0..=last).contains(&at) {
            return x[at as usize];
        }
        // What pads the last frame lies beyond the extension.
        if at > last + edge {
            return 0.0;
        }
        let (end, mirrored) = if at < 0 { (0, -at) } else { (last, 2 * last - at) };
        let (end, mirrored) = (x[end as usize], usize::try_from(mirrored).ok().and_then(|m| x.get(m)));
        match (self.geometry.boundary, mirrored) {
            (Boundary::Even, Some(m)) => *m,
            (Boundary::Odd, Some(m)) => (2.0 * f64::from(end) - f64::from(*m)) as f32,
            (Boundary::Constant, _) => end,
            _ => 0.0,
        }
    }
}

/// Detrends and weighs a frame.
pub(super) struct Weigh<'a, T> {
    pub(super) x: &'a [f32],
    pub(super) detrend: Detrend,
    pub(super) table: &'a Table,
    pub(super) out: &'a mut [T],
}

impl<T: Real> Kernel for Weigh<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let line = match self.detrend {
            Detrend::None => None,
            Detrend::Constant => Some(mean(simd, self.x)),
            Detrend::Linear => Some(trend(simd, self.x)),
        };
        T::weigh(simd, self.x, line, self.table, self.out);
    }
}

#[inline(always)]
fn mean<S: Simd>(simd: S, x: &[f32]) -> Line {
    let Some(&first) = x.first() else { return Line::default() };
    let origin = f64x8::splat(simd, f64::from(first));
    let mut sums = [f64x8::splat(simd, 0.0); 4];
    let (blocks, rest) = x.as_chunks::<16>();
    for (i, block) in blocks.iter().enumerate() {
        let (low, high) = f32x16::load_array_ref(simd, block).widen();
        let at = 2 * (i % 2);
        sums[at] += low - origin;
        sums[at + 1] += high - origin;
    }
    let total = total(sums[0] + sums[2]) + total(sums[1] + sums[3]);
    let rest: f64 = rest.iter().map(|v| f64::from(*v) - f64::from(first)).sum();
    Line { origin: f64::from(first), value: (total + rest) / x.len() as f64, slope: 0.0 }
}

#[inline(always)]
fn trend<S: Simd>(simd: S, x: &[f32]) -> Line {
    let Some(&first) = x.first() else { return Line::default() };
    let origin = f64x8::splat(simd, f64::from(first));
    let (n, middle) = (x.len() as f64, (x.len() - 1) as f64 / 2.0);
    let mut at: [f64x8<S>; 2] =
        [0, 8].map(|from| f64x8::load_array(simd, std::array::from_fn(|i| (from + i) as f64 - middle)));
    let (zero, step) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, 16.0));
    let (mut sums, mut moments) = ([zero; 2], [zero; 2]);
    let (blocks, rest) = x.as_chunks::<16>();
    for block in blocks {
        let (low, high) = f32x16::load_array_ref(simd, block).widen();
        let (low, high) = (low - origin, high - origin);
        sums[0] += low;
        sums[1] += high;
        moments[0] = low.mul_add(at[0], moments[0]);
        moments[1] = high.mul_add(at[1], moments[1]);
        at[0] += step;
        at[1] += step;
    }
    let (mut sum, mut moment) = (total(sums[0] + sums[1]), total(moments[0] + moments[1]));
    for (i, v) in rest.iter().enumerate() {
        let d = f64::from(*v) - f64::from(first);
        sum += d;
        moment += d * ((16 * blocks.len() + i) as f64 - middle);
    }
    let spread = n * (n * n - 1.0) / 12.0;
    Line { origin: f64::from(first), value: sum / n, slope: if spread > 0.0 { moment / spread } else { 0.0 } }
}

#[inline(always)]
fn total<S: Simd>(v: f64x8<S>) -> f64 {
    let mut lanes = [0.0; 8];
    v.store_array(&mut lanes);
    lanes.iter().sum()
}

/// [`Real::weigh`] in float32: differences are taken in float64.
#[inline(always)]
pub(super) fn weigh_f32<S: Simd>(simd: S, x: &[f32], line: Option<Line>, table: &Table, out: &mut [f32]) {
    let weights = table.scaled.as_slice();
    match line {
        None if weights.is_empty() => out.copy_from_slice(x),
        None => out.iter_mut().zip(x).zip(weights).for_each(|((out, x), w)| *out = x * w),
        Some(line) => {
            level(simd, x, line, out);
            if !weights.is_empty() {
                out.iter_mut().zip(weights).for_each(|(out, w)| *out *= w);
            }
        }
    }
}

/// Takes a line off.
#[inline(always)]
fn level<S: Simd>(simd: S, x: &[f32], line: Line, out: &mut [f32]) {
    let middle = (x.len().max(1) - 1) as f64 / 2.0;
    let (blocks, rest) = x.as_chunks::<16>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<16>();
    let (origin, slope) = (f64x8::splat(simd, line.origin), f64x8::splat(simd, line.slope));
    // The line at the first samples; it is followed by additions of equal steps.
    let of = |at: usize| line.slope * (at as f64 - middle) + line.value;
    let lanes = |from: usize| f64x8::load_array(simd, std::array::from_fn(|i| (from + i) as f64 - middle));
    let (value, mut at, step) = (f64x8::splat(simd, line.value), [lanes(0), lanes(8)], f64x8::splat(simd, 16.0));
    for (block, out) in blocks.iter().zip(out_blocks) {
        let (low, high) = f32x16::load_array_ref(simd, block).widen();
        let low = low - origin - slope.mul_add(at[0], value);
        let high = high - origin - slope.mul_add(at[1], value);
        low.narrow(high).store_array(out);
        at[0] += step;
        at[1] += step;
    }
    for (i, (x, out)) in rest.iter().zip(out_rest).enumerate() {
        *out = (f64::from(*x) - line.origin - of(16 * blocks.len() + i)) as f32;
    }
}

/// [`Real::weigh`] in float64.
#[inline(always)]
pub(super) fn weigh_f64(x: &[f32], line: Option<Line>, table: &Table, out: &mut [f64]) {
    let line = line.unwrap_or_default();
    let middle = (x.len().max(1) - 1) as f64 / 2.0;
    for (i, (out, x)) in out.iter_mut().zip(x).enumerate() {
        *out = f64::from(*x) - line.origin - (line.slope * (i as f64 - middle) + line.value);
    }
    out.iter_mut().zip(&table.weights).for_each(|(out, w)| *out *= w);
}
