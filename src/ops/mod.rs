//! The operations.

pub mod filter;
pub mod problem;

pub use problem::{Problem, Shape, State, Tolerance, Variant};
