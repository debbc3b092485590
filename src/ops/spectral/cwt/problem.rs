//! Wavelet transforms as one problem: rows of the result are `[scales, samples]` of complex values.

use std::f64::consts::PI;
use std::sync::{Arc, Mutex, PoisonError};

use num_complex::Complex;

use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::ops::problem::{Distance, Locality, Problem, Shape, State, Tolerance, Variant};
use crate::ops::spectral::fft::convenient;
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, Facts, Gpu},
};
use crate::signal::{Source, ViewMut};

/// Every channel by wavelets of these widths.
#[derive(Debug, Clone)]
pub(crate) struct Wavelets {
    pub widths: Vec<f64>,
    w: f64,
    /// The plans made last.
    plans: Arc<Mutex<Option<Arc<cpu::Plans>>>>,
    /// The samples of wavelets that a device was given last.
    #[cfg(feature = "gpu")]
    samples: Arc<Mutex<Option<Arc<super::gpu::Samples>>>>,
}

impl Wavelets {
    pub fn new(widths: Vec<f64>, w: f64) -> Result<Self> {
        match widths.is_empty() {
            true => Err(Error::invalid("no frequencies were given; pass one or more")),
            false => Ok(Wavelets {
                widths,
                w,
                plans: Arc::default(),
                #[cfg(feature = "gpu")]
                samples: Arc::default(),
            }),
        }
    }

    /// Length of a wavelet for channels of `n` samples, which scipy allows to end between samples.
    fn extent(&self, scale: usize, n: usize) -> f64 {
        (10.0 * self.widths[scale]).min(n as f64)
    }

    /// Samples of a wavelet for channels of `n`.
    pub fn length(&self, scale: usize, n: usize) -> usize {
        self.extent(scale, n).ceil().max(1.0) as usize
    }

    /// What a channel is convolved with: the wavelet turned about, conjugate.
    pub fn kernel(&self, scale: usize, n: usize) -> Vec<Complex<f64>> {
        let (width, extent, length) = (self.widths[scale], self.extent(scale, n), self.length(scale, n));
        let factor = PI.powf(-0.25) / width.sqrt();
        let value = |k: usize| {
            let t = (k as f64 - (extent - 1.0) / 2.0) / width;
            Complex::from_polar(factor * (-0.5 * t * t).exp(), -self.w * t)
        };
        (0..length).rev().map(value).collect()
    }

    /// Points of transforms that hold the whole convolution of `n` samples with the longest wavelet.
    pub fn points(&self, n: usize) -> usize {
        let longest = (0..self.widths.len()).map(|scale| self.length(scale, n)).max().unwrap_or(1);
        convenient(n + longest - 1)
    }

    /// What is kept of the samples of wavelets for devices.
    #[cfg(feature = "gpu")]
    pub(super) fn samples(&self) -> std::sync::MutexGuard<'_, Option<Arc<super::gpu::Samples>>> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plans of so many points.
    pub fn plans(&self, points: usize) -> Arc<cpu::Plans> {
        let mut kept = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.as_ref().filter(|plans| plans.points() == points) {
            Some(plans) => plans.clone(),
            None => kept.insert(Arc::new(cpu::Plans::new(points))).clone(),
        }
    }
}

impl Problem for Wavelets {
    fn operation(&self) -> &'static str {
        "cwt"
    }

    fn class(&self) -> String {
        format!("scales{}", self.widths.len())
    }

    fn check(&self, shape: Shape) -> Result<()> {
        let values = shape.samples.checked_mul(self.widths.len());
        match values.is_some_and(|n| n <= isize::MAX as usize / 64) {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "{} scales of {} samples do not fit in memory; pass fewer frequencies",
                self.widths.len(),
                shape.samples
            ))),
        }
    }

    fn output(&self, input: Shape) -> Shape {
        Shape { samples: input.samples.saturating_mul(2 * self.widths.len()), ..input }
    }

    fn whole_channels(&self) -> bool {
        true
    }

    fn reference(&self, x: Source<'_>, _: Option<&mut State>) -> Result<Vec<f64>> {
        Ok(reference::run(self, x))
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        // Of the input, what lies in no wavelet's band is gone from the result, but not from float32 transforms.
        Tolerance { relative: 1e-6, gain: 1.0, float64_tight: true, distance: Distance::Norm, ..Default::default() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        vec![Variant::new("scales", &[])]
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        debug_assert_eq!(variant.method, "scales");
        cpu::run(self, x, y)
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, shape: Shape) -> Vec<Variant> {
        super::gpu::variants(self, facts, shape)
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        super::gpu::record(self, gpu, variant, x, y)
    }
}
