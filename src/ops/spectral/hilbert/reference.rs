//! The analytic signal in float64, as `scipy.signal.hilbert` computes it.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::problem::Analytic;
use crate::signal::Source;

/// `[channels, samples]`, complex values as real and imaginary parts in turn.
pub(super) fn run(kept: Analytic, x: Source<'_>) -> Vec<f64> {
    let n = x.samples();
    let mut planner = FftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let mut z: Vec<Complex<f64>> = (0..n).map(|k| Complex::new(f64::from(x.get(channel, k)), 0.0)).collect();
        forward.process(&mut z);
        for (k, v) in z.iter_mut().enumerate() {
            *v *= match k {
                0 => 1.0,
                k if 2 * k == n => 1.0,
                k if 2 * k < n => 2.0,
                _ => 0.0,
            } / n as f64;
        }
        inverse.process(&mut z);
        match kept {
            Analytic::Signal => out.extend(z.iter().flat_map(|v| [v.re, v.im])),
            Analytic::Envelope => out.extend(z.iter().map(|v| v.norm())),
        }
    }
    out
}
