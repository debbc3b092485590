use proptest::prelude::*;

use super::*;
use crate::ops::problem::{Problem, Shape, Variant};
use crate::signal::View;
use crate::simd;

pub(super) const MODES: [Mode; 3] = [Mode::Full, Mode::Same, Mode::Valid];

pub(super) fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

pub(super) fn response(n: usize, seed: u64) -> Vec<f64> {
    noise(n, seed).iter().map(|v| f64::from(*v)).collect()
}

/// A convolution with a response of so many taps.
pub(crate) fn problem(taps: usize) -> impl Problem {
    Convolution::new(Taps::one(&response(taps, 1)).unwrap(), Mode::Full)
}

/// All sums, and then those that scipy's modes keep: by numpy's own rule of lengths, written down apart from the code.
pub(super) fn expected(x: &[f32], taps: &[f64], mode: Mode) -> Vec<f64> {
    let (n, m) = (x.len(), taps.len());
    if n == 0 {
        return Vec::new();
    }
    let mut all = vec![0.0; n + m - 1];
    for (i, v) in x.iter().enumerate() {
        for (k, h) in taps.iter().enumerate() {
            all[i + k] += f64::from(*v) * h;
        }
    }
    let length = match mode {
        Mode::Full => n + m - 1,
        Mode::Same => n,
        Mode::Valid => n.max(m) - n.min(m) + 1,
    };
    // scipy centres what it keeps, rounding down.
    let start = (all.len() - length) / 2;
    all[start..start + length].to_vec()
}

/// Largest difference in units of `sum |h| max |x|` of the finite samples; what is not finite has to be of the same kind.
fn error(y: &[f32], want: &[f64], taps: &[f64], x: &[f32]) -> f64 {
    assert_eq!(y.len(), want.len());
    let largest = x.iter().filter(|v| v.is_finite()).fold(0f64, |m, v| m.max(f64::from(v.abs())));
    let scale = (taps.iter().map(|h| h.abs()).sum::<f64>() * largest).max(1e-300);
    y.iter().zip(want).fold(0.0, |e, (a, b)| {
        let same = f64::from(*a) == *b || (a.is_nan() && b.is_nan());
        if same {
            return e;
        }
        let d = (f64::from(*a) - b).abs() / scale;
        if d.is_finite() { d.max(e) } else { f64::INFINITY }
    })
}

/// Every way to compute, not only those that are offered at a size.
fn every_variant(taps: usize, samples: usize) -> Vec<Variant> {
    let mut all: Vec<Variant> = [8, 16].map(|outputs| Variant::new("direct", &[("outputs", outputs)])).into();
    all.extend(
        [128, 256, 384, 1536, 4096]
            .into_iter()
            .filter(|points| blocks::step(taps, *points) > 0)
            .map(|points| Variant::new("overlap", &[("points", points as u32)])),
    );
    all.extend(blocks::in_rows(taps, samples).iter().map(|p| Variant::new("rows", &[("points", *p as u32)])));
    // An odd number of points, and as few results as possible of a block.
    all.extend([2 * taps + 1, taps + 2].map(|p| Variant::new("rows", &[("points", p as u32)])));
    all
}

fn compute(c: &Convolution, variant: &Variant, level: simd::Level, x: Source<'_>) -> Vec<f32> {
    let mut y = Signal::zeros(x.channels(), c.part(x.samples()).count).unwrap();
    (0..y.channels()).for_each(|channel| y.row_mut(channel).fill(f32::NAN));
    cpu::run_at(level, c, variant, x, y.view_mut()).unwrap();
    y.to_vec()
}

/// Checks all variants on one input against the plain sums.
fn check(x: &[f32], channels: usize, rows: &[Vec<f64>], mode: Mode, levels: &[simd::Level], bound: f64) {
    let samples = x.len() / channels;
    let taps = if rows.len() == 1 { Taps::one(&rows[0]) } else { Taps::each(rows.to_vec()) };
    let c = Convolution::new(taps.unwrap(), mode);
    let view = View::new(x, channels, samples).unwrap();
    for variant in every_variant(rows[0].len(), samples) {
        for level in levels {
            let y = compute(&c, &variant, *level, view.into());
            let count = y.len() / channels;
            for (channel, row) in x.chunks(samples).enumerate() {
                let taps = c.taps.of(channel);
                let want = expected(row, taps, mode);
                let e = error(&y[channel * count..(channel + 1) * count], &want, taps, row);
                let what = format!("{channels} x {samples}, {} taps, {mode:?}", taps.len());
                assert!(e < bound, "{what}, channel {channel}, {} {}: {e:e}", variant.name, level.name());
            }
        }
    }
}

#[test]
fn every_variant_level_and_mode_gives_the_sums() {
    for (channels, samples, taps) in [(1, 1, 1), (3, 17, 4), (2, 5, 40), (17, 700, 63), (2, 3000, 100), (1, 2, 2)] {
        for mode in MODES {
            let x = noise(channels * samples, samples as u64);
            check(&x, channels, &[response(taps, 3)], mode, &simd::levels(), 6e-7);
        }
    }
}

#[test]
fn blocks_meet_without_a_seam() {
    let level = [simd::level()];
    // Around the results of one and two blocks of 128 and of 256 points, and around sixteen pairs.
    for taps in [1, 16, 17, 18, 33] {
        for points in [128, 256] {
            let step = blocks::step(taps, points);
            for results in [step, 2 * step, 32 * step] {
                for samples in results - 1..=results + 1 {
                    check(&noise(samples, 5), 1, &[response(taps, 1)], Mode::Same, &level, 6e-7);
                }
            }
        }
    }
}

#[test]
fn long_responses_and_responses_of_channels() {
    let level = [simd::level()];
    for mode in MODES {
        check(&noise(9000, 1), 1, &[response(1025, 2)], mode, &level, 6e-7);
        check(&noise(600, 1), 2, &[response(5000, 2)], mode, &level, 6e-7);
        let rows: Vec<Vec<f64>> =
            (0..5).map(|c| response(33, c).iter().map(|t| t * 10f64.powi(c as i32)).collect()).collect();
        check(&noise(5 * 400, 8), 5, &rows, mode, &level, 6e-7);
    }
}

#[test]
fn offsets_steady_responses_and_loud_samples_keep_the_tolerance() {
    let level = [simd::level()];
    let samples = 6000;
    let offset: Vec<f32> = noise(samples, 4).iter().map(|v| v + 3e4).collect();
    let mut loud = noise(samples, 9);
    loud[3000] = 1e6;
    for taps in [vec![1.0; 255], response(200, 3), vec![1.0], (0..255).map(|k| 0.9f64.powi(k)).collect()] {
        for x in [&vec![0.1; samples], &offset, &loud] {
            check(x, 1, std::slice::from_ref(&taps), Mode::Full, &level, 8e-7);
        }
    }
}

#[test]
fn values_that_are_not_finite_reach_as_far_as_the_response() {
    let samples = 1500;
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    for bad in [&[(600, nan)][..], &[(3, inf)], &[(700, inf), (705, -inf)], &[(0, nan), (1499, inf), (800, nan)]] {
        for taps in [1, 13, 130] {
            let mut x = noise(2 * samples, 2);
            bad.iter().for_each(|(at, v)| x[samples + at] = *v);
            let mut taps = response(taps, 6);
            taps[0] = 0.0;
            for mode in MODES {
                check(&x, 2, std::slice::from_ref(&taps), mode, &simd::levels(), 6e-7);
            }
        }
    }
    // All of a channel.
    check(&vec![nan; 900], 1, &[response(20, 1)], Mode::Full, &[simd::level()], 0.1);
}

#[test]
fn results_are_finite_where_only_their_transforms_are_not() {
    let mut x = noise(1000, 3);
    x.iter_mut().for_each(|v| *v *= 3e38);
    let taps: Vec<f64> = response(40, 1).iter().map(|t| t / 60.0).collect();
    check(&x, 1, &[taps], Mode::Same, &[simd::level()], 6e-7);
}

#[test]
fn integers_strides_and_pitches_are_as_good_as_float_rows() {
    let (channels, samples) = (19, 500);
    let rows: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 3e4) as i16).collect();
    let floats: Vec<f32> = rows.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..samples * channels).map(|i| rows[i % channels * samples + i / channels]).collect();
    let c = Convolution::new(Taps::one(&response(70, 5)).unwrap(), Mode::Full);
    let planar = View::new(&floats, channels, samples).unwrap();
    for variant in every_variant(70, samples) {
        let want = compute(&c, &variant, simd::level(), planar.into());
        for x in [View::new(&rows, channels, samples).unwrap(), View::interleaved(&interleaved, channels).unwrap()] {
            assert_eq!(compute(&c, &variant, simd::level(), x.into()), want, "{}", variant.name);
        }
        let (count, pitch) = (samples + 69, samples + 77);
        let mut y = vec![f32::NAN; channels * pitch];
        let view = ViewMut::with_pitch(&mut y, channels, count, pitch).unwrap();
        cpu::run(&c, &variant, planar.into(), view).unwrap();
        for (row, want) in y.chunks(pitch).zip(want.chunks(count)) {
            assert_eq!(&row[..count], want, "{}", variant.name);
            assert!(row[count..].iter().all(|v| v.is_nan()));
        }
    }
}

#[test]
fn some_channels_of_a_problem_keep_their_responses() {
    let rows: Vec<Vec<f64>> = (0..4).map(|c| response(7, c)).collect();
    let x = noise(4 * 50, 1);
    let x = View::new(&x, 4, 50).unwrap();
    let c = Convolution::new(Taps::each(rows).unwrap(), Mode::Valid);
    let some = c.of_channels(1, 2).unwrap();
    assert!(some.check(Shape { channels: 2, samples: 50 }).is_ok());
    let want = c.reference(x.into(), None).unwrap();
    assert_eq!(some.reference(x.channel_range(1, 2).into(), None).unwrap(), want[44..3 * 44]);
    assert_eq!(c.reference_of(x.channel_range(2, 1).into(), 2).unwrap(), want[2 * 44..3 * 44]);
}

#[test]
fn what_cannot_be_is_refused_and_nothing_stays_nothing() {
    let message = |r: Result<Convolve>| r.unwrap_err().to_string();
    assert!(message(Convolve::new(&[], Mode::Full)).contains("at least one tap"));
    assert!(message(Convolve::new(&[1.0, 1e39], Mode::Full)).contains("tap 1"));
    assert!(message(Convolve::per_channel::<[f64; 1]>(&[], Mode::Full)).contains("no responses"));
    assert!(message(Convolve::per_channel(&[vec![1.0], vec![1.0, 2.0]], Mode::Full)).contains("channel 1 has 2 taps"));
    assert!(Mode::named("half").unwrap_err().to_string().contains("full, same, valid"));
    let two = Convolve::per_channel(&[[1.0], [2.0]], Mode::Same).unwrap().on("cpu");
    let e = two.apply(View::new(&[0f32; 6], 3, 2).unwrap()).unwrap_err();
    assert!(e.to_string().contains("2 channels, the input has 3"), "{e}");
    for mode in MODES {
        let y =
            Convolve::new(&[1.0, 2.0], mode).unwrap().on("cpu").apply(View::new(&[0f32; 0], 2, 0).unwrap()).unwrap();
        assert_eq!((y.channels(), y.samples()), (2, 0));
        assert_eq!(Mode::named(mode.name()).unwrap(), mode);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_lengths_give_the_sums(
        channels in 1usize..5,
        samples in 1usize..1200,
        taps in 1usize..400,
        mode in 0usize..3,
        seed in 1u64..1000,
        bad in proptest::option::of(0usize..1200),
    ) {
        let mut x = noise(channels * samples, seed);
        if let Some(at) = bad {
            let at = at % x.len();
            x[at] = if seed % 2 == 0 { f32::NAN } else { f32::NEG_INFINITY };
        }
        check(&x, channels, &[response(taps, seed + 1)], MODES[mode], &[simd::level()], 6e-7);
    }
}
