//! Bessel (Thomson) filters: `scipy.signal.besselap`.
//!
//! The denominator is the reverse Bessel polynomial `theta` (Thomson, *Delay networks having maximally flat frequency
//! characteristics*, 1949). Its values next to a root are tiny differences of huge terms, so no polynomial is evaluated.
//! From the differential equation `s theta'' - 2 (s + n) theta' + 2 n theta = 0` follows at every root, where `theta` is 0,
//! `sum over the others of 1 / (s - other) = 1 + n / s` (the relations of Stieltjes and Calogero: Ahmed, Bruschi, Calogero,
//! Olshanetsky and Perelomov, *Properties of the zeros of the classical polynomials and of the Bessel functions*, 1979):
//! a well-conditioned system, solved by Newton's method from the approximation of Campos and Calderon
//! (arXiv:1105.0957) to the last digit at any order.

use super::BesselNorm;
use crate::design::zpk::Roots;
use crate::design::{Complex, Zpk};
use crate::error::{Error, Result};

/// Six steps suffice at any order up to the largest; more would mean that the system is wrong.
const MAX_STEPS: usize = 20;

/// The low-pass of this order, normalised so that its edge lies at 1 rad/s.
pub(super) fn bessel(order: usize, norm: BesselNorm) -> Result<Zpk> {
    let roots = roots(order)?;
    let poles = Roots {
        real: if order % 2 == 1 { vec![roots[order / 2].re] } else { vec![] },
        pairs: roots[..order / 2].to_vec(),
    };
    let scale = match norm {
        BesselNorm::Delay => 1.0,
        BesselNorm::Phase => (-poles.all().iter().map(|p| p.abs().ln()).sum::<f64>() / order as f64).exp(),
        BesselNorm::Mag => 1.0 / half_power(&poles),
    };
    let poles = poles.map(|p| p * scale);
    let gain = if norm == BesselNorm::Phase { 1.0 } else { poles.product(|p| -p) };
    Ok(Zpk { zeros: Roots::default(), poles, gain })
}

/// Every root of the reverse Bessel polynomial by falling imaginary part.
fn roots(order: usize) -> Result<Vec<Complex>> {
    let n = order as f64;
    let mut s: Vec<Complex> = (1..=order).map(|k| Complex::from(1.0) / approximate(n, k as f64)).collect();
    for _ in 0..MAX_STEPS {
        let step = newton_step(&s, n);
        let done = step.iter().zip(&s).all(|(d, s)| d.abs() <= 1e-12 * s.abs());
        s.iter_mut().zip(&step).for_each(|(s, d)| *s = *s - *d);
        // Exact conjugates: the system keeps them only to rounding.
        for k in 0..order.div_ceil(2) {
            let mean = (s[k] + s[order - 1 - k].conj()) * 0.5;
            (s[k], s[order - 1 - k]) = (mean, mean.conj());
        }
        if done {
            return Ok(s);
        }
    }
    Err(Error::internal(format!("the roots of the Bessel polynomial of order {order} were not found")))
}

/// What Newton's method takes off every root: the solution of the linearised system.
fn newton_step(s: &[Complex], n: f64) -> Vec<Complex> {
    let one = Complex::from(1.0);
    let count = s.len();
    let mut rows: Vec<Vec<Complex>> = Vec::with_capacity(count);
    for (k, &at) in s.iter().enumerate() {
        let mut row = vec![Complex::default(); count + 1];
        let mut residual = -one - Complex::from(n) / at;
        let mut diagonal = Complex::from(n) / (at * at);
        for (j, &other) in s.iter().enumerate().filter(|(j, _)| *j != k) {
            let inverse = one / (at - other);
            residual = residual + inverse;
            row[j] = inverse * inverse;
            diagonal = diagonal - row[j];
        }
        row[k] = diagonal;
        row[count] = residual;
        rows.push(row);
    }
    solve(rows)
}

/// Solves a linear system, its right side the last column, by elimination with pivots.
fn solve(mut rows: Vec<Vec<Complex>>) -> Vec<Complex> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|a, b| rows[*a][k].norm_sqr().total_cmp(&rows[*b][k].norm_sqr())).unwrap_or(k);
        rows.swap(k, pivot);
        let (done, below) = rows.split_at_mut(k + 1);
        let top = &done[k];
        for row in below {
            let factor = row[k] / top[k];
            row[k + 1..].iter_mut().zip(&top[k + 1..]).for_each(|(v, t)| *v = *v - factor * *t);
        }
    }
    let mut x = vec![Complex::default(); n];
    for k in (0..n).rev() {
        let known = (k + 1..n).fold(Complex::default(), |sum, j| sum + rows[k][j] * x[j]);
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    x
}

/// The frequency at which the filter with these poles, of gain 1 at 0, passes half the power.
fn half_power(poles: &Roots) -> f64 {
    let all = poles.all();
    // Rises with frequency: the attenuation in nepers of power.
    let attenuation = |w: f64| all.iter().map(|p| (w * (w - 2.0 * p.im) / p.norm_sqr()).ln_1p()).sum::<f64>();
    let beyond = |w: f64| attenuation(w) > std::f64::consts::LN_2;
    let (mut low, mut high) = (0.0, 1.0);
    while !beyond(high) {
        (low, high) = (high, 2.0 * high);
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if beyond(middle) { high = middle } else { low = middle }
    }
}

/// The `k`th root, from 1, of the Bessel polynomial of order `n`, approximately: Campos and Calderon's fit.
fn approximate(n: f64, k: f64) -> Complex {
    if n == 1.0 {
        return Complex::from(-1.0);
    }
    let s = ((n - 3.0) * n * n + 2.0) * n * n;
    let b3 = (16.0 - 8.0 * n) / s;
    let b2 = (-24.0 + (-12.0 + 12.0 * n) * n) / s;
    let b1 = (8.0 + (24.0 + (-12.0 - 2.0 * n) * n) * n) / s;
    let b0 = (-6.0 + (5.0 - n) * n * n) * n / s;
    let r = (n + 2.0) * n * n;
    let (a1, a2) = (-6.0 * (n + 1.0) / r, 6.0 / r);
    Complex::new(k * (a1 + k * a2), b0 + k * (b1 + k * (b2 + k * b3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Point = (f64, f64);

    /// Order, the roots farthest from and nearest to the real axis, and the factors of the norms `phase` and `mag`:
    /// mpmath, 80 digits.
    #[rustfmt::skip]
    const FILTERS: [(usize, Point, Point, f64, f64); 6] = [
        (2, (-1.5, 0.8660254037844386), (-1.5, 0.8660254037844386), 0.5773502691896257, 0.7344008870614411),
        (3, (-1.8389073226869572, 1.7543809597837217), (-2.3221853546260856, 0.0), 0.40548013303822666, 0.5695823536547193),
        (5, (-2.324674303181645, 3.571022920337976), (-3.6467385953296434, 0.0), 0.25404674702328517, 0.4119616013529148),
        (10, (-3.108916233649098, 8.232699459073588), (-6.922044905427246, 0.8676651954512214), 0.13133903990961412, 0.27847546754007935),
        (25, (-4.426049574071369, 22.59343286760654), (-16.900313864686478, 0.0), 0.05362074304872575, 0.17222886610665875),
        (60, (-6.081137379819145, 56.7258097468564), (-40.08960264823455, 0.8677585967325335), 0.02252214131038869, 0.1102704999284534),
    ];

    #[test]
    fn poles_are_right_to_the_last_digits() {
        for (order, far, low, phase, mag) in FILTERS {
            for (norm, factor) in [(BesselNorm::Delay, 1.0), (BesselNorm::Phase, phase), (BesselNorm::Mag, mag)] {
                let zpk = bessel(order, norm).unwrap();
                let poles = zpk.poles();
                let near = |got: Complex, want: Point| {
                    let want = Complex::new(want.0, want.1) * factor;
                    (got - want).abs() <= 4e-15 * want.abs()
                };
                let high = poles.iter().max_by(|a, b| a.im.total_cmp(&b.im)).unwrap();
                assert!(near(*high, far), "{order} {norm:?}: {high:?}");
                let flat = poles.iter().min_by(|a, b| a.im.abs().total_cmp(&b.im.abs())).unwrap();
                assert!(near(Complex::new(flat.re, flat.im.abs()), low), "{order} {norm:?}: {flat:?}");
                assert!((zpk.gain() / zpk.poles.product(|p| -p) - 1.0).abs() < 1e-13, "gain of 1 at frequency 0");
            }
        }
    }

    #[test]
    fn the_first_order_is_a_single_pole() {
        for norm in [BesselNorm::Delay, BesselNorm::Phase, BesselNorm::Mag] {
            let zpk = bessel(1, norm).unwrap();
            assert!(zpk.poles().len() == 1 && (zpk.poles()[0].re + 1.0).abs() < 1e-15 && zpk.poles()[0].im == 0.0);
        }
    }
}
