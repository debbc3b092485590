//! Second-order sections.

use super::zpk::Roots;
use super::{Tf, Zpk, polynomial};
use crate::error::{Error, Result};

/// A cascade of second-order sections, scipy's `sos`: each `[b0, b1, b2, 1, a1, a2]`, finite, at least one.
///
/// ```
/// let sos = dspk::design::Sos::new(vec![[2.0, 0.0, 0.0, 2.0, -1.0, 0.0]])?;
/// assert_eq!(sos.sections(), [[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]]);
/// assert!(sos.is_stable());
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sos {
    sections: Vec<[f64; 6]>,
}

impl Sos {
    /// Checks the sections and divides each by its `a0`. Unstable sections are accepted, see [`Sos::is_stable`].
    ///
    /// # Errors
    /// No section, a value that is not finite (also after the division), or `a0` = 0.
    pub fn new(mut sections: Vec<[f64; 6]>) -> Result<Self> {
        if sections.is_empty() {
            return Err(Error::invalid(
                "sos has no section; pass at least one [b0, b1, b2, a0, a1, a2] (the identity is [1, 0, 0, 1, 0, 0])",
            ));
        }
        for (i, section) in sections.iter_mut().enumerate() {
            finite(section, i)?;
            let a0 = section[3];
            if a0 == 0.0 {
                return Err(Error::invalid(format!(
                    "sos section {i} has a0 = 0; the fourth value of [b0, b1, b2, a0, a1, a2] must not be zero (usually it is 1)"
                )));
            }
            if a0 != 1.0 {
                section.iter_mut().for_each(|v| *v /= a0);
                section[3] = 1.0;
                finite(section, i)
                    .map_err(|e| e.context(format!("dividing section {i} by its a0 = {a0:e} overflows")))?;
            }
        }
        Ok(Sos { sections })
    }

    /// Sections from rows of six values, as a two-dimensional array gives them.
    ///
    /// # Errors
    /// A row that does not have six values, and all of [`Sos::new`].
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let section = |(i, row): (usize, &R)| {
            <[f64; 6]>::try_from(row.as_ref()).map_err(|_| {
                Error::shape(format!(
                    "sos section {i} has {} values; every section is six: [b0, b1, b2, a0, a1, a2]",
                    row.as_ref().len()
                ))
            })
        };
        Sos::new(rows.iter().enumerate().map(section).collect::<Result<_>>()?)
    }

    /// The sections in the order they are applied; `a0` is 1 in each.
    pub fn sections(&self) -> &[[f64; 6]] {
        &self.sections
    }

    /// Number of sections.
    #[expect(clippy::len_without_is_empty, reason = "a cascade is never empty")]
    pub fn len(&self) -> usize {
        self.sections.len()
    }

    /// Coefficients `b`, `a` of the whole cascade, `2 * len + 1` each: `scipy.signal.sos2tf(sos)`. Beyond an order of about
    /// 8 they lose many digits.
    ///
    /// ```
    /// use dspk::design::Sos;
    /// let tf = Sos::new(vec![[1.0, 2.0, 0.0, 1.0, 0.5, 0.0], [3.0, 0.0, 0.0, 1.0, 0.0, 0.25]])?.to_tf()?;
    /// assert_eq!(tf.b(), [3.0, 6.0, 0.0, 0.0, 0.0]);
    /// assert_eq!(tf.a(), [1.0, 0.5, 0.25, 0.125, 0.0]);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Coefficients beyond float64.
    #[doc(alias = "sos2tf")]
    pub fn to_tf(&self) -> Result<Tf> {
        let product = |part: fn(&[f64; 6]) -> &[f64]| {
            self.sections.iter().fold(vec![1.0], |product, s| polynomial::multiply(&product, part(s)))
        };
        Tf::new(&product(|s| &s[..3]), &product(|s| &s[3..]))
    }

    /// Zeros, poles and gain of the whole cascade: `scipy.signal.sos2zpk(sos)`.
    ///
    /// Deviation from scipy: a section whose `b0` is 0 has fewer zeros, where scipy adds zeros at 0.
    ///
    /// ```
    /// use dspk::design::{Band, butter};
    /// let zpk = butter(4, Band::Low(0.1), 1.0)?.to_zpk()?;
    /// assert!(zpk.zeros().iter().all(|z| z.re == -1.0 && z.im == 0.0) && zpk.poles().len() == 4);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// A section whose `b` is 0, or a gain or roots beyond float64.
    #[doc(alias = "sos2zpk")]
    pub fn to_zpk(&self) -> Result<Zpk> {
        let mut whole = Zpk { zeros: Roots::default(), poles: Roots::default(), gain: 1.0 };
        for (i, section) in self.sections.iter().enumerate() {
            let part = Tf::new(&section[..3], &section[3..]).and_then(|tf| tf.to_zpk());
            let part = part.map_err(|e| e.context(format!("sos section {i}")))?;
            whole.zeros.append(part.zeros);
            whole.poles.append(part.poles);
            whole.gain *= part.gain;
        }
        match whole.gain.is_finite() {
            true => Ok(whole),
            false => Err(Error::invalid(
                "the product of the sections' gains overflows; divide the first values of some sections by a common factor",
            )),
        }
    }

    /// Whether every pole lies inside the unit circle, so that the response to any bounded input stays bounded.
    pub fn is_stable(&self) -> bool {
        // The triangle of stability. Near z = 1 and z = -1, where rounding would decide, `1 + a1 + a2` and
        // `1 - a1 + a2` are exact in this order.
        self.sections.iter().all(|&[_, _, _, _, a1, a2]| {
            a2.abs() < 1.0 && sum_at_one(1.0, a1, a2) > 0.0 && sum_at_one(1.0, -a1, a2) > 0.0
        })
    }
}

/// `c0 + c1 + c2`, exact where `c1` is near -2 and the others near 1 (Sterbenz's lemma, twice).
pub(super) fn sum_at_one(c0: f64, c1: f64, c2: f64) -> f64 {
    (c0 + c1) + c2
}

fn finite(section: &[f64; 6], index: usize) -> Result<()> {
    match section.iter().find(|v| !v.is_finite()) {
        None => Ok(()),
        Some(v) => Err(Error::invalid(format!("sos section {index} contains {v}; coefficients must be finite"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Complex;

    #[test]
    fn divides_by_a0() {
        let sos = Sos::new(vec![[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]).unwrap();
        assert_eq!(sos.sections(), [[0.25, 0.5, 0.75, 1.0, 1.25, 1.5]]);
        assert_eq!(sos.len(), 1);
    }

    #[test]
    fn refuses_what_is_not_a_filter() {
        let ok = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let with = |i: usize, v: f64| {
            let mut s = ok;
            s[i] = v;
            Sos::new(vec![ok, s]).unwrap_err().to_string()
        };
        assert!(Sos::new(vec![]).unwrap_err().to_string().contains("at least one"));
        assert!(with(3, 0.0).contains("section 1 has a0 = 0"));
        for v in [f64::NAN, f64::INFINITY] {
            (0..6).for_each(|i| assert!(with(i, v).contains("must be finite")));
        }
        assert!(with(3, 1e-320).contains("overflows"), "{}", with(3, 1e-320));
        assert!(Sos::from_rows(&[[1.0; 5]]).unwrap_err().to_string().contains("5 values"));
        assert!(Sos::from_rows(&[ok.to_vec(), vec![]]).unwrap_err().to_string().contains("section 1 has 0 values"));
    }

    #[test]
    fn roots_of_all_sections_are_collected() {
        let sos = Sos::new(vec![[0.0, 2.0, 1.0, 1.0, -0.5, 0.0], [3.0, 0.0, 0.75, 1.0, 0.0, 0.25]]).unwrap();
        let zpk = sos.to_zpk().unwrap();
        let (half, imaginary) = (Complex::from(0.5), Complex::new(0.0, 0.5));
        assert_eq!(zpk.zeros(), [imaginary.conj(), imaginary, -half]);
        assert_eq!(zpk.poles(), [imaginary.conj(), imaginary, 0.0.into(), half]);
        assert_eq!(zpk.gain(), 6.0);
        let e = Sos::new(vec![[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]).unwrap().to_zpk().unwrap_err();
        assert!(e.to_string().contains("section 0") && e.to_string().contains("only zeros"), "{e}");
        let huge = Sos::new(vec![[1e300, 0.0, 0.0, 1.0, 0.0, 0.0]; 2]).unwrap();
        assert!(huge.to_zpk().unwrap_err().to_string().contains("overflows"));
    }

    #[test]
    fn stability_is_decided_by_the_poles() {
        let stable = |a1: f64, a2: f64| Sos::new(vec![[1.0, 0.0, 0.0, 1.0, a1, a2]]).unwrap().is_stable();
        let pair = |r: f64, w: f64| (-2.0 * r * w.cos(), r * r);
        for w in [0.0, 0.3, 1.5, 3.0, std::f64::consts::PI] {
            let (a1, a2) = pair(0.999_999, w);
            assert!(stable(a1, a2), "{w}");
            let (a1, a2) = pair(1.000_001, w);
            assert!(!stable(a1, a2), "{w}");
        }
        assert!(!stable(-1.0, 0.0) && !stable(1.0, 0.0) && !stable(0.0, 1.0) && !stable(-2.0, 1.0));
        assert!(!stable(-2.5, 1.0 - 1e-3), "one real pole outside");
    }
}
