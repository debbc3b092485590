//! The operations, by family.
//!
//! Every operation has a function with scipy's name for one call, and a plan object for many: built once, applied to any
//! recording, in chunks with carried state where it has state, on host arrays or where the data lives.

pub(crate) mod columns;
pub mod command;
pub mod convert;
mod design;
pub mod detect;
pub(crate) mod execute;
pub mod filter;
pub(crate) mod job;
#[cfg(feature = "gpu")]
pub(crate) mod launch;
#[cfg(all(test, feature = "wgpu"))]
pub(crate) mod launch_tests;
pub mod problem;
pub mod registry;
pub mod resample;
pub mod spatial;
pub mod spectral;
pub(crate) mod yardstick;

#[cfg(test)]
mod tests;

pub use problem::{Locality, Problem, Shape, State, Tolerance, Variant};

/// Everything that can be called by name: the operations and the filter designs.
pub fn commands() -> Vec<command::Command> {
    let operations = registry::registry().iter().map(|e| e.command);
    // Second names, and what runs as one of several operations.
    let others = [filter::convolve::command::OACONVOLVE, filter::sosfiltfilt::command::FILTFILT];
    design::commands().into_iter().chain(operations).chain(others).collect()
}
