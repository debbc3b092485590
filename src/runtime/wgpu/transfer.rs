//! Ways in and out of a device buffer.
//!
//! Where the device shares the host's memory, buffers are mapped where they lie and nothing is copied twice. Elsewhere
//! a ring of three staging buffers of 8 MiB keeps the host's copy and the device's overlapping.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::device::WgpuDevice;
use super::faults::lock;
use super::memory::Block;
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::check::check_range;
use crate::runtime::gpu::DeviceBuffer;

const SLOTS: usize = 3;
const SLOT_BYTES: u64 = 8 << 20;
/// Rings kept for reuse in each direction.
const MAX_RINGS: usize = 8;

/// Unused staging rings.
#[derive(Default)]
pub(super) struct Staging {
    up: Mutex<Vec<Ring>>,
    down: Mutex<Vec<Ring>>,
    pub(super) made: AtomicU64,
}

type Ring = [wgpu::Buffer; SLOTS];

/// Unmaps at the end of a scope, also when the caller's closure panics. Views must be dropped first.
struct Mapped<'a>(&'a wgpu::Buffer);

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        self.0.unmap();
    }
}

/// The pieces of at most a slot that a range is cut into: position and length.
fn pieces(bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..bytes.div_ceil(SLOT_BYTES)).map(move |i| (i * SLOT_BYTES, SLOT_BYTES.min(bytes - i * SLOT_BYTES)))
}

impl WgpuDevice {
    pub(super) fn upload(
        &self,
        to: &DeviceBuffer,
        offset: u64,
        bytes: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> Result<()> {
        let raw = self.checked_range(to, offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // A constant cannot be mapped; neither can a buffer of a device with its own memory.
        if raw.usage().contains(wgpu::BufferUsages::MAP_WRITE) {
            return self.fill_mapped(raw, offset, bytes, 0, fill);
        }
        let ring = self.ring(&self.staging.up, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC)?;
        for ((at, len), slot) in pieces(bytes).zip(ring.iter().cycle()) {
            self.fill_mapped(slot, 0, len, at, fill)?;
            self.run("uploading", |encoder| encoder.copy_buffer_to_buffer(slot, 0, raw, offset + at, len))?;
        }
        keep(&self.staging.up, ring);
        Ok(())
    }

    pub(super) fn download(
        &self,
        from: &DeviceBuffer,
        offset: u64,
        bytes: u64,
        take: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<()> {
        let raw = self.checked_range(from, offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        if raw.usage().contains(wgpu::BufferUsages::MAP_READ) {
            return self.take_mapped(raw, offset, bytes, 0, take);
        }
        let ring = self.ring(&self.staging.down, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
        let copy = |(at, len): (u64, u64), slot: &wgpu::Buffer| {
            self.run("downloading", |encoder| encoder.copy_buffer_to_buffer(raw, offset + at, slot, 0, len))
        };
        let mut ahead = pieces(bytes).zip(ring.iter().cycle());
        ahead.by_ref().take(SLOTS).try_for_each(|(piece, slot)| copy(piece, slot))?;
        for ((at, len), slot) in pieces(bytes).zip(ring.iter().cycle()) {
            self.take_mapped(slot, 0, len, at, take)?;
            // The slot just emptied is the one the next piece to be copied falls on.
            ahead.next().map_or(Ok(()), |(piece, slot)| copy(piece, slot))?;
        }
        keep(&self.staging.down, ring);
        Ok(())
    }

    fn fill_mapped(
        &self,
        raw: &wgpu::Buffer,
        offset: u64,
        bytes: u64,
        position: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> Result<()> {
        let (start, end) = map_range(offset, bytes);
        let _mapped = self.map(raw, wgpu::MapMode::Write, start, end)?;
        let mut view = raw.get_mapped_range_mut(start..end).map_err(view_error)?;
        let skip = (offset - start) as usize;
        let mut part = view.slice(skip..skip + bytes as usize);
        let len = part.len();
        // SAFETY: `part` covers `len` mapped bytes that wgpu has initialised and that nothing else refers to while the
        // view lives.
        let memory = unsafe { std::slice::from_raw_parts_mut(part.as_raw_element_ptr().as_ptr(), len) };
        fill(position, memory);
        Ok(())
    }

    pub(super) fn take_mapped(
        &self,
        raw: &wgpu::Buffer,
        offset: u64,
        bytes: u64,
        position: u64,
        take: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<()> {
        let (start, end) = map_range(offset, bytes);
        let _mapped = self.map(raw, wgpu::MapMode::Read, start, end)?;
        let view = raw.get_mapped_range(start..end).map_err(view_error)?;
        let skip = (offset - start) as usize;
        take(position, &view[skip..skip + bytes as usize]);
        Ok(())
    }

    /// Maps a range once everything that uses the buffer has finished.
    fn map<'a>(&self, raw: &'a wgpu::Buffer, mode: wgpu::MapMode, start: u64, end: u64) -> Result<Mapped<'a>> {
        let (sender, receiver) = channel();
        self.faults.guard("mapping a device buffer", |_| {
            raw.map_async(mode, start..end, move |result| {
                // The receiver is gone only if this call has already failed.
                let _ = sender.send(result);
            });
        })?;
        // An idle buffer is mapped at once, without waiting for other threads' work. A busy one needs the queue; its
        // callback may be run by another thread's poll, hence the short wait.
        self.faults.poll(false)?;
        let mut patience = Duration::ZERO;
        loop {
            match receiver.recv_timeout(patience) {
                Ok(Ok(())) => return Ok(Mapped(raw)),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                    self.faults.check_alive()?;
                    return Err(Error::new(
                        ErrorKind::InvalidArgument,
                        "a device buffer cannot be mapped: another thread is reading or writing it; give each thread its own arrays",
                    ));
                }
                Err(RecvTimeoutError::Timeout) => self.faults.poll(true)?,
            }
            patience = Duration::from_millis(1);
        }
    }

    fn ring(&self, unused: &Mutex<Vec<Ring>>, usage: wgpu::BufferUsages) -> Result<Ring> {
        if let Some(ring) = lock(unused).pop() {
            return Ok(ring);
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size: SLOT_BYTES, usage, mapped_at_creation: false };
        self.staging.made.fetch_add(SLOTS as u64, Ordering::Relaxed);
        self.faults
            .guard("allocating staging memory", |device| std::array::from_fn(|_| device.create_buffer(&descriptor)))
    }

    fn checked_range<'a>(&self, buffer: &'a DeviceBuffer, offset: u64, bytes: u64) -> Result<&'a wgpu::Buffer> {
        check_range(buffer, offset, bytes)?;
        Block::of(buffer, &self.memory)
    }
}

/// What has to be mapped to reach a range: mappings start at multiples of 8 bytes, and buffers end at multiples of 16.
fn map_range(offset: u64, bytes: u64) -> (u64, u64) {
    (offset & !7, (offset + bytes).next_multiple_of(8))
}

fn view_error(e: wgpu::MapRangeError) -> Error {
    Error::internal(format!("a mapped device buffer cannot be viewed: {e}")).with_source(e)
}

fn keep(unused: &Mutex<Vec<Ring>>, ring: Ring) {
    let mut unused = lock(unused);
    if unused.len() < MAX_RINGS {
        unused.push(ring);
    }
}
