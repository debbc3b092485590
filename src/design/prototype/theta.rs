//! Elliptic integrals and Jacobi's `sn`, in the form that elliptic filters need.
//!
//! `sn` is a quotient of theta functions, series in the nome `q` that converge faster than geometrically. Where `q` is
//! near 1 (steep filters), Jacobi's imaginary transformation turns them into series in the complementary nome, near 0. So
//! both the modulus and its complement stay exact to the last digits, where scipy's route by the parameter `m` and `1 - m`
//! loses those of `1 - m` (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 16.27 and 17.6; Whittaker and
//! Watson, *Modern Analysis*, ch. 21).

use std::f64::consts::{FRAC_PI_2, PI};

use crate::design::Complex;

/// The complete elliptic integral `K` for the complementary modulus `kc`, above 0 and at most 1.
pub(super) fn quarter_period(kc: f64) -> f64 {
    let (mut a, mut b) = (1.0f64, kc);
    // The arithmetic-geometric mean: digits double with every step.
    while (a - b).abs() > f64::EPSILON * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    FRAC_PI_2 / a
}

/// The incomplete elliptic integral `F` of the angle whose tangent is `tan`, above 0, for the complementary modulus `kc`:
/// the inverse of `sc = sn / cn` (Bulirsch, *Numerical calculation of elliptic integrals and elliptic functions*, 1965).
pub(super) fn inverse_sc(tan: f64, kc: f64) -> f64 {
    // Landen's doubling of the angle on its cotangent, which keeps the digits of angles next to a right one; whole half
    // turns are counted.
    let (mut a, mut b, mut cotangent, mut turns) = (1.0f64, kc, 1.0 / tan, 0.0);
    loop {
        let product = a * b;
        let unequal = (a - b).abs() > 1e-8 * a;
        cotangent -= product / cotangent;
        if cotangent == 0.0 {
            cotangent = f64::EPSILON * product.sqrt();
        }
        (a, b) = (a + b, 2.0 * product.sqrt());
        let beyond = f64::from(u8::from(cotangent < 0.0));
        if !unequal {
            return ((a / cotangent).atan() + PI * (turns + beyond)) / a;
        }
        turns = 2.0 * turns + beyond;
    }
}

/// Jacobi's functions of one modulus, given by the ratio of its quarter periods.
pub(super) struct Jacobi {
    /// `K' / K`.
    ratio: f64,
    /// Of the two nomes the smaller one.
    nome: f64,
    /// Whether that is the complementary one.
    steep: bool,
}

/// The four theta functions at one point, all divided by the same power of the nome where they have it.
struct Thetas {
    one: Complex,
    two: Complex,
    three: Complex,
    four: Complex,
}

impl Jacobi {
    /// For `K' / K`, above 0.
    pub(super) fn new(ratio: f64) -> Self {
        let steep = ratio < 1.0;
        let nome = (-PI * if steep { 1.0 / ratio } else { ratio }).exp();
        Jacobi { ratio, nome, steep }
    }

    /// `sqrt(k)`, the root of the modulus.
    pub(super) fn sqrt_modulus(&self) -> f64 {
        let at_zero = self.thetas(Complex::default());
        if self.steep {
            at_zero.four.re / at_zero.three.re
        } else {
            self.nome.powf(0.25) * at_zero.two.re / at_zero.three.re
        }
    }

    /// `j sn(u)` for `u` in quarter periods `K`.
    pub(super) fn j_sn(&self, u: Complex) -> Complex {
        let at_zero = self.thetas(Complex::default());
        if self.steep {
            // With z / tau = -j z / ratio in place of z, one and two, two and four change places.
            let at = self.thetas(Complex::new(u.im, -u.re) * (FRAC_PI_2 / self.ratio));
            -(at.one / at.two) * (at_zero.three.re / at_zero.four.re)
        } else {
            let at = self.thetas(u * FRAC_PI_2);
            let sn = at.one / at.four * (at_zero.three.re / at_zero.two.re);
            Complex::new(-sn.im, sn.re)
        }
    }

    /// The theta functions at `z`; `one` and `two` without their factor `nome^(1/4)`.
    fn thetas(&self, z: Complex) -> Thetas {
        let (mut one, mut two) = (Complex::default(), Complex::default());
        let (mut three, mut four) = (Complex::from(1.0), Complex::from(1.0));
        // At the smallest argument and the largest nome, exp(-pi), the sixth term is below 1e-50.
        for n in 0..6 {
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            let (sin, cos) = sin_cos(z * f64::from(2 * n + 1));
            let weight = 2.0 * self.nome.powi(n * (n + 1));
            one = one + sin * (sign * weight);
            two = two + cos * weight;
            if n > 0 {
                let (_, cos) = sin_cos(z * f64::from(2 * n));
                let weight = 2.0 * self.nome.powi(n * n);
                three = three + cos * weight;
                four = four + cos * (sign * weight);
            }
        }
        Thetas { one, two, three, four }
    }
}

/// Sine and cosine.
fn sin_cos(z: Complex) -> (Complex, Complex) {
    let (sin, cos) = z.re.sin_cos();
    let (sinh, cosh) = (z.im.sinh(), z.im.cosh());
    (Complex::new(sin * cosh, cos * sinh), Complex::new(cos * cosh, -sin * sinh))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-14, "{got}, expected {want}");
    }

    #[test]
    fn integrals_are_right_to_the_last_digits() {
        // mpmath, 80 digits.
        close(quarter_period(1.0), FRAC_PI_2);
        close(quarter_period(0.5), 2.156_515_647_499_643_4);
        close(quarter_period(1e-3), 8.294_051_463_615_44);
        close(quarter_period(1e-100), 4.0f64.ln() + 100.0 * std::f64::consts::LN_10);
        close(inverse_sc(0.3, 0.5), 0.294_587_935_672_207);
        close(inverse_sc(2.0, 1e-3), 1.443_634_718_054_941_6);
        close(inverse_sc(1e5, 1e-8), 12.206_072_395_555_267);
        close(inverse_sc(1e8, 0.9), 1.654_616_656_411_415_8);
    }

    #[test]
    fn both_nomes_give_the_same_functions() {
        // At a ratio of 1 either series converges.
        let (flat, steep) = (Jacobi::new(1.0), Jacobi { steep: true, ..Jacobi::new(1.0) });
        close(flat.sqrt_modulus(), 0.5f64.powf(0.25));
        close(steep.sqrt_modulus(), 0.5f64.powf(0.25));
        for (x, y) in [(0.3, 0.0), (0.0, 0.4), (0.7, 0.2), (1.0, 0.6)] {
            let (a, b) = (flat.j_sn(Complex::new(x, y)), steep.j_sn(Complex::new(x, y)));
            assert!((a - b).abs() < 4e-15 * a.abs(), "{a:?} {b:?}");
        }
    }
}
