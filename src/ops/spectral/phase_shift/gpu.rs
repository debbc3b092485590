//! Delays on devices: forward, turned bin by bin, back. The roots of a bin are products of two from short tables made in
//! float64, so that no angle is ever rounded to float32.

use super::between::gpu::{self as between, Change, Parts, Put};
use super::problem::{Roots, Shifted};
use crate::error::Result;
use crate::ops::launch::constant;
use crate::ops::problem::Variant;
use crate::ops::spectral::fft::gpu::rows;
use crate::ops::spectral::fft::{Kind, Norm};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Gpu};

/// Records all channels.
pub(super) fn record(
    problem: &Shifted,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let samples = x.samples();
    if x.channels() == 0 || samples == 0 {
        return Ok(Vec::new());
    }
    let n = problem.points(samples);
    let length = 2 * (n / 2 + 1);
    let parts = Parts::new("phase_shift", gpu, x, y, length)?;
    let spectra = parts.scratch(length)?;
    let longer = (n > samples).then(|| parts.scratch(n)).transpose()?;
    let forward = between::transform(Kind::Rfft, n, Norm::Backward);
    let inverse = between::transform(Kind::Irfft, n, Norm::Backward);
    let roots = tables(problem, gpu, if problem.is_one() { 1 } else { x.channels() }, samples)?;
    let mut commands = Vec::new();
    for part in parts.each() {
        let count = part.from.count;
        let spectra = spectra.take(count);
        commands.extend(rows(&forward, gpu, variant, &part.from, &spectra)?);
        commands.push(between::change(gpu, &roots, &spectra, count, part.first)?);
        match &longer {
            None => commands.extend(rows(&inverse, gpu, variant, &spectra, &part.to)?),
            Some(longer) => {
                let longer = longer.take(count);
                commands.extend(rows(&inverse, gpu, variant, &spectra, &longer)?);
                commands.push(between::put(gpu, Put::Cut, &part.from, &longer, &part.to, samples)?);
            }
        }
    }
    Ok(commands)
}

fn tables(problem: &Shifted, gpu: &dyn Gpu, channels: usize, samples: usize) -> Result<Change> {
    let bins = problem.points(samples) / 2 + 1;
    let mut bytes = Vec::new();
    for channel in 0..channels {
        let Roots { low, high } = problem.roots(channel, samples);
        let values = low.iter().chain(&high).flat_map(|root| [root.re as f32, root.im as f32]);
        bytes.extend(values.flat_map(f32::to_le_bytes));
    }
    let table = if channels == 1 { 0 } else { bytes.len() / 8 / channels };
    Ok(Change::Roots { tables: constant(gpu, &bytes)?, table, low_bits: Roots::low_bits(bins) })
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
