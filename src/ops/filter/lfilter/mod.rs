//! Finite impulse response filters: scipy's `lfilter` with a denominator of 1. Short ones are sums of products, long ones
//! on the CPU go block by block through the transforms of [`super::convolve`].

use std::f64::consts::PI;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::filter::convolve::{self, spectra::Kept};
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
pub(in crate::ops) mod direct;
#[cfg(feature = "gpu")]
pub(super) mod gpu;
mod kernel;
pub(in crate::ops) mod plan;
mod reference;

pub(in crate::ops::filter) use cpu::{direct_variants, run_ahead};

/// Filters every channel with an FIR filter, from zero state, on the current runtime.
///
/// `scipy.signal.lfilter(taps, 1, x)`: `y[n] = sum over k of taps[k] * x[n - k]`. `x` is any `[channels, samples]` array
/// of `f32` or `i16`; the result is `f32` of the same shape. A NaN or an infinity reaches exactly the `taps.len()`
/// results that depend on it. Samples below 2^-100 (8e-31) count as zero.
///
/// # Errors
/// No taps, a tap that is not finite, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::signal::View;
/// let y = dspk::ops::filter::lfilter(&[0.5, 0.5], View::new(&[2.0f32, 4.0, 8.0], 1, 3)?)?;
/// assert_eq!(y.row(0), [1.0, 3.0, 6.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn lfilter<'a>(taps: &[f64], x: impl Into<Source<'a>>) -> Result<Signal> {
    FirFilter::new(taps)?.apply(x)
}

/// An FIR filter ready for any recording, in one piece or in chunks.
///
/// ```
/// use dspk::ops::filter::FirFilter;
/// use dspk::signal::View;
///
/// let filter = FirFilter::new(&[0.25, 0.5, 0.25])?;
/// let mut state = filter.state(1);
/// let a = filter.apply_with(View::new(&[4.0f32, 0.0], 1, 2)?, &mut state)?;
/// let b = filter.apply_with(View::new(&[0.0f32, 0.0], 1, 2)?, &mut state)?;
/// assert_eq!((a.row(0), b.row(0)), (&[1.0, 2.0][..], &[1.0, 0.0][..]));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FirFilter {
    taps: Vec<f64>,
    /// Spectra of the taps that have been needed.
    spectra: Arc<Kept>,
    runtime: Option<String>,
}

impl FirFilter {
    /// A plan for these taps (at least one, all finite), in the order of scipy's `b`.
    pub fn new(taps: &[f64]) -> Result<Self> {
        if taps.is_empty() {
            return Err(Error::invalid("an FIR filter needs at least one tap, got none; pass the impulse response"));
        }
        if let Some(k) = taps.iter().position(|t| !(*t as f32).is_finite()) {
            return Err(Error::invalid(format!("tap {k} is {}; every tap must be finite in float32", taps[k])));
        }
        Ok(FirFilter { taps: taps.to_vec(), spectra: Arc::default(), runtime: None })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The impulse response.
    pub fn taps(&self) -> &[f64] {
        &self.taps
    }

    /// Filters from zero state.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Filters from zero state into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Filters a chunk, continuing from `state` and leaving in it what the next chunk needs.
    pub fn apply_with<'a>(&self, x: impl Into<Source<'a>>, state: &mut State) -> Result<Signal> {
        execute::host(self, x.into(), Some(state), self.runtime.as_deref())
    }

    /// Filters an array where it lives, from zero state; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// The state before the first sample: zero.
    pub fn state(&self, channels: usize) -> State {
        State { channels, values: vec![0.0; channels * self.state_len()] }
    }

    /// A state from scipy's `zi`, shape `[channels, taps - 1]` in C order.
    pub fn state_from_zi(&self, zi: &[f64], channels: usize) -> Result<State> {
        if zi.len() != channels * self.state_len() {
            return Err(Error::shape(format!(
                "zi has {} values, a state of {} taps and {channels} channels has shape [{channels}, {}]",
                zi.len(),
                self.taps.len(),
                self.state_len()
            )));
        }
        Ok(State { channels, values: zi.to_vec() })
    }

    /// The state as scipy's `zf`, shape `[channels, taps - 1]` in C order.
    pub fn zi<'s>(&self, state: &'s State) -> &'s [f64] {
        &state.values
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["filter/fir", "filter/fir_history"],
    cpu_source: concat!(
        include_str!("cpu.rs"),
        include_str!("direct.rs"),
        include_str!("kernel.rs"),
        include_str!("plan.rs"),
        include_str!("../convolve/blocks.rs"),
        include_str!("../convolve/overlap.rs"),
        include_str!("../convolve/repair.rs"),
        include_str!("../convolve/spectra.rs"),
        include_str!("../../spectral/fft/lanes/mod.rs"),
        include_str!("../../spectral/fft/lanes/butterflies.rs"),
    ),
    gpu_source: include_str!("gpu.rs"),
    representatives: || {
        // A windowed sinc; any 63 taps cost the same.
        let taps: Vec<f64> = (0..63)
            .map(|k| {
                let t = f64::from(k) - 31.0;
                let sinc = if t == 0.0 { 0.4 } else { (0.4 * PI * t).sin() / (PI * t) };
                sinc * (0.54 + 0.46 * (PI * t / 31.0).cos())
            })
            .collect();
        Ok(vec![Representative::planar(FirFilter::new(&taps)?)])
    },
    ideal_bytes: once_each,
};

impl Problem for FirFilter {
    fn operation(&self) -> &'static str {
        "lfilter"
    }

    fn class(&self) -> String {
        format!("taps{}", self.taps.len().next_power_of_two())
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn state_len(&self) -> usize {
        self.taps.len() - 1
    }

    fn reference(&self, x: Source<'_>, state: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(&self.taps, x, state.map(|s| &mut s.values[..])))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn memory(&self) -> Option<usize> {
        Some(self.taps.len() - 1)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance {
            relative: 1e-6,
            gain: self.taps.iter().map(|t| t.abs()).sum(),
            float64_tight: false,
            ..Default::default()
        }
    }

    /// In the direct form on the CPU every output adds the same products in the same order, however the rows are cut. On a device long
    /// responses keep their rounding errors from block to block of `R` taps.
    fn rounding(&self, variant: &Variant) -> String {
        #[cfg(feature = "gpu")]
        if variant.method == "direct" && gpu::compensates(&self.taps) {
            return format!("direct R={}", variant.get("R"));
        }
        match variant.method {
            "direct" => "direct".into(),
            "overlap" => variant.name.clone(),
            _ => "lanes".into(),
        }
    }

    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        match variant.method {
            "overlap" => convolve::cpu::tiles(variant, self.taps.len()),
            _ => variant.tiles(),
        }
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self.taps.len(), shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, state: Option<&mut State>) -> Result<()> {
        let zi = state.map(|s| &mut s.values[..]);
        match variant.method {
            "overlap" => cpu::run_overlapped(&self.taps, &self.spectra, variant, x, y, zi),
            _ => cpu::run(&self.taps, variant, x, y, zi),
        }
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        gpu::variants(&self.taps, facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(&self.taps, gpu, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn run_gpu(
        &self,
        gpu: &dyn Gpu,
        variant: &Variant,
        x: &DeviceArray,
        y: &DeviceArray,
        state: Option<&mut State>,
    ) -> Result<()> {
        gpu::run(&self.taps, gpu, variant, x, y, state)
    }
}
