use super::super::{Istft, IstftOptions};
use super::*;
use crate::design::Window;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::Problem;
use crate::ops::spectral::Scaling;
use crate::ops::spectral::frames::gpu::tests::{check, refusal, written};

fn problem(bins: usize, options: &IstftOptions) -> Inverse {
    Istft::new(bins, options).unwrap().problem
}

fn cut(nperseg: usize, noverlap: usize, nfft: usize) -> IstftOptions {
    IstftOptions { nperseg: Some(nperseg), noverlap: Some(noverlap), nfft: Some(nfft), ..Default::default() }
}

fn of(p: &Inverse, channels: usize, frames: usize, every: bool) {
    let Some(gpu) = device() else { return };
    let samples = 2 * p.bins * frames;
    if p.length(frames) > 0 {
        check(&gpu, p, (channels, samples), &noise(channels * samples, 7), every);
    }
}

#[test]
fn every_length_overlap_and_end() {
    let boxcar = || Window::Boxcar.into();
    for boundary in [true, false] {
        for (bins, options) in [
            (33, cut(64, 32, 64)),
            (33, cut(64, 57, 64)),
            (33, IstftOptions { window: boxcar(), ..cut(64, 0, 64) }),
            (26, cut(51, 40, 51)),
            (20, IstftOptions { window: Window::Hamming.into(), ..cut(30, 10, 51) }),
            (40, cut(64, 32, 64)),
            (9, cut(64, 32, 64)),
            (1, IstftOptions { window: boxcar(), ..cut(1, 0, 1) }),
            (255, cut(400, 300, 509)),
        ] {
            let p = problem(bins, &IstftOptions { boundary, fs: 30.0, scaling: Scaling::Density, ..options });
            for frames in [1, 2, 3, 11, 70] {
                of(&p, 3, frames, false);
            }
        }
    }
}

#[test]
fn every_variant_and_long_frames() {
    of(&problem(513, &IstftOptions::default()), 3, 9, true);
    of(&problem(10_001, &IstftOptions::default()), 2, 4, false);
}

/// More frames than a batch holds, in one channel and in many.
#[test]
fn batches_go_on_where_the_last_one_ended() {
    let p = problem(129, &cut(256, 250, 256));
    of(&p, 1, 9000, false);
    of(&problem(129, &IstftOptions { boundary: false, ..cut(256, 128, 256) }), 60, 130, false);
}

#[test]
fn what_is_not_finite_stays_in_its_frames() {
    let Some(gpu) = device() else { return };
    let (p, frames) = (problem(33, &cut(64, 32, 64)), 20);
    let (samples, length) = (2 * 33 * frames, p.length(frames));
    let mut z = noise(2 * samples, 1);
    // Of frame 10, whose samples begin half a frame before the 320th.
    z[900] = f32::NAN;
    let x = planar(&gpu, (2, samples), &[], &z);
    let y = result(&gpu, (2, length), &[]);
    let variant = &p.gpu_variants(gpu.facts(), Shape { channels: 2, samples })[0];
    let got = compute(&y, &p.record(&*gpu, variant, &x, &y).unwrap());
    assert!((0..2 * length).all(|n| got[n].is_finite() || (288..352).contains(&n)));
    assert!(got[288..352].iter().any(|v| v.is_nan()));
}

#[test]
fn kernels_are_written_everywhere() {
    written(&problem(33, &cut(64, 32, 64)), (2, 2 * 33 * 20));
    written(&problem(33, &IstftOptions { window: Window::Boxcar.into(), ..cut(64, 0, 64) }), (2, 2 * 33 * 20));
}

#[test]
fn what_does_not_fit_says_so() {
    let p = problem(10, &IstftOptions { nfft: Some(18_000), nperseg: Some(10_000), ..Default::default() });
    let Some(e) = refusal(&p, (1, 20)) else { return };
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("18000 points") && e.to_string().contains("cpu runtime"), "{e}");
}
