//! A float64 complex number with the arithmetic the designs need.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A complex number in float64.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// `re + im j`.
    pub const fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    /// Modulus, without overflow or underflow in between.
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// Squared modulus.
    pub fn norm_sqr(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// The mirror image in the real axis.
    pub fn conj(self) -> Self {
        Complex::new(self.re, -self.im)
    }

    /// Principal square root: real part not negative.
    pub fn sqrt(self) -> Self {
        let modulus = self.abs();
        if modulus == 0.0 {
            return Complex::default();
        }
        // The larger component comes from a sum of like signs, the smaller from the product: nothing cancels.
        let large = (0.5 * (modulus + self.re.abs())).sqrt();
        let small = 0.5 * self.im.abs() / large;
        let (re, im) = if self.re >= 0.0 { (large, small) } else { (small, large) };
        Complex::new(re, im.copysign(self.im))
    }
}

impl From<f64> for Complex {
    fn from(re: f64) -> Self {
        Complex::new(re, 0.0)
    }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, o: Complex) -> Complex {
        Complex::new(self.re - o.re, self.im - o.im)
    }
}

impl Neg for Complex {
    type Output = Complex;
    fn neg(self) -> Complex {
        Complex::new(-self.re, -self.im)
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Complex;
    fn mul(self, o: f64) -> Complex {
        Complex::new(self.re * o, self.im * o)
    }
}

impl Div for Complex {
    type Output = Complex;
    /// Smith's algorithm: scaled by the larger component of the divisor, so that its square is never formed.
    fn div(self, o: Complex) -> Complex {
        if o.re.abs() >= o.im.abs() {
            let r = o.im / o.re;
            let d = o.re + o.im * r;
            Complex::new((self.re + self.im * r) / d, (self.im - self.re * r) / d)
        } else {
            let r = o.re / o.im;
            let d = o.re * r + o.im;
            Complex::new((self.re * r + self.im) / d, (self.im * r - self.re) / d)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Complex, b: Complex) -> bool {
        (a - b).abs() <= 4e-16 * b.abs()
    }

    #[test]
    fn roots_square_back_and_lie_in_the_right_half_plane() {
        for (re, im) in
            [(3.0, 4.0), (-3.0, 4.0), (-3.0, -4.0), (0.0, 2.0), (-4.0, 0.0), (1e-200, 1e-200), (-1e150, 1.0)]
        {
            let z = Complex::new(re, im);
            let r = z.sqrt();
            assert!(r.re >= 0.0 && close(r * r, z), "{z:?} -> {r:?}");
        }
        assert_eq!(Complex::default().sqrt(), Complex::default());
    }

    #[test]
    fn division_undoes_multiplication_at_any_scale() {
        let a = Complex::new(1.5, -2.5);
        for b in
            [Complex::new(2.0, 1.0), Complex::new(-1.0, 3.0), Complex::new(1e-200, 3e-200), Complex::new(0.0, 1e200)]
        {
            assert!(close((a * b) / b, a), "{b:?}");
        }
    }
}
