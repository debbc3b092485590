//! Cascaded second-order sections.

pub mod cpu;
mod form;
mod kernel;
pub mod reference;
mod transition;
