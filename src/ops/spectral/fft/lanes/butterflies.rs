//! Transforms of a few points, for sixteen rows at once, in registers.

use std::ops::{Add, Sub};

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f32x16};

/// Sixteen complex numbers.
#[derive(Clone, Copy)]
pub(super) struct Complex<S: Simd> {
    pub re: f32x16<S>,
    pub im: f32x16<S>,
}

impl<S: Simd> Complex<S> {
    #[inline(always)]
    pub fn zero(simd: S) -> Self {
        Complex { re: f32x16::splat(simd, 0.0), im: f32x16::splat(simd, 0.0) }
    }

    /// Times `w`, the same in every lane.
    #[inline(always)]
    pub fn times(self, simd: S, [re, im]: [f32; 2]) -> Self {
        let (re, im) = (f32x16::splat(simd, re), f32x16::splat(simd, im));
        Complex { re: self.re.mul_sub(re, self.im * im), im: self.re.mul_add(im, self.im * re) }
    }

    /// Times `-i`.
    #[inline(always)]
    pub fn turned(self) -> Self {
        Complex { re: self.im, im: -self.re }
    }

    #[inline(always)]
    pub fn conj(self) -> Self {
        Complex { re: self.re, im: -self.im }
    }

    /// Times a real number.
    #[inline(always)]
    pub fn scaled(self, by: f32x16<S>) -> Self {
        Complex { re: self.re * by, im: self.im * by }
    }

    /// `self + other * by`
    #[inline(always)]
    fn plus(self, other: Self, by: f32x16<S>) -> Self {
        Complex { re: other.re.mul_add(by, self.re), im: other.im.mul_add(by, self.im) }
    }
}

impl<S: Simd> Add for Complex<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<S: Simd> Sub for Complex<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

/// The transform of `R` points: 2, 4, 8 or an odd prime.
#[inline(always)]
pub(super) fn dft<S: Simd, const R: usize>(simd: S, v: &mut [Complex<S>; R]) {
    match R {
        2 => (v[0], v[1]) = (v[0] + v[1], v[0] - v[1]),
        4 => four(v, 0, 1),
        8 => eight(simd, v),
        _ => odd(simd, v),
    }
}

/// Four points, `step` apart from `at` on.
#[inline(always)]
fn four<S: Simd>(v: &mut [Complex<S>], at: usize, step: usize) {
    let [a, b, c, d] = [v[at], v[at + step], v[at + 2 * step], v[at + 3 * step]];
    let (sum, difference) = (a + c, a - c);
    let (other, turned) = (b + d, (b - d).turned());
    v[at] = sum + other;
    v[at + step] = difference + turned;
    v[at + 2 * step] = sum - other;
    v[at + 3 * step] = difference - turned;
}

#[inline(always)]
fn eight<S: Simd>(simd: S, v: &mut [Complex<S>]) {
    four(v, 0, 2);
    four(v, 1, 2);
    let h = f32x16::splat(simd, std::f32::consts::FRAC_1_SQRT_2);
    let [a, b, c, d] = [v[1], v[3], v[5], v[7]];
    // b (1 - i) / sqrt 2, -i c, d (-1 - i) / sqrt 2
    let b = Complex { re: (b.re + b.im) * h, im: (b.im - b.re) * h };
    let c = c.turned();
    let d = Complex { re: (d.im - d.re) * h, im: -((d.re + d.im) * h) };
    let [even, second, fourth, sixth] = [v[0], v[2], v[4], v[6]];
    v[0] = even + a;
    v[4] = even - a;
    v[1] = second + b;
    v[5] = second - b;
    v[2] = fourth + c;
    v[6] = fourth - c;
    v[3] = sixth + d;
    v[7] = sixth - d;
}

/// Cosine and sine of `2 pi k / n` for `n` = 3, 5, 7.
const fn root(n: usize, k: usize) -> (f32, f32) {
    match (n, k) {
        (3, 1) => (-0.5, 0.866_025_4),
        (5, 1) => (0.309_017, 0.951_056_54),
        (5, 2) => (-0.809_017, 0.587_785_24),
        (7, 1) => (0.623_489_8, 0.781_831_5),
        (7, 2) => (-0.222_520_93, 0.974_927_9),
        (7, 3) => (-0.900_968_85, 0.433_883_73),
        _ if 2 * k > n && k < n => {
            let (cos, sin) = root(n, n - k);
            (cos, -sin)
        }
        _ => (1.0, 0.0),
    }
}

/// Sums and differences of points that are each other's mirror.
#[inline(always)]
fn odd<S: Simd, const R: usize>(simd: S, v: &mut [Complex<S>; R]) {
    let first = v[0];
    for k in 1..R / 2 + 1 {
        (v[k], v[R - k]) = (v[k] + v[R - k], v[k] - v[R - k]);
    }
    let a = *v;
    for sum in &a[1..R / 2 + 1] {
        v[0] = v[0] + *sum;
    }
    for k in 1..R / 2 + 1 {
        let mut even = first;
        let mut side = Complex::zero(simd);
        for m in 1..R / 2 + 1 {
            let (cos, sin) = root(R, k * m % R);
            even = even.plus(a[m], f32x16::splat(simd, cos));
            side = side.plus(a[R - m], f32x16::splat(simd, sin));
        }
        let side = side.turned();
        v[k] = even + side;
        v[R - k] = even - side;
    }
}
