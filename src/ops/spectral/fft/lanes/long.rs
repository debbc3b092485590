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
use crate::simd::{Kernel, transpose};

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
    /// Between the steps: root `j * k` of the row's degree for row `k` of column `j`, by groups of sixteen columns.
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
        let lanes = |degree: usize, k: &dyn Fn(usize) -> usize| {
            let roots: [[f32; 2]; LANES] = std::array::from_fn(|lane| root(degree, k(lane)));
            [0, 1].map(|side| roots.map(|root| root[side]))
        };
        let groups = columns.div_ceil(LANES);
        let turns = (0..groups * length).map(|i| {
            let (group, k) = (i / length, i % length);
            lanes(points, &|lane| (LANES * group + lane) * k)
        });
        let halves = (0..points / 2 / LANES + 1).map(|i| lanes(2 * points, &|lane| 1 + LANES * i + lane));
        let (turns, halves) = (turns.collect(), halves.collect());
        Some(Long { points, down: Plan::get(length)?, along: Plan::get(columns)?, turns, halves })
    }

    /// The transform of a row of complex values, real and imaginary parts in turn, times a factor. `swapped` exchanges the parts before and after, which makes it the inverse.
    #[inline(always)]
    fn transform<S: Simd>(&self, simd: S, task: Row<'_>) {
        let Row { row, swapped, factor, space, .. } = task;
        let (length, columns) = (self.down.points, self.along.points);
        let groups = columns.div_ceil(LANES);
        grow(&mut space.table, groups * length.next_multiple_of(LANES));
        grow(&mut space.lanes, length.max(LANES * groups));
        let Space { table, lanes } = space;

        let z = &mut lanes[..length];
        for (group, turns) in self.turns.chunks_exact(length).enumerate() {
            let width = (columns - LANES * group).min(LANES);
            for (k, z) in z.iter_mut().enumerate() {
                store(side_by_side(simd, row, 2 * (k * columns + LANES * group), width, swapped), z);
            }
            self.down.transform(simd, z, &mut Ahead::default());
            for (k, (turn, out)) in turns.iter().zip(&mut table[group * length..]).enumerate() {
                let (v, turn) = (self.down.at(simd, z, k), load(simd, turn));
                let re = v.re.mul_sub(turn.re, v.im * turn.im);
                store(Complex { re, im: v.re.mul_add(turn.im, v.im * turn.re) }, out);
            }
        }

        let factor = f32x16::splat(simd, factor);
        let z = &mut lanes[..LANES * groups];
        for first in (0..length).step_by(LANES) {
            let width = (length - first).min(LANES);
            for (group, z) in z.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                // Past the last row of the table lies what is not looked at.
                let part = &table[group * length + first..][..LANES];
                for side in 0..2 {
                    let source: [&Frame; LANES] = std::array::from_fn(|i| &part[i][side]);
                    let mut points = z.each_mut().map(|point| &mut point[side]);
                    transpose::block(simd, &source, &mut points, false);
                }
            }
            self.along.transform(simd, &mut z[..columns], &mut Ahead::default());
            for k in 0..columns {
                let v = self.along.at(simd, z, k).scaled(factor);
                put(v, row, 2 * (k * length + first), width, swapped);
            }
        }
    }

    /// In place: the spectrum of a real row, `points + 1` values, from the transform of its even samples plus i times its odd
    /// ones (`forward`), or the reverse without its factor of a half; as [`Plan::separate`] and [`Plan::join`].
    #[inline(always)]
    fn mirror<S: Simd>(&self, simd: S, row: &mut [f32], forward: bool, factor: f32) {
        let m = self.points;
        if forward {
            (row[2 * m], row[2 * m + 1]) = (row[0], row[1]);
        } else {
            (row[1], row[2 * m + 1]) = (0.0, 0.0);
        }
        one_pair(row, 0, m, if forward { [1.0, 0.0] } else { [-1.0, 0.0] }, factor);
        if forward {
            // These are real, even of rows that are not finite.
            (row[1], row[2 * m + 1]) = (0.0, 0.0);
        }
        let by = f32x16::splat(simd, factor);
        let sign = f32x16::splat(simd, if forward { 1.0 } else { -1.0 });
        let mut k = 1;
        for half in &self.halves {
            let last = k + LANES - 1;
            if 2 * last >= m {
                break;
            }
            let mut root = load(simd, half);
            root.re *= sign;
            let a = side_by_side(simd, row, 2 * k, LANES, false);
            let b = side_by_side(simd, row, 2 * (m - last), LANES, false);
            let b = Complex { re: b.re.reverse(), im: -b.im.reverse() };
            let (sum, difference) = (a + b, a - b);
            let turned = Complex {
                re: difference.re.mul_add(root.im, difference.im * root.re),
                im: difference.im.mul_sub(root.im, difference.re * root.re),
            };
            let (p, q) = ((sum + turned).scaled(by), (sum - turned).scaled(by));
            put(p, row, 2 * k, LANES, false);
            put(Complex { re: q.re.reverse(), im: -q.im.reverse() }, row, 2 * (m - last), LANES, false);
            k += LANES;
        }
        for k in k..m / 2 + 1 {
            let [re, im] = super::root(2 * m, k);
            one_pair(row, k, m, if forward { [re, im] } else { [-re, im] }, factor);
        }
    }
}

/// The mirrored values `k` and `m - k` of a row.
fn one_pair(row: &mut [f32], k: usize, m: usize, [re, im]: [f32; 2], factor: f32) {
    let (a, b) = ([row[2 * k], row[2 * k + 1]], [row[2 * (m - k)], -row[2 * (m - k) + 1]]);
    let (sum, d) = ([a[0] + b[0], a[1] + b[1]], [a[0] - b[0], a[1] - b[1]]);
    let turned = [d[0] * im + d[1] * re, d[1] * im - d[0] * re];
    (row[2 * (m - k)], row[2 * (m - k) + 1]) = (factor * (sum[0] - turned[0]), -factor * (sum[1] - turned[1]));
    (row[2 * k], row[2 * k + 1]) = (factor * (sum[0] + turned[0]), factor * (sum[1] + turned[1]));
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
    /// Room for the row as it comes and for its result. It should be near: it is written in pieces.
    pub row: &'a mut [f32],
    /// Inverse.
    pub swapped: bool,
    /// Real rows, or rows that become real.
    pub real: bool,
    pub factor: f32,
    pub space: &'a mut Space,
}

impl Kernel for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Row { long, row, swapped, real, factor, space } = self;
        let separated = real && !swapped;
        if real && swapped {
            long.mirror(simd, row, false, 1.0);
        }
        let own = if separated { 1.0 } else { factor };
        long.transform(simd, Row { long, row: &mut *row, swapped, real, factor: own, space });
        if separated {
            long.mirror(simd, row, true, 0.5 * factor);
        }
    }
}
