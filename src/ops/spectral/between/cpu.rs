//! On the CPU: a row is transformed, changed and transformed back without leaving the work space of its thread.

use std::cell::RefCell;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::FftNum;

use super::super::fft;
use super::super::frames::planar;
use crate::error::{Error, Result};
use crate::signal::{Source, ViewMut};

/// A real transform and an inverse one, of the same or another length.
pub(in super::super) struct Pair<T: FftNum> {
    forward: Arc<dyn RealToComplex<T>>,
    inverse: Arc<dyn ComplexToReal<T>>,
}

/// Work space of a thread.
pub(in super::super) struct Space<T> {
    /// The row, and then the result.
    pub samples: Vec<T>,
    spectrum: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T> Space<T> {
    /// None yet.
    pub const fn new() -> Self {
        Space { samples: Vec::new(), spectrum: Vec::new(), scratch: Vec::new() }
    }
}

thread_local! {
    static SPACE: RefCell<Space<f32>> = const { RefCell::new(Space::new()) };
}

impl Pair<f32> {
    /// Plans that are kept.
    pub fn kept(forward: usize, inverse: usize) -> Self {
        Pair { forward: fft::real_forward_plan(forward), inverse: fft::real_inverse_plan(inverse) }
    }

    /// Changes the spectrum of every channel (by its index) and writes what comes of it: `write` is handed the channel, its
    /// samples, those of the inverse transform, and the row of the result.
    pub fn rows(
        &self,
        x: Source<'_>,
        y: ViewMut<'_>,
        change: impl Fn(usize, &mut Vec<Complex<f32>>) + Sync,
        write: impl Fn(&[f32], &[f32], &mut [f32]) + Sync,
    ) -> Result<()> {
        let (samples, pitch) = (y.samples(), y.pitch());
        planar(x, |x| {
            y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, out)| {
                let row = x.row(channel).unwrap_or(&[]);
                SPACE.with_borrow_mut(|space| {
                    self.run(row, space, |spectrum| change(channel, spectrum))?;
                    write(row, &space.samples, &mut out[..samples]);
                    Ok(())
                })
            })
        })
    }
}

impl Pair<f64> {
    /// New plans.
    pub fn new(forward: usize, inverse: usize) -> Self {
        let mut planner = RealFftPlanner::new();
        Pair { forward: planner.plan_fft_forward(forward), inverse: planner.plan_fft_inverse(inverse) }
    }
}

impl<T: FftNum> Pair<T> {
    /// Transforms a row, zeros behind it, and what `change` makes of its spectrum back, into `space.samples`. `change` may
    /// leave fewer bins than the inverse takes (the rest are zeros), and imaginary parts where a real row has none (they do
    /// not count).
    pub fn run(&self, row: &[f32], space: &mut Space<T>, change: impl FnOnce(&mut Vec<Complex<T>>)) -> Result<()> {
        let failed =
            |e: realfft::FftError| Error::internal("a row of a transform does not have its length").with_source(e);
        let (n, back) = (self.forward.len(), self.inverse.len());
        let zero = Complex::new(T::zero(), T::zero());
        let Space { samples, spectrum, scratch } = space;
        samples.clear();
        samples.extend(row.iter().take(n).map(|v| T::from_f32(*v).unwrap_or_else(T::zero)));
        samples.resize(n, T::zero());
        spectrum.resize(n / 2 + 1, zero);
        let needed = self.forward.get_scratch_len().max(self.inverse.get_scratch_len());
        if scratch.len() < needed {
            scratch.resize(needed, zero);
        }
        self.forward.process_with_scratch(samples, spectrum, scratch).map_err(failed)?;
        change(spectrum);
        spectrum.resize(back / 2 + 1, zero);
        spectrum[0].im = T::zero();
        if back.is_multiple_of(2) {
            spectrum[back / 2].im = T::zero();
        }
        samples.resize(back, T::zero());
        self.inverse.process_with_scratch(spectrum, samples, scratch).map_err(failed)
    }
}
