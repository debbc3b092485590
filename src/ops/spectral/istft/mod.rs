//! The inverse of the short-time Fourier transform: frames transformed back, weighted again and added up.

use super::frames::{Scaling, Table, Taper, check_fs, check_overlap};
use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
use crate::signal::{ComplexView, Signal};

pub(crate) mod command;
mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
mod problem;
mod reference;
#[cfg(test)]
mod tests;

use problem::Inverse;

/// Where the squared weights of all frames that hold a sample sum to no more than this, the sample cannot be restored.
const LEAST_NORM: f64 = 1e-10;

/// How the transform was made; scipy's names and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct IstftOptions {
    /// Sampling rate. Default: 1.
    pub fs: f64,
    /// Weights of a frame. Default: Hann.
    pub window: Taper,
    /// Samples of a frame. Default: as many as the window has weights, else `2 * (frequencies - 1)`.
    pub nperseg: Option<usize>,
    /// Samples that two frames share, fewer than `nperseg`. Default: half of `nperseg`.
    pub noverlap: Option<usize>,
    /// Points of the transforms, `nperseg` or more. Default: `nperseg` if that is odd and fits the number of frequencies,
    /// else `2 * (frequencies - 1)`.
    pub nfft: Option<usize>,
    /// Whether the transform was made with a boundary: half a frame goes off at both ends. Default: true.
    pub boundary: bool,
    /// What the spectra are relative to: [`Scaling::Spectrum`] or [`Scaling::Density`] (scipy's `"psd"`). Default: spectrum.
    pub scaling: Scaling,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for IstftOptions {
    fn default() -> Self {
        IstftOptions {
            fs: 1.0,
            window: Taper::default(),
            nperseg: None,
            noverlap: None,
            nfft: None,
            boundary: true,
            scaling: Scaling::Spectrum,
            runtime: None,
        }
    }
}

/// The signal of a short-time Fourier transform: `scipy.signal.istft` of each channel.
///
/// `z` has the channels as rows, each `frequencies` lines of one value for each frame, as
/// [`super::ComplexFrames::values`] holds them. No frames give no samples.
///
/// Where the window is nearly zero at samples that no other frame holds (without a boundary: at the very ends), a sample is
/// what is left of it divided by little: it is only as good as the transform's float32 values, and zero where the squared
/// weights sum to 1e-10 or less, as in scipy.
///
/// # Errors
/// A sampling rate that is not above 0, no frequencies, rows that are not whole frames, `nperseg` of 0, `noverlap` of
/// `nperseg` or more, `nfft` below `nperseg`, a window of another length than `nperseg`, a window and overlap that leave
/// samples without weight inside the signal (scipy's NOLA condition), a runtime that cannot be used, or no memory.
///
/// ```
/// use dspk::ops::spectral::{IstftOptions, StftOptions, istft, stft};
/// use dspk::signal::View;
/// let x: Vec<f32> = (0..1000).map(|n| ((n * n) % 31) as f32).collect();
/// let z = stft(View::new(&x, 1, 1000)?, &StftOptions::default())?;
/// let y = istft(&z.values, z.f.len(), &IstftOptions::default())?;
/// assert!(x.iter().zip(y.row(0)).all(|(x, y)| (x - y).abs() < 1e-4));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn istft<'a>(z: impl Into<ComplexView<'a>>, frequencies: usize, options: &IstftOptions) -> Result<Signal> {
    Istft::new(frequencies, options)?.apply(z)
}

/// An inverse transform ready for any number of frames of so many frequencies.
#[derive(Debug, Clone)]
pub struct Istft {
    problem: Inverse,
    runtime: Option<String>,
}

impl Istft {
    /// Checks the options and makes the window.
    ///
    /// # Errors
    /// Those of [`istft`] that do not depend on the values.
    pub fn new(frequencies: usize, options: &IstftOptions) -> Result<Self> {
        let IstftOptions { fs, window, nperseg, noverlap, nfft, boundary, scaling, runtime } = options.clone();
        check_fs(fs)?;
        if frequencies == 0 || frequencies > isize::MAX as usize / 64 {
            return Err(Error::invalid(format!("{frequencies} frequencies were given; pass those of the transform")));
        }
        let natural = 2 * (frequencies - 1);
        let nperseg = nperseg.unwrap_or(match &window {
            Taper::Values(values) => values.len(),
            _ => natural,
        });
        if nperseg == 0 {
            return Err(Error::invalid("nperseg is 0; a frame needs 1 sample or more"));
        }
        let nfft = nfft.unwrap_or(if nperseg == natural + 1 { nperseg } else { natural });
        if nfft < nperseg {
            return Err(Error::invalid(format!(
                "a frame has nperseg = {nperseg} samples, its transform nfft = {nfft} points; pass nfft of {nperseg} or more"
            )));
        }
        if nfft > isize::MAX as usize / 64 {
            return Err(Error::invalid(format!("a transform of nfft = {nfft} points does not fit in memory")));
        }
        check_overlap(noverlap, nperseg)?;
        let step = nperseg - noverlap.unwrap_or(nperseg / 2);
        let table = Table::new(&window, nperseg)?;
        let problem = Inverse { fs, table, step, nfft, bins: frequencies, scaling, boundary };
        problem.check_overlap_add()?;
        Ok(Istft { problem, runtime })
    }

    /// Computes on this runtime, named as for [`crate::runtime::set`].
    pub fn on(mut self, runtime: &str) -> Self {
        self.runtime = Some(runtime.into());
        self
    }

    /// As [`istft`].
    pub fn apply<'a>(&self, z: impl Into<ComplexView<'a>>) -> Result<Signal> {
        execute::host(&self.problem, z.into().into(), None, self.runtime.as_deref())
    }
}

impl Inverse {
    /// Whether every sample that as many frames hold as can has some weight.
    fn check_overlap_add(&self) -> Result<()> {
        let weak = (0..self.step).find(|start| {
            let weights = (*start..self.nperseg()).step_by(self.step).map(|i| self.table.weight(i));
            weights.map(|w| w * w).sum::<f64>() <= LEAST_NORM
        });
        match weak {
            None => Ok(()),
            Some(at) => Err(Error::invalid(format!(
                "the window leaves samples without weight: sample {at} of every step of {} (frames of {}, noverlap {}); pass a larger noverlap or another window",
                self.step,
                self.nperseg(),
                self.nperseg() - self.step
            ))),
        }
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["spectral/turn", "spectral/fft", "spectral/overlap"],
    cpu_source: include_str!("cpu.rs"),
    gpu_source: concat!(
        include_str!("gpu.rs"),
        include_str!("../frames/gpu.rs"),
        include_str!("../fft/gpu.rs"),
        include_str!("../fft/gpu/plan.rs"),
        include_str!("../fft/gpu/tables.rs"),
        include_str!("../fft/recipe.rs")
    ),
    representatives: || {
        let plan = Istft::new(513, &IstftOptions::default())?;
        Ok(vec![Representative::planar(plan.problem)])
    },
    ideal_bytes: once_each,
};
