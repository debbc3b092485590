//! Forward and backward on a device: the cascade's own kernels over the extensions and the channels, with states that stay
//! on the device, and a kernel that turns rows around between.
//!
//! Where the cascade passes little of an offset, channels and extensions are taken relative to the first sample, from whose
//! steady state the forward pass begins; what comes out of it has no offset left for the backward pass.

use super::extension::{Extension, Padding};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::sosfilt::gpu::{Cascade, Filter, PASS, split};
use crate::ops::launch::{all, compose_plain, constant, launch, pairs, word};
use crate::ops::problem::Variant;
use crate::runtime::gpu::{Command, DeviceBuffer, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};
use crate::signal::pitch;

/// Records both ways over all channels.
pub(super) fn record(
    filter: &Filter<'_>,
    extension: Extension,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let (from, to) = match pairs(x, y)?[..] {
        [] => return Ok(Vec::new()),
        [pair] => pair,
        _ => {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "sosfiltfilt needs whole channels in one binding, this array of {} channels x {} samples lies in several segments; pass fewer channels at once, or host arrays",
                    x.channels(),
                    x.samples()
                ),
            ));
        }
    };
    let edge = extension.edge;
    let room = |samples: usize| -> Result<Segment> {
        let pitch = pitch(samples).max(16);
        let buffer = gpu.allocate((4 * x.channels() * pitch) as u64)?;
        Ok(Segment { buffer, start: 0, samples, pitch })
    };
    let work = Work {
        gpu,
        filter,
        cascade: &Cascade::new(filter, gpu, variant, x)?,
        channels: x.channels(),
        nothing: gpu.allocate(4 * x.channels() as u64)?,
    };
    let (head, tail, spare) = (room(edge)?, room(edge)?, room(edge)?);
    let between = Segment { buffer: gpu.allocate(4 * (x.channels() * from.pitch) as u64)?, start: 0, ..from.clone() };
    let offsets = work.cascade.offsets();

    let mut commands = vec![Command::Clear(work.nothing.clone())];
    commands.push(work.edges(extension, from, &head, &tail)?);
    if edge == 0 {
        commands.extend(work.steady(from, 0, 1.0)?);
    } else {
        commands.extend(work.steady(&head, 0, 0.0)?);
        commands.extend(work.cascade.less(&work.nothing, vec![(&head, &spare)])?);
    }
    commands.extend(work.cascade.less(offsets, vec![(from, &between)])?);
    if edge == 0 {
        commands.extend(work.steady(&between, from.samples - 1, 0.0)?);
    } else {
        commands.extend(work.cascade.less(&work.nothing, vec![(&tail, &spare)])?);
        commands.push(work.reverse(&spare, &tail, work.cascade.gain())?);
        commands.extend(work.steady(&tail, 0, 0.0)?);
        commands.extend(work.cascade.less(&work.nothing, vec![(&tail, &spare)])?);
    }
    commands.push(work.reverse(&between, to, 0.0)?);
    commands.extend(work.cascade.less(&work.nothing, vec![(to, &between)])?);
    commands.push(work.reverse(&between, to, 0.0)?);
    Ok(commands)
}

struct Work<'a> {
    gpu: &'a dyn Gpu,
    filter: &'a Filter<'a>,
    cascade: &'a Cascade<'a>,
    channels: usize,
    /// Offsets of zero.
    nothing: DeviceBuffer,
}

impl Work<'_> {
    /// The extensions, and what the channels are taken relative to.
    fn edges(&self, extension: Extension, from: &Segment, head: &Segment, tail: &Segment) -> Result<Command> {
        let kernel = compose_plain("filter/edges", &[])?;
        let padding = match extension.padding {
            Padding::Odd => 0,
            Padding::Even => 1,
            Padding::Constant | Padding::None => 2,
        };
        let args = [
            word(self.channels)?,
            word(from.pitch)?,
            word(from.samples)?,
            word(extension.edge)?,
            word(head.pitch)?,
            padding,
            u32::from(self.cascade.removes()),
            0,
        ];
        let buffers = [all(from), all(head), all(tail), Slice::from(self.cascade.offsets())];
        let threads = self.channels as u64 * extension.edge.max(1) as u64;
        launch(self.gpu, &kernel, &args, &buffers, threads.div_ceil(u64::from(kernel.group_size)))
    }

    /// States after an endless run of value `at` of each row, less so many times its offset.
    fn steady(&self, values: &Segment, at: usize, less: f32) -> Result<Vec<Command>> {
        let all_steady = self.cascade.steady_states(self.filter);
        let passes = all_steady.chunks(PASS).zip(self.cascade.states());
        passes
            .map(|(steady, states)| {
                let kernel = compose_plain("filter/steady", &[("SECTIONS", steady.len() as u32)])?;
                let words = steady.iter().flat_map(|w| w.map(split)).flatten().flat_map(f32::to_le_bytes);
                let args =
                    [word(self.channels)?, word(values.pitch)?, word(at)?, less.to_bits(), 1f32.to_bits(), 0, 0, 0];
                let buffers = [
                    constant(self.gpu, &words.collect::<Vec<u8>>())?,
                    all(values),
                    Slice::from(self.cascade.offsets()),
                    Slice::from(states),
                ];
                launch(self.gpu, &kernel, &args, &buffers, self.cascade.groups(&kernel))
            })
            .collect()
    }

    /// Rows turned around, plus `gain` times what was taken off them.
    fn reverse(&self, from: &Segment, to: &Segment, gain: f32) -> Result<Command> {
        let kernel = compose_plain("filter/reverse", &[])?;
        let vectors = self.channels * (to.pitch / 4);
        let args = [word(vectors)?, word(to.pitch / 4)?, word(to.samples)?, gain.to_bits()];
        let buffers = [all(from), Slice::from(self.cascade.offsets()), all(to)];
        launch(self.gpu, &kernel, &args, &buffers, (vectors as u64).div_ceil(u64::from(kernel.group_size)))
    }
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
