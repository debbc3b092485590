//! What an operation gives the rest of the crate: one [`Problem`], from which execution on any runtime, the tuner, the
//! test matrix, the benches and the command line follow.

#[cfg(feature = "gpu")]
use crate::error::Error;
use crate::error::Result;
use crate::kernel::Settings;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Dtype, Source, ViewMut};

/// Channels and samples of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows.
    pub channels: usize,
    /// Length of a row.
    pub samples: usize,
}

/// One way to compute a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Which kernel or algorithm, and its settings: `direct R=16 WG=64`.
    pub name: String,
    /// The kernel or algorithm: `direct`.
    pub method: &'static str,
    /// Its tunables.
    pub settings: Settings,
}

impl Variant {
    /// A variant named after its method and settings.
    pub fn new(method: &'static str, settings: &[(&'static str, u32)]) -> Self {
        let mut name = method.to_string();
        settings.iter().for_each(|(k, v)| name.push_str(&format!(" {k}={v}")));
        Variant { name, method, settings: settings.iter().copied().collect() }
    }

    /// Lengths of tiles that the settings suggest: each of them, the products of two, of all, and of all in vectors of
    /// four.
    pub fn tiles(&self) -> Vec<usize> {
        let values: Vec<usize> = self.settings.values().map(|v| *v as usize).collect();
        let pairs =
            values.iter().enumerate().flat_map(|(i, a)| values[i + 1..].iter().map(move |b| a.saturating_mul(*b)));
        let all = values.iter().fold(1usize, |product, v| product.saturating_mul(*v));
        values.iter().copied().chain(pairs).chain([all, all.saturating_mul(4)]).collect()
    }

    /// The value of a tunable, 0 if it has none of that name.
    pub fn get(&self, name: &str) -> u32 {
        self.settings.get(name).copied().unwrap_or(0)
    }
}

/// How the distance of a channel from its reference is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distance {
    /// The largest difference of a value: `max |y - ref|` against `max(max |ref|, gain * max |x|)`.
    #[default]
    Largest,
    /// The root of the mean of squares: `rms(y - ref)` against `max(rms(ref), gain * max |x|)`, for transforms, whose every
    /// value has the error of all.
    Norm,
}

/// How far a result may be from the reference: per channel, `distance(y - ref) <= relative * distance(ref)`.
/// On runtimes that accumulate in float64 `gain` counts as 0 where `float64_tight` is set.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tolerance {
    /// Allowed error.
    pub relative: f64,
    /// Weight of the input's magnitude (1 for references, the sum of |h| for FIR, 0 otherwise).
    pub gain: f64,
    /// The input's magnitude does not count on the CPU.
    pub float64_tight: bool,
    /// Allowed error on runtimes that compute in float32, where it is larger there.
    pub float32: Option<f64>,
    /// How it is measured.
    pub distance: Distance,
}

/// State carried from one chunk of a recording to the next, precise and opaque; each operation converts it to and from
/// scipy's `zi`.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub(crate) channels: usize,
    /// Values per channel, channel after channel, in the operation's canonical float64 form.
    pub(crate) values: Vec<f64>,
}

/// What a result depends on, along the two axes: decides how parts of a large result can be checked alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// A channel of the result depends on that channel of the input only.
    Channel,
    /// A sample of the result depends on that sample of the channels only.
    Sample,
}

/// One operation with its parameters, ready for any size and runtime.
pub trait Problem: Send + Sync {
    /// Registry name.
    fn operation(&self) -> &'static str;

    /// The parameters that can change which variant is best, fit for a file name: `taps64`, `sections5-w`.
    fn class(&self) -> String;

    /// Element types accepted as they are; others are widened on the way in.
    fn accepts(&self, dtype: Dtype) -> bool {
        dtype == Dtype::F32
    }

    /// Checks the shape against the parameters.
    fn check(&self, shape: Shape) -> Result<()>;

    /// Shape of the result.
    fn output(&self, input: Shape) -> Shape {
        input
    }

    /// float64 values of state per channel; 0 = the operation has none.
    fn state_len(&self) -> usize {
        0
    }

    /// The shape nearest to this one that the problem can have, as far as samples go: pairs for complex values, say.
    fn nearest(&self, shape: Shape) -> Shape {
        shape
    }

    /// The plain float64 reference: writes `[channels, output samples]`, contiguous.
    fn reference(&self, x: Source<'_>, state: Option<&mut State>) -> Result<Vec<f64>>;

    /// What results depend on.
    fn locality(&self) -> Locality;

    /// How many samples before it a result depends on, for problems of [`Locality::Channel`]; `None`: all of them.
    fn memory(&self) -> Option<usize> {
        None
    }

    /// Whether a channel has to be on a device as a whole (transforms along time): arrays over the binding limit are then
    /// computed some channels at a time. Only for problems of [`Locality::Channel`]; where parameters name channels, they
    /// give [`Problem::of_channels`].
    fn whole_channels(&self) -> bool {
        false
    }

    /// The problem of `count` channels from `first` on alone, where parameters name channels; `None`: this very problem.
    fn of_channels(&self, first: usize, count: usize) -> Option<Box<dyn Problem>> {
        let _ = (first, count);
        None
    }

    /// The reference of channel `channel` alone, whose input is `x`; for problems of [`Locality::Channel`].
    fn reference_of(&self, x: Source<'_>, channel: usize) -> Result<Vec<f64>> {
        let _ = channel;
        self.reference(x, None)
    }

    /// How far results may be from it.
    fn tolerance(&self) -> Tolerance;

    /// How a variant rounds, as a name: two variants of one runtime with the same name give the same bits on every input
    /// (NaN counts as NaN, whatever its payload). The tuner rejects a variant for which that turns out to be untrue. By
    /// default nothing is claimed: every variant has its own.
    fn rounding(&self, variant: &Variant) -> String {
        variant.name.clone()
    }

    /// Lengths, along samples or channels, at which a variant may cut its work. Verification tries shapes one below, at
    /// and one above some of them; by default those that the settings suggest.
    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        variant.tiles()
    }

    /// Bytes of work space that each thread needs on the CPU, where that can be large: asked for in advance, since libraries
    /// that make plans end the process where there is no memory.
    fn work_space(&self, _: Shape) -> usize {
        0
    }

    /// Variants for the CPU, the default first.
    fn cpu_variants(&self, shape: Shape) -> Vec<Variant>;

    /// Computes on the CPU, on the current rayon pool. `y` has the output's shape.
    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, state: Option<&mut State>) -> Result<()>;

    /// Variants for a device, the default first; only legal ones.
    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant>;

    /// Why a device has no variant, where that is not a matter of size.
    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, _facts: &Facts) -> Option<Error> {
        None
    }

    /// Records the whole computation from zero state, over all segments.
    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>>;

    /// Computes with state carried in and out; operations without state keep this default.
    #[cfg(feature = "gpu")]
    fn run_gpu(
        &self,
        gpu: &dyn Gpu,
        variant: &Variant,
        x: &DeviceArray,
        y: &DeviceArray,
        _state: Option<&mut State>,
    ) -> Result<()> {
        gpu.submit(&self.record(gpu, variant, x, y)?)
    }
}
