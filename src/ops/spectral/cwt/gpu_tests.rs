use std::f64::consts::TAU;

use super::super::{Cwt, CwtOptions};
use super::*;
use crate::ops::execute;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::{Problem, Tolerance};
use crate::ops::spectral::frames::gpu::tests::{refusal, written};
use crate::runtime::Target;
use crate::signal::{Signal, View};

fn problem(frequencies: &[f64], w: f64) -> Wavelets {
    Cwt::new(frequencies, &CwtOptions { w, ..Default::default() }).unwrap().problem
}

fn run(gpu: &Arc<dyn Gpu>, p: &Wavelets, x: &[f32], channels: usize, variant: usize) -> Vec<f32> {
    let shape = Shape { channels, samples: x.len() / channels };
    let variant = &p.gpu_variants(gpu.facts(), shape)[variant];
    let y = result(gpu, (channels, p.output(shape).samples), &[]);
    compute(&y, &p.record(&**gpu, variant, &planar(gpu, (channels, shape.samples), &[], x), &y).unwrap())
}

/// Against the reference, by the norm of the channel alone.
fn compare(p: &Wavelets, got: &[f32], x: &[f32], channels: usize) {
    let n = x.len() / channels;
    let want = p.reference(View::new(x, channels, n).unwrap().into(), None).unwrap();
    let length = want.len() / channels;
    for (c, (got, want)) in got.chunks(length).zip(want.chunks(length)).enumerate() {
        crate::ops::job::compare(got, want, 1.0, Tolerance { gain: 0.0, ..p.tolerance() })
            .unwrap_or_else(|e| panic!("{:?} {channels} x {n}, channel {c}: {e}", p.widths));
    }
}

fn check(gpu: &Arc<dyn Gpu>, p: &Wavelets, x: &[f32], channels: usize) {
    compare(p, &run(gpu, p, x, channels, 0), x, channels);
}

#[test]
fn lengths_of_all_kinds() {
    let Some(gpu) = device() else { return };
    let frequencies = [0.5, 0.25, 0.0937, 0.02, 0.001];
    for w in [0.3, 5.0, 6.0] {
        let p = problem(&frequencies, w);
        for n in (1..=9).chain([16, 17, 64, 97, 255, 256, 257, 1009, 4099]) {
            check(&gpu, &p, &noise(3 * n, 3), 3);
        }
    }
    check(&gpu, &problem(&[0.07], 5.0), &noise(30_011, 3), 1);
}

#[test]
fn every_variant() {
    let Some(gpu) = device() else { return };
    let (p, x) = (problem(&[0.25, 0.1, 0.03], 5.0), noise(3 * 1001, 4));
    let count = p.gpu_variants(gpu.facts(), Shape { channels: 3, samples: 1001 }).len();
    for variant in 0..count {
        compare(&p, &run(&gpu, &p, &x, 3, variant), &x, 3);
    }
    assert!(count > 1);
}

/// More rows than are computed at once: of many channels, of many wavelets, and of both.
#[test]
fn channels_and_wavelets_in_parts() {
    let Some(gpu) = device() else { return };
    let many: Vec<f64> = (1..=90).map(|k| 0.005 * f64::from(k)).collect();
    check(&gpu, &problem(&[0.2, 0.05], 5.0), &noise(300 * 2000, 5), 300);
    check(&gpu, &problem(&many, 5.0), &noise(2 * 10_000, 6), 2);
    check(&gpu, &problem(&many[..12], 5.0), &noise(9 * 65_000, 7), 9);
}

/// An offset costs no digits, nor does a constant; what a strong wave far away costs is within the bound.
#[test]
fn offsets_and_strong_waves() {
    let Some(gpu) = device() else { return };
    let p = problem(&[0.25, 0.1, 0.03], 5.0);
    let x: Vec<f32> = noise(20_000, 4).iter().map(|v| 1000.0 + v).collect();
    check(&gpu, &p, &x, 2);
    check(&gpu, &p, &[12_345_678.9; 5000], 1);
    // Without steps at the ends, which every wavelet sees.
    let bell = |n: usize| (std::f64::consts::PI * n as f64 / 8192.0).sin().powi(4);
    let x: Vec<f32> = (0..8192).map(|n| (bell(n) * 1e4 * (TAU * 0.01 * n as f64).sin()) as f32).collect();
    let (p, want) = (problem(&[0.25], 5.0), View::new(&x, 1, 8192).unwrap());
    let want = p.reference(want.into(), None).unwrap();
    crate::ops::job::compare(&run(&gpu, &p, &x, 1, 0), &want, 1e4, p.tolerance()).unwrap();
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    let Some(gpu) = device() else { return };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for n in [1, 2, 3, 64, 101, 5000] {
            for at in [0, n - 1] {
                let mut x = noise(2 * n, 1);
                x[at] = bad;
                let y = run(&gpu, &problem(&[0.1, 0.02], 5.0), &x, 2, 0);
                let (first, second) = y.split_at(y.len() / 2);
                assert!(first.iter().all(|v| v.is_nan()), "{bad} at {at} of {n}");
                assert!(second.iter().all(|v| v.is_finite()), "{bad} at {at} of {n}");
            }
        }
    }
}

/// What a problem keeps for one length does not serve another.
#[test]
fn lengths_in_turn() {
    let Some(gpu) = device() else { return };
    let p = problem(&[0.1, 0.01], 5.0);
    for n in [1000, 300, 1000, 301] {
        check(&gpu, &p, &noise(n, 2), 1);
    }
}

/// Results beyond the binding limit are computed some channels at a time.
#[test]
fn channels_where_an_array_is_split() {
    let Some(limited) = crate::runtime::testing::test_gpu_limited(1 << 20) else { return };
    let (channels, n) = (7, 10_000);
    let (p, x) = (problem(&[0.25, 0.1, 0.01], 5.0), noise(7 * 10_000, 3));
    let mut y = Signal::zeros(channels, 6 * n).unwrap();
    let view = View::new(&x, channels, n).unwrap();
    execute::run_on(&Target::Gpu(limited.clone()), &p, view.into(), y.view_mut(), None).unwrap();
    compare(&p, &y.to_vec(), &x, channels);
}

#[test]
fn kernels_are_written_everywhere() {
    written(&problem(&[0.1, 0.01], 5.0), (2, 1000));
    written(&problem(&[0.1, 0.01], 5.0), (1, 100_000));
}

#[test]
fn what_does_not_fit_says_so() {
    // A line fits a binding of 64 KiB, transforms of its points do not.
    let Some(e) = refusal(&problem(&[0.001], 5.0), (1, 8000)) else { return };
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("bytes in one binding") && e.to_string().contains("cpu runtime"), "{e}");
    assert!(refusal(&problem(&[0.1], 5.0), (1, 7000)).is_none());
}
