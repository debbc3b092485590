//! The start-up self-test: does a compensated sum keep its low word here?
//!
//! Filters with states in compensated form need `b - ((a + b) - a)`, the rounding error of a sum. Optimisers that treat
//! floats as real numbers make it zero (seen on software Vulkan). Two barriers hold them off, an exclusive or with a
//! zero and a multiply-add with a one that are known only at run time; this test proves both on the device at hand, and
//! at the same time that it can run a kernel at all.

use std::sync::Arc;

use super::device::WgpuDevice;
use crate::error::Result;
use crate::kernel::{Access, Binding, Kernel};
use crate::runtime::gpu::{Command, Gpu, Slice};

const TEXT: &str = include_str!("selftest.wgsl");

fn kernel() -> Kernel {
    let binding = |index, name: &str, access, min_bytes| Binding { index, name: name.into(), access, min_bytes };
    Kernel {
        name: "runtime/selftest",
        text: TEXT.into(),
        hash: xxhash_rust::xxh3::xxh3_128(TEXT.as_bytes()),
        group_size: 1,
        group_bytes: 0,
        bindings: vec![binding(0, "arguments", Access::Uniform, 16), binding(1, "low", Access::ReadWrite, 4)],
        subgroups: false,
    }
}

/// Whether both barriers keep the low word. An error means that the device does not run kernels.
pub(super) fn compensation(device: &WgpuDevice) -> Result<bool> {
    let small = 2f32.powi(-30);
    let arguments = [0, 1f32.to_bits(), 1f32.to_bits(), small.to_bits()];
    let arguments = device.constant(bytemuck::bytes_of(&arguments))?;
    let low = device.allocate(16)?;
    let bindings = vec![Slice::from(&arguments), Slice::from(&low)];
    device
        .submit(&[Command::Clear(low.clone()), Command::Launch { kernel: Arc::new(kernel()), bindings, groups: 1 }])?;
    let mut found = [0f32; 2];
    device.read(&low, 0, 8, &mut |_, bytes| {
        bytes.chunks_exact(4).zip(&mut found).for_each(|(b, v)| *v = bytemuck::pod_read_unaligned(b));
    })?;
    log::debug!("self-test of {}: low words {found:?}, expected {small:e} twice", device.facts().name);
    Ok(found == [small; 2])
}
