//! The device report: what this machine has, what of it can be used, and what to do about the rest.
//!
//! The idea: *detected* and *usable* are two facts, gathered apart. What is **detected** comes from the system itself
//! (the PCI bus, device nodes, `/proc`), so a card is named even where its driver is missing; what is **usable** comes
//! from the device APIs, which implement [`Probe`] one layer up. [`Report::build`] lays one over the other: a card that
//! no API listed is shown all the same, with a [`Trouble`] that says why and what to do. The first thing that stands in
//! the way is reported, in the order in which a person would have to remove it.
//!
//! Everything outside this process is reached through [`Roots`] and [`Probe`], so that any machine of the field can be
//! faked in a test. Probes run on threads of their own and are given up on after [`PROBE_LIMIT`]; files are read up to a
//! fixed size, and only if they are regular files. Nothing here panics, and no driver is loaded by this module.

mod cache;
mod capability;
mod cpu;
mod parse;
mod probe;
mod rank;
mod record;
mod report;
mod roots;
mod show;
mod system;
#[cfg(test)]
mod tests;
mod trouble;

pub use crate::facade::accelerator::{
    capabilities_now, describe, device_string, devices, is_cuda, is_gpu, neural_engines, operations, report, resolve,
    supports_bfloat16, supports_float16, supports_float64,
};
pub use cache::{empty_cache, on_empty_cache};
pub use capability::{Capability, Operation, capabilities};
pub use cpu::{CpuFacts, instruction_set};
pub use probe::{Findings, Found, PROBE_LIMIT, Probe};
pub use rank::{best_of, default_of, is_software_name};
pub use record::{Class, Limits, Record, RuntimeRow};
pub use report::Report;
pub use roots::Roots;
pub use system::missing_library;
pub use trouble::Trouble;
pub(crate) use trouble::build_remedy;
