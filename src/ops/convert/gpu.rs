//! Conversion on a device: one launch for each segment, by the kernel that fits the layout.

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

/// Records `y = x * gain + offset`, where `scale` gives gain and offset of a channel.
pub fn record(
    scale: impl Fn(usize) -> (f64, f64),
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let int16 = match x.dtype() {
        Dtype::I16 => 1,
        Dtype::F32 => 0,
    };
    let scales: Vec<u8> = (0..x.channels()).flat_map(|c| words(scale(c))).collect();
    let (wg, steps) = (variant.get("WG") as usize, variant.get("STEPS") as usize);
    let channels = x.channels();
    let mut commands = Vec::new();
    for (from, to) in pairs(x, y)? {
        let pitch4 = to.pitch / 4;
        let (name, special, args, groups): (_, &[_], _, _) = match x.layout() {
            Layout::Planar => {
                if from.pitch != to.pitch {
                    return Err(Error::internal("input and output rows of a conversion differ in pitch"));
                }
                let chunks = to.pitch / 8;
                let args = [word(channels)?, word(chunks)?, 0, 0];
                ("convert/planar", &[("INT16", int16)], args, (channels * chunks).div_ceil(wg * steps))
            }
            Layout::Interleaved => {
                let fast = int16 == 1 && channels % 8 == 0;
                let tiles = if fast { pitch4.div_ceil(wg * steps) } else { channels.div_ceil(wg) };
                let args = [word(channels)?, word(from.samples)?, word(pitch4)?, word(tiles)?];
                if fast {
                    ("convert/interleaved", &[], args, channels / 8 * tiles)
                } else {
                    ("convert/interleaved_any", &[("INT16", int16)], args, pitch4.div_ceil(steps) * tiles)
                }
            }
        };
        let kernel = compose(name, variant, special)?;
        let buffers = [constant(gpu, &scales)?, all(from), all(to)];
        commands.push(launch(gpu, &kernel, &args, &buffers, groups as u64)?);
    }
    Ok(commands)
}

/// Gain and offset as sums of two floats.
fn words((gain, offset): (f64, f64)) -> Vec<u8> {
    [gain, offset]
        .into_iter()
        .flat_map(|v| {
            let high = v as f32;
            let low = if high.is_finite() { (v - f64::from(high)) as f32 } else { 0.0 };
            [high.to_le_bytes(), low.to_le_bytes()].concat()
        })
        .collect()
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
