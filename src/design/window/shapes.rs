//! The windows with a formula for each sample.

use std::f64::consts::PI;

use super::bessel::Kaiser;
use super::{Window, buffer, chebwin, dpss};
use crate::error::Result;

/// A place in the first half of a window of `m` samples, middle included.
#[derive(Clone, Copy)]
struct Place {
    /// Samples from the start.
    i: f64,
    /// Samples from the middle.
    n: f64,
    /// Distance from the middle: 1 at the ends.
    t: f64,
}

impl Window {
    /// The symmetric window of `m` samples, 2 or more.
    pub(super) fn symmetric(&self, m: usize) -> Result<Vec<f64>> {
        let len = m as f64;
        match *self {
            Window::Boxcar => buffer(m, 1.0),
            Window::Triang if m.is_multiple_of(2) => mirrored(m, |p| (2.0 * p.i + 1.0) / len),
            Window::Triang => mirrored(m, |p| 2.0 * (p.i + 1.0) / (len + 1.0)),
            Window::Bartlett => mirrored(m, |p| 2.0 * p.i / (len - 1.0)),
            Window::Hann => cosines(m, &[0.5, 0.5]),
            Window::Hamming => cosines(m, &[0.54, 0.46]),
            Window::Blackman => cosines(m, &[0.42, 0.50, 0.08]),
            Window::BlackmanHarris => cosines(m, &[0.35875, 0.48829, 0.14128, 0.01168]),
            Window::Nuttall => cosines(m, &[0.3635819, 0.4891775, 0.1365995, 0.0106411]),
            Window::Flattop => cosines(m, &[0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368]),
            Window::GeneralHamming { alpha } => cosines(m, &[alpha, 1.0 - alpha]),
            Window::GeneralCosine(ref weights) => cosines(m, weights),
            Window::Cosine => mirrored(m, |p| (PI * (p.i + 0.5) / len).sin()),
            Window::Parzen => mirrored(m, |p| parzen(p.n, len)),
            Window::Bohman => mirrored(m, |p| bohman(p.t)),
            Window::Barthann => mirrored(m, |p| 0.62 - 0.24 * p.t + 0.38 * (PI * p.t).cos()),
            Window::Lanczos => mirrored(m, |p| if p.t == 0.0 { 1.0 } else { (PI * p.t).sin() / (PI * p.t) }),
            Window::Tukey { alpha } if alpha <= 0.0 => buffer(m, 1.0),
            Window::Tukey { alpha } if alpha >= 1.0 => Window::Hann.symmetric(m),
            Window::Tukey { alpha } => tukey(m, alpha),
            Window::Kaiser { beta } => {
                let kaiser = Kaiser::new(beta);
                mirrored(m, |p| kaiser.at(p.t))
            }
            Window::KaiserBesselDerived { beta } => kaiser_bessel_derived(m, beta),
            Window::Gaussian { std } => mirrored(m, |p| (-0.5 * (p.n / std).powi(2)).exp()),
            Window::GeneralGaussian { p: shape, sig } => mirrored(m, |p| (-0.5 * (p.n / sig).powf(2.0 * shape)).exp()),
            Window::Exponential { center: None, tau } => mirrored(m, |p| (-p.n / tau).exp()),
            Window::Exponential { center: Some(center), tau } => {
                let mut w = buffer(m, 0.0)?;
                w.iter_mut().enumerate().for_each(|(i, v)| *v = (-(i as f64 - center).abs() / tau).exp());
                Ok(w)
            }
            Window::Dpss { nw } => dpss::window(m, nw),
            Window::Chebwin { at } => chebwin::chebwin(m, at.abs()),
            Window::Taylor { nbar, sll, norm } => taylor(m, nbar, sll, norm),
        }
    }
}

/// A window from the formula of its first half.
fn mirrored(m: usize, f: impl Fn(Place) -> f64) -> Result<Vec<f64>> {
    let mut w = buffer(m, 0.0)?;
    let last = (m - 1) as f64;
    for i in 0..m.div_ceil(2) {
        let twice = (m - 1 - 2 * i) as f64;
        let value = f(Place { i: i as f64, n: 0.5 * twice, t: twice / last });
        (w[i], w[m - 1 - i]) = (value, value);
    }
    Ok(w)
}

/// A sum of cosines that all peak in the middle.
fn cosines(m: usize, weights: &[f64]) -> Result<Vec<f64>> {
    mirrored(m, |p| weights.iter().enumerate().map(|(k, a)| a * (k as f64 * (PI * p.t)).cos()).sum())
}

fn parzen(n: f64, len: f64) -> f64 {
    let u = n / (0.5 * len);
    if n <= 0.25 * (len - 1.0) { 1.0 - 6.0 * u * u * (1.0 - u) } else { 2.0 * (1.0 - u).powi(3) }
}

fn bohman(t: f64) -> f64 {
    // The ends are zero, where the rounded sine of pi is not.
    if t == 1.0 { 0.0 } else { (1.0 - t) * (PI * t).cos() + (PI * t).sin() / PI }
}

fn tukey(m: usize, alpha: f64) -> Result<Vec<f64>> {
    let last = (m - 1) as f64;
    let width = (0.5 * alpha * last).floor();
    mirrored(m, |p| if p.i > width { 1.0 } else { 0.5 * (1.0 + (PI * (2.0 * p.i / alpha / last - 1.0)).cos()) })
}

/// Square roots of the running sums of a Kaiser window: shifted by half its length, the squares sum to one.
fn kaiser_bessel_derived(m: usize, beta: f64) -> Result<Vec<f64>> {
    let kaiser = Kaiser::new(beta);
    let half = m / 2;
    let mut w = buffer(m, 0.0)?;
    let mut sum = 0.0;
    for (i, v) in w[..half].iter_mut().enumerate() {
        sum += kaiser.at((2.0 * i as f64 - half as f64).abs() / half as f64);
        *v = sum;
    }
    let total = sum + kaiser.at(1.0);
    for i in 0..half {
        w[i] = (w[i] / total).sqrt();
        w[m - 1 - i] = w[i];
    }
    Ok(w)
}

/// Taylor's window as the sum of cosines that his zeros give: `1 + 2 sum F_m cos(2 pi m x)`.
fn taylor(m: usize, nbar: usize, sll: f64, norm: bool) -> Result<Vec<f64>> {
    let a2 = ((10f64.powf(sll / 20.0)).acosh() / PI).powi(2);
    let bars = nbar as f64;
    let s2 = bars * bars / (a2 + (bars - 0.5).powi(2));
    let weights: Vec<f64> = (1..nbar)
        .map(|k| {
            let k2 = (k * k) as f64;
            // Numerator and denominator go together: each on its own leaves float64's range at a few hundred lobes.
            let product = (1..nbar).fold(0.5, |product, j| {
                let zero = 1.0 - k2 / s2 / (a2 + (j as f64 - 0.5).powi(2));
                product * if j == k { zero } else { zero / (1.0 - k2 / (j * j) as f64) }
            });
            if k % 2 == 1 { product } else { -product }
        })
        .collect();
    let peak = 1.0 + 2.0 * weights.iter().sum::<f64>();
    let scale = if norm { peak.recip() } else { 1.0 };
    mirrored(m, |p| {
        let x = 2.0 * PI * p.n / m as f64;
        let sum: f64 = weights.iter().enumerate().map(|(k, f)| f * ((k + 1) as f64 * x).cos()).sum();
        (1.0 + 2.0 * sum) * scale
    })
}
