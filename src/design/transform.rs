//! Analogue frequency transforms and the bilinear transform, on zeros, poles and gain.
//!
//! They are those of `scipy.signal` (`lp2lp_zpk` and its kin, `bilinear_zpk`; Oppenheim and Schafer, *Discrete-Time Signal
//! Processing*, ch. 7), on half of each conjugate pair. One thing differs: a band transform maps a root `s` to the two
//! solutions of `q^2 - 2 s q + w0^2 = 0`, and where the band is wide they differ by orders of magnitude; the smaller one
//! is computed as `w0^2 / larger`, which keeps all its digits where a subtraction would lose them.

use super::zpk::{Roots, upper};
use super::{Complex, Zpk};

impl Zpk {
    /// How many more poles than zeros there are (zeros at infinity).
    fn excess(&self) -> usize {
        self.poles.degree().saturating_sub(self.zeros.degree())
    }

    /// Low-pass prototype (cutoff 1 rad/s) to a low-pass with cutoff `wo`.
    pub(super) fn lowpass(self, wo: f64) -> Zpk {
        let scale = |s: Complex| s * wo;
        Zpk {
            zeros: self.zeros.map(scale),
            poles: self.poles.map(scale),
            gain: self.gain * wo.powi(self.excess() as i32),
        }
    }

    /// Low-pass prototype to a high-pass with cutoff `wo`.
    pub(super) fn highpass(self, wo: f64) -> Zpk {
        let invert = |s: Complex| Complex::from(wo) / s;
        let mut zeros = self.zeros.map(invert);
        zeros.push_real(0.0, self.excess());
        Zpk { zeros, poles: self.poles.map(invert), gain: self.inverted_gain() }
    }

    /// Low-pass prototype to a band-pass around `wo` (geometric centre), `bw` wide.
    pub(super) fn bandpass(self, wo: f64, bw: f64) -> Zpk {
        let scale = |s: Complex| s * (0.5 * bw);
        let mut zeros = split(&self.zeros.map(scale), wo);
        zeros.push_real(0.0, self.excess());
        let gain = self.gain * bw.powi(self.excess() as i32);
        Zpk { zeros, poles: split(&self.poles.map(scale), wo), gain }
    }

    /// Low-pass prototype to a band-stop around `wo` (geometric centre), `bw` wide.
    pub(super) fn bandstop(self, wo: f64, bw: f64) -> Zpk {
        let invert = |s: Complex| Complex::from(0.5 * bw) / s;
        let mut zeros = split(&self.zeros.map(invert), wo);
        zeros.pairs.extend(std::iter::repeat_n(Complex::new(0.0, wo), self.excess()));
        Zpk { zeros, poles: split(&self.poles.map(invert), wo), gain: self.inverted_gain() }
    }

    fn inverted_gain(&self) -> f64 {
        self.gain * (self.zeros.product(|s| -s) / self.poles.product(|s| -s))
    }

    /// Analogue to digital: `z = (c + s) / (c - s)` with `c` twice the sampling rate; zeros at infinity go to -1.
    pub(super) fn bilinear(self, fs: f64) -> Zpk {
        let c = Complex::from(2.0 * fs);
        let transform = |s: Complex| (c + s) / (c - s);
        let mut zeros = self.zeros.map(transform);
        zeros.push_real(-1.0, self.excess());
        let gain = self.gain * (self.zeros.product(|s| c - s) / self.poles.product(|s| c - s));
        Zpk { zeros, poles: self.poles.map(transform), gain }
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
}
