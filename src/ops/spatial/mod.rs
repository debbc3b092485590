//! Spatial operations.
pub mod common_reference;
