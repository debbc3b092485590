//! Multi-channel signal processing on any GPU or CPU, with scipy's names, defaults and accuracy.

pub mod accelerator;
pub mod design;
pub mod error;
#[cfg(feature = "cli")]
pub mod io;
pub mod kernel;
pub mod ops;
pub mod runtime;
pub mod signal;
pub mod tune;

pub use error::{Error, ErrorKind, Result};
