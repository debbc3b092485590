//! Zero-phase filtering, forward and backward: scipy's `sosfiltfilt` and `filtfilt`.
//!
//! A signal is extended at both ends, filtered from the steady state of its first value, turned around, filtered the same
//! way and turned back: the phases cancel, the magnitude response counts twice (Gustafsson, *Determining the initial states
//! in forward-backward filtering*, 1996, calls this the conventional choice of states; scipy's `method="pad"`).

use crate::design::{Band, Sos, butter, sosfilt_zi};
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::filter::SosFilter;
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
mod extension;
mod filtfilt;
#[cfg(feature = "gpu")]
mod gpu;
mod reference;

pub use extension::Padding;
pub use filtfilt::{FiltFilt, filtfilt};

use extension::Extension;

/// How far what an interior cut cannot know may reach, of what it could be.
const FORGOTTEN: f64 = 1e-7;

/// Filters every channel forward and backward with a cascade of second-order sections, without any phase, on the current
/// runtime.
///
/// `scipy.signal.sosfiltfilt(sos, x)` with its defaults: extended by odd symmetry, `padlen` from the number of sections. `x`
/// is any `[channels, samples]` array of `f32` or `i16`; the result is `f32` of the same shape. A channel with a NaN or an
/// infinity is not finite anywhere. Other paddings, a chosen runtime, device arrays and pieces of a long recording:
/// [`SosFiltFilt`].
///
/// # Errors
/// A section with a pole at `z = 1`, a signal that is not longer than `padlen`, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::design::{Band, butter};
/// use dspk::signal::View;
///
/// let sos = butter(2, Band::Low(10.0), 100.0)?;
/// let ramp: Vec<f32> = (0..64).map(|n| n as f32).collect();
/// let y = dspk::ops::filter::sosfiltfilt(&sos, View::new(&ramp, 1, 64)?)?;
/// assert!((y.row(0)[32] - 32.0).abs() < 1e-4, "a ramp passes a low-pass without delay");
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn sosfiltfilt<'a>(sos: &Sos, x: impl Into<Source<'a>>) -> Result<Signal> {
    SosFiltFilt::new(sos)?.apply(x)
}

/// A zero-phase filter ready for any recording.
///
/// ```
/// use dspk::design::{Band, butter};
/// use dspk::ops::filter::{Padding, SosFiltFilt};
/// use dspk::signal::View;
///
/// let filter = SosFiltFilt::new(&butter(4, Band::Pass(1.0, 40.0), 250.0)?)?.with_padding(Padding::Even, Some(125)).on("cpu");
/// let x: Vec<f32> = (0..1000).map(|n| (n as f32 * 0.2).sin()).collect();
/// let y = filter.apply(View::new(&x, 2, 500)?)?;
/// assert_eq!((y.channels(), y.samples()), (2, 500));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SosFiltFilt {
    filter: SosFilter,
    step: Vec<[f64; 2]>,
    extension: Extension,
    /// What the caller called.
    called: &'static str,
    runtime: Option<String>,
}

impl SosFiltFilt {
    /// A plan with scipy's defaults.
    ///
    /// # Errors
    /// A section with a pole at `z = 1`, for which there is no steady state to begin with.
    pub fn new(sos: &Sos) -> Result<Self> {
        let extension = Extension { padding: Padding::Odd, edge: extension::default_edge(sos) };
        Ok(SosFiltFilt {
            filter: SosFilter::new(sos)?,
            step: sosfilt_zi(sos)?,
            extension,
            called: "sosfiltfilt",
            runtime: None,
        })
    }

    /// With another padding: scipy's `padtype` and `padlen` (`None`: scipy's default for the cascade). [`Padding::None`] has no
    /// length.
    pub fn with_padding(mut self, padding: Padding, padlen: Option<usize>) -> Self {
        let edge = padlen.unwrap_or_else(|| extension::default_edge(self.filter.sos()));
        self.extension = Extension { padding, edge: if padding == Padding::None { 0 } else { edge } };
        self
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The cascade.
    pub fn sos(&self) -> &Sos {
        self.filter.sos()
    }

    /// The samples added at each end: scipy's `padlen`.
    pub fn padlen(&self) -> usize {
        self.extension.edge
    }

    /// Filters whole channels.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// Filters whole channels into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// Filters an array where it lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }

    /// The samples that a piece of a recording needs before and after those that are wanted of it, so that these are within
    /// 1e-5 of the ones of the whole; see [`SosFiltFilt::apply_piece`].
    ///
    /// # Errors
    /// The filter never settles.
    pub fn margin(&self) -> Result<usize> {
        self.filter.settling(FORGOTTEN).ok_or_else(|| {
            Error::invalid(
                "the filter never settles (a pole on or outside the unit circle), so no piece of a recording gives the result of the whole; filter the whole recording at once",
            )
        })
    }

    /// What filtering a whole recording gives for a piece of it: `x` is the piece with `before` samples of the recording ahead
    /// of it and `after` behind it, the result the piece without them, `[channels, samples - before - after]`. `None` says
    /// that the recording begins or ends there, and extends it as [`SosFiltFilt::apply`] does.
    ///
    /// # Errors
    /// A margin below [`SosFiltFilt::margin`] (the message says what is needed), margins longer than `x`, a filter that never
    /// settles, and all of [`SosFiltFilt::apply`].
    ///
    /// ```
    /// use dspk::design::{Band, butter};
    /// use dspk::ops::filter::SosFiltFilt;
    /// use dspk::signal::View;
    ///
    /// let filter = SosFiltFilt::new(&butter(2, Band::High(20.0), 1000.0)?)?.on("cpu");
    /// let x: Vec<f32> = (0..4000).map(|n| (n as f32 * 0.1).sin() + 5.0).collect();
    /// let recording = View::new(&x, 1, 4000)?;
    /// let margin = filter.margin()?;
    /// let first = filter.apply_piece(recording.window(0, 2000 + margin), None, Some(margin))?;
    /// let second = filter.apply_piece(recording.window(2000 - margin, 2000 + margin), Some(margin), None)?;
    /// let whole = filter.apply(recording)?;
    /// assert!((first.row(0)[1999] - whole.row(0)[1999]).abs() < 1e-5);
    /// assert!((second.row(0)[0] - whole.row(0)[2000]).abs() < 1e-5);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    pub fn apply_piece<'a>(
        &self,
        x: impl Into<Source<'a>>,
        before: Option<usize>,
        after: Option<usize>,
    ) -> Result<Signal> {
        let x = x.into();
        let needed = self.margin()?;
        for (name, margin) in [("before", before), ("after", after)] {
            if let Some(margin) = margin.filter(|m| *m < needed) {
                return Err(Error::shape(format!(
                    "{margin} samples {name} the piece are not enough for this filter to settle, it needs {needed}; pass that many, or None where the recording ends"
                )));
            }
        }
        let (start, end) = (before.unwrap_or(0), after.unwrap_or(0));
        let Some(wanted) = x.samples().checked_sub(start.saturating_add(end)) else {
            return Err(Error::shape(format!(
                "the margins of {start} and {end} samples are longer than the input of {}; pass the piece with its margins",
                x.samples()
            )));
        };
        let y = self.apply(x)?;
        Signal::from_source(y.view().window(start, wanted).into())
    }

    /// For messages.
    fn called(mut self, name: &'static str) -> Self {
        self.called = name;
        self
    }

    fn task(&self) -> cpu::Task<'_> {
        cpu::Task { sos: self.sos().sections(), step: &self.step, extension: self.extension }
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &[
        "filter/edges",
        "filter/steady",
        "filter/reverse",
        "filter/sosfilt",
        "filter/sosfilt_blocks",
        "filter/sosfilt_carry",
    ],
    cpu_source: concat!(
        include_str!("cpu.rs"),
        include_str!("extension.rs"),
        include_str!("../sosfilt/cpu.rs"),
        include_str!("../sosfilt/form.rs"),
        include_str!("../sosfilt/kernel.rs"),
        include_str!("../sosfilt/transition.rs")
    ),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("../sosfilt/gpu.rs"),
        include_str!("../sosfilt/blocks.rs"),
        include_str!("../sosfilt/precision.rs"),
        include_str!("../sosfilt/transition.rs")
    ),
    representatives: || {
        let filter = SosFiltFilt::new(&butter(5, Band::Pass(300.0, 6000.0), 30_000.0)?)?;
        Ok(vec![Representative::planar(filter)])
    },
    ideal_bytes: |problem, dtype, shape| 2 * once_each(problem, dtype, shape),
};

impl Problem for SosFiltFilt {
    fn operation(&self) -> &'static str {
        "sosfiltfilt"
    }

    fn class(&self) -> String {
        self.filter.class()
    }

    fn check(&self, shape: Shape) -> Result<()> {
        self.extension.check(self.called, shape.samples)
    }

    fn nearest(&self, shape: Shape) -> Shape {
        Shape { samples: shape.samples.max(self.extension.edge + 1), ..shape }
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self.sos().sections(), &self.step, self.extension, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn tolerance(&self) -> Tolerance {
        // Of a constant that a filter takes away, 1e-12 may be left: the reference happens to leave nothing at all.
        Tolerance { relative: 1e-6, gain: 1e-6, float64_tight: false, ..Default::default() }
    }

    fn rounding(&self, variant: &Variant) -> String {
        self.filter.rounding(variant)
    }

    fn tiles(&self, variant: &Variant) -> Vec<usize> {
        self.filter.tiles(variant)
    }

    fn cpu_variants(&self, shape: Shape) -> Vec<Variant> {
        cpu::variants(self.sos().sections(), shape)
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self.task(), variant, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        self.filter.gpu_variants(facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn gpu_refusal(&self, facts: &Facts) -> Option<Error> {
        self.filter.gpu_refusal(facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(&self.filter.on_device(), self.extension, gpu, variant, x, y)
    }
}
