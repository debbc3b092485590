//! Multitaper spectra on the CPU: a frame is taken once, weighted by each taper and transformed in float32; powers are put
//! together and added up in float64.
//!
//! A channel is cut into blocks of frames whose number depends on its length alone; blocks run in parallel and their sums
//! are added in order, so any number of threads gives the same bits. The tapers of long frames run in parallel, too.

use std::cell::RefCell;

use num_complex::Complex;
use rayon::prelude::*;
use realfft::RealToComplex;

use super::problem::Tapered;
use super::tapers::Tapers;
use crate::error::{Error, Result};
use crate::ops::spectral::fft;
use crate::ops::spectral::frames::{Geometry, Loader, filled, planar};
use crate::signal::{Source, ViewMut};

/// Points of the transforms of a block.
const BLOCK_POINTS: usize = 1 << 16;
/// Most blocks of a channel.
const MAX_BLOCKS: usize = 64;
/// Points from which on the transforms of a frame run in parallel.
const LONG: usize = 1 << 15;

/// Work space of a thread.
#[derive(Default)]
struct Space {
    /// A weighted frame.
    input: Vec<f32>,
    spectrum: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
}

thread_local! {
    static SPACE: RefCell<Space> = RefCell::default();
}

/// Computes all channels.
pub(super) fn run(problem: &Tapered, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    planar(x, |x| {
        let g = problem.geometry(x.samples())?;
        let (tapers, table) = (problem.tapers(g.nperseg)?, problem.segments.table(g.nperseg)?);
        let plan = fft::real_forward_plan(g.nfft);
        let (samples, pitch) = (y.samples(), y.pitch());
        y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
            let loader = Loader::new(x.row(channel).unwrap_or(&[]), &g, &table);
            let sums = Channel { loader, geometry: &g, tapers: &tapers, plan: plan.as_ref() }.sums()?;
            for (bin, (out, sum)) in row[..samples].iter_mut().zip(sums).enumerate() {
                *out = (sum / g.frames as f64 * g.sides(bin)) as f32;
            }
            Ok(())
        })
    })
}

/// One channel, ready to be transformed.
struct Channel<'a> {
    loader: Loader<'a>,
    geometry: &'a Geometry,
    tapers: &'a Tapers,
    plan: &'a dyn RealToComplex<f32>,
}

impl Channel<'_> {
    /// The estimates of all frames, added up.
    fn sums(&self) -> Result<Vec<f64>> {
        let Geometry { frames, nfft, .. } = *self.geometry;
        let points = nfft.saturating_mul(self.tapers.values.len());
        let block = frames.div_ceil(MAX_BLOCKS).max(BLOCK_POINTS / points).max(1);
        let blocks: Vec<Vec<f64>> = (0..frames.div_ceil(block))
            .into_par_iter()
            .map(|index| self.block(index * block..frames.min((index + 1) * block)))
            .collect::<Result<_>>()?;
        let mut blocks = blocks.into_iter();
        let mut sums = blocks.next().unwrap_or_default();
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, v)| *sum += v);
        }
        Ok(sums)
    }

    /// The estimates of some frames, added up.
    fn block(&self, frames: std::ops::Range<usize>) -> Result<Vec<f64>> {
        let (bins, tapers) = (self.geometry.bins(), &self.tapers.values);
        let mut sums = filled(bins, 0.0)?;
        let mut frame = filled(self.geometry.nperseg, 0f32)?;
        let mut powers = filled(bins * tapers.len(), 0f64)?;
        let mut copy = Vec::new();
        for index in frames {
            self.loader.frame(index, &mut copy, &mut frame);
            if self.geometry.nfft >= LONG {
                powers.par_chunks_mut(bins).zip(tapers).try_for_each(|(out, taper)| self.power(&frame, taper, out))?;
            } else {
                powers.chunks_mut(bins).zip(tapers).try_for_each(|(out, taper)| self.power(&frame, taper, out))?;
            }
            let squares: f64 = frame.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
            let variance = squares / frame.len() as f64;
            for (bin, sum) in sums.iter_mut().enumerate() {
                *sum += self.tapers.combine(powers.iter().skip(bin).step_by(bins).copied(), variance);
            }
        }
        Ok(sums)
    }

    /// The power of a frame by one taper.
    fn power(&self, frame: &[f32], taper: &[f32], out: &mut [f64]) -> Result<()> {
        SPACE.with_borrow_mut(|Space { input, spectrum, scratch }| {
            input.clear();
            input.extend(frame.iter().zip(taper).map(|(x, h)| x * h));
            input.resize(self.plan.len(), 0.0);
            spectrum.resize(out.len(), Complex::default());
            scratch.resize(self.plan.get_scratch_len().max(scratch.len()), Complex::default());
            self.plan
                .process_with_scratch(input, spectrum, scratch)
                .map_err(|e| Error::internal("a frame does not have the length of its transform").with_source(e))?;
            for (out, z) in out.iter_mut().zip(spectrum) {
                *out = f64::from(z.re) * f64::from(z.re) + f64::from(z.im) * f64::from(z.im);
            }
            Ok(())
        })
    }
}
