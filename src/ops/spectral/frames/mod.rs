//! Frames: what every spectrum over short pieces of a channel has in common.
//!
//! A channel, extended at its ends if asked for, is cut into frames of `nperseg` samples that overlap; each is freed of its
//! mean or its trend (in float64), weighted by a window and transformed with `nfft >= nperseg` points. [`Segments`] are the
//! options as given, [`Geometry`] is what they mean for a channel of some length, [`Table`] the window, [`Loader`] makes a
//! frame from a channel.

use std::sync::{Arc, Mutex, PoisonError};

use crate::design::{Window, get_window};
use crate::error::{Error, ErrorKind, Result};

#[cfg(feature = "gpu")]
pub(super) mod averages;
#[cfg(feature = "gpu")]
pub(super) mod fused;
mod geometry;
#[cfg(feature = "gpu")]
pub(super) mod gpu;
mod load;
pub(super) mod params;
mod real;
pub(super) mod reference;

pub(super) use geometry::Geometry;
pub(super) use load::{Loader, planar};
pub(super) use real::{Real, Space};

/// What is taken off each frame before it is weighted, in float64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Detrend {
    /// Nothing.
    None,
    /// The mean of the frame.
    #[default]
    Constant,
    /// The straight line of least squares.
    Linear,
}

/// How a channel goes on before its first and after its last sample, so that frames can be centred on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Boundary {
    /// It does not: the first frame begins with the first sample.
    None,
    /// Zeros.
    #[default]
    Zeros,
    /// Mirrored at the end sample.
    Even,
    /// Mirrored and turned about the end sample, rounded to float32.
    Odd,
    /// The end sample repeated.
    Constant,
}

/// What a spectrum is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scaling {
    /// Power density, units squared per hertz: noise keeps its level whatever the frame. scipy's `"density"` (`"psd"` of
    /// `stft`).
    #[default]
    Density,
    /// Power, units squared: a sine keeps its level whatever the frame. scipy's `"spectrum"`.
    Spectrum,
}

/// The weights of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Taper {
    /// A window function in its periodic form, which spectra want; what a [`Window`] turns into.
    Periodic(Window),
    /// A window function in its symmetric form.
    Symmetric(Window),
    /// Weights of one's own; their number is the length of a frame.
    Values(Vec<f64>),
}

impl From<Window> for Taper {
    fn from(window: Window) -> Self {
        Taper::Periodic(window)
    }
}

impl Default for Taper {
    fn default() -> Self {
        Taper::Periodic(Window::Hann)
    }
}

/// A window of one length.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Its weights; none at all for a boxcar, which can be as long as a recording.
    pub weights: Vec<f64>,
    /// The same times the factor of the problem, as they are applied in float32.
    pub scaled: Vec<f32>,
    /// Length.
    pub len: usize,
    sum: f64,
    squares: f64,
}

/// Length of a frame if none is given.
const NPERSEG: usize = 256;
/// Windows of other lengths that a plan keeps: of recordings shorter than a frame, and of whole recordings.
const MAX_TABLES: usize = 4;

/// The options of a cut into frames.
#[derive(Debug, Clone)]
pub(crate) struct Segments {
    pub fs: f64,
    pub taper: Taper,
    pub nperseg: Option<usize>,
    pub noverlap: Option<usize>,
    /// The overlap if none is given: `nperseg` over this.
    pub share: usize,
    pub nfft: Option<usize>,
    pub detrend: Detrend,
    pub boundary: Boundary,
    pub padded: bool,
    pub scaling: Scaling,
    /// One frame, the whole channel, or as much of it as `nfft` says.
    pub whole: bool,
    /// The factor of the scaling goes into the float32 weights.
    pub folded: bool,
    /// Windows made so far.
    pub tables: Arc<Mutex<Vec<Arc<Table>>>>,
}

impl Default for Segments {
    fn default() -> Self {
        Segments {
            fs: 1.0,
            taper: Taper::default(),
            nperseg: None,
            noverlap: None,
            share: 2,
            nfft: None,
            detrend: Detrend::Constant,
            boundary: Boundary::None,
            padded: false,
            scaling: Scaling::Density,
            whole: false,
            folded: false,
            tables: Arc::default(),
        }
    }
}

impl Segments {
    /// Checks what does not depend on the recording, and makes the window of a full frame.
    pub fn checked(self) -> Result<Self> {
        check_fs(self.fs)?;
        if self.nperseg == Some(0) {
            return Err(Error::invalid("nperseg is 0; a frame needs 1 sample or more"));
        }
        if self.nfft == Some(0) {
            return Err(Error::invalid("nfft is 0; pass as many points as a frame has samples, or more"));
        }
        if let Taper::Values(values) = &self.taper {
            if let Some(bad) = values.iter().position(|v| !v.is_finite()) {
                return Err(Error::invalid(format!(
                    "weight {bad} of the window is {}; pass finite numbers",
                    values[bad]
                )));
            }
            if values.is_empty() {
                return Err(Error::invalid("the window has no weights; pass one for each sample of a frame"));
            }
            if self.nperseg.is_some_and(|n| n != values.len()) {
                return Err(Error::invalid(format!(
                    "nperseg is {}, the window has {} weights; pass as many, or leave nperseg out",
                    self.nperseg.unwrap_or(0),
                    values.len()
                )));
            }
        }
        if !self.whole {
            check_overlap(self.noverlap, self.nominal())?;
            self.table(self.nominal())?;
        }
        Ok(self)
    }

    /// What variants may depend on: the transform's length (long ones by powers of two) and how often a sample counts.
    pub fn class(&self) -> String {
        if self.whole {
            return "whole".into();
        }
        let (nperseg, n) = (self.nominal(), self.nfft.unwrap_or(self.nominal()));
        let n = if n > 4096 { n.next_power_of_two() } else { n };
        format!("n{n}-o{}", nperseg / (nperseg - self.noverlap.unwrap_or(nperseg / self.share).min(nperseg - 1)))
    }

    /// Samples of a frame of a recording that is long enough.
    fn nominal(&self) -> usize {
        match &self.taper {
            Taper::Values(values) => values.len(),
            _ => self.nperseg.unwrap_or(NPERSEG),
        }
    }

    /// The number of samples nearest to this one that can be cut so: more than two frames share, no more than `nfft` where
    /// that is shorter than a frame, as many as there are weights.
    pub fn nearest(&self, samples: usize) -> usize {
        let weights = match &self.taper {
            Taper::Values(values) => values.len(),
            _ => 1,
        };
        if self.whole {
            let cut = self.nfft.is_some_and(|n| n == weights);
            return if weights > 1 && !cut { weights } else { samples.max(weights) };
        }
        let least = weights.max(self.noverlap.map_or(1, |n| n + 1));
        let most = self.nfft.filter(|n| *n < self.nominal()).unwrap_or(usize::MAX);
        samples.clamp(least.min(most), most)
    }

    /// The window of a frame of `nperseg` samples.
    pub fn table(&self, nperseg: usize) -> Result<Arc<Table>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.iter().find(|t| t.len == nperseg) {
            return Ok(table.clone());
        }
        let mut table = Table::new(&self.taper, nperseg)?;
        let factor = if self.folded { self.factor(&table)?.sqrt() } else { 1.0 };
        self.factor(&table)?;
        table.scaled.extend(table.weights.iter().map(|w| (w * factor) as f32));
        if table.weights.is_empty() && factor != 1.0 {
            table.scaled = filled(nperseg, factor as f32)?;
        }
        if tables.len() == MAX_TABLES {
            tables.pop();
        }
        tables.push(Arc::new(table));
        Ok(tables[tables.len() - 1].clone())
    }

    /// What the power of a frame is multiplied by.
    pub fn factor(&self, table: &Table) -> Result<f64> {
        let factor = match self.scaling {
            Scaling::Density => 1.0 / (self.fs * table.squares),
            Scaling::Spectrum => 1.0 / (table.sum * table.sum),
        };
        if factor.is_finite() && factor > 0.0 {
            return Ok(factor);
        }
        if self.scaling == Scaling::Density && table.squares > 1e-100 {
            return Err(Error::invalid(format!(
                "a density per hertz at a sampling rate of {:e} is beyond float64; pass another fs",
                self.fs
            )));
        }
        Err(Error::invalid(format!(
            "the window sums to {} and its squares to {}: a spectrum cannot be relative to that; pass a window that does not cancel itself",
            table.sum, table.squares
        )))
    }
}

impl Table {
    pub fn new(taper: &Taper, nperseg: usize) -> Result<Table> {
        let weights = match taper {
            Taper::Periodic(Window::Boxcar) | Taper::Symmetric(Window::Boxcar) => Vec::new(),
            Taper::Periodic(window) => get_window(window, nperseg, true)?,
            Taper::Symmetric(window) => get_window(window, nperseg, false)?,
            Taper::Values(values) if values.len() == nperseg => values.clone(),
            Taper::Values(values) => {
                return Err(Error::shape(format!(
                    "the window has {} weights, a frame of this recording has {nperseg} samples; pass as many",
                    values.len()
                )));
            }
        };
        let ones = weights.is_empty();
        let sum = if ones { nperseg as f64 } else { weights.iter().sum() };
        let squares = if ones { nperseg as f64 } else { weights.iter().map(|w| w * w).sum() };
        Ok(Table { weights, scaled: Vec::new(), len: nperseg, sum, squares })
    }

    /// Sum of the weights.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Sum of their squares.
    pub fn squares(&self) -> f64 {
        self.squares
    }

    /// One weight.
    pub fn weight(&self, index: usize) -> f64 {
        self.weights.get(index).copied().unwrap_or(1.0)
    }
}

/// As many of `value`, or an error where memory ends.
pub(super) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|e| {
        Error::new(
            ErrorKind::OutOfMemory,
            format!("there is no memory for {len} values of work space; use shorter frames or recordings"),
        )
        .with_source(e)
    })?;
    values.resize(len, value);
    Ok(values)
}

pub(super) fn check_fs(fs: f64) -> Result<()> {
    if fs.is_finite() && fs > 0.0 {
        return Ok(());
    }
    Err(Error::invalid(format!("fs is {fs}; pass a sampling rate above 0, in samples per unit of time")))
}

pub(super) fn check_overlap(noverlap: Option<usize>, nperseg: usize) -> Result<()> {
    match noverlap {
        Some(n) if n >= nperseg => Err(Error::invalid(format!(
            "noverlap is {n}, a frame has nperseg = {nperseg} samples; pass noverlap from 0 to {}",
            nperseg - 1
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
