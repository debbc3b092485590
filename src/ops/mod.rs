//! The operations.

pub mod convert;
pub mod filter;
#[cfg(feature = "gpu")]
pub(crate) mod launch;
#[cfg(all(test, feature = "wgpu"))]
pub(crate) mod launch_tests;
pub mod problem;
pub mod spatial;

pub use problem::{Problem, Shape, State, Tolerance, Variant};
