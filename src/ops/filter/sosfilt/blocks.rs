//! A cascade parallel in time on a device: a thread for each block of each channel (see `filter/sosfilt_blocks.wgsl`).
//!
//! Where channels are too few for a device, every block is run from zero state for the sake of its end alone; the true
//! states follow from block to block, `s' = A s + e`, with the power `A` of the transition matrix that a block makes; and
//! every block is run again from its own. The power is computed in float64 from the coefficients that the kernel has, so
//! that the states are those of one run, and applied in pairs of floats. Its entries can be large (delta states of order n
//! differ by the n-th power of a frequency), but in terms of the states' own sizes they are not: of filters from 0.1 Hz on
//! none raised a state more than thirtyfold.

use super::gpu::{Cascade, split};
use super::precision::{Delta, Precision};
use super::transition::Transition;
use crate::error::Result;
use crate::ops::launch::{compose, compose_plain, constant, is_software, launch, space, word};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::Segment;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Slice};

/// Lengths of blocks.
pub(super) const LENGTHS: [u32; 3] = [240, 1008, 4080];

/// Blocks over which one thread carries states; longer rows are carried over in groups, these in groups of groups.
pub(super) const GROUP: usize = 64;

/// Largest entry of a matrix for which blocks are offered: what float32 and its low word hold.
const GROWTH: f64 = 1e30;

/// Channels from which on a GPU has threads enough with one for each; with a quarter of them blocks are the better guess.
const CHANNELS: usize = 4096;

/// Threads that a GPU should have.
const THREADS: usize = 16_384;

/// Channels that a core of a software device computes side by side.
const LANES: usize = 8;

/// The largest entry of the matrices that carry states over blocks, groups and groups of groups.
pub(super) fn growth(sections: &[Delta], pass: usize) -> f64 {
    let mut largest = 0.0f64;
    for sections in sections.chunks(pass) {
        let one = Transition::of_operators(&sections.iter().map(Delta::operator).collect::<Vec<_>>());
        for length in LENGTHS {
            let block = one.power(length as usize);
            let group = block.power(GROUP);
            largest = [&block, &group, &group.power(GROUP)].iter().fold(largest, |m, t| m.max(t.largest()));
        }
    }
    largest
}

/// Variants in blocks, the best guess first; none where the device has channels enough or the signal is shorter.
pub(super) fn variants(method: &'static str, precision: &Precision, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let software = is_software(facts);
    let enough = if software { software_lanes() } else { CHANNELS };
    if precision.growth > GROWTH || shape.channels >= enough {
        return Vec::new();
    }
    let group = if software { 8 } else { 64 };
    let threads = |length: u32| shape.channels.saturating_mul(shape.samples / length as usize);
    let length = LENGTHS.iter().rev().find(|l| threads(**l) >= if software { enough } else { THREADS });
    let default = [("WG", group), ("BLOCK", *length.unwrap_or(&LENGTHS[0]))];
    space(method, &default, &[("WG", &[group]), ("BLOCK", &LENGTHS)], |v| {
        v[0].1 <= facts.limits.group_size && shape.samples > v[1].1 as usize
    })
}

/// Whether blocks are the better guess. They compute everything twice, and a core takes twice as long for a step of eight
/// channels as for one of a single channel.
pub(super) fn come_first(facts: &Facts, shape: Shape) -> bool {
    if is_software(facts) { shape.channels * LANES <= software_lanes() } else { shape.channels * 4 <= CHANNELS }
}

fn software_lanes() -> usize {
    LANES * std::thread::available_parallelism().map_or(1, usize::from)
}

impl Cascade<'_> {
    /// The launches that filter a segment in blocks with these sections. `special` is what their kernel is made for,
    /// `buffers` are the coefficients, the input, the offsets, the states and the output.
    pub(super) fn blocks(
        &self,
        sections: &[Delta],
        (subtracts, gain): (f32, f32),
        special: &[(&'static str, u32)],
        segment: &Segment,
        buffers: &[Slice; 5],
        commands: &mut Vec<Command>,
    ) -> Result<()> {
        let blocks = segment.samples.div_ceil(self.block());
        let rows = self.channels() * blocks;
        let carried = self.gpu().allocate((rows * sections.len() * 16) as u64)?;
        let [coefficients, from, offsets, states, to] = buffers.clone();
        let bound = [coefficients, from, offsets, Slice::from(&carried), states.clone(), to];
        let args = [
            word(self.channels())?,
            word(blocks)?,
            word(segment.pitch / 4)?,
            word(segment.samples)?,
            subtracts.to_bits(),
            gain.to_bits(),
            1f32.to_bits(),
            0,
        ];
        let stage = |ends: u32| {
            let kernel = compose("filter/sosfilt_blocks", self.variant(), &[special, &[("ENDS", ends)]].concat())?;
            launch(self.gpu(), &kernel, &args, &bound, (rows as u64).div_ceil(u64::from(kernel.group_size)))
        };
        commands.push(stage(1)?);
        self.carry(&self.transition(sections).power(self.block()), blocks, &carried, &states, commands)?;
        commands.push(stage(0)?);
        Ok(())
    }

    /// One sample's transition, of the coefficients that the kernel has.
    fn transition(&self, sections: &[Delta]) -> Transition {
        let operators = sections.iter().map(|d| if self.wide() { d.operator() } else { d.rounded().operator() });
        Transition::of_operators(&operators.collect::<Vec<_>>())
    }

    /// Puts the states in which blocks begin into the place of those to which they lead from zero; `states` are those of
    /// the first ones.
    fn carry(
        &self,
        power: &Transition,
        blocks: usize,
        carried: &DeviceBuffer,
        states: &Slice,
        commands: &mut Vec<Command>,
    ) -> Result<()> {
        let width = power.entries().len().isqrt();
        let entries = power.entries().iter().flat_map(|v| split(*v)).flat_map(f32::to_le_bytes);
        let power_bytes = constant(self.gpu(), &entries.collect::<Vec<u8>>())?;
        let groups = blocks.div_ceil(GROUP);
        let rows = self.channels() * groups;
        let args = [word(self.channels())?, word(blocks)?, word(groups)?, word(GROUP)?, 1f32.to_bits(), 0, 0, 0];
        let stage = |ends: u32, starts: &Slice| {
            let kernel = compose_plain("filter/sosfilt_carry", &[("SECTIONS", (width / 2) as u32), ("ENDS", ends)])?;
            let bound = [power_bytes.clone(), Slice::from(carried), starts.clone()];
            launch(self.gpu(), &kernel, &args, &bound, (rows as u64).div_ceil(u64::from(kernel.group_size)))
        };
        if groups == 1 {
            commands.push(stage(0, states)?);
            return Ok(());
        }
        let starts = self.gpu().allocate((rows * width * 8) as u64)?;
        commands.push(stage(1, &Slice::from(&starts))?);
        self.carry(&power.power(GROUP), groups, &starts, states, commands)?;
        commands.push(stage(0, &Slice::from(&starts))?);
        Ok(())
    }
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "blocks_tests.rs"]
mod tests;
