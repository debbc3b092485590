use super::*;
use crate::ops::problem::Problem;
use crate::ops::spectral::Norm;
use crate::signal::{Signal, View};

const KINDS: [Kind; 4] = [Kind::Fft, Kind::Ifft, Kind::Rfft, Kind::Irfft];

fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

/// Largest relative L2 error of a channel, for each variant.
fn errors(t: &Transform, channels: usize, samples: usize) -> Vec<(String, f64)> {
    let shape = Shape { channels, samples };
    let x = noise(channels * samples);
    let view = View::new(&x, channels, samples).unwrap();
    let length = t.output(shape).samples;
    let expected = t.reference(view.into(), None).unwrap();
    let error = |variant: &Variant| {
        let mut y = Signal::zeros(channels, length).unwrap();
        run(t, variant, view.into(), y.view_mut()).unwrap();
        let of = |c: usize| {
            let (mut wrong, mut all) = (0.0, 0.0);
            for (y, e) in y.row(c).iter().zip(&expected[c * length..]) {
                wrong += (f64::from(*y) - e).powi(2);
                all += e * e;
            }
            if wrong == 0.0 { 0.0 } else { f64::sqrt(wrong / all) }
        };
        (0..channels).map(of).fold(0.0, f64::max)
    };
    variants(t, shape).iter().map(|v| (v.name.clone(), error(v))).collect()
}

#[test]
fn every_variant_of_every_kind_of_length() {
    let short = (1..70).chain([126, 127, 128, 250, 343, 512, 1000, 1024, 1025, 1536, 2050, 4096, 8190]);
    let mut seen = std::collections::BTreeSet::new();
    for n in short.chain([8192, 9999, 12_600, 16_384, 30_000, 60_000, 65_536]) {
        for kind in KINDS {
            for (channels, cut) in [(1, 0), (if n > 9000 { 2 } else { 19 }, 2)] {
                let t = Transform { kind, n: Some(n), norm: Norm::Ortho };
                let samples = kind.floats(n) + 6 - 2 * cut.min(3);
                for (name, error) in errors(&t, channels, samples.max(2)) {
                    assert!(error < 5e-7, "{kind:?} of {n} by {name}: {error:.1e}");
                    seen.insert(name);
                }
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["lanes", "rows", "table"]);
}

#[test]
fn rows_that_are_not_finite_spoil_no_others() {
    for n in [64, 4096, 10_000] {
        for bad in [f32::NAN, f32::INFINITY] {
            let (channels, t) = (17, Transform { kind: Kind::Rfft, n: Some(n), norm: Norm::Backward });
            let x = noise(channels * n);
            let mut spoilt = x.clone();
            spoilt[5 * n + 7] = bad;
            for variant in variants(&t, Shape { channels, samples: n }) {
                let of = |x: &[f32]| {
                    let mut y = Signal::zeros(channels, n + 2).unwrap();
                    run(&t, &variant, View::new(x, channels, n).unwrap().into(), y.view_mut()).unwrap();
                    y
                };
                let (good, got) = (of(&x), of(&spoilt));
                assert!((0..channels).all(|c| c == 5 || got.row(c) == good.row(c)), "{n} {}", variant.name);
                let row = got.row(5);
                assert!(row.as_chunks::<2>().0.iter().all(|z| !z[0].is_finite() || !z[1].is_finite()));
                assert!(row[1] == 0.0 && row[n + 1] == 0.0, "{n} {}: {} {}", variant.name, row[1], row[n + 1]);
            }
        }
    }
}

/// Relative L2 errors against float64 over a sweep of lengths; printed by `cargo test sweep -- --nocapture`.
#[test]
fn sweep_of_lengths() {
    let mut worst: std::collections::BTreeMap<(String, &str), (f64, usize)> = Default::default();
    let lengths = (1..=4096).chain([49_999, 50_000, 60_000, 65_536, 99_991, 131_072]);
    for n in lengths {
        let t = Transform { kind: Kind::Rfft, n: None, norm: Norm::Backward };
        for (name, error) in errors(&t, 1, n) {
            let family =
                if matches!(super::super::Recipe::new(n), super::super::Recipe::Mixed(_)) { "smooth" } else { "other" };
            assert!(error <= if family == "smooth" { 5e-7 } else { 1e-6 }, "{n} by {name}: {error:.1e}");
            let of = worst.entry((name, family)).or_default();
            *of = if error > of.0 { (error, n) } else { *of };
        }
    }
    for ((name, family), (error, n)) in worst {
        println!("rfft by {name}, {family} lengths: relative L2 error at most {error:.1e} (at {n})");
    }
}
