//! Finite impulse responses.

pub mod cpu;
mod kernel;
mod plan;
pub mod reference;
