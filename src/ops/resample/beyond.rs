//! What devices need around a segment and beyond the ends of a channel: halos, and levels.

use super::Polyphase;
use super::padtype::PadType;
use crate::error::Result;
use crate::ops::filter::halo;
use crate::ops::launch::{all, compose_plain, constant, launch, word};
use crate::runtime::gpu::{Command, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};

/// Samples of a part whose level is found by one work group.
const PART: usize = 8192;

/// Levels of all channels, where the padding has one; else a buffer that nothing is read from.
pub(super) struct Levels {
    pub(super) commands: Vec<Command>,
    pub(super) values: Slice,
}

impl Levels {
    pub(super) fn new(problem: &Polyphase, gpu: &dyn Gpu, x: &DeviceArray) -> Result<Self> {
        let channels = x.channels();
        let kind = match problem.padtype {
            PadType::Mean => 0,
            PadType::Maximum => 1,
            PadType::Minimum => 2,
            PadType::Median => return Levels::medians(gpu, x),
            _ => {
                // One value for each channel, so that reading is not out of bounds.
                let zeros = constant(gpu, &vec![0; channels * 4])?;
                return Ok(Levels { commands: Vec::new(), values: zeros });
            }
        };
        let counts: Vec<usize> = x.segments().iter().map(|s| s.samples.div_ceil(PART)).collect();
        let total = counts.iter().sum::<usize>();
        let parts = Slice::from(&gpu.allocate((channels * total * 8).max(16) as u64)?);
        let values = Slice::from(&gpu.allocate((channels * 4).max(16) as u64)?);
        let share = 1.0 / x.samples() as f64;
        let high = share as f32;
        let stage = |join: u32| compose_plain("resample/levels", &[("KIND", kind), ("JOIN", join)]);
        let (find, join) = (stage(0)?, stage(1)?);
        let mut commands = Vec::new();
        let mut first = 0;
        for (segment, here) in x.segments().iter().zip(counts) {
            let args = |here: usize, first: usize| -> Result<[u32; 12]> {
                Ok([
                    word(channels)?,
                    word(segment.pitch)?,
                    word(segment.samples)?,
                    word(PART)?,
                    word(here)?,
                    word(first)?,
                    word(total)?,
                    1f32.to_bits(),
                    high.to_bits(),
                    ((share - f64::from(high)) as f32).to_bits(),
                    0,
                    0,
                ])
            };
            let buffers = [all(segment), parts.clone(), values.clone()];
            commands.push(launch(gpu, &find, &args(here, first)?, &buffers, (channels * here) as u64)?);
            first += here;
            if first == total {
                commands.push(launch(gpu, &join, &args(total, 0)?, &buffers, channels as u64)?);
            }
        }
        Ok(Levels { commands, values })
    }

    fn medians(gpu: &dyn Gpu, x: &DeviceArray) -> Result<Self> {
        /// Counts of a part, as the kernel has them, and bits of a digit.
        const ROW: usize = 33;
        const DIGIT: usize = 4;
        let channels = x.channels();
        let here: Vec<usize> = x.segments().iter().map(|s| s.samples.div_ceil(PART)).collect();
        let total = here.iter().sum::<usize>();
        let counts = Slice::from(&gpu.allocate((channels * total * ROW * 4) as u64)?);
        let middles = Slice::from(&gpu.allocate((channels * 16) as u64)?);
        let values = Slice::from(&gpu.allocate((channels * 4).max(16) as u64)?);
        let (find, pick) =
            (compose_plain("resample/median", &[("PICK", 0)])?, compose_plain("resample/median", &[("PICK", 1)])?);
        let mut commands = Vec::new();
        for shift in (0..32).step_by(DIGIT).rev() {
            let args = |segment: &Segment, here: usize, first: usize| -> Result<[u32; 12]> {
                Ok([
                    word(channels)?,
                    word(segment.pitch)?,
                    word(segment.samples)?,
                    word(PART)?,
                    word(here)?,
                    word(first)?,
                    word(total)?,
                    word(shift)?,
                    word((x.samples() - 1) / 2)?,
                    word(x.samples() / 2)?,
                    0,
                    0,
                ])
            };
            let mut first = 0;
            for (segment, here) in x.segments().iter().zip(&here) {
                let buffers = [all(segment), counts.clone(), middles.clone(), values.clone()];
                let args = args(segment, *here, first)?;
                commands.push(launch(gpu, &find, &args, &buffers, (channels * here) as u64)?);
                first += here;
                if first == total {
                    commands.push(launch(gpu, &pick, &args, &buffers, channels as u64)?);
                }
            }
        }
        Ok(Levels { commands, values })
    }

    /// Records what a level adds to the results of a segment.
    pub(super) fn lift(&self, problem: &Polyphase, gpu: &dyn Gpu, y: &DeviceArray, to: &Segment) -> Result<Command> {
        let up = problem.bank.up;
        let lifts = (0..up.min(to.samples)).map(|slot| {
            let phase = problem.stand(to.start + slot).phase;
            (1.0 - problem.bank.phases[phase].gain()) as f32
        });
        let lifts: Vec<u8> = lifts.flat_map(f32::to_le_bytes).collect();
        let kernel = compose_plain("resample/lift", &[])?;
        let args = [word(y.channels())?, word(to.pitch)?, word(to.samples)?, word(up)?];
        let groups = (y.channels() * to.samples).div_ceil(kernel.group_size.max(1) as usize);
        launch(gpu, &kernel, &args, &[constant(gpu, &lifts)?, self.values.clone(), all(to)], groups as u64)
    }
}

/// Records what stands `left` samples before a segment and `right` ones behind it; gives the commands and where it is.
pub(super) fn record(
    problem: &Polyphase,
    gpu: &dyn Gpu,
    x: &DeviceArray,
    segment: &Segment,
    (left, right): (usize, usize),
    levels: &Levels,
) -> Result<(Vec<Command>, Slice)> {
    if let Some(edge) = problem.padtype.edge() {
        return halo::record(gpu, x, segment, (left, right), edge);
    }
    let end = segment.start + segment.samples;
    let places = (segment.start as i64 - left as i64..segment.start as i64).chain(end as i64..(end + right) as i64);
    let blends: Vec<_> = places.map(|place| problem.padtype.blend(place, x.samples())).collect();
    let own = blends.iter().map(|b| (b.weight != 0.0).then_some(b.sample));
    let ends = [Some(0), Some(x.samples() - 1)];
    let (mut commands, gathered) = halo::gather(gpu, x, &own.chain(ends).collect::<Vec<_>>(), 0.0)?;
    let weights = blends.iter().flat_map(|b| [b.weight, b.first, b.last, f64::from(u8::from(b.level))]);
    let weights: Vec<u8> = weights.flat_map(|w| (w as f32).to_le_bytes()).collect();
    let halo = Slice::from(&gpu.allocate((x.channels() * blends.len() * 4).max(16) as u64)?);
    let kernel = compose_plain("resample/beyond", &[])?;
    let groups = (x.channels() * blends.len()).div_ceil(kernel.group_size.max(1) as usize);
    let buffers = [constant(gpu, &weights)?, gathered, levels.values.clone(), halo.clone()];
    commands.push(launch(gpu, &kernel, &[word(x.channels())?, word(blends.len())?, 0, 0], &buffers, groups as u64)?);
    Ok((commands, halo))
}
