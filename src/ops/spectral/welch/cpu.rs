//! Averages over frames on the CPU: a frame is taken, transformed and added up without leaving the caches.
//!
//! A channel is cut into blocks of frames whose number depends on its length alone; blocks run in parallel, each sums its
//! frames in float64, and the sums are added in order: any number of threads gives the same bits. Power is that of float32
//! transforms. Spectra of pairs can be small against the signals they are made of (two that share little, a coherence where
//! one of them has no power), so that theirs are float64.

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16, f64x8};
use num_complex::Complex;
use rayon::prelude::*;
use realfft::RealToComplex;

use super::median_bias;
use super::problem::{Average, Averaged, Kind};
use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::frames::{Geometry, Loader, Real, Space, Table, filled, planar};
use crate::signal::{Source, View, ViewMut};
use crate::simd::{self, Kernel};

/// Variants, the default first.
pub(super) fn variants(_: &Averaged, _: Shape) -> Vec<Variant> {
    vec![Variant::new("fused", &[])]
}

/// Points of the transforms of a block.
const BLOCK_POINTS: usize = 1 << 16;
/// Most blocks of a channel.
const MAX_BLOCKS: usize = 64;
/// Frequencies whose medians are taken together.
const COLUMNS: usize = 16;

/// Computes all channels.
pub(super) fn run(p: &Averaged, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    debug_assert_eq!(variant.method, "fused");
    planar(x, |x| match p.kind {
        Kind::Welch | Kind::Periodogram if p.average == Average::Mean => channels::<f32, Squares>(p, x, y),
        Kind::Welch | Kind::Periodogram => channels::<f32, Power>(p, x, y),
        Kind::Csd => channels::<f64, Cross>(p, x, y),
        Kind::Coherence => channels::<f64, Both>(p, x, y),
    })
}

fn channels<T: Real, S: Sums<T>>(p: &Averaged, x: View<'_, f32>, y: ViewMut<'_>) -> Result<()> {
    let g = p.geometry(x.samples())?;
    let table = p.segments.table(g.nperseg)?;
    let factor = p.segments.factor(&table)?;
    let plan = T::plan(g.nfft);
    let (samples, pitch) = (y.samples(), y.pitch());
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        let signals = x.row(channel).unwrap_or(&[]);
        let channel = Channel { signals, geometry: &g, table: &table, plan: plan.as_ref() };
        let sums = match p.average {
            Average::Mean => channel.mean::<S>()?,
            Average::Median => channel.median::<S>()?,
        };
        S::finish(&sums, &g, factor, &mut row[..samples]);
        Ok(())
    })
}

/// What is added up over frames.
trait Sums<T: Real> {
    /// Signals of a row.
    const SIGNALS: usize;
    /// float64 values of a frequency.
    const WIDTH: usize;

    /// Adds one frame, whose spectra lie one after the other.
    fn add(spectra: &[Complex<T>], bins: usize, sums: &mut [f64]);

    /// The result of the averages.
    fn finish(sums: &[f64], g: &Geometry, factor: f64, out: &mut [f32]);
}

/// `|X|^2`.
struct Power;

impl Sums<f32> for Power {
    const SIGNALS: usize = 1;
    const WIDTH: usize = 1;

    fn add(spectra: &[Complex<f32>], _: usize, sums: &mut [f64]) {
        for (z, sum) in spectra.iter().zip(sums) {
            *sum += f64::from(z.re) * f64::from(z.re) + f64::from(z.im) * f64::from(z.im);
        }
    }

    fn finish(sums: &[f64], g: &Geometry, factor: f64, out: &mut [f32]) {
        for (bin, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
            *out = (sum * factor * g.sides(bin)) as f32;
        }
    }
}

/// The same for means, faster: squares of real and imaginary parts side by side, added to each other only at the end.
struct Squares;

impl Sums<f32> for Squares {
    const SIGNALS: usize = 1;
    const WIDTH: usize = 2;

    fn add(spectra: &[Complex<f32>], _: usize, sums: &mut [f64]) {
        simd::level().run(AddSquares { parts: bytemuck::cast_slice(spectra), sums });
    }

    fn finish(sums: &[f64], g: &Geometry, factor: f64, out: &mut [f32]) {
        for (bin, (out, sum)) in out.iter_mut().zip(sums.as_chunks::<2>().0).enumerate() {
            *out = ((sum[0] + sum[1]) * factor * g.sides(bin)) as f32;
        }
    }
}

struct AddSquares<'a> {
    parts: &'a [f32],
    sums: &'a mut [f64],
}

impl Kernel for AddSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (parts, rest) = self.parts.as_chunks::<16>();
        let (sums, sums_rest) = self.sums.as_chunks_mut::<16>();
        for (parts, sums) in parts.iter().zip(sums) {
            let (low, high) = f32x16::load_array_ref(simd, parts).widen();
            let (low_sums, high_sums) = sums.split_at_mut(8);
            low.mul_add(low, f64x8::from_slice(simd, low_sums)).store_slice(low_sums);
            high.mul_add(high, f64x8::from_slice(simd, high_sums)).store_slice(high_sums);
        }
        for (part, sum) in rest.iter().zip(sums_rest) {
            *sum += f64::from(*part) * f64::from(*part);
        }
    }
}

/// `conj(X) Y`.
struct Cross;

impl Sums<f64> for Cross {
    const SIGNALS: usize = 2;
    const WIDTH: usize = 2;

    fn add(spectra: &[Complex<f64>], bins: usize, sums: &mut [f64]) {
        let (x, y) = spectra.split_at(bins);
        for ((x, y), sum) in x.iter().zip(y).zip(sums.as_chunks_mut::<2>().0) {
            sum[0] += x.re * y.re + x.im * y.im;
            sum[1] += x.re * y.im - x.im * y.re;
        }
    }

    fn finish(sums: &[f64], g: &Geometry, factor: f64, out: &mut [f32]) {
        for (bin, (out, sum)) in out.as_chunks_mut::<2>().0.iter_mut().zip(sums.as_chunks::<2>().0).enumerate() {
            *out = sum.map(|v| (v * factor * g.sides(bin)) as f32);
        }
    }
}

/// `conj(X) Y`, `|X|^2` and `|Y|^2`.
struct Both;

impl Sums<f64> for Both {
    const SIGNALS: usize = 2;
    const WIDTH: usize = 4;

    fn add(spectra: &[Complex<f64>], bins: usize, sums: &mut [f64]) {
        let (x, y) = spectra.split_at(bins);
        for ((x, y), sum) in x.iter().zip(y).zip(sums.as_chunks_mut::<4>().0) {
            sum[0] += x.re * y.re + x.im * y.im;
            sum[1] += x.re * y.im - x.im * y.re;
            sum[2] += x.norm_sqr();
            sum[3] += y.norm_sqr();
        }
    }

    fn finish(sums: &[f64], _: &Geometry, _: f64, out: &mut [f32]) {
        for (out, [re, im, x, y]) in out.iter_mut().zip(sums.as_chunks::<4>().0) {
            *out = ((re * re + im * im) / x / y) as f32;
        }
    }
}

/// One row, ready to be transformed.
struct Channel<'a, T> {
    signals: &'a [f32],
    geometry: &'a Geometry,
    table: &'a Table,
    plan: &'a dyn RealToComplex<T>,
}

impl<T: Real> Channel<'_, T> {
    /// Frames of a block.
    fn block(&self) -> usize {
        let frames = self.geometry.frames;
        frames.div_ceil(MAX_BLOCKS).max(BLOCK_POINTS / self.geometry.nfft).max(1)
    }

    /// Hands over the spectra of frames, those of all signals of the row one after the other.
    fn each<S: Sums<T>>(
        &self,
        frames: std::ops::Range<usize>,
        mut add: impl FnMut(usize, &[Complex<T>]),
    ) -> Result<()> {
        let (bins, stride) = (self.geometry.bins(), self.signals.len() / S::SIGNALS);
        let loaders: Vec<_> =
            (0..S::SIGNALS).map(|k| Loader::new(&self.signals[k * stride..], self.geometry, self.table)).collect();
        T::with_space(|space: &mut Space<T>| {
            space.reserve(S::SIGNALS * bins);
            for frame in frames {
                for (k, loader) in loaders.iter().enumerate() {
                    space.transform(self.plan, loader, frame, k * bins)?;
                }
                add(frame, &space.spectra[..S::SIGNALS * bins]);
            }
            Ok(())
        })
    }

    /// The means over all frames.
    fn mean<S: Sums<T>>(&self) -> Result<Vec<f64>> {
        let (bins, frames, block) = (self.geometry.bins(), self.geometry.frames, self.block());
        let blocks: Vec<Vec<f64>> = (0..frames.div_ceil(block))
            .into_par_iter()
            .map(|index| {
                let mut sums = filled(bins * S::WIDTH, 0.0)?;
                let range = index * block..frames.min((index + 1) * block);
                self.each::<S>(range, |_, spectra| S::add(spectra, bins, &mut sums))?;
                Ok(sums)
            })
            .collect::<Result<_>>()?;
        let mut blocks = blocks.into_iter();
        let mut sums = blocks.next().unwrap_or_default();
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, v)| *sum += v);
        }
        sums.iter_mut().for_each(|sum| *sum /= frames as f64);
        Ok(sums)
    }

    /// The medians over all frames, less their bias.
    fn median<S: Sums<T>>(&self) -> Result<Vec<f64>> {
        let (bins, frames) = (self.geometry.bins(), self.geometry.frames);
        let width = bins * S::WIDTH;
        let mut values = filled(width * frames, 0.0)?;
        values.par_chunks_mut(width * self.block()).enumerate().try_for_each(|(index, part)| {
            let first = index * self.block();
            self.each::<S>(first..first + part.len() / width, |frame, spectra| {
                S::add(spectra, bins, &mut part[(frame - first) * width..][..width]);
            })
        })?;
        let mut medians = filled(width, 0.0)?;
        let bias = median_bias(frames);
        medians.par_chunks_mut(COLUMNS).enumerate().try_for_each(|(index, out)| {
            let mut column = filled(frames, 0.0)?;
            for (k, out) in out.iter_mut().enumerate() {
                let at = index * COLUMNS + k;
                column.iter_mut().zip(values.chunks_exact(width)).for_each(|(to, frame)| *to = frame[at]);
                *out = median(&mut column) / bias;
            }
            Ok::<_, Error>(())
        })?;
        Ok(medians)
    }
}

/// NaN if there is one among the values.
fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    match below.iter().copied().reduce(f64::max) {
        Some(lower) if below.len() == values.len() - middle => (lower + upper) / 2.0,
        _ => upper,
    }
}
