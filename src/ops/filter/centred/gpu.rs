//! Centred responses on a device (see `filter/centred.wgsl`), and the results near the ends that have weights of their own
//! (`filter/ends.wgsl`).

use super::{Centred, Ends};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::{edge::Edge, halo};
use crate::ops::launch::{
    SOFTWARE_ROUNDS, all, compose, compose_plain, constant, is_software, launch, pairs, space, word,
};
use crate::ops::problem::Variant;
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Weights from which the sum keeps its rounding errors.
const COMPENSATED: usize = 33;

/// Variants, the default first.
pub(super) fn variants(filter: &Centred, facts: &Facts) -> Vec<Variant> {
    if refusal(filter, facts).is_some() {
        return Vec::new();
    }
    let (groups, tile): (&[u32], &[u32]) =
        if is_software(facts) { (&[8, 64], &[8, 16]) } else { (&[64, 128], &[4, 8]) };
    let fits = |v: &[(&'static str, u32)]| v[0].1 <= facts.limits.group_size;
    space("centred", &[("WG", 64), ("R", 8)], &[("WG", groups), ("R", tile)], fits)
}

/// Why a response is too long for a device.
pub(super) fn refusal(filter: &Centred, facts: &Facts) -> Option<Error> {
    let taps = filter.weights.len();
    // Blocks of four weights, then all once more, where a result is not finite.
    let rounds = taps as u64 + taps as u64 / 4 + 3;
    (is_software(facts) && rounds > SOFTWARE_ROUNDS).then(|| {
        Error::new(
            ErrorKind::Unsupported,
            format!("{taps} coefficients are too many for {}; use the cpu runtime or a shorter window", facts.name),
        )
    })
}

/// Records the computation over all segments.
pub(super) fn record(
    filter: &Centred,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let pairs = pairs(x, y)?;
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let taps = filter.weights.len();
    let compensate = u32::from(taps >= COMPENSATED);
    let kernel = compose("filter/centred", variant, &[("COMPENSATE", compensate)])?;
    let width = variant.get("R").max(4) as usize;
    let before = filter.left.div_ceil(width);
    let zeros = before * width - filter.left;
    let blocks = (zeros + taps).div_ceil(width);
    let mut bytes = vec![0u8; zeros * 4];
    bytes.extend(filter.weights.iter().flat_map(|w| (*w as f32).to_le_bytes()));
    bytes.resize(blocks * width * 4, 0);
    let weights = constant(gpu, &bytes)?;
    let edge = if let Ends::Edge(edge) = filter.ends { edge } else { Edge::Nearest };
    // At least one sample, so that the kernel has something to read.
    let around = (filter.left, filter.right().max(usize::from(filter.left == 0)));
    let mut commands = Vec::new();
    for (from, to) in &pairs {
        let (gather, halo) = halo::record(gpu, x, from, around, edge)?;
        commands.extend(gather);
        let tiles = to.pitch.div_ceil(width);
        let args = [
            word(x.channels())?,
            word(to.pitch / 4)?,
            word(tiles)?,
            word(from.samples)?,
            word(blocks)?,
            word(before)?,
            word(zeros)?,
            word(taps)?,
            word(around.0 + around.1)?,
            word(around.0)?,
            1f32.to_bits(),
            0,
        ];
        let groups = (x.channels() * tiles).div_ceil(kernel.group_size.max(1) as usize);
        commands.push(launch(gpu, &kernel, &args, &[weights.clone(), all(from), halo, all(to)], groups as u64)?);
    }
    commands.extend(rows(filter, gpu, x, y)?);
    Ok(commands)
}

/// Records the results that have weights of their own.
fn rows(filter: &Centred, gpu: &dyn Gpu, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
    let rows = filter.rows(x.samples());
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let taps = filter.weights.len();
    let bytes: Vec<u8> =
        rows.iter().flat_map(|(_, row, _)| row.iter()).flat_map(|w| (*w as f32).to_le_bytes()).collect();
    let weights = constant(gpu, &bytes)?;
    let windows = (0..taps).chain(x.samples() - taps..x.samples()).map(Some).collect::<Vec<_>>();
    let (mut commands, gathered) = halo::gather(gpu, x, &windows, 0.0)?;
    let kernel = compose_plain("filter/ends", &[])?;
    for to in y.segments() {
        // Rows come in two runs of neighbouring results: the first ones and the last ones.
        for (window, start) in [(0, 0), (taps, x.samples() - taps)] {
            let here: Vec<usize> = (0..rows.len())
                .filter(|i| (rows[*i].2 == start) && (window == 0) == (*i < rows.len() / 2))
                .filter(|i| (to.start..to.start + to.samples).contains(&rows[*i].0))
                .collect();
            let Some(first) = here.first() else { continue };
            let args = [
                word(x.channels())?,
                word(to.pitch)?,
                word(here.len())?,
                word(taps)?,
                word(*first)?,
                word(rows[*first].0 - to.start)?,
                word(window)?,
                word(2 * taps)?,
                1f32.to_bits(),
                0,
                0,
                0,
            ];
            let groups = (x.channels() * here.len()).div_ceil(kernel.group_size.max(1) as usize);
            let buffers = [weights.clone(), gathered.clone(), all(to)];
            commands.push(launch(gpu, &kernel, &args, &buffers, groups as u64)?);
        }
    }
    Ok(commands)
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
