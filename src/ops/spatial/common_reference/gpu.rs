//! The common reference on a device: one launch for each segment covers all parts.

use super::plan::{NanPolicy, Operator, Part, Plan};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, all, compose, constant, is_software, launch, pairs, space, word};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Passes a median may need at most: the secant's and the bisection's.
const PASSES: u64 = 44;

/// Variants, the default first. Empty where a software adapter cannot count far enough for so many channels.
pub fn variants(plan: &Plan, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let software = is_software(facts);
    let fits = |v: &[(&'static str, u32)]| {
        v[0].1 <= facts.limits.group_size
            && (!software || rounds(plan.operator(), shape.channels, v[2].1) <= SOFTWARE_ROUNDS)
    };
    match plan.operator() {
        Operator::Mean => {
            let default =
                if software { [("WG", 8), ("Q", 8), ("ROWS", 4)] } else { [("WG", 64), ("Q", 1), ("ROWS", 4)] };
            let (groups, wide): (&[u32], &[u32]) =
                if software { (&[8, 32], &[2, 4, 8]) } else { (&[32, 64, 128], &[1, 2]) };
            space("sums", &default, &[("WG", groups), ("Q", wide), ("ROWS", &[4])], |v| {
                fits(v) && v[0].1 * v[1].1 <= 256
            })
        }
        Operator::Median => {
            let default =
                if software { [("WG", 8), ("VEC", 4), ("ROWS", 4)] } else { [("WG", 64), ("VEC", 1), ("ROWS", 4)] };
            let (groups, wide): (&[u32], &[u32]) = if software { (&[8, 32], &[2, 4]) } else { (&[64, 128], &[1, 2]) };
            // More rows at a time where a software adapter could not count so many channels otherwise.
            let many = software && rounds(Operator::Median, shape.channels, 8) > SOFTWARE_ROUNDS;
            let rows: &[u32] = if many { &[16] } else { &[4, 8] };
            space("search", &default, &[("WG", groups), ("VEC", wide), ("ROWS", rows)], fits)
        }
    }
}

/// Loop rounds of a thread at worst.
fn rounds(operator: Operator, channels: usize, rows: u32) -> u64 {
    let walks = if operator == Operator::Mean { 2 } else { PASSES + 2 };
    walks * (channels as u64 / u64::from(rows.max(1)) + u64::from(rows) + 1)
}

/// Records the computation over all segments.
pub fn record(plan: &Plan, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
    let pairs = pairs(x, y)?;
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let operator = plan.operator();
    if is_software(gpu.facts()) && rounds(operator, x.channels(), variant.get("ROWS")) > SOFTWARE_ROUNDS {
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "a {} over {} channels takes more loop rounds than a software adapter runs; use the cpu runtime",
                operator.name(),
                x.channels()
            ),
        ));
    }
    let tables = Tables::new(&plan.resolve(x.channels())?)?;
    let omit = u32::from(plan.nan_policy() == NanPolicy::Omit);
    let special = [("LISTED", u32::from(tables.listed)), ("OMIT", omit)];
    let (name, width, last) = match operator {
        Operator::Mean => ("spatial/mean_reference", 4 * variant.get("Q") as usize, 1.0f32),
        Operator::Median => ("spatial/median_reference", variant.get("VEC") as usize, f32::INFINITY),
    };
    let kernel = compose(name, variant, &special)?;
    let (parts, list) = (constant(gpu, &tables.parts)?, constant(gpu, &tables.list)?);
    let mut commands = Vec::with_capacity(pairs.len());
    for (from, to) in pairs {
        let tiles = to.pitch.div_ceil(width * variant.get("WG").max(1) as usize);
        let pitch = to.pitch / if operator == Operator::Mean { 4 } else { width };
        let args = [word(tables.count)?, word(tiles)?, word(pitch)?, last.to_bits()];
        let buffers = [parts.clone(), list.clone(), all(from), all(to)];
        commands.push(launch(gpu, &kernel, &args, &buffers, (tables.count * tiles) as u64)?);
    }
    Ok(commands)
}

/// Parts and channel lists as the kernels read them.
struct Tables {
    count: usize,
    parts: Vec<u8>,
    list: Vec<u8>,
    listed: bool,
}

impl Tables {
    fn new(parts: &[Part]) -> Result<Self> {
        let run = |list: &[u32]| list.windows(2).all(|w| w[0] + 1 == w[1]);
        let listed = !parts.iter().all(|p| run(&p.members) && run(&p.source));
        let mut words = Vec::with_capacity(parts.len() * 4);
        let mut list: Vec<u32> = Vec::new();
        for part in parts {
            for channels in [&part.source, &part.members] {
                let first = if listed { word(list.len())? } else { channels.first().copied().unwrap_or(0) };
                words.extend([first, word(channels.len())?]);
                if listed {
                    list.extend_from_slice(channels);
                }
            }
        }
        list.resize(list.len().max(4), 0);
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect();
        Ok(Tables { count: parts.len(), parts: bytes(&words), list: bytes(&list), listed })
    }
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
