//! Conversion.
pub mod cpu;
pub mod plan;
pub mod reference;
