//! Recursive filters by their analogue prototypes, `scipy.signal.iirfilter` and its kin.
//!
//! Prototype, frequency transform with pre-warped edges, bilinear transform: all on zeros, poles and gain (Parks and
//! Burrus, *Digital Filter Design*, 1987; Oppenheim and Schafer, *Discrete-Time Signal Processing*, ch. 7).

use super::{Band, BesselNorm, Prototype, Sos, Zpk};
use crate::error::{Error, Result};

/// A digital filter of any kind as zeros, poles and gain: `scipy.signal.iirfilter(order, ..., fs=fs, output="zpk")`.
///
/// ```
/// use dspk::design::{Band, Prototype, iirfilter};
/// let zpk = iirfilter(4, Prototype::Cheby2 { rs: 40.0 }, Band::Low(300.0), 30_000.0)?;
/// assert_eq!((zpk.zeros().len(), zpk.poles().len()), (4, 4));
/// assert!(zpk.is_stable());
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// An order outside 1 to 500, ripples outside the ranges stated at [`Prototype`] or above 3000 dB, a sampling rate that is
/// not positive and finite, a frequency that is not above 0 and below half the sampling rate, band edges that do not
/// rise, or a design so extreme that its poles round onto the unit circle.
pub fn iirfilter(order: usize, prototype: Prototype, band: Band, fs: f64) -> Result<Zpk> {
    let analogue = prototype.analogue(order)?;
    band.check(fs)?;
    let zpk = band.apply(analogue, fs);
    if !zpk.is_stable() {
        return Err(Error::invalid(format!(
            "the poles of this filter of order {order} at fs = {fs:?} round onto the unit circle in float64, where it would be unstable; use a wider band, a higher cutoff or less ripple"
        )));
    }
    Ok(zpk)
}

/// A Butterworth filter: `scipy.signal.butter(order, ..., fs=fs, output="sos")`.
///
/// The cascade has `ceil(order / 2)` sections, for [`Band::Pass`] and [`Band::Stop`] `order` sections (their order counts
/// twice); so do the other kinds'.
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
    iirfilter(order, Prototype::Butter, band, fs)?.to_sos()
}

/// A Chebyshev filter of the first kind, `rp` dB of ripple in the pass band:
/// `scipy.signal.cheby1(order, rp, ..., fs=fs, output="sos")`. The edges are where the gain leaves the ripple.
///
/// ```
/// use dspk::design::{Band, cheby1, freqz_sos};
/// let sos = cheby1(5, 1.0, Band::Low(100.0), 1000.0)?;
/// let at_edge = freqz_sos(&sos, &[2.0 * std::f64::consts::PI * 0.1])[0].abs();
/// assert!((20.0 * at_edge.log10() + 1.0).abs() < 1e-9);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`butter`], and `rp` not above 0 and at most 3000.
pub fn cheby1(order: usize, rp: f64, band: Band, fs: f64) -> Result<Sos> {
    iirfilter(order, Prototype::Cheby1 { rp }, band, fs)?.to_sos()
}

/// A Chebyshev filter of the second kind, `rs` dB of attenuation in the stop band:
/// `scipy.signal.cheby2(order, rs, ..., fs=fs, output="sos")`. The edges are where the gain first falls to `-rs`.
///
/// ```
/// use dspk::design::{Band, cheby2, freqz_sos};
/// let sos = cheby2(5, 40.0, Band::Low(100.0), 1000.0)?;
/// let at_edge = freqz_sos(&sos, &[2.0 * std::f64::consts::PI * 0.1])[0].abs();
/// assert!((20.0 * at_edge.log10() + 40.0).abs() < 1e-9);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`butter`], and `rs` not above 0 and at most 3000.
pub fn cheby2(order: usize, rs: f64, band: Band, fs: f64) -> Result<Sos> {
    iirfilter(order, Prototype::Cheby2 { rs }, band, fs)?.to_sos()
}

/// An elliptic (Cauer) filter, `rp` dB of ripple in the pass band and `rs` dB of attenuation in the stop band:
/// `scipy.signal.ellip(order, rp, rs, ..., fs=fs, output="sos")`. The edges are where the gain leaves the ripple.
///
/// Where the band between them gets very narrow (high orders, `rs` close to `rp`), scipy loses digits of `1 - m`, the
/// complement of its elliptic parameter; here none are lost.
///
/// ```
/// use dspk::design::{Band, ellip};
/// assert_eq!(ellip(4, 0.1, 40.0, Band::Pass(300.0, 6000.0), 30_000.0)?.len(), 4);
/// assert!(ellip(4, 1.0, 0.5, Band::Low(300.0), 30_000.0).is_err(), "stops less than it may ripple");
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`butter`], `rp` not above 0, and `rs` not above `rp` and at most 3000.
pub fn ellip(order: usize, rp: f64, rs: f64, band: Band, fs: f64) -> Result<Sos> {
    iirfilter(order, Prototype::Ellip { rp, rs }, band, fs)?.to_sos()
}

/// A Bessel (Thomson) filter: `scipy.signal.bessel(order, ..., norm=norm, fs=fs, output="sos")`.
///
/// The analogue filter has a delay as constant as its order allows; the bilinear transform keeps that only well below the
/// sampling rate. `norm` says what the edge is.
///
/// ```
/// use dspk::design::{Band, BesselNorm, bessel};
/// let sos = bessel(4, BesselNorm::Phase, Band::Low(1000.0), 30_000.0)?;
/// assert!(sos.is_stable());
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`butter`].
pub fn bessel(order: usize, norm: BesselNorm, band: Band, fs: f64) -> Result<Sos> {
    iirfilter(order, Prototype::Bessel(norm), band, fs)?.to_sos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::freqz_sos;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    const KINDS: [Prototype; 7] = [
        Prototype::Butter,
        Prototype::Cheby1 { rp: 1.0 },
        Prototype::Cheby2 { rs: 40.0 },
        Prototype::Ellip { rp: 0.5, rs: 50.0 },
        Prototype::Bessel(BesselNorm::Phase),
        Prototype::Bessel(BesselNorm::Delay),
        Prototype::Bessel(BesselNorm::Mag),
    ];

    #[test]
    fn refuses_what_no_filter_can_do() {
        for kind in KINDS {
            let message = |order, band, fs| iirfilter(order, kind, band, fs).unwrap_err().to_string();
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
        }
        let message = butter(400, Band::Low(1e-3), 30_000.0).unwrap_err().to_string();
        assert!(message.contains("beyond the range"));
    }

    #[test]
    fn refuses_ripples_that_are_none() {
        let band = Band::Low(0.2);
        for db in [0.0, -1.0, f64::NAN, f64::INFINITY, 3001.0] {
            let e = cheby1(4, db, band, 1.0).unwrap_err();
            assert!(e.to_string().contains("above 0 and at most 3000") && e.kind().is_usage(), "{e}");
            assert!(cheby2(4, db, band, 1.0).unwrap_err().to_string().contains("rs = "));
            assert!(ellip(4, db, 3000.0, band, 1.0).is_err());
            assert!(ellip(4, 1.0, db, band, 1.0).unwrap_err().to_string().contains("above rp = 1 and at most 3000"));
        }
        assert!(ellip(4, 1.0, 1.0, band, 1.0).is_err());
    }

    #[test]
    fn a_band_too_narrow_for_float64_is_refused_or_stable() {
        let lo = 10.0_f64;
        match butter(4, Band::Pass(lo, lo.next_up()), 100.0) {
            Ok(sos) => assert!(sos.sections().iter().flatten().all(|v| v.is_finite())),
            Err(e) => assert!(["beyond the range", "finite", "unit circle"].iter().any(|w| e.to_string().contains(w))),
        }
    }

    #[test]
    fn extreme_orders_and_ripples_are_stable_or_refused() {
        for order in [1, 2, 3, 30, 101, 500] {
            // One norm at the highest order: all three take their roots from one system.
            let count = if order > 200 { 5 } else { KINDS.len() };
            for kind in KINDS.into_iter().take(count) {
                match iirfilter(order, kind, Band::Low(0.2), 1.0) {
                    Ok(zpk) => assert!(zpk.is_stable(), "{order} {kind:?}"),
                    Err(e) => assert!(e.kind().is_usage(), "{e}"),
                }
            }
            for (rp, rs) in [(1e-9, 3000.0), (1e-12, 1e-11), (100.0, 101.0), (1.0, 1.0f64.next_up())] {
                match iirfilter(order, Prototype::Ellip { rp, rs }, Band::Low(0.2), 1.0) {
                    Ok(zpk) => assert!(zpk.is_stable(), "{order} {rp} {rs}"),
                    Err(e) => assert!(e.to_string().contains("round onto the unit circle"), "{e}"),
                }
            }
        }
        let e = cheby1(1, 2999.0, Band::Low(0.2), 1.0).unwrap_err();
        assert!(e.to_string().contains("round onto the unit circle"), "{e}");
    }

    fn bands(lowest: f64) -> impl Strategy<Value = Band> {
        let edge = lowest..0.49_f64;
        (edge.clone(), edge, 0..4).prop_filter_map("too narrow", |(a, b, kind)| match kind {
            0 => Some(Band::Low(a)),
            1 => Some(Band::High(a)),
            _ if (a - b).abs() < 0.01 => None,
            2 => Some(Band::Pass(a.min(b), a.max(b))),
            _ => Some(Band::Stop(a.min(b), a.max(b))),
        })
    }

    fn edges(band: Band) -> Vec<f64> {
        match band {
            Band::Low(f) | Band::High(f) => vec![f],
            Band::Pass(lo, hi) | Band::Stop(lo, hi) => vec![lo, hi],
        }
    }

    fn passes(band: Band, f: f64) -> bool {
        match band {
            Band::Low(edge) => f <= edge,
            Band::High(edge) => f >= edge,
            Band::Pass(lo, hi) => (lo..=hi).contains(&f),
            Band::Stop(lo, hi) => !(lo..=hi).contains(&f),
        }
    }

    fn gain(sos: &Sos, f: f64) -> f64 {
        20.0 * freqz_sos(sos, &[2.0 * PI * f])[0].abs().log10()
    }

    proptest! {
        #[test]
        fn every_butterworth_passes_half_the_power_at_its_edges(band in bands(0.002), order in 1usize..=8) {
            let sos = butter(order, band, 1.0).unwrap();
            let edges = edges(band);
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

        #[test]
        fn ripples_stay_within_what_was_asked_for(
            band in bands(0.02), order in 1usize..=8, rp in 0.1..3.0_f64, more in 20.0..80.0_f64,
        ) {
            let rs = rp + more;
            for kind in [Prototype::Cheby1 { rp }, Prototype::Cheby2 { rs }, Prototype::Ellip { rp, rs }] {
                let zpk = iirfilter(order, kind, band, 1.0).unwrap();
                prop_assert!(zpk.is_stable());
                let sos = zpk.to_sos().unwrap();
                prop_assert!(sos.is_stable());
                let at_edge = if matches!(kind, Prototype::Cheby2 { .. }) { -rs } else { -rp };
                for f in edges(band) {
                    prop_assert!((gain(&sos, f) - at_edge).abs() < 1e-4, "{:?}: {} at {}", kind, gain(&sos, f), f);
                }
                for k in 0..=200 {
                    let f = 0.0025 * f64::from(k);
                    let (g, inside) = (gain(&sos, f), passes(band, f));
                    prop_assert!(g < 1e-4, "{:?}: {} at {}", kind, g, f);
                    match kind {
                        Prototype::Cheby2 { .. } if !inside => prop_assert!(g < 1e-4 - rs, "{:?}: {} at {}", kind, g, f),
                        Prototype::Cheby2 { .. } => (),
                        _ if inside => prop_assert!(g > -rp - 1e-4, "{:?}: {} at {}", kind, g, f),
                        _ => prop_assert!(g < 1e-4 - rp, "{:?}: {} at {}", kind, g, f),
                    }
                }
                if let (Prototype::Ellip { .. }, Band::Low(_)) = (kind, band) {
                    // In its own stop band: at the highest frequency.
                    prop_assert!(gain(&sos, 0.5) < 1e-4 - rp);
                }
            }
        }
    }
}
