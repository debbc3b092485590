use super::*;
use crate::ops::problem::{Problem, Shape};
use crate::ops::spectral::{PeriodogramOptions, periodogram};
use crate::signal::{Signal, View};

const RULES: [TaperWeights; 3] = [TaperWeights::Eigen, TaperWeights::Unity, TaperWeights::Adaptive];

/// Uniform in [-1, 1).
fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn cpu() -> MultitaperOptions {
    MultitaperOptions { runtime: Some("cpu".into()), ..Default::default() }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

#[test]
fn all_rules_are_those_of_the_reference_on_any_number_of_threads() {
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for weights in RULES {
        for (nperseg, noverlap, nfft, scaling) in [
            (None, None, None, Scaling::Density),
            (None, None, Some(40_000), Scaling::Spectrum),
            (Some(64), Some(32), None, Scaling::Spectrum),
            (Some(33), Some(30), Some(50), Scaling::Density),
        ] {
            let options =
                MultitaperOptions { nperseg, noverlap, nfft, scaling, weights, detrend: Detrend::Linear, ..cpu() };
            let problem = Multitaper::new(&options).unwrap().problem;
            for (channels, samples) in [(1, 5000), (3, 601), (2, 9), (1, 33_000)] {
                let x = noise(channels * samples, 3);
                let source = View::new(&x, channels, samples).unwrap().into();
                let shape = Shape { channels, samples };
                if problem.check(shape).is_err() {
                    // Frames of the whole of so short a channel overlap by more than they have.
                    assert!(samples < 30 && noverlap.is_some());
                    continue;
                }
                let results = pools.each_ref().map(|pool| {
                    let mut y = Signal::zeros(channels, problem.output(shape).samples).unwrap();
                    let variant = &problem.cpu_variants(shape)[0];
                    pool.install(|| problem.run_cpu(variant, source, y.view_mut(), None)).unwrap();
                    y
                });
                assert_eq!(results[0], results[1], "{weights:?} {shape:?}");
                let expected = problem.reference(source, None).unwrap();
                for (c, expected) in expected.chunks_exact(results[0].samples()).enumerate() {
                    crate::ops::job::compare(results[0].row(c), expected, 1.0, problem.tolerance())
                        .unwrap_or_else(|e| panic!("{weights:?} {nperseg:?} {nfft:?} {shape:?}: {e}"));
                }
            }
        }
    }
}

#[test]
fn a_sine_of_amplitude_a_has_the_power_of_half_its_square_and_noise_its_variance() {
    let x: Vec<f32> = (0..4096).map(|n| 500.0 + 3.0 * (std::f32::consts::TAU * 0.125 * n as f32).sin()).collect();
    for weights in RULES {
        let options = MultitaperOptions { scaling: Scaling::Spectrum, weights, ..cpu() };
        let p = multitaper(one(&x), &options).unwrap();
        assert!((p.values.row(0)[512] - 4.5).abs() < 1e-2, "{weights:?}: {}", p.values.row(0)[512]);
    }
    let x = noise(8192, 5);
    let mean = x.iter().sum::<f32>() / 8192.0;
    let variance = x.iter().map(|v| f64::from(v - mean).powi(2)).sum::<f64>() / 8192.0;
    for weights in RULES {
        let p = multitaper(one(&x), &MultitaperOptions { fs: 100.0, weights, ..cpu() }).unwrap();
        let power: f64 = p.values.row(0).iter().map(|v| f64::from(*v)).sum::<f64>() * p.f[1];
        assert!((power / variance - 1.0).abs() < 0.02, "{weights:?}: {power}, variance {variance}");
    }
}

#[test]
fn it_is_steadier_than_a_periodogram() {
    let x = noise(4096, 9);
    let spread = |values: &[f32]| {
        let inner = &values[50..values.len() - 50];
        let mean = inner.iter().sum::<f32>() / inner.len() as f32;
        inner.iter().map(|v| (v / mean - 1.0).powi(2)).sum::<f32>() / inner.len() as f32
    };
    let plain = periodogram(one(&x), &PeriodogramOptions { runtime: Some("cpu".into()), ..Default::default() });
    // Seven independent estimates have a seventh of the variance.
    let ratio = spread(plain.unwrap().values.row(0)) / spread(multitaper(one(&x), &cpu()).unwrap().values.row(0));
    assert!((5.0..9.5).contains(&ratio), "{ratio}");
}

/// Below a strong line, far away, tapers of low order see less leakage, which the adaptive rule finds out.
#[test]
fn the_adaptive_rule_leaks_less() {
    let wave = |f: f64, n: usize| (std::f64::consts::TAU * f * n as f64).sin();
    let quiet = noise(2048, 2);
    let x: Vec<f32> = (0..2048).map(|n| (1e4 * wave(0.101, n)) as f32 + 0.01 * quiet[n]).collect();
    let level = |weights| {
        let p = multitaper(one(&x), &MultitaperOptions { nw: 2.0, weights, ..cpu() }).unwrap();
        p.values.row(0)[600..1000].iter().sum::<f32>()
    };
    assert!(level(TaperWeights::Adaptive) < 0.2 * level(TaperWeights::Unity));
}

#[test]
fn what_is_not_a_number_stays_in_its_channel_and_nothing_has_no_power() {
    let mut x = [noise(1000, 1), noise(1000, 2)].concat();
    x[500] = f32::NAN;
    for weights in RULES {
        let p = multitaper(View::new(&x, 2, 1000).unwrap(), &MultitaperOptions { weights, ..cpu() }).unwrap();
        assert!(p.values.row(0).iter().all(|v| v.is_nan()) && p.values.row(1).iter().all(|v| v.is_finite()));
        let flat = multitaper(one(&[7.7; 100]), &MultitaperOptions { weights, ..cpu() }).unwrap();
        assert!(flat.values.row(0).iter().all(|v| *v == 0.0), "{weights:?}");
    }
    let empty = multitaper(View::new(&[0f32; 0], 2, 0).unwrap(), &cpu()).unwrap();
    assert_eq!((empty.f.len(), empty.values.channels(), empty.values.samples()), (0, 2, 0));
}

#[test]
fn integers_and_strides_are_as_good_as_float_rows() {
    let ints: Vec<i16> = noise(2 * 500, 3).iter().map(|v| (v * 1000.0) as i16).collect();
    let rows: Vec<f32> = (0..2).flat_map(|c| ints.iter().skip(c).step_by(2).map(|v| f32::from(*v))).collect();
    let (a, b) = (View::interleaved(&ints, 2).unwrap(), View::new(&rows, 2, 500).unwrap());
    assert_eq!(multitaper(a, &cpu()).unwrap(), multitaper(b, &cpu()).unwrap());
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |options: MultitaperOptions, samples: usize, what: &str| {
        let e = multitaper(one(&vec![1.0; samples]), &options).unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains(what), "{e}");
    };
    refused(MultitaperOptions { nw: 0.0, ..cpu() }, 100, "nw is 0");
    refused(MultitaperOptions { nw: f64::NAN, ..cpu() }, 100, "nw is NaN");
    refused(MultitaperOptions { tapers: Some(0), ..cpu() }, 100, "no tapers");
    refused(MultitaperOptions { tapers: Some(101), ..cpu() }, 100, "101 Slepian");
    refused(MultitaperOptions { nw: 50.0, tapers: Some(3), ..cpu() }, 100, "NW = 50");
    refused(MultitaperOptions { nw: 40.0, tapers: Some(3), nperseg: Some(50), ..cpu() }, 100, "NW = 40");
    refused(MultitaperOptions { nfft: Some(99), ..cpu() }, 100, "nfft is 99");
    refused(MultitaperOptions { noverlap: Some(9), ..cpu() }, 100, "leave noverlap out");
    refused(MultitaperOptions { fs: 0.0, ..cpu() }, 100, "fs is 0");
    refused(cpu(), 3, "7 Slepian");
}
