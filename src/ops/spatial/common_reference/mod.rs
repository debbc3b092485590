//! The common reference: at every sample the mean or the median over channels, subtracted from the channels.
//!
//! Medians are exact on every runtime: a bracketed secant search whose bounds snap to data values, with bisection on
//! order-preserving integer keys as its guaranteed finish. Means accumulate in float64 on the CPU and compensated on
//! devices.

use crate::error::Result;
use crate::ops::execute;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::registry::{Entry, Representative, once_each};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Signal, Source, ViewMut};

mod block;
pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod plan;
mod reference;

pub use plan::{NanPolicy, Operator, Part, Plan};

/// What is subtracted from what.
#[derive(Debug, Clone, Default)]
pub struct CommonReferenceOptions {
    /// Mean or median; median by default.
    pub operator: Operator,
    /// Disjoint lists of channels, each referenced within itself; channels in none stay as they are. Default: one group
    /// of all channels.
    pub groups: Option<Vec<Vec<usize>>>,
    /// Local reference: channel `k` by the channels `j` with `r0 <= |j - k| <= r1`. Not together with `groups`.
    pub radius: Option<(usize, usize)>,
    /// Channels left out of every reference (bad ones), but referenced like the others.
    pub exclude: Vec<usize>,
    /// What a NaN among the channels does; propagates by default.
    pub nan_policy: NanPolicy,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

/// Subtracts the common reference of each sample from the channels.
///
/// `x - numpy.mean(x, 0)` or `x - numpy.median(x, 0)` (`nanmean`, `nanmedian` with [`NanPolicy::Omit`]), within groups,
/// in a local neighbourhood, or without bad channels. `x` is any `[channels, samples]` array of `f32` or `i16` (widened
/// exactly, so nothing wraps); the result is `f32` of the same shape. With [`NanPolicy::Propagate`] a NaN in a column
/// makes the column NaN.
///
/// # Errors
/// A channel out of range or in two groups, a group or neighbourhood without a channel left to refer to, `groups`
/// together with `radius`, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spatial::{CommonReferenceOptions, Operator, common_reference};
/// use dspk::signal::View;
/// let x = View::new(&[1.0f32, 5.0, 2.0, 6.0, 9.0, 7.0], 3, 2)?;
/// let y = common_reference(x, &CommonReferenceOptions { operator: Operator::Median, ..Default::default() })?;
/// assert_eq!(y.to_vec(), [-1.0, -1.0, 0.0, 0.0, 7.0, 1.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn common_reference<'a>(x: impl Into<Source<'a>>, options: &CommonReferenceOptions) -> Result<Signal> {
    CommonReference::new(options)?.apply(x)
}

/// A common reference ready for any recording.
#[derive(Debug, Clone)]
pub struct CommonReference {
    plan: Plan,
    runtime: Option<String>,
}

impl CommonReference {
    /// Checks the options, as far as that is possible without knowing the number of channels.
    pub fn new(options: &CommonReferenceOptions) -> Result<Self> {
        let plan = Plan::new(
            options.operator,
            options.groups.clone(),
            options.radius,
            options.exclude.clone(),
            options.nan_policy,
        )?;
        Ok(CommonReference { plan, runtime: options.runtime.clone() })
    }

    /// Subtracts the reference.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Subtracts the reference, into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Subtracts the reference where the array lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["spatial/median_reference", "spatial/mean_reference"],
    cpu_source: concat!(include_str!("cpu.rs"), include_str!("block.rs"), include_str!("plan.rs")),
    gpu_source: concat!(include_str!("gpu.rs"), include_str!("plan.rs")),
    representatives: || {
        let with = |operator| CommonReference::new(&CommonReferenceOptions { operator, ..Default::default() });
        Ok(vec![Representative::planar(with(Operator::Median)?), Representative::planar(with(Operator::Mean)?)])
    },
    ideal_bytes: once_each,
};

impl Problem for CommonReference {
    fn operation(&self) -> &'static str {
        "common_reference"
    }

    fn class(&self) -> String {
        self.plan.class()
    }

    fn check(&self, shape: Shape) -> Result<()> {
        self.plan.resolve(shape.channels).map(|_| ())
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        reference::run(&self.plan, x)
    }

    fn locality(&self) -> Locality {
        Locality::Sample
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { relative: 3e-7, gain: 1.0, float64_tight: true, ..Default::default() }
    }

    /// A sample is summed over the channels in order, whatever the tile; medians are values of the data or the mean of
    /// two. The two searches on the CPU may differ in the sign of a zero.
    fn rounding(&self, variant: &Variant) -> String {
        variant.method.into()
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(&self.plan, shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(&self.plan, variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        gpu::variants(&self.plan, facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(&self.plan, gpu, variant, x, y)
    }
}
