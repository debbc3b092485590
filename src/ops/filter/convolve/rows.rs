//! Overlap-save with transforms of single rows, for responses longer than the lanes take.

use std::cell::RefCell;

use num_complex::Complex;
use rayon::prelude::*;

use super::problem::Convolution;
use super::repair::Piece;
use crate::error::{Error, Result};
use crate::ops::spectral::fft::{real_forward_plan, real_inverse_plan};
use crate::signal::{Complex32, Source, ViewMut};
use crate::simd::lanes::TINY;

#[derive(Default)]
struct Space {
    samples: Vec<f32>,
    spectrum: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

thread_local! {
    static SPACE: RefCell<Space> = RefCell::default();
}

/// Convolves all channels with transforms of `points`.
pub(super) fn run(c: &Convolution, points: usize, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (taps, part) = (c.taps.len(), c.part(x.samples()));
    // Behind a whole channel zeros come around, so that it needs no history.
    let whole = x.samples() + taps - 1 <= points;
    let step = if whole { part.count } else { (points + 1).saturating_sub(taps) };
    if step == 0 {
        return Err(Error::internal(format!("{taps} taps have no blocks of {points} points")));
    }
    let (forward, inverse) = (real_forward_plan(points), real_inverse_plan(points));
    let pitch = y.pitch();
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        let spectrum = c.spectra.half(c.taps.row(channel), c.taps.of(channel), points);
        row[..part.count].par_chunks_mut(step).enumerate().try_for_each(|(block, results)| {
            let first = part.first + block * step;
            // Where the transform begins; samples before the channel are zeros.
            let origin = if whole { 0 } else { first as isize + 1 - taps as isize };
            let strange = SPACE.with_borrow_mut(|Space { samples, spectrum: z, scratch }| {
                samples.resize(points, 0.0);
                let strange = load(x, channel, origin, samples);
                z.resize(points / 2 + 1, Complex::default());
                let needed = forward.get_scratch_len().max(inverse.get_scratch_len());
                if scratch.len() < needed {
                    scratch.resize(needed, Complex::default());
                }
                forward.process_with_scratch(samples, z, scratch).map_err(failed)?;
                z.iter_mut().zip(&**spectrum).for_each(|(z, [re, im])| *z *= Complex::new(*re, *im));
                z[0].im = 0.0;
                if points.is_multiple_of(2) {
                    z[points / 2].im = 0.0;
                }
                inverse.process_with_scratch(z, samples, scratch).map_err(failed)?;
                let from = (first as isize - origin) as usize;
                results.copy_from_slice(&samples[from..from + results.len()]);
                Ok::<bool, Error>(strange)
            })?;
            let overflow = !all_finite(results);
            let piece = Piece { taps: c.taps.of(channel), x, channel, first, results };
            if overflow {
                piece.sum();
            } else if strange {
                piece.spread();
            }
            Ok(())
        })
    })
}

/// Bytes of work space of a thread.
pub(super) fn work_space(points: usize) -> usize {
    crate::ops::spectral::fft::work_space(points)
}

fn failed(e: realfft::FftError) -> Error {
    Error::internal("a block of a convolution does not have its length").with_source(e)
}

/// The samples of a channel from `origin` on, zeros before and behind it and where they are tiny or not finite; whether there were
/// such.
fn load(x: Source<'_>, channel: usize, origin: isize, to: &mut [f32]) -> bool {
    let lead = if origin < 0 { origin.unsigned_abs().min(to.len()) } else { 0 };
    let (before, to) = to.split_at_mut(lead);
    before.fill(0.0);
    let first = (origin.max(0) as usize).min(x.samples());
    let (to, behind) = to.split_at_mut(to.len().min(x.samples() - first));
    behind.fill(0.0);
    match x {
        Source::F32(v) if v.row(channel).is_some() => {
            to.copy_from_slice(&v.row(channel).unwrap_or_default()[first..first + to.len()]);
        }
        _ => to.iter_mut().enumerate().for_each(|(i, to)| *to = x.get(channel, first + i)),
    }
    to.iter_mut().for_each(|v| *v = if v.abs() < TINY { 0.0 } else { *v });
    let strange = !all_finite(to);
    if strange {
        to.iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = 0.0);
    }
    strange
}

/// Without a way out in the middle, so that it vectorises.
fn all_finite(values: &[f32]) -> bool {
    values.iter().fold(true, |all, v| all & v.is_finite())
}
