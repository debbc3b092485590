//! Savitzky-Golay coefficients: `scipy.signal.savgol_coeffs` (Savitzky and Golay, *Smoothing and differentiation of data
//! by simplified least squares procedures*, 1964).
//!
//! scipy solves the least-squares problem on powers of the sample number, which lose all digits beyond an order of about
//! ten. On equally spaced samples the orthogonal polynomials are known, Gram's (discrete Chebyshev; Gautschi, *Orthogonal
//! Polynomials: Computation and Approximation*, 1.5), with a recurrence whose coefficients are exact; the fit is then a
//! sum, `c[i] = sum over k of p_k(x_i) * p_k^(deriv)(pos)`.

use crate::error::{Error, ErrorKind, Result};

/// The order in which coefficients come: `use` of `scipy.signal.savgol_coeffs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TapOrder {
    /// For a convolution: reversed.
    #[default]
    Conv,
    /// For a dot product with the samples.
    Dot,
}

/// What [`savgol_coeffs`] computes; the default is scipy's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SavgolCoeffsOptions {
    /// Order of the derivative. Default: 0, smoothing.
    pub deriv: usize,
    /// Distance of the samples, which scales derivatives. Default: 1.
    pub delta: f64,
    /// Where in the window the fit is evaluated, from 0 to below its length. Default: the middle.
    pub pos: Option<f64>,
    /// The order of the coefficients. Default: for a convolution.
    pub order: TapOrder,
}

impl Default for SavgolCoeffsOptions {
    fn default() -> Self {
        SavgolCoeffsOptions { deriv: 0, delta: 1.0, pos: None, order: TapOrder::Conv }
    }
}

/// The coefficients that give the value, or a derivative, of the polynomial of order `polyorder` fitted to
/// `window_length` samples: `scipy.signal.savgol_coeffs(window_length, polyorder, ...)`.
///
/// ```
/// use dspk::design::{SavgolCoeffsOptions, savgol_coeffs};
/// let c = savgol_coeffs(5, 2, &SavgolCoeffsOptions::default())?;
/// for (c, exact) in c.iter().zip([-3.0, 12.0, 17.0, 12.0, -3.0]) {
///     assert!((35.0 * c - exact).abs() < 1e-13);
/// }
/// # Ok::<(), dspk::Error>(())
/// ```
///
/// # Errors
/// No samples, an order that is not below their number, a `delta` that is 0 or not finite, a `pos` outside the window, a
/// derivative beyond float64, or more memory than there is.
pub fn savgol_coeffs(window_length: usize, polyorder: usize, options: &SavgolCoeffsOptions) -> Result<Vec<f64>> {
    let SavgolCoeffsOptions { deriv, delta, pos, order } = *options;
    let last = check(window_length, polyorder, options)?;
    let mut c = Vec::new();
    c.try_reserve_exact(window_length).map_err(|e| {
        let message = format!("there is no memory for a window of {window_length} samples; ask for a shorter one");
        Error::new(ErrorKind::OutOfMemory, message).with_source(e)
    })?;
    if deriv > polyorder {
        c.resize(window_length, 0.0);
        return Ok(c);
    }
    let gram = Gram { points: window_length as f64, order: polyorder };
    let middle = 0.5 * last;
    let weights = gram.derivative(pos.unwrap_or(middle) - middle, deriv);
    let scale = delta.powi(i32::try_from(deriv).unwrap_or(i32::MAX));
    c.extend((0..window_length).map(|i| gram.sum(&weights, i as f64 - middle)));
    if gram.distance(&c, &weights, middle) > ORTHOGONAL {
        return Err(Error::new(
            ErrorKind::Precision,
            format!(
                "polynomials of order {polyorder} on {window_length} samples lose their orthogonality in float64; pass a polyorder of at most {}",
                (2.0 * (window_length as f64).sqrt()) as usize
            ),
        ));
    }
    c.iter_mut().for_each(|v| *v /= scale);
    if c.iter().any(|v| !v.is_finite()) {
        return Err(Error::invalid(format!(
            "the derivative of order {deriv} at a spacing of {delta} leaves the range of float64; scale the samples' distance"
        )));
    }
    if order == TapOrder::Conv {
        c.reverse();
    }
    Ok(c)
}

/// How far the coefficients may be from giving every polynomial its value.
const ORTHOGONAL: f64 = 1e-11;

/// The position of the last sample.
fn check(window_length: usize, polyorder: usize, options: &SavgolCoeffsOptions) -> Result<f64> {
    if window_length == 0 {
        return Err(Error::invalid("a window of 0 samples was asked for; pass window_length of 1 or more"));
    }
    if polyorder >= window_length {
        return Err(Error::invalid(format!(
            "a polynomial of order {polyorder} is not determined by {window_length} samples; pass polyorder of at most {}",
            window_length - 1
        )));
    }
    if !(options.delta.is_finite() && options.delta != 0.0) {
        return Err(Error::invalid(format!(
            "delta = {} is not possible; pass a finite number other than 0",
            options.delta
        )));
    }
    if let Some(pos) = options.pos.filter(|p| !(*p >= 0.0 && *p < window_length as f64)) {
        return Err(Error::invalid(format!(
            "pos = {pos} lies outside the window; pass a value of at least 0 and below {window_length}"
        )));
    }
    Ok((window_length - 1) as f64)
}

/// The orthonormal polynomials on `points` samples around 0, up to an order: the recurrence is
/// `s(k + 1) p(k + 1) = x p(k) - s(k) p(k - 1)`.
struct Gram {
    points: f64,
    order: usize,
}

impl Gram {
    /// `s(k)`.
    fn step(&self, k: usize) -> f64 {
        let k = k as f64;
        0.5 * k * ((self.points - k) * (self.points + k) / ((2.0 * k - 1.0) * (2.0 * k + 1.0))).sqrt()
    }

    fn first(&self) -> f64 {
        1.0 / self.points.sqrt()
    }

    /// The largest difference between what coefficients make of a polynomial and `weights`, what they should, by the largest
    /// of these; infinite if that is not finite.
    fn distance(&self, c: &[f64], weights: &[f64], middle: f64) -> f64 {
        let mut sums = vec![0.0; weights.len()];
        for (i, c) in c.iter().enumerate() {
            let values = self.derivative(i as f64 - middle, 0);
            sums.iter_mut().zip(values).for_each(|(sum, v)| *sum += c * v);
        }
        let size = weights.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let worst = |m: f64, d: f64| if d.is_nan() { f64::INFINITY } else { m.max(d) };
        sums.iter().zip(weights).map(|(s, w)| (s - w).abs() / size).fold(0.0, worst)
    }

    /// The derivative of order `deriv` of every polynomial at `x`.
    fn derivative(&self, x: f64, deriv: usize) -> Vec<f64> {
        let mut lower: Vec<f64> = Vec::new();
        for d in 0..=deriv {
            let mut p = vec![0.0; self.order + 1];
            if d == 0 {
                p[0] = self.first();
            }
            for k in 0..self.order {
                let slope = lower.get(k).map_or(0.0, |v| d as f64 * v);
                let before = if k == 0 { 0.0 } else { self.step(k) * p[k - 1] };
                p[k + 1] = (x * p[k] + slope - before) / self.step(k + 1);
            }
            lower = p;
        }
        lower
    }

    /// The sum of the polynomials at `x` with these weights, by Clenshaw's recurrence.
    fn sum(&self, weights: &[f64], x: f64) -> f64 {
        let (mut next, mut after) = (0.0, 0.0);
        for k in (0..=self.order).rev() {
            let up = if k < self.order { x / self.step(k + 1) * next } else { 0.0 };
            let beyond = if k + 1 < self.order { self.step(k + 1) / self.step(k + 2) * after } else { 0.0 };
            (after, next) = (next, weights[k] + up - beyond);
        }
        next * self.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_is_not_determined() {
        let message = |length, order, options: &SavgolCoeffsOptions| {
            savgol_coeffs(length, order, options).unwrap_err().to_string()
        };
        let plain = SavgolCoeffsOptions::default();
        assert!(message(0, 0, &plain).contains("1 or more"));
        assert!(message(5, 5, &plain).contains("at most 4"));
        for pos in [-0.1, 5.0, f64::NAN, f64::INFINITY] {
            assert!(message(5, 2, &SavgolCoeffsOptions { pos: Some(pos), ..plain }).contains("below 5"), "{pos}");
        }
        for delta in [0.0, f64::NAN, f64::INFINITY] {
            assert!(message(5, 2, &SavgolCoeffsOptions { delta, ..plain }).contains("other than 0"));
        }
        assert!(message(5, 2, &SavgolCoeffsOptions { delta: 1e-300, deriv: 2, ..plain }).contains("range of float64"));
        let e = savgol_coeffs(usize::MAX, 2, &plain).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_derivative_beyond_the_order_is_zero() {
        let options = SavgolCoeffsOptions { deriv: 3, ..Default::default() };
        assert_eq!(savgol_coeffs(5, 2, &options).unwrap(), [0.0; 5]);
    }

    #[test]
    fn high_orders_keep_their_digits() {
        // Rational arithmetic: window 31, order 20, and window 101, order 15, both in the middle; samples 0, 7 and middle.
        let at = |length, order| savgol_coeffs(length, order, &SavgolCoeffsOptions::default()).unwrap();
        for (c, expected) in [
            (at(31, 20), [(0, 2.8587491618272664e-05), (7, 0.022769444186167657), (15, 0.48766167770338137)]),
            (at(101, 15), [(0, -0.00947540508477352), (7, -0.0020037559298592606), (50, 0.09813391607680613)]),
        ] {
            for (i, want) in expected {
                assert!((c[i] - want).abs() < 1e-13, "{i}: {}, expected {want}", c[i]);
            }
        }
    }

    proptest! {
        #[test]
        fn polynomials_and_their_derivatives_are_reproduced(
            length in 1usize..60, order in 0usize..6, deriv in 0usize..3, at in 0.0..1.0_f64, whole in any::<bool>(),
        ) {
            let order = order.min(length - 1);
            let pos = if whole { 0.5 * (length - 1) as f64 } else { at * (length as f64 - 1e-9) };
            let options = SavgolCoeffsOptions { deriv, pos: Some(pos), delta: 0.5, order: TapOrder::Dot };
            let c = savgol_coeffs(length, order, &options).unwrap();
            // Powers of the distance from the window's middle, scaled to its half length.
            let half = (0.5 * (length - 1) as f64).max(1.0);
            let t = |x: f64| (x - 0.5 * (length - 1) as f64) / half;
            for power in 0..=order {
                let fitted: f64 = c.iter().enumerate().map(|(i, c)| c * t(i as f64).powi(power as i32)).sum();
                let factor: f64 = (0..deriv).map(|d| power as f64 - d as f64).product();
                let exact = if power < deriv { 0.0 } else { factor * t(pos).powi((power - deriv) as i32) };
                let scale = (0.5 * half).powi(deriv as i32);
                prop_assert!((fitted * scale - exact).abs() < 1e-9, "{} {}: {}", power, fitted * scale, exact);
            }
        }

        #[test]
        fn a_convolution_takes_them_reversed(length in 1usize..40, order in 0usize..5) {
            let order = order.min(length - 1);
            let with = |order_of_taps| SavgolCoeffsOptions { pos: Some(0.0), order: order_of_taps, ..Default::default() };
            let mut c = savgol_coeffs(length, order, &with(TapOrder::Conv)).unwrap();
            c.reverse();
            prop_assert_eq!(c, savgol_coeffs(length, order, &with(TapOrder::Dot)).unwrap());
        }
    }
}
