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

/// The incomplete elliptic integral `F` of the angle whose tangent is `tan`, for the complementary modulus `kc`: the
/// inverse of `sc = sn / cn`.
pub(super) fn inverse_sc(tan: f64, kc: f64) -> f64 {
    let (mut a, mut b, mut scale) = (1.0f64, kc, 1.0);
    let mut angle = tan.atan();
    let mut tangent = tan;
    while (a - b).abs() > f64::EPSILON * a {
        // Landen: tan(next - angle) = b / a tan(angle), on the branch next to the angle.
        angle += (b / a * tangent).atan() + PI * (angle / PI).round();
        tangent = angle.tan();
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        scale *= 2.0;
    }
    angle / (scale * a)
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
