//! The operations.

pub(crate) mod columns;
pub mod convert;
pub mod filter;
pub mod problem;
pub mod spatial;

pub use problem::{Problem, Shape, State, Tolerance, Variant};
