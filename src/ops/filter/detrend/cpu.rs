//! Detrending on the CPU: a pass over a piece for its sums in float64, one that takes the line off, while the piece is
//! still near.

use fearless_simd::{Simd, prelude::*};
use rayon::prelude::*;

use super::{Detrend, Trend, inverse_spread};
use crate::error::Result;
use crate::ops::filter::edge::{Edge, Extended};
use crate::ops::filter::planar::planar;
use crate::signal::{Buffer, Source, ViewMut};
use crate::simd::{self, Kernel, stream};

/// Detrends `x` into `y`, of the same shape.
pub(super) fn run(detrend: &Detrend, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (channels, samples) = (x.channels(), x.samples());
    if channels == 0 || samples == 0 {
        return Ok(());
    }
    let rows = planar(x)?;
    let x = rows.as_ref().map_or(x, Source::from);
    let pieces = detrend.pieces(samples);
    let streamed = stream::pays(channels.saturating_mul(samples).saturating_mul(size_of::<f32>()));
    let pitch = y.pitch().max(samples);
    y.into_data().par_chunks_mut(pitch).take(channels).enumerate().try_for_each(|(channel, out)| {
        let row = Extended::new(x, channel, Edge::Nearest);
        let mut copy = Buffer::dirty(if row.direct(0, samples).is_some() { 0 } else { samples })?;
        let values = match row.direct(0, samples) {
            Some(values) => values,
            None => {
                row.fill(0, &mut copy[..samples]);
                &copy[..samples]
            }
        };
        for &(start, len) in &pieces {
            let (x, y) = (&values[start..start + len], &mut out[start..start + len]);
            simd::level().run(Piece { x, y, linear: detrend.trend == Trend::Linear, streamed });
        }
        Ok(())
    })
}

/// One piece of a channel.
struct Piece<'a> {
    x: &'a [f32],
    y: &'a mut [f32],
    linear: bool,
    streamed: bool,
}

impl Kernel for Piece<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let n = self.x.len();
        let origin = f64::from(self.x[0]);
        let middle = 0.5 * (n - 1) as f64;
        let (sum, moment) = sums(simd, self.x, origin, middle);
        let mean = sum / n as f64;
        let slope = if self.linear { moment * inverse_spread(n) } else { 0.0 };
        let line = Line { base: origin + mean, low: mean - ((origin + mean) - origin), slope, middle };
        line.remove(simd, self.x, self.y, self.streamed);
        if self.streamed {
            stream::fence();
        }
    }
}

/// Values of a vector of `f32`.
const LANES: usize = 16;

/// Sum of the differences from `origin`, and of these times the distance from the middle.
#[inline(always)]
fn sums<S: Simd>(simd: S, x: &[f32], origin: f64, middle: f64) -> (f64, f64) {
    let half = S::f64s::LEN;
    let count = LANES / half;
    let zero = S::f64s::simd_from(simd, 0.0);
    let first = S::f64s::simd_from(simd, origin);
    let step = S::f64s::simd_from(simd, LANES as f64);
    let places: Vec<f64> = (0..LANES).map(|i| i as f64 - middle).collect();
    let (mut sum, mut moment, mut place) = ([zero; 8], [zero; 8], [zero; 8]);
    for (k, p) in place.iter_mut().enumerate().take(count) {
        *p = S::f64s::from_slice(simd, &places[k * half..(k + 1) * half]);
    }
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for k in 0..count / 2 {
            let v = S::f32s::from_slice(simd, &chunk[2 * k * half..2 * (k + 1) * half]);
            let (low, high) = v.widen();
            for (i, v) in [low, high].into_iter().enumerate() {
                let d = v - first;
                sum[2 * k + i] += d;
                moment[2 * k + i] = d.mul_add(place[2 * k + i], moment[2 * k + i]);
                place[2 * k + i] += step;
            }
        }
    }
    let total = |parts: [S::f64s; 8]| {
        let mut values = [0f64; LANES];
        for (k, v) in parts.iter().enumerate().take(count) {
            v.store_slice(&mut values[k * half..(k + 1) * half]);
        }
        values.iter().sum::<f64>()
    };
    let (mut sum, mut moment) = (total(sum), total(moment));
    for (i, v) in rest.iter().enumerate() {
        let d = f64::from(*v) - origin;
        sum += d;
        moment += d * ((chunks.len() * LANES + i) as f64 - middle);
    }
    (sum, moment)
}

/// What is taken off: `base + low + slope * (n - middle)`.
struct Line {
    base: f64,
    low: f64,
    slope: f64,
    middle: f64,
}

impl Line {
    #[inline(always)]
    fn remove<S: Simd>(&self, simd: S, x: &[f32], y: &mut [f32], streamed: bool) {
        let half = S::f64s::LEN;
        let all = |v: f64| S::f64s::simd_from(simd, v);
        let (base, low, slope) = (all(self.base), all(self.low), all(self.slope));
        let places: Vec<f64> = (0..LANES).map(|i| i as f64 - self.middle).collect();
        let (chunks, rest) = x.as_chunks::<LANES>();
        let (lines, tail) = y.as_chunks_mut::<LANES>();
        for (n, (chunk, line)) in chunks.iter().zip(lines).enumerate() {
            let start = all((n * LANES) as f64);
            let mut out = [0f32; LANES];
            for k in 0..LANES / half / 2 {
                let at = 2 * k * half;
                let (a, b) = S::f32s::from_slice(simd, &chunk[at..at + 2 * half]).widen();
                let place = |i: usize| S::f64s::from_slice(simd, &places[at + i * half..at + (i + 1) * half]) + start;
                let left = |v: S::f64s, i: usize| (v - base) - slope.mul_add(place(i), low);
                left(a, 0).narrow(left(b, 1)).store_slice(&mut out[at..at + 2 * half]);
            }
            if streamed {
                stream::store(simd, fearless_simd::f32x16::load_array(simd, out), line);
            } else {
                *line = out;
            }
        }
        for (i, (y, v)) in tail.iter_mut().zip(rest).enumerate() {
            let place = (chunks.len() * LANES + i) as f64 - self.middle;
            *y = ((f64::from(*v) - self.base) - self.slope.mul_add(place, self.low)) as f32;
        }
    }
}
