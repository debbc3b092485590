//! Filters along time.

pub mod lfilter;
pub mod sosfilt;
