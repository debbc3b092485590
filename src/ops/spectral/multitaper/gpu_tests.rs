use super::super::{Multitaper, MultitaperOptions, TaperWeights};
use super::*;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::Problem;
use crate::ops::spectral::frames::gpu::tests::{check, refusal, written};
use crate::ops::spectral::{Detrend, Scaling};

const RULES: [TaperWeights; 3] = [TaperWeights::Eigen, TaperWeights::Unity, TaperWeights::Adaptive];

fn problem(options: &MultitaperOptions) -> Tapered {
    Multitaper::new(options).unwrap().problem
}

fn cut(nperseg: usize, noverlap: usize, nfft: usize) -> MultitaperOptions {
    MultitaperOptions { nperseg: Some(nperseg), noverlap: Some(noverlap), nfft: Some(nfft), ..Default::default() }
}

#[test]
fn every_rule_and_every_length() {
    let Some(gpu) = device() else { return };
    for weights in RULES {
        for (nperseg, noverlap, nfft) in [(64, 32, 64), (33, 30, 51), (64, 0, 100), (50, 7, 509), (9, 8, 9)] {
            let p = problem(&MultitaperOptions { weights, fs: 250.0, ..cut(nperseg, noverlap, nfft) });
            for (channels, samples) in [(3, 640), (1, 131), (2, 1001)] {
                check(&gpu, &p, (channels, samples), &noise(channels * samples, 3), false);
            }
        }
        for samples in [9, 10, 63, 1000, 4099, 40_001] {
            let p = problem(&MultitaperOptions { weights, ..Default::default() });
            check(&gpu, &p, (2, samples), &noise(2 * samples, 5), false);
        }
    }
}

#[test]
fn every_variant_every_scaling_and_way_to_level() {
    let Some(gpu) = device() else { return };
    for weights in RULES {
        for scaling in [Scaling::Density, Scaling::Spectrum] {
            for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
                let p = problem(&MultitaperOptions { weights, scaling, detrend, fs: 1e4, ..cut(256, 128, 256) });
                let x: Vec<f32> = noise(3 * 2000, 3).iter().map(|v| v + 0.5).collect();
                check(&gpu, &p, (3, 2000), &x, detrend == Detrend::Linear);
            }
        }
    }
}

/// One taper and two, those that leak a lot, and more than fit the band many times over.
#[test]
fn few_and_many_tapers() {
    let Some(gpu) = device() else { return };
    for weights in RULES {
        for (nw, tapers) in [(4.0, 1), (4.0, 2), (1.5, 3), (2.5, 7), (4.0, 20), (4.0, 64)] {
            let p = problem(&MultitaperOptions { weights, nw, tapers: Some(tapers), ..cut(64, 32, 64) });
            check(&gpu, &p, (2, 1000), &noise(2000, 8), false);
        }
    }
}

/// Strong lines, which leak, and an offset, which does not.
#[test]
fn spectra_of_a_wide_range() {
    let Some(gpu) = device() else { return };
    let wave = |f: f64, n: usize| (std::f64::consts::TAU * f * n as f64).sin();
    let quiet = noise(8192, 2);
    for scale in [1e-9, 1.0, 1e9] {
        let x: Vec<f32> = (0..8192)
            .map(|n| (scale * (3e4 + 100.0 * wave(0.101, n) + wave(0.3, n) + 0.01 * f64::from(quiet[n]))) as f32)
            .collect();
        for weights in RULES {
            for options in [MultitaperOptions::default(), cut(1024, 512, 1024)] {
                check(&gpu, &problem(&MultitaperOptions { weights, nw: 2.0, ..options }), (1, 8192), &x, false);
            }
        }
    }
}

/// More frames than a batch or a part holds, many channels, and frames whose variance has parts.
#[test]
fn batches_and_parts_fit_together() {
    let Some(gpu) = device() else { return };
    for weights in RULES {
        let p = problem(&MultitaperOptions { weights, ..cut(64, 60, 64) });
        check(&gpu, &p, (1, 20_000), &noise(20_000, 6), false);
        check(&gpu, &p, (24, 2000), &noise(48_000, 7), false);
        let p = problem(&MultitaperOptions { weights, detrend: Detrend::Linear, ..Default::default() });
        check(&gpu, &p, (7, 33_000), &noise(7 * 33_000, 8), false);
    }
}

#[test]
fn what_is_not_a_number_stays_in_its_channel_and_nothing_has_no_power() {
    let Some(gpu) = device() else { return };
    for weights in RULES {
        let p = problem(&MultitaperOptions { weights, ..cut(64, 32, 64) });
        let mut x = noise(2000, 9);
        x[500] = f32::NAN;
        check(&gpu, &p, (2, 1000), &x, false);
        let shape = Shape { channels: 1, samples: 1000 };
        let variant = &p.gpu_variants(gpu.facts(), shape)[0];
        let (flat, y) = (planar(&gpu, (1, 1000), &[], &[7.7; 1000]), result(&gpu, (1, 33), &[]));
        assert_eq!(compute(&y, &p.record(&*gpu, variant, &flat, &y).unwrap()), [0.0; 33], "{weights:?}");
    }
}

#[test]
fn kernels_are_written_everywhere() {
    for weights in RULES {
        for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
            written(&problem(&MultitaperOptions { weights, detrend, ..cut(64, 32, 64) }), (2, 2000));
        }
    }
}

#[test]
fn what_does_not_fit_says_so() {
    let Some(e) = refusal(&problem(&MultitaperOptions::default()), (1, 4000)) else { return };
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("1 frames of 4000 points") && e.to_string().contains("cpu runtime"), "{e}");
    assert!(refusal(&problem(&cut(64, 60, 64)), (1, 4000)).is_none());
}
