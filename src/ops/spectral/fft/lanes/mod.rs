//! Short transforms on the CPU, sixteen rows at a time, one in each lane.
//!
//! All rows take the same steps, so nothing is shuffled within a vector and every root is the same in all lanes: passes in
//! place, decimated in frequency (Gentleman and Sande, 1966), radix 8 first. The first passes run over the whole, the
//! others block after block within the nearest cache; results then stand in the order of their reversed digits and are
//! read from there. A real row of even length is a complex one of half the length, taken apart at the end, or put together
//! at the start of the inverse.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

use crate::simd::lanes::{BLOCK, Frame, LANES, unpack};
use crate::simd::{prefetch, transpose};

mod butterflies;
pub(super) mod long;
#[cfg(test)]
mod tests;

use butterflies::{Complex, dft};

/// Real and imaginary parts of one point of sixteen rows.
pub(in crate::ops) type Point = [Frame; 2];

/// Most points: work space then is a part of the second cache.
pub(in crate::ops) const MOST_POINTS: usize = 4096;
/// Points of a block that fits the nearest cache.
const NEAR: usize = 192;
/// Plans that are kept.
const MAX_PLANS: usize = 64;

/// A pass over blocks of `radix * span` points.
#[derive(Debug, Clone)]
struct Pass {
    radix: usize,
    span: usize,
    /// Of its roots.
    first: usize,
}

/// What is needed next, asked for between butterflies: memory that is waited for all at once is most of a transform.
#[derive(Debug, Default)]
pub(in crate::ops) struct Ahead<'a> {
    data: &'a [f32],
    at: usize,
    end: usize,
    /// Lines of the cache after each butterfly.
    each: usize,
}

impl<'a> Ahead<'a> {
    /// Asks for this range of `data` in the course of so many butterflies.
    pub fn new(data: &'a [f32], range: std::ops::Range<usize>, butterflies: usize) -> Self {
        let end = range.end.min(data.len());
        let each = end.saturating_sub(range.start).div_ceil(LANES).div_ceil(butterflies.max(1));
        Ahead { data, at: range.start, end, each }
    }

    #[inline(always)]
    fn step(&mut self) {
        for _ in 0..self.each {
            if self.at < self.end {
                prefetch(self.data, self.at);
                self.at += LANES;
            }
        }
    }
}

/// The transform of so many complex points.
#[derive(Debug)]
pub(in crate::ops) struct Plan {
    points: usize,
    passes: Vec<Pass>,
    /// Roots of all passes: `radix - 1` for each point of a span.
    roots: Vec<[f32; 2]>,
    /// Where a result stands.
    order: Vec<u32>,
    /// Which result stands at a place.
    results: Vec<u32>,
    /// Roots of twice the degree, the first half of a turn.
    halves: Vec<[f32; 2]>,
}

/// Radices, the widest first; `None` for lengths with larger prime factors.
fn radices(points: usize) -> Option<Vec<usize>> {
    let (mut left, mut found) = (points, Vec::new());
    for radix in [7, 5, 3] {
        while left.is_multiple_of(radix) {
            found.push(radix);
            left /= radix;
        }
    }
    if !left.is_power_of_two() {
        return None;
    }
    // 8 8 ... and what is left: 8, 4, 2 or, for two bits more than threes, 4 4 rather than 8 2.
    let mut bits = left.trailing_zeros();
    while bits > 0 {
        let taken = if bits == 4 { 2 } else { bits.min(3) };
        found.push(1 << taken);
        bits -= taken;
    }
    found.sort_unstable_by(|a, b| b.cmp(a));
    Some(found)
}

fn root(degree: usize, k: usize) -> [f32; 2] {
    let angle = -TAU * (k % degree) as f64 / degree as f64;
    [angle.cos() as f32, angle.sin() as f32]
}

type Plans = HashMap<usize, Arc<Plan>>;

impl Plan {
    /// Whether there is a plan for so many points.
    pub fn exists(points: usize) -> bool {
        (1..=MOST_POINTS).contains(&points) && radices(points).is_some()
    }

    /// The kept plan for so many points.
    pub fn get(points: usize) -> Option<Arc<Plan>> {
        static PLANS: LazyLock<Mutex<Plans>> = LazyLock::new(Mutex::default);
        let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get(&points) {
            return Some(plan.clone());
        }
        let plan = Arc::new(Plan::new(points)?);
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(points, plan.clone());
        Some(plan)
    }

    fn new(points: usize) -> Option<Plan> {
        let radices = if Plan::exists(points) { radices(points)? } else { return None };
        let (mut passes, mut roots, mut order) = (Vec::new(), Vec::new(), vec![0u32]);
        let mut span = points;
        for radix in radices {
            let length = span;
            span /= radix;
            passes.push(Pass { radix, span, first: roots.len() });
            roots.extend((0..span).flat_map(|j| (1..radix).map(move |q| root(length, j * q))));
            // A result's digits, the lowest first, are the parts it lies in.
            let parts = (0..radix as u32).map(|q| q * span as u32);
            order = parts.flat_map(|part| order.iter().map(move |at| at + part)).collect();
        }
        let halves = (0..points / 2 + 1).map(|k| root(2 * points, k)).collect();
        let mut results = vec![0; points];
        order.iter().enumerate().for_each(|(k, at)| results[*at as usize] = k as u32);
        Some(Plan { points, passes, roots, order, results, halves })
    }

    /// How many there are in all passes.
    pub fn butterflies(&self) -> usize {
        self.passes.iter().map(|p| self.points / p.radix).sum()
    }

    /// The transforms of `z`, left in its own order.
    #[inline(always)]
    pub fn transform<S: Simd>(&self, simd: S, z: &mut [Point], ahead: &mut Ahead<'_>) {
        self.passes(
            simd,
            &self.passes,
            z,
            ahead,
            #[inline(always)]
            |_, _, _| {},
        );
    }

    /// The transforms of what `input` gives, handed to `output` place by place, in the order of their digits reversed (see
    /// [`Plan::result_at`]): the first pass reads what is there, the last keeps nothing. At least two passes.
    #[inline(always)]
    fn through<S: Simd>(
        &self,
        simd: S,
        z: &mut [Point],
        ahead: &mut Ahead<'_>,
        input: impl Fn(usize) -> Complex<S>,
        mut output: impl FnMut(usize, Complex<S>),
    ) {
        let [first, middle @ .., last] = &self.passes[..] else { return };
        let z = &mut z[..self.points];
        let roots = &self.roots[first.first..];
        match first.radix {
            2 => enter::<S, 2>(simd, first.span, roots, z, ahead, &input),
            3 => enter::<S, 3>(simd, first.span, roots, z, ahead, &input),
            4 => enter::<S, 4>(simd, first.span, roots, z, ahead, &input),
            5 => enter::<S, 5>(simd, first.span, roots, z, ahead, &input),
            7 => enter::<S, 7>(simd, first.span, roots, z, ahead, &input),
            _ => enter::<S, 8>(simd, first.span, roots, z, ahead, &input),
        }
        self.passes(
            simd,
            middle,
            z,
            ahead,
            #[inline(always)]
            |at, z, ahead| match last.radix {
                2 => leave::<S, 2>(simd, at, z, ahead, &mut output),
                3 => leave::<S, 3>(simd, at, z, ahead, &mut output),
                4 => leave::<S, 4>(simd, at, z, ahead, &mut output),
                5 => leave::<S, 5>(simd, at, z, ahead, &mut output),
                7 => leave::<S, 7>(simd, at, z, ahead, &mut output),
                _ => leave::<S, 8>(simd, at, z, ahead, &mut output),
            },
        );
    }

    /// Which result stands at a place.
    #[inline(always)]
    fn result_at(&self, place: usize) -> usize {
        self.results[place] as usize
    }

    /// Passes in place: the first ones over the whole, the others block after block near by, where each block is then given to
    /// `done` with its place.
    #[inline(always)]
    fn passes<S: Simd>(
        &self,
        simd: S,
        passes: &[Pass],
        z: &mut [Point],
        ahead: &mut Ahead<'_>,
        mut done: impl FnMut(usize, &mut [Point], &mut Ahead<'_>),
    ) {
        let z = &mut z[..self.points];
        let (far, near) = self.far_and_near(passes);
        for pass in far {
            self.pass::<S, false>(simd, pass, z, ahead);
        }
        let block = near.first().map_or(self.points, |p| p.radix * p.span);
        for (i, z) in z.chunks_exact_mut(block).enumerate() {
            for pass in near {
                self.pass::<S, false>(simd, pass, z, ahead);
            }
            done(i * block, z, ahead);
        }
    }

    /// A pass, or its transpose.
    #[inline(always)]
    fn pass<S: Simd, const BACK: bool>(&self, simd: S, pass: &Pass, z: &mut [Point], ahead: &mut Ahead<'_>) {
        let roots = &self.roots[pass.first..];
        match pass.radix {
            2 => butterflies::<S, 2, BACK>(simd, pass.span, roots, z, ahead),
            3 => butterflies::<S, 3, BACK>(simd, pass.span, roots, z, ahead),
            4 => butterflies::<S, 4, BACK>(simd, pass.span, roots, z, ahead),
            5 => butterflies::<S, 5, BACK>(simd, pass.span, roots, z, ahead),
            7 => butterflies::<S, 7, BACK>(simd, pass.span, roots, z, ahead),
            _ => butterflies::<S, 8, BACK>(simd, pass.span, roots, z, ahead),
        }
    }

    /// Values in the order in which results stand.
    pub fn in_own_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.results.iter().map(|k| values[*k as usize]).collect()
    }

    /// Circular convolution in place: transforms, times `factors` (see [`Plan::in_own_order`]), and back, but for the
    /// factor of one over the number of points. Leaves real and imaginary parts exchanged.
    ///
    /// The matrix of the transform is symmetric, so the transposed passes in reverse take the own order to the natural one
    /// and nothing is sorted; with the parts exchanged before and after they make the inverse.
    #[inline(always)]
    pub fn convolve<S: Simd>(&self, simd: S, factors: &[[f32; 2]], z: &mut [Point], ahead: &mut Ahead<'_>) {
        let z = &mut z[..self.points];
        let (far, near) = self.far_and_near(&self.passes);
        for pass in far {
            self.pass_apart::<S, false>(simd, pass, z, ahead);
        }
        let block = near.first().map_or(self.points, |p| p.radix * p.span);
        for (z, factors) in z.chunks_exact_mut(block).zip(factors.chunks_exact(block)) {
            for pass in near {
                self.pass_apart::<S, false>(simd, pass, z, ahead);
            }
            for (point, factor) in z.iter_mut().zip(factors) {
                let v = load(simd, point).times(simd, *factor);
                store(Complex { re: v.im, im: v.re }, point);
            }
            for pass in near.iter().rev() {
                self.pass_apart::<S, true>(simd, pass, z, ahead);
            }
        }
        for pass in far.iter().rev() {
            self.pass_apart::<S, true>(simd, pass, z, ahead);
        }
    }

    /// A pass as a function of its own, for what takes passes at several places: code in line would be as many times as large.
    #[inline(never)]
    fn pass_apart<S: Simd, const BACK: bool>(&self, simd: S, pass: &Pass, z: &mut [Point], ahead: &mut Ahead<'_>) {
        simd.vectorize(
            #[inline(always)]
            || self.pass::<S, BACK>(simd, pass, z, ahead),
        );
    }

    /// Passes over more than fits the nearest cache, and the others.
    fn far_and_near<'p>(&self, passes: &'p [Pass]) -> (&'p [Pass], &'p [Pass]) {
        passes.split_at(passes.iter().position(|p| p.radix * p.span <= NEAR).unwrap_or(passes.len()))
    }

    /// Whether [`Plan::transform_rows`] can be used.
    pub fn reads_lines(&self) -> bool {
        self.passes.first().is_some_and(|pass| pass.span.is_multiple_of(BLOCK / 2))
    }

    /// The transforms of sixteen rows of complex values as they lie in memory, left in `z` in its own order: the first pass
    /// reads whole lines.
    #[inline(always)]
    pub fn transform_rows<S: Simd>(&self, simd: S, rows: [&[f32]; LANES], z: &mut [Point], ahead: &mut Ahead<'_>) {
        let [first, rest @ ..] = &self.passes[..] else { return };
        let z = &mut z[..self.points];
        let roots = &self.roots[first.first..];
        match first.radix {
            2 => enter_rows::<S, 2>(simd, first.span, roots, rows, z, ahead),
            3 => enter_rows::<S, 3>(simd, first.span, roots, rows, z, ahead),
            4 => enter_rows::<S, 4>(simd, first.span, roots, rows, z, ahead),
            5 => enter_rows::<S, 5>(simd, first.span, roots, rows, z, ahead),
            7 => enter_rows::<S, 7>(simd, first.span, roots, rows, z, ahead),
            _ => enter_rows::<S, 8>(simd, first.span, roots, rows, z, ahead),
        }
        self.passes(
            simd,
            rest,
            z,
            ahead,
            #[inline(always)]
            |_, _, _| {},
        );
    }

    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, z: &[Point], k: usize) -> Complex<S> {
        load(simd, &z[self.order[k] as usize])
    }

    /// Transformed points in order, times a factor; backwards in frequency, which makes a transform the inverse one.
    #[inline(always)]
    pub fn gather<S: Simd>(&self, simd: S, z: &[Point], inverse: bool, factor: f32, out: &mut [Point]) {
        let factor = f32x16::splat(simd, factor);
        for (k, out) in out[..self.points].iter_mut().enumerate() {
            let from = if inverse && k > 0 { self.points - k } else { k };
            store(self.at(simd, z, from).scaled(factor), out);
        }
    }

    /// The spectra of real rows of twice as many samples, times a factor, from the transforms of their even samples plus i
    /// times their odd ones: one point more than there are.
    #[inline(always)]
    pub fn separate<S: Simd>(&self, simd: S, z: &[Point], factor: f32, out: &mut [Point]) {
        let (m, factor) = (self.points, f32x16::splat(simd, 0.5 * factor));
        for k in 0..self.halves.len() {
            let (low, high) = self.separated(simd, z, k, factor);
            store(low, &mut out[k]);
            store(high, &mut out[m - k]);
        }
        // These are real, even of rows that are not finite.
        (out[0][1], out[m][1]) = ([0.0; 16], [0.0; 16]);
    }

    /// Whether [`Plan::separate_into`] can be used.
    pub fn separates_in_lines(&self) -> bool {
        self.points.is_multiple_of(LANES)
    }

    /// [`Plan::separate`] straight into rows, in whole lines from both ends on; past the caches where `streamed`. The number of
    /// points has to be a multiple of 16.
    #[inline(always)]
    pub fn separate_into<S: Simd>(&self, simd: S, z: &[Point], factor: f32, rows: &mut [&mut [f32]], streamed: bool) {
        /// Points in a line.
        const LINE: usize = LANES / 2;
        let (m, factor) = (self.points, f32x16::splat(simd, 0.5 * factor));
        let (mut low, mut high) = ([[[0.0; LANES]; 2]; LINE + 1], [[[0.0; LANES]; 2]; LINE]);
        let (mut k, mut last) = (0, [[0.0; LANES]; 2]);
        let (first, end) = self.separated(simd, z, 0, factor);
        store(first, &mut low[0]);
        store(end, &mut last);
        low[0][1] = [0.0; LANES];
        while 2 * (k + LINE) < m {
            for i in 1..LINE + 1 {
                let (value, mirrored) = self.separated(simd, z, k + i, factor);
                store(value, &mut low[i]);
                store(mirrored, &mut high[LINE - i]);
            }
            unpack(simd, 2 * k, bytemuck::cast_slice(&low[..LINE]), rows, streamed);
            low[0] = low[LINE];
            k += LINE;
            unpack(simd, 2 * (m - k), bytemuck::cast_slice(&high), rows, streamed);
        }
        // What is left are the two lines in the middle; `low` begins with the first value of them.
        for i in 1..LINE + 1 {
            let (value, mirrored) = self.separated(simd, z, k + i, factor);
            store(value, &mut low[i]);
            store(mirrored, &mut high[LINE - i]);
        }
        unpack(simd, 2 * k, bytemuck::cast_slice(&low[..LINE]), rows, streamed);
        unpack(simd, 2 * (k + LINE), bytemuck::cast_slice(&high), rows, streamed);
        for (row, v) in rows.iter_mut().zip(last[0]) {
            row[2 * m..2 * m + 2].copy_from_slice(&[v, 0.0]);
        }
    }

    /// Values `k` and `m - k` of [`Plan::separate`], with half its factor.
    #[inline(always)]
    fn separated<S: Simd>(&self, simd: S, z: &[Point], k: usize, factor: f32x16<S>) -> (Complex<S>, Complex<S>) {
        let m = self.points;
        let (a, b) = (self.at(simd, z, k % m), self.at(simd, z, (m - k) % m).conj());
        let (even, odd) = (a + b, (a - b).times(simd, self.halves[k]).turned());
        ((even + odd).scaled(factor), (even - odd).conj().scaled(factor))
    }

    /// The reverse of [`Plan::separate`], in place, without its factor of a half: what to transform to get real rows from
    /// their spectra. The imaginary parts of the first and the last value do not count.
    #[inline(always)]
    pub fn join<S: Simd>(&self, simd: S, z: &mut [Point]) {
        let m = self.points;
        for (k, root) in self.halves.iter().enumerate() {
            let (mut a, mut b) = (load(simd, &z[k]), load(simd, &z[m - k]).conj());
            if k == 0 {
                a.im = f32x16::splat(simd, 0.0);
                b.im = a.im;
            }
            let (sum, part) = (a + b, (a - b).times(simd, [root[0], -root[1]]).turned());
            store(sum - part, &mut z[k]);
            if k > 0 {
                store((sum + part).conj(), &mut z[m - k]);
            }
        }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, point: &Point) -> Complex<S> {
    Complex { re: f32x16::load_array_ref(simd, &point[0]), im: f32x16::load_array_ref(simd, &point[1]) }
}

#[inline(always)]
fn store<S: Simd>(v: Complex<S>, point: &mut Point) {
    v.re.store_array(&mut point[0]);
    v.im.store_array(&mut point[1]);
}

/// A pass in place; `BACK`: its transpose, roots first.
#[inline(always)]
fn butterflies<S: Simd, const R: usize, const BACK: bool>(
    simd: S,
    span: usize,
    roots: &[[f32; 2]],
    z: &mut [Point],
    ahead: &mut Ahead<'_>,
) {
    for block in z.chunks_exact_mut(R * span) {
        let mut parts = block.chunks_exact_mut(span);
        let parts: [&mut [Point]; R] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        for j in 0..span {
            let mut v = [Complex::zero(simd); R];
            for (v, part) in v.iter_mut().zip(&parts) {
                *v = load(simd, &part[j]);
            }
            if !BACK {
                dft(simd, &mut v);
            }
            if span > 1 {
                let roots = &roots[j * (R - 1)..(j + 1) * (R - 1)];
                for q in 1..R {
                    v[q] = v[q].times(simd, roots[q - 1]);
                }
            }
            if BACK {
                dft(simd, &mut v);
            }
            for q in 0..R {
                store(v[q], &mut parts[q][j]);
            }
            ahead.step();
        }
    }
}

/// The first pass over rows in memory, some lines at a time.
#[inline(always)]
fn enter_rows<S: Simd, const R: usize>(
    simd: S,
    span: usize,
    roots: &[[f32; 2]],
    rows: [&[f32]; LANES],
    z: &mut [Point],
    ahead: &mut Ahead<'_>,
) {
    const LINE: usize = BLOCK / 2;
    let mut near = [[[[0.0; LANES]; 2]; LINE]; R];
    for first in (0..span).step_by(LINE) {
        for (q, near) in near.iter_mut().enumerate() {
            let at = 2 * (q * span + first);
            let mut lines = [&[0.0; BLOCK]; LANES];
            for (line, row) in lines.iter_mut().zip(&rows) {
                *line = row[at..].first_chunk().unwrap_or(line);
            }
            if let Some(frames) = near.as_flattened_mut().first_chunk_mut::<BLOCK>() {
                transpose::block(simd, &lines, &mut frames.each_mut(), false);
            }
        }
        for j in 0..LINE {
            let mut v = [Complex::zero(simd); R];
            for (v, near) in v.iter_mut().zip(&near) {
                *v = load(simd, &near[j]);
            }
            dft(simd, &mut v);
            let roots = &roots[(first + j) * (R - 1)..][..R - 1];
            for q in 1..R {
                v[q] = v[q].times(simd, roots[q - 1]);
            }
            for (q, v) in v.into_iter().enumerate() {
                store(v, &mut z[q * span + first + j]);
            }
            ahead.step();
        }
    }
}

/// The first pass over all points, which are not there yet.
#[inline(always)]
fn enter<S: Simd, const R: usize>(
    simd: S,
    span: usize,
    roots: &[[f32; 2]],
    z: &mut [Point],
    ahead: &mut Ahead<'_>,
    input: &impl Fn(usize) -> Complex<S>,
) {
    let mut parts = z.chunks_exact_mut(span);
    let parts: [&mut [Point]; R] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    for (j, roots) in roots.chunks_exact(R - 1).take(span).enumerate() {
        // A loop, since a map over an array is not put in line here.
        let mut v = [Complex::zero(simd); R];
        for (q, v) in v.iter_mut().enumerate() {
            *v = input(q * span + j);
        }
        dft(simd, &mut v);
        for q in 1..R {
            v[q] = v[q].times(simd, roots[q - 1]);
        }
        for q in 0..R {
            store(v[q], &mut parts[q][j]);
        }
        ahead.step();
    }
}

/// The last pass over points from place `at` on.
#[inline(always)]
fn leave<S: Simd, const R: usize>(
    simd: S,
    at: usize,
    z: &[Point],
    ahead: &mut Ahead<'_>,
    output: &mut impl FnMut(usize, Complex<S>),
) {
    for (i, block) in z.as_chunks::<R>().0.iter().enumerate() {
        let mut v = [Complex::zero(simd); R];
        for (v, point) in v.iter_mut().zip(block) {
            *v = load(simd, point);
        }
        dft(simd, &mut v);
        for (q, v) in v.into_iter().enumerate() {
            output(at + R * i + q, v);
        }
        ahead.step();
    }
}
