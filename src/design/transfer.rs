//! A filter as the coefficients of a fraction of polynomials, scipy's `b, a`.

use super::roots::roots;
use super::zpk::Roots;
use super::{Sos, Zpk};
use crate::error::{Error, Result};

/// A digital filter `(b[0] + b[1]/z + ...) / (1 + a[1]/z + ...)`, scipy's `b, a`; `a[0]` is 1.
///
/// Where the order is above about 8, or a cutoff far below the sampling rate, such coefficients no longer determine the
/// filter in float64: prefer [`Sos`].
///
/// ```
/// use dspk::design::Tf;
/// let tf = Tf::new(&[2.0, 1.0], &[2.0, -1.0, 0.5])?;
/// assert_eq!((tf.b(), tf.a()), (&[1.0, 0.5][..], &[1.0, -0.5, 0.25][..]));
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tf {
    b: Vec<f64>,
    a: Vec<f64>,
}

impl Tf {
    /// Checks the coefficients and divides them by `a[0]`.
    ///
    /// # Errors
    /// Empty lists, a value that is not finite (also after the division), or `a[0]` = 0.
    pub fn new(b: &[f64], a: &[f64]) -> Result<Self> {
        for (name, c) in [("b", b), ("a", a)] {
            if c.is_empty() || c.iter().any(|v| !v.is_finite()) {
                return Err(Error::invalid(format!("{name} must hold at least one coefficient, and only finite ones")));
            }
        }
        if a[0] == 0.0 {
            return Err(Error::invalid("a begins with 0; its first coefficient scales the filter and is usually 1"));
        }
        let divide = |c: &[f64]| c.iter().map(|v| v / a[0]).collect::<Vec<_>>();
        let tf = Tf { b: divide(b), a: divide(a) };
        if tf.b.iter().chain(&tf.a).any(|v| !v.is_finite()) {
            return Err(Error::invalid(format!("dividing the coefficients by a[0] = {:e} overflows", a[0])));
        }
        Ok(tf)
    }

    /// The numerator.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// The denominator, beginning with 1.
    pub fn a(&self) -> &[f64] {
        &self.a
    }

    /// Zeros, poles and gain: `scipy.signal.tf2zpk(b, a)`.
    ///
    /// As in scipy both are read as polynomials in `z`: where `a` is longer than `b`, no zeros at 0 are added, and zeros
    /// that lead `b` (a delay) are zeros at infinity.
    ///
    /// Deviation from scipy: zeros at 1 and -1, which filters have many times over, come out exactly where the coefficients
    /// allow them, while eigenvalues scatter around them; the other roots are polished in twice float64's precision.
    ///
    /// ```
    /// use dspk::design::{Complex, Tf};
    /// // A numerator (1 + 1/z)^4.
    /// let zpk = Tf::new(&[1.0, 4.0, 6.0, 4.0, 1.0], &[1.0, -0.5])?.to_zpk()?;
    /// assert_eq!(zpk.zeros(), [Complex::from(-1.0); 4]);
    /// assert_eq!(zpk.poles(), [Complex::from(0.5)]);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// A numerator of zeros, a degree above 1000, or roots beyond float64.
    #[doc(alias = "tf2zpk")]
    pub fn to_zpk(&self) -> Result<Zpk> {
        let delay = self.b.iter().take_while(|v| **v == 0.0).count();
        let b = &self.b[delay..];
        let Some(&gain) = b.first() else {
            return Err(Error::invalid("b holds only zeros, so the filter lets nothing through and has no zeros"));
        };
        let mut split = split_off_units(b);
        let rest = roots(&split.rest)?;
        split.found.append(rest);
        Ok(Zpk { zeros: split.found, poles: roots(&self.a)?, gain })
    }

    /// Second-order sections: `scipy.signal.tf2sos(b, a)`.
    ///
    /// ```
    /// use dspk::design::Tf;
    /// let sos = Tf::new(&[1.0, 2.0, 1.0], &[1.0, 0.0, 0.25])?.to_sos()?;
    /// assert_eq!(sos.sections(), [[1.0, 2.0, 1.0, 1.0, 0.0, 0.25]]);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Tf::to_zpk`]; zeros that lead `b`, a delay that scipy drops with a warning.
    #[doc(alias = "tf2sos")]
    pub fn to_sos(&self) -> Result<Sos> {
        if self.b[0] == 0.0 && self.b.iter().any(|v| *v != 0.0) {
            return Err(Error::invalid(
                "b begins with 0, a delay that sections would lose; drop the zeros that lead b and delay the signal instead",
            ));
        }
        self.to_zpk()?.to_sos()
    }
}

/// Zeros, poles and gain of a filter `b, a`: `scipy.signal.tf2zpk(b, a)`; see [`Tf::to_zpk`].
///
/// ```
/// let zpk = dspk::design::tf2zpk(&[1.0, -0.25], &[2.0, 0.0, 0.5])?;
/// assert_eq!((zpk.zeros()[0].re, zpk.poles()[1].im, zpk.gain()), (0.25, 0.5, 0.5));
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`Tf::new`] and [`Tf::to_zpk`].
pub fn tf2zpk(b: &[f64], a: &[f64]) -> Result<Zpk> {
    Tf::new(b, a)?.to_zpk()
}

/// Second-order sections of a filter `b, a`: `scipy.signal.tf2sos(b, a)`; see [`Tf::to_sos`].
///
/// ```
/// let sos = dspk::design::tf2sos(&[1.0, 0.0, -1.0], &[1.0, -0.5])?;
/// assert_eq!(sos.sections(), [[1.0, 0.0, -1.0, 1.0, -0.5, 0.0]]);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// Those of [`Tf::new`] and [`Tf::to_sos`].
pub fn tf2sos(b: &[f64], a: &[f64]) -> Result<Sos> {
    Tf::new(b, a)?.to_sos()
}

/// A polynomial without its roots at 1 and -1.
struct Split {
    found: Roots,
    rest: Vec<f64>,
}

/// Splits off roots at 1 and -1, as far as rounding of the coefficients can tell.
fn split_off_units(c: &[f64]) -> Split {
    let mut split = Split { found: Roots::default(), rest: c.to_vec() };
    // Every division hands its rounding on to the next.
    let tolerance = 4.0 * c.len() as f64 * f64::EPSILON;
    for unit in [1.0, -1.0] {
        while split.rest.len() > 1 {
            // Synthetic division: the last value is the remainder, the polynomial at the root.
            let mut carry = 0.0;
            let mut quotient: Vec<f64> = split.rest.iter().map(|c| (carry = carry * unit + c, carry).1).collect();
            let remainder = quotient.pop().unwrap_or(0.0);
            let size: f64 = split.rest.iter().map(|c| c.abs()).sum();
            if remainder.abs() > tolerance * size {
                break;
            }
            split.found.real.push(unit);
            split.rest = quotient;
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Band, Complex, butter, cheby2, freqz, freqz_sos};
    use proptest::prelude::*;

    #[test]
    fn refuses_what_is_not_a_filter() {
        for (b, a) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[f64::NAN], &[1.0]), (&[1.0], &[1.0, f64::INFINITY])] {
            assert!(Tf::new(b, a).unwrap_err().to_string().contains("only finite ones"), "{b:?} {a:?}");
        }
        assert!(Tf::new(&[1.0], &[0.0, 1.0]).unwrap_err().to_string().contains("begins with 0"));
        assert!(Tf::new(&[1e300], &[1e-300]).unwrap_err().to_string().contains("overflows"));
        assert!(tf2zpk(&[0.0, 0.0], &[1.0]).unwrap_err().to_string().contains("only zeros"));
        assert!(tf2sos(&[0.0, 0.0], &[1.0]).unwrap_err().to_string().contains("only zeros"));
        assert!(tf2sos(&[0.0, 1.0], &[1.0, 0.5]).unwrap_err().to_string().contains("a delay"));
    }

    #[test]
    fn a_delay_is_a_zero_at_infinity() {
        let zpk = tf2zpk(&[0.0, 2.0, 1.0], &[1.0, -0.25, 0.0]).unwrap();
        assert_eq!((zpk.zeros(), zpk.gain()), (vec![Complex::from(-0.5)], 2.0));
        assert_eq!(zpk.poles(), [Complex::from(0.0), Complex::from(0.25)]);
    }

    #[test]
    fn unequal_lengths_give_the_filter_that_lfilter_runs() {
        let w: Vec<f64> = (0..30).map(|k| 0.1 * f64::from(k)).collect();
        for (b, a) in [(&[1.0, 0.5, 0.25, 2.0][..], &[1.0, -0.3][..]), (&[2.0], &[1.0, -0.3, 0.2, 0.1])] {
            let h = freqz(&Tf::new(b, a).unwrap(), &w);
            let sos = freqz_sos(&tf2sos(b, a).unwrap(), &w);
            h.iter().zip(sos).for_each(|(a, b)| assert!((*a - b).abs() < 1e-13, "{a:?} {b:?}"));
        }
    }

    #[test]
    fn the_zeros_of_low_and_high_passes_come_out_exactly() {
        for (band, at) in [(Band::Low(0.1), -1.0), (Band::High(0.1), 1.0)] {
            let zeros = butter(8, band, 1.0).unwrap().to_tf().unwrap().to_zpk().unwrap().zeros();
            assert_eq!(zeros, [Complex::from(at); 8]);
        }
        let both = butter(4, Band::Pass(0.1, 0.3), 1.0).unwrap().to_tf().unwrap().to_zpk().unwrap();
        assert_eq!(both.zeros().iter().map(|z| z.re).sum::<f64>(), 0.0);
    }

    proptest! {
        #[test]
        fn sections_survive_the_way_through_coefficients(order in 1usize..=6, f in 0.1..0.4_f64, rs in 20.0..80.0_f64) {
            for sos in [butter(order, Band::Low(f), 1.0).unwrap(), cheby2(order, rs, Band::High(f), 1.0).unwrap()] {
                let tf = sos.to_tf().unwrap();
                let back = tf.to_sos().unwrap();
                prop_assert_eq!(back.len(), sos.len());
                let again = back.to_tf().unwrap();
                for (part, other) in [(tf.b(), again.b()), (tf.a(), again.a())] {
                    let scale = part.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                    for (x, y) in part.iter().zip(other) {
                        prop_assert!((x - y).abs() < 1e-13 * scale, "{:?} {:?}", part, other);
                    }
                }
            }
        }
    }
}
