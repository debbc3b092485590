//! Fourier's method in float64 by two-sided spectra, as `scipy.signal.resample` treats complex signals.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::problem::Fourier;
use crate::error::Result;
use crate::signal::Source;

/// `[channels, num]`, contiguous.
pub(super) fn run(problem: &Fourier, x: Source<'_>) -> Result<Vec<f64>> {
    let (n, num) = (x.samples(), problem.num);
    let shorter = n.min(num);
    let weights = problem.weights(n)?;
    let mut planner = FftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(num));
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let mut z: Vec<Complex<f64>> = (0..n).map(|k| Complex::new(f64::from(x.get(channel, k)), 0.0)).collect();
        forward.process(&mut z);
        if let Some(weights) = &weights {
            z.iter_mut().zip(weights).for_each(|(z, w)| *z *= w);
        }
        let mut y = vec![Complex::default(); num];
        // Frequencies from -shorter / 2 to shorter / 2, both included where they are paired.
        let half = shorter / 2;
        y[0] = z[0];
        for k in 1..=half {
            let edge = 2 * k == shorter;
            match () {
                () if !edge => (y[k], y[num - k]) = (z[k], z[n - k]),
                () if num < n => y[k] = z[k] + z[n - k],
                () if n < num => (y[k], y[num - k]) = (z[k] / 2.0, z[k] / 2.0),
                () => y[k] = z[k],
            }
        }
        inverse.process(&mut y);
        out.extend(y.iter().map(|v| v.re / n as f64));
    }
    Ok(out)
}
