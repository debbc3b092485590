//! The [`Gpu`] implementation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::faults::{Faults, lock};
use super::kept::Kept;
use super::lru::Lru;
use super::memory::Memory;
use super::pipelines::Pipelines;
use super::transfer::Staging;
use super::{record, timing};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu};

const MAX_CONSTANTS: usize = 1024;
const MAX_CONSTANT_BYTES: u64 = 64 << 20;

/// A device opened through wgpu.
pub struct WgpuDevice {
    pub(super) faults: Faults,
    pub(super) queue: wgpu::Queue,
    pub(super) facts: Facts,
    pub(super) memory: Arc<Memory>,
    pub(super) pipelines: Pipelines,
    pub(super) staging: Staging,
    constants: Mutex<Lru<(u128, u64), DeviceBuffer>>,
    submissions: AtomicU64,
}

/// Counts of what a device has made since it was opened; a warm repeated call raises `submissions` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Buffers made, constants and staging included.
    pub buffers: u64,
    /// Bind groups made.
    pub bind_groups: u64,
    /// Kernels compiled.
    pub pipelines: u64,
    /// Submissions started.
    pub submissions: u64,
    /// Bytes of unused buffers kept for reuse now.
    pub idle_bytes: u64,
    /// Bind groups kept now.
    pub kept_bind_groups: usize,
}

/// What [`WgpuDevice::new`] is made of.
pub(super) struct Parts {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) facts: Facts,
    /// Buffers are mapped where they lie.
    pub(super) mappable: bool,
    pub(super) checked: bool,
    /// What earlier processes compiled, where the device can use it.
    pub(super) kept: Option<Kept>,
    pub(super) pool_bytes: u64,
}

impl WgpuDevice {
    pub(super) fn new(parts: Parts) -> Self {
        use wgpu::BufferUsages as Usage;
        let mut usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        if parts.mappable {
            usage |= Usage::MAP_READ | Usage::MAP_WRITE;
        }
        WgpuDevice {
            faults: Faults::new(parts.device),
            queue: parts.queue,
            facts: parts.facts,
            memory: Arc::new(Memory::new(usage, parts.pool_bytes)),
            pipelines: Pipelines::new(parts.checked, parts.kept),
            staging: Staging::default(),
            constants: Mutex::new(Lru::new(MAX_CONSTANTS, MAX_CONSTANT_BYTES)),
            submissions: AtomicU64::new(0),
        }
    }

    /// What has been made so far.
    pub fn stats(&self) -> Stats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            buffers: count(&self.memory.made) + count(&self.staging.made),
            bind_groups: count(&self.memory.groups.made),
            pipelines: count(&self.pipelines.made),
            submissions: count(&self.submissions),
            idle_bytes: self.memory.idle_bytes(),
            kept_bind_groups: self.memory.groups.len(),
        }
    }

    /// Whether shaders run with bounds and loop checks; the device's key says so too.
    pub fn checked_shaders(&self) -> bool {
        self.pipelines.checked()
    }

    /// Whether the device is gone; opening it again makes a fresh one.
    pub fn is_lost(&self) -> bool {
        self.faults.is_lost()
    }

    /// Releases all unused buffers.
    pub fn trim(&self) {
        self.memory.trim();
    }

    /// Gives the device up, as a driver reset would: every later call returns a device-lost error.
    pub fn destroy(&self) {
        self.faults.device().destroy();
        self.faults.lose("it was destroyed");
    }

    /// Encodes and submits.
    pub(super) fn run(&self, what: &str, encode: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
        self.submissions.fetch_add(1, Ordering::Relaxed);
        self.faults.guard(what, |device| {
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encode(&mut encoder);
            self.queue.submit([encoder.finish()]);
        })
    }
}

impl Gpu for WgpuDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn is_lost(&self) -> bool {
        WgpuDevice::is_lost(self)
    }

    fn trim(&self) {
        WgpuDevice::trim(self);
    }

    fn allocate(&self, bytes: u64) -> Result<DeviceBuffer> {
        self.memory.allocate(&self.faults, &self.facts.limits, bytes)
    }

    fn constant(&self, bytes: &[u8]) -> Result<DeviceBuffer> {
        self.faults.check_alive()?;
        let key = (xxhash_rust::xxh3::xxh3_128(bytes), bytes.len() as u64);
        if let Some(buffer) = lock(&self.constants).get(&key) {
            return Ok(buffer);
        }
        let buffer = self.memory.constant(&self.faults, &self.facts.limits, bytes)?;
        let _gone = lock(&self.constants).insert(key, buffer.clone(), buffer.bytes);
        Ok(buffer)
    }

    fn write(&self, to: &DeviceBuffer, offset: u64, bytes: u64, fill: &mut dyn FnMut(u64, &mut [u8])) -> Result<()> {
        self.upload(to, offset, bytes, fill)
    }

    fn read(&self, from: &DeviceBuffer, offset: u64, bytes: u64, take: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
        self.download(from, offset, bytes, take)
    }

    fn prepare(&self, kernel: &Arc<Kernel>) -> Result<()> {
        self.pipelines.get(&self.faults, &self.facts.limits, kernel).map(drop)
    }

    fn submit(&self, commands: &[Command]) -> Result<()> {
        let steps = record::resolve(self, commands)?;
        if steps.is_empty() {
            return self.faults.check_alive();
        }
        self.run("running kernels", |encoder| record::encode(encoder, &steps))
    }

    fn wait(&self) -> Result<()> {
        self.faults.poll(true)
    }

    fn time(&self, commands: &[Command], repeats: u32) -> Result<f64> {
        timing::time(self, &record::resolve(self, commands)?, repeats)
    }
}
