//! A delay in float64 by two-sided spectra, with every angle computed on its own.

use std::f64::consts::TAU;

use num_complex::Complex;
use rustfft::FftPlanner;

use super::problem::Shifted;
use crate::signal::Source;

/// The one channel of `x`, which is `channel` of the problem.
pub(super) fn run(problem: &Shifted, x: Source<'_>, channel: usize) -> Vec<f64> {
    let samples = x.samples();
    let n = problem.points(samples);
    // Whole turns of every bin do not count, and would cost digits.
    let shift = problem.shift(channel, samples) % n as f64;
    let mut z: Vec<Complex<f64>> = (0..samples).map(|k| Complex::new(f64::from(x.get(0, k)), 0.0)).collect();
    z.resize(n, Complex::default());
    let mut planner = FftPlanner::<f64>::new();
    planner.plan_fft_forward(n).process(&mut z);
    for (k, z) in z.iter_mut().enumerate() {
        let frequency = if 2 * k > n { k as f64 - n as f64 } else { k as f64 };
        let angle = TAU * (frequency * (shift / n as f64)).fract();
        *z *= if 2 * k == n { Complex::new(angle.cos(), 0.0) } else { Complex::from_polar(1.0, -angle) };
    }
    planner.plan_fft_inverse(n).process(&mut z);
    z[..samples].iter().map(|v| v.re / n as f64).collect()
}
