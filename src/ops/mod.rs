//! The operations.

pub mod command;
pub mod design;
pub mod problem;

pub use command::Command;
pub use problem::{Problem, Shape, State, Tolerance, Variant};

/// Every operation that can be called by name.
pub fn commands() -> Vec<Command> {
    design::commands()
}
