//! Which zeros go with which poles into a section: `scipy.signal.zpk2sos`.
//!
//! A pole near the unit circle has a high peak; a zero next to it takes the peak away. So the pole nearest to the circle
//! takes the zeros nearest to it first, and comes last in the cascade, where its peak meets the least of a signal's other
//! parts (Oppenheim and Schafer, *Discrete-Time Signal Processing*, 6.9).

use super::Complex;
use super::zpk::Roots;

/// What becomes of an odd number of roots when a filter is divided into sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pairing {
    /// A pole and a zero at 0 are added, and every section is chosen by nearness: scipy's `nearest`.
    #[default]
    Nearest,
    /// One section stays of first order: scipy's `keep_odd`.
    KeepOdd,
}

/// The sections `[1, b1, b2, 1, a1, a2]` in their order.
pub(super) fn sections(zeros: &Roots, poles: &Roots, pairing: Pairing) -> Vec<[f64; 6]> {
    let (mut zeros, mut poles) = (Pool::new(zeros), Pool::new(poles));
    let mut degree = poles.degree().max(zeros.degree());
    if pairing == Pairing::Nearest {
        degree = degree.next_multiple_of(2);
    }
    poles.pad(degree);
    zeros.pad(degree);
    let mut sections = Vec::with_capacity(degree.div_ceil(2).max(1));
    while let Some(taken) = poles.take_worst() {
        // The last real pole of an odd number: with one zero, so that an even number is left to the others.
        let b = if taken.alone { zeros.take_single(taken.pole) } else { zeros.take_nearest(taken.pole) };
        sections.push([1.0, b[0], b[1], 1.0, taken.a[0], taken.a[1]]);
    }
    if sections.is_empty() {
        sections.push([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }
    sections.reverse();
    sections
}

/// A pole with its partner, a conjugate or another real one.
struct Taken {
    pole: Complex,
    /// The section's `[a1, a2]`.
    a: [f64; 2],
    /// Whether there was no partner left.
    alone: bool,
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

    /// Takes the pole nearest to the unit circle with its partner.
    fn take_worst(&mut self) -> Option<Taken> {
        let distance = |modulus: f64| (1.0 - modulus).abs();
        let pair = nearest(&self.pairs, |p| distance(p.abs()));
        let real = nearest(&self.real, |r| distance(r.abs()));
        match (pair, real) {
            (Some((i, d)), r) if r.is_none_or(|(_, e)| d <= e) => {
                let pole = self.pairs.remove(i);
                Some(Taken { pole, a: quadratic(pole), alone: false })
            }
            (_, Some((i, _))) => {
                let first = self.real.remove(i);
                let second = nearest(&self.real, |r| distance(r.abs())).map(|(j, _)| self.real.remove(j));
                Some(Taken { pole: first.into(), a: product(first, second), alone: second.is_none() })
            }
            _ => None,
        }
    }

    /// Takes the real zero nearest to a pole: the section's `[b1, b2]`.
    fn take_single(&mut self, to: Complex) -> [f64; 2] {
        let real = nearest(&self.real, |z| (Complex::from(*z) - to).abs());
        real.map_or([0.0, 0.0], |(i, _)| product(self.real.remove(i), None))
    }

    /// Takes the zeros nearest to a pole, a conjugate pair or two real ones: the section's `[b1, b2]`.
    fn take_nearest(&mut self, to: Complex) -> [f64; 2] {
        let pair = nearest(&self.pairs, |z| (*z - to).abs());
        let real = nearest(&self.real, |z| (Complex::from(*z) - to).abs());
        match (pair, real) {
            // A single real zero is kept for the single real pole.
            (Some((i, d)), r) if self.real.len() == 1 || r.is_none_or(|(_, e)| d <= e) => {
                quadratic(self.pairs.remove(i))
            }
            (_, Some((i, _))) => {
                let first = self.real.remove(i);
                let second = nearest(&self.real, |z| (Complex::from(*z) - to).abs());
                product(first, second.map(|(j, _)| self.real.remove(j)))
            }
            _ => [0.0, 0.0],
        }
    }
}

/// `z^2 + c1 z + c2` with two real roots, of which the second may be 0.
fn product(first: f64, second: Option<f64>) -> [f64; 2] {
    second.map_or([-first, 0.0], |second| [-(first + second), first * second])
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
    use crate::design::Zpk;

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
        for (got, want) in zpk.to_sos().unwrap().sections().iter().zip(&expected) {
            got.iter().zip(want).for_each(|(g, w)| assert!((g - w).abs() < 1e-15, "{got:?} {want:?}"));
        }
    }
    #[test]
    fn an_odd_number_of_roots_may_keep_a_section_of_first_order() {
        // scipy.signal.zpk2sos([-1, -.5+.5j, -.5-.5j], [.75, .8+.1j, .8-.1j], 1., pairing="keep_odd") and "nearest"
        let (z, p) = (Complex::new(-0.5, 0.5), Complex::new(0.8, 0.1));
        let zpk = Zpk::new(&[(-1.0).into(), z, z.conj()], &[0.75.into(), p, p.conj()], 1.0).unwrap();
        let expected = [
            (Pairing::KeepOdd, [[1.0, 1.0, 0.0, 1.0, -0.75, 0.0], [1.0, 1.0, 0.5, 1.0, -1.6, 0.65]]),
            (Pairing::Nearest, [[1.0, 1.0, 0.5, 1.0, -0.75, 0.0], [1.0, 1.0, 0.0, 1.0, -1.6, 0.6500000000000001]]),
        ];
        for (pairing, expected) in expected {
            for (got, want) in zpk.to_sos_paired(pairing).unwrap().sections().iter().zip(&expected) {
                got.iter().zip(want).for_each(|(g, w)| assert!((g - w).abs() < 1e-15, "{pairing:?} {got:?} {want:?}"));
            }
        }
    }

    #[test]
    fn a_single_real_zero_is_kept_for_the_last_real_pole() {
        // More real poles than real zeros: scipy runs out of real zeros here.
        let (z, p) = (Complex::new(0.0, 0.99), Complex::new(0.97, 0.1));
        let zeros = [1.0.into(), z, z.conj(), z * 0.5, (z * 0.5).conj()];
        let poles = [0.5.into(), 0.6.into(), 0.7.into(), p, p.conj()];
        let sos = Zpk::new(&zeros, &poles, 1.0).unwrap().to_sos_paired(Pairing::KeepOdd).unwrap();
        assert_eq!(sos.len(), 3);
        assert_eq!(sos.sections().iter().filter(|s| s[2] == 0.0 && s[1] == -1.0 && s[5] == 0.0).count(), 1);
    }
}
