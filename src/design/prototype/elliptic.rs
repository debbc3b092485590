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
