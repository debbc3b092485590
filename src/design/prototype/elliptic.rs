//! Elliptic (Cauer) filters: `scipy.signal.ellipap`.
//!
//! The squared magnitude is `1 / (1 + eps^2 R(w)^2)` with the elliptic rational function `R`. Order, ripple and
//! attenuation fix the ratio of quarter periods of the filter's modulus (the degree equation); zeros and poles are values
//! of `sn` on a line (Parks and Burrus, *Digital Filter Design*, 7.2.7; Orfanidis, *Lecture Notes on Elliptic Filter
//! Design*, 2006).

use super::excess;
use super::theta::{Jacobi, inverse_sc, quarter_period};
use crate::design::zpk::{Roots, upper};
use crate::design::{Complex, Zpk};

/// `rp` dB of ripple in the pass band, `rs` dB of attenuation in the stop band; 0 < `rp` < `rs`.
pub(super) fn elliptic(order: usize, rp: f64, rs: f64) -> Zpk {
    let (eps, eps_stop) = (excess(rp), excess(rs));
    if order == 1 {
        let poles = Roots { real: vec![-1.0 / eps], pairs: vec![] };
        return Zpk { zeros: Roots::default(), poles, gain: 1.0 / eps };
    }
    // The ripples' modulus, and its complement sqrt(1 - (eps / eps_stop)^2) free of cancellation.
    let k1 = eps / eps_stop;
    let k1c = 1.0f64.hypot(eps) * excess(rs - rp) / eps_stop;
    let period = quarter_period(k1c);
    let jacobi = Jacobi::new(quarter_period(k1) / period / order as f64);
    let depth = inverse_sc(1.0 / eps, k1) / (order as f64 * period);
    let root = jacobi.sqrt_modulus();
    let modulus = root * root;

    let (mut zeros, mut poles) = (Roots::default(), Roots::default());
    for j in (1 - order % 2..order).step_by(2) {
        let x = j as f64 / order as f64;
        let pole = jacobi.j_sn(Complex::new(x, depth));
        if j == 0 {
            poles.real.push(pole.re);
        } else {
            poles.pairs.push(upper(pole));
            zeros.pairs.push(Complex::new(0.0, 1.0 / (modulus * jacobi.j_sn(x.into()).im)));
        }
    }
    let mut gain = poles.product(|p| -p) / zeros.product(|z| -z);
    if order.is_multiple_of(2) {
        gain /= 1.0f64.hypot(eps);
    }
    Zpk { zeros, poles, gain }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Point = (f64, f64);

    /// Order, ripples, the poles farthest from and nearest to the real axis, the lowest zero: mpmath, 80 digits.
    #[rustfmt::skip]
    const FILTERS: [(usize, f64, f64, Point, Point, f64); 7] = [
        (2, 1.0, 40.0, (-0.545754314056852, 0.9001208375096554), (-0.545754314056852, 0.9001208375096554), 9.9376266396137),
        (5, 0.01, 100.0, (-0.24661035072966844, 1.2255397663337013), (-0.8264994238653764, 0.0), 6.405409689277473),
        (8, 1.0, 40.0, (-0.005411660716920961, 0.9999186750761123), (-0.30450037639472005, 0.3955899574843495), 1.0248285755506907),
        (15, 3.0, 10.0, (-1.0789459340340898e-12, 0.9999999999997351), (-0.5984657132624255, 0.0), 1.0000000000016043),
        (16, 3.0, 10.0, (-1.4494287979328343e-13, 0.9999999999999645), (-0.2067917931922989, 0.8575886989976556), 1.0000000000002156),
        (3, 1.0, 1.001, (-7.90997040641761e-09, 1.000000005758591), (-1.9646769877931154, 0.0), 1.000000009784683),
        (6, 1e-09, 300.0, (-0.905020202381905, 3.513037570971762), (-3.377676104363288, 0.9413409629862972), 655.3729433440656),
    ];

    #[test]
    fn roots_are_right_to_the_last_digits() {
        let near = |got: Complex, want: Point| {
            let want = Complex::new(want.0, want.1);
            (got - want).abs() <= 4e-15 * want.abs()
        };
        for (order, rp, rs, far, low, zero) in FILTERS {
            let zpk = elliptic(order, rp, rs);
            let what = format!("{order} {rp} {rs}: {zpk:?}");
            let poles = zpk.poles();
            let high = poles.iter().max_by(|a, b| a.im.total_cmp(&b.im)).unwrap();
            assert!(near(*high, far), "{what}");
            let flat = poles.iter().min_by(|a, b| a.im.abs().total_cmp(&b.im.abs())).unwrap();
            assert!(near(Complex::new(flat.re, flat.im.abs()), low), "{what}");
            let lowest = zpk.zeros().iter().map(|z| z.im.abs()).fold(f64::INFINITY, f64::min);
            assert!(near(lowest.into(), (zero, 0.0)), "{what}");
        }
    }

    #[test]
    fn both_bands_keep_their_ripple() {
        for (order, rp, rs) in [(2, 1.0, 40.0), (3, 0.1, 20.0), (6, 0.5, 60.0), (7, 3.0, 10.0)] {
            let zpk = elliptic(order, rp, rs);
            let gain = |w: f64| {
                let at = Complex::new(0.0, w);
                let product = |roots: Vec<Complex>| roots.iter().map(|r| (at - *r).abs()).product::<f64>();
                20.0 * (zpk.gain() * product(zpk.zeros()) / product(zpk.poles())).log10()
            };
            assert!((gain(1.0) + rp).abs() < 1e-9);
            assert!((gain(0.0) + if order % 2 == 0 { rp } else { 0.0 }).abs() < 1e-9);
            (0..=100).map(|k| gain(0.01 * f64::from(k))).for_each(|g| assert!(g < 1e-9 && g > -rp - 1e-9, "{g}"));
            // Beyond the edge of the stop band, which mirrors the pass band: 1 / modulus.
            let edge = zpk.zeros().iter().map(|z| z.im.abs()).fold(f64::INFINITY, f64::min);
            (0..100).map(|k| gain(edge * 1.05f64.powi(k))).for_each(|g| assert!(g < 1e-9 - rs, "{g}"));
        }
    }
}
