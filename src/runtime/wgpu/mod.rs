//! Vulkan, Metal and DX12 devices through wgpu.
//!
//! wgpu's own types stay inside this module. The idea: everything a repeated call needs (buffers, constants, pipelines,
//! bind groups) is kept and found again, so that a warm call makes nothing new; every failure of a driver is caught in
//! an error scope or a callback and becomes an [`crate::Error`]; and a device says what it can do only after a start-up
//! self-test has run on it.
//!
//! * `adapters`: what is installed, found within a stated time;
//! * `open`: from an adapter to a shared, tested device;
//! * `device`: the [`Gpu`](super::gpu::Gpu) implementation;
//! * `memory`, `transfer`: the pool of buffers, and the ways in and out of them;
//! * `kept`: compiled kernels between processes;
//! * `pipelines`: compiled kernels and bind groups; `record`: commands to encoder; `timing`: the two clocks;
//! * `faults`: error scopes, device loss; `lru`: the bounded caches; `selftest`: the proof of compensated sums.

mod adapters;
mod device;
mod faults;
mod kept;
mod lru;
mod memory;
mod open;
mod pipelines;
mod record;
mod selftest;
mod timing;
mod transfer;

pub use adapters::{AdapterSummary, adapters, loader_note};
pub use device::{Stats, WgpuDevice};
pub use open::{Overrides, open, open_with};

#[cfg(test)]
mod tests;
