//! Rational rates by a polyphase filter: `scipy.signal.resample_poly`.

use std::sync::Arc;

use super::bank::{Bank, MOST_TAPS, rates};
use super::cpu::gcd;
use super::padtype::PadType;
use super::problem::{Count, Polyphase};
use crate::design::{FirwinOptions, Window, firwin};
use crate::error::{Error, Result};
use crate::ops::command::{Command, Param, Params};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{Signal, Source, ViewMut};

/// The filter between the rates: scipy's `window`.
#[derive(Debug, Clone, PartialEq)]
pub enum PolyFilter {
    /// The window of a low-pass of `2 * 10 * max(up, down) + 1` taps that cuts off at half the lower rate.
    Window(Window),
    /// The taps themselves, for the signal at `up` times its rate (`up` and `down` without their common divisor), about whose
    /// middle results are centred; multiplied by `up`.
    Taps(Vec<f64>),
}

/// How [`resample_poly`] computes; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct ResamplePolyOptions {
    /// The filter. Default: a Kaiser window with `beta` 5.
    pub window: PolyFilter,
    /// What channels are continued with beyond their ends, scipy's `padtype` and `cval`. Default: zeros.
    pub padtype: PadType,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for ResamplePolyOptions {
    fn default() -> Self {
        let window = PolyFilter::Window(Window::Kaiser { beta: 5.0 });
        ResamplePolyOptions { window, padtype: PadType::default(), runtime: None }
    }
}

/// Each channel at `up / down` of its sampling rate: `scipy.signal.resample_poly(x, up, down, axis=-1)`.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32`, `[channels, ceil(samples * up / down)]`. Its
/// first sample is at the time of the first sample of `x`. Only results that are kept are computed. A NaN or an
/// infinity reaches the results that depend on it; a level of the channel (`Mean`, `Median`, `Maximum`, `Minimum`) that is not
/// finite makes the channel NaN.
///
/// # Errors
/// `up` or `down` of 0, or so large that the filter would have more than 2^25 taps; taps that are not finite in float32,
/// or none; channels without samples; a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::resample::{ResamplePolyOptions, resample_poly};
/// use dspk::signal::View;
/// // 3000 Hz from 30,000 Hz: what the new rate cannot hold is filtered out.
/// let x: Vec<f32> = (0..3000).map(|n| (n as f32 * 0.01).sin()).collect();
/// let y = resample_poly(View::new(&x, 1, 3000)?, 1, 10, &ResamplePolyOptions::default())?;
/// assert_eq!(y.samples(), 300);
/// assert!((y.row(0)[150] - x[1500]).abs() < 1e-3);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn resample_poly<'a>(
    x: impl Into<Source<'a>>,
    up: usize,
    down: usize,
    options: &ResamplePolyOptions,
) -> Result<Signal> {
    ResamplePoly::new(up, down, options)?.apply(x)
}

/// A change of the sampling rate ready for any recording. In chunks: [`super::Resampler`].
///
/// ```
/// use dspk::ops::resample::{PadType, ResamplePoly, ResamplePolyOptions};
/// use dspk::signal::View;
/// let options = ResamplePolyOptions { padtype: PadType::Edge, ..Default::default() };
/// let plan = ResamplePoly::new(2, 4, &options)?.on("cpu");
/// assert_eq!((plan.up(), plan.down(), plan.taps().len()), (1, 2, 41));
/// let y = plan.apply(View::new(&[5.0f32; 7], 1, 7)?)?;
/// assert!(y.row(0).iter().all(|v| (v - 5.0).abs() < 1e-5) && y.samples() == 4);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ResamplePoly {
    problem: Polyphase,
    taps: Vec<f64>,
    runtime: Option<String>,
}

impl ResamplePoly {
    /// To `up / down` of the rate, see [`resample_poly`].
    ///
    /// # Errors
    /// Those of [`resample_poly`] that do not concern a recording.
    pub fn new(up: usize, down: usize, options: &ResamplePolyOptions) -> Result<Self> {
        Self::of("resample_poly", up, down, options)
    }

    /// [`ResamplePoly::new`] for an operation of this name.
    pub(super) fn of(operation: &'static str, up: usize, down: usize, options: &ResamplePolyOptions) -> Result<Self> {
        rates(up, down)?;
        options.padtype.check()?;
        let common = gcd(up, down);
        let (up, down) = (up / common, down / common);
        let taps = match &options.window {
            _ if up == down => vec![1.0],
            PolyFilter::Taps(taps) => taps.iter().map(|t| t * up as f64).collect(),
            PolyFilter::Window(window) => design(up, down, window)?,
        };
        let bank = Arc::new(Bank::new(&taps, up, down)?);
        let offset = (taps.len() as u64 - 1) / 2;
        let problem = Polyphase { operation, bank, offset, count: Count::SameTime, padtype: options.padtype };
        Ok(ResamplePoly { problem, taps, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// The factor by which the rate is raised, without the divisor that it had in common with `down`.
    pub fn up(&self) -> usize {
        self.problem.bank.up
    }

    /// The factor by which it is lowered.
    pub fn down(&self) -> usize {
        self.problem.bank.down
    }

    /// The filter, at the raised rate; a single 1 where the rate stays.
    pub fn taps(&self) -> &[f64] {
        &self.taps
    }

    /// Results of a channel of `samples`.
    pub fn count(&self, samples: usize) -> usize {
        self.problem.count(samples)
    }

    /// As [`resample_poly`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(&self.problem, x.into(), None, self.runtime.as_deref())
    }

    /// As [`resample_poly`], into an array of the result's shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(&self.problem, x.into(), y, None, self.runtime.as_deref())
    }

    /// As [`resample_poly`], where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }

    pub(super) fn problem(&self) -> &Polyphase {
        &self.problem
    }

    pub(super) fn runtime(&self) -> Option<&str> {
        self.runtime.as_deref()
    }
}

/// scipy's filter: cut off at half the lower rate, ten zero crossings on each side.
fn design(up: usize, down: usize, window: &Window) -> Result<Vec<f64>> {
    let rate = up.max(down);
    let Some(taps) = rate.checked_mul(20).map(|n| n.saturating_add(1)).filter(|n| *n <= MOST_TAPS) else {
        return Err(Error::invalid(format!(
            "for a rate of {up}/{down} the filter would need 20 * {rate} taps, more than {MOST_TAPS}; use a ratio of smaller numbers or pass taps"
        )));
    };
    let options = FirwinOptions { window: window.clone(), ..Default::default() };
    let mut h = firwin(taps, &[1.0 / rate as f64], 2.0, &options)?;
    h.iter_mut().for_each(|h| *h *= up as f64);
    Ok(h)
}

pub(crate) const ENTRY: Entry = Entry {
    command: COMMAND,
    #[cfg(feature = "gpu")]
    kernels: super::gpu::KERNELS,
    #[cfg(not(feature = "gpu"))]
    kernels: &[],
    cpu_source: super::CPU_SOURCE,
    gpu_source: super::GPU_SOURCE,
    representatives: || {
        let plan = |up, down, padtype| {
            let options = ResamplePolyOptions { padtype, ..Default::default() };
            Ok(Representative::planar(ResamplePoly::new(up, down, &options)?.problem))
        };
        let zeros = PadType::default();
        [(1, 3, zeros), (3, 2, PadType::Line), (147, 160, PadType::Mean)]
            .map(|(u, d, p)| plan(u, d, p))
            .into_iter()
            .collect()
    },
    ideal_bytes: once_each,
};

const COMMAND: Command = Command {
    name: "resample_poly",
    family: "resample",
    summary: "another sampling rate, a rational multiple, by a polyphase filter",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("up", "factor by which the rate is raised, 1 or more"),
        Param::required("down", "factor by which it is lowered, 1 or more"),
        Param::optional(
            "window",
            "[\"kaiser\", 5.0]",
            "window of the low-pass: a name, or a list of its name and parameters; or its taps, a list of numbers or a .npy file",
        ),
        Param::optional("padtype", "\"constant\"", PADTYPES),
        Param::optional("cval", "null", "the value beyond the ends, with padtype constant; null: 0"),
    ],
    run: |request| {
        let params = &request.params;
        let (up, down) = (params.required("up", Params::usize)?, params.required("down", Params::usize)?);
        let mut options = ResamplePolyOptions { runtime: request.runtime.clone(), ..Default::default() };
        if params.is_array("window") {
            options.window = PolyFilter::Taps(params.required("window", Params::coefficients)?);
        } else if let Some((window, form)) = params.window("window")? {
            if form == Some(true) {
                return Err(Error::invalid("the window of a filter is symmetric; leave out \"_periodic\""));
            }
            options.window = PolyFilter::Window(window);
        }
        options.padtype = padtype(params, "padtype")?;
        let x = request.signal(0)?;
        Ok(vec![("y", x.result(&resample_poly(x.source, up, down, &options)?))])
    },
};

const PADTYPES: &str = "what channels go on with: constant, line, mean, median, maximum, minimum, symmetric, reflect, edge, wrap, smooth, antisymmetric, antireflect";

/// The padding of this parameter, with `cval`, which belongs to constants alone.
pub(super) fn padtype(params: &Params, name: &str) -> Result<PadType> {
    let chosen = params.choice(name, &PadType::ALL.map(PadType::name))?;
    let chosen = PadType::ALL.into_iter().find(|p| Some(p.name()) == chosen).unwrap_or_default();
    match (params.f64("cval")?, chosen) {
        (None, other) => Ok(other),
        (Some(cval), PadType::Constant(_)) => Ok(PadType::Constant(cval)),
        (Some(_), other) => Err(Error::invalid(format!(
            "parameter 'cval' has no effect with {name} \"{}\"; leave it out, or pass {name} \"constant\"",
            other.name()
        ))),
    }
}
