//! Roots of polynomials with real coefficients.
//!
//! The companion matrix's eigenvalues by Francis's double-shift QR (Golub and Van Loan, *Matrix Computations*, 7.5) come
//! as real values and exact conjugate pairs, and are the roots of a polynomial next to the one given. Ehrlich and Aberth's
//! iteration then moves all of them at once to the roots of that one, its values computed in twice float64's precision
//! (they are tiny differences of large terms there); a step that does not make the value smaller is not taken.

use super::zpk::{Roots, upper};
use super::{Complex, polynomial};
use crate::error::{Error, Result};

/// Sweeps over an eigenvalue before giving up; two or three are usual.
const MAX_SWEEPS: usize = 90;
/// Rounds of polishing; the last digits settle after two or three.
const MAX_ROUNDS: usize = 12;

/// Companion matrices of higher degrees are refused: they take seconds and megabytes, and float64 coefficients of such
/// degrees say little about their roots.
const MAX_DEGREE: usize = 1000;

/// The roots of `c[0] z^n + c[1] z^(n - 1) + ...`; `c[0]` is not 0.
pub(super) fn roots(c: &[f64]) -> Result<Roots> {
    let trailing = c.iter().rev().take_while(|v| **v == 0.0).count();
    let monic: Vec<f64> = c[..c.len() - trailing].iter().map(|v| v / c[0]).collect();
    let mut found = Roots::default();
    found.push_real(0.0, trailing);
    if monic.len() < 2 {
        return Ok(found);
    }
    if monic.len() > MAX_DEGREE + 1 {
        return Err(Error::invalid(format!(
            "the roots of a polynomial of degree {} were asked for; pass {MAX_DEGREE} at most",
            monic.len() - 1
        )));
    }
    let mut rest = eigenvalues(Matrix::companion(&monic))?;
    let mut polished = rest.clone();
    polish(&c[..c.len() - trailing], &mut polished);
    // Of roots that lie together some may be found and others not: each is better, their product is worse.
    let rounding = monic.len() as f64 * f64::EPSILON;
    if distance(&monic, &polished) <= distance(&monic, &rest).max(rounding) {
        rest = polished;
    }
    found.append(rest);
    if found.all().iter().any(|z| !z.abs().is_finite()) {
        return Err(not_found(c.len() - 1));
    }
    Ok(found)
}

fn not_found(degree: usize) -> Error {
    Error::invalid(format!(
        "the roots of a polynomial of degree {degree} lie beyond the range of float64; use a lower order, or sections from the start"
    ))
}

/// A square matrix whose entries below the first subdiagonal are 0.
struct Matrix {
    n: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// The companion matrix of a monic polynomial, its variable scaled so that the roots' mean modulus is 1.
    fn companion(monic: &[f64]) -> (Matrix, f64) {
        let n = monic.len() - 1;
        let scale = (monic[n].abs().ln() / n as f64).exp();
        let mut m = Matrix { n, values: vec![0.0; n * n] };
        let mut power = 1.0;
        for j in 0..n {
            power *= scale;
            *m.at(0, j) = -monic[j + 1] / power;
            if j + 1 < n {
                *m.at(j + 1, j) = 1.0;
            }
        }
        (m, scale)
    }

    fn at(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.n + column]
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n + column]
    }

    /// Where the block that ends before `end` begins: the last subdiagonal entry above it that is as good as 0.
    fn block(&self, end: usize) -> usize {
        let mut start = end - 1;
        while start > 0 {
            let size = self.get(start - 1, start - 1).abs() + self.get(start, start).abs();
            let size = if size == 0.0 { 1.0 } else { size };
            if self.get(start, start - 1).abs() <= f64::EPSILON * size {
                break;
            }
            start -= 1;
        }
        start
    }

    /// One double-shift step on the block from `start` to before `end`, three rows or more.
    fn sweep(&mut self, start: usize, end: usize, exceptional: bool) {
        let (last, before) = (end - 1, end - 2);
        let (trace, determinant) = if exceptional {
            // Breaks the cycles that the usual shifts can fall into.
            let size = self.get(last, before).abs() + self.get(before, before - 1).abs();
            (1.5 * size, size * size)
        } else {
            let (a, b) = (self.get(before, before), self.get(before, last));
            let (c, d) = (self.get(last, before), self.get(last, last));
            (a + d, a * d - b * c)
        };
        let (p, q) = (self.get(start, start), self.get(start + 1, start + 1));
        let below = self.get(start + 1, start);
        let mut head = [
            p * (p - trace) + determinant + self.get(start, start + 1) * below,
            below * (p + q - trace),
            below * self.get(start + 2, start + 1),
        ];
        for k in start..end - 1 {
            let rows = 3.min(end - k);
            self.reflect(&head[..rows], k, start, end);
            if k > start {
                (k + 1..k + rows).for_each(|row| *self.at(row, k - 1) = 0.0);
            }
            head = [0.0; 3];
            (k + 1..end.min(k + 4)).for_each(|row| head[row - k - 1] = self.get(row, k));
        }
    }

    /// The reflection that turns `head` into a multiple of the first unit vector, on rows and columns from `k`.
    fn reflect(&mut self, head: &[f64], k: usize, start: usize, end: usize) {
        let norm = head.iter().fold(0.0f64, |n, v| n.hypot(*v));
        if norm == 0.0 {
            return;
        }
        let mut v = [0.0; 3];
        v[..head.len()].copy_from_slice(head);
        v[0] += norm.copysign(head[0]);
        let v = &v[..head.len()];
        let factor = 2.0 / v.iter().map(|v| v * v).sum::<f64>();
        for column in k.saturating_sub(1).max(start)..end {
            let dot: f64 = v.iter().enumerate().map(|(i, v)| v * self.get(k + i, column)).sum();
            v.iter().enumerate().for_each(|(i, v)| *self.at(k + i, column) -= factor * dot * v);
        }
        for row in start..end.min(k + 4) {
            let dot: f64 = v.iter().enumerate().map(|(i, v)| v * self.get(row, k + i)).sum();
            v.iter().enumerate().for_each(|(i, v)| *self.at(row, k + i) -= factor * dot * v);
        }
    }
}

fn eigenvalues((mut m, scale): (Matrix, f64)) -> Result<Roots> {
    let mut found = Roots::default();
    let (mut end, mut sweeps) = (m.n, 0);
    while end > 0 {
        let start = m.block(end);
        match end - start {
            1 => found.real.push(m.get(start, start) * scale),
            2 => {
                let (a, d) = (m.get(start, start), m.get(start + 1, start + 1));
                let product = m.get(start, start + 1) * m.get(start + 1, start);
                let (mean, half) = (0.5 * (a + d), 0.5 * (a - d));
                let square = half * half + product;
                if square < 0.0 {
                    found.pairs.push(Complex::new(mean, (-square).sqrt()) * scale);
                } else {
                    // The larger one by a sum of like signs, the other from the product of both.
                    let large = mean + square.sqrt().copysign(mean);
                    let small = if large == 0.0 { 0.0 } else { (a * d - product) / large };
                    found.real.extend([large * scale, small * scale]);
                }
            }
            _ => {
                sweeps += 1;
                if sweeps > MAX_SWEEPS || !m.get(end - 1, end - 1).is_finite() {
                    return Err(not_found(m.n));
                }
                m.sweep(start, end, sweeps % 10 == 0);
                continue;
            }
        }
        (end, sweeps) = (start, 0);
    }
    Ok(found)
}

/// How far the polynomial of these roots is from a monic one, by its largest coefficient; infinite where that is not finite.
fn distance(monic: &[f64], roots: &Roots) -> f64 {
    let size = monic.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let worst = |m: f64, d: f64| if d.is_nan() { f64::INFINITY } else { m.max(d) };
    monic.iter().zip(polynomial::from_roots(roots)).map(|(a, b)| (a - b).abs() / size).fold(0.0, worst)
}

/// Moves approximate roots to those of `c`.
fn polish(c: &[f64], roots: &mut Roots) {
    for _ in 0..MAX_ROUNDS {
        let all = roots.all();
        let repelled = |z: Complex| {
            let away = all.iter().filter(|o| **o != z).map(|o| Complex::from(1.0) / (z - *o));
            let away = away.fold(Complex::default(), |sum, v| sum + v);
            let newton = precise(c, z) / polynomial::at(c, z).1;
            newton / (Complex::from(1.0) - newton * away)
        };
        let mut moved = false;
        let mut improve = |z: Complex| {
            let next = z - repelled(z);
            // False for NaN as well.
            let better = precise(c, next).abs() < precise(c, z).abs();
            moved |= better;
            if better { next } else { z }
        };
        for z in &mut roots.real {
            *z = improve((*z).into()).re;
        }
        for z in &mut roots.pairs {
            *z = upper(improve(*z));
        }
        if !moved {
            break;
        }
    }
}

/// The value of `c` at `z`, computed in twice the precision.
fn precise(c: &[f64], z: Complex) -> Complex {
    let (mut re, mut im) = (Double::default(), Double::default());
    for &c in c {
        let next = (re * z.re).plus(im * -z.im).plus(Double { high: c, low: 0.0 });
        im = (re * z.im).plus(im * z.re);
        re = next;
    }
    Complex::new(re.high, im.high)
}

/// An unevaluated sum of two float64 numbers (Dekker, *A floating-point technique for extending the available
/// precision*, 1971).
#[derive(Debug, Clone, Copy, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn plus(self, o: Double) -> Double {
        let sum = self.high + o.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (o.high - part);
        Double::normalised(sum, error + self.low + o.low)
    }

    fn normalised(high: f64, low: f64) -> Double {
        let sum = high + low;
        Double { high: sum, low: low - (sum - high) }
    }
}

impl std::ops::Mul<f64> for Double {
    type Output = Double;
    fn mul(self, factor: f64) -> Double {
        let product = self.high * factor;
        let error = self.high.mul_add(factor, -product);
        Double::normalised(product, self.low.mul_add(factor, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every expected root is met, each found one once.
    fn assert_roots(c: &[f64], expected: &[(f64, f64)], tolerance: f64) {
        let mut found = roots(c).unwrap().all();
        assert_eq!(found.len(), expected.len());
        for &(re, im) in expected {
            let want = Complex::new(re, im);
            let (i, d) =
                found.iter().map(|z| (*z - want).abs()).enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert!(d <= tolerance * want.abs(), "{want:?}: {:?}", found[i]);
            found.swap_remove(i);
        }
    }

    #[test]
    fn simple_polynomials_have_their_roots() {
        assert_roots(&[5.0], &[], 0.0);
        assert_roots(&[2.0, -1.0], &[(0.5, 0.0)], 0.0);
        assert_roots(&[1.0, 0.0, 1.0], &[(0.0, 1.0), (0.0, -1.0)], 1e-16);
        assert_roots(&[1.0, 0.0, 0.0, 0.0], &[(0.0, 0.0); 3], 0.0);
        assert_roots(&[1.0, -3.0, 2.0, 0.0], &[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], 1e-16);
        // The shifts of a circulant matrix change nothing: the exceptional ones must help.
        let circle = |k: usize| (std::f64::consts::TAU * k as f64 / 8.0).sin_cos();
        let expected: Vec<_> = (0..8).map(|k| (circle(k).1, circle(k).0)).collect();
        assert_roots(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0], &expected, 1e-15);
    }

    #[test]
    fn wilkinsons_roots_are_found_to_the_last_digits() {
        // (z - 1)(z - 2) ... (z - 15), every coefficient exact in float64.
        let c = (1..=15).fold(vec![1.0], |c, k| polynomial::multiply(&c, &[1.0, -f64::from(k)]));
        let expected: Vec<_> = (1..=15).map(|k| (f64::from(k), 0.0)).collect();
        assert_roots(&c, &expected, 1e-15);
    }

    #[test]
    fn roots_that_lie_together_make_up_their_polynomial() {
        use crate::design::{Band, butter};
        for (order, lo, hi) in [(8, 0.106, 0.607), (7, 0.064, 0.363), (4, 0.1, 0.2), (6, 0.05, 0.3)] {
            let tf = butter(order, Band::Stop(lo, hi), 2.0).unwrap().to_tf().unwrap();
            let monic: Vec<f64> = tf.b().iter().map(|v| v / tf.b()[0]).collect();
            let error = distance(&monic, &roots(&monic).unwrap());
            assert!(error < 1e-12, "{order}: {error:.1e}");
        }
    }

    #[test]
    fn roots_of_very_different_sizes_are_all_found() {
        let c = [1e-6, 1e-3, 1.0, 1e3, 1e6].iter().fold(vec![1.0], |c, r| polynomial::multiply(&c, &[1.0, -r]));
        let expected: Vec<_> = [1e-6, 1e-3, 1.0, 1e3, 1e6].map(|r| (r, 0.0)).to_vec();
        assert_roots(&c, &expected, 1e-12);
    }

    #[test]
    fn degrees_are_bounded() {
        let mut c = vec![0.0; 1002];
        (c[0], c[1001]) = (1.0, 1.0);
        assert!(roots(&c).unwrap_err().to_string().contains("1000 at most"));
        // Roots at 0 do not count.
        c[1001] = 0.0;
        assert_eq!(roots(&c).unwrap().degree(), 1001);
    }

    #[test]
    fn a_high_degree_is_solved() {
        let mut c = vec![0.0; 65];
        (c[0], c[1], c[64]) = (1.0, -0.5, 0.25);
        let found = roots(&c).unwrap();
        assert_eq!(found.degree(), 64);
        found.all().iter().for_each(|z| assert!(polynomial::at(&c, *z).0.abs() < 1e-12, "{z:?}"));
    }

    #[test]
    fn what_leaves_float64_is_an_error_or_finite() {
        for c in [vec![1e-300, 1.0, 1e300], vec![1e-308, 1e308, -1e308, 3.0], vec![f64::MIN_POSITIVE, 1e300, 1.0, 1.0]]
        {
            match roots(&c) {
                Ok(r) => assert!(r.all().iter().all(|z| z.abs().is_finite())),
                Err(e) => assert!(e.to_string().contains("beyond the range")),
            }
        }
    }

    proptest! {
        #[test]
        fn the_product_of_the_roots_is_the_polynomial(c in prop::collection::vec(-1.0..1.0_f64, 1..12)) {
            let monic: Vec<f64> = std::iter::once(1.0).chain(c).collect();
            let back = polynomial::from_roots(&roots(&monic).unwrap());
            prop_assert_eq!(back.len(), monic.len());
            for (b, c) in back.iter().zip(&monic) {
                prop_assert!((b - c).abs() < 1e-13, "{:?} {:?}", back, monic);
            }
        }
    }
}
