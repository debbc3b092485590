//! Running medians on a device: selection in registers for short windows (`filter/median.wgsl`), by counting for long
//! ones (`filter/median_long.wgsl`).

use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::{edge::Edge, halo};
use crate::ops::launch::{SOFTWARE_ROUNDS, all, compose, is_software, launch, pairs, space, word};
use crate::ops::problem::Variant;
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Longest window whose candidates stay in registers.
const SHORT: usize = 33;
/// Longest window on a device: beyond, a launch takes longer than drivers wait.
const LONGEST: usize = 1 << 14;
/// Samples that a round of the counting kernel takes.
const STEP: usize = 8;
/// Passes over the first window of a run: two counts and 32 bits.
const PASSES: usize = 34;

/// Variants, the default first.
pub(super) fn variants(width: usize, facts: &Facts) -> Vec<Variant> {
    if refusal(width, facts).is_some() {
        return Vec::new();
    }
    let software = is_software(facts);
    let groups: &[u32] = if software { &[8, 64] } else { &[64, 128] };
    let fits = |v: &[(&'static str, u32)]| v[0].1 <= facts.limits.group_size;
    let counting = space("counting", &[("WG", 64), ("RUN", 16)], &[("WG", groups), ("RUN", &[4, 16, 64])], |v| {
        fits(v) && (!software || rounds(width, v[1].1 as usize) <= SOFTWARE_ROUNDS)
    });
    if width > SHORT {
        return counting;
    }
    [space("selection", &[("WG", 64), ("R", 4)], &[("WG", groups), ("R", &[4, 8])], fits), counting].concat()
}

/// Rounds of all loops of a thread that computes `run` outputs.
fn rounds(width: usize, run: usize) -> u64 {
    ((PASSES + run) * (width.div_ceil(STEP) + 1) + run) as u64
}

/// Why a width is too much for a device.
pub(super) fn refusal(width: usize, facts: &Facts) -> Option<Error> {
    let too_many = is_software(facts) && rounds(width, 4) > SOFTWARE_ROUNDS;
    (width > LONGEST || too_many).then(|| {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "a running median of {width} samples takes too long on {}; use the cpu runtime, or a window of at most {LONGEST} samples (fewer on software devices)",
                facts.name
            ),
        )
    })
}

/// Records the computation over all segments.
pub(super) fn record(
    width: usize,
    edge: Edge,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let short = variant.method == "selection";
    let kernel = match short {
        true => compose("filter/median", variant, &[("WIDTH", width as u32)])?,
        false => compose("filter/median_long", variant, &[])?,
    };
    let run = if short { variant.get("R") } else { variant.get("RUN") }.max(1) as usize;
    let (left, right) = (width / 2, width - 1 - width / 2);
    let mut commands = Vec::new();
    for (from, to) in pairs(x, y)? {
        // At least one sample, so that kernels have something to read.
        let around = (left, right.max(usize::from(left == 0)));
        let (gather, halo) = halo::record(gpu, x, from, around, edge)?;
        commands.extend(gather);
        let tiles = to.pitch.div_ceil(run);
        let pitch = if short { to.pitch / 4 } else { to.pitch };
        let last = if short { [0, 0] } else { [word(width)?, word(left)?] };
        let args = [
            word(x.channels())?,
            word(pitch)?,
            word(tiles)?,
            word(from.samples)?,
            word(around.0 + around.1)?,
            f32::NAN.to_bits(),
            last[0],
            last[1],
        ];
        let groups = (x.channels() * tiles).div_ceil(kernel.group_size.max(1) as usize);
        commands.push(launch(gpu, &kernel, &args, &[all(from), halo, all(to)], groups as u64)?);
    }
    Ok(commands)
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
