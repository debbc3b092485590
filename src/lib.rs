//! Multi-channel signal processing on any GPU or CPU, with scipy's names, defaults and accuracy.

pub mod error;
pub mod kernel;
pub mod ops;
pub mod runtime;
pub mod signal;
pub mod simd;
pub mod tune;

pub use error::{Error, ErrorKind, Result};
