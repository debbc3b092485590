//! Fourier's method on devices. A spectrum is cut or continued as the inverse transform reads it; in between there are
//! only factors, without a window that of one bin at most.

use super::between::gpu::{self as between, Change, Parts};
use super::problem::Fourier;
use crate::error::Result;
use crate::ops::launch::constant;
use crate::ops::problem::Variant;
use crate::ops::spectral::fft::gpu::{Rows, rows};
use crate::ops::spectral::fft::{Kind, Norm};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Gpu};

/// Records all channels.
pub(super) fn record(
    problem: &Fourier,
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
    let parts = Parts::new("resample", gpu, x, y, length)?;
    let spectra = parts.scratch(length)?;
    // Amplitudes do not depend on the number of samples: all of the factor lies on the way there.
    let forward = between::transform(Kind::Rfft, n, Norm::Forward);
    let inverse = between::transform(Kind::Irfft, problem.num, Norm::Forward);
    let factors = problem.factors(n)?;
    let pairs: Vec<u8> = factors.values.iter().flat_map(|v| [*v as f32; 2]).flat_map(f32::to_le_bytes).collect();
    let weights = (!pairs.is_empty()).then(|| constant(gpu, &pairs)).transpose()?;
    let mut commands = Vec::new();
    for part in parts.each() {
        let spectra = spectra.take(part.from.count);
        commands.extend(rows(&forward, gpu, variant, &part.from, &spectra)?);
        if let Some(weights) = &weights {
            let change = Change::Weights { first: factors.first, weights: weights.clone(), bins: factors.values.len() };
            commands.push(between::change(gpu, &change, &spectra, part.from.count, part.first)?);
        }
        let kept = Rows { samples: 2 * problem.kept(n), ..spectra };
        commands.extend(rows(&inverse, gpu, variant, &kept, &part.to)?);
    }
    Ok(commands)
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
