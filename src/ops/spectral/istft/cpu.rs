//! The inverse on the CPU: pieces of the result in parallel, each the sum of the frames that reach into it.
//!
//! A few frames at a time are brought from lines of frequencies into work space, transformed, weighted and added in float64,
//! in their order: the bits do not depend on where a channel is cut.

use std::cell::RefCell;

use num_complex::Complex;
use rayon::prelude::*;
use realfft::ComplexToReal;

use super::problem::Inverse;
use crate::error::{Error, Result};
use crate::ops::problem::Variant;
use crate::ops::spectral::fft;
use crate::ops::spectral::frames::{filled, planar};
use crate::signal::{Source, View, ViewMut};

/// Variants, the default first.
pub(super) fn variants() -> Vec<Variant> {
    vec![Variant::new("pieces", &[])]
}

/// Frames whose beginnings a piece of the result holds, at least.
const PIECE: usize = 64;
/// Frames brought into work space together.
const TILE: usize = 16;

thread_local! {
    static SPACE: RefCell<Space> = const { RefCell::new(Space { values: Vec::new(), scratch: Vec::new(), frame: Vec::new(), sums: Vec::new() }) };
}

/// Work space of a thread.
struct Space {
    values: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
    frame: Vec<f32>,
    sums: Vec<f64>,
}

/// Computes all channels.
pub(super) fn run(p: &Inverse, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    debug_assert_eq!(variant.method, "pieces");
    planar(x, |x| channels(p, x, y))
}

fn channels(p: &Inverse, x: View<'_, f32>, y: ViewMut<'_>) -> Result<()> {
    let frames = p.frames(x.samples());
    let (samples, pitch) = (y.samples(), y.pitch());
    if samples == 0 {
        return Ok(());
    }
    let plan = fft::real_inverse_plan(p.nfft);
    let factor = p.factor() / p.nfft as f64;
    let mut weights = filled(p.nperseg(), 0.0)?;
    weights.iter_mut().enumerate().for_each(|(i, w)| *w = (p.table.weight(i) * factor) as f32);
    // Away from the ends norms repeat from frame to frame.
    let steady = steady_norms(p)?;
    // Where many frames overlap, longer pieces keep small what two of them compute alike.
    let piece = p.step.saturating_mul(PIECE.max(4 * p.nperseg() / p.step));
    y.into_data().par_chunks_mut(pitch).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        let values: &[Complex<f32>] = bytemuck::cast_slice(x.row(channel).unwrap_or(&[]));
        let channel = Channel { p, values, frames, weights: &weights, steady: &steady, plan: plan.as_ref() };
        row[..samples]
            .par_chunks_mut(piece)
            .enumerate()
            .try_for_each(|(index, part)| SPACE.with_borrow_mut(|space| channel.piece(index * piece, part, space)))
    })
}

/// Norms of samples that as many frames hold as can, by their place in the step.
fn steady_norms(p: &Inverse) -> Result<Vec<f64>> {
    let mut norms = filled(p.step, 0.0)?;
    for i in 0..p.nperseg() {
        norms[i % p.step] += p.table.weight(i) * p.table.weight(i);
    }
    Ok(norms)
}

/// One channel.
struct Channel<'a> {
    p: &'a Inverse,
    values: &'a [Complex<f32>],
    frames: usize,
    weights: &'a [f32],
    steady: &'a [f64],
    plan: &'a dyn ComplexToReal<f32>,
}

impl Channel<'_> {
    /// The samples from `start` on.
    fn piece(&self, start: usize, out: &mut [f32], space: &mut Space) -> Result<()> {
        let (nperseg, step) = (self.p.nperseg(), self.p.step);
        let begin = start + self.p.crop();
        let end = begin + out.len();
        let first = (begin + 1).saturating_sub(nperseg).div_ceil(step);
        let last = self.frames.min((end - 1) / step + 1);
        space.sums.clear();
        space.sums.resize(out.len(), 0.0);
        for tile in (first..last).step_by(TILE) {
            let count = TILE.min(last - tile);
            self.gather(tile, count, space);
            for k in 0..count {
                self.transform(k, space)?;
                let at = (tile + k) * step;
                let (from, to) = (at.max(begin), (at + nperseg).min(end));
                let sums = &mut space.sums[from - begin..to - begin];
                let samples = space.frame[from - at..to - at].iter().zip(&self.weights[from - at..to - at]);
                sums.iter_mut().zip(samples).for_each(|(sum, (v, w))| *sum += f64::from(*v) * f64::from(*w));
            }
        }
        for (i, (out, sum)) in out.iter_mut().zip(&space.sums).enumerate() {
            *out = (sum / self.norm(begin + i)) as f32;
        }
        Ok(())
    }

    fn norm(&self, at: usize) -> f64 {
        let inside = at + 1 >= self.p.nperseg() && at < self.frames * self.p.step;
        if inside { self.steady[at % self.p.step] } else { self.p.norm(at, self.frames) }
    }

    /// Brings frames from the lines of the input into work space, cut or padded to the transform.
    fn gather(&self, first: usize, count: usize, space: &mut Space) {
        let bins = self.p.nfft / 2 + 1;
        space.values.clear();
        space.values.resize(count * bins, Complex::default());
        for bin in 0..bins.min(self.p.bins) {
            let line = &self.values[bin * self.frames + first..][..count];
            line.iter().enumerate().for_each(|(k, v)| space.values[k * bins + bin] = *v);
        }
    }

    fn transform(&self, k: usize, space: &mut Space) -> Result<()> {
        let n = self.p.nfft;
        let bins = n / 2 + 1;
        space.frame.resize(n, 0.0);
        space.scratch.resize(self.plan.get_scratch_len().max(space.scratch.len()), Complex::default());
        let values = &mut space.values[k * bins..(k + 1) * bins];
        values[0].im = 0.0;
        if n.is_multiple_of(2) {
            values[bins - 1].im = 0.0;
        }
        self.plan
            .process_with_scratch(values, &mut space.frame, &mut space.scratch)
            .map_err(|e| Error::internal("a frame does not have the length of its transform").with_source(e))
    }
}
