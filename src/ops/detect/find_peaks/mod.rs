//! Peaks of channels, with every condition and property of scipy's `find_peaks`.
//!
//! The samples at which peaks can begin are found on the runtime; the rules, which look along the channel, run on the host
//! in float64, channels in parallel. Prominences take one pass over a channel, however many peaks it has and however high.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::ops::execute;
use crate::ops::registry::{Entry, Representative, once_each};
use crate::signal::Source;

pub(crate) mod command;
mod rises;
mod rules;

use rises::Rises;

/// The values of a property that are wanted, both ends included; an end that is `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// The least.
    pub min: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
}

impl Interval {
    /// This value and all above it.
    pub fn at_least(min: f64) -> Self {
        Interval { min: Some(min), max: None }
    }

    /// From one value to another.
    pub fn between(min: f64, max: f64) -> Self {
        Interval { min: Some(min), max: Some(max) }
    }

    /// Every value: for a property that is wanted, but no condition.
    pub fn any() -> Self {
        Interval::default()
    }

    /// NaN is in no interval that has an end.
    fn holds(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// Which peaks [`find_peaks`] gives; scipy's names and defaults. Each condition that is set also gives its property.
#[derive(Debug, Clone, PartialEq)]
pub struct PeakOptions {
    /// The value at the peak. Default: `None`, no condition.
    pub height: Option<Interval>,
    /// How far the peak is above both its neighbours. Default: `None`.
    pub threshold: Option<Interval>,
    /// Samples between neighbouring peaks, at least 1: lower peaks go until that holds. Default: `None`.
    pub distance: Option<f64>,
    /// How far the peak stands out (see [`Prominence`]). Default: `None`.
    pub prominence: Option<Interval>,
    /// Samples that it is wide at `rel_height` (see [`Width`]). Default: `None`.
    pub width: Option<Interval>,
    /// Samples of the window, centred on the peak, in which prominences are found, above 1; rounded up to an odd number.
    /// Default: `None`, the whole channel.
    pub wlen: Option<f64>,
    /// The share of the prominence below the top at which widths are measured, at least 0. Default: 0.5.
    pub rel_height: f64,
    /// Samples of the flat top. Default: `None`.
    pub plateau_size: Option<Interval>,
    /// The runtime, by name; default: the current one (see [`crate::runtime::set`]).
    pub runtime: Option<String>,
}

impl Default for PeakOptions {
    fn default() -> Self {
        PeakOptions {
            height: None,
            threshold: None,
            distance: None,
            prominence: None,
            width: None,
            wlen: None,
            rel_height: 0.5,
            plateau_size: None,
            runtime: None,
        }
    }
}

impl PeakOptions {
    fn window(&self) -> Option<usize> {
        // Beyond what a channel has, all of it.
        self.wlen.map(|wlen| wlen.ceil() as usize)
    }

    fn check(&self) -> Result<()> {
        if let Some(distance) = self.distance.filter(|d| d.is_nan() || *d < 1.0) {
            return Err(Error::invalid(format!("distance = {distance:?} is not possible; pass at least 1 sample")));
        }
        if let Some(wlen) = self.wlen.filter(|w| w.is_nan() || *w <= 1.0) {
            return Err(Error::invalid(format!("wlen = {wlen:?} is not possible; pass more than 1 sample")));
        }
        if !(self.rel_height >= 0.0 && self.rel_height.is_finite()) {
            return Err(Error::invalid(format!(
                "rel_height = {:?} is not possible; pass a finite number of at least 0",
                self.rel_height
            )));
        }
        let named = [
            ("height", self.height),
            ("threshold", self.threshold),
            ("prominence", self.prominence),
            ("width", self.width),
            ("plateau_size", self.plateau_size),
        ];
        for (name, interval) in named {
            let Some(Interval { min, max }) = interval else { continue };
            if [min, max].into_iter().flatten().any(f64::is_nan) {
                return Err(Error::invalid(format!("an end of the interval of {name} is NaN; leave it open instead")));
            }
        }
        Ok(())
    }
}

/// A flat top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plateau {
    /// Its first sample.
    pub left: usize,
    /// Its last one.
    pub right: usize,
}

impl Plateau {
    /// Its samples.
    pub fn size(&self) -> usize {
        self.right - self.left + 1
    }
}

/// How far a peak stands out: the height above the higher one of its bases, the lowest points on both sides before the
/// signal is above the peak or the window ends. See `scipy.signal.peak_prominences`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prominence {
    /// The height above the higher base.
    pub prominence: f64,
    /// Sample of the base before it.
    pub left_base: usize,
    /// Sample of the base behind it.
    pub right_base: usize,
}

/// How wide a peak is at a height, in samples. See `scipy.signal.peak_widths`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Width {
    /// `right - left`.
    pub width: f64,
    /// The height at which it is measured.
    pub height: f64,
    /// Where the signal crosses that height before the peak, interpolated.
    pub left: f64,
    /// Where it crosses it behind the peak.
    pub right: f64,
}

/// Peaks of a channel in the order of time, and those properties that were conditions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Peaks {
    /// Samples of the peaks; of a flat top, its middle.
    pub indices: Vec<usize>,
    /// With `plateau_size`: the flat tops.
    pub plateaus: Option<Vec<Plateau>>,
    /// With `height`: the values at the peaks.
    pub heights: Option<Vec<f64>>,
    /// With `threshold`: how far each is above its neighbours, before and behind.
    pub thresholds: Option<Vec<[f64; 2]>>,
    /// With `prominence` or `width`.
    pub prominences: Option<Vec<Prominence>>,
    /// With `width`.
    pub widths: Option<Vec<Width>>,
}

impl Peaks {
    fn retain(&mut self, keep: &[bool]) {
        fn chosen<T>(values: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().is_some_and(|k| *k));
        }
        chosen(&mut self.indices, keep);
        self.plateaus.iter_mut().for_each(|v| chosen(v, keep));
        self.heights.iter_mut().for_each(|v| chosen(v, keep));
        self.thresholds.iter_mut().for_each(|v| chosen(v, keep));
        self.prominences.iter_mut().for_each(|v| chosen(v, keep));
        self.widths.iter_mut().for_each(|v| chosen(v, keep));
    }
}

/// The peaks of every channel: `scipy.signal.find_peaks(x[c], ...)`.
///
/// A peak is a sample, or a flat top, that is above what stands on both of its sides; the ends of a channel are none, nor are
/// NaN and what stands beside one. `x` is any `[channels, samples]` array of `f32` or `i16`; properties are float64. Of
/// peaks that are equally high, and nearer to each other than `distance`, the last one stays (scipy leaves that open).
///
/// # Errors
/// A `distance` below 1, a `wlen` of 1 or less, a negative `rel_height`, NaN among the conditions, a runtime that cannot be
/// used, or no memory.
///
/// ```
/// use dspk::ops::detect::{Interval, PeakOptions, find_peaks};
/// use dspk::signal::View;
/// let x = [0.0f32, 2.0, 1.0, 5.0, 0.0, 3.0, 3.0, 0.0];
/// let options = PeakOptions { prominence: Some(Interval::at_least(2.5)), ..Default::default() };
/// let peaks = &find_peaks(View::new(&x, 1, 8)?, &options)?[0];
/// assert_eq!(peaks.indices, [3, 5]);
/// assert_eq!(peaks.prominences.as_ref().map(|p| p[0].prominence), Some(5.0));
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn find_peaks<'a>(x: impl Into<Source<'a>>, options: &PeakOptions) -> Result<Vec<Peaks>> {
    FindPeaks::new(options)?.apply(x)
}

/// A search for peaks ready for any recording.
///
/// ```
/// use dspk::ops::detect::{FindPeaks, PeakOptions};
/// use dspk::signal::View;
/// let search = FindPeaks::new(&PeakOptions { distance: Some(3.0), ..Default::default() })?;
/// let peaks = search.apply(View::new(&[0i16, 2, 1, 5, 0, 7, 0, 0, 4, 0], 2, 5)?)?;
/// assert_eq!((&peaks[0].indices[..], &peaks[1].indices[..]), (&[3][..], &[3][..]));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FindPeaks {
    options: PeakOptions,
}

impl FindPeaks {
    /// A plan, see [`find_peaks`].
    pub fn new(options: &PeakOptions) -> Result<Self> {
        options.check()?;
        Ok(FindPeaks { options: options.clone() })
    }

    /// Runs on the named runtime (see [`crate::runtime::set`] for the names) instead of the current one.
    pub fn on(mut self, runtime: &str) -> Self {
        self.options.runtime = Some(runtime.to_string());
        self
    }

    /// The peaks of each channel.
    pub fn apply<'a>(&self, x: impl Into<Source<'a>>) -> Result<Vec<Peaks>> {
        let x = x.into();
        let rises = execute::host(&Rises, x, None, self.options.runtime.as_deref())?;
        let of = |channel: usize| match x {
            Source::F32(v) if v.row(channel).is_some() => {
                rules::peaks(v.row(channel).unwrap_or_default(), rises.row(channel), &self.options)
            }
            _ => {
                let row: Vec<f32> = (0..x.samples()).map(|n| x.get(channel, n)).collect();
                rules::peaks(&row, rises.row(channel), &self.options)
            }
        };
        Ok((0..x.channels()).into_par_iter().with_max_len(1).map(of).collect())
    }
}

pub(crate) const ENTRY: Entry = Entry {
    command: command::COMMAND,
    kernels: &["detect/rises"],
    cpu_source: include_str!("rises.rs"),
    gpu_source: include_str!("rises.rs"),
    representatives: || Ok(vec![Representative::planar(Rises)]),
    ideal_bytes: once_each,
};

#[cfg(test)]
mod tests;
