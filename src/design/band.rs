//! What a filter lets through, and the way from an analogue low-pass to it.

use std::f64::consts::PI;

use super::Zpk;
use crate::error::{Error, Result};

/// What a filter lets through; frequencies in the unit of the sampling rate, at the edges that the
/// design names (-3 dB for Butterworth).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Band {
    /// Everything below.
    Low(f64),
    /// Everything above.
    High(f64),
    /// Everything between the two.
    Pass(f64, f64),
    /// Everything but what lies between the two.
    Stop(f64, f64),
}

impl Band {
    /// Checks the frequencies against the sampling rate.
    pub(super) fn check(self, fs: f64) -> Result<()> {
        if !(fs.is_finite() && fs > 0.0) {
            return Err(Error::invalid(format!(
                "sampling rate fs = {fs:?} is not possible; pass a finite number above 0"
            )));
        }
        let edges = match self {
            Band::Low(f) | Band::High(f) => [f, f],
            Band::Pass(lo, hi) | Band::Stop(lo, hi) => [lo, hi],
        };
        for f in edges {
            if !(f > 0.0 && f < 0.5 * fs) {
                return Err(Error::invalid(format!(
                    "cutoff frequency {f:?} is not possible at sampling rate {fs:?}; it must be above 0 and below {:?} (half of it)",
                    0.5 * fs
                )));
            }
        }
        if matches!(self, Band::Pass(lo, hi) | Band::Stop(lo, hi) if lo >= hi) {
            return Err(Error::invalid(format!(
                "band edges {:?} and {:?} do not rise; pass the lower one first, and two different ones",
                edges[0], edges[1]
            )));
        }
        Ok(())
    }

    /// The digital filter of an analogue low-pass prototype, its edges pre-warped so that they land where asked.
    pub(super) fn apply(self, prototype: Zpk, fs: f64) -> Zpk {
        // In units where the sampling rate is 2, as in scipy: extreme rates do not leave float64's range.
        let warp = |f: f64| 4.0 * (PI * (f / fs)).tan();
        let edges = |lo: f64, hi: f64| {
            let (lo, hi) = (warp(lo), warp(hi));
            ((lo * hi).sqrt(), hi - lo)
        };
        let analogue = match self {
            Band::Low(f) => prototype.lowpass(warp(f)),
            Band::High(f) => prototype.highpass(warp(f)),
            Band::Pass(lo, hi) => {
                let (centre, width) = edges(lo, hi);
                prototype.bandpass(centre, width)
            }
            Band::Stop(lo, hi) => {
                let (centre, width) = edges(lo, hi);
                prototype.bandstop(centre, width)
            }
        };
        analogue.bilinear(2.0)
    }
}
