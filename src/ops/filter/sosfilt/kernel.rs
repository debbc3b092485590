//! The recursion: 16 rows in the lanes, float64 states in registers, up to [`REGISTER_SECTIONS`] sections in one pass over
//! a tile that stays in the first cache. Longer cascades take more passes, in float64 between them.

use fearless_simd::{Simd, prelude::*};

use super::form::{Cascade, Form};
use crate::simd::{
    Kernel,
    lanes::{BLOCK, Frame, LANES, Lanes, unpack},
    stream,
};

/// States of 16 rows, `s1 s2` of each section.
pub(in crate::ops::filter) type States = Vec<[f64; LANES]>;

/// Sections whose states are held in registers at once.
const REGISTER_SECTIONS: usize = 5;

/// States below this are taken for zero: a filter that rings on after its input has ended would otherwise come to
/// arithmetic with denormals, many times slower.
const SILENCE: f64 = 1e-300;

/// Runs a group of rows from time `from` to `to`, writing to `rows` (whose first sample is that of time `from`) if there
/// are any.
pub(in crate::ops::filter) struct Advance<'a, 'b> {
    pub(in crate::ops::filter) cascade: &'a Cascade,
    pub(in crate::ops::filter) lanes: &'a Lanes<'a>,
    pub(in crate::ops::filter) from: usize,
    pub(in crate::ops::filter) to: usize,
    pub(in crate::ops::filter) states: &'a mut States,
    pub(in crate::ops::filter) rows: Option<&'a mut [&'b mut [f32]]>,
    /// First sample of the rows to write.
    pub(in crate::ops::filter) offset: usize,
    /// Frames in a tile.
    pub(in crate::ops::filter) tile: usize,
    /// Write past the caches.
    pub(in crate::ops::filter) streamed: bool,
}

impl Kernel for Advance<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let tile = self.tile.next_multiple_of(BLOCK).max(BLOCK);
        let mut frames: Vec<Frame> = vec![[0.0; LANES]; tile];
        let wide = if self.cascade.sections.len() > REGISTER_SECTIONS { tile } else { 0 };
        let mut wide: Vec<[f64; LANES]> = vec![[0.0; LANES]; wide];
        let mut t = self.from;
        while t < self.to {
            let n = tile.min(self.to - t);
            let block = &mut frames[..n.next_multiple_of(BLOCK)];
            self.lanes.pack(simd, t, tile, block);
            filter(simd, self.cascade, self.lanes.count(), &mut block[..n], &mut wide, self.states);
            silence(self.states);
            if let Some(rows) = &mut self.rows {
                unpack(simd, self.offset + t - self.from, block, rows, self.streamed);
            }
            t += n;
        }
        if self.streamed {
            stream::fence();
        }
    }
}

/// Takes states that have all but died away for zero.
#[inline(always)]
pub(in crate::ops::filter) fn silence(states: &mut [[f64; LANES]]) {
    for s in states.as_flattened_mut() {
        *s = if s.abs() < SILENCE { 0.0 } else { *s };
    }
}

/// All sections over one tile; `wide` is work space as long as the tile.
#[inline(always)]
pub(in crate::ops::filter) fn filter<S: Simd>(
    simd: S,
    cascade: &Cascade,
    rows: usize,
    frames: &mut [Frame],
    wide: &mut [[f64; LANES]],
    states: &mut [[f64; LANES]],
) {
    let sections = &cascade.sections;
    if sections.len() <= REGISTER_SECTIONS {
        return sections_pass(simd, cascade.form, cascade.gain, sections, rows, frames, states);
    }
    let wide = &mut wide[..frames.len()];
    for (w, f) in wide.iter_mut().zip(frames.iter()) {
        *w = f.map(f64::from);
    }
    filter_wide(simd, cascade, rows, wide, states);
    for (w, f) in wide.iter().zip(frames) {
        *f = w.map(|v| v as f32);
    }
}

/// All sections over frames of float64.
#[inline(always)]
pub(in crate::ops::filter) fn filter_wide<S: Simd>(
    simd: S,
    cascade: &Cascade,
    rows: usize,
    frames: &mut [[f64; LANES]],
    states: &mut [[f64; LANES]],
) {
    let sections = &cascade.sections;
    let each = sections.len().div_ceil(sections.len().div_ceil(REGISTER_SECTIONS).max(1)).max(1);
    let mut gain = cascade.gain;
    for (part, states) in sections.chunks(each).zip(states.chunks_mut(2 * each)) {
        sections_pass(simd, cascade.form, gain, part, rows, frames, states);
        gain = 1.0;
    }
}

/// Picks the loop compiled for this form and number of sections.
#[inline(always)]
fn sections_pass<S: Simd, V: Value>(
    simd: S,
    form: Form,
    gain: f64,
    sections: &[[f64; 5]],
    rows: usize,
    frames: &mut [[V; LANES]],
    states: &mut [[f64; LANES]],
) {
    macro_rules! pass {
        ($form:ty, $n:literal) => {
            if let (Some(sections), Some(states)) = (sections.first_chunk(), states.first_chunk_mut()) {
                simd.vectorize(
                    #[inline(always)]
                    || pass::<S, $form, V, $n, { 2 * $n }>(simd, gain, sections, rows, frames, states),
                );
            }
        };
    }
    macro_rules! forms {
        ($($n:literal)*) => {
            match (form, sections.len()) {
                $(
                    (Form::General, $n) => pass!(General, $n),
                    (Form::UnitEnds, $n) => pass!(UnitEnds, $n),
                    (Form::BandPass, $n) => pass!(BandPass, $n),
                )*
                _ => {}
            }
        };
    }
    forms!(1 2 3 4 5);
}

/// `N` sections over all frames, one vector of rows at a time (two vectors of float64 states).
#[inline(always)]
fn pass<S: Simd, F: Step, V: Value, const N: usize, const N2: usize>(
    simd: S,
    gain: f64,
    sections: &[[f64; 5]; N],
    rows: usize,
    frames: &mut [[V; LANES]],
    states: &mut [[f64; LANES]; N2],
) {
    let half = S::f64s::LEN;
    let gain = S::f64s::simd_from(simd, gain);
    let coefficients = sections.map(|s| s.map(|v| S::f64s::simd_from(simd, v)));
    for lane in (0..rows).step_by(2 * half) {
        let mut held: [[[S::f64s; 2]; 2]; N] = std::array::from_fn(|k| {
            [0, half].map(|h| [0, 1].map(|i| S::f64s::from_slice(simd, &states[2 * k + i][lane + h..lane + h + half])))
        });
        for frame in frames.iter_mut() {
            let (low, high) = V::load(simd, &frame[lane..lane + 2 * half]);
            let mut v = [low * gain, high * gain];
            for (s, c) in held.iter_mut().zip(&coefficients) {
                v[0] = F::step::<S>(v[0], &mut s[0], c);
                v[1] = F::step::<S>(v[1], &mut s[1], c);
            }
            V::store::<S>(v[0], v[1], &mut frame[lane..lane + 2 * half]);
        }
        for (k, s) in held.iter().enumerate() {
            for (h, s) in [0, half].into_iter().zip(s) {
                for (i, s) in s.iter().enumerate() {
                    s.store_slice(&mut states[2 * k + i][lane + h..lane + h + half]);
                }
            }
        }
    }
}

/// One section, one sample.
trait Step {
    /// The output; `s` = `s1 s2`, `c` = `b0 b1 b2 -a1 -a2`.
    fn step<S: Simd>(x: S::f64s, s: &mut [S::f64s; 2], c: &[S::f64s; 5]) -> S::f64s;
}

struct General;
impl Step for General {
    #[inline(always)]
    fn step<S: Simd>(x: S::f64s, s: &mut [S::f64s; 2], c: &[S::f64s; 5]) -> S::f64s {
        let y = c[0].mul_add(x, s[0]);
        s[0] = c[3].mul_add(y, c[1].mul_add(x, s[1]));
        s[1] = c[4].mul_add(y, c[2] * x);
        y
    }
}

struct UnitEnds;
impl Step for UnitEnds {
    #[inline(always)]
    fn step<S: Simd>(x: S::f64s, s: &mut [S::f64s; 2], c: &[S::f64s; 5]) -> S::f64s {
        let y = x + s[0];
        s[0] = c[3].mul_add(y, c[1].mul_add(x, s[1]));
        s[1] = c[4].mul_add(y, x);
        y
    }
}

struct BandPass;
impl Step for BandPass {
    #[inline(always)]
    fn step<S: Simd>(x: S::f64s, s: &mut [S::f64s; 2], c: &[S::f64s; 5]) -> S::f64s {
        let y = x + s[0];
        s[0] = c[3].mul_add(y, s[1]);
        s[1] = c[4].mul_sub(y, x);
        y
    }
}

/// What a tile holds: the samples, or float64 between passes.
trait Value: Copy {
    fn load<S: Simd>(simd: S, from: &[Self]) -> (S::f64s, S::f64s);
    fn store<S: Simd>(low: S::f64s, high: S::f64s, to: &mut [Self]);
}

impl Value for f32 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, from: &[f32]) -> (S::f64s, S::f64s) {
        S::f32s::from_slice(simd, from).widen()
    }
    #[inline(always)]
    fn store<S: Simd>(low: S::f64s, high: S::f64s, to: &mut [f32]) {
        low.narrow(high).store_slice(to);
    }
}

impl Value for f64 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, from: &[f64]) -> (S::f64s, S::f64s) {
        let half = S::f64s::LEN;
        (S::f64s::from_slice(simd, &from[..half]), S::f64s::from_slice(simd, &from[half..]))
    }
    #[inline(always)]
    fn store<S: Simd>(low: S::f64s, high: S::f64s, to: &mut [f64]) {
        let (a, b) = to.split_at_mut(S::f64s::LEN);
        low.store_slice(a);
        high.store_slice(b);
    }
}
