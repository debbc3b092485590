//! Common reference.
mod block;
pub mod cpu;
pub mod plan;
pub mod reference;
