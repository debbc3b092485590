//! What a cut into frames means for a channel of some length.

use super::{Boundary, Detrend, Segments, Taper, check_overlap};
use crate::error::{Error, Result};

/// Where the frames of a channel lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Samples of the channel that count.
    pub samples: usize,
    /// Samples of a frame.
    pub nperseg: usize,
    /// From one frame to the next.
    pub step: usize,
    /// Points of the transform.
    pub nfft: usize,
    /// Samples put before the channel, and after it.
    pub edge: usize,
    /// How many frames there are.
    pub frames: usize,
    /// How the channel goes on.
    pub boundary: Boundary,
    /// What is taken off a frame.
    pub detrend: Detrend,
}

impl Geometry {
    /// Frequencies of a one-sided spectrum.
    pub fn bins(&self) -> usize {
        self.nfft / 2 + 1
    }

    /// How often a frequency counts: twice where its negative is left out.
    pub fn sides(&self, bin: usize) -> f64 {
        if bin == 0 || 2 * bin == self.nfft { 1.0 } else { 2.0 }
    }

    /// The frequencies.
    pub fn frequencies(&self, fs: f64) -> Vec<f64> {
        frequencies(self.nfft, fs)
    }

    /// The middle of each frame.
    pub fn times(&self, fs: f64) -> Vec<f64> {
        let first = self.nperseg as f64 / 2.0;
        let shift = if self.boundary == Boundary::None { 0.0 } else { first / fs };
        (0..self.frames).map(|k| (first + (k * self.step) as f64) / fs - shift).collect()
    }
}

/// Those of a one-sided spectrum of `nfft` points.
pub(crate) fn frequencies(nfft: usize, fs: f64) -> Vec<f64> {
    (0..nfft / 2 + 1).map(|k| k as f64 * fs / nfft as f64).collect()
}

impl Segments {
    /// The frames of a channel of so many samples, one at least.
    pub fn geometry(&self, samples: usize) -> Result<Geometry> {
        if samples == 0 {
            return Err(Error::shape("a channel without samples has no frames; pass at least one sample"));
        }
        let (samples, nperseg) = match (self.whole, &self.taper) {
            (true, _) => (samples.min(self.nfft.unwrap_or(samples)), samples.min(self.nfft.unwrap_or(samples))),
            (false, Taper::Values(values)) if values.len() > samples => {
                return Err(Error::shape(format!(
                    "the window has {} weights, a channel {samples} samples; pass longer channels or a shorter window",
                    values.len()
                )));
            }
            (false, _) => (samples, self.nominal().min(samples)),
        };
        if let (true, Taper::Values(values)) = (self.whole, &self.taper)
            && values.len() != nperseg
        {
            return Err(Error::shape(format!(
                "the window has {} weights, {nperseg} samples are transformed; pass as many",
                values.len()
            )));
        }
        let nfft = self.nfft.unwrap_or(nperseg);
        if nfft < nperseg {
            return Err(Error::invalid(format!(
                "nfft is {nfft}, a frame has nperseg = {nperseg} samples; pass nfft of {nperseg} or more"
            )));
        }
        if nfft > isize::MAX as usize / 64 {
            return Err(Error::invalid(format!("a transform of nfft = {nfft} points does not fit in memory")));
        }
        let noverlap = if self.whole { 0 } else { self.noverlap.unwrap_or(nperseg / self.share) };
        check_overlap(Some(noverlap), nperseg)?;
        let step = nperseg - noverlap;
        let edge = if self.boundary == Boundary::None { 0 } else { nperseg / 2 };
        let mut length = samples + 2 * edge;
        if self.padded {
            // As scipy has it: up to the next whole frame.
            length += ((step - (length - nperseg) % step) % step) % nperseg;
        }
        let frames = (length - nperseg) / step + 1;
        Ok(Geometry { samples, nperseg, step, nfft, edge, frames, boundary: self.boundary, detrend: self.detrend })
    }
}
