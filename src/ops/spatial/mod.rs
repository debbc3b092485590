//! Across channels.

pub mod common_reference;
