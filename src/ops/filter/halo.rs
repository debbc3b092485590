//! What surrounds the segments of a device array, for filters that look both ways.
//!
//! A segment's halo holds, for every channel, the `left` samples before it and the `right` ones after it, over the ends of
//! the channel by the edge mode. The host maps each place to a segment, so kernels know nothing of modes, and a filter
//! works on its segment and the halo alone.

use super::edge::Edge;
use crate::error::Result;
use crate::ops::launch::{all, compose_plain, constant, launch, word};
use crate::runtime::gpu::{Command, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};

/// As the kernel has them.
const CONSTANT: u32 = u32::MAX - 1;
const ELSEWHERE: u32 = u32::MAX;

/// Records the gathering of a segment's halo, `[channels][left + right]`; gives the commands and where it is.
pub(in crate::ops) fn record(
    gpu: &dyn Gpu,
    x: &DeviceArray,
    segment: &Segment,
    (left, right): (usize, usize),
    edge: Edge,
) -> Result<(Vec<Command>, Slice)> {
    let end = segment.start + segment.samples;
    let places = (segment.start as i64 - left as i64..segment.start as i64).chain(end as i64..(end + right) as i64);
    let samples: Vec<Option<usize>> = places.map(|place| edge.sample(place, x.samples())).collect();
    gather(gpu, x, &samples, edge.constant())
}

/// Records the gathering of these samples of every channel, `[channels][samples]`, where there is none the constant; gives
/// the commands and where they are.
pub(in crate::ops) fn gather(
    gpu: &dyn Gpu,
    x: &DeviceArray,
    samples: &[Option<usize>],
    missing: f32,
) -> Result<(Vec<Command>, Slice)> {
    let width = samples.len();
    let halo = gpu.allocate((x.channels() * width * 4).max(16) as u64)?;
    let kernel = compose_plain("filter/halo", &[])?;
    let groups = (x.channels() * width).div_ceil(kernel.group_size.max(1) as usize);
    let mut commands = Vec::new();
    for (i, from) in x.segments().iter().enumerate() {
        let here = |n: usize| n.checked_sub(from.start).filter(|n| *n < from.samples);
        let constants = i == 0 && samples.contains(&None);
        if !constants && !samples.iter().flatten().any(|n| here(*n).is_some()) {
            continue;
        }
        let places = samples.iter().map(|n| match n {
            Some(n) => here(*n).map_or(Ok(ELSEWHERE), word),
            None if i == 0 => Ok(CONSTANT),
            None => Ok(ELSEWHERE),
        });
        let places: Vec<u8> = places.collect::<Result<Vec<u32>>>()?.into_iter().flat_map(u32::to_le_bytes).collect();
        let args = [word(x.channels())?, word(from.pitch)?, word(width)?, missing.to_bits()];
        let buffers = [constant(gpu, &places)?, all(from), Slice::from(&halo)];
        commands.push(launch(gpu, &kernel, &args, &buffers, groups as u64)?);
    }
    Ok((commands, Slice::from(&halo)))
}
