use super::*;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::Problem;
use crate::ops::spectral::Norm;
use crate::signal::View;

pub(super) const KINDS: [Kind; 4] = [Kind::Fft, Kind::Ifft, Kind::Rfft, Kind::Irfft];

/// Floats of a row of input of a transform of `n` points.
pub(super) fn input(kind: Kind, n: usize) -> usize {
    match kind {
        Kind::Fft | Kind::Ifft => 2 * n,
        Kind::Rfft => n,
        Kind::Irfft => 2 * (n / 2 + 1),
    }
}

/// Largest relative L2 error of a channel.
pub(super) fn error(got: &[f32], want: &[f64], length: usize) -> f64 {
    let worst = got.chunks(length).zip(want.chunks(length)).map(|(got, want)| {
        let wrong: f64 = got.iter().zip(want).map(|(g, w)| (f64::from(*g) - w).powi(2)).sum();
        let all: f64 = want.iter().map(|w| w * w).sum();
        if wrong == 0.0 { 0.0 } else { (wrong / all).sqrt() }
    });
    worst.fold(0.0, f64::max)
}

fn check(gpu: &std::sync::Arc<dyn Gpu>, t: Transform, channels: usize, samples: usize, every: bool) -> f64 {
    let x = noise(channels * samples, 3);
    let want = t.reference(View::new(&x, channels, samples).unwrap().into(), None).unwrap();
    let shape = Shape { channels, samples };
    let out = t.output(shape);
    let x_device = planar(gpu, (channels, samples), &[], &x);
    let variants = variants(&t, gpu.facts(), shape);
    assert!(!variants.is_empty() && variants.len() <= 6);
    let mut worst = 0.0f64;
    for variant in variants.iter().take(if every { 6 } else { 1 }) {
        let y = result(gpu, (channels, out.samples), &[]);
        let got = compute(&y, &record(&t, &**gpu, variant, &x_device, &y).unwrap());
        let e = error(&got, &want, out.samples);
        let bound = if matches!(Recipe::new(t.points(samples)), Recipe::Bluestein { .. }) { 1e-6 } else { 5e-7 };
        assert!(e <= bound, "{t:?} {channels} x {samples}, {}: {e:e}", variant.name);
        worst = worst.max(e);
    }
    worst
}

fn lengths(kinds: &[Kind], lengths: impl IntoIterator<Item = usize>, channels: usize, every: bool) {
    let Some(gpu) = device() else { return };
    for n in lengths {
        for &kind in kinds {
            let t = Transform { kind, n: Some(n), norm: Norm::Backward };
            check(&gpu, t, channels, input(kind, n), every);
        }
    }
}

#[test]
fn small_lengths() {
    lengths(&KINDS, 1..=64, 3, false);
}
