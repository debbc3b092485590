use super::*;
use crate::ops::problem::{Problem, Shape};
use crate::signal::View;

fn noise(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|k| ((k + seed).wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn cpu(nperseg: usize) -> WelchOptions {
    WelchOptions { nperseg: Some(nperseg), runtime: Some("cpu".into()), ..Default::default() }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

#[test]
fn a_sine_of_amplitude_a_has_the_power_of_half_its_square() {
    let x: Vec<f32> = (0..4096).map(|n| 500.0 + 3.0 * (std::f32::consts::TAU * 0.125 * n as f32).sin()).collect();
    for average in [Average::Mean, Average::Median] {
        let options = WelchOptions { scaling: Scaling::Spectrum, average, ..cpu(256) };
        let p = welch(one(&x), &options).unwrap();
        let bias = if average == Average::Median { median_bias(31) as f32 } else { 1.0 };
        assert!((p.values.row(0)[32] * bias - 4.5).abs() < 2e-3, "{average:?}: {}", p.values.row(0)[32]);
    }
    // Parseval: density summed over frequencies is the variance, the offset does not count.
    let p = periodogram(one(&x), &PeriodogramOptions { runtime: Some("cpu".into()), ..Default::default() }).unwrap();
    let variance: f64 = p.values.row(0).iter().map(|v| f64::from(*v)).sum::<f64>() * p.f[1];
    assert!((variance - 4.5).abs() < 1e-3, "{variance}");
}

#[test]
fn all_kinds_are_those_of_the_reference_on_any_number_of_threads() {
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for kind in [Kind::Welch, Kind::Csd, Kind::Coherence] {
        for average in [Average::Mean, Average::Median] {
            if kind == Kind::Coherence && average == Average::Median {
                continue;
            }
            for (nperseg, noverlap, nfft) in [(64, 32, 64), (33, 30, 50), (256, 0, 257)] {
                let options = WelchOptions {
                    noverlap: Some(noverlap),
                    nfft: Some(nfft),
                    average,
                    detrend: Detrend::Linear,
                    ..cpu(nperseg)
                };
                let problem = problem(kind, &options).unwrap();
                for (channels, samples) in [(1, 20_000), (3, 1200), (2, 600)] {
                    let x = noise(channels * samples, 3);
                    let source = View::new(&x, channels, samples).unwrap().into();
                    let shape = Shape { channels, samples };
                    let variant = &problem.cpu_variants(shape)[0];
                    let results = pools.each_ref().map(|pool| {
                        let mut y = Signal::zeros(channels, problem.output(shape).samples).unwrap();
                        pool.install(|| problem.run_cpu(variant, source, y.view_mut(), None)).unwrap();
                        y
                    });
                    assert_eq!(results[0], results[1], "{kind:?} {average:?} {shape:?}");
                    let expected = problem.reference(source, None).unwrap();
                    for (c, expected) in expected.chunks_exact(results[0].samples()).enumerate() {
                        let scale = expected.iter().fold(0f64, |m, v| m.max(v.abs()));
                        for (y, e) in results[0].row(c).iter().zip(expected) {
                            let error = (f64::from(*y) - e).abs();
                            assert!(
                                error < 2e-6 * scale,
                                "{kind:?} {average:?} {nperseg} {shape:?}: {y}, expected {e}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn pairs_that_share_little_keep_their_digits() {
    // Strong at one frequency each, weak at that of the other.
    let wave = |f: f64, n: usize| (std::f64::consts::TAU * f * n as f64).sin();
    let x: Vec<f32> = (0..8192).map(|n| (1e4 * wave(0.125, n) + 1e-3 * wave(0.25, n)) as f32).collect();
    let y: Vec<f32> = (0..8192).map(|n| (1e4 * wave(0.25, n) + 1e-3 * wave(0.125, n)) as f32).collect();
    let options = WelchOptions { window: Window::BlackmanHarris.into(), ..cpu(256) };
    let problem = problem(Kind::Csd, &options).unwrap();
    let both = paired(one(&x).into(), one(&y).into()).unwrap();
    let expected = problem.reference((&both).into(), None).unwrap();
    let p = csd(one(&x), one(&y), &options).unwrap();
    let scale = expected.iter().fold(0f64, |m, v| m.max(v.abs()));
    let parts = p.values.parts().row(0);
    assert!(parts.iter().zip(&expected).all(|(y, e)| (f64::from(*y) - e).abs() < 2e-6 * scale));
}

#[test]
fn medians_ignore_an_artefact_and_means_do_not() {
    let clean = noise(6400, 1);
    let mut x = clean.clone();
    x[3000] = 1e4;
    let level = |x: &[f32], average| welch(one(x), &WelchOptions { average, ..cpu(64) }).unwrap().values.row(0)[20];
    assert!((level(&x, Average::Median) / level(&clean, Average::Median) - 1.0).abs() < 0.1);
    assert!(level(&x, Average::Mean) > 1e3 * level(&clean, Average::Mean));
    // scipy.signal._spectral_py._median_bias
    for (n, bias) in [(1, 1.0), (2, 1.0), (3, 1.0 - 1.0 / 6.0), (4, 1.0 - 1.0 / 6.0), (5, 1.0 - 1.0 / 6.0 - 1.0 / 20.0)]
    {
        assert!((median_bias(n) - bias).abs() < 1e-15, "{n}");
    }
}

#[test]
fn what_is_not_a_number_stays_in_its_channel() {
    let mut x = [noise(1000, 1), noise(1000, 2)].concat();
    x[500] = f32::NAN;
    for average in [Average::Mean, Average::Median] {
        let p = welch(View::new(&x, 2, 1000).unwrap(), &WelchOptions { average, ..cpu(100) }).unwrap();
        assert!(p.values.row(0).iter().all(|v| v.is_nan()));
        assert!(p.values.row(1).iter().all(|v| v.is_finite()));
    }
}

#[test]
fn nothing_has_no_power_and_no_coherence() {
    let (flat, x) = (vec![7.7f32; 1000], noise(1000, 1));
    assert!(welch(one(&flat), &cpu(100)).unwrap().values.row(0).iter().all(|v| *v == 0.0));
    assert!(coherence(one(&flat), one(&x), &cpu(100)).unwrap().values.row(0).iter().all(|v| v.is_nan()));
    let own = coherence(one(&x), one(&x), &cpu(100)).unwrap();
    assert!(own.values.row(0).iter().all(|v| (v - 1.0).abs() < 1e-6));
    let empty = welch(View::new(&[0f32; 0], 2, 0).unwrap(), &cpu(100)).unwrap();
    assert_eq!((empty.f.len(), empty.values.channels(), empty.values.samples()), (0, 2, 0));
}

#[test]
fn pairs_of_two_shapes_are_refused_and_coherence_of_medians() {
    let (x, y) = (noise(100, 1), noise(101, 1));
    let e = csd(one(&x), one(&y), &cpu(50)).unwrap_err();
    assert!(e.to_string().contains("x is 1 x 100, y is 1 x 101"), "{e}");
    let e = coherence(one(&x), one(&x), &WelchOptions { average: Average::Median, ..cpu(50) }).unwrap_err();
    assert!(e.kind().is_usage());
}

#[test]
fn integers_and_strides_are_as_good_as_float_rows() {
    let ints: Vec<i16> = noise(2 * 500, 3).iter().map(|v| (v * 1000.0) as i16).collect();
    let rows: Vec<f32> = (0..2).flat_map(|c| ints.iter().skip(c).step_by(2).map(|v| f32::from(*v))).collect();
    let (a, b) = (View::interleaved(&ints, 2).unwrap(), View::new(&rows, 2, 500).unwrap());
    assert_eq!(welch(a, &cpu(64)).unwrap(), welch(b, &cpu(64)).unwrap());
    assert_eq!(csd(a, b, &cpu(64)).unwrap(), csd(b, a, &cpu(64)).unwrap());
}
