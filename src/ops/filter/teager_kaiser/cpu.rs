//! Teager-Kaiser energy on the CPU: products in float64, rounded once.

use fearless_simd::{Simd, f32x16, prelude::*};
use rayon::prelude::*;

use crate::error::Result;
use crate::ops::filter::edge::{Edge, Extended};
use crate::ops::filter::planar::planar;
use crate::signal::{Buffer, Source, ViewMut};
use crate::simd::{self, Kernel, stream};

/// Values of a vector of `f32`.
const LANES: usize = 16;
/// Samples that a thread takes at once.
const PIECE: usize = 1 << 14;

/// The energy of `x` into `y`, of the same shape, at least `2 * lag + 1` samples.
pub(super) fn run(lag: usize, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (channels, samples) = (x.channels(), x.samples());
    if channels == 0 || samples == 0 {
        return Ok(());
    }
    let rows = planar(x)?;
    let x = rows.as_ref().map_or(x, Source::from);
    let streamed = stream::pays(channels.saturating_mul(samples).saturating_mul(size_of::<f32>()));
    let pitch = y.pitch().max(samples);
    let rows = y.into_data().chunks_mut(pitch).take(channels).enumerate();
    let pieces: Vec<(usize, usize, &mut [f32])> = rows
        .flat_map(|(c, row)| row[..samples].chunks_mut(PIECE).enumerate().map(move |(i, out)| (c, i * PIECE, out)))
        .collect();
    pieces.into_par_iter().try_for_each(|(channel, start, out)| {
        let row = Extended::new(x, channel, Edge::Nearest);
        let (first, length) = (start as i64 - lag as i64, out.len() + 2 * lag);
        let mut copy = Buffer::dirty(if row.direct(first, length).is_some() { 0 } else { length })?;
        let values = match row.direct(first, length) {
            Some(values) => values,
            None => {
                row.fill(first, &mut copy[..length]);
                &copy[..length]
            }
        };
        simd::level().run(Piece { values, lag, out, streamed });
        // Within `lag` of an end stands the nearest result that has both neighbours.
        let inner = lag..samples - lag;
        let whole = |n: usize| energy(row.get((n - lag) as i64), row.get(n as i64), row.get((n + lag) as i64));
        if start < inner.start {
            let until = inner.start.min(start + out.len()) - start;
            out[..until].fill(whole(inner.start));
        }
        if start + out.len() > inner.end {
            let from = inner.end.max(start) - start;
            out[from..].fill(whole(inner.end - 1));
        }
        Ok(())
    })
}

/// Products of two floats are exact in float64.
#[inline(always)]
fn energy(before: f32, middle: f32, after: f32) -> f32 {
    let (before, middle, after) = (f64::from(before), f64::from(middle), f64::from(after));
    (middle * middle - before * after) as f32
}

struct Piece<'a> {
    /// From `lag` before the first result to `lag` after the last one.
    values: &'a [f32],
    lag: usize,
    out: &'a mut [f32],
    streamed: bool,
}

impl Kernel for Piece<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (values, lag) = (self.values, self.lag);
        let width = S::f32s::LEN;
        let (lines, rest) = self.out.as_chunks_mut::<LANES>();
        let done = lines.len() * LANES;
        for (i, line) in lines.iter_mut().enumerate() {
            let mut out = [0f32; LANES];
            for at in (0..LANES).step_by(width) {
                let n = i * LANES + at;
                let load = |from: usize| S::f32s::from_slice(simd, &values[from..from + width]).widen();
                let ((a, b), (low, high), (c, d)) = (load(n), load(n + lag), load(n + 2 * lag));
                let energy = (low * low - a * c).narrow(high * high - b * d);
                energy.store_slice(&mut out[at..at + width]);
            }
            if self.streamed {
                stream::store(simd, f32x16::load_array(simd, out), line);
            } else {
                *line = out;
            }
        }
        for (i, out) in rest.iter_mut().enumerate() {
            let n = done + i;
            *out = energy(values[n], values[n + lag], values[n + 2 * lag]);
        }
        if self.streamed {
            stream::fence();
        }
    }
}
