//! Wavelet transforms in float64, by complex transforms of a power of two.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::problem::Wavelets;
use crate::signal::Source;

/// `[channels, scales * samples]`, real and imaginary parts in turn.
pub(super) fn run(problem: &Wavelets, x: Source<'_>) -> Vec<f64> {
    let n = x.samples();
    let points = (2 * n).next_power_of_two();
    let mut planner = FftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(points), planner.plan_fft_inverse(points));
    let transformed = |mut z: Vec<Complex<f64>>| {
        z.resize(points, Complex::default());
        forward.process(&mut z);
        z
    };
    let channels: Vec<_> = (0..x.channels())
        .map(|c| transformed((0..n).map(|k| Complex::new(f64::from(x.get(c, k)), 0.0)).collect()))
        .collect();
    let mut out = vec![0.0; x.channels() * problem.widths.len() * 2 * n];
    for scale in 0..problem.widths.len() {
        let kernel = problem.kernel(scale, n);
        let skip = (kernel.len() - 1) / 2;
        let kernel = transformed(kernel);
        for (channel, spectrum) in channels.iter().enumerate() {
            let mut z: Vec<_> = spectrum.iter().zip(&kernel).map(|(a, b)| a * b / points as f64).collect();
            inverse.process(&mut z);
            let line = &mut out[(channel * problem.widths.len() + scale) * 2 * n..][..2 * n];
            line.iter_mut().zip(z[skip..].iter().flat_map(|v| [v.re, v.im])).for_each(|(to, v)| *to = v);
        }
    }
    out
}
