//! The pool of device buffers.
//!
//! The first touch of a fresh 92 MB buffer costs as much as six copies of it (page faults, clearing), so dropped buffers
//! are kept by size class and come back warm, with the bind groups that name them. What the pool drops for good takes
//! its bind groups along: they would keep the memory alive.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::faults::{Faults, lock};
use super::pipelines::BindGroups;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::gpu::{DeviceBuffer, Limits};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Smallest size handed out.
const SMALLEST: u64 = 256;

/// The size made for `bytes`: 16 classes an octave keep the waste under 1/16.
fn class(bytes: u64) -> u64 {
    let step = (bytes.checked_next_power_of_two().unwrap_or(bytes) >> 5).max(SMALLEST);
    bytes.max(1).checked_next_multiple_of(step).unwrap_or(bytes)
}

/// `bytes` rounded up to 16, if the device allows a buffer of that size.
fn usable_size(bytes: u64, limits: &Limits) -> Result<u64> {
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

struct Idle {
    raw: wgpu::Buffer,
    id: u64,
    size: u64,
}

/// What buffers return to.
pub(super) struct Memory {
    /// Unused buffers, the one returned longest ago first.
    idle: Mutex<Vec<Idle>>,
    /// Bytes `idle` holds at most.
    bound: u64,
    usage: wgpu::BufferUsages,
    pub(super) groups: BindGroups,
    pub(super) made: AtomicU64,
}

/// A buffer in use; `Drop` returns it.
pub(super) struct Block {
    raw: Option<wgpu::Buffer>,
    id: u64,
    size: u64,
    pooled: bool,
    home: Arc<Memory>,
}

impl Block {
    /// The block behind a handle, if it is one of `home`'s.
    pub(super) fn of<'a>(buffer: &'a DeviceBuffer, home: &Arc<Memory>) -> Result<&'a wgpu::Buffer> {
        buffer
            .inner
            .downcast_ref::<Block>()
            .filter(|block| Arc::ptr_eq(&block.home, home))
            .and_then(|block| block.raw.as_ref())
            .ok_or_else(|| {
                Error::invalid(format!(
                    "{buffer:?} belongs to another device; upload the array to the device it is used on"
                ))
            })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(raw) = self.raw.take() else { return };
        if self.pooled {
            self.home.give_back(Idle { raw, id: self.id, size: self.size });
        } else {
            self.home.groups.forget(&[self.id]);
        }
    }
}

impl Memory {
    pub(super) fn new(usage: wgpu::BufferUsages, bound: u64) -> Self {
        Memory { idle: Mutex::default(), bound, usage, groups: BindGroups::default(), made: AtomicU64::new(0) }
    }

    /// A buffer of at least `bytes`, rounded up to 16.
    pub(super) fn allocate(self: &Arc<Self>, faults: &Faults, limits: &Limits, bytes: u64) -> Result<DeviceBuffer> {
        let usable = usable_size(bytes, limits)?;
        let size = class(usable).min(limits.buffer_bytes & !15);
        faults.check_alive()?;
        let block = match self.take(size) {
            Some(idle) => idle,
            None => self.make_or_trim(faults, size)?,
        };
        Ok(self.wrap(block, usable, true))
    }

    fn make_or_trim(&self, faults: &Faults, size: u64) -> Result<Idle> {
        match self.make(faults, size, self.usage, None) {
            Err(e) if e.kind() == ErrorKind::OutOfMemory => {
                log::debug!("device memory is short: releasing the pool and trying again");
                self.trim();
                faults.poll(true)?;
                self.make(faults, size, self.usage, None)
            }
            made => made,
        }
    }

    /// An immutable buffer holding `content`, padded with zeros to a multiple of 16.
    pub(super) fn constant(self: &Arc<Self>, faults: &Faults, limits: &Limits, content: &[u8]) -> Result<DeviceBuffer> {
        use wgpu::BufferUsages as Usage;
        let size = usable_size(content.len() as u64, limits)?;
        let idle = self.make(
            faults,
            size,
            Usage::UNIFORM | Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC,
            Some(content),
        )?;
        Ok(self.wrap(idle, size, false))
    }

    fn make(&self, faults: &Faults, size: u64, usage: wgpu::BufferUsages, content: Option<&[u8]>) -> Result<Idle> {
        let raw = faults.guard(&format!("allocating {size} bytes on the device"), |device| {
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: content.is_some() };
            let raw = device.create_buffer(&descriptor);
            let Some(content) = content else { return Ok::<_, Error>(raw) };
            let mut view = raw.get_mapped_range_mut(..).map_err(|e| {
                Error::new(ErrorKind::OutOfMemory, format!("a constant of {size} bytes cannot be made: {e}"))
                    .with_source(e)
            })?;
            view.slice(..content.len()).copy_from_slice(content);
            view.slice(content.len()..).fill(0);
            drop(view);
            raw.unmap();
            Ok(raw)
        })??;
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(Idle { raw, id: NEXT_ID.fetch_add(1, Ordering::Relaxed), size })
    }

    fn wrap(self: &Arc<Self>, idle: Idle, bytes: u64, pooled: bool) -> DeviceBuffer {
        let Idle { raw, id, size } = idle;
        DeviceBuffer { id, bytes, inner: Arc::new(Block { raw: Some(raw), id, size, pooled, home: self.clone() }) }
    }

    fn take(&self, size: u64) -> Option<Idle> {
        let mut idle = lock(&self.idle);
        let found = idle.iter().rposition(|b| b.size == size)?;
        Some(idle.remove(found))
    }

    fn give_back(&self, returned: Idle) {
        let mut gone = Vec::new();
        {
            let mut idle = lock(&self.idle);
            let mut held: u64 = idle.iter().map(|b| b.size).sum::<u64>() + returned.size;
            idle.push(returned);
            while held > self.bound && !idle.is_empty() {
                let oldest = idle.remove(0);
                held -= oldest.size;
                gone.push(oldest);
            }
        }
        self.destroy(gone);
    }

    /// Releases everything unused.
    pub(super) fn trim(&self) {
        let gone = std::mem::take(&mut *lock(&self.idle));
        self.destroy(gone);
    }

    /// Bytes waiting for reuse.
    pub(super) fn idle_bytes(&self) -> u64 {
        lock(&self.idle).iter().map(|b| b.size).sum()
    }

    fn destroy(&self, gone: Vec<Idle>) {
        if !gone.is_empty() {
            self.groups.forget(&gone.iter().map(|b| b.id).collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_waste_little_and_keep_order() {
        let mut last = 0;
        for bytes in (1..200_000u64).step_by(37).chain([1 << 20, (1 << 20) + 1, 92_160_000, u64::MAX - 3]) {
            let size = class(bytes);
            assert!(size >= bytes && size >= last, "{bytes}");
            assert!(
                size <= (bytes + bytes / 16 + 16).max(bytes.next_multiple_of(256)) || bytes > 1 << 62,
                "{bytes} {size}"
            );
            last = size;
        }
        assert_eq!(class(1 << 20), 1 << 20);
    }
}
