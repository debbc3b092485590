//! Running medians along time: `scipy.ndimage.median_filter` over one axis, and `scipy.signal.medfilt` of one dimension.
//!
//! Results are values of the input (or of what lies beyond its ends), selected, never computed: exact on every runtime.
//! A window that holds a NaN gives NaN.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::filter::edge::Edge;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod network;
mod ranks;
mod reference;

/// Widest window.
const WIDEST: usize = 1 << 24;

/// The running median of every channel: `scipy.ndimage.median_filter(x, size, mode=..., axes=-1)`, on the current runtime.
///
/// The window of sample `n` of an odd `size` reaches `(size - 1) / 2` samples to both sides; that of an even one goes from
/// `n - size / 2` to `n + size / 2 - 1`, and of the two middle values the upper one is taken, as scipy does. What lies
/// beyond the ends is `edge`. `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` of the same
/// shape.
///
/// # Errors
/// A size of 0 or above 2^24, a constant that is not finite in float32, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::filter::{Edge, median_filter};
/// use dspk::signal::View;
/// let x = [1.0f32, 90.0, 2.0, 3.0, 2.5];
/// let y = median_filter(View::new(&x, 1, 5)?, 3, Edge::Reflect)?;
/// assert_eq!(y.row(0), [1.0, 2.0, 3.0, 2.5, 2.5]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn median_filter<'a>(x: impl Into<Source<'a>>, size: usize, edge: Edge) -> Result<Signal> {
    MedianFilter::new(size, edge)?.apply(x)
}

/// The running median of every channel with zeros beyond the ends: `scipy.signal.medfilt`, channel by channel, on the
/// current runtime.
///
/// # Errors
/// An even `kernel_size`, and those of [`median_filter`].
///
/// ```
/// use dspk::signal::View;
/// let y = dspk::ops::filter::medfilt(View::new(&[4.0f32, 9.0, 5.0, 1.0], 1, 4)?, 3)?;
/// assert_eq!(y.row(0), [4.0, 5.0, 5.0, 1.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn medfilt<'a>(x: impl Into<Source<'a>>, kernel_size: usize) -> Result<Signal> {
    MedianFilter::medfilt(kernel_size)?.apply(x)
}

/// A running median ready for any recording.
///
/// ```
/// use dspk::ops::filter::{Edge, MedianFilter};
/// use dspk::signal::View;
///
/// let filter = MedianFilter::new(3, Edge::Nearest)?.on("cpu");
/// let y = filter.apply(View::new(&[99.0f32], 1, 1)?)?;
/// assert_eq!(y.row(0), [99.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MedianFilter {
    name: &'static str,
    size: usize,
    edge: Edge,
    program: Arc<OnceLock<network::Program>>,
    runtime: Option<String>,
}

impl MedianFilter {
    /// A plan for windows of `size` samples, see [`median_filter`].
    pub fn new(size: usize, edge: Edge) -> Result<Self> {
        if !(1..=WIDEST).contains(&size) {
            return Err(Error::invalid(format!(
                "a median filter of {size} samples is not possible; give a window of 1 to {WIDEST} samples"
            )));
        }
        if !edge.constant().is_finite() {
            return Err(Error::invalid(format!(
                "the constant beyond the ends is {}; it must be finite in float32",
                edge.constant()
            )));
        }
        Ok(MedianFilter { name: "median_filter", size, edge, program: Arc::default(), runtime: None })
    }

    /// A plan for windows of `kernel_size` samples, an odd number, with zeros beyond the ends, see [`medfilt`].
    pub fn medfilt(kernel_size: usize) -> Result<Self> {
        if kernel_size.is_multiple_of(2) {
            return Err(Error::invalid(format!(
                "medfilt takes windows of an odd number of samples, {kernel_size} is even; use median_filter, or {}",
                kernel_size + 1
            )));
        }
        Ok(MedianFilter { name: "medfilt", ..Self::new(kernel_size, Edge::Constant(0.0))? })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// Samples of a window.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What lies beyond the ends of a channel.
    pub fn edge(&self) -> Edge {
        self.edge
    }

    /// Filters an array.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Filters into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Filters an array where it lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// The network of this width, made once; that of one sample where the width has none.
    fn program(&self) -> &network::Program {
        let width = if self.size <= cpu::NETWORK_WIDTH { self.size } else { 1 };
        self.program.get_or_init(|| network::Program::new(width))
    }
}

const CPU_SOURCE: &str = concat!(
    include_str!("cpu.rs"),
    include_str!("network.rs"),
    include_str!("ranks.rs"),
    include_str!("../edge.rs"),
    include_str!("../planar.rs")
);

pub(crate) const MEDIAN_FILTER: Entry = Entry {
    command: command::MEDIAN_FILTER,
    kernels: &["filter/halo", "filter/median", "filter/median_long"],
    cpu_source: CPU_SOURCE,
    gpu_source: concat!(include_str!("gpu.rs"), include_str!("../halo.rs")),
    representatives: || {
        let filter = |size| Ok(Representative::planar(MedianFilter::new(size, Edge::Reflect)?));
        [9, 201].into_iter().map(filter).collect()
    },
    ideal_bytes: once_each,
};

pub(crate) const MEDFILT: Entry = Entry {
    command: command::MEDFILT,
    representatives: || Ok(vec![Representative::planar(MedianFilter::medfilt(9)?)]),
    ..MEDIAN_FILTER
};

impl Problem for MedianFilter {
    fn operation(&self) -> &'static str {
        self.name
    }

    fn class(&self) -> String {
        format!("width{}", self.size)
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self.size, self.edge, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::default()
    }

    /// All select the same values.
    fn rounding(&self, _: &Variant) -> String {
        "exact".into()
    }

    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        [variant.tiles(), vec![16, 256, 1024, self.size]].concat()
    }

    fn work_space(&self, shape: Shape) -> usize {
        ranks::work_space(self.size, shape.samples)
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self.size, shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self.program(), self.size, self.edge, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        gpu::variants(self.size, facts)
    }

    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        gpu::refusal(self.size, facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(self.size, self.edge, gpu, variant, x, y)
    }
}

#[cfg(test)]
mod tests;
