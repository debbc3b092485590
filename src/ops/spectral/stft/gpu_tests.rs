use super::super::{Spectrogram, SpectrogramMode, SpectrogramOptions, Stft, StftOptions};
use super::*;
use crate::design::Window;
use crate::error::ErrorKind;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::Problem;
use crate::ops::spectral::frames::gpu::tests::{check, refusal, written};
use crate::ops::spectral::{Boundary, Detrend, Scaling};

fn stft(options: &StftOptions) -> Local {
    Stft::new(options).unwrap().problem
}

fn cut(nperseg: usize, noverlap: usize, nfft: usize) -> StftOptions {
    StftOptions { nperseg: Some(nperseg), noverlap: Some(noverlap), nfft: Some(nfft), ..Default::default() }
}

const BOUNDARIES: [Boundary; 5] = [Boundary::None, Boundary::Zeros, Boundary::Even, Boundary::Odd, Boundary::Constant];

#[test]
fn every_way_to_go_on_and_to_level() {
    let Some(gpu) = device() else { return };
    for (channels, samples) in [(3, 1), (2, 5), (3, 64), (2, 333)] {
        let x: Vec<f32> = noise(channels * samples, 1).iter().map(|v| v + 3.0).collect();
        for boundary in BOUNDARIES {
            for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
                let padded = detrend != Detrend::Linear;
                let p = stft(&StftOptions { boundary, detrend, padded, ..cut(64, (samples - 1).min(50), 64) });
                // A mean taken off so few samples leaves nothing but what the two roundings leave.
                if samples > 5 || detrend == Detrend::None {
                    check(&gpu, &p, (channels, samples), &x, false);
                }
            }
        }
    }
}

#[test]
fn lengths_of_every_kind() {
    let Some(gpu) = device() else { return };
    for (nperseg, noverlap, nfft) in
        [(1, 0, 1), (2, 1, 2), (7, 3, 7), (30, 29, 33), (51, 0, 51), (100, 75, 101), (101, 60, 256), (300, 10, 509)]
    {
        let p = stft(&cut(nperseg, noverlap, nfft));
        let x = noise(2 * 613, 4);
        check(&gpu, &p, (2, 613), &x, false);
    }
    for nfft in [20_000, 9001] {
        let p = stft(&StftOptions { window: Window::Hamming.into(), ..cut(9000, 4500, nfft) });
        check(&gpu, &p, (2, 31_000), &noise(62_000, 5), false);
    }
}

/// Every radix, frames shorter than transforms, and the longest frame that a work group holds; each in one kernel.
#[test]
fn frames_that_a_work_group_holds() {
    let Some(gpu) = device() else { return };
    for nfft in (1..=28usize).chain([33, 64, 77, 169, 343, 1000, 1001, 3125, 4096]) {
        for (nperseg, detrend) in [(nfft, Detrend::Constant), (nfft.div_ceil(2), Detrend::Linear)] {
            let p = stft(&StftOptions { detrend, window: Window::Hamming.into(), ..cut(nperseg, nperseg / 3, nfft) });
            let samples = 3 * nfft + 1;
            let shape = Shape { channels: 2, samples };
            let fused = p.gpu_variants(gpu.facts(), shape)[0].method == fused::METHOD;
            assert!(fused || nfft <= 2 || 13 < nfft && [17, 19, 23].iter().any(|prime| nfft % prime == 0), "{nfft}");
            // Of so few samples nothing is left but what roundings leave.
            if nperseg > 3 {
                let every = [12, 26, 64, 1000].contains(&nfft);
                check(&gpu, &p, (2, samples), &noise(2 * samples, 11), every);
            }
        }
    }
}

#[test]
fn every_variant_every_scaling_and_mode() {
    let Some(gpu) = device() else { return };
    let x = noise(3 * 5000, 2);
    for scaling in [Scaling::Density, Scaling::Spectrum] {
        for window in [Window::Hann, Window::Boxcar] {
            let p = stft(&StftOptions { fs: 1000.0, window: window.into(), scaling, ..cut(256, 128, 256) });
            check(&gpu, &p, (3, 5000), &x, scaling == Scaling::Density);
        }
    }
    for mode in [SpectrogramMode::Psd, SpectrogramMode::Magnitude] {
        for (nperseg, nfft) in [(256, 256), (255, 255), (64, 255)] {
            let options = SpectrogramOptions {
                nperseg: Some(nperseg),
                nfft: Some(nfft),
                detrend: Detrend::Linear,
                mode,
                ..Default::default()
            };
            check(&gpu, &Spectrogram::new(&options).unwrap().problem, (3, 5000), &x, false);
        }
    }
}

/// More frames than are computed at once, in many channels and in one.
#[test]
fn batches_fit_together() {
    let Some(gpu) = device() else { return };
    check(&gpu, &stft(&cut(256, 128, 256)), (70, 4000), &noise(70 * 4000, 6), false);
    check(
        &gpu,
        &stft(&StftOptions { detrend: Detrend::Constant, ..cut(256, 250, 256) }),
        (2, 30_000),
        &noise(60_000, 7),
        false,
    );
}

/// Offsets and slopes cost no digits, a constant leaves nothing, long frames are levelled in parts.
#[test]
fn what_is_taken_off_leaves_all_digits() {
    let Some(gpu) = device() else { return };
    let shapes = [(64, 1000), (20_000, 20_000), (40_001, 40_001)];
    for (nperseg, samples) in shapes {
        for detrend in [Detrend::Constant, Detrend::Linear] {
            let p = stft(&StftOptions { detrend, boundary: Boundary::None, padded: false, ..cut(nperseg, 0, nperseg) });
            let slope = if detrend == Detrend::Linear { 1.0 } else { 0.0 };
            let x: Vec<f32> = noise(samples, 8).iter().enumerate().map(|(i, v)| 3e4 + v + slope * i as f32).collect();
            check(&gpu, &p, (1, samples), &x, false);
            let flat = planar(&gpu, (1, samples), &[], &vec![12_345_678.9; samples]);
            let shape = Shape { channels: 1, samples };
            let y = result(&gpu, (1, p.output(shape).samples), &[]);
            let variant = &p.gpu_variants(gpu.facts(), shape)[0];
            let got = compute(&y, &p.record(&*gpu, variant, &flat, &y).unwrap());
            assert!(got.iter().all(|v| *v == 0.0), "{nperseg} {detrend:?}");
        }
    }
}

#[test]
fn what_is_not_finite_stays_in_its_frames() {
    let Some(gpu) = device() else { return };
    for detrend in [Detrend::None, Detrend::Constant] {
        for bad in [f32::NAN, f32::INFINITY] {
            let x = noise(2 * 1000, 9);
            let p = stft(&StftOptions { detrend, ..cut(64, 50, 64) });
            let variant = &p.gpu_variants(gpu.facts(), Shape { channels: 2, samples: 1000 })[0];
            let spectra = |x: &[f32]| {
                let samples = p.output(Shape { channels: 2, samples: 1000 }).samples;
                let y = result(&gpu, (2, samples), &[]);
                compute(&y, &p.record(&*gpu, variant, &planar(&gpu, (2, 1000), &[], x), &y).unwrap())
            };
            let (good, frames) = (spectra(&x), p.segments.geometry(1000).unwrap().frames);
            let got = spectra(&[&x[..500], &[bad], &x[501..]].concat());
            for (i, (got, good)) in got.as_chunks::<2>().0.iter().zip(good.as_chunks::<2>().0).enumerate() {
                let (line, frame) = (i / frames, i % frames);
                let struck = line < 33 && (34..=38).contains(&frame);
                assert_eq!(got.iter().any(|v| !v.is_finite()), struck, "{bad} {detrend:?} line {line} frame {frame}");
                assert!(struck || got == good);
                // As in scipy, these have no imaginary part whatever comes.
                assert!(line % 33 % 32 != 0 || got[1] == 0.0, "{bad} {detrend:?} line {line} frame {frame}");
            }
        }
    }
}

#[test]
fn kernels_are_written_everywhere() {
    for boundary in BOUNDARIES {
        for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
            written(&stft(&StftOptions { boundary, detrend, ..cut(64, 32, 64) }), (2, 1000));
        }
    }
    written(&stft(&StftOptions { detrend: Detrend::Linear, ..cut(20_000, 32, 20_000) }), (2, 30_000));
}

#[test]
fn what_does_not_fit_says_so() {
    let p = stft(&StftOptions { boundary: Boundary::None, ..cut(10_000, 0, 18_000) });
    let Some(e) = refusal(&p, (1, 10_000)) else { return };
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("cpu runtime"), "{e}");
}
