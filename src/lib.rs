//! Multi-channel signal processing on whatever a machine has, with scipy's names, defaults and accuracy.
//!
//! Arrays are `[channels, samples]`. Every operation runs on the CPU (rayon and SIMD) and on any GPU that Vulkan, Metal or
//! DX12 reach (feature `wgpu`, from one set of WGSL kernels), and gives the same answer on each: within a stated bound of
//! float64 scipy, even where the device computes in float32.
//!
//! ```
//! use dspk::design::{Band, butter};
//! use dspk::ops::convert::{ConvertOptions, Scale, convert};
//! use dspk::ops::filter::sosfilt;
//! use dspk::ops::spatial::{CommonReferenceOptions, common_reference};
//! use dspk::signal::View;
//!
//! // Four channels of int16, interleaved as recorded, 0.195 uV a step, at 30 kHz.
//! let raw: Vec<i16> = (0..4 * 3000).map(|i| ((i * i) % 200) as i16).collect();
//! let x = convert(View::interleaved(&raw, 4)?, &ConvertOptions { gain: Scale::One(0.195), ..Default::default() })?;
//! let x = sosfilt(&butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?, &x)?;
//! let x = common_reference(&x, &CommonReferenceOptions::default())?;
//! assert_eq!((x.channels(), x.samples()), (4, 3000));
//! # Ok::<(), dspk::Error>(())
//! ```
//!
//! # Where things run
//! [`runtime::current`] says what calls use now; [`runtime::set`], the variable `DSPK_RUNTIME` or the `runtime` option of
//! a call choose. The default is the first runtime with a hardware device here, else the CPU; a named runtime is strict:
//! it runs there or fails with the reason. [`accelerator::devices`] reports what the machine has and what is usable.
//!
//! # Tuning
//! Each operation has several variants. On first meeting a device and a class of sizes, the tuner proves each variant
//! against the float64 reference, measures it for about a second at most, and remembers the winner on disk.
//! [`runtime::autotune`], or the binary `autotune`, does that ahead of time. `DSPK_AUTOTUNE` sets the policy.
//!
//! # Features
//! `wgpu` (default): GPUs. `cli` (default): the binaries `dspk` and `autotune` and their dependencies; a library user can
//! leave it out.
#![warn(missing_docs)]

pub mod accelerator;
pub mod design;
mod disk;
pub mod error;
mod facade;
#[cfg(feature = "cli")]
pub mod io;
pub mod kernel;
pub mod ops;
#[cfg(feature = "cli")]
pub mod report;
pub mod runtime;
pub mod signal;
mod simd;
pub mod tune;

pub use error::{Error, ErrorKind, Result};
pub use runtime::{gpu_active_backend, gpu_devices, gpu_set_backend};

/// The README's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
