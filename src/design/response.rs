//! Frequency response.

use super::{Complex, Sos, Tf};

/// The response of a filter `b, a` at the given frequencies in radians per sample: `scipy.signal.freqz(b, a, w)[1]`.
///
/// At the frequency `f` of a signal sampled at `fs`, `w` is `2 pi f / fs`. Where poles or zeros lie near 1, sections
/// ([`freqz_sos`]) keep more digits.
///
/// ```
/// use dspk::design::{Tf, freqz};
/// let mean_of_two = Tf::new(&[0.5, 0.5], &[1.0])?;
/// let h = freqz(&mean_of_two, &[0.0, std::f64::consts::PI]);
/// assert!((h[0].abs() - 1.0).abs() < 1e-15 && h[1].abs() < 1e-15);
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn freqz(tf: &Tf, w: &[f64]) -> Vec<Complex> {
    let respond = |w: f64| {
        let delay = Complex::new(w.cos(), -w.sin());
        let at = |c: &[f64]| c.iter().rev().fold(Complex::default(), |sum, c| sum * delay + Complex::from(*c));
        at(tf.b()) / at(tf.a())
    };
    w.iter().map(|&w| respond(w)).collect()
}

/// The response of a cascade at the given frequencies in radians per sample: `scipy.signal.freqz_sos(sos, w)[1]`
/// (`sosfreqz` by its older name).
///
/// ```
/// use dspk::design::{Band, butter, freqz_sos};
/// // At the cutoff, a quarter of the sampling rate, half of the power is left.
/// let h = freqz_sos(&butter(3, Band::Low(0.25), 1.0)?, &[0.5 * std::f64::consts::PI]);
/// assert!((h[0].norm_sqr() - 0.5).abs() < 1e-12);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// A section is evaluated as a polynomial in `1 - 1/z` (in `1 + 1/z` in the upper half of the band), which keeps its
/// digits where poles and zeros crowd at `z = 1` or `z = -1`; a plain sum loses all of them at 0.1 Hz of 30 kHz.
#[doc(alias = "sosfreqz")]
pub fn freqz_sos(sos: &Sos, w: &[f64]) -> Vec<Complex> {
    let respond = |w: f64| {
        let delay = Delay::at(w);
        sos.sections().iter().fold(Complex::from(1.0), |h, &[b0, b1, b2, a0, a1, a2]| {
            h * delay.polynomial(b0, b1, b2) / delay.polynomial(a0, a1, a2)
        })
    };
    w.iter().map(|&w| respond(w)).collect()
}

/// `1/z` on the unit circle as `side * (1 - d)`.
struct Delay {
    side: f64,
    d: Complex,
}

impl Delay {
    fn at(w: f64) -> Self {
        let (sin, cos) = w.sin_cos();
        let (half_sin, half_cos) = (0.5 * w).sin_cos();
        if cos >= 0.0 {
            Delay { side: 1.0, d: Complex::new(2.0 * half_sin * half_sin, sin) }
        } else {
            Delay { side: -1.0, d: Complex::new(2.0 * half_cos * half_cos, -sin) }
        }
    }

    /// `c0 + c1/z + c2/z^2`.
    fn polynomial(&self, c0: f64, c1: f64, c2: f64) -> Complex {
        let c1 = c1 * self.side;
        let constant = super::sos::sum_at_one(c0, c1, c2);
        Complex::from(constant) - self.d * (c1 + 2.0 * c2) + self.d * self.d * c2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Band, butter};

    #[test]
    fn equals_the_plain_sum() {
        let sos = Sos::new(vec![[0.3, -0.2, 0.5, 1.0, -0.4, 0.3], [1.0, 0.7, 0.0, 1.0, 0.6, 0.2]]).unwrap();
        for w in [0.0, 0.1, 1.0, 1.6, 2.5, std::f64::consts::PI, 5.0] {
            let delay = Complex::new(w.cos(), -w.sin());
            let plain = sos.sections().iter().fold(Complex::from(1.0), |h, s| {
                let p = |c: &[f64]| Complex::from(c[0]) + delay * c[1] + delay * delay * c[2];
                h * p(&s[..3]) / p(&s[3..])
            });
            assert!((freqz_sos(&sos, &[w])[0] - plain).abs() < 1e-14, "{w}");
        }
    }

    #[test]
    fn coefficients_and_sections_respond_alike() {
        let sos = butter(3, Band::Pass(0.1, 0.3), 1.0).unwrap();
        let w: Vec<f64> = (0..50).map(|k| 0.07 * f64::from(k)).collect();
        let h = freqz(&sos.to_tf().unwrap(), &w);
        h.iter().zip(freqz_sos(&sos, &w)).for_each(|(a, b)| assert!((*a - b).abs() < 1e-12, "{a:?} {b:?}"));
    }

    #[test]
    fn a_very_low_cutoff_has_half_the_power_where_asked() {
        // What limits it is the coefficients' own rounding: half an ulp of a1 is 3e-7 of 1 + a1 + a2.
        let f = 2.0 * std::f64::consts::PI * 0.1 / 30_000.0;
        for band in [Band::Low(0.1), Band::High(0.1)] {
            let h = freqz_sos(&butter(2, band, 30_000.0).unwrap(), &[f])[0].abs();
            assert!((h - 0.5f64.sqrt()).abs() < 1e-6, "{band:?}: {h}");
        }
    }
}
