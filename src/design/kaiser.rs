//! Kaiser's formulas for the length and shape of a window that meets a specification (Kaiser, *Nonrecursive digital
//! filter design using the I0-sinh window function*, 1974; Oppenheim and Schafer, *Discrete-Time Signal Processing*, 7.3).

use std::f64::consts::PI;

use crate::error::{Error, Result};

/// Below this many dB the formula for the length does not hold.
const LEAST_RIPPLE: f64 = 8.0;
/// Longer filters would not fit into memory.
const MAX_TAPS: f64 = 1e12;

/// Number of taps and Kaiser's `beta` for a filter whose ripples stay below `ripple` dB and whose transition is `width`
/// wide, as a fraction of the Nyquist frequency: `scipy.signal.kaiserord(ripple, width)`. The sign of `ripple` does not
/// matter.
///
/// ```
/// let (numtaps, beta) = dspk::design::kaiserord(65.0, 24.0 / 500.0)?;
/// assert_eq!((numtaps, (beta * 1e5).round()), (167, 620_426.0));
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// A ripple below 8 dB, for which the formula does not hold, or a width that is not above 0 and at most 1.
pub fn kaiserord(ripple: f64, width: f64) -> Result<(usize, f64)> {
    let attenuation = ripple.abs();
    if !(attenuation.is_finite() && attenuation >= LEAST_RIPPLE) {
        return Err(Error::invalid(format!(
            "a ripple of {ripple} dB is outside what Kaiser's formula holds for; pass {LEAST_RIPPLE} dB or more (60 is usual)"
        )));
    }
    if !(width > 0.0 && width <= 1.0) {
        return Err(Error::invalid(format!(
            "a transition width of {width} is not possible; pass a fraction of the Nyquist frequency above 0 and at most 1"
        )));
    }
    let numtaps = ((attenuation - 7.95) / 2.285 / (PI * width) + 1.0).ceil();
    if numtaps > MAX_TAPS {
        return Err(Error::invalid(format!(
            "{attenuation} dB in a transition of {width} would take {numtaps:e} taps; pass a wider transition"
        )));
    }
    Ok((numtaps as usize, kaiser_beta(attenuation)))
}

/// Kaiser's `beta` for an attenuation in dB: `scipy.signal.kaiser_beta(a)`; 0 up to 21 dB.
///
/// ```
/// assert!((dspk::design::kaiser_beta(65.0) - 6.20426).abs() < 1e-12);
/// ```
pub fn kaiser_beta(attenuation: f64) -> f64 {
    if attenuation > 50.0 {
        0.1102 * (attenuation - 8.7)
    } else if attenuation > 21.0 {
        0.5842 * (attenuation - 21.0).powf(0.4) + 0.07886 * (attenuation - 21.0)
    } else {
        0.0
    }
}

/// The attenuation in dB that a number of taps reaches with a transition `width` wide, as a fraction of the Nyquist
/// frequency: `scipy.signal.kaiser_atten(numtaps, width)`.
///
/// ```
/// assert!((dspk::design::kaiser_atten(211, 0.0375) - 64.480_996_305_939_83).abs() < 1e-12);
/// ```
pub fn kaiser_atten(numtaps: usize, width: f64) -> f64 {
    2.285 * (numtaps as f64 - 1.0) * PI * width + 7.95
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_those_of_scipy() {
        // scipy.signal.kaiserord(ripple, width)
        for (ripple, width, numtaps, beta) in
            [(8.0, 1.0, 2, 0.0), (-40.0, 0.1, 46, 3.395_321_052_261_457_4), (50.0, 0.01, 587, 4.533_514_120_981_248)]
        {
            let got = kaiserord(ripple, width).unwrap();
            assert_eq!(got.0, numtaps);
            assert!((got.1 - beta).abs() < 1e-14, "{got:?}");
        }
    }

    #[test]
    fn refuses_what_the_formula_does_not_hold_for() {
        for ripple in [0.0, 7.9, -7.9, f64::NAN, f64::INFINITY] {
            assert!(kaiserord(ripple, 0.1).unwrap_err().to_string().contains("8 dB or more"));
        }
        for width in [0.0, -0.1, 1.1, f64::NAN] {
            assert!(kaiserord(60.0, width).unwrap_err().to_string().contains("above 0 and at most 1"));
        }
        assert!(kaiserord(60.0, 1e-300).unwrap_err().to_string().contains("wider transition"));
    }
}
