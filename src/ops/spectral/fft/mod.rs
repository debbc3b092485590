//! The discrete Fourier transform along time, of any length: `fft`, `ifft`, `rfft`, `irfft`.
//!
//! Every channel is transformed alone. A length is not something to be careful about: powers of two, products of small
//! primes and large primes all take O(n log n) steps and hold the same error. How a length is computed is a [`Recipe`],
//! a plain value that can be printed and compared.

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{ComplexSignal, ComplexView, Signal, Source};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
pub(in crate::ops) mod gpu;
pub(in crate::ops) mod lanes;
mod recipe;
mod reference;
mod transform;

pub(in crate::ops) use cpu::{real_forward_plan, real_inverse_plan};
pub use recipe::Recipe;
pub(in crate::ops) use recipe::{convenient, work_space};
pub(crate) use transform::{Kind, Transform};

/// Where the factor 1/n of a transform and its inverse goes, as in `numpy.fft`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// On the inverse.
    #[default]
    Backward,
    /// 1/sqrt(n) on both.
    Ortho,
    /// On the forward transform.
    Forward,
}

impl Norm {
    /// numpy's names.
    pub const NAMES: [&'static str; 3] = ["backward", "ortho", "forward"];

    /// The factor on a transform of `n` points.
    pub(crate) fn factor(self, n: usize, inverse: bool) -> f64 {
        match (self, inverse) {
            (Norm::Backward, false) | (Norm::Forward, true) => 1.0,
            (Norm::Ortho, _) => 1.0 / (n as f64).sqrt(),
            (Norm::Backward, true) | (Norm::Forward, false) => 1.0 / n as f64,
        }
    }
}

impl std::str::FromStr for Norm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "backward" => Ok(Norm::Backward),
            "ortho" => Ok(Norm::Ortho),
            "forward" => Ok(Norm::Forward),
            _ => Err(Error::invalid(format!("norm {name:?} is unknown; use one of: {}", Norm::NAMES.join(", ")))),
        }
    }
}

/// How to transform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FftOptions {
    /// Length of the transform: the input is cut or padded with zeros to it (for `irfft` the length of the result).
    /// Default: the input's (for `irfft` `2 * (bins - 1)`).
    pub n: Option<usize>,
    /// Where the factor 1/n goes. Default: on the inverse.
    pub norm: Norm,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// The transform of complex channels: `numpy.fft.fft(z, n, norm=...)` of each. The result has `n` bins.
///
/// # Errors
/// No samples, `n` of 0, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{FftOptions, fft};
/// use dspk::signal::{Complex32, ComplexView};
/// let z = [1.0, 0.0, 0.0, 0.0].map(|re| Complex32::new(re, 0.0));
/// let spectrum = fft(ComplexView::new(&z, 1, 4)?, &FftOptions::default())?;
/// assert_eq!(spectrum.row(0), [Complex32::new(1.0, 0.0); 4]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn fft<'a>(z: impl Into<ComplexView<'a>>, options: &FftOptions) -> Result<ComplexSignal> {
    Fft::new(options)?.forward(z)
}

/// The inverse transform of complex channels: `numpy.fft.ifft(z, n, norm=...)` of each.
///
/// # Errors
/// As [`fft`].
pub fn ifft<'a>(z: impl Into<ComplexView<'a>>, options: &FftOptions) -> Result<ComplexSignal> {
    Fft::new(options)?.inverse(z)
}

/// The transform of real channels: `numpy.fft.rfft(x, n, norm=...)` of each, `n / 2 + 1` bins.
///
/// # Errors
/// As [`fft`].
///
/// ```
/// use dspk::ops::spectral::{FftOptions, rfft};
/// use dspk::signal::{Complex32, View};
/// let spectrum = rfft(View::new(&[1.0f32, 2.0, 3.0, 4.0], 1, 4)?, &FftOptions::default())?;
/// assert_eq!(spectrum.row(0), [Complex32::new(10.0, 0.0), Complex32::new(-2.0, 2.0), Complex32::new(-2.0, 0.0)]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn rfft<'a>(x: impl Into<Source<'a>>, options: &FftOptions) -> Result<ComplexSignal> {
    Fft::new(options)?.real_forward(x)
}

/// The real signal of a one-sided spectrum: `numpy.fft.irfft(z, n, norm=...)` of each channel. The imaginary parts of the
/// first bin and, for an even `n`, of the last count as zero.
///
/// # Errors
/// As [`fft`]; without `n` also a single bin, whose signal would be empty.
pub fn irfft<'a>(z: impl Into<ComplexView<'a>>, options: &FftOptions) -> Result<Signal> {
    Fft::new(options)?.real_inverse(z)
}

/// Transforms ready for any recording.
#[derive(Debug, Clone)]
pub struct Fft {
    options: FftOptions,
}

impl Fft {
    /// Checks the options.
    ///
    /// # Errors
    /// `n` of 0.
    pub fn new(options: &FftOptions) -> Result<Self> {
        if options.n == Some(0) {
            return Err(Error::invalid("a transform of 0 points is not defined; pass n of 1 or more"));
        }
        Ok(Fft { options: options.clone() })
    }

    fn transform(&self, kind: Kind) -> Transform {
        Transform { kind, n: self.options.n, norm: self.options.norm }
    }

    fn host(&self, kind: Kind, x: Source<'_>) -> Result<Signal> {
        execute::host(&self.transform(kind), x, None, self.options.runtime.as_deref())
    }

    /// As [`fft`].
    pub fn forward<'a>(&self, z: impl Into<ComplexView<'a>>) -> Result<ComplexSignal> {
        ComplexSignal::from_parts(self.host(Kind::Fft, z.into().into())?)
    }

    /// As [`ifft`].
    pub fn inverse<'a>(&self, z: impl Into<ComplexView<'a>>) -> Result<ComplexSignal> {
        ComplexSignal::from_parts(self.host(Kind::Ifft, z.into().into())?)
    }

    /// As [`rfft`].
    pub fn real_forward<'a>(&self, x: impl Into<Source<'a>>) -> Result<ComplexSignal> {
        ComplexSignal::from_parts(self.host(Kind::Rfft, x.into())?)
    }

    /// As [`irfft`].
    pub fn real_inverse<'a>(&self, z: impl Into<ComplexView<'a>>) -> Result<Signal> {
        self.host(Kind::Irfft, z.into().into())
    }

    /// As [`rfft`], where the array lives; the result, real and imaginary parts in turn, stays on that device.
    #[cfg(feature = "gpu")]
    pub fn real_forward_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.transform(Kind::Rfft), x, None)
    }

    /// As [`irfft`], where the array (real and imaginary parts in turn) lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn real_inverse_device(&self, z: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.transform(Kind::Irfft), z, None)
    }

    /// As [`fft`], where the array (real and imaginary parts in turn) lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn forward_device(&self, z: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.transform(Kind::Fft), z, None)
    }

    /// As [`ifft`], where the array (real and imaginary parts in turn) lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn inverse_device(&self, z: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.transform(Kind::Ifft), z, None)
    }
}

const fn entry(command: crate::ops::command::Command, representatives: fn() -> Result<Vec<Representative>>) -> Entry {
    Entry {
        command,
        kernels: &["spectral/fft"],
        cpu_source: concat!(
            include_str!("cpu.rs"),
            include_str!("recipe.rs"),
            include_str!("lanes/mod.rs"),
            include_str!("lanes/butterflies.rs"),
            include_str!("lanes/long.rs")
        ),
        gpu_source: concat!(
            include_str!("gpu.rs"),
            include_str!("gpu/plan.rs"),
            include_str!("gpu/tables.rs"),
            include_str!("recipe.rs")
        ),
        representatives,
        ideal_bytes: once_each,
    }
}

fn representatives(kind: Kind) -> Result<Vec<Representative>> {
    let of = |n| Representative::planar(Transform { kind, n, norm: Norm::Backward });
    Ok(vec![of(None)])
}

pub(crate) const FFT: Entry = entry(command::FFT, || representatives(Kind::Fft));
pub(crate) const IFFT: Entry = entry(command::IFFT, || representatives(Kind::Ifft));
pub(crate) const RFFT: Entry = entry(command::RFFT, || representatives(Kind::Rfft));
pub(crate) const IRFFT: Entry = entry(command::IRFFT, || representatives(Kind::Irfft));
