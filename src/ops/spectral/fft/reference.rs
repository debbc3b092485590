//! The transforms in float64, plainly: what results are held against.

use rustfft::{FftPlanner, num_complex::Complex};

use super::transform::{Kind, Transform};
use crate::signal::Source;

/// `[channels, output samples]`, contiguous.
pub(super) fn run(t: &Transform, x: Source<'_>) -> Vec<f64> {
    let n = t.points(x.samples());
    let mut planner = FftPlanner::<f64>::new();
    let plan = if t.kind.inverse() { planner.plan_fft_inverse(n) } else { planner.plan_fft_forward(n) };
    let factor = t.norm.factor(n, t.kind.inverse());
    let mut out = Vec::new();
    for channel in 0..x.channels() {
        let mut z = input(t, &x, channel, n);
        plan.process(&mut z);
        match t.kind {
            Kind::Fft | Kind::Ifft => out.extend(z.iter().flat_map(|v| [v.re * factor, v.im * factor])),
            Kind::Rfft => out.extend(z[..n / 2 + 1].iter().flat_map(|v| [v.re * factor, v.im * factor])),
            Kind::Irfft => out.extend(z.iter().map(|v| v.re * factor)),
        }
    }
    out
}

/// A channel as `n` complex values: cut or padded, a one-sided spectrum with its other half.
fn input(t: &Transform, x: &Source<'_>, channel: usize, n: usize) -> Vec<Complex<f64>> {
    let value = |at: usize| if at < x.samples() { f64::from(x.get(channel, at)) } else { 0.0 };
    match t.kind {
        Kind::Fft | Kind::Ifft => (0..n).map(|k| Complex::new(value(2 * k), value(2 * k + 1))).collect(),
        Kind::Rfft => (0..n).map(|k| Complex::new(value(k), 0.0)).collect(),
        Kind::Irfft => (0..n)
            .map(|k| {
                let mirrored = k > n / 2;
                let bin = if mirrored { n - k } else { k };
                let alone = bin == 0 || 2 * bin == n;
                let im = if alone { 0.0 } else { value(2 * bin + 1) };
                Complex::new(value(2 * bin), if mirrored { -im } else { im })
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::ops::spectral::Norm;
    use crate::signal::View;

    /// The sum itself.
    fn sum(z: &[Complex<f64>], sign: f64) -> Vec<Complex<f64>> {
        let n = z.len();
        let turn = |k: usize| Complex::from_polar(1.0, sign * TAU * (k % n) as f64 / n as f64);
        (0..n).map(|k| z.iter().enumerate().map(|(j, v)| v * turn(k * j)).sum()).collect()
    }

    #[test]
    fn is_the_sum_itself() {
        for n in (1..40).chain([64, 97, 100, 128]) {
            let values: Vec<f32> = (0..2 * n).map(|k| ((k * k * 31 + 7 * k) % 101) as f32 / 50.0 - 1.0).collect();
            for kind in [Kind::Fft, Kind::Ifft, Kind::Rfft, Kind::Irfft] {
                let samples = match kind {
                    Kind::Fft | Kind::Ifft => 2 * n,
                    Kind::Rfft => n,
                    Kind::Irfft => 2 * (n / 2 + 1),
                };
                let t = Transform { kind, n: Some(n), norm: Norm::Ortho };
                let x = Source::F32(View::new(&values[..samples.min(2 * n)], 1, samples.min(2 * n)).unwrap());
                let z = input(&t, &x, 0, n);
                let factor = 1.0 / (n as f64).sqrt();
                let full = sum(&z, if kind.inverse() { 1.0 } else { -1.0 });
                let expected: Vec<f64> = match kind {
                    Kind::Fft | Kind::Ifft => full.iter().flat_map(|v| [v.re, v.im]).collect(),
                    Kind::Rfft => full[..n / 2 + 1].iter().flat_map(|v| [v.re, v.im]).collect(),
                    Kind::Irfft => full.iter().map(|v| v.re).collect(),
                };
                let got = run(&t, x);
                assert_eq!(got.len(), expected.len());
                assert!(got.iter().zip(&expected).all(|(a, b)| (a - b * factor).abs() < 1e-11), "{kind:?} {n}");
            }
        }
    }
}
