//! Notch and peak filters of second order: `scipy.signal.iirnotch`, `iirpeak` (Orfanidis, *Introduction to Signal
//! Processing*, 1996, 11.3).

use std::f64::consts::PI;

use super::Sos;
use crate::error::{Error, Result};

/// A filter that stops one frequency, `w0`, in the unit of `fs`, and little else: `scipy.signal.iirnotch(w0, Q, fs)`.
///
/// `q` is `w0` over the width between the -3 dB points. The result is one section; scipy's `b` and `a` are its first and
/// last three values.
///
/// ```
/// use dspk::design::iirnotch;
/// let sos = iirnotch(50.0, 30.0, 1000.0)?;
/// let [b0, b1, b2, a0, a1, a2] = sos.sections()[0];
/// assert_eq!((b0, a0, b1), (b2, 1.0, a1));
/// assert!(sos.is_stable() && a2 < 1.0);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// A sampling rate that is not positive and finite, `w0` not above 0 and below half of it, or `q` that is not finite or
/// not above `w0 / (fs / 2)`, where the stop band would reach beyond every frequency there is (scipy returns an unstable
/// filter); a band so narrow that the poles round onto the unit circle.
pub fn iirnotch(w0: f64, q: f64, fs: f64) -> Result<Sos> {
    let Resonance { gain, cos } = Resonance::new(w0, q, fs)?;
    section([gain, -2.0 * cos * gain, gain, 1.0, -2.0 * gain * cos, 2.0 * gain - 1.0])
}

/// A filter that passes one frequency, `w0`, in the unit of `fs`, and little else: `scipy.signal.iirpeak(w0, Q, fs)`.
///
/// `q` is `w0` over the width between the -3 dB points. The result is one section; scipy's `b` and `a` are its first and
/// last three values.
///
/// ```
/// use dspk::design::{freqz_sos, iirpeak};
/// let sos = iirpeak(250.0, 30.0, 1000.0)?;
/// let h = freqz_sos(&sos, &[0.5 * std::f64::consts::PI, 0.0]);
/// assert!((h[0].abs() - 1.0).abs() < 1e-12 && h[1].abs() < 1e-12);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`iirnotch`].
pub fn iirpeak(w0: f64, q: f64, fs: f64) -> Result<Sos> {
    let Resonance { gain, cos } = Resonance::new(w0, q, fs)?;
    let b = 1.0 - gain;
    section([b, 0.0, -b, 1.0, -2.0 * gain * cos, 2.0 * gain - 1.0])
}

fn section(section: [f64; 6]) -> Result<Sos> {
    let sos = Sos::new(vec![section])?;
    if sos.is_stable() {
        return Ok(sos);
    }
    Err(Error::invalid(
        "the poles of this filter round onto the unit circle in float64, where it would be unstable; pass a higher w0 or a lower Q",
    ))
}

struct Resonance {
    gain: f64,
    cos: f64,
}

impl Resonance {
    fn new(w0: f64, q: f64, fs: f64) -> Result<Self> {
        if !(fs.is_finite() && fs > 0.0) {
            return Err(Error::invalid(format!(
                "sampling rate fs = {fs} is not possible; pass a finite number above 0"
            )));
        }
        let w = 2.0 * w0 / fs;
        if !(w0 > 0.0 && w < 1.0) {
            return Err(Error::invalid(format!(
                "frequency w0 = {w0} is not possible at sampling rate {fs}; it must be above 0 and below {} (half of it)",
                0.5 * fs
            )));
        }
        if !(q.is_finite() && q > w) {
            return Err(Error::invalid(format!(
                "quality factor Q = {q} is not possible at w0 = {w0}; pass a finite number above {w}, w0 over half the sampling rate (30 is usual for mains hum)"
            )));
        }
        Ok(Resonance { gain: 1.0 / (1.0 + (0.5 * PI * (w / q)).tan()), cos: (w * PI).cos() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::freqz_sos;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_is_no_notch() {
        for design in [iirnotch, iirpeak] {
            let message = |w0, q, fs| design(w0, q, fs).unwrap_err().to_string();
            for w0 in [0.0, -1.0, 50.0, 60.0, f64::NAN, f64::INFINITY] {
                assert!(message(w0, 30.0, 100.0).contains("above 0 and below 50"));
            }
            for q in [0.0, -1.0, 0.5, f64::NAN, f64::INFINITY] {
                assert!(message(25.0, q, 100.0).contains("above 0.5"), "{q}");
            }
            for fs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert!(message(10.0, 30.0, fs).contains("finite number above 0"));
            }
        }
    }

    #[test]
    fn refuses_what_float64_cannot_tell_from_an_oscillator() {
        for (w0, q) in [(1e-9, 30.0), (0.2, 1e17)] {
            for design in [iirnotch, iirpeak] {
                assert!(design(w0, q, 1.0).unwrap_err().to_string().contains("unit circle"), "{w0} {q}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_notch_and_a_peak_share_their_power(w0 in 0.01..0.49_f64, q in 1.0..200.0_f64, f in 0.0..0.5_f64) {
            let (notch, peak) = (iirnotch(w0, q, 1.0).unwrap(), iirpeak(w0, q, 1.0).unwrap());
            prop_assert!(notch.is_stable() && peak.is_stable());
            let power = |sos: &Sos, f: f64| freqz_sos(sos, &[2.0 * PI * f])[0].norm_sqr();
            prop_assert!((power(&notch, f) + power(&peak, f) - 1.0).abs() < 1e-9);
            prop_assert!(power(&notch, w0) < 1e-18 && power(&notch, 0.0) > 0.999_999);
        }
    }
}
