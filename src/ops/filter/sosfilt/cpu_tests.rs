use super::super::reference;
use super::*;
use crate::signal::{Signal, View};
use crate::simd::levels;
use proptest::prelude::*;

type Sos = &'static [[f64; 6]];

// scipy.signal.butter(5, [300, 6000], 'bandpass', fs=30000, output='sos')
const BAND_PASS: Sos = &[
    [0.0179052290775511, 0.0358104581551022, 0.0179052290775511, 1.0, -0.41488281136493704, 0.1568801776748323],
    [1.0, 2.0, 1.0, 1.0, -0.4964688276665688, 0.5739584248473685],
    [1.0, 0.0, -1.0, 1.0, -1.1375979216362906, 0.19076020221856674],
    [1.0, -2.0, 1.0, 1.0, -1.8972507975260808, 0.9014457490171331],
    [1.0, -2.0, 1.0, 1.0, -1.9606312289011083, 0.9645632488794053],
];
// scipy.signal.butter(4, 0.5, 'highpass', fs=30000, output='sos')
const SLOW_HIGH_PASS: Sos = &[
    [0.9998631864060301, -1.9997263728120602, 0.9998631864060301, 1.0, -1.999806510877088, 0.9998065218422542],
    [1.0, -2.0, 1.0, 1.0, -1.9999198432155127, 0.9999198541813005],
];
// scipy.signal.butter(4, 13000, 'lowpass', fs=30000, output='sos'): poles of negative real part.
const HIGH_LOW_PASS: Sos = &[
    [0.5757621536397469, 1.1515243072794938, 0.5757621536397469, 1.0, 1.328044221785862, 0.45372538462713463],
    [1.0, 2.0, 1.0, 1.0, 1.5810052714668714, 0.7306257266569381],
];
// scipy.signal.ellip(6, 0.5, 60, 3000, fs=30000, output='sos')
const ELLIPTIC: Sos = &[
    [0.003170187928153471, 0.0024484480517091498, 0.0031701879281534717, 1.0, -1.5742850477566126, 0.6496029637789528],
    [1.0, -0.9573141810197842, 1.0000000000000004, 1.0, -1.5519973256578468, 0.7965495052502451],
    [1.0, -1.2851062599111331, 1.0000000000000002, 1.0, -1.5628625472751654, 0.939614829184349],
];
// scipy.signal.butter(8, [55, 65], 'bandstop', fs=1000, output='sos'): more sections than registers hold.
const BAND_STOP: Sos = &[
    [0.8512349418472268, -1.5836979251169707, 0.8512349418472268, 1.0, -1.799554999353557, 0.9392963431609467],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.810000160853339, 0.9411056764498397],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.7979951412250323, 0.9468893726287824],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.8271450760314565, 0.9512876108964532],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.806362754649116, 0.9634761408424918],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.8483178515202994, 0.9679354723037762],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.8239799467286826, 0.9868823944661858],
    [1.0, -1.860471001907251, 1.0, 1.0, -1.870820630523107, 0.9887670958079854],
];
/// A section with nothing special, and a pure delay.
const GENERAL: Sos = &[[0.3, -0.2, 0.15, 1.0, -1.2, 0.5], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]];
const FILTERS: [Sos; 8] =
    [BAND_PASS, SLOW_HIGH_PASS, HIGH_LOW_PASS, ELLIPTIC, BAND_STOP, GENERAL, &[], &[[2.0, 0.0, 0.0, 1.0, 0.0, 0.0]]];

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

fn every_variant() -> Vec<Variant> {
    variants(BAND_PASS, Shape { channels: 1, samples: 1 << 20 })
}

/// Largest difference over the largest magnitude of the reference.
fn error(y: &Signal, reference: &[f64]) -> f64 {
    let largest = reference.iter().fold(0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
    let got = y.to_vec();
    assert_eq!(got.len(), reference.len());
    got.iter().zip(reference).fold(0f64, |e, (a, b)| {
        let d = (f64::from(*a) - b).abs();
        if d.is_nan() { f64::INFINITY } else { e.max(d / largest) }
    })
}

fn dirty(channels: usize, samples: usize) -> Signal {
    let mut y = Signal::zeros(channels, samples).unwrap();
    (0..channels).for_each(|c| y.row_mut(c).fill(f32::NAN));
    y
}

#[test]
fn every_variant_level_form_and_shape_agrees_with_the_reference() {
    for (channels, samples) in [(1, 1), (3, 15), (7, 257), (16, 300), (17, 1000), (2, 5003), (33, 40)] {
        let data = noise(channels * samples, 7);
        let x = View::new(&data, channels, samples).unwrap();
        for sos in FILTERS {
            let want = reference::run(sos, x.into(), None);
            for level in levels() {
                for variant in every_variant() {
                    let mut y = dirty(channels, samples);
                    run_at(level, sos, &variant, x.into(), y.view_mut(), None).unwrap();
                    let e = error(&y, &want);
                    let name = level.name();
                    assert!(e < 1e-7, "{channels} x {samples}, {} sections, {variant:?}, {name}: {e:e}", sos.len());
                }
            }
        }
    }
}

#[test]
fn band_passes_of_every_order_and_width_agree_with_the_reference() {
    use crate::design::{Band, butter};
    let samples = 3000;
    let x: Vec<f32> = noise(2 * samples, 11).iter().map(|v| 100.0 * v + 50.0).collect();
    let view = View::new(&x, 2, samples).unwrap();
    for (low, high, fs) in [(0.1, 40.0, 1000.0), (1.0, 40.0, 1000.0), (300.0, 6000.0, 30_000.0), (0.01, 1e4, 30_000.0)]
    {
        for order in [1, 2, 4, 5, 6, 8, 10, 12, 16, 20] {
            let sos = butter(order, Band::Pass(low, high), fs).unwrap();
            let expected = reference::run(sos.sections(), view.into(), None);
            for variant in every_variant() {
                let mut y = dirty(2, samples);
                run(sos.sections(), &variant, view.into(), y.view_mut(), None).unwrap();
                let e = error(&y, &expected);
                assert!(e < 2e-7, "order {order}, {low} to {high} Hz, {}: {e:.2e}", variant.name);
            }
        }
    }
}

#[test]
fn states_come_in_and_go_out_as_scipys() {
    let (channels, samples) = (3, 3001);
    let data = noise(channels * samples, 3);
    let x = View::new(&data, channels, samples).unwrap();
    for sos in FILTERS {
        let start: Vec<f64> = noise(channels * sos.len() * 2, 5).iter().map(|v| f64::from(*v)).collect();
        let mut want_state = start.clone();
        let want = reference::run(sos, x.into(), Some(&mut want_state));
        for level in levels() {
            for variant in every_variant() {
                let (mut y, mut state) = (dirty(channels, samples), start.clone());
                run_at(level, sos, &variant, x.into(), y.view_mut(), Some(&mut state)).unwrap();
                assert!(error(&y, &want) < 1e-7, "{variant:?} {}", level.name());
                let scale = want_state.iter().fold(1f64, |m, v| m.max(v.abs()));
                for (a, b) in state.iter().zip(&want_state) {
                    assert!((a - b).abs() < 1e-9 * scale, "{variant:?} {}: {a} {b}", level.name());
                }
            }
        }
    }
}

#[test]
fn any_layout_and_type_of_input_gives_the_same() {
    let (channels, samples) = (35, 333);
    let rows: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 30000.0) as i16).collect();
    let floats: Vec<f32> = rows.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> =
        (0..samples).flat_map(|n| (0..channels).map(move |c| (c, n))).map(|(c, n)| rows[c * samples + n]).collect();
    let interleaved_floats: Vec<f32> = interleaved.iter().map(|v| f32::from(*v)).collect();
    let spread: Vec<f32> = interleaved_floats.iter().flat_map(|v| [*v, f32::NAN]).collect();
    let sources: [Source<'_>; 5] = [
        View::new(&floats, channels, samples).unwrap().into(),
        View::new(&rows, channels, samples).unwrap().into(),
        View::interleaved(&interleaved, channels).unwrap().into(),
        View::interleaved(&interleaved_floats, channels).unwrap().into(),
        View::with_strides(&spread, channels, samples, 2, 2 * channels).unwrap().into(),
    ];
    let want = reference::run(ELLIPTIC, sources[0], None);
    for source in sources {
        for level in levels() {
            for variant in every_variant() {
                let mut y = vec![f32::NAN; channels * (samples + 9)];
                let view = ViewMut::with_pitch(&mut y, channels, samples, samples + 9).unwrap();
                run_at(level, ELLIPTIC, &variant, source, view, None).unwrap();
                for (c, row) in y.chunks(samples + 9).enumerate() {
                    for (a, b) in row[..samples].iter().zip(&want[c * samples..]) {
                        assert!((f64::from(*a) - b).abs() < 0.01, "{source:?}");
                    }
                    assert!(row[samples..].iter().all(|v| v.is_nan()));
                }
            }
        }
    }
}

#[test]
fn a_slow_high_pass_of_a_step_keeps_its_accuracy() {
    let x = vec![1000f32; 300_000];
    let view = View::new(&x, 1, x.len()).unwrap();
    // scipy.signal.sosfilt of the same step, in float64.
    let known = [
        (0, 999.8632),
        (1_000, 744.4606),
        (3_000, 334.3618),
        (10_000, -314.4843),
        (15_000, -327.4557),
        (30_000, 102.4783),
        (60_000, -34.5711),
        (150_000, -0.97657),
        (299_999, 0.0060048),
    ];
    let want = reference::run(SLOW_HIGH_PASS, view.into(), None);
    for level in levels() {
        for variant in every_variant() {
            let mut y = dirty(1, x.len());
            run_at(level, SLOW_HIGH_PASS, &variant, view.into(), y.view_mut(), None).unwrap();
            for (n, v) in known {
                assert!((y.row(0)[n] - v).abs() < 1e-4, "{variant:?} {n}: {}", y.row(0)[n]);
            }
            assert!(error(&y, &want) < 1e-7, "{variant:?} {}", level.name());
        }
    }
}

#[test]
fn values_that_are_not_finite_do_what_the_recursion_does() {
    let (channels, samples) = (18, 4096);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut data = noise(channels * samples, 2);
        data[2 * samples + 700] = bad;
        data[17 * samples] = bad;
        let x = View::new(&data, channels, samples).unwrap();
        for sos in FILTERS {
            let want = reference::run(sos, x.into(), None);
            for level in levels() {
                for variant in every_variant() {
                    let mut y = dirty(channels, samples);
                    run_at(level, sos, &variant, x.into(), y.view_mut(), None).unwrap();
                    for (i, (a, b)) in y.to_vec().iter().zip(&want).enumerate() {
                        let same = if b.is_finite() {
                            (f64::from(*a) - b).abs() < 1e-5
                        } else {
                            a.to_bits() == (*b as f32).to_bits() || (a.is_nan() && b.is_nan())
                        };
                        assert!(same, "{variant:?} {} at {i}: {a} {b}", level.name());
                    }
                }
            }
        }
    }
}

#[test]
fn silence_after_a_signal_ends_in_zeros() {
    let mut data = noise(40_000, 9);
    data[100..].fill(0.0);
    let x = View::new(&data, 1, data.len()).unwrap();
    for level in levels() {
        let mut state = vec![0.0; 10];
        let mut y = dirty(1, data.len());
        run_at(level, BAND_PASS, &every_variant()[2], x.into(), y.view_mut(), Some(&mut state)).unwrap();
        assert!(state.iter().all(|v| *v == 0.0), "{state:?}");
    }
}

#[test]
fn wrong_arguments_are_told_apart() {
    let x = [0f32; 12];
    let view = View::new(&x, 3, 4).unwrap();
    let variant = &every_variant()[0];
    let mut y = dirty(3, 4);
    let mut wide = dirty(3, 5);
    let kind = |r: Result<()>| r.unwrap_err().kind();
    use crate::ErrorKind::{InvalidArgument, Shape};
    assert_eq!(kind(run(ELLIPTIC, variant, view.into(), wide.view_mut(), None)), Shape);
    assert_eq!(kind(run(ELLIPTIC, variant, view.into(), y.view_mut(), Some(&mut [0.0; 17]))), Shape);
    let unscaled = [[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]];
    assert_eq!(kind(run(&unscaled, variant, view.into(), y.view_mut(), None)), InvalidArgument);
    let unknown = Variant::new("guess", &[]);
    assert_eq!(kind(run(ELLIPTIC, &unknown, view.into(), y.view_mut(), None)), InvalidArgument);
    let none = View::<f32>::new(&[], 3, 0).unwrap();
    let mut nothing = dirty(3, 0);
    run(ELLIPTIC, variant, none.into(), nothing.view_mut(), None).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn chunks_with_carried_state_equal_the_whole(
        channels in 1usize..20,
        cuts in proptest::collection::vec(0usize..2500, 0..5),
        filter in 0usize..FILTERS.len(),
        choice in 0usize..5,
        seed in 1u64..1000,
    ) {
        let samples = 2500;
        let data = noise(channels * samples, seed);
        let x: Source<'_> = View::new(&data, channels, samples).unwrap().into();
        let sos = FILTERS[filter];
        let want = reference::run(sos, x, None);
        let mut cuts = cuts;
        cuts.extend([0, samples]);
        cuts.sort_unstable();
        let mut state = vec![0.0; channels * sos.len() * 2];
        let mut y = dirty(channels, samples);
        for pair in cuts.windows(2) {
            let out = y.view_mut().window(pair[0], pair[1] - pair[0]);
            let part = x.window(pair[0], pair[1] - pair[0]);
            run(sos, &every_variant()[choice], part, out, Some(&mut state)).unwrap();
        }
        prop_assert!(error(&y, &want) < 1e-7);
    }
}
