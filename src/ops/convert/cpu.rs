//! Conversion on the CPU.
//!
//! Rows that lie side by side are read, scaled and written straight through. Interleaved recordings are walked in tiles
//! of a few dozen frames that stay in the second-level cache: 16 channels at a time are widened and scaled with the
//! channels in the lanes, transposed in registers, and written in whole cache lines.
//!
//! Scaling is done in float64 and rounded once. Where the gain is a float itself and there is no offset, the product
//! of two floats is exact in float64, so multiplying in float32 rounds to the same value.

use fearless_simd::{Simd, f32x16, f64x8, i16x16, prelude::*};
use rayon::prelude::*;

use super::plan::Scale;
use crate::error::{Error, Result};
use crate::ops::columns::{self, Columns};
use crate::ops::{Shape, Variant};
use crate::signal::{Sample, Source, View, ViewMut};
use crate::simd::lanes::{self, Frame, LANES};
use crate::simd::{self, Kernel, Level, prefetch, stream, transpose};

/// The ways to convert at `shape`, the default first: `tile` frames at a time, `stream` = stores past the cache.
pub fn variants(shape: Shape) -> Vec<Variant> {
    let bytes = shape.channels.saturating_mul(shape.samples).saturating_mul(size_of::<f32>());
    let stream = u32::from(stream::pays(bytes));
    [(64, stream), (64, 1 - stream), (32, stream), (128, stream)]
        .map(|(tile, stream)| Variant::new("tiles", &[("tile", tile), ("stream", stream)]))
        .to_vec()
}

/// Writes `x * gain + offset` to `y`, which has the shape of `x`.
pub fn run(gain: &Scale, offset: &Scale, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    run_at(simd::level(), gain, offset, variant, x, y)
}

fn run_at(
    level: Level,
    gain: &Scale,
    offset: &Scale,
    variant: &Variant,
    x: Source<'_>,
    mut y: ViewMut<'_>,
) -> Result<()> {
    if (x.channels(), x.samples()) != (y.channels(), y.samples()) {
        return Err(Error::shape(format!(
            "{} channels x {} samples are converted to an output of the same shape, not {} x {}",
            x.channels(),
            x.samples(),
            y.channels(),
            y.samples()
        )));
    }
    let scaling = Scaling::new(gain, offset, x.channels())?;
    let tile = (variant.get("tile") as usize).clamp(LANES, 4096).next_multiple_of(LANES);
    let streamed = variant.get("stream") == 1;
    let one = |y: Columns<'_>| match x {
        Source::F32(x) => level.run(Task { scaling: &scaling, tile, streamed, x, y }),
        Source::I16(x) => level.run(Task { scaling: &scaling, tile, streamed, x, y }),
    };
    let windows = columns::split(&mut y, tile);
    match windows.len() {
        0 | 1 => windows.into_iter().for_each(one),
        _ => windows.into_par_iter().for_each(one),
    }
    Ok(())
}

/// What there is to compute.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    /// Nothing.
    Widen,
    /// A product in float32, exactly rounded.
    Single,
    /// Product and sum in float64.
    Double,
}

/// Gains and offsets by channel, filled up to whole groups of 16.
struct Scaling {
    mode: Mode,
    gain: Vec<f64>,
    offset: Vec<f64>,
}

impl Scaling {
    fn new(gain: &Scale, offset: &Scale, channels: usize) -> Result<Self> {
        gain.check("gain", channels)?;
        offset.check("offset", channels)?;
        let list = |scale: &Scale, fill: f64| -> Vec<f64> {
            (0..channels.next_multiple_of(LANES)).map(|c| if c < channels { scale.at(c) } else { fill }).collect()
        };
        let (gain, offset) = (list(gain, 1.0), list(offset, 0.0));
        let mode = if offset.iter().any(|v| *v != 0.0) || gain.iter().any(|v| f64::from(*v as f32) != *v) {
            Mode::Double
        } else if gain.iter().any(|v| *v != 1.0) {
            Mode::Single
        } else {
            Mode::Widen
        };
        Ok(Scaling { mode, gain, offset })
    }

    /// For 16 channels, one in each lane.
    #[inline(always)]
    fn lanes<S: Simd>(&self, simd: S, first: usize) -> Factors<S> {
        let pair = |list: &[f64]| {
            (f64x8::from_slice(simd, &list[first..first + 8]), f64x8::from_slice(simd, &list[first + 8..first + 16]))
        };
        Factors::new(self.mode, pair(&self.gain), pair(&self.offset))
    }

    /// For one channel.
    #[inline(always)]
    fn channel<S: Simd>(&self, simd: S, c: usize) -> Factors<S> {
        let (gain, offset) = (f64x8::splat(simd, self.gain[c]), f64x8::splat(simd, self.offset[c]));
        Factors::new(self.mode, (gain, gain), (offset, offset))
    }
}

/// [`Scaling`] in registers.
#[derive(Clone, Copy)]
struct Factors<S: Simd> {
    mode: Mode,
    single: f32x16<S>,
    gain: (f64x8<S>, f64x8<S>),
    offset: (f64x8<S>, f64x8<S>),
}

impl<S: Simd> Factors<S> {
    #[inline(always)]
    fn new(mode: Mode, gain: (f64x8<S>, f64x8<S>), offset: (f64x8<S>, f64x8<S>)) -> Self {
        Factors { mode, single: gain.0.narrow(gain.1), gain, offset }
    }

    #[inline(always)]
    fn apply(&self, v: f32x16<S>) -> f32x16<S> {
        match self.mode {
            Mode::Widen => v,
            Mode::Single => v * self.single,
            Mode::Double => {
                let (a, b) = v.widen();
                a.mul_add(self.gain.0, self.offset.0).narrow(b.mul_add(self.gain.1, self.offset.1))
            }
        }
    }
}

/// An element type read 16 at a time.
trait Load: Sample {
    fn load<S: Simd>(simd: S, values: &[Self; LANES]) -> f32x16<S>;
}

impl Load for f32 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[f32; LANES]) -> f32x16<S> {
        f32x16::load_array_ref(simd, values)
    }
}

impl Load for i16 {
    #[inline(always)]
    fn load<S: Simd>(simd: S, values: &[i16; LANES]) -> f32x16<S> {
        let (a, b) = i16x16::load_array_ref(simd, values).widen();
        a.combine(b).to_float()
    }
}

/// One window of the output.
struct Task<'a, T> {
    scaling: &'a Scaling,
    tile: usize,
    streamed: bool,
    x: View<'a, T>,
    y: Columns<'a>,
}

impl<T: Load> Kernel for Task<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let range = self.y.range();
        let x = self.x.window(range.start, range.len());
        if x.row(0).is_some() {
            for (c, row) in self.y.rows.iter_mut().enumerate() {
                let factors = self.scaling.channel(simd, c);
                convert_row(simd, factors, x.row(c).unwrap_or(&[]), row, self.streamed);
            }
        } else {
            let mut frames = [[0.0; LANES]; LANES];
            for start in (0..range.len()).step_by(self.tile) {
                let tile = x.window(start, self.tile);
                for (group, rows) in self.y.rows.chunks_mut(LANES).enumerate() {
                    let factors = self.scaling.lanes(simd, group * LANES);
                    for at in (0..tile.samples()).step_by(LANES) {
                        load_frames(simd, factors, &tile, (group * LANES, rows.len()), at, &mut frames);
                        store_frames(simd, &frames, rows, start + at, self.streamed);
                    }
                }
            }
        }
        if self.streamed {
            stream::fence();
        }
    }
}

#[inline(always)]
fn convert_row<S: Simd, T: Load>(simd: S, factors: Factors<S>, x: &[T], y: &mut [f32], streamed: bool) {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks_mut::<LANES>());
    for (x, y) in x.iter().zip(y) {
        let v = factors.apply(T::load(simd, x));
        if streamed {
            stream::store(simd, v, y);
        } else {
            v.store_array(y);
        }
    }
    let mut last = [T::default(); LANES];
    last[..x_rest.len()].copy_from_slice(x_rest);
    let last = factors.apply(T::load(simd, &last)).to_array();
    y_rest.copy_from_slice(&last[..y_rest.len()]);
}

/// Fills `frames` with scaled values of `channels` (first, count) from sample `start` on, as far as `x` reaches.
#[inline(always)]
fn load_frames<S: Simd, T: Load>(
    simd: S,
    factors: Factors<S>,
    x: &View<'_, T>,
    channels: (usize, usize),
    start: usize,
    frames: &mut [Frame; LANES],
) {
    let (data, stride, step) = (x.data(), x.sample_stride(), x.channel_stride());
    let (base, count) = (channels.0 * step, LANES.min(x.samples() - start));
    for (n, frame) in frames[..count].iter_mut().enumerate() {
        let at = base + (start + n) * stride;
        let mut gathered = [T::default(); LANES];
        let values = match data[at..].first_chunk::<LANES>() {
            Some(values) if step == 1 => values,
            _ => {
                gathered.iter_mut().take(channels.1).enumerate().for_each(|(i, v)| *v = data[at + i * step]);
                &gathered
            }
        };
        prefetch(data, at + stride * AHEAD);
        factors.apply(T::load(simd, values)).store_array(frame);
    }
}

/// How many frames ahead of the one being read the cache is asked for another.
const AHEAD: usize = 32;

/// Writes 16 frames to samples `start ..` of up to 16 rows, as far as they reach.
#[inline(always)]
fn store_frames<S: Simd>(simd: S, frames: &[Frame; LANES], rows: &mut [&mut [f32]], start: usize, streamed: bool) {
    if let Ok(rows) = <&mut [&mut [f32]; LANES]>::try_from(&mut *rows)
        && start + LANES <= rows[0].len()
    {
        let mut lines = rows.each_mut().map(|row| &mut row[start..start + LANES].as_chunks_mut::<LANES>().0[0]);
        return transpose::block(simd, &frames.each_ref(), &mut lines, streamed);
    }
    lanes::unpack(simd, start, frames, rows, streamed);
}

#[cfg(test)]
mod tests;
