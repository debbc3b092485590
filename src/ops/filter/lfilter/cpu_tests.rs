use super::super::reference;
use super::*;
use crate::signal::{Signal, View};
use crate::simd::levels;
use proptest::prelude::*;

fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

fn response(n: usize) -> Vec<f64> {
    noise(n, n as u64 + 1).iter().map(|v| f64::from(*v) / n as f64).collect()
}

fn every_variant() -> Vec<Variant> {
    variants(31, Shape { channels: 1, samples: 1 << 20 })
}

fn dirty(channels: usize, samples: usize) -> Signal {
    let mut y = Signal::zeros(channels, samples).unwrap();
    (0..channels).for_each(|c| y.row_mut(c).fill(f32::NAN));
    y
}

/// Largest difference, in units of `sum |h| max |x|`.
fn error(y: &[f32], want: &[f64], taps: &[f64], x: &[f32]) -> f64 {
    let scale = taps.iter().map(|h| h.abs()).sum::<f64>() * x.iter().fold(0f64, |m, v| m.max(f64::from(v.abs())));
    y.iter().zip(want).fold(0f64, |e, (a, b)| {
        let d = (f64::from(*a) - b).abs();
        if d.is_nan() { f64::INFINITY } else { e.max(d / scale) }
    })
}

#[test]
fn every_variant_level_and_shape_agrees_with_the_reference() {
    for (channels, samples) in [(1, 1), (3, 15), (7, 257), (17, 300), (2, 1500), (33, 40)] {
        let data = noise(channels * samples, 7);
        let x = View::new(&data, channels, samples).unwrap();
        for taps in [1, 2, 3, 8, 15, 31, 63, 64].map(response) {
            let want = reference::run(&taps, x.into(), None);
            for level in levels() {
                for variant in every_variant() {
                    let mut y = dirty(channels, samples);
                    run_at(level, &taps, &variant, x.into(), y.view_mut(), None).unwrap();
                    let e = error(&y.to_vec(), &want, &taps, &data);
                    assert!(
                        e < 2e-7,
                        "{channels} x {samples}, {} taps, {variant:?}, {}: {e:e}",
                        taps.len(),
                        level.name()
                    );
                }
            }
        }
    }
}

#[test]
fn long_responses_and_constant_input_keep_the_tolerance() {
    let samples = 3000;
    let constant = vec![0.1f32; samples];
    let loud = noise(samples, 4).iter().map(|v| v * 1e4 + 3e4).collect::<Vec<_>>();
    for taps in [vec![0.1; 1025], response(1025), response(512), vec![1.0 / 3.0; 255]] {
        for data in [&constant, &loud] {
            let x = View::new(data, 1, samples).unwrap();
            let want = reference::run(&taps, x.into(), None);
            for level in levels() {
                for variant in every_variant() {
                    let mut y = dirty(1, samples);
                    run_at(level, &taps, &variant, x.into(), y.view_mut(), None).unwrap();
                    let e = error(&y.to_vec(), &want, &taps, data);
                    assert!(e < 5e-7, "{} taps {variant:?} {}: {e:e}", taps.len(), level.name());
                }
            }
        }
    }
}

#[test]
fn integers_and_interleaved_input_give_the_same() {
    let (channels, samples) = (35, 333);
    let rows: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 30000.0) as i16).collect();
    let floats: Vec<f32> = rows.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..samples * channels).map(|i| rows[i % channels * samples + i / channels]).collect();
    let taps = response(31);
    let x = View::new(&floats, channels, samples).unwrap();
    let want = reference::run(&taps, x.into(), None);
    for level in levels() {
        for variant in every_variant() {
            for source in [View::new(&rows, channels, samples), View::interleaved(&interleaved, channels)] {
                let mut y = vec![f32::NAN; channels * (samples + 5)];
                let view = ViewMut::with_pitch(&mut y, channels, samples, samples + 5).unwrap();
                run_at(level, &taps, &variant, source.unwrap().into(), view, None).unwrap();
                for (c, row) in y.chunks(samples + 5).enumerate() {
                    let e = error(&row[..samples], &want[c * samples..(c + 1) * samples], &taps, &floats);
                    assert!(e < 2e-7, "{variant:?} {}: {e:e}", level.name());
                    assert!(row[samples..].iter().all(|v| v.is_nan()));
                }
            }
        }
    }
}

#[test]
fn values_that_are_not_finite_reach_as_far_as_the_response() {
    let (channels, samples) = (3, 1200);
    for bad in [f32::NAN, f32::INFINITY] {
        let mut data = noise(channels * samples, 2);
        data[samples + 600] = bad;
        let x = View::new(&data, channels, samples).unwrap();
        for taps in [1, 13, 63].map(response) {
            let want = reference::run(&taps, x.into(), None);
            for level in levels() {
                for variant in every_variant() {
                    let mut y = dirty(channels, samples);
                    run_at(level, &taps, &variant, x.into(), y.view_mut(), None).unwrap();
                    for (i, (a, b)) in y.to_vec().iter().zip(&want).enumerate() {
                        let same = if b.is_finite() {
                            (f64::from(*a) - b).abs() < 1e-6
                        } else {
                            f64::from(*a) == *b || (a.is_nan() && b.is_nan())
                        };
                        assert!(same, "{} taps, {variant:?} {} at {i}: {a} {b}", taps.len(), level.name());
                    }
                }
            }
        }
    }
}

#[test]
fn blocks_carry_the_same_state() {
    let (channels, samples) = (3, 2500);
    let data = noise(channels * samples, 3);
    let x: Source<'_> = View::new(&data, channels, samples).unwrap().into();
    for taps in [48, 100, 513].map(response) {
        let start: Vec<f64> = noise(channels * (taps.len() - 1), 5).iter().map(|v| f64::from(*v) * 0.1).collect();
        let mut want_state = start.clone();
        let want = reference::run(&taps, x, Some(&mut want_state));
        let all = variants(taps.len(), Shape { channels, samples });
        let blocks: Vec<_> = all.iter().filter(|v| v.method == "overlap").collect();
        assert_eq!(blocks.len(), 2, "{all:?}");
        for variant in blocks {
            let (mut state, mut y, spectra) = (start.clone(), dirty(channels, samples), Kept::default());
            for (from, to) in [(0, 1), (1, 1), (1, 700), (700, 2500)] {
                let (part, out) = (x.window(from, to - from), y.view_mut().window(from, to - from));
                run_overlapped(&taps, &spectra, variant, part, out, Some(&mut state)).unwrap();
            }
            assert!(error(&y.to_vec(), &want, &taps, &data) < 6e-7, "{variant:?}");
            assert!(state.iter().zip(&want_state).all(|(a, b)| (a - b).abs() < 1e-13));
        }
    }
}

#[test]
fn wrong_arguments_are_told_apart() {
    use crate::ErrorKind::{InvalidArgument, Shape};
    let x = [0f32; 12];
    let view = View::new(&x, 3, 4).unwrap();
    let (mut y, mut wide) = (dirty(3, 4), dirty(3, 5));
    let variant = &every_variant()[0];
    let kind = |r: Result<()>| r.unwrap_err().kind();
    assert_eq!(kind(run(&[], variant, view.into(), y.view_mut(), None)), InvalidArgument);
    assert_eq!(kind(run(&[1.0], variant, view.into(), wide.view_mut(), None)), Shape);
    assert_eq!(kind(run(&[1.0, 2.0], variant, view.into(), y.view_mut(), Some(&mut [0.0; 4]))), Shape);
    assert_eq!(kind(run(&[1.0], &Variant::new("guess", &[]), view.into(), y.view_mut(), None)), InvalidArgument);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn chunks_with_carried_state_equal_the_whole(
        channels in 1usize..20,
        cuts in proptest::collection::vec(0usize..700, 0..6),
        taps in 1usize..80,
        choice in 0usize..5,
        seed in 1u64..1000,
    ) {
        let samples = 700;
        let data = noise(channels * samples, seed);
        let x: Source<'_> = View::new(&data, channels, samples).unwrap().into();
        let taps = response(taps);
        let start: Vec<f64> = noise(channels * (taps.len() - 1), 5).iter().map(|v| f64::from(*v) * 0.1).collect();
        let mut want_state = start.clone();
        let want = reference::run(&taps, x, Some(&mut want_state));
        let mut cuts = cuts;
        cuts.extend([0, samples]);
        cuts.sort_unstable();
        let (mut state, mut y) = (start, dirty(channels, samples));
        for pair in cuts.windows(2) {
            let out = y.view_mut().window(pair[0], pair[1] - pair[0]);
            let part = x.window(pair[0], pair[1] - pair[0]);
            run(&taps, &every_variant()[choice], part, out, Some(&mut state)).unwrap();
        }
        prop_assert!(error(&y.to_vec(), &want, &taps, &data) < 3e-7);
        for (a, b) in state.iter().zip(&want_state) {
            prop_assert!((a - b).abs() < 1e-13);
        }
    }
}

#[test]
fn tiny_samples_count_as_zero_beside_any_others() {
    let taps = response(63);
    let clean = noise(5 * 700, 3);
    let mut data = clean.clone();
    let tiny = [1e-40, -1e-45, 7.8e-31, -1e-38];
    data.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1).for_each(|(i, v)| *v = tiny[i % 4]);
    let zeros: Vec<f32> = data.iter().map(|v| if v.abs() < 7.9e-31 { 0.0 } else { *v }).collect();
    assert_ne!(zeros, data);
    for level in levels() {
        for variant in variants(63, Shape { channels: 5, samples: 700 }).iter().filter(|v| v.method != "overlap") {
            let of = |x: &[f32]| {
                let mut y = dirty(5, 700);
                run_at(level, &taps, variant, View::new(x, 5, 700).unwrap().into(), y.view_mut(), None).unwrap();
                y.to_vec()
            };
            assert_eq!(of(&data), of(&zeros), "{variant:?}, {}", level.name());
        }
    }
    // 2^-100 itself is kept.
    let least = 2f32.powi(-100);
    let y = crate::ops::filter::FirFilter::new(&[1.0]).unwrap().on("cpu");
    let y = y.apply(View::new(&[least, least * 0.99, -least], 1, 3).unwrap()).unwrap();
    assert_eq!(y.row(0), [least, 0.0, -least]);
}
