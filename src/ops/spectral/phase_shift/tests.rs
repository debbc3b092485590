use proptest::prelude::*;

use super::*;
use crate::ops::problem::{Problem, Shape};
use crate::signal::View;

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn options(shifts: &[f64], padded: bool) -> PhaseShiftOptions {
    PhaseShiftOptions { shifts: Shifts::PerChannel(shifts.to_vec()), padded, runtime: Some("cpu".into()) }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

/// The interpolation formula of Whittaker for one period, in sums.
fn interpolated(x: &[f32], shift: f64) -> Vec<f64> {
    let n = x.len();
    let turn = |k: f64, t: f64| (std::f64::consts::TAU * k * t / n as f64).cos();
    // A pulse of all frequencies below half the sampling rate, and half of that one.
    let pulse = |t: f64| {
        let below: f64 = (1..n.div_ceil(2)).map(|k| 2.0 * turn(k as f64, t)).sum();
        (1.0 + below + if n.is_multiple_of(2) { turn(n as f64 / 2.0, t) } else { 0.0 }) / n as f64
    };
    (0..n).map(|i| (0..n).map(|j| f64::from(x[j]) * pulse(i as f64 - shift - j as f64)).sum()).collect()
}

#[test]
fn it_is_the_interpolation_formula() {
    for n in [1, 2, 3, 8, 9, 31, 64] {
        for shift in [0.0, 0.25, -0.5, 3.3, 1e6 + 0.5, -7.0] {
            let x = noise(n);
            let y = phase_shift(one(&x), &options(&[shift], false)).unwrap();
            // An even number of samples: their highest frequency keeps the real part of its turn, here and there.
            let want = interpolated(&x, shift % n as f64);
            let good = y.row(0).iter().zip(&want).all(|(y, e)| (f64::from(*y) - e).abs() < 1e-5);
            assert!(good, "{n} by {shift}: {:?}, expected {want:?}", y.row(0));
        }
    }
}

#[test]
fn lengths_of_all_kinds_are_those_of_the_reference() {
    for n in [1, 2, 3, 17, 100, 509, 1000, 30_011] {
        for padded in [false, true] {
            let x = noise(3 * n);
            let view = View::new(&x, 3, n).unwrap();
            let plan = PhaseShift::new(&options(&[0.25, -7.5, 1e9 + 0.125], padded)).unwrap();
            let want = plan.problem.reference(view.into(), None).unwrap();
            let y = plan.apply(view).unwrap();
            for (c, want) in want.chunks(n).enumerate() {
                crate::ops::job::compare(y.row(c), want, 1.0, plan.problem.tolerance())
                    .unwrap_or_else(|e| panic!("{n} channel {c} padded {padded}: {e}"));
                let alone = plan.problem.reference_of(view.channel_range(c, 1).into(), c).unwrap();
                assert_eq!(alone, want);
            }
        }
    }
}

#[test]
fn with_padding_nothing_comes_in_at_the_other_end() {
    let mut x = vec![0.0f32; 40];
    x[38] = 1.0;
    let moved = |by, padded| phase_shift(one(&x), &options(&[by], padded)).unwrap();
    assert!((moved(5.0, false).row(0)[3] - 1.0).abs() < 1e-6);
    assert!(moved(5.0, true).row(0).iter().all(|v| v.abs() < 1e-6));
    assert!((moved(-5.0, true).row(0)[33] - 1.0).abs() < 1e-6);
    for far in [40.0, 1e300, -1e300] {
        assert!(moved(far, true).row(0).iter().all(|v| v.abs() < 1e-6), "{far}");
    }
}

#[test]
fn some_channels_of_a_problem_keep_their_delays() {
    let (n, shifts) = (50, [0.5, -1.25, 7.0, 30.1]);
    let x = noise(4 * n);
    let view = View::new(&x, 4, n).unwrap();
    for padded in [false, true] {
        let problem = PhaseShift::new(&options(&shifts, padded)).unwrap().problem;
        let want = problem.reference(view.into(), None).unwrap();
        let some = problem.of_channels(1, 2).unwrap();
        assert!(some.check(Shape { channels: 2, samples: n }).is_ok());
        assert_eq!(some.reference(view.channel_range(1, 2).into(), None).unwrap(), want[n..3 * n]);
    }
    assert!(Shifted::new(Shifts::One(0.5), true).unwrap().of_channels(1, 2).is_none());
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    let mut x = noise(2 * 33);
    x[5] = f32::NAN;
    let y = phase_shift(View::new(&x, 2, 33).unwrap(), &options(&[0.5, 0.5], true)).unwrap();
    assert!(y.row(0).iter().all(|v| v.is_nan()) && y.row(1).iter().all(|v| v.is_finite()));
}

#[test]
fn what_cannot_be_is_refused_and_nothing_stays_nothing() {
    let e = phase_shift(one(&[1.0]), &options(&[0.0, 1.0], false)).unwrap_err();
    assert!(e.to_string().contains("shifts has 2 values for 1 channels"), "{e}");
    let e = PhaseShift::new(&options(&[0.0, f64::NAN], false)).unwrap_err();
    assert!(e.to_string().contains("shifts[1] is NaN"), "{e}");
    let empty = phase_shift(View::new(&[0f32; 0], 2, 0).unwrap(), &options(&[1.0, 2.0], true)).unwrap();
    assert_eq!((empty.channels(), empty.samples()), (2, 0));
}

#[test]
fn integers_and_strides_are_as_good_as_float_rows() {
    let ints: Vec<i16> = noise(2 * 500).iter().map(|v| (v * 1000.0) as i16).collect();
    let rows: Vec<f32> = (0..2).flat_map(|c| ints.iter().skip(c).step_by(2).map(|v| f32::from(*v))).collect();
    let plan = PhaseShift::new(&options(&[0.3, -0.7], false)).unwrap();
    let (a, b) = (View::interleaved(&ints, 2).unwrap(), View::new(&rows, 2, 500).unwrap());
    assert_eq!(plan.apply(a).unwrap(), plan.apply(b).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn there_and_back(x in prop::collection::vec(-100f32..100.0, 1..200), shift in -300f64..300.0) {
        // Half the sampling rate does not come back from a part of a turn.
        let x = if x.len() % 2 == 0 { &x[1..] } else { &x[..] };
        let there = phase_shift(one(x), &options(&[shift], false)).unwrap();
        let back = phase_shift(&there, &options(&[-shift], false)).unwrap();
        for (a, b) in back.row(0).iter().zip(x) {
            prop_assert!((a - b).abs() < 2e-4, "{} {}", a, b);
        }
    }

    #[test]
    fn whole_samples_are_a_roll(x in prop::collection::vec(-100f32..100.0, 1..200), shift in -500i32..500) {
        let y = phase_shift(one(&x), &options(&[f64::from(shift)], false)).unwrap();
        let mut rolled = x.clone();
        rolled.rotate_right(shift.rem_euclid(x.len() as i32) as usize);
        for (a, b) in y.row(0).iter().zip(&rolled) {
            prop_assert!((a - b).abs() < 2e-4, "{} {}", a, b);
        }
    }
}
