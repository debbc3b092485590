//! What every device checks before it starts a command, so that a mistake is a readable error and not a driver's fault.

use super::gpu::{DeviceBuffer, Limits, Slice};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Access, Kernel};

pub(super) fn check_bindings(kernel: &Kernel, slices: &[Slice], limits: &Limits) -> Result<()> {
    let fail = |text: String| Err(Error::new(ErrorKind::Kernel, format!("kernel {}: {text}", kernel.name)));
    if slices.len() != kernel.bindings.len() {
        return fail(format!("{} buffers bound, it has {} bindings", slices.len(), kernel.bindings.len()));
    }
    for (slice, binding) in slices.iter().zip(&kernel.bindings) {
        let (name, offset, bytes) = (&binding.name, slice.offset, slice.bytes);
        if bytes == 0
            || !bytes.is_multiple_of(4)
            || offset.checked_add(bytes).is_none_or(|end| end > slice.buffer.bytes)
        {
            return fail(format!(
                "binding {name} covers bytes {offset} + {bytes} of a buffer of {}; a part inside it, in multiples of 4 bytes, is needed",
                slice.buffer.bytes
            ));
        }
        if bytes < binding.min_bytes {
            return fail(format!("binding {name} got {bytes} bytes, it needs at least {}", binding.min_bytes));
        }
        if !offset.is_multiple_of(limits.storage_alignment.max(4)) {
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

pub(super) fn check_copy(
    from: &DeviceBuffer,
    from_offset: u64,
    to: &DeviceBuffer,
    to_offset: u64,
    bytes: u64,
) -> Result<()> {
    let inside = |b: &DeviceBuffer, offset: u64| offset.checked_add(bytes).is_some_and(|end| end <= b.bytes);
    if from.id == to.id
        || !(from_offset | to_offset | bytes).is_multiple_of(4)
        || !inside(from, from_offset)
        || !inside(to, to_offset)
    {
        return Err(Error::internal(format!(
            "a copy of {bytes} bytes from byte {from_offset} of {from:?} to byte {to_offset} of {to:?} is not possible: distinct buffers, multiples of 4 and ranges inside both are needed"
        )));
    }
    Ok(())
}

/// Checks a range of a transfer.
pub(super) fn check_range(buffer: &DeviceBuffer, offset: u64, bytes: u64) -> Result<()> {
    if !(offset | bytes).is_multiple_of(4) || offset.checked_add(bytes).is_none_or(|end| end > buffer.bytes) {
        return Err(Error::internal(format!(
            "bytes {offset} + {bytes} of {buffer:?} cannot be transferred: multiples of 4 inside the buffer are needed"
        )));
    }
    Ok(())
}

/// `bytes` rounded up to 16, if the device allows a buffer of that size.
pub(super) fn usable_size(bytes: u64, limits: &Limits) -> Result<u64> {
    let usable = bytes.max(16).checked_next_multiple_of(16).unwrap_or(u64::MAX);
    if usable > limits.buffer_bytes {
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "a device buffer of {bytes} bytes is needed, but the device allows {}; process fewer channels or samples at once",
                limits.buffer_bytes
            ),
        ));
    }
    Ok(usable)
}
