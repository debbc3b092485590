//! Filters.

pub mod lfilter;
pub mod sosfilt;
