//! What the GPU code of operations shares: composing a kernel and recording a launch.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{self, Access, Kernel, Settings};
use crate::ops::problem::Variant;
use crate::runtime::gpu::{Command, DeviceBuffer, DeviceClass, Facts, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};
use crate::signal::Dtype;

/// Rounds that all loops of one thread may take together on software devices; llvmpipe stops, silently, at 65,535.
pub(crate) const SOFTWARE_ROUNDS: u64 = 65_000;

/// The kernel of this name with the variant's tunables.
pub(crate) fn compose(name: &str, variant: &Variant, special: &[(&'static str, u32)]) -> Result<Arc<Kernel>> {
    kernel::compose(kernel::source(name)?, &variant.settings, &special.iter().copied().collect())
}

/// The kernel of this name with the settings of its file.
pub(crate) fn compose_plain(name: &str, special: &[(&'static str, u32)]) -> Result<Arc<Kernel>> {
    kernel::compose(kernel::source(name)?, &Settings::new(), &special.iter().copied().collect())
}

/// Records `groups` work groups of a kernel whose arguments are these words.
pub(crate) fn launch(
    gpu: &dyn Gpu,
    kernel: &Arc<Kernel>,
    args: &[u32],
    buffers: &[Slice],
    groups: u64,
) -> Result<Command> {
    let bytes: Vec<u8> = args.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut bindings = vec![constant(gpu, &bytes)?];
    bindings.extend_from_slice(buffers);
    let fits = bindings.len() == kernel.bindings.len()
        && kernel.bindings.iter().zip(&bindings).all(|(want, got)| match want.access {
            Access::Uniform => want.min_bytes == got.bytes,
            _ => want.min_bytes <= got.bytes,
        });
    if !fits {
        return Err(Error::internal(format!("the buffers of a launch do not fit kernel {}", kernel.name)));
    }
    // Kernels count threads in 32 bits.
    if groups * u64::from(kernel.group_size) > u64::from(u32::MAX) {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("kernel {} would need {groups} work groups, more than it can count; split the input", kernel.name),
        ));
    }
    Ok(Command::Launch { kernel: kernel.clone(), bindings, groups })
}

/// A constant of exactly these bytes.
pub(crate) fn constant(gpu: &dyn Gpu, bytes: &[u8]) -> Result<Slice> {
    Ok(Slice { buffer: gpu.constant(bytes)?, offset: 0, bytes: bytes.len() as u64 })
}

/// Writes the bytes of a whole buffer.
pub(crate) fn upload(gpu: &dyn Gpu, buffer: &DeviceBuffer, bytes: &[u8]) -> Result<()> {
    gpu.write(buffer, 0, bytes.len() as u64, &mut |at, memory| {
        memory.copy_from_slice(&bytes[at as usize..at as usize + memory.len()]);
    })
}

/// Reads the first floats of a buffer.
pub(crate) fn download(gpu: &dyn Gpu, buffer: &DeviceBuffer, count: usize) -> Result<Vec<f32>> {
    let mut bytes = vec![0u8; count * 4];
    gpu.read(buffer, 0, bytes.len() as u64, &mut |at, memory| {
        bytes[at as usize..at as usize + memory.len()].copy_from_slice(memory);
    })?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
}

/// The whole of a segment.
pub(crate) fn all(segment: &Segment) -> Slice {
    Slice::from(&segment.buffer)
}

/// A count or index as a word of arguments.
pub(crate) fn word(value: usize) -> Result<u32> {
    u32::try_from(value)
        .map_err(|_| Error::new(ErrorKind::Limit, format!("a count of {value} is beyond what kernels can address")))
}

/// The pairs of input and output segments, checked to agree.
pub(crate) fn pairs<'a>(x: &'a DeviceArray, y: &'a DeviceArray) -> Result<Vec<(&'a Segment, &'a Segment)>> {
    let agree = x.channels() == y.channels()
        && x.samples() == y.samples()
        && y.dtype() == Dtype::F32
        && x.segments().len() == y.segments().len()
        && x.segments().iter().zip(y.segments()).all(|(a, b)| a.start == b.start && a.samples == b.samples);
    if !agree {
        return Err(Error::internal("input and output of a device operation do not have the same segments"));
    }
    Ok(x.segments().iter().zip(y.segments()).filter(|(s, _)| s.samples > 0 && x.channels() > 0).collect())
}

/// Whether the device is a software adapter, which prefers other settings than a GPU.
pub(crate) fn is_software(facts: &Facts) -> bool {
    facts.class == DeviceClass::Cpu
}

/// Every combination of values of tunables that `legal` accepts, those of `default` first.
pub(crate) fn space(
    method: &'static str,
    default: &[(&'static str, u32)],
    values: &[(&'static str, &[u32])],
    legal: impl Fn(&[(&'static str, u32)]) -> bool,
) -> Vec<Variant> {
    let mut all: Vec<Vec<(&'static str, u32)>> = vec![Vec::new()];
    for (name, values) in values {
        all = all.iter().flat_map(|v| values.iter().map(move |x| [&v[..], &[(*name, *x)]].concat())).collect();
    }
    all.retain(|v| legal(v));
    all.sort_by_key(|v| &v[..] != default);
    all.iter().map(|v| Variant::new(method, v)).collect()
}
