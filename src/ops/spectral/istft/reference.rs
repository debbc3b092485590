//! The inverse in float64, plainly.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::problem::Inverse;
use crate::signal::Source;

/// `[channels, samples]`, contiguous.
pub(super) fn run(p: &Inverse, x: Source<'_>) -> Vec<f64> {
    let frames = p.frames(x.samples());
    let plan = FftPlanner::<f64>::new().plan_fft_inverse(p.nfft);
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let value = |bin: usize, frame: usize| match bin < p.bins {
            true => {
                let at = 2 * (bin * frames + frame);
                Complex::new(f64::from(x.get(channel, at)), f64::from(x.get(channel, at + 1)))
            }
            false => Complex::default(),
        };
        let mut sum = vec![0.0; p.length(frames) + 2 * p.crop()];
        let mut norm = vec![0.0; sum.len()];
        for frame in 0..frames {
            let mut z: Vec<Complex<f64>> = (0..p.nfft)
                .map(|k| match (k, 2 * k) {
                    (0, _) => Complex::new(value(0, frame).re, 0.0),
                    (_, twice) if twice == p.nfft => Complex::new(value(k, frame).re, 0.0),
                    (_, twice) if twice < p.nfft => value(k, frame),
                    _ => value(p.nfft - k, frame).conj(),
                })
                .collect();
            plan.process(&mut z);
            for i in 0..p.nperseg() {
                let w = p.table.weight(i);
                sum[frame * p.step + i] += z[i].re / p.nfft as f64 * p.factor() * w;
                norm[frame * p.step + i] += w * w;
            }
        }
        let kept = p.crop()..sum.len() - p.crop();
        out.extend(kept.map(|i| sum[i] / if norm[i] > super::LEAST_NORM { norm[i] } else { 1.0 }));
    }
    out
}
