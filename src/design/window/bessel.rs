//! The modified Bessel function of order zero, and Kaiser's window made of it.

use std::f64::consts::PI;

/// From here on the asymptotic series reaches float64's resolution before it diverges.
const ASYMPTOTIC: f64 = 20.0;

/// `exp(-x) I0(x)` for `x` of 0 or more.
pub(super) fn i0e(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        // The power series in (x/2)^2: no term is negative, so nothing cancels.
        let quarter = 0.25 * x * x;
        let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
        while term > 1e-18 * sum {
            term *= quarter / (k * k);
            sum += term;
            k += 1.0;
        }
        return (-x).exp() * sum;
    }
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-18 && k < 2.0 * ASYMPTOTIC {
        term *= (2.0 * k - 1.0) * (2.0 * k - 1.0) / (8.0 * k) / x;
        sum += term;
        k += 1.0;
    }
    sum / ((2.0 * PI).sqrt() * x.sqrt())
}

/// Kaiser's window of one `beta`.
pub(super) struct Kaiser {
    beta: f64,
    scale: f64,
}

impl Kaiser {
    /// For a `beta` of either sign: `I0` is even.
    pub(super) fn new(beta: f64) -> Self {
        let beta = beta.abs();
        Kaiser { beta, scale: i0e(beta) }
    }

    /// The value at a distance from the middle, 1 at the ends.
    pub(super) fn at(&self, t: f64) -> f64 {
        let root = ((1.0 - t) * (1.0 + t)).sqrt();
        // I0(beta root) / I0(beta), with beta (1 - root) in the exponent free of cancellation.
        i0e(self.beta * root) / self.scale * (-self.beta * (t * t / (1.0 + root))).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series summed with 80 decimal digits.
    const I0E: [(f64, f64); 16] = [
        (0.0, 1.0),
        (1e-08, 0.9999999900000001),
        (0.1, 0.9071009257823011),
        (0.5, 0.6450352704491501),
        (1.0, 0.46575960759364043),
        (2.5, 0.27004644161220276),
        (5.0, 0.18354081260932836),
        (8.6, 0.13816424739806848),
        (12.3, 0.11496562932068803),
        (15.7, 0.10151641327208459),
        (18.1, 0.09444046930133955),
        (19.99, 0.08980306142890937),
        (20.0, 0.08978031188482602),
        (33.3, 0.06939744247933975),
        (100.0, 0.03994437929909668),
        (700.0, 0.015081295651531358),
    ];

    #[test]
    fn i0_is_accurate_to_the_last_digits() {
        for (x, expected) in I0E {
            let error = (i0e(x) / expected - 1.0).abs();
            assert!(error <= 1e-15, "{x}: {}, expected {expected}, error {error:e}", i0e(x));
        }
    }

    #[test]
    fn kaiser_is_defined_for_any_beta() {
        for beta in [0.0, 1e-300, 8.6, -8.6, 700.0, 1e5, 1e300, f64::MAX] {
            let kaiser = Kaiser::new(beta);
            assert_eq!(kaiser.at(0.0), 1.0, "{beta}");
            for t in [1e-9, 0.3, 1.0] {
                assert!((0.0..=1.0).contains(&kaiser.at(t)), "{beta} {t}: {}", kaiser.at(t));
            }
        }
        assert_eq!(Kaiser::new(0.0).at(1.0), 1.0);
        assert_eq!(Kaiser::new(-8.6).at(0.7), Kaiser::new(8.6).at(0.7));
    }
}
