//! Detrending on a device: sums of parts, lines, and what is left, piece by piece (see `filter/detrend.wgsl`).

use super::{Detrend, Trend, inverse_spread};
use crate::error::{Error, Result};
use crate::ops::launch::{all, compose, is_software, launch, pairs, space, word};
use crate::ops::problem::Variant;
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu, Slice};

/// Samples of a part.
const PART: usize = 8192;

/// Variants, the default first.
pub(super) fn variants(facts: &Facts) -> Vec<Variant> {
    let groups: &[u32] = if is_software(facts) { &[8, 64] } else { &[64, 128] };
    space("sums", &[("WG", 64)], &[("WG", groups)], |v| v[0].1 <= facts.limits.group_size)
}

/// Records the computation; arrays have one segment.
pub(super) fn record(
    detrend: &Detrend,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let pairs = pairs(x, y)?;
    let Some((from, to)) = pairs.first() else { return Ok(Vec::new()) };
    if pairs.len() > 1 {
        return Err(Error::new(
            crate::ErrorKind::Limit,
            "detrend needs channels in one segment; detrend fewer channels at once, from host memory, or on the cpu runtime",
        ));
    }
    let linear = u32::from(detrend.trend == Trend::Linear);
    let stage = |stage: u32| compose("filter/detrend", variant, &[("LINEAR", linear), ("STAGE", stage)]);
    let kernels = [stage(0)?, stage(1)?, stage(2)?];
    let pieces = detrend.pieces(x.samples());
    let channels = x.channels();
    let mut commands = Vec::new();
    for (i, (start, len)) in pieces.iter().copied().enumerate() {
        let parts = len.div_ceil(PART);
        let end = if i + 1 == pieces.len() { to.pitch } else { start + len };
        let [mean, spread] = [1.0 / len as f64, inverse_spread(len)].map(halves);
        let args = [
            word(channels)?,
            word(from.pitch)?,
            word(start)?,
            word(len)?,
            word(parts)?,
            word(PART)?,
            word(end)?,
            1f32.to_bits(),
            mean[0],
            mean[1],
            spread[0],
            spread[1],
        ];
        let sums = Slice::from(&gpu.allocate((channels * parts * 16) as u64)?);
        let lines = Slice::from(&gpu.allocate((channels * 16) as u64)?);
        let spare = Slice::from(&gpu.allocate(16)?);
        let bind = |read: &Slice, write: &Slice| [all(from), read.clone(), write.clone(), all(to)];
        let threads = (channels * (end - start)) as u64;
        let groups = [(channels * parts) as u64, channels as u64, threads.div_ceil(kernels[2].group_size.into())];
        let buffers = [bind(&lines, &sums), bind(&sums, &lines), bind(&lines, &spare)];
        for ((kernel, buffers), groups) in kernels.iter().zip(&buffers).zip(groups) {
            commands.push(launch(gpu, kernel, &args, buffers, groups)?);
        }
    }
    Ok(commands)
}

/// A float64 as the sum of two floats.
fn halves(v: f64) -> [u32; 2] {
    let high = v as f32;
    [high.to_bits(), ((v - f64::from(high)) as f32).to_bits()]
}
