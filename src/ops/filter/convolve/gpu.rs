//! Convolution on devices: the direct form, by the kernel of FIR filters (`filter/fir.wgsl`), or transforms of blocks (see the
//! module `transforms`).

use super::problem::Convolution;
use super::transforms;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::lfilter::gpu::{self as fir, Part};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::gpu::{Command, Facts, Gpu};
use crate::runtime::{DeviceArray, Segment};

/// Variants, the default first.
pub(super) fn variants(c: &Convolution, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let direct = fir::variants(c.taps.of(0), facts, shape);
    let (by_transforms, first) = transforms::variants(c, facts, shape);
    if first { [by_transforms, direct].concat() } else { [direct, by_transforms].concat() }
}

/// Records all channels.
pub(super) fn record(
    c: &Convolution,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    if variant.method == "transforms" {
        return transforms::record(c, gpu, variant, x, y);
    }
    let (from, to) = (only(x)?, only(y)?);
    let (channels, first) = (x.channels(), c.part(x.samples()).first);
    if let Some(taps) = c.taps.shared() {
        return fir::record_part(taps, gpu, variant, from, to, &Part { channel: 0, channels, first });
    }
    let each = (0..channels).map(|channel| {
        fir::record_part(c.taps.of(channel), gpu, variant, from, to, &Part { channel, channels: 1, first })
    });
    Ok(each.collect::<Result<Vec<_>>>()?.concat())
}

/// The one segment of an array.
pub(super) fn only(array: &DeviceArray) -> Result<&Segment> {
    match array.segments() {
        [segment] => Ok(segment),
        segments => Err(Error::new(
            ErrorKind::Limit,
            format!(
                "a convolution needs whole channels in one binding, this array of {} channels x {} samples lies in {} segments; pass fewer channels at once, or host arrays",
                array.channels(),
                array.samples(),
                segments.len()
            ),
        )),
    }
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
