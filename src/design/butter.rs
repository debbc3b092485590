//! Butterworth filters.

use std::f64::consts::PI;

use super::zpk::{Roots, Zpk};
use super::{Complex, Sos};
use crate::error::{Error, Result};

/// What a filter lets through; frequencies in the unit of the sampling rate, at the -3 dB points.
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

/// Orders above this are refused: no filter of use has one, and the gain runs out of float64's range.
const MAX_ORDER: usize = 500;

/// A Butterworth filter: `scipy.signal.butter(order, ..., fs=fs, output="sos")`.
///
/// The cascade has `ceil(order / 2)` sections, for [`Band::Pass`] and [`Band::Stop`] `order` sections (their order counts twice).
///
/// ```
/// use dspk::design::{Band, butter};
/// let sos = butter(4, Band::High(300.0), 30_000.0)?;
/// assert_eq!(sos.len(), 2);
/// assert!(butter(4, Band::High(15_000.0), 30_000.0).is_err(), "at the Nyquist frequency");
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// An order outside 1 to 500, a sampling rate that is not positive and finite, a frequency that is not above 0 and
/// below half the sampling rate, band edges that do not rise, or a gain beyond float64.
pub fn butter(order: usize, band: Band, fs: f64) -> Result<Sos> {
    if !(1..=MAX_ORDER).contains(&order) {
        return Err(Error::invalid(format!(
            "filter order {order} is not possible; pass 1 to {MAX_ORDER} (2 to 8 is usual)"
        )));
    }
    band.check(fs)?;
    band.apply(prototype(order), fs).into_sos()
}

/// The analogue low-pass of the given order with cutoff 1 rad/s: its poles divide the left half of the unit circle.
fn prototype(order: usize) -> Zpk {
    let mut poles = Roots::default();
    for k in 0..order / 2 {
        // Half the angle between the pole and the imaginary axis's end, 2k + 1 of 2 * order steps.
        let angle = PI * (2 * k + 1) as f64 / (2 * order) as f64;
        poles.pairs.push(Complex::new(-angle.sin(), angle.cos()));
    }
    if order % 2 == 1 {
        poles.real.push(-1.0);
    }
    Zpk { zeros: Roots::default(), poles, gain: 1.0 }
}

impl Band {
    /// Checks the frequencies against the sampling rate.
    fn check(self, fs: f64) -> Result<()> {
        if !(fs.is_finite() && fs > 0.0) {
            return Err(Error::invalid(format!(
                "sampling rate fs = {fs} is not possible; pass a finite number above 0"
            )));
        }
        let edges = match self {
            Band::Low(f) | Band::High(f) => [f, f],
            Band::Pass(lo, hi) | Band::Stop(lo, hi) => [lo, hi],
        };
        for f in edges {
            if !(f > 0.0 && f < 0.5 * fs) {
                return Err(Error::invalid(format!(
                    "cutoff frequency {f} is not possible at sampling rate {fs}; it must be above 0 and below {} (half of it)",
                    0.5 * fs
                )));
            }
        }
        if matches!(self, Band::Pass(lo, hi) | Band::Stop(lo, hi) if lo >= hi) {
            return Err(Error::invalid(format!(
                "band edges {} and {} do not rise; pass the lower one first, and two different ones",
                edges[0], edges[1]
            )));
        }
        Ok(())
    }

    /// The digital filter of an analogue low-pass prototype, its edges pre-warped so that they land where asked.
    fn apply(self, prototype: Zpk, fs: f64) -> Zpk {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::freqz_sos;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_no_filter_can_do() {
        let message = |order, band, fs| butter(order, band, fs).unwrap_err().to_string();
        assert!(message(0, Band::Low(10.0), 100.0).contains("1 to 500"));
        assert!(message(501, Band::Low(10.0), 100.0).contains("1 to 500"));
        for fs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(message(2, Band::Low(10.0), fs).contains("finite number above 0"));
        }
        for f in [0.0, -1.0, 50.0, 60.0, f64::NAN, f64::INFINITY] {
            for band in [Band::Low(f), Band::High(f), Band::Pass(f, 20.0), Band::Stop(10.0, f)] {
                assert!(message(2, band, 100.0).contains("below 50"), "{band:?}");
            }
        }
        assert!(message(2, Band::Pass(20.0, 10.0), 100.0).contains("do not rise"));
        assert!(message(2, Band::Stop(10.0, 10.0), 100.0).contains("do not rise"));
        assert!(message(400, Band::Low(1e-3), 30_000.0).contains("beyond the range"));
    }

    #[test]
    fn a_band_too_narrow_for_float64_is_refused_or_stable() {
        let lo = 10.0_f64;
        match butter(4, Band::Pass(lo, lo.next_up()), 100.0) {
            Ok(sos) => assert!(sos.sections().iter().flatten().all(|v| v.is_finite())),
            Err(e) => assert!(e.to_string().contains("beyond the range") || e.to_string().contains("finite")),
        }
    }

    fn bands() -> impl Strategy<Value = Band> {
        let edge = 0.002..0.49_f64;
        (edge.clone(), edge, 0..4).prop_filter_map("too narrow", |(a, b, kind)| match kind {
            0 => Some(Band::Low(a)),
            1 => Some(Band::High(a)),
            _ if (a - b).abs() < 0.01 => None,
            2 => Some(Band::Pass(a.min(b), a.max(b))),
            _ => Some(Band::Stop(a.min(b), a.max(b))),
        })
    }

    proptest! {
        #[test]
        fn every_design_is_stable_and_passes_half_the_power_at_its_edges(band in bands(), order in 1usize..=8) {
            let sos = butter(order, band, 1.0).unwrap();
            let edges = match band {
                Band::Low(f) | Band::High(f) => vec![f],
                Band::Pass(lo, hi) | Band::Stop(lo, hi) => vec![lo, hi],
            };
            prop_assert_eq!(sos.len(), if edges.len() == 2 { order } else { order.div_ceil(2) });
            prop_assert!(sos.is_stable());
            let w: Vec<f64> = edges.iter().map(|f| 2.0 * PI * f).collect();
            for h in freqz_sos(&sos, &w) {
                prop_assert!((h.abs() - 0.5f64.sqrt()).abs() < 1e-8, "{} at an edge", h.abs());
            }
            let passes = match band {
                Band::Low(_) | Band::Stop(..) => 0.0,
                Band::High(_) => PI,
                // The centre of the pre-warped band.
                Band::Pass(lo, hi) => 2.0 * ((PI * lo).tan() * (PI * hi).tan()).sqrt().atan(),
            };
            prop_assert!((freqz_sos(&sos, &[passes])[0].abs() - 1.0).abs() < 1e-8);
        }
    }
}
