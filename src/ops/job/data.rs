//! Inputs that jobs are proven and timed on.

use rayon::prelude::*;

use crate::ops::problem::Shape;
#[cfg(feature = "gpu")]
use crate::signal::Signal;
use crate::signal::{Dtype, Source, View};

/// What the input of a job is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) dtype: Dtype,
    pub(crate) interleaved: bool,
}

impl Input {
    pub(super) fn of(x: &Source<'_>) -> Self {
        let interleaved = match x {
            Source::F32(v) => v.sample_stride() != 1 && v.samples() > 1,
            Source::I16(v) => v.sample_stride() != 1 && v.samples() > 1,
        };
        Input { dtype: x.dtype(), interleaved }
    }
}

/// Owned input of any accepted kind.
pub(crate) struct Data {
    shape: Shape,
    input: Input,
    f32s: Vec<f32>,
    i16s: Vec<i16>,
}

impl Data {
    pub(super) fn filled(shape: Shape, input: Input, value: impl Fn(usize, usize) -> f32 + Sync) -> Self {
        let mut data = Data { shape, input, f32s: Vec::new(), i16s: Vec::new() };
        match input.dtype {
            Dtype::F32 => data.f32s = fill(shape, input, &value),
            Dtype::I16 => data.i16s = fill(shape, input, &|c, n| (value(c, n) * 1000.0) as i16),
        }
        data
    }

    /// Noise of unit scale with a different offset on every channel, as recordings have. Long arrays repeat a block, so
    /// that making them costs little beside running them.
    pub(crate) fn noise(shape: Shape, input: Input, seed: u32) -> Self {
        const BLOCK: usize = 1 << 16;
        let mut s = seed;
        let block: Vec<f32> = (0..BLOCK)
            .map(|_| {
                s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (s >> 8) as f32 / 8_388_608.0 - 1.0
            })
            .collect();
        Self::filled(shape, input, |c, n| block[(n + c * 7919) % BLOCK] + (c % 5) as f32)
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn source(&self) -> Source<'_> {
        let (c, n) = (self.shape.channels, self.shape.samples);
        let (cs, ss) = if self.input.interleaved { (1, c) } else { (n, 1) };
        match self.input.dtype {
            Dtype::F32 => View::with_strides(&self.f32s, c, n, cs, ss).map(Source::F32),
            Dtype::I16 => View::with_strides(&self.i16s, c, n, cs, ss).map(Source::I16),
        }
        .expect("made with its strides")
    }

    /// A copy of `count` channels from `first`.
    pub(super) fn rows(&self, first: usize, count: usize) -> Data {
        let x = self.source();
        let planar = Input { interleaved: false, ..self.input };
        let shape = Shape { channels: count, samples: self.shape.samples };
        let mut data = Data { shape, input: planar, f32s: Vec::new(), i16s: Vec::new() };
        let values = (first..first + count).flat_map(|c| (0..shape.samples).map(move |n| (c, n)));
        match x {
            Source::F32(v) => data.f32s = values.map(|(c, n)| v.get(c, n)).collect(),
            Source::I16(v) => data.i16s = values.map(|(c, n)| v.get(c, n)).collect(),
        }
        data
    }

    /// Largest magnitude of a channel.
    pub(super) fn max_of(&self, channel: usize) -> f64 {
        let x = self.source();
        (0..self.shape.samples).fold(0.0f64, |m, n| m.max(f64::from(x.get(channel, n)).abs()))
    }

    /// Hash of the values.
    pub(super) fn hash(&self) -> u128 {
        let bytes: &[u8] = match self.input.dtype {
            Dtype::F32 => bytemuck::cast_slice(&self.f32s),
            Dtype::I16 => bytemuck::cast_slice(&self.i16s),
        };
        xxhash_rust::xxh3::xxh3_128(bytes)
    }

    /// Whether this array holds the same values, widened.
    #[cfg(feature = "gpu")]
    pub(super) fn equals(&self, other: &Signal) -> bool {
        let x = self.source();
        (0..self.shape.channels).all(|c| other.row(c).iter().enumerate().all(|(n, v)| *v == x.get(c, n)))
    }
}

/// An array of `value(channel, sample)`, in parallel: the grid's largest has 200 million.
fn fill<T: Default + Copy + Send>(shape: Shape, input: Input, value: &(impl Fn(usize, usize) -> T + Sync)) -> Vec<T> {
    let (channels, samples) = (shape.channels, shape.samples);
    let mut all = vec![T::default(); channels * samples];
    let run = if input.interleaved { channels } else { samples };
    all.par_chunks_mut(run.max(1)).enumerate().for_each(|(outer, run)| {
        for (inner, x) in run.iter_mut().enumerate() {
            *x = if input.interleaved { value(inner, outer) } else { value(outer, inner) };
        }
    });
    all
}
