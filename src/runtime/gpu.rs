//! What every GPU runtime offers: the [`Gpu`] trait, its buffers and its commands.
//!
//! Commands are plain data, so the same recipe runs on any implementation. Work is counted in flat work groups: a
//! kernel finds its flat index with `flat_group()` of `shaders/shared/fold.wgsl`, and the runtime folds counts above the
//! device's limit per dimension.

use std::any::Any;
use std::sync::Arc;

use crate::error::Result;
use crate::kernel::Kernel;

/// What the device is physically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// A software adapter running on the CPU.
    Cpu,
    /// Shares memory with the CPU.
    Integrated,
    /// Has its own memory.
    Discrete,
    /// Virtual or unknown.
    Other,
}

/// Limits that decide how work is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest binding, in bytes.
    pub binding_bytes: u64,
    /// Largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Largest uniform binding, in bytes.
    pub uniform_bytes: u64,
    /// Work groups per dimension.
    pub groups_per_dimension: u32,
    /// Threads in a work group.
    pub group_size: u32,
    /// Work-group memory, in bytes.
    pub group_bytes: u32,
    /// Required alignment of a storage binding's offset.
    pub storage_alignment: u64,
}

/// What kernels and the tuner need to know of a device.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Stable identity made of silicon facts (never an index or a marketing name); names the tuner's folder.
    pub key: String,
    /// Canonical runtime name: `wgpu`, `cuda`, `hip`.
    pub runtime: &'static str,
    /// Who made it, as its interface names him (a PCI number); empty = unknown.
    pub vendor: String,
    /// Marketing name.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// Physical class.
    pub class: DeviceClass,
    /// Limits.
    pub limits: Limits,
    /// Smallest and largest subgroup, where subgroup operations work.
    pub subgroups: Option<(u32, u32)>,
    /// Device timestamps work.
    pub timestamps: bool,
    /// Kernels may use `f16`.
    pub float16: bool,
    /// Kernels may use `f64`.
    pub float64: bool,
    /// The start-up self-test proved that a compensated sum behind a barrier keeps its low word here.
    pub compensation: bool,
}

/// A pooled device buffer; dropping the last clone gives it back.
#[derive(Clone)]
pub struct DeviceBuffer {
    /// Unique among live buffers, and never that of another memory: a recycled buffer keeps its id.
    pub id: u64,
    /// Usable bytes.
    pub bytes: u64,
    /// The implementation's own object; its `Drop` returns the memory to the pool.
    pub inner: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DeviceBuffer({}, {} bytes)", self.id, self.bytes)
    }
}

/// A part of a buffer, bound to a kernel.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The buffer.
    pub buffer: DeviceBuffer,
    /// First byte; a multiple of [`Limits::storage_alignment`].
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

impl From<&DeviceBuffer> for Slice {
    fn from(buffer: &DeviceBuffer) -> Self {
        Slice { buffer: buffer.clone(), offset: 0, bytes: buffer.bytes }
    }
}

/// One step of a recording. Steps run in order; each sees the results of the ones before.
#[derive(Debug, Clone)]
pub enum Command {
    /// Run a kernel.
    Launch {
        /// What to run.
        kernel: Arc<Kernel>,
        /// In order of binding index.
        bindings: Vec<Slice>,
        /// Number of work groups, folded by the runtime.
        groups: u64,
    },
    /// Copy bytes between buffers; all numbers multiples of 4, buffers distinct.
    Copy {
        /// From.
        from: DeviceBuffer,
        /// First byte read.
        from_offset: u64,
        /// To.
        to: DeviceBuffer,
        /// First byte written.
        to_offset: u64,
        /// How many.
        bytes: u64,
    },
    /// Set a whole buffer to zero.
    Clear(DeviceBuffer),
}

/// A GPU device. Implementations are shared between threads and never panic on a driver's failure: everything is an
/// [`crate::Error`] of kind `Limit`, `OutOfMemory`, `DeviceLost` or `Kernel`.
pub trait Gpu: Send + Sync {
    /// What it is.
    fn facts(&self) -> &Facts;

    /// Whether the device is gone for good (driver reset, unplugged), so that it has to be opened anew.
    fn is_lost(&self) -> bool {
        false
    }

    /// Gives unused pooled memory back to the device.
    fn trim(&self) {}

    /// A pooled storage buffer of at least `bytes` (rounded up to 16) with arbitrary content.
    fn allocate(&self, bytes: u64) -> Result<DeviceBuffer>;

    /// An immutable buffer with this content, usable as uniform and as read-only storage; cached by content, so that a
    /// repeated call makes nothing new.
    fn constant(&self, bytes: &[u8]) -> Result<DeviceBuffer>;

    /// Writes `bytes` bytes at `offset`: `fill` is handed the parts in order as `(position, memory)`, position counted
    /// from `offset`; memory is the device's own where it is mappable, else a staging ring. Every byte must be written.
    /// `offset`, `bytes` and the parts' lengths are multiples of 4.
    fn write(&self, to: &DeviceBuffer, offset: u64, bytes: u64, fill: &mut dyn FnMut(u64, &mut [u8])) -> Result<()>;

    /// Reads like [`Gpu::write`] writes, after everything submitted before has finished.
    fn read(&self, from: &DeviceBuffer, offset: u64, bytes: u64, take: &mut dyn FnMut(u64, &[u8])) -> Result<()>;

    /// Compiles a kernel, so that its first launch does not have to.
    fn prepare(&self, kernel: &Arc<Kernel>) -> Result<()>;

    /// Starts all commands in one submission. Validation failures are returned here; execution goes on in the background.
    fn submit(&self, commands: &[Command]) -> Result<()>;

    /// Waits for everything submitted.
    fn wait(&self) -> Result<()>;

    /// Seconds that `repeats` runs of the commands take, by device timestamps where they work, else by the host clock
    /// with the queue drained before and after.
    fn time(&self, commands: &[Command], repeats: u32) -> Result<f64>;
}
