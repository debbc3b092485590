//! Conversion on a device: one launch for each segment, by the kernel that fits the layout.

use super::plan::Scale;
use crate::error::{Error, Result};
use crate::ops::launch::{all, compose, constant, is_software, launch, pairs, space, word};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::gpu::{Command, Facts, Gpu};
use crate::runtime::{DeviceArray, Layout};
use crate::signal::Dtype;

/// Variants, the default first. All layouts share the same tunables.
pub fn variants(facts: &Facts, _shape: Shape) -> Vec<Variant> {
    let default = if is_software(facts) { [("WG", 16), ("STEPS", 4)] } else { [("WG", 64), ("STEPS", 1)] };
    let (groups, steps): (&[u32], &[u32]) =
        if is_software(facts) { (&[16, 64], &[2, 4]) } else { (&[64, 128], &[1, 2, 4]) };
    space("registers", &default, &[("WG", groups), ("STEPS", steps)], |v| v[0].1 <= facts.limits.group_size)
}

/// Records `y = x * gain + offset`.
pub fn record(
    gain: &Scale,
    offset: &Scale,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let int16 = match x.dtype() {
        Dtype::I16 => 1,
        Dtype::F32 => 0,
    };
    let (mode, scales) = match (gain, offset) {
        (Scale::One(gain), Scale::One(offset)) if (*gain, *offset) == (1.0, 0.0) => (0, words(*gain, *offset)),
        (Scale::One(gain), Scale::One(offset)) => (1, words(*gain, *offset)),
        _ => (2, (0..x.channels()).flat_map(|c| words(gain.at(c), offset.at(c))).collect()),
    };
    let offsets = u32::from((0..x.channels()).any(|c| offset.at(c) != 0.0));
    let (wg, steps) = (variant.get("WG") as usize, variant.get("STEPS") as usize);
    let channels = x.channels();
    let mut commands = Vec::new();
    for (from, to) in pairs(x, y)? {
        let pitch4 = to.pitch / 4;
        let (name, int16, args, groups) = match x.layout() {
            Layout::Planar => {
                if from.pitch != to.pitch {
                    return Err(Error::internal("input and output rows of a conversion differ in pitch"));
                }
                let chunks = to.pitch / 8;
                let args = [word(channels)?, word(chunks)?, 0, 0];
                ("convert/planar", Some(int16), args, (channels * chunks).div_ceil(wg * steps))
            }
            Layout::Interleaved => {
                let fast = int16 == 1 && channels.is_multiple_of(8);
                let tiles = if fast { pitch4.div_ceil(wg * steps) } else { channels.div_ceil(wg) };
                let args = [word(channels)?, word(from.samples)?, word(pitch4)?, word(tiles)?];
                if fast {
                    ("convert/interleaved", None, args, channels / 8 * tiles)
                } else {
                    ("convert/interleaved_any", Some(int16), args, pitch4.div_ceil(steps) * tiles)
                }
            }
        };
        let special: Vec<_> =
            int16.map(|v| ("INT16", v)).into_iter().chain([("MODE", mode), ("OFFSET", offsets)]).collect();
        let kernel = compose(name, variant, &special)?;
        let args: Vec<u32> =
            args.into_iter().chain(scales[..4].iter().copied()).chain([1f32.to_bits(), 0, 0, 0]).collect();
        let bytes: Vec<u8> = scales.iter().flat_map(|w| w.to_le_bytes()).collect();
        let buffers = [constant(gpu, &bytes)?, all(from), all(to)];
        commands.push(launch(gpu, &kernel, &args, &buffers, groups as u64)?);
    }
    Ok(commands)
}

/// Gain and offset as sums of two floats.
fn words(gain: f64, offset: f64) -> Vec<u32> {
    let pair = |v: f64| {
        let high = v as f32;
        let low = if high.is_finite() { (v - f64::from(high)) as f32 } else { 0.0 };
        [high.to_bits(), low.to_bits()]
    };
    [pair(gain), pair(offset)].concat()
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
