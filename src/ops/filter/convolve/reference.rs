//! The plain float64 sum; by float64 transforms where that would take minutes.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::blocks::Part;
use crate::ops::spectral::fft::convenient;
use crate::signal::Source;

/// Most products of a plain sum.
const PLAIN: usize = 1 << 27;

/// A part of the convolution of one channel.
pub(super) fn run(taps: &[f64], x: Source<'_>, channel: usize, part: Part) -> Vec<f64> {
    match part.count.saturating_mul(taps.len().min(x.samples())) {
        ..=PLAIN => sums(taps, x, channel, part),
        _ => transformed(taps, x, channel, part),
    }
}

fn sums(taps: &[f64], x: Source<'_>, channel: usize, part: Part) -> Vec<f64> {
    let x: Vec<f64> = (0..x.samples()).map(|i| f64::from(x.get(channel, i))).collect();
    let results = part.first..part.first + part.count;
    let sum = |n: usize| {
        let meeting = (n + 1).saturating_sub(x.len())..taps.len().min(n + 1);
        taps[meeting.clone()].iter().zip(meeting).map(|(h, k)| h * x[n - k]).sum()
    };
    results.map(sum).collect()
}

fn transformed(taps: &[f64], x: Source<'_>, channel: usize, part: Part) -> Vec<f64> {
    let points = convenient(x.samples() + taps.len() - 1);
    // Both are real: one is the real part, the other the imaginary one, whose product is half the imaginary part of the
    // square.
    let mut z: Vec<Complex<f64>> = (0..points)
        .map(|i| {
            let sample = if i < x.samples() { f64::from(x.get(channel, i)) } else { 0.0 };
            Complex::new(sample, taps.get(i).copied().unwrap_or(0.0))
        })
        .collect();
    let scale = z.iter().fold(0f64, |m, v| m.max(v.re.abs())) / taps.iter().fold(0f64, |m, t| m.max(t.abs()));
    let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
    z.iter_mut().for_each(|v| v.im *= scale);
    let mut planner = FftPlanner::new();
    planner.plan_fft_forward(points).process(&mut z);
    z.iter_mut().for_each(|v| *v *= *v);
    planner.plan_fft_inverse(points).process(&mut z);
    let factor = 0.5 / (points as f64 * scale);
    z[part.first..part.first + part.count].iter().map(|v| v.im * factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::View;

    #[test]
    fn both_ways_agree() {
        let x: Vec<f32> = (0..2 * 700).map(|i| ((i * i) as f32 * 0.37).sin() * 1e3).collect();
        let x: Source<'_> = View::new(&x, 2, 700).unwrap().into();
        let taps: Vec<f64> = (0..90).map(|k| (f64::from(k) * 0.7).cos() * 1e-5).collect();
        for part in [Part { first: 0, count: 789 }, Part { first: 44, count: 700 }, Part { first: 788, count: 1 }] {
            for (a, b) in sums(&taps, x, 1, part).iter().zip(transformed(&taps, x, 1, part)) {
                assert!((a - b).abs() < 1e-13, "{a} {b}");
            }
        }
    }
}
