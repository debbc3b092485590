//! Multi-channel signal processing on any GPU or CPU, with scipy's names, defaults and accuracy.

pub mod accelerator;
pub mod error;
pub mod kernel;
pub mod ops;
pub mod runtime;
pub mod signal;
pub mod tune;

pub use error::{Error, ErrorKind, Result};
pub use runtime::{gpu_active_backend, gpu_devices, gpu_set_backend};
