//! Cascades of second-order sections: scipy's `sosfilt`.
//!
//! On the CPU, sections run in transposed direct form II with float64 state. On devices that compute in float32 they run
//! in delta form with compensated states, so that cutoffs down to 0.1 Hz at 30 kHz stay within 1e-6 (Goodall, *Recursive
//! digital filter design using the delta operator*; the state conversion is exact in float64 on the host). Where a state
//! is brought that is close to the steady one of the first sample, and the filter passes little of an offset, they run on
//! the signal less that sample.

#[cfg(feature = "gpu")]
use std::sync::OnceLock;

use crate::design::{Band, Sos, butter, sosfilt_zi};
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

#[cfg(feature = "gpu")]
mod blocks;
pub(crate) mod command;
pub(super) mod cpu;
pub(super) mod form;
#[cfg(feature = "gpu")]
pub(super) mod gpu;
pub(super) mod kernel;
#[cfg(feature = "gpu")]
pub(super) mod precision;
pub(super) mod reference;
mod transition;

/// Filters that have not settled after 2^40 samples are taken not to settle at all.
const SETTLING_BITS: usize = 40;

/// Filters every channel with a cascade of second-order sections, from zero state, on the current runtime.
///
/// `scipy.signal.sosfilt(sos, x)`. `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` of the
/// same shape. After a NaN or an infinity a channel stays NaN, as in scipy. For state carried between chunks, a chosen
/// runtime or device arrays use [`SosFilter`].
///
/// # Errors
/// The runtime in force cannot be used, or there is no memory.
///
/// ```
/// use dspk::design::{Band, butter};
/// use dspk::signal::View;
///
/// let sos = butter(2, Band::Low(10.0), 100.0)?;
/// let step = vec![1.0f32; 64];
/// let y = dspk::ops::filter::sosfilt(&sos, View::new(&step, 1, 64)?)?;
/// assert!((y.row(0)[63] - 1.0).abs() < 1e-4);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn sosfilt<'a>(sos: &Sos, x: impl Into<Source<'a>>) -> Result<Signal> {
    SosFilter::new(sos)?.apply(x)
}

/// A cascade ready to filter any recording, in one piece or in chunks.
///
/// ```
/// use dspk::design::{Band, butter};
/// use dspk::ops::filter::SosFilter;
/// use dspk::signal::View;
///
/// let filter = SosFilter::new(&butter(3, Band::High(1.0), 1000.0)?)?.on("cpu");
/// let x: Vec<f32> = (0..300).map(|n| (n as f32 * 0.1).sin()).collect();
/// let x = View::new(&x, 1, 300)?;
/// let whole = filter.apply(x)?;
/// let mut state = filter.state(1);
/// let first = filter.apply_with(x.window(0, 100), &mut state)?;
/// let rest = filter.apply_with(x.window(100, 200), &mut state)?;
/// assert_eq!(first.row(0)[..], whole.row(0)[..100]);
/// assert_eq!(rest.row(0)[..], whole.row(0)[100..]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SosFilter {
    sos: Sos,
    /// Steady state for a unit step; none where a section has a pole at z = 1.
    step: Option<Vec<[f64; 2]>>,
    /// How accurate float32 would be, once a device has asked.
    #[cfg(feature = "gpu")]
    precision: OnceLock<precision::Precision>,
    runtime: Option<String>,
}

impl SosFilter {
    /// A plan for a cascade. Fails only if the cascade itself is unusable.
    pub fn new(sos: &Sos) -> Result<Self> {
        Ok(SosFilter {
            sos: sos.clone(),
            step: sosfilt_zi(sos).ok(),
            #[cfg(feature = "gpu")]
            precision: OnceLock::new(),
            runtime: None,
        })
    }

    /// A plan for the recursive filter of a transfer function `b, a`: `scipy.signal.lfilter(b, a, x)`, computed as second-order
    /// sections, which keep the accuracy that the polynomials lose.
    ///
    /// # Errors
    /// Empty or non-finite coefficients, or `a[0]` = 0.
    ///
    /// ```
    /// use dspk::signal::View;
    /// let average = dspk::ops::filter::SosFilter::from_ba(&[0.5], &[1.0, -0.5])?;
    /// assert_eq!(average.apply(View::new(&[2.0f32, 0.0, 0.0], 1, 3)?)?.row(0), [1.0, 0.5, 0.25]);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    pub fn from_ba(b: &[f64], a: &[f64]) -> Result<Self> {
        SosFilter::new(&crate::ops::filter::transfer::sections(b, a)?)
    }

    #[cfg(feature = "gpu")]
    pub(super) fn on_device(&self) -> gpu::Filter<'_> {
        let sos = self.sos.sections();
        let precision = *self.precision.get_or_init(|| gpu::precision(sos));
        gpu::Filter { sos, step: self.step.as_deref(), precision }
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one. The name is
    /// looked up when the filter is applied.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The cascade.
    pub fn sos(&self) -> &Sos {
        &self.sos
    }

    /// Filters from zero state.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Filters from zero state into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Filters a chunk, continuing from `state` and leaving in it what the next chunk needs. Chunks of any lengths give
    /// the result of the whole.
    pub fn apply_with<'a>(&self, x: impl Into<Source<'a>>, state: &mut State) -> Result<Signal> {
        execute::host(self, x.into(), Some(state), self.runtime.as_deref())
    }

    /// Filters an array where it lives, from zero state; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// After how many samples nothing that the filter remembers counts for more than `tolerance` of what it counted for, from
    /// the poles; `None` for filters that never forget (unstable ones, integrators) or take more than 2^40 samples.
    ///
    /// This is the margin by which a piece of a recording has to begin earlier than what is wanted of it. It follows from
    /// the lowest frequency and the sharpest edge of the filter, and no fixed time does for all filters.
    ///
    /// ```
    /// use dspk::design::{Band, butter};
    /// use dspk::ops::filter::SosFilter;
    /// let margin = |low| SosFilter::new(&butter(3, Band::Pass(low, 300.0), 30_000.0).unwrap()).unwrap().settling(1e-5);
    /// assert!(margin(1.0).unwrap() > 30_000, "more than a second");
    /// assert!(margin(100.0).unwrap() < 3_000);
    /// ```
    pub fn settling(&self, tolerance: f64) -> Option<usize> {
        let step = transition::Transition::one(&form::Cascade::general(self.sos.sections()));
        step.settling(tolerance, SETTLING_BITS)
    }

    /// The state before the first sample: zero.
    pub fn state(&self, channels: usize) -> State {
        State { channels, values: vec![0.0; channels * self.state_len()] }
    }

    /// The state in which every channel would be after an endless run of the value `level[channel]`: scipy's
    /// `sosfilt_zi(sos) * level`.
    ///
    /// # Errors
    /// A section has a pole at z = 1, so that no steady state exists.
    pub fn steady_state(&self, level: &[f32]) -> Result<State> {
        let step = match &self.step {
            Some(step) => step,
            None => &sosfilt_zi(&self.sos)?,
        };
        let values =
            level.iter().flat_map(|l| step.iter().flatten().map(move |z| z * f64::from(*l))).collect::<Vec<_>>();
        Ok(State { channels: level.len(), values })
    }

    /// A state from scipy's `zi`, which has shape `[sections, channels, 2]` here; `zi` holds it in C order.
    pub fn state_from_zi(&self, zi: &[f64], channels: usize) -> Result<State> {
        let sections = self.sos.sections().len();
        if zi.len() != sections * channels * 2 {
            return Err(Error::shape(format!(
                "zi has {} values, a state of {sections} sections and {channels} channels has shape [{sections}, {channels}, 2]",
                zi.len()
            )));
        }
        let mut state = self.state(channels);
        for (s, section) in zi.chunks_exact(channels.max(1) * 2).enumerate() {
            for (c, pair) in section.chunks_exact(2).enumerate() {
                state.values[(c * sections + s) * 2..][..2].copy_from_slice(pair);
            }
        }
        Ok(state)
    }

    /// The state as scipy's `zf`, shape `[sections, channels, 2]` in C order; empty for a state of another filter.
    pub fn zi(&self, state: &State) -> Vec<f64> {
        let sections = self.sos.sections().len();
        if state.values.len() != state.channels * sections * 2 {
            return Vec::new();
        }
        let mut zi = vec![0.0; state.values.len()];
        for (c, channel) in state.values.chunks_exact(sections * 2).enumerate() {
            for (s, pair) in channel.chunks_exact(2).enumerate() {
                zi[(s * state.channels + c) * 2..][..2].copy_from_slice(pair);
            }
        }
        zi
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["filter/sosfilt", "filter/sosfilt_blocks", "filter/sosfilt_carry", "filter/first_samples"],
    cpu_source: concat!(
        include_str!("cpu.rs"),
        include_str!("form.rs"),
        include_str!("kernel.rs"),
        include_str!("transition.rs")
    ),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("blocks.rs"),
        include_str!("precision.rs"),
        include_str!("transition.rs")
    ),
    representatives: || {
        let filter = SosFilter::new(&butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?)?;
        Ok(vec![Representative::planar(filter)])
    },
    ideal_bytes: once_each,
};

impl Problem for SosFilter {
    fn operation(&self) -> &'static str {
        "sosfilt"
    }

    fn class(&self) -> String {
        format!("sections{}-{}", self.sos.len(), form::Cascade::cheapest(self.sos.sections(), false).form.name())
    }

    fn accepts(&self, dtype: crate::signal::Dtype) -> bool {
        dtype == crate::signal::Dtype::F32
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn state_len(&self) -> usize {
        self.sos.sections().len() * 2
    }

    fn reference(&self, x: Source<'_>, state: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self.sos.sections(), x, state.map(|s| &mut s.values[..])))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { relative: 1e-6, gain: 0.0, float64_tight: true, ..Default::default() }
    }

    /// Tiles and work groups do not touch the recursion. Pieces of channels end where the number of threads wants it, and
    /// begin in states of their own; so do blocks on devices.
    fn rounding(&self, variant: &Variant) -> String {
        match variant.method {
            "time" => format!("time, {} threads", rayon::current_num_threads()),
            "blocks" | "delta-blocks" => format!("{}, {}", variant.method, variant.get("BLOCK")),
            method => method.into(),
        }
    }

    /// Where there are blocks, one of them is carried over, or two or four.
    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        let block = variant.get("BLOCK") as usize;
        [variant.tiles(), vec![block * 2, block * 4]].concat()
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self.sos.sections(), shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, state: Option<&mut State>) -> Result<()> {
        cpu::run(self.sos.sections(), variant, x, y, state.map(|s| &mut s.values[..]))
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        gpu::variants(&self.on_device().precision, facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        let precision = &self.on_device().precision;
        gpu::variants(precision, facts, Shape { channels: 1, samples: 1 })
            .is_empty()
            .then(|| gpu::refusal(facts, precision))
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(&self.on_device(), gpu, variant, x, y)
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
        gpu::run(&self.on_device(), gpu, variant, x, y, state)
    }
}
