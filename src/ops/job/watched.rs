//! A device under watch: what kernels are proven on.
//!
//! Every buffer handed out is dirty, full of NaN, so that a kernel that counts on scratch of zeros, or on what an earlier
//! run left there, shows; and it ends before its memory does, with guard words behind it. The buffers are the device's
//! own, so every command runs as it is.

use std::sync::{Arc, Mutex, PoisonError};

use super::wrong;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu};
use crate::runtime::{DeviceArray, Layout};

/// Bytes of guard words behind a buffer.
const GUARD: u64 = 256;
const GUARD_BYTE: u8 = 0xa5;
/// Four of these are a NaN.
pub(super) const NAN_BYTE: u8 = 0xff;

/// A device, and all buffers it has handed out.
pub(super) struct Watched {
    inner: Arc<dyn Gpu>,
    facts: Facts,
    /// Whole buffers, with the bytes of each that were handed out.
    lent: Mutex<Vec<(DeviceBuffer, u64)>>,
}

impl Watched {
    pub(super) fn new(inner: Arc<dyn Gpu>) -> Self {
        let mut facts = inner.facts().clone();
        facts.limits.buffer_bytes = facts.limits.buffer_bytes.saturating_sub(GUARD);
        Watched { inner, facts, lent: Mutex::default() }
    }

    /// Checks that nothing was written behind any buffer.
    pub(super) fn check(&self) -> Result<()> {
        for (whole, bytes) in self.lent.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let mut sound = true;
            self.inner.read(whole, *bytes, whole.bytes - bytes, &mut |_, part| {
                sound &= part.iter().all(|b| *b == GUARD_BYTE);
            })?;
            if !sound {
                return Err(wrong(format!("values were written past the end of a buffer of {bytes} bytes")));
            }
        }
        Ok(())
    }
}

impl Gpu for Watched {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn is_lost(&self) -> bool {
        self.inner.is_lost()
    }

    fn trim(&self) {
        self.inner.trim();
    }

    fn allocate(&self, bytes: u64) -> Result<DeviceBuffer> {
        let usable = bytes.max(16).checked_next_multiple_of(16).unwrap_or(u64::MAX);
        let whole = self.inner.allocate(usable.saturating_add(GUARD))?;
        self.inner.write(&whole, 0, whole.bytes, &mut |at, part| {
            let dirty = usable.saturating_sub(at).min(part.len() as u64) as usize;
            part[..dirty].fill(NAN_BYTE);
            part[dirty..].fill(GUARD_BYTE);
        })?;
        let handed_out = DeviceBuffer { bytes: usable, ..whole.clone() };
        self.lent.lock().unwrap_or_else(PoisonError::into_inner).push((whole, usable));
        Ok(handed_out)
    }

    fn constant(&self, bytes: &[u8]) -> Result<DeviceBuffer> {
        self.inner.constant(bytes)
    }

    fn write(&self, to: &DeviceBuffer, offset: u64, bytes: u64, fill: &mut dyn FnMut(u64, &mut [u8])) -> Result<()> {
        self.inner.write(to, offset, bytes, fill)
    }

    fn read(&self, from: &DeviceBuffer, offset: u64, bytes: u64, take: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
        self.inner.read(from, offset, bytes, take)
    }

    fn prepare(&self, kernel: &Arc<Kernel>) -> Result<()> {
        self.inner.prepare(kernel)
    }

    fn submit(&self, commands: &[Command]) -> Result<()> {
        self.inner.submit(commands)
    }

    fn wait(&self) -> Result<()> {
        self.inner.wait()
    }

    fn time(&self, commands: &[Command], repeats: u32) -> Result<f64> {
        self.inner.time(commands, repeats)
    }
}

/// Checks what lies between the end of a row and the next: kernels that read whole vectors meet it, so it is finite.
pub(super) fn check_padding(y: &DeviceArray) -> Result<()> {
    if y.layout() != Layout::Planar {
        return Ok(());
    }
    for segment in y.segments() {
        let mut finite = true;
        y.gpu().read(&segment.buffer, 0, segment.buffer.bytes, &mut |at, part| {
            let first = at as usize / 4;
            for (i, word) in part.as_chunks::<4>().0.iter().enumerate() {
                let is_padding = (first + i) % segment.pitch >= segment.samples;
                finite &= !is_padding || f32::from_le_bytes(*word).is_finite();
            }
        })?;
        if !finite {
            return Err(wrong("what was left behind the last sample of a row is not finite".into()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::null::NullGpu;

    fn device() -> Watched {
        Watched::new(Arc::new(NullGpu::new()))
    }

    #[test]
    fn buffers_are_dirty_and_of_the_size_asked_for() {
        let gpu = device();
        for (asked, usable) in [(1, 16), (16, 16), (4000, 4000), (4001, 4016)] {
            let buffer = gpu.allocate(asked).unwrap();
            assert_eq!(buffer.bytes, usable);
            let mut seen = Vec::new();
            gpu.read(&buffer, 0, buffer.bytes, &mut |_, part| seen.extend_from_slice(part)).unwrap();
            assert!(seen.len() as u64 == usable && seen.iter().all(|b| *b == NAN_BYTE));
            assert!(gpu.read(&buffer, usable, 4, &mut |_, _| ()).is_err());
        }
        gpu.check().unwrap();
        assert_eq!(gpu.facts().limits.buffer_bytes + GUARD, NullGpu::new().facts().limits.buffer_bytes);
        assert!(gpu.allocate(u64::MAX).is_err());
    }

    #[test]
    fn a_write_past_the_end_of_any_buffer_is_found() {
        for at in [0, 60, GUARD - 4] {
            let gpu = device();
            let (from, to) = (gpu.allocate(16).unwrap(), gpu.allocate(4000).unwrap());
            let _last = gpu.allocate(64).unwrap();
            let beyond = DeviceBuffer { bytes: to.bytes + GUARD, ..to.clone() };
            let copy = |to: DeviceBuffer, to_offset| Command::Copy {
                from: from.clone(),
                from_offset: 0,
                to,
                to_offset,
                bytes: 4,
            };
            gpu.submit(&[copy(to.clone(), to.bytes - 4)]).unwrap();
            gpu.check().unwrap();
            gpu.submit(&[copy(beyond, to.bytes + at)]).unwrap();
            let error = gpu.check().unwrap_err().to_string();
            assert!(error.contains("past the end of a buffer of 4000 bytes"), "{error}");
        }
    }
}
