//! Polynomials with real coefficients, the highest power first.

use super::Complex;
use super::zpk::Roots;

/// The product of two.
pub(super) fn multiply(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; (a.len() + b.len()).saturating_sub(1)];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[i + j] += x * y;
        }
    }
    out
}

/// The monic polynomial with these roots.
pub(super) fn from_roots(roots: &Roots) -> Vec<f64> {
    let pairs = roots.pairs.iter().map(|p| vec![1.0, -2.0 * p.re, p.norm_sqr()]);
    pairs.chain(roots.real.iter().map(|r| vec![1.0, -r])).fold(vec![1.0], |product, f| multiply(&product, &f))
}

/// The value at `z`, and that of the derivative.
pub(super) fn at(c: &[f64], z: Complex) -> (Complex, Complex) {
    c.iter().fold(Default::default(), |(value, slope), c| (value * z + Complex::from(*c), slope * z + value))
}
