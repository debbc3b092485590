//! Raise the rate, filter, lower the rate: `scipy.signal.upfirdn`.

use std::sync::Arc;

use super::bank::Bank;
use super::padtype::PadType;
use super::problem::{Count, Polyphase};
use super::resample_poly::padtype;
use crate::error::{Error, Result};
use crate::ops::command::{Command, Param, Params};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::signal::{Signal, Source, ViewMut};

/// How [`upfirdn`] computes; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct UpfirdnOptions {
    /// The factor by which the rate is raised. Default: 1.
    pub up: usize,
    /// The factor by which it is lowered. Default: 1.
    pub down: usize,
    /// What channels are continued with beyond their ends, scipy's `mode` and `cval`: any but the four levels. Default: zeros.
    pub mode: PadType,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for UpfirdnOptions {
    fn default() -> Self {
        UpfirdnOptions { up: 1, down: 1, mode: PadType::default(), runtime: None }
    }
}

/// Puts `up - 1` zeros after each sample, filters with the taps `h`, and keeps every `down`-th value, for each channel:
/// `scipy.signal.upfirdn(h, x, up, down, axis=-1)`.
///
/// `x` is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` and has
/// `((samples - 1) * up + h.len() - 1) / down + 1` samples. Neither the zeros nor what is dropped is computed.
///
/// # Errors
/// No taps, or one that is not finite in float32; `up` or `down` of 0; a mode that `upfirdn` does not have; channels
/// without samples; a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::resample::{UpfirdnOptions, upfirdn};
/// use dspk::signal::View;
/// // Straight lines between the samples.
/// let options = UpfirdnOptions { up: 2, ..Default::default() };
/// let y = upfirdn(&[0.5, 1.0, 0.5], View::new(&[1.0f32, 3.0, 5.0], 1, 3)?, &options)?;
/// assert_eq!(y.row(0), [0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 2.5]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn upfirdn<'a>(h: &[f64], x: impl Into<Source<'a>>, options: &UpfirdnOptions) -> Result<Signal> {
    Upfirdn::new(h, options)?.apply(x)
}

/// [`upfirdn`] ready for any recording.
///
/// ```
/// use dspk::ops::resample::{PadType, Upfirdn, UpfirdnOptions};
/// use dspk::signal::View;
/// let options = UpfirdnOptions { down: 2, mode: PadType::Edge, ..Default::default() };
/// let plan = Upfirdn::new(&[0.5, 0.5], &options)?.on("cpu");
/// let y = plan.apply(View::new(&[1.0f32, 3.0, 5.0, 7.0], 1, 4)?)?;
/// assert_eq!(y.row(0), [1.0, 4.0, 7.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Upfirdn {
    problem: Polyphase,
    runtime: Option<String>,
}

impl Upfirdn {
    /// A plan for these taps, see [`upfirdn`].
    ///
    /// # Errors
    /// Those of [`upfirdn`] that do not concern a recording.
    pub fn new(h: &[f64], options: &UpfirdnOptions) -> Result<Self> {
        if options.mode.is_level() {
            return Err(Error::invalid(format!(
                "upfirdn has no mode \"{}\"; resample_poly has, as padtype",
                options.mode.name()
            )));
        }
        options.mode.check()?;
        let bank = Arc::new(Bank::new(h, options.up, options.down)?);
        let problem = Polyphase { operation: "upfirdn", bank, offset: 0, count: Count::Full, padtype: options.mode };
        Ok(Upfirdn { problem, runtime: options.runtime.clone() })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// Results of a channel of `samples`.
    pub fn count(&self, samples: usize) -> usize {
        self.problem.count(samples)
    }

    /// As [`upfirdn`].
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(&self.problem, x.into(), None, self.runtime.as_deref())
    }

    /// As [`upfirdn`], into an array of the result's shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(&self.problem, x.into(), y, None, self.runtime.as_deref())
    }

    /// As [`upfirdn`], where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(&self.problem, x, None)
    }
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
        let taps: Vec<f64> = (0..40).map(|k| (0.2 * f64::from(k)).cos()).collect();
        let options = UpfirdnOptions { up: 2, down: 5, mode: PadType::Antireflect, ..Default::default() };
        Ok(vec![Representative::planar(Upfirdn::new(&taps, &options)?.problem)])
    },
    ideal_bytes: once_each,
};

const COMMAND: Command = Command {
    name: "upfirdn",
    family: "resample",
    summary: "raise the rate by zeros, filter, lower the rate",
    inputs: &["x [C, N]"],
    params: &[
        Param::required("h", "taps of the filter, a list or a .npy file"),
        Param::optional("up", "1", "factor by which the rate is raised"),
        Param::optional("down", "1", "factor by which it is lowered"),
        Param::optional("mode", "\"constant\"", MODES),
        Param::optional("cval", "0", "the value beyond the ends, with mode constant"),
    ],
    run: |request| {
        let params = &request.params;
        let options = UpfirdnOptions {
            up: params.usize("up")?.unwrap_or(1),
            down: params.usize("down")?.unwrap_or(1),
            mode: padtype(params, "mode")?,
            runtime: request.runtime.clone(),
        };
        let h = params.required("h", Params::coefficients)?;
        let x = request.signal(0)?;
        Ok(vec![("y", x.result(&upfirdn(&h, x.source, &options)?))])
    },
};

const MODES: &str =
    "what channels go on with: constant, line, symmetric, reflect, edge, wrap, smooth, antisymmetric, antireflect";

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The problem of a plan.
    pub(in super::super) fn problem(h: &[f64], up: usize, down: usize, mode: PadType) -> Polyphase {
        Upfirdn::new(h, &UpfirdnOptions { up, down, mode, runtime: None }).unwrap().problem
    }
}
