//! Long transforms: a row as a table, its columns transformed and then its rows, sixteen at a time (Bailey, 1990).
//!
//! Neighbouring columns lie side by side in memory, and so do the results of neighbouring rows: nothing is transposed but
//! the table between, in blocks of 16 x 16. Each step is one read and one write of the row, in the second cache if it fits.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

use super::butterflies::Complex;
use super::{Ahead, MOST_POINTS, Plan, Point, load, root, store};
use crate::simd::lanes::{Frame, LANES};
use crate::simd::{Kernel, stream, transpose};

/// Fewest points for which there are plans: less is better transformed sixteen rows at a time.
const FEWEST_POINTS: usize = 512;
/// Most points: roots of a longer row would not be exact enough as indices of float64 angles, and take too much memory.
const MOST: usize = 1 << 24;
/// Plans that are kept.
const MAX_PLANS: usize = 8;

/// The transform of a long row.
#[derive(Debug)]
pub(in crate::ops::spectral) struct Long {
    points: usize,
    /// Of the columns, whose length it has.
    down: Arc<Plan>,
    /// Of the rows.
    along: Arc<Plan>,
    /// Between the steps: root `j * k` of the row's degree for row `k` of column `j`, by groups of sixteen columns, in the order in
    /// which their transforms leave them.
    turns: Vec<Point>,
    /// Root `k` of twice the degree, `k` from 1 on.
    halves: Vec<Point>,
}

/// Work space of a thread.
#[derive(Debug, Default)]
pub(in crate::ops::spectral) struct Space {
    table: Vec<Point>,
    lanes: Vec<Point>,
}

impl Space {
    pub const fn new() -> Self {
        Space { table: Vec::new(), lanes: Vec::new() }
    }
}

const ZERO: Point = [[0.0; LANES]; 2];

/// Length of the columns and of the rows: lanes well filled, and both about as long.
fn sides(points: usize) -> Option<(usize, usize)> {
    let cost = |(a, b): &(usize, usize)| {
        let filled = |n: usize| n.next_multiple_of(LANES) as f64 / n as f64;
        filled(*a) * filled(*b) + 0.02 * (*a as f64 / *b as f64).log2().abs()
    };
    // Both orders of a pair cost the same, and every call asks whether there is one.
    (LANES..=points.isqrt().min(MOST_POINTS))
        .filter(|a| points.is_multiple_of(*a))
        .map(|a| (a, points / a))
        .filter(|(a, b)| Plan::exists(*a) && Plan::exists(*b))
        .min_by(|x, y| cost(x).total_cmp(&cost(y)))
}

impl Long {
    /// Whether there is a plan for so many points.
    pub fn exists(points: usize) -> bool {
        (FEWEST_POINTS..=MOST).contains(&points) && sides(points).is_some()
    }

    /// The kept plan for so many points.
    pub fn get(points: usize) -> Option<Arc<Long>> {
        static PLANS: LazyLock<Mutex<HashMap<usize, Arc<Long>>>> = LazyLock::new(Mutex::default);
        let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&points) {
            return Some(plan.clone());
        }
        let plan = Arc::new(Long::new(points)?);
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(points, plan.clone());
        Some(plan)
    }

    fn new(points: usize) -> Option<Long> {
        let (length, columns) = if Long::exists(points) { sides(points)? } else { return None };
        let (down, along) = (Plan::get(length)?, Plan::get(columns)?);
        let lanes = |degree: usize, k: &dyn Fn(usize) -> usize| {
            let roots: [[f32; 2]; LANES] = std::array::from_fn(|lane| root(degree, k(lane)));
            [0, 1].map(|side| roots.map(|root| root[side]))
        };
        let groups = columns.div_ceil(LANES);
        let turns = (0..groups * length).map(|i| {
            let (group, place) = (i / length, i % length);
            lanes(points, &|lane| (LANES * group + lane) * down.result_at(place))
        });
        let halves = (0..points / 2 / LANES + 1).map(|i| lanes(2 * points, &|lane| 1 + LANES * i + lane));
        let (turns, halves) = (turns.collect(), halves.collect());
        Some(Long { points, down, along, turns, halves })
    }

    /// How many butterflies a row takes.
    pub fn butterflies(&self) -> usize {
        let (length, columns) = (self.down.points, self.along.points);
        columns.div_ceil(LANES) * self.down.butterflies() + length.div_ceil(LANES) * self.along.butterflies()
    }

    /// The transform of a row of complex values, real and imaginary parts in turn, times a factor. `swapped` exchanges the parts before and after, which makes it the inverse.
    #[inline(always)]
    fn transform<S: Simd>(&self, simd: S, task: Row<'_>) {
        let Row { from, row, swapped, factor, space, mut ahead, .. } = task;
        let (length, columns) = (self.down.points, self.along.points);
        let groups = columns.div_ceil(LANES);
        grow(&mut space.table, groups * length.next_multiple_of(LANES));
        grow(&mut space.lanes, length.max(LANES * groups + columns));
        let Space { table, lanes } = space;

        let (z, values) = (&mut lanes[..length], from.unwrap_or(row));
        for (group, turns) in self.turns.chunks_exact(length).enumerate() {
            let width = (columns - LANES * group).min(LANES);
            let table = &mut table[group * length..][..length];
            self.down.through(
                simd,
                z,
                &mut ahead,
                #[inline(always)]
                |k| side_by_side(simd, values, 2 * (k * columns + LANES * group), width, swapped),
                #[inline(always)]
                |place, v| {
                    let turn = load(simd, &turns[place]);
                    let re = v.re.mul_sub(turn.re, v.im * turn.im);
                    let im = v.re.mul_add(turn.im, v.im * turn.re);
                    store(Complex { re, im }, &mut table[self.down.result_at(place)]);
                },
            );
        }

        let factor = f32x16::splat(simd, factor);
        let (points, z) = lanes.split_at_mut(LANES * groups);
        for first in (0..length).step_by(LANES) {
            let width = (length - first).min(LANES);
            for (group, points) in points.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                // Past the last row of the table lies what is not looked at.
                let part = &table[group * length + first..][..LANES];
                for side in 0..2 {
                    let source: [&Frame; LANES] = std::array::from_fn(|i| &part[i][side]);
                    let mut points = points.each_mut().map(|point| &mut point[side]);
                    transpose::block(simd, &source, &mut points, false);
                }
            }
            self.along.through(
                simd,
                z,
                &mut ahead,
                #[inline(always)]
                |k| load(simd, &points[k]),
                #[inline(always)]
                |place, v| {
                    let at = 2 * (self.along.result_at(place) * length + first);
                    put(v.scaled(factor), row, at, width, swapped);
                },
            );
        }
    }

    /// In place: the spectrum of a real row, `points + 1` values, from the transform of its even samples plus i times its odd
    /// ones (`forward`), or the reverse without its factor of a half; as [`Plan::separate`] and [`Plan::join`].
    #[inline(always)]
    fn mirror<S: Simd>(&self, simd: S, row: &mut [f32], forward: bool, factor: f32) {
        let m = self.points;
        if !forward {
            (row[1], row[2 * m + 1]) = (0.0, 0.0);
        }
        let last = if forward { [row[0], row[1]] } else { [row[2 * m], row[2 * m + 1]] };
        let sign = if forward { 1.0 } else { -1.0 };
        let (first, last) = pair([row[0], row[1]], last, [sign, 0.0], factor);
        // Those of a spectrum are real, even of rows that are not finite.
        (row[0], row[1]) = (first[0], if forward { 0.0 } else { first[1] });
        (row[2 * m], row[2 * m + 1]) = (last[0], if forward { 0.0 } else { last[1] });
        let mut k = 1;
        for half in &self.halves {
            if 2 * (k + LANES - 1) >= m {
                break;
            }
            let (p, q) = pairs(simd, row, k, m, half, sign, factor);
            put(p, row, 2 * k, LANES, false);
            put(q, row, 2 * (m - k - LANES + 1), LANES, false);
            k += LANES;
        }
        for k in k..m / 2 + 1 {
            let [re, im] = self.half(k);
            let (p, q) = pair(value(row, k), value(row, m - k), [sign * re, im], factor);
            row[2 * (m - k)..][..2].copy_from_slice(&q);
            row[2 * k..][..2].copy_from_slice(&p);
        }
    }

    /// The forward [`Long::mirror`] of `row`, past the caches. Whole lines are put together near by, from both ends of the
    /// row on.
    #[inline(always)]
    fn spectrum<S: Simd>(&self, simd: S, row: &[f32], to: &mut [f32], factor: f32) {
        const GROUPS: usize = 8;
        const FLOATS: usize = 2 * LANES * GROUPS;
        let m = self.points;
        let (first, last) = pair(value(row, 0), value(row, 0), [1.0, 0.0], factor);
        let (mut low, mut high) = ([0.0; FLOATS + 2], [0.0; FLOATS]);
        low[0] = first[0];
        (to[2 * m], to[2 * m + 1]) = (last[0], 0.0);
        let mut k = 1;
        for halves in self.halves.as_chunks::<GROUPS>().0 {
            if 2 * (k + LANES * GROUPS - 1) >= m {
                break;
            }
            for (i, half) in halves.iter().enumerate() {
                let (p, q) = pairs(simd, row, k + LANES * i, m, half, 1.0, factor);
                put(p, &mut low, 2 + 2 * LANES * i, LANES, false);
                put(q, &mut high, FLOATS - 2 * LANES * (i + 1), LANES, false);
            }
            stream::copy(simd, &low[..FLOATS], &mut to[2 * (k - 1)..][..FLOATS]);
            low.copy_within(FLOATS.., 0);
            k += LANES * GROUPS;
            stream::copy(simd, &high, &mut to[2 * (m + 1 - k)..][..FLOATS]);
        }
        to[2 * (k - 1)..2 * k].copy_from_slice(&low[..2]);
        for half in &self.halves[(k - 1) / LANES..] {
            if 2 * (k + LANES - 1) >= m {
                break;
            }
            let (p, q) = pairs(simd, row, k, m, half, 1.0, factor);
            put(p, to, 2 * k, LANES, false);
            put(q, to, 2 * (m - k - LANES + 1), LANES, false);
            k += LANES;
        }
        for k in k..m / 2 + 1 {
            let (p, q) = pair(value(row, k), value(row, m - k), self.half(k), factor);
            to[2 * (m - k)..][..2].copy_from_slice(&q);
            to[2 * k..][..2].copy_from_slice(&p);
        }
    }

    /// Root `k` of twice the degree.
    fn half(&self, k: usize) -> [f32; 2] {
        let half = &self.halves[(k - 1) / LANES];
        [0, 1].map(|side| half[side][(k - 1) % LANES])
    }
}

fn value(row: &[f32], k: usize) -> [f32; 2] {
    [row[2 * k], row[2 * k + 1]]
}

/// The mirrored values of two values that are each other's mirror.
fn pair(a: [f32; 2], b: [f32; 2], [re, im]: [f32; 2], factor: f32) -> ([f32; 2], [f32; 2]) {
    let b = [b[0], -b[1]];
    let (sum, d) = ([a[0] + b[0], a[1] + b[1]], [a[0] - b[0], a[1] - b[1]]);
    let turned = [d[0] * im + d[1] * re, d[1] * im - d[0] * re];
    let p = [factor * (sum[0] + turned[0]), factor * (sum[1] + turned[1])];
    (p, [factor * (sum[0] - turned[0]), -factor * (sum[1] - turned[1])])
}

/// The same for sixteen pairs, `k` and `m - k` on.
#[inline(always)]
fn pairs<S: Simd>(
    simd: S,
    row: &[f32],
    k: usize,
    m: usize,
    half: &Point,
    sign: f32,
    factor: f32,
) -> (Complex<S>, Complex<S>) {
    let mut root = load(simd, half);
    root.re *= f32x16::splat(simd, sign);
    let a = side_by_side(simd, row, 2 * k, LANES, false);
    let b = side_by_side(simd, row, 2 * (m - k - LANES + 1), LANES, false);
    let b = Complex { re: b.re.reverse(), im: -b.im.reverse() };
    let (sum, difference) = (a + b, a - b);
    let turned = Complex {
        re: difference.re.mul_add(root.im, difference.im * root.re),
        im: difference.im.mul_sub(root.im, difference.re * root.re),
    };
    let by = f32x16::splat(simd, factor);
    let (p, q) = ((sum + turned).scaled(by), (sum - turned).scaled(by));
    (p, Complex { re: q.re.reverse(), im: -q.im.reverse() })
}

fn grow(space: &mut Vec<Point>, len: usize) {
    if space.len() < len {
        space.resize(len, ZERO);
    }
}

/// `width` complex values from float `at` on, in lanes.
#[inline(always)]
fn side_by_side<S: Simd>(simd: S, from: &[f32], at: usize, width: usize, swapped: bool) -> Complex<S> {
    let mut copy = [0.0; 2 * LANES];
    let values = match from.get(at..).and_then(|rest| rest.first_chunk::<{ 2 * LANES }>()) {
        Some(values) if width == LANES => values,
        _ => {
            let rest = from.get(at..(at + 2 * width).min(from.len())).unwrap_or_default();
            copy[..rest.len()].copy_from_slice(rest);
            &copy
        }
    };
    let (low, high) = values.split_at(LANES);
    let (re, im) = f32x16::from_slice(simd, low).deinterleave(f32x16::from_slice(simd, high));
    if swapped { Complex { re: im, im: re } } else { Complex { re, im } }
}

/// The reverse.
#[inline(always)]
fn put<S: Simd>(v: Complex<S>, to: &mut [f32], at: usize, width: usize, swapped: bool) {
    let (low, high) = if swapped { v.im.interleave(v.re) } else { v.re.interleave(v.im) };
    if width == LANES {
        let (first, second) = to[at..at + 2 * LANES].split_at_mut(LANES);
        low.store_slice(first);
        high.store_slice(second);
        return;
    }
    let mut copy = [0.0; 2 * LANES];
    low.store_slice(&mut copy[..LANES]);
    high.store_slice(&mut copy[LANES..]);
    to[at..at + 2 * width].copy_from_slice(&copy[..2 * width]);
}

/// One row to be transformed, in place.
pub(in crate::ops::spectral) struct Row<'a> {
    pub long: &'a Long,
    /// The row as it comes, if it is not in `row`.
    pub from: Option<&'a [f32]>,
    /// Room for the row as it comes and for its result. It should be near: it is written in pieces.
    pub row: &'a mut [f32],
    /// Inverse.
    pub swapped: bool,
    /// Real rows, or rows that become real.
    pub real: bool,
    pub factor: f32,
    pub space: &'a mut Space,
    /// What is asked for meanwhile.
    pub ahead: Ahead<'a>,
    /// Where the result goes past the caches, if it does.
    pub streamed: Option<&'a mut [f32]>,
}

impl Kernel for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Row { long, from, row, swapped, real, factor, space, ahead, streamed } = self;
        let (separated, past) = (real && !swapped, streamed.is_some());
        if real && swapped {
            long.mirror(simd, row, false, 1.0);
        }
        let own = if separated { 1.0 } else { factor };
        long.transform(
            simd,
            Row { long, from, row: &mut *row, swapped, real, factor: own, space, ahead, streamed: None },
        );
        match streamed {
            Some(to) if separated => long.spectrum(simd, row, to, 0.5 * factor),
            Some(to) => stream::copy(simd, row, to),
            None if separated => long.mirror(simd, row, true, 0.5 * factor),
            None => {}
        }
        if past {
            stream::fence();
        }
    }
}
