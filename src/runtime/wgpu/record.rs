//! From commands to one command buffer.

use std::sync::Arc;

use super::device::WgpuDevice;
use super::memory::Block;
use super::pipelines::Pipeline;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Access, Kernel};
use crate::runtime::gpu::{Command, DeviceBuffer, Limits, Slice};

/// A command with everything looked up and checked.
pub(super) enum Step<'a> {
    Launch { pipeline: Arc<Pipeline>, group: wgpu::BindGroup, groups: [u32; 3] },
    Copy { from: &'a wgpu::Buffer, from_offset: u64, to: &'a wgpu::Buffer, to_offset: u64, bytes: u64 },
    Clear(&'a wgpu::Buffer, u64),
}

/// Folds a flat number of work groups so that `x + y * nx + z * nx * ny` counts through at least `groups` of them, fits
/// the device and 32 bits, and wastes less than one row.
pub(super) fn fold(groups: u64, per_dimension: u32) -> Result<[u32; 3]> {
    let max = u64::from(per_dimension.max(1));
    let too_many = || {
        Error::new(
            ErrorKind::Limit,
            format!(
                "{groups} work groups are needed, the device and 32-bit indices allow {}; process fewer channels or samples at once",
                max.saturating_mul(max).saturating_mul(max).min(u64::from(u32::MAX))
            ),
        )
    };
    if groups <= max {
        return Ok([groups as u32, 1, 1]);
    }
    let z = groups.div_ceil(max.saturating_mul(max));
    let plane = groups.div_ceil(z);
    let x = ceil_sqrt(plane).min(max);
    let y = plane.div_ceil(x);
    if z > max || y > max || (x * y).saturating_mul(z) > u64::from(u32::MAX) {
        return Err(too_many());
    }
    Ok([x as u32, y as u32, z as u32])
}

fn ceil_sqrt(n: u64) -> u64 {
    let root = n.isqrt();
    root + u64::from(root * root < n)
}

/// Looks up and checks every command before anything is encoded.
pub(super) fn resolve<'a>(device: &WgpuDevice, commands: &'a [Command]) -> Result<Vec<Step<'a>>> {
    let mut steps = Vec::with_capacity(commands.len());
    for command in commands {
        match command {
            Command::Launch { groups: 0, .. } | Command::Copy { bytes: 0, .. } => {}
            Command::Launch { kernel, bindings, groups } => {
                check_bindings(kernel, bindings, &device.facts.limits)?;
                let groups = fold(*groups, device.facts.limits.groups_per_dimension)
                    .map_err(|e| e.context(format!("kernel {}", kernel.name)))?;
                let pipeline = device.pipelines.get(&device.faults, &device.facts.limits, kernel)?;
                let group = device.memory.groups.get(&device.faults, &device.memory, kernel, &pipeline, bindings)?;
                steps.push(Step::Launch { pipeline, group, groups });
            }
            Command::Copy { from, from_offset, to, to_offset, bytes } => {
                check_copy(from, *from_offset, to, *to_offset, *bytes)?;
                let (from, to) = (Block::of(from, &device.memory)?, Block::of(to, &device.memory)?);
                steps.push(Step::Copy { from, from_offset: *from_offset, to, to_offset: *to_offset, bytes: *bytes });
            }
            Command::Clear(buffer) => steps.push(Step::Clear(Block::of(buffer, &device.memory)?, buffer.bytes)),
        }
    }
    Ok(steps)
}

/// Encodes the steps; launches in a row share a pass.
pub(super) fn encode(encoder: &mut wgpu::CommandEncoder, steps: &[Step<'_>]) {
    let mut rest = steps;
    while let Some(first) = rest.first() {
        match first {
            Step::Launch { .. } => {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                while let Some((Step::Launch { pipeline, group, groups: [x, y, z] }, after)) = rest.split_first() {
                    pass.set_pipeline(&pipeline.raw);
                    pass.set_bind_group(0, group, &[]);
                    pass.dispatch_workgroups(*x, *y, *z);
                    rest = after;
                }
                continue;
            }
            Step::Copy { from, from_offset, to, to_offset, bytes } => {
                encoder.copy_buffer_to_buffer(from, *from_offset, to, *to_offset, *bytes);
            }
            Step::Clear(buffer, bytes) => encoder.clear_buffer(buffer, 0, Some(*bytes)),
        }
        rest = &rest[1..];
    }
}

fn check_bindings(kernel: &Kernel, slices: &[Slice], limits: &Limits) -> Result<()> {
    let fail = |text: String| Err(Error::new(ErrorKind::Kernel, format!("kernel {}: {text}", kernel.name)));
    if slices.len() != kernel.bindings.len() {
        return fail(format!("{} buffers bound, it has {} bindings", slices.len(), kernel.bindings.len()));
    }
    for (slice, binding) in slices.iter().zip(&kernel.bindings) {
        let (name, offset, bytes) = (&binding.name, slice.offset, slice.bytes);
        if bytes == 0 || bytes % 4 != 0 || offset.checked_add(bytes).is_none_or(|end| end > slice.buffer.bytes) {
            return fail(format!(
                "binding {name} covers bytes {offset} + {bytes} of a buffer of {}; a part inside it, in multiples of 4 bytes, is needed",
                slice.buffer.bytes
            ));
        }
        if bytes < binding.min_bytes {
            return fail(format!("binding {name} got {bytes} bytes, it needs at least {}", binding.min_bytes));
        }
        if offset % limits.storage_alignment.max(4) != 0 {
            return fail(format!(
                "binding {name} starts at byte {offset}, the device needs a multiple of {}",
                limits.storage_alignment
            ));
        }
        let allowed = if binding.access == Access::Uniform { limits.uniform_bytes } else { limits.binding_bytes };
        if bytes > allowed {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "kernel {}: binding {name} needs {bytes} bytes, the device allows {allowed}; process fewer channels or samples at once",
                    kernel.name
                ),
            ));
        }
        let clash = slices.iter().zip(&kernel.bindings).find(|(other, b)| {
            other.buffer.id == slice.buffer.id && b.access == Access::ReadWrite && binding.access != Access::ReadWrite
        });
        if let Some((_, other)) = clash {
            return fail(format!("bindings {name} and {} are one buffer, read and written at once", other.name));
        }
    }
    Ok(())
}

fn check_copy(from: &DeviceBuffer, from_offset: u64, to: &DeviceBuffer, to_offset: u64, bytes: u64) -> Result<()> {
    let inside = |b: &DeviceBuffer, offset: u64| offset.checked_add(bytes).is_some_and(|end| end <= b.bytes);
    if from.id == to.id
        || (from_offset | to_offset | bytes) % 4 != 0
        || !inside(from, from_offset)
        || !inside(to, to_offset)
    {
        return Err(Error::internal(format!(
            "a copy of {bytes} bytes from byte {from_offset} of {from:?} to byte {to_offset} of {to:?} is not possible: distinct buffers, multiples of 4 and ranges inside both are needed"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_cover_fit_and_waste_less_than_a_row() {
        for max in [1u32, 2, 3, 7, 100, 65_535] {
            let cube = u64::from(max).pow(3).min(u64::from(u32::MAX));
            let counts =
                (1..400).chain([65_535, 65_536, 65_537, 300_000, 4_294_836_225, 4_294_836_226, u64::from(u32::MAX)]);
            for groups in counts.filter(|n| *n <= cube) {
                let Ok([x, y, z]) = fold(groups, max) else {
                    assert!(groups > u64::from(u32::MAX) - 70_000 || max < 8, "{groups} {max}");
                    continue;
                };
                let total = u64::from(x) * u64::from(y) * u64::from(z);
                assert!(x <= max && y <= max && z <= max && total >= groups, "{groups} {max}");
                assert!(total - groups < u64::from(x) * u64::from(z) + u64::from(z), "{groups} {max}: {total}");
            }
        }
        assert_eq!(fold(0, 65_535).unwrap(), [0, 1, 1]);
        assert_eq!(fold(65_535, 65_535).unwrap(), [65_535, 1, 1]);
        assert_eq!(fold(65_536, 65_535).unwrap(), [256, 256, 1]);
        assert_eq!(fold(u64::MAX, 65_535).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(fold(9, 2).unwrap_err().kind(), ErrorKind::Limit);
    }
}
