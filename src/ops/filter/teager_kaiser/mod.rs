//! Teager-Kaiser energy: a measure of amplitude and frequency together from three samples.

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

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;

/// Largest distance to the neighbours.
const FARTHEST: usize = 1 << 24;

/// The Teager-Kaiser energy of every channel, on the current runtime: `y[n] = x[n]^2 - x[n - lag] x[n + lag]`.
///
/// Of `A sin(w n + p)` it is `A^2 sin^2(lag w)` at every sample, so bursts and spikes stand out of slow waves; `lag` 1 is
/// Kaiser's operator (*On a simple algorithm to calculate the energy of a signal*, 1990), larger ones look for slower events.
/// Results within `lag` of an end are that of the nearest sample which has both neighbours. `x` is any `[channels, samples]`
/// array of `f32` or `i16`; the result is `f32` of the same shape, in the square of its unit. A NaN or an infinity reaches
/// the results that depend on it, and no others. On devices amplitudes have to lie between 1e-15 and 1e19, since squares are
/// float32.
///
/// # Errors
/// A `lag` of 0 or above 2^24, channels of fewer than `2 lag + 1` samples, a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..50).map(|n| 3.0 * (0.4 * n as f32).sin()).collect();
/// let y = dspk::ops::filter::teager_kaiser(View::new(&x, 1, 50)?, 1)?;
/// assert!(y.row(0).iter().all(|v| (v - 9.0 * 0.4f32.sin().powi(2)).abs() < 1e-4));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn teager_kaiser<'a>(x: impl Into<Source<'a>>, lag: usize) -> Result<Signal> {
    TeagerKaiser::new(lag)?.apply(x)
}

/// Teager-Kaiser energy ready for any recording.
///
/// ```
/// use dspk::ops::filter::TeagerKaiser;
/// use dspk::signal::View;
/// let y = TeagerKaiser::new(1)?.apply(View::new(&[1.0f32, 2.0, 4.0, 8.0], 1, 4)?)?;
/// assert_eq!(y.row(0), [0.0; 4]);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TeagerKaiser {
    lag: usize,
    runtime: Option<String>,
}

impl TeagerKaiser {
    /// A plan, see [`teager_kaiser`].
    pub fn new(lag: usize) -> Result<Self> {
        if !(1..=FARTHEST).contains(&lag) {
            return Err(Error::invalid(format!("lag = {lag} is not possible; pass 1 to {FARTHEST} samples")));
        }
        Ok(TeagerKaiser { lag, runtime: None })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.to_string());
        self
    }

    /// The energy of an array.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Signal> {
        execute::host(self, x.into(), None, self.runtime.as_deref())
    }

    /// The energy into an array of the same shape.
    pub fn apply_into<'a>(&self, x: impl Into<Source<'a>>, y: ViewMut<'_>) -> Result<()> {
        execute::host_into(self, x.into(), y, None, self.runtime.as_deref())
    }

    /// The energy of an array where it lives; the result stays on that device.
    #[cfg(feature = "gpu")]
    pub fn apply_device(&self, x: &DeviceArray) -> Result<DeviceArray> {
        execute::device(self, x, None)
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["filter/halo", "filter/teager_kaiser"],
    cpu_source: concat!(include_str!("cpu.rs"), include_str!("../edge.rs"), include_str!("../planar.rs")),
    gpu_source: concat!(include_str!("gpu.rs"), include_str!("../halo.rs")),
    representatives: || Ok(vec![Representative::planar(TeagerKaiser::new(1)?)]),
    ideal_bytes: once_each,
};

impl Problem for TeagerKaiser {
    fn operation(&self) -> &'static str {
        "teager_kaiser"
    }

    fn class(&self) -> String {
        format!("lag{}", self.lag.next_power_of_two())
    }

    fn check(&self, shape: Shape) -> Result<()> {
        let needed = 2 * self.lag + 1;
        if shape.samples > 0 && shape.samples < needed {
            return Err(Error::shape(format!(
                "with lag = {} a channel needs at least {needed} samples, the input has {}; pass a longer signal or a smaller lag",
                self.lag, shape.samples
            )));
        }
        Ok(())
    }

    fn nearest(&self, shape: Shape) -> Shape {
        Shape { samples: shape.samples.max(2 * self.lag + 1), ..shape }
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        let (samples, lag) = (x.samples(), self.lag);
        let mut y = Vec::with_capacity(x.channels() * samples);
        for c in 0..x.channels() {
            let at = |n: usize| f64::from(x.get(c, n));
            let place = |n: usize| n.clamp(lag, samples - 1 - lag);
            y.extend((0..samples).map(place).map(|n| at(n) * at(n) - at(n - lag) * at(n + lag)));
        }
        Ok(y)
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance { relative: 3e-7, ..Default::default() }
    }

    fn rounding(&self, variant: &Variant) -> String {
        variant.method.to_string()
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("products", &[])]
    }

    fn run_cpu(&self, _: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        cpu::run(self.lag, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        gpu::variants(facts)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        gpu::record(self.lag, gpu, variant, x, y)
    }
}

#[cfg(test)]
mod tests;
