//! The operations.

pub mod problem;

pub use problem::{Problem, Shape, State, Tolerance, Variant};
