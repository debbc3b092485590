//! Chebyshev's two kinds: `scipy.signal.cheb1ap`, `cheb2ap`.
//!
//! The squared magnitude is `1 / (1 + eps^2 T(w)^2)`, `T` Chebyshev's polynomial of the order, or its mirror image in
//! frequency and level; the poles lie on an ellipse, or on the inverse of one (Parks and Burrus, *Digital Filter Design*,
//! 7.2.3).

use std::f64::consts::PI;

use super::excess;
use crate::design::zpk::{Roots, upper};
use crate::design::{Complex, Zpk};

/// Ripple of `rp` dB in the pass band.
pub(super) fn first(order: usize, rp: f64) -> Zpk {
    let eps = excess(rp);
    let poles = ellipse(order, (1.0 / eps).asinh() / order as f64);
    let mut gain = poles.product(|p| -p);
    if order.is_multiple_of(2) {
        gain /= 1.0f64.hypot(eps);
    }
    Zpk { zeros: Roots::default(), poles, gain }
}

/// Ripple in the stop band, `rs` dB below the pass band.
pub(super) fn second(order: usize, rs: f64) -> Zpk {
    let poles = ellipse(order, excess(rs).asinh() / order as f64).map(|p| Complex::from(1.0) / p);
    let zero = |k: usize| Complex::new(0.0, 1.0 / angle(order, k).cos());
    let zeros = Roots { real: vec![], pairs: (0..order / 2).map(zero).collect() };
    let gain = poles.product(|p| -p) / zeros.product(|z| -z);
    Zpk { zeros, poles, gain }
}

/// Angle of the `k`th pole from the end of the imaginary axis.
fn angle(order: usize, k: usize) -> f64 {
    PI * (2 * k + 1) as f64 / (2 * order) as f64
}

/// Poles on the ellipse with the half axes `sinh(mu)` and `cosh(mu)`.
fn ellipse(order: usize, mu: f64) -> Roots {
    let (narrow, wide) = (mu.sinh(), mu.cosh());
    let mut poles = Roots::default();
    for k in 0..order / 2 {
        let (sin, cos) = angle(order, k).sin_cos();
        poles.pairs.push(upper(Complex::new(-narrow * sin, wide * cos)));
    }
    if order % 2 == 1 {
        poles.real.push(-narrow);
    }
    poles
}
