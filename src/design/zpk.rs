//! Zeros, poles and gain: the frequency transforms, the bilinear transform, and pairing into sections.
//!
//! The transforms are those of `scipy.signal` (`lp2lp_zpk` and its kin, `bilinear_zpk`, `zpk2sos` with pairing
//! `nearest`), on half of each conjugate pair. One thing differs: a band transform maps a root `s` to the two solutions
//! of `q^2 - 2 s q + w0^2 = 0`, and where the band is wide they differ by orders of magnitude; the smaller one is
//! computed as `w0^2 / larger`, which keeps all its digits where a subtraction would lose them.

use super::{Complex, Sos};
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
    fn degree(&self) -> usize {
        self.real.len() + 2 * self.pairs.len()
    }

    /// `value` for each real root, and for each pair.
    fn map(&self, mut f: impl FnMut(Complex) -> Complex) -> Roots {
        Roots {
            real: self.real.iter().map(|&r| f(r.into()).re).collect(),
            pairs: self.pairs.iter().map(|&p| upper(f(p))).collect(),
        }
    }

    /// The product of `f` over all roots; `f` must map conjugates to conjugates.
    fn product(&self, f: impl Fn(Complex) -> Complex) -> f64 {
        self.real.iter().map(|&r| f(r.into()).re).product::<f64>()
            * self.pairs.iter().map(|&p| f(p).norm_sqr()).product::<f64>()
    }

    fn push_real(&mut self, value: f64, times: usize) {
        self.real.extend(std::iter::repeat_n(value, times));
    }
}

fn upper(z: Complex) -> Complex {
    if z.im < 0.0 { z.conj() } else { z }
}

/// A filter as zeros, poles and gain; analogue or digital, as the function that made it says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Zpk {
    pub zeros: Roots,
    pub poles: Roots,
    pub gain: f64,
}

impl Zpk {
    /// How many more poles than zeros there are (zeros at infinity).
    fn excess(&self) -> usize {
        self.poles.degree().saturating_sub(self.zeros.degree())
    }

    /// Low-pass prototype (cutoff 1 rad/s) to a low-pass with cutoff `wo`.
    pub fn lowpass(self, wo: f64) -> Zpk {
        let scale = |s: Complex| s * wo;
        Zpk {
            zeros: self.zeros.map(scale),
            poles: self.poles.map(scale),
            gain: self.gain * wo.powi(self.excess() as i32),
        }
    }

    /// Low-pass prototype to a high-pass with cutoff `wo`.
    pub fn highpass(self, wo: f64) -> Zpk {
        let invert = |s: Complex| Complex::from(wo) / s;
        let mut zeros = self.zeros.map(invert);
        zeros.push_real(0.0, self.excess());
        Zpk { zeros, poles: self.poles.map(invert), gain: self.inverted_gain() }
    }

    /// Low-pass prototype to a band-pass around `wo` (geometric centre), `bw` wide.
    pub fn bandpass(self, wo: f64, bw: f64) -> Zpk {
        let scale = |s: Complex| s * (0.5 * bw);
        let mut zeros = split(&self.zeros.map(scale), wo);
        zeros.push_real(0.0, self.excess());
        let gain = self.gain * bw.powi(self.excess() as i32);
        Zpk { zeros, poles: split(&self.poles.map(scale), wo), gain }
    }

    /// Low-pass prototype to a band-stop around `wo` (geometric centre), `bw` wide.
    pub fn bandstop(self, wo: f64, bw: f64) -> Zpk {
        let invert = |s: Complex| Complex::from(0.5 * bw) / s;
        let mut zeros = split(&self.zeros.map(invert), wo);
        zeros.pairs.extend(std::iter::repeat_n(Complex::new(0.0, wo), self.excess()));
        Zpk { zeros, poles: split(&self.poles.map(invert), wo), gain: self.inverted_gain() }
    }

    fn inverted_gain(&self) -> f64 {
        self.gain * (self.zeros.product(|s| -s) / self.poles.product(|s| -s))
    }

    /// Analogue to digital: `z = (c + s) / (c - s)` with `c` twice the sampling rate; zeros at infinity go to -1.
    pub fn bilinear(self, fs: f64) -> Zpk {
        let c = Complex::from(2.0 * fs);
        let transform = |s: Complex| (c + s) / (c - s);
        let mut zeros = self.zeros.map(transform);
        zeros.push_real(-1.0, self.excess());
        let gain = self.gain * (self.zeros.product(|s| c - s) / self.poles.product(|s| c - s));
        Zpk { zeros, poles: self.poles.map(transform), gain }
    }

    /// A digital filter as second-order sections: the pole nearest to the unit circle is paired with the zeros nearest
    /// to it and goes last, and so on; the gain goes into the first section.
    pub fn into_sos(self) -> Result<Sos> {
        if !(self.gain.is_finite() && self.gain != 0.0) {
            return Err(Error::invalid(format!(
                "the gain of this design is {:e}, beyond the range of float64; use a lower order or a less extreme cutoff",
                self.gain
            )));
        }
        let mut poles = Pool::new(&self.poles);
        let mut zeros = Pool::new(&self.zeros);
        let even = poles.degree().max(zeros.degree()).next_multiple_of(2);
        poles.pad(even);
        zeros.pad(even);
        let mut sections = Vec::with_capacity(even / 2);
        while let Some((first, a)) = poles.take_worst() {
            let b = zeros.take_nearest(first);
            sections.push([1.0, b[0], b[1], 1.0, a[0], a[1]]);
        }
        sections.reverse();
        if let Some(first) = sections.first_mut() {
            first[..3].iter_mut().for_each(|b| *b *= self.gain);
        }
        Sos::new(sections)
    }
}

/// The roots of `q^2 - 2 s q + wo^2` for every root `s`.
fn split(roots: &Roots, wo: f64) -> Roots {
    let mut out = Roots::default();
    for &s in &roots.real {
        // (s - wo)(s + wo) keeps the digits that s^2 - wo^2 loses near s = +-wo.
        let square = (s - wo) * (s + wo);
        if square < 0.0 {
            out.pairs.push(Complex::new(s, (-square).sqrt()));
        } else {
            let large = s + square.sqrt().copysign(s);
            out.real.extend([large, wo * wo / large]);
        }
    }
    for &s in &roots.pairs {
        let root = ((s - wo.into()) * (s + wo.into())).sqrt();
        let (plus, minus) = (s + root, s - root);
        let large = if plus.norm_sqr() >= minus.norm_sqr() { plus } else { minus };
        out.pairs.extend([upper(large), upper(Complex::from(wo) * wo / large)]);
    }
    out
}

/// Roots waiting to be put into sections, in scipy's order (complex ones by real part, then real ones), which decides
/// between equally good choices.
struct Pool {
    real: Vec<f64>,
    pairs: Vec<Complex>,
}

impl Pool {
    fn new(roots: &Roots) -> Self {
        let (mut real, mut pairs) = (roots.real.clone(), roots.pairs.clone());
        real.sort_by(f64::total_cmp);
        pairs.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
        Pool { real, pairs }
    }

    fn degree(&self) -> usize {
        self.real.len() + 2 * self.pairs.len()
    }

    /// Adds roots at the origin (delays) up to `degree`, in the place of their value.
    fn pad(&mut self, degree: usize) {
        let missing = degree.saturating_sub(self.degree());
        self.real.extend(std::iter::repeat_n(0.0, missing));
        self.real.sort_by(f64::total_cmp);
    }

    /// Takes the pole nearest to the unit circle with its partner: the pole, and the section's `[a1, a2]`.
    fn take_worst(&mut self) -> Option<(Complex, [f64; 2])> {
        let distance = |modulus: f64| (1.0 - modulus).abs();
        let pair = nearest(&self.pairs, |p| distance(p.abs()));
        let real = nearest(&self.real, |r| distance(r.abs()));
        match (pair, real) {
            (Some((i, d)), r) if r.is_none_or(|(_, e)| d <= e) => {
                let p = self.pairs.remove(i);
                Some((p, quadratic(p)))
            }
            (_, Some((i, _))) => {
                let first = self.real.remove(i);
                let second = nearest(&self.real, |r| distance(r.abs())).map_or(0.0, |(j, _)| self.real.remove(j));
                Some((first.into(), [-(first + second), first * second]))
            }
            _ => None,
        }
    }

    /// Takes the zeros nearest to a pole, a conjugate pair or two real ones: the section's `[b1, b2]`.
    fn take_nearest(&mut self, to: Complex) -> [f64; 2] {
        let pair = nearest(&self.pairs, |z| (*z - to).abs());
        let real = nearest(&self.real, |z| (Complex::from(*z) - to).abs());
        match (pair, real) {
            (Some((i, d)), r) if r.is_none_or(|(_, e)| d <= e) => quadratic(self.pairs.remove(i)),
            (_, Some((i, _))) => {
                let first = self.real.remove(i);
                let second = nearest(&self.real, |z| (Complex::from(*z) - to).abs());
                let second = second.map_or(0.0, |(j, _)| self.real.remove(j));
                [-(first + second), first * second]
            }
            _ => [0.0, 0.0],
        }
    }
}

/// `z^2 + c1 z + c2` with the roots `p` and its conjugate.
fn quadratic(p: Complex) -> [f64; 2] {
    [-2.0 * p.re, p.norm_sqr()]
}

/// Index and cost of the first item with the lowest cost.
fn nearest<T>(items: &[T], cost: impl Fn(&T) -> f64) -> Option<(usize, f64)> {
    items.iter().map(cost).enumerate().reduce(|best, c| if c.1 < best.1 { c } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_band_keeps_the_digits_of_its_small_root() {
        // q^2 + 2e6 q + 1 = 0: roots -2e6 and -5.0000000000012499e-7 (mpmath, 30 digits).
        let roots = split(&Roots { real: vec![-1e6], pairs: vec![] }, 1.0);
        assert_eq!(roots.real.len(), 2);
        assert!((roots.real[1] / -5.000_000_000_001_25e-7 - 1.0).abs() < 4e-16);
    }

    #[test]
    fn a_double_root_at_the_centre_stays_finite() {
        let roots = split(&Roots { real: vec![-1.0], pairs: vec![] }, 1.0);
        assert_eq!(roots.real, [-1.0, -1.0]);
    }

    #[test]
    fn the_pole_nearest_to_the_circle_comes_last_with_its_nearest_zeros() {
        // scipy.signal.zpk2sos([-1, -1, 1, 1j, -1j], [.5, .8+.1j, .8-.1j, .1+.97j, .1-.97j], 2.)
        let zpk = Zpk {
            zeros: Roots { real: vec![-1.0, -1.0, 1.0], pairs: vec![Complex::new(0.0, 1.0)] },
            poles: Roots { real: vec![0.5], pairs: vec![Complex::new(0.8, 0.1), Complex::new(0.1, 0.97)] },
            gain: 2.0,
        };
        let expected =
            [[2.0, 4.0, 2.0, 1.0, -0.5, 0.0], [1.0, -1.0, 0.0, 1.0, -1.6, 0.65], [1.0, 0.0, 1.0, 1.0, -0.2, 0.9509]];
        for (got, want) in zpk.into_sos().unwrap().sections().iter().zip(&expected) {
            got.iter().zip(want).for_each(|(g, w)| assert!((g - w).abs() < 1e-15, "{got:?} {want:?}"));
        }
    }
}
