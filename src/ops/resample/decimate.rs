//! Every `q`-th sample after a low-pass: `scipy.signal.decimate`.

use std::sync::Arc;

use rayon::prelude::*;

use super::bank::{Bank, resampled};
use super::padtype::PadType;
use super::problem::{Count, Polyphase};
use super::resample_poly::{PolyFilter, ResamplePoly, ResamplePolyOptions};
use crate::design::{Band, FirwinOptions, cheby1, firwin};
use crate::error::{Error, Result};
use crate::ops::command::{Command, Param, Params};
use crate::ops::execute;
use crate::ops::filter::{SosFiltFilt, SosFilter};
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command as Recorded, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

/// The low-pass of [`decimate`]: scipy's `ftype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimateFilter {
    /// Chebyshev, with ripples of 0.05 dB below 0.8 of the new half rate.
    #[default]
    Iir,
    /// A Hamming window that cuts off at the new half rate.
    Fir,
}

/// How [`decimate`] computes; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct DecimateOptions {
    /// Order of the filter. Default: 8 for `Iir`, `20 * q` for `Fir`.
    pub n: Option<usize>,
    /// The filter. Default: `Iir`.
    pub ftype: DecimateFilter,
    /// Without delay: forward and backward with `Iir`, centred with `Fir`. Default: true.
    pub zero_phase: bool,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for DecimateOptions {
    fn default() -> Self {
        DecimateOptions { n: None, ftype: DecimateFilter::default(), zero_phase: true, runtime: None }
    }
}

/// Every `q`-th sample of each channel after a low-pass: `scipy.signal.decimate(x, q, axis=-1)`. For `q` above 13 with
/// `Iir`, decimate in several steps.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32`, `[channels, ceil(samples / q)]`.
///
/// # Errors
/// `q` of 0; a filter that cannot be designed (a FIR low-pass for `q` of 1, an order of 0); with `Iir` and `zero_phase`
/// channels shorter than the filter needs at its ends; channels without samples; a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::resample::{DecimateOptions, decimate};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| (n as f32 * 0.02).sin()).collect();
/// let y = decimate(View::new(&x, 1, 1000)?, 4, &DecimateOptions::default())?;
/// assert_eq!(y.samples(), 250);
/// assert!((y.row(0)[100] - x[400]).abs() < 0.02);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn decimate<'a>(x: impl Into<Source<'a>>, q: usize, options: &DecimateOptions) -> Result<Signal> {
    Decimate::new(q, options)?.apply(x)
}

/// Decimation ready for any recording.
///
/// ```
/// use dspk::ops::resample::{Decimate, DecimateFilter, DecimateOptions};
/// use dspk::signal::View;
/// let options = DecimateOptions { ftype: DecimateFilter::Fir, ..Default::default() };
/// let plan = Decimate::new(10, &options)?.on("cpu");
/// let y = plan.apply(View::new(&[1.0f32; 2000], 2, 1000)?)?;
/// assert_eq!((y.channels(), y.samples()), (2, 100));
/// assert!((y.row(1)[50] - 1.0).abs() < 1e-5);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decimate {
    filter: Filter,
    runtime: Option<String>,
}

#[derive(Debug, Clone)]
enum Filter {
    Fir(Polyphase),
    Causal(SosFilter, usize),
    ZeroPhase(Box<SosFiltFilt>, usize),
}

impl Decimate {
    /// To one of `q` samples, see [`decimate`].
    ///
    /// # Errors
    /// Those of [`decimate`] that do not concern a recording.
    pub fn new(q: usize, options: &DecimateOptions) -> Result<Self> {
        if q == 0 {
            return Err(Error::invalid("q is 0; keep every q-th sample, with q of 1 or more"));
        }
        let filter = match options.ftype {
            DecimateFilter::Fir => Filter::Fir(fir(q, options)?),
            DecimateFilter::Iir => {
                let sos = cheby1(options.n.unwrap_or(8), 0.05, Band::Low(0.8 / q as f64), 2.0)
                    .map_err(|e| e.context(format!("the low-pass to decimate by {q}")))?;
                match options.zero_phase {
                    true => Filter::ZeroPhase(Box::new(SosFiltFilt::new(&sos)?), q),
                    false => Filter::Causal(SosFilter::new(&sos)?, q),
                }
            }
        };
        Ok(Decimate { filter, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`decimate`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// As [`decimate`], into an array of the result's shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// As [`decimate`], where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// The filter as a problem of its own, and which of its results are kept.
    fn inner(&self) -> (&dyn Problem, usize) {
        match &self.filter {
            Filter::Fir(problem) => (problem, 1),
            Filter::Causal(filter, q) => (filter, *q),
            Filter::ZeroPhase(filter, q) => (&**filter, *q),
        }
    }
}

/// A windowed low-pass, centred, or whole and cut off where the samples end.
fn fir(q: usize, options: &DecimateOptions) -> Result<Polyphase> {
    let order = match options.n {
        Some(n) => n,
        None => q.saturating_mul(20),
    };
    let taps = match order < super::bank::MOST_TAPS {
        true => firwin(order + 1, &[1.0 / q as f64], 2.0, &FirwinOptions::default()),
        false => Err(Error::invalid(format!("its order of {order} is more than is possible"))),
    }
    .map_err(|e| e.context(format!("the low-pass to decimate by {q}")))?;
    if options.zero_phase {
        let options = ResamplePolyOptions { window: PolyFilter::Taps(taps), ..Default::default() };
        return Ok(ResamplePoly::of("decimate", 1, q, &options)?.problem().clone());
    }
    let bank = Arc::new(Bank::new(&taps, 1, q)?);
    Ok(Polyphase { operation: "decimate", bank, offset: 0, count: Count::SameTime, padtype: PadType::default() })
}

impl Problem for Decimate {
    fn operation(&self) -> &'static str {
        "decimate"
    }

    fn class(&self) -> String {
        let (inner, _) = self.inner();
        match &self.filter {
            Filter::Fir(_) => format!("fir-{}", inner.class()),
            Filter::Causal(_, q) => format!("q{q}-iir-{}", inner.class()),
            Filter::ZeroPhase(_, q) => format!("q{q}-zero-{}", inner.class()),
        }
    }

    fn check(&self, shape: Shape) -> Result<()> {
        if shape.samples == 0 && shape.channels > 0 {
            return Err(Error::shape("a channel without samples cannot be decimated; pass at least one sample"));
        }
        self.inner().0.check(shape)
    }

    fn nearest(&self, shape: Shape) -> Shape {
        self.inner().0.nearest(shape)
    }

    fn output(&self, input: Shape) -> Shape {
        let (inner, q) = self.inner();
        let filtered = inner.output(input);
        Shape { samples: resampled(filtered.samples, 1, q), ..filtered }
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        let (inner, q) = self.inner();
        let filtered = inner.reference(x, None)?;
        let samples = inner.output(execute::shape_of(&x)).samples.max(1);
        Ok(filtered.chunks(samples).flat_map(|row| row.iter().copied().step_by(q)).collect())
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn whole_channels(&self) -> bool {
        self.inner().0.whole_channels()
    }

    fn tolerance(&self) -> Tolerance {
        self.inner().0.tolerance()
    }

    fn rounding(&self, variant: &Variant) -> String {
        self.inner().0.rounding(variant)
    }

    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        self.inner().0.tiles(variant)
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        self.inner().0.cpu_variants(shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        let (inner, q) = self.inner();
        if q == 1 {
            return inner.run_cpu(variant, x, y, None);
        }
        let mut filtered = Signal::dirty(x.channels(), x.samples())?;
        inner.run_cpu(variant, x, filtered.view_mut(), None)?;
        let (channels, count, pitch) = (y.channels(), y.samples(), y.pitch().max(y.samples()));
        y.into_data().par_chunks_mut(pitch).take(channels).enumerate().for_each(|(channel, y)| {
            let kept = filtered.row(channel).iter().step_by(q);
            y[..count].iter_mut().zip(kept).for_each(|(y, v)| *y = *v);
        });
        Ok(())
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        self.inner().0.gpu_variants(facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        self.inner().0.gpu_refusal(facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Recorded>> {
        let (inner, q) = self.inner();
        if q == 1 {
            return inner.record(gpu, variant, x, y);
        }
        super::gpu::record_every(inner, q, gpu, variant, x, y)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: COMMAND,
    #[cfg(feature = "gpu")]
    kernels: &[
        "filter/halo",
        "filter/edges",
        "filter/steady",
        "filter/reverse",
        "filter/sosfilt",
        "resample/polyphase",
        "resample/phases",
        "resample/pick",
    ],
    #[cfg(not(feature = "gpu"))]
    kernels: &[],
    cpu_source: concat!(
        include_str!("decimate.rs"),
        include_str!("bank.rs"),
        include_str!("cpu.rs"),
        include_str!("kernel.rs"),
        include_str!("../filter/sosfiltfilt/cpu.rs"),
        include_str!("../filter/sosfiltfilt/extension.rs"),
        include_str!("../filter/sosfilt/cpu.rs"),
        include_str!("../filter/sosfilt/form.rs"),
        include_str!("../filter/sosfilt/kernel.rs"),
        include_str!("../filter/sosfilt/transition.rs")
    ),
    gpu_source: concat!(
        include_str!("decimate.rs"),
        include_str!("bank.rs"),
        include_str!("gpu.rs"),
        include_str!("../filter/sosfiltfilt/gpu.rs"),
        include_str!("../filter/sosfilt/gpu.rs"),
        include_str!("../filter/sosfilt/precision.rs")
    ),
    representatives: || {
        let plan = |q, ftype, zero_phase| {
            let options = DecimateOptions { ftype, zero_phase, ..Default::default() };
            Ok(Representative::planar(Decimate::new(q, &options)?))
        };
        use DecimateFilter::{Fir, Iir};
        [plan(4, Iir, true), plan(4, Iir, false), plan(10, Fir, true)].into_iter().collect()
    },
    ideal_bytes: once_each,
};

const COMMAND: Command = Command {
    name: "decimate",
    family: "resample",
    summary: "every q-th sample after a low-pass",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("q", "the factor by which the rate is lowered, 1 or more"),
        Param::optional("n", "null", "order of the filter; null: 8 for iir, 20 q for fir"),
        Param::optional("ftype", "\"iir\"", "the low-pass: iir (Chebyshev) or fir (Hamming window)"),
        Param::optional("zero_phase", "true", "without delay"),
    ],
    run: |request| {
        let params = &request.params;
        let options = DecimateOptions {
            n: params.usize("n")?,
            ftype: match params.choice("ftype", &["iir", "fir"])? {
                Some("fir") => DecimateFilter::Fir,
                _ => DecimateFilter::Iir,
            },
            zero_phase: params.bool("zero_phase")?.unwrap_or(true),
            runtime: request.runtime.clone(),
        };
        let q = params.required("q", Params::usize)?;
        let x = request.signal(0)?;
        Ok(vec![("y", x.result(&decimate(x.source, q, &options)?))])
    },
};
