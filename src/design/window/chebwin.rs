//! The Dolph-Chebyshev window.
//!
//! Its spectrum is known: the Chebyshev polynomial `T(beta cos(theta / 2))` of order `m - 1`, a trigonometric polynomial
//! whose coefficients are the window. They come from any grid of at least `m` frequencies, so a power of two is taken,
//! and the Fourier transform stays the simplest there is. scipy evaluates the polynomial from its argument, which next
//! to the main lobe is 1 and a little; here that little is computed by itself, so long windows keep their digits.

use std::f64::consts::PI;

use super::{buffer, too_long};
use crate::design::Complex;
use crate::error::Result;

/// The symmetric window of `m` samples, 2 or more, for `at` dB, 0 or more.
pub(super) fn chebwin(m: usize, at: f64) -> Result<Vec<f64>> {
    let grid = m.checked_next_power_of_two().ok_or_else(|| too_long(m))?;
    let order = (m - 1) as f64;
    let height = 10f64.powf(at / 20.0);
    let a = height.acosh() / order;
    let mut spectrum = buffer(grid, Complex::default())?;
    for (k, value) in spectrum.iter_mut().enumerate() {
        let size = chebyshev(order, a, k, grid) / height;
        // The polynomial is even or odd as its order.
        let size = if 2 * k > grid && m.is_multiple_of(2) { -size } else { size };
        // Delayed by (m - 1) / 2 samples; the angle is reduced before it is rounded.
        *value = turn((k as u128 * (m - 1) as u128) % (2 * grid as u128), 2 * grid) * size;
    }
    inverse_fft(&mut spectrum)?;
    let peak = spectrum[..m].iter().fold(0.0f64, |p, v| p.max(v.re));
    let mut w = buffer(m, 0.0)?;
    for i in 0..m.div_ceil(2) {
        w[i] = spectrum[i].re / peak;
        w[m - 1 - i] = w[i];
    }
    Ok(w)
}

/// `|k|`-th of `grid` samples of `T(cosh(a) cos(pi k / grid))`, mirrored beyond the middle.
fn chebyshev(order: f64, a: f64, k: usize, grid: usize) -> f64 {
    let half = 0.5 * PI * k.min(grid - k) as f64 / grid as f64;
    // Half of what the argument exceeds 1 by.
    let excess = (0.5 * a).sinh().powi(2) - a.cosh() * half.sin().powi(2);
    if excess > 0.0 {
        (2.0 * order * excess.sqrt().asinh()).cosh()
    } else {
        (2.0 * order * (-excess).sqrt().min(1.0).asin()).cos()
    }
}

/// `exp(-2 pi j k / n)`.
fn turn(k: u128, n: usize) -> Complex {
    let (sin, cos) = (2.0 * PI * k as f64 / n as f64).sin_cos();
    Complex::new(cos, -sin)
}

/// `sum x[k] exp(2 pi j k n / len)` in place, for a power of two.
fn inverse_fft(x: &mut [Complex]) -> Result<()> {
    let len = x.len();
    let mut twiddles = buffer(len / 2, Complex::default())?;
    twiddles.iter_mut().enumerate().for_each(|(k, t)| *t = turn(k as u128, len).conj());
    // By decimation in frequency, which leaves the result in bit-reversed order.
    let mut width = len;
    while width > 1 {
        let (half, stride) = (width / 2, len / width);
        for block in x.chunks_exact_mut(width) {
            let (low, high) = block.split_at_mut(half);
            for (k, (u, v)) in low.iter_mut().zip(high).enumerate() {
                let difference = *u - *v;
                *u = *u + *v;
                *v = difference * twiddles[k * stride];
            }
        }
        width = half;
    }
    let unused = usize::BITS - len.trailing_zeros();
    for i in 0..len {
        let j = i.reverse_bits().checked_shr(unused).unwrap_or(0);
        if i < j {
            x.swap(i, j);
        }
    }
    Ok(())
}
