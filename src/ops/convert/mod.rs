//! Conversion of recorded integers to `f32`, with gain and offset, and from interleaved to channel-major.

use crate::error::Result;
use crate::ops::execute;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Dtype, Signal, Source, ViewMut};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod plan;
mod reference;

pub use plan::Scale;

/// Scaling of a conversion.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// Factor, one for all channels or one for each; 1 by default.
    pub gain: Scale,
    /// Added after the gain; 0 by default.
    pub offset: Option<Scale>,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// Converts a recording to `f32`, channel-major: `y[c][n] = x[c][n] * gain[c] + offset[c]`.
///
/// `x` is any `[channels, samples]` array of `i16` or `f32`; an interleaved file is one through
/// [`View::interleaved`](crate::signal::View::interleaved). Without scaling the widening is exact; with it, the result is
/// within 1.5e-7 of the float64 value.
///
/// # Errors
/// Another number of gains or offsets than channels, one that is not finite, a runtime that cannot be used, no memory.
///
/// ```
/// use dspk::ops::convert::{ConvertOptions, Scale, convert};
/// use dspk::signal::View;
/// // Two channels, interleaved, 0.5 uV a step.
/// let raw = [100i16, -3, 102, -1, 104, 1];
/// let y = convert(View::interleaved(&raw, 2)?, &ConvertOptions { gain: Scale::One(0.5), ..Default::default() })?;
/// assert_eq!(y.to_vec(), [50.0, 51.0, 52.0, -1.5, -0.5, 0.5]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn convert<'a>(x: impl Into<Source<'a>>, options: &ConvertOptions) -> Result<Signal> {
    Convert::new(options)?.apply(x)
}

/// A conversion ready for any recording.
#[derive(Debug, Clone)]
pub struct Convert {
    gain: Scale,
    offset: Scale,
    runtime: Option<String>,
}

impl Convert {
    /// Checks the options, as far as that is possible without knowing the number of channels.
    pub fn new(options: &ConvertOptions) -> Result<Self> {
        let offset = options.offset.clone().unwrap_or(Scale::One(0.0));
        options.gain.check_finite("gain")?;
        offset.check_finite("offset")?;
        Ok(Convert { gain: options.gain.clone(), offset, runtime: options.runtime.clone() })
    }

    /// Converts.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Converts into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Converts an array where it lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    fn scaled(&self) -> bool {
        self.gain != Scale::One(1.0) || self.offset != Scale::One(0.0)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["convert/planar", "convert/interleaved", "convert/interleaved_any"],
    cpu_source: include_str!("cpu.rs"),
    gpu_source: include_str!("gpu.rs"),
    representatives: || {
        let options = ConvertOptions { gain: Scale::One(0.195), ..Default::default() };
        Ok(vec![Representative { problem: Box::new(Convert::new(&options)?), dtype: Dtype::I16, interleaved: true }])
    },
    ideal_bytes: once_each,
};

impl Problem for Convert {
    fn operation(&self) -> &'static str {
        "convert"
    }

    fn class(&self) -> String {
        let kind = match (self.scaled(), self.offset == Scale::One(0.0)) {
            (false, _) => "plain",
            (true, true) => "gain",
            (true, false) => "offset",
        };
        kind.into()
    }

    fn accepts(&self, dtype: Dtype) -> bool {
        matches!(dtype, Dtype::F32 | Dtype::I16)
    }

    fn check(&self, shape: Shape) -> Result<()> {
        self.gain.check("gain", shape.channels)?;
        self.offset.check("offset", shape.channels)
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(&self.gain, &self.offset, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn reference_of(&self, x: Source<'_>, channel: usize) -> Result<Vec<f64>> {
        let (gain, offset) = (Scale::One(self.gain.at(channel)), Scale::One(self.offset.at(channel)));
        Ok(reference::run(&gain, &offset, x))
    }

    fn tolerance(&self) -> Tolerance {
        let relative = if self.scaled() { 1.5e-7 } else { 0.0 };
        Tolerance { relative, gain: 0.0, float64_tight: true, ..Default::default() }
    }

    /// Every value is computed alone. Only where devices take product and offset in pairs of floats may a compiler fuse
    /// what it likes.
    fn rounding(&self, variant: &Variant) -> String {
        match variant.method == "registers" && self.offset != Scale::One(0.0) {
            true => variant.name.clone(),
            false => variant.method.into(),
        }
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(&self.gain, &self.offset, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        gpu::variants(facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(&self.gain, &self.offset, gpu, variant, x, y)
    }
}
