//! Wavelet transforms on the CPU: one forward transform of a channel, and for each scale a product and an inverse one.
//!
//! Forward transforms and products are float64: what lies in the band of a wavelet may be small against the rest of a
//! channel. A product holds that band alone, so its inverse in float32 is as exact as the line needs. The spectrum of a
//! wavelet is made once for all channels; scales run in parallel, and the channels of each.

use std::cell::RefCell;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;
use realfft::{RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

use super::problem::Wavelets;
use crate::error::{Error, Result};
use crate::ops::spectral::frames::{filled, planar};
use crate::signal::{Complex32, Source, View, ViewMut};

/// The transforms of one length.
pub(crate) struct Plans {
    channel: Arc<dyn RealToComplex<f64>>,
    wavelet: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f32>>,
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plans({})", self.points())
    }
}

impl Plans {
    /// For so many points.
    pub fn new(points: usize) -> Self {
        Plans {
            channel: RealFftPlanner::new().plan_fft_forward(points),
            wavelet: FftPlanner::new().plan_fft_forward(points),
            inverse: FftPlanner::new().plan_fft_inverse(points),
        }
    }

    /// Points.
    pub fn points(&self) -> usize {
        self.wavelet.len()
    }

    /// The one-sided spectrum of a row.
    fn spectrum(&self, row: &[f32]) -> Result<Vec<Complex<f64>>> {
        let mut input = filled(self.points(), 0f64)?;
        input.iter_mut().zip(row).for_each(|(to, v)| *to = f64::from(*v));
        let mut spectrum = filled(self.points() / 2 + 1, Complex::default())?;
        self.channel
            .process(&mut input, &mut spectrum)
            .map_err(|e| Error::internal("a channel does not have the length of its transform").with_source(e))?;
        Ok(spectrum)
    }
}

thread_local! {
    /// Work space of a thread: a product, and the plan's scratch.
    static SPACE: RefCell<(Vec<Complex32>, Vec<Complex32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Computes all channels.
pub(super) fn run(problem: &Wavelets, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    planar(x, |x| channels(problem, x, y))
}

fn channels(problem: &Wavelets, x: View<'_, f32>, y: ViewMut<'_>) -> Result<()> {
    let n = x.samples();
    let plans = problem.plans(problem.points(n));
    let rows = 0..x.channels();
    let spectra: Vec<_> =
        rows.into_par_iter().map(|c| plans.spectrum(x.row(c).unwrap_or(&[]))).collect::<Result<_>>()?;
    scales(problem.widths.len(), x.channels(), n, y).into_par_iter().enumerate().try_for_each(|(scale, lines)| {
        let kernel = problem.kernel(scale, n);
        let skip = (kernel.len() - 1) / 2;
        let mut wavelet = filled(plans.points(), Complex::default())?;
        wavelet[..kernel.len()].copy_from_slice(&kernel);
        plans.wavelet.process(&mut wavelet);
        let factor = 1.0 / plans.points() as f64;
        wavelet.iter_mut().for_each(|v| *v *= factor);
        spectra.par_iter().zip(lines).for_each(|(spectrum, line)| {
            SPACE.with_borrow_mut(|(product, scratch)| {
                multiply(spectrum, &wavelet, product);
                scratch.resize(plans.inverse.get_inplace_scratch_len().max(scratch.len()), Complex::default());
                plans.inverse.process_with_scratch(product, scratch);
                line.copy_from_slice(bytemuck::cast_slice(&product[skip..skip + n]));
            });
        });
        Ok(())
    })
}

/// The lines of each scale, those of all channels.
fn scales(count: usize, channels: usize, n: usize, y: ViewMut<'_>) -> Vec<Vec<&mut [f32]>> {
    let mut scales: Vec<Vec<&mut [f32]>> = (0..count).map(|_| Vec::with_capacity(channels)).collect();
    let pitch = y.pitch().max(1);
    for row in y.into_data().chunks_mut(pitch).take(channels) {
        for (scale, line) in scales.iter_mut().zip(row.chunks_exact_mut(2 * n)) {
            scale.push(line);
        }
    }
    scales
}

/// The product of a one-sided spectrum, and its other side, with a whole one.
fn multiply(spectrum: &[Complex<f64>], wavelet: &[Complex<f64>], product: &mut Vec<Complex32>) {
    let round = |z: Complex<f64>| Complex32::new(z.re as f32, z.im as f32);
    let (lower, upper) = wavelet.split_at(spectrum.len());
    product.clear();
    product.extend(spectrum.iter().zip(lower).map(|(a, b)| round(a * b)));
    // Bin n - k is the conjugate of bin k.
    let mirrored = spectrum[1..=upper.len()].iter().rev();
    product.extend(mirrored.zip(upper).map(|(a, b)| round(a.conj() * b)));
}
