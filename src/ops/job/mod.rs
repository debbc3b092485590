//! A problem at a size on a target, as the tuner sees it.
//!
//! A variant is proven before it is timed, on small problems (see the module `proof`). At the timed shape its first result,
//! written over NaN, is scanned for NaN, two whole channels (or, for operations across channels, windows at both ends and
//! in the middle, as for very long responses) are compared with the float64 reference, and all of it with what variants
//! gave that are declared to round alike: a loop cut off by a driver shows only at full length.
//!
//! A call that meets a class for the first time is timed on at most [`FIRST_MEETING`] values, fewer samples than it has if
//! need be: data of the size of a whole recording would take longer to make than the measurement may last, and as much
//! memory again as the call itself.

mod data;
mod guard;
mod proof;
mod timed;
#[cfg(feature = "gpu")]
mod watched;

use std::cell::OnceCell;

use crate::error::{Error, ErrorKind, Result};
use crate::ops::problem::{Problem, Shape, Tolerance, Variant};
use crate::ops::registry;
use crate::ops::yardstick;
#[cfg(feature = "gpu")]
use crate::runtime::{DeviceArray, Layout};
use crate::runtime::{Target, cpu};
use crate::signal::Source;
use crate::tune::{self, DeviceFacts, Tunable, Work};

#[cfg(test)]
pub(crate) use data::Data;
pub(crate) use data::Input;
#[cfg(test)]
pub(crate) use proof::compare;

/// A problem, a shape, a target and the variants legal there.
pub(crate) struct Job<'a> {
    problem: &'a dyn Problem,
    target: Target,
    /// Of the problem at hand.
    shape: Shape,
    /// Of what is timed.
    timed_shape: Shape,
    input: Input,
    class: String,
    device: String,
    variants: Vec<Variant>,
    names: Vec<String>,
    roundings: OnceCell<Vec<String>>,
    probes: proof::Probes,
    timed: timed::Timing,
}

/// Most values of the problem that a first meeting is timed on: 64 MiB, beyond the caches and quick to make.
const FIRST_MEETING: usize = 1 << 24;
/// But never fewer samples than this.
const FEWEST_SAMPLES: usize = 1 << 12;

impl<'a> Job<'a> {
    /// A job on the CPU, shaped like a real input.
    pub(crate) fn cpu(problem: &'a dyn Problem, x: &Source<'_>) -> Self {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        Self::new(problem, Target::Cpu, shape, Input::of(x)).first_meeting()
    }

    /// A job on a device, shaped like a real input.
    #[cfg(feature = "gpu")]
    pub(crate) fn gpu(problem: &'a dyn Problem, x: &DeviceArray) -> Self {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        let input = Input { dtype: x.dtype(), interleaved: x.layout() == Layout::Interleaved };
        Self::new(problem, Target::Gpu(x.gpu().clone()), shape, input).first_meeting()
    }

    /// Times a problem of fewer samples (or channels, if those are needed whole) where this one is large, if the same variants are legal there.
    fn first_meeting(mut self) -> Self {
        let Shape { channels, samples } = self.shape;
        if channels.saturating_mul(samples) > FIRST_MEETING {
            let shape = if self.problem.whole_channels() {
                Shape { channels: (FIRST_MEETING / samples).clamp(1, channels), samples }
            } else {
                let samples = (FIRST_MEETING / channels).max(FEWEST_SAMPLES).min(samples);
                self.problem.nearest(Shape { channels, samples })
            };
            let legal = self.legal(shape);
            if self.variants.iter().all(|v| legal.contains(v)) {
                self.timed_shape = shape;
            }
        }
        self
    }

    /// Variants legal at a shape.
    fn legal(&self, shape: Shape) -> Vec<Variant> {
        legal(self.problem, &self.target, shape)
    }

    /// A job on a problem that stands for an operation, with the input it has there.
    pub(crate) fn standing_for(r: &'a registry::Representative, target: Target, shape: Shape) -> Self {
        Self::new(
            r.problem.as_ref(),
            target,
            r.problem.nearest(shape),
            Input { dtype: r.dtype, interleaved: r.interleaved },
        )
    }

    /// A job of any shape and input.
    pub(crate) fn new(problem: &'a dyn Problem, target: Target, shape: Shape, input: Input) -> Self {
        let variants = legal(problem, &target, shape);
        let device = match &target {
            Target::Cpu => cpu::device_key(),
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => gpu.facts().key.clone(),
        };
        let layout = if input.interleaved { "interleaved" } else { "planar" };
        let class = format!("{}-{}-{layout}", problem.class(), input.dtype.name());
        let names: Vec<String> = variants.iter().map(|v| v.name.clone()).collect();
        let class = tune::class_name(&class, &tune::size_class(shape.channels, shape.samples, &[&choice(&names)]));
        Job {
            problem,
            target,
            shape,
            timed_shape: shape,
            input,
            class,
            device,
            variants,
            names,
            roundings: OnceCell::new(),
            probes: proof::Probes::default(),
            timed: timed::Timing::default(),
        }
    }

    pub(crate) fn variant(&self, index: usize) -> Result<&Variant> {
        self.variants.get(index).ok_or_else(|| {
            #[cfg(feature = "gpu")]
            if let Target::Gpu(gpu) = &self.target
                && let Some(refusal) = self.problem.gpu_refusal(gpu.facts())
            {
                return refusal;
            }
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{} has no variant for {} channels x {} samples on this device; use another runtime, cpu always works",
                    self.problem.operation(),
                    self.shape.channels,
                    self.shape.samples
                ),
            )
        })
    }

    fn tolerance(&self) -> Tolerance {
        let mut t = self.problem.tolerance();
        if !matches!(self.target, Target::Cpu) {
            t.relative = t.float32.unwrap_or(t.relative);
        } else if t.float64_tight {
            t.gain = 0.0;
        }
        t
    }
}

impl Tunable for Job<'_> {
    fn operation(&self) -> &str {
        self.problem.operation()
    }

    fn class(&self) -> &str {
        &self.class
    }

    fn identity(&self) -> u128 {
        let on_gpu = !matches!(self.target, Target::Cpu);
        registry::entry(self.problem.operation()).map_or(0, |e| e.identity(on_gpu))
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn driver(&self) -> &str {
        match &self.target {
            Target::Cpu => yardstick::CPU_DRIVER,
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => &gpu.facts().driver,
        }
    }

    fn variants(&self) -> &[String] {
        &self.names
    }

    fn rounding(&self, index: usize) -> &str {
        let names = || self.variants.iter().map(|v| self.problem.rounding(v)).collect::<Vec<_>>();
        self.roundings.get_or_init(names).get(index).map_or("", String::as_str)
    }

    fn verify(&self, index: usize) -> Result<()> {
        self.prove(index)
    }

    fn time(&self, index: usize, repeats: u32) -> Result<f64> {
        self.measure(index, repeats)
    }

    fn prepare(&self) -> Result<()> {
        self.timed().map(|_| ())
    }

    fn work(&self) -> Work {
        let Shape { channels, samples } = self.timed_shape;
        let bytes = registry::entry(self.problem.operation())
            .map_or(0, |e| (e.ideal_bytes)(self.problem, self.input.dtype, self.timed_shape));
        Work { channels: channels as u64, samples: samples as u64, bytes }
    }

    fn end_to_end(&self, index: usize) -> Result<Option<f64>> {
        yardstick::end_to_end(self.problem, self.variant(index)?, &self.target, self.timed()?.x.source()).map(Some)
    }

    fn facts(&self) -> DeviceFacts {
        yardstick::facts(&self.target)
    }
}

fn legal(problem: &dyn Problem, target: &Target, shape: Shape) -> Vec<Variant> {
    match target {
        Target::Cpu => problem.cpu_variants(shape),
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => problem.gpu_variants(gpu.facts(), shape),
    }
}

/// What there is to choose from, fit for a file name. Legality may depend on coefficients and sizes that the rest of a
/// class does not name; problems with other choices do not share a result.
fn choice(names: &[String]) -> String {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    format!("v{:08x}", xxhash_rust::xxh3::xxh3_64(sorted.join(",").as_bytes()) as u32)
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Precision, message)
}

#[cfg(all(test, feature = "gpu"))]
mod null_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wrong_tests;
