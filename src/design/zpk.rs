//! A filter as zeros, poles and gain.

use super::{Complex, Pairing, Sos, Tf, pairing, polynomial};
use crate::error::{Error, Result};

/// The roots of a polynomial with real coefficients.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Roots {
    /// The real ones.
    pub real: Vec<f64>,
    /// Of each conjugate pair the one above the real axis.
    pub pairs: Vec<Complex>,
}

impl Roots {
    pub fn degree(&self) -> usize {
        self.real.len() + 2 * self.pairs.len()
    }

    /// `value` for each real root, and for each pair.
    pub fn map(&self, mut f: impl FnMut(Complex) -> Complex) -> Roots {
        Roots {
            real: self.real.iter().map(|&r| f(r.into()).re).collect(),
            pairs: self.pairs.iter().map(|&p| upper(f(p))).collect(),
        }
    }

    /// The product of `f` over all roots; `f` must map conjugates to conjugates.
    pub fn product(&self, f: impl Fn(Complex) -> Complex) -> f64 {
        self.real.iter().map(|&r| f(r.into()).re).product::<f64>()
            * self.pairs.iter().map(|&p| f(p).norm_sqr()).product::<f64>()
    }

    pub fn append(&mut self, other: Roots) {
        self.real.extend(other.real);
        self.pairs.extend(other.pairs);
    }

    pub fn push_real(&mut self, value: f64, times: usize) {
        self.real.extend(std::iter::repeat_n(value, times));
    }

    /// Every root: the pairs, each with the conjugate first, then the real ones.
    pub fn all(&self) -> Vec<Complex> {
        let pairs = self.pairs.iter().flat_map(|p| [p.conj(), *p]);
        pairs.chain(self.real.iter().map(|r| (*r).into())).collect()
    }

    /// Sorts out real roots and conjugate pairs; `name` is for messages.
    fn matched(name: &str, roots: &[Complex]) -> Result<Roots> {
        let mut found = Roots::default();
        let mut below = Vec::new();
        for &root in roots {
            if !(root.re.is_finite() && root.im.is_finite()) {
                return Err(Error::invalid(format!(
                    "a value of {name} is {} {:+}j; pass finite ones",
                    root.re, root.im
                )));
            }
            if root.im.abs() <= PAIR_TOLERANCE * root.abs() {
                found.real.push(root.re);
            } else if root.im > 0.0 {
                found.pairs.push(root);
            } else {
                below.push(root.conj());
            }
        }
        for pair in &mut found.pairs {
            let distance = |z: &Complex| (*z - *pair).abs();
            let partner = below.iter().map(distance).enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            let Some((i, _)) = partner.filter(|(_, d)| *d <= PAIR_TOLERANCE * pair.abs()) else {
                return Err(unpaired(name, *pair));
            };
            *pair = (*pair + below.swap_remove(i)) * 0.5;
        }
        below.first().map_or(Ok(found), |z| Err(unpaired(name, z.conj())))
    }
}

/// How far conjugates may be apart, relatively: as in scipy.
const PAIR_TOLERANCE: f64 = 100.0 * f64::EPSILON;

fn unpaired(name: &str, z: Complex) -> Error {
    Error::invalid(format!(
        "{name} holds {} {:+}j without its conjugate, so the filter's coefficients would not be real; pass both",
        z.re, z.im
    ))
}

/// Of a conjugate pair the one above the real axis.
pub(super) fn upper(z: Complex) -> Complex {
    if z.im < 0.0 { z.conj() } else { z }
}

/// A digital filter with real coefficients as zeros, poles and gain, scipy's `zpk`:
/// `H(z) = gain * product(z - zeros) / product(z - poles)`.
///
/// Real roots and *one* of each conjugate pair are kept, so that conjugates are exact. The designs ([`iirfilter`] and
/// those named after their prototype) pass through this form, and from here to sections or coefficients.
///
/// ```
/// use dspk::design::{Complex, Zpk};
/// let poles = [Complex::new(0.5, 0.5), Complex::new(0.5, -0.5)];
/// let zpk = Zpk::new(&[Complex::new(-1.0, 0.0); 2], &poles, 0.125)?;
/// assert!(zpk.is_stable());
/// assert_eq!(zpk.to_sos()?.sections(), [[0.125, 0.25, 0.125, 1.0, -1.0, 0.5]]);
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// [`iirfilter`]: super::iirfilter
#[derive(Debug, Clone, PartialEq)]
pub struct Zpk {
    pub(super) zeros: Roots,
    pub(super) poles: Roots,
    pub(super) gain: f64,
}

impl Zpk {
    /// A filter from all its zeros and poles in any order. An imaginary part below 2e-14 of the modulus counts as zero.
    ///
    /// # Errors
    /// A value that is not finite, or a complex root without its conjugate (to 2e-14, as in scipy).
    pub fn new(zeros: &[Complex], poles: &[Complex], gain: f64) -> Result<Self> {
        if !gain.is_finite() {
            return Err(Error::invalid(format!("the gain is {gain}; pass a finite number")));
        }
        Ok(Zpk { zeros: Roots::matched("zeros", zeros)?, poles: Roots::matched("poles", poles)?, gain })
    }

    /// Every zero: conjugate pairs, then real ones.
    pub fn zeros(&self) -> Vec<Complex> {
        self.zeros.all()
    }

    /// Every pole: conjugate pairs, then real ones.
    pub fn poles(&self) -> Vec<Complex> {
        self.poles.all()
    }

    /// The factor before the products.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// Whether every pole lies inside the unit circle.
    pub fn is_stable(&self) -> bool {
        self.poles.real.iter().all(|p| p.abs() < 1.0) && self.poles.pairs.iter().all(|p| p.abs() < 1.0)
    }

    /// Second-order sections, `scipy.signal.zpk2sos(z, p, k)`: [`Zpk::to_sos_paired`] with [`Pairing::Nearest`].
    ///
    /// # Errors
    /// A gain of 0 or beyond float64, or coefficients beyond it.
    #[doc(alias = "zpk2sos")]
    pub fn to_sos(&self) -> Result<Sos> {
        self.to_sos_paired(Pairing::Nearest)
    }

    /// Second-order sections, `scipy.signal.zpk2sos(z, p, k, pairing)`: the pole nearest to the unit circle goes with the
    /// zeros nearest to it into the last section, and so on; the gain goes into the first. Where there are more poles than
    /// zeros or the reverse, zeros or poles at 0 are added, as in scipy: the filter then differs by a pure delay.
    ///
    /// ```
    /// use dspk::design::{Complex, Pairing, Zpk};
    /// let p = |re: f64, im: f64| Complex::new(re, im);
    /// let z = [p(-1.0, 0.0), p(-0.5, -0.5), p(-0.5, 0.5)];
    /// let poles = [p(0.75, 0.0), p(0.8, 0.1), p(0.8, -0.1)];
    /// let sos = Zpk::new(&z, &poles, 1.0)?.to_sos_paired(Pairing::KeepOdd)?;
    /// assert_eq!(sos.sections()[0], [1.0, 1.0, 0.0, 1.0, -0.75, 0.0]);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// A gain of 0 or beyond float64, or coefficients beyond it.
    pub fn to_sos_paired(&self, pairing: Pairing) -> Result<Sos> {
        if !(self.gain.is_finite() && self.gain != 0.0) {
            return Err(Error::invalid(format!(
                "the gain of this design is {:e}, beyond the range of float64; use a lower order or a less extreme cutoff",
                self.gain
            )));
        }
        let mut sections = pairing::sections(&self.zeros, &self.poles, pairing);
        if let Some(first) = sections.first_mut() {
            first[..3].iter_mut().for_each(|b| *b *= self.gain);
        }
        Sos::new(sections)
    }

    /// Coefficients, `scipy.signal.zpk2tf(z, p, k)`. Beyond an order of about 8 they lose many digits; prefer sections.
    ///
    /// ```
    /// use dspk::design::{Complex, Zpk};
    /// let tf = Zpk::new(&[], &[Complex::from(0.5), Complex::from(0.25)], 3.0)?.to_tf()?;
    /// assert_eq!((tf.b(), tf.a()), (&[3.0][..], &[1.0, -0.75, 0.125][..]));
    /// # Ok::<(), dspk::Error>(())
    /// ```
    ///
    /// # Errors
    /// Coefficients beyond float64.
    #[doc(alias = "zpk2tf")]
    pub fn to_tf(&self) -> Result<Tf> {
        let mut b = polynomial::from_roots(&self.zeros);
        b.iter_mut().for_each(|c| *c *= self.gain);
        Tf::new(&b, &polynomial::from_roots(&self.poles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_sorted_out_and_handed_back() {
        let (a, b) = (Complex::new(0.1, 0.9), Complex::new(-0.2, 0.3));
        let zpk = Zpk::new(&[a, b.conj(), a.conj(), b, 0.7.into()], &[Complex::new(0.5, 1e-17)], 2.0).unwrap();
        assert_eq!(zpk.zeros(), [a.conj(), a, b.conj(), b, 0.7.into()]);
        assert_eq!(zpk.poles(), [Complex::from(0.5)]);
        assert_eq!(zpk.gain(), 2.0);
    }

    #[test]
    fn what_has_no_real_coefficients_is_refused() {
        let z = Complex::new(0.1, 0.9);
        let message = |zeros: &[Complex]| Zpk::new(zeros, &[], 1.0).unwrap_err().to_string();
        assert!(message(&[z]).contains("zeros holds 0.1 +0.9j without its conjugate"));
        assert!(message(&[z.conj()]).contains("0.1 -0.9j without"));
        assert!(message(&[z, z.conj(), z.conj()]).contains("without"));
        assert!(message(&[z, Complex::new(0.1, -0.900_001)]).contains("without"));
        assert!(message(&[Complex::new(f64::NAN, 0.0)]).contains("finite"));
        assert!(Zpk::new(&[], &[], f64::INFINITY).is_err());
        assert!(Zpk::new(&[], &[], 0.0).unwrap().to_sos().unwrap_err().to_string().contains("gain"));
    }

    #[test]
    fn a_filter_without_roots_is_its_gain() {
        let zpk = Zpk::new(&[], &[], 3.0).unwrap();
        assert_eq!(zpk.to_sos().unwrap().sections(), [[3.0, 0.0, 0.0, 1.0, 0.0, 0.0]]);
        assert_eq!(zpk.to_tf().unwrap().b(), [3.0]);
    }

    #[test]
    fn stability_is_that_of_the_poles() {
        let stable = |p: Complex| Zpk::new(&[2.0.into()], &[p, p.conj()], 1.0).unwrap().is_stable();
        assert!(stable(Complex::new(0.6, 0.79)) && !stable(Complex::new(0.6, 0.81)));
        assert!(stable((-0.99).into()) && !stable(1.0.into()));
    }
}
