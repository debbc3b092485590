//! Device arrays for the tests of operations.

use std::sync::Arc;

use crate::ops::problem::Variant;
use crate::runtime::gpu::{Command, Gpu};
use crate::runtime::testing::test_gpu;
use crate::runtime::{DeviceArray, Layout, Segment};
use crate::signal::{Dtype, pitch};

/// Noise in [-1, 1), the same for the same seed.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

/// A device for tests, or `None`, said aloud, where there is none.
pub(crate) fn device() -> Option<Arc<dyn Gpu>> {
    test_gpu()
}

/// An array whose segments end at `cuts` (multiples of 16) and whose bytes are what `fill` makes of `(channel, sample)`.
pub(crate) fn array(
    gpu: &Arc<dyn Gpu>,
    (channels, samples): (usize, usize),
    dtype: Dtype,
    layout: Layout,
    cuts: &[usize],
    fill: impl Fn(usize, usize) -> Vec<u8>,
) -> DeviceArray {
    let mut segments = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().filter(|c| *c < samples).chain([samples]) {
        let count = end - start;
        let row = pitch(count);
        let size = dtype.size();
        let mut bytes = vec![0u8; (channels * row * size).next_multiple_of(16).max(16)];
        for c in 0..channels {
            for n in 0..count {
                let at = if layout == Layout::Planar { c * row + n } else { n * channels + c };
                bytes[at * size..(at + 1) * size].copy_from_slice(&fill(c, start + n));
            }
        }
        let buffer = gpu.allocate(bytes.len() as u64).unwrap();
        gpu.write(&buffer, 0, bytes.len() as u64, &mut |at, memory| {
            memory.copy_from_slice(&bytes[at as usize..at as usize + memory.len()]);
        })
        .unwrap();
        segments.push(Segment { buffer, start, samples: count, pitch: row });
        start = end;
    }
    DeviceArray { gpu: gpu.clone(), channels, samples, dtype, layout, segments }
}

/// `[channels, samples]` of `f32`.
pub(crate) fn planar(gpu: &Arc<dyn Gpu>, shape: (usize, usize), cuts: &[usize], x: &[f32]) -> DeviceArray {
    array(gpu, shape, Dtype::F32, Layout::Planar, cuts, |c, n| x[c * shape.1 + n].to_le_bytes().to_vec())
}

/// A result full of NaN, as if the memory had been used before.
pub(crate) fn result(gpu: &Arc<dyn Gpu>, shape: (usize, usize), cuts: &[usize]) -> DeviceArray {
    let nan = f32::NAN.to_le_bytes();
    let y = array(gpu, shape, Dtype::F32, Layout::Planar, cuts, |_, _| nan.to_vec());
    for s in &y.segments {
        gpu.write(&s.buffer, 0, (shape.0 * s.pitch * 4) as u64, &mut |_, memory| {
            memory.as_chunks_mut::<4>().0.iter_mut().for_each(|b| *b = nan);
        })
        .unwrap();
    }
    y
}

/// Reads an array back, and checks that the padding holds nothing but finite numbers where `finite`.
pub(crate) fn read(y: &DeviceArray, finite: bool) -> Vec<f32> {
    let mut out = vec![0.0; y.channels * y.samples];
    for s in &y.segments {
        let mut bytes = vec![0u8; y.channels * s.pitch * 4];
        y.gpu
            .read(&s.buffer, 0, bytes.len() as u64, &mut |at, memory| {
                bytes[at as usize..at as usize + memory.len()].copy_from_slice(memory);
            })
            .unwrap();
        let values: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        for c in 0..y.channels {
            let row = &values[c * s.pitch..(c + 1) * s.pitch];
            out[c * y.samples + s.start..][..s.samples].copy_from_slice(&row[..s.samples]);
            assert!(!finite || row[s.samples..].iter().all(|v| v.is_finite()), "padding of channel {c}");
        }
    }
    out
}

/// The variants of one group size: others differ in nothing that sizes or values could show.
pub(crate) fn one_group_size(variants: Vec<Variant>) -> Vec<Variant> {
    let wanted = variants.first().map_or(0, |v| v.get("WG"));
    variants.into_iter().filter(|v| v.get("WG") == wanted).collect()
}

/// Submits and reads back.
pub(crate) fn compute(y: &DeviceArray, commands: &[Command]) -> Vec<f32> {
    y.gpu.submit(commands).unwrap();
    read(y, true)
}

/// Largest relative error of a channel against `max(max |want|, gain * max |x|)`; infinite where one is NaN and the
/// other is not.
pub(crate) fn error(got: &[f32], want: &[f64], x: &[f32], samples: usize, gain: f64) -> f64 {
    let mut worst = 0.0f64;
    for ((got, want), x) in got.chunks(samples).zip(want.chunks(samples)).zip(x.chunks(samples)) {
        let largest = |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite()).fold(0.0, f64::max);
        let scale = largest(&mut want.iter().map(|v| v.abs()));
        let scale = scale.max(gain * largest(&mut x.iter().map(|v| f64::from(v.abs()))));
        for (g, w) in got.iter().zip(want) {
            let difference = match (g.is_nan(), w.is_nan()) {
                (true, true) => 0.0,
                (false, false) if f64::from(*g) == *w => 0.0,
                (false, false) => (f64::from(*g) - w).abs(),
                _ => f64::INFINITY,
            };
            worst = worst.max(if difference == 0.0 { 0.0 } else { difference / scale });
        }
    }
    worst
}
