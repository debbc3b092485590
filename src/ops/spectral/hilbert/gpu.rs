//! The analytic signal on devices: forward, a quarter turn, back, and the rows put together.

use super::problem::Analytic;
use crate::error::Result;
use crate::ops::problem::{Problem, Shape, Variant};
use crate::ops::spectral::between::gpu::{self as between, Change, Parts, Put};
use crate::ops::spectral::fft::{Kind, Norm, gpu::rows};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Variants, the default first: those of the transforms.
pub(super) fn variants(facts: &Facts, shape: Shape) -> Vec<Variant> {
    between::variants(facts, shape.samples, shape.samples, shape.samples)
}

/// Records all channels.
pub(super) fn record(
    kept: Analytic,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let n = x.samples();
    if x.channels() == 0 || n == 0 {
        return Ok(Vec::new());
    }
    let length = 2 * (n / 2 + 1);
    let parts = Parts::new(kept.operation(), gpu, x, y, length)?;
    let (spectra, quadrature) = (parts.scratch(length)?, parts.scratch(n)?);
    let forward = between::transform(Kind::Rfft, n, Norm::Backward);
    let inverse = between::transform(Kind::Irfft, n, Norm::Backward);
    let put = if kept == Analytic::Signal { Put::Pairs } else { Put::Magnitude };
    let mut commands = Vec::new();
    for part in parts.each() {
        let count = part.from.count;
        let (spectra, quadrature) = (spectra.take(count), quadrature.take(count));
        commands.extend(rows(&forward, gpu, variant, &part.from, &spectra)?);
        commands.push(between::change(gpu, &Change::Quarter(n), &spectra, count, part.first)?);
        commands.extend(rows(&inverse, gpu, variant, &spectra, &quadrature)?);
        commands.push(between::put(gpu, put, &part.from, &quadrature, &part.to, n)?);
    }
    Ok(commands)
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
