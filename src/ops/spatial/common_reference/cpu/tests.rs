use super::super::plan::NanPolicy;
use super::super::reference;
use super::*;
use crate::signal::Signal;
use crate::simd::levels;

fn plan(operator: Operator) -> Plan {
    Plan::new(operator, None, None, vec![], NanPolicy::Propagate).unwrap()
}

/// Every variant at every level.
fn all_ways(plan: &Plan, x: Source<'_>, mut check: impl FnMut(&str, &Signal)) {
    let shape = Shape { channels: x.channels(), samples: x.samples() };
    for variant in variants(plan, shape) {
        for level in levels() {
            let mut y = Signal::dirty(shape.channels, shape.samples).unwrap();
            y.view_mut().data_mut().fill(f32::NAN);
            run_at(level, plan, &variant, x, y.view_mut()).unwrap();
            check(&format!("{} at {}, {x:.0?}", variant.name, level.name()), &y);
        }
    }
}

/// The error bound of the operation, with gain 0; NaN and infinity must agree exactly.
fn check(plan: &Plan, x: Source<'_>) {
    let want = reference::run(plan, x).unwrap();
    all_ways(plan, x, |name, y| {
        let name = &name[..name.len().min(60)];
        for (c, row) in y.rows().enumerate() {
            let want = &want[c * y.samples()..][..y.samples()];
            let scale = want.iter().filter(|v| v.is_finite()).fold(0.0f64, |a, v| a.max(v.abs()));
            for (n, (&got, &want)) in row.iter().zip(want).enumerate() {
                let got = f64::from(got);
                let same = (got.is_nan() && want.is_nan()) || got == want;
                assert!(same || (got - want).abs() <= 1.5e-7 * scale, "{name}: [{c}, {n}] is {got}, not {want}");
            }
        }
    });
}

fn noise(channels: usize, samples: usize, offset: f32) -> Vec<f32> {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..channels * samples).map(|_| offset + next() + next() + next()).collect()
}

fn integers(channels: usize, samples: usize) -> Vec<i16> {
    noise(channels, samples, 0.1).iter().map(|v| (v * 20_000.0) as i16).collect()
}

const OPERATORS: [Operator; 2] = [Operator::Mean, Operator::Median];

#[test]
fn any_shape_and_layout() {
    for channels in [1, 2, 7, 33] {
        for samples in [0, 1, 15, 16, 17, 33, 257, 700] {
            let x = noise(channels, samples, 1000.0);
            let i = integers(channels, samples);
            for operator in OPERATORS {
                let plan = plan(operator);
                check(&plan, View::new(&x, channels, samples).unwrap().into());
                check(&plan, View::interleaved(&x, channels).unwrap().into());
                check(&plan, View::new(&i, channels, samples).unwrap().into());
                check(&plan, View::interleaved(&i, channels).unwrap().into());
                if samples > 2 {
                    let view = View::with_strides(&x, channels, samples / 2 - 1, samples, 2).unwrap();
                    check(&plan, view.into());
                }
            }
        }
    }
}

#[test]
fn many_threads_and_tiles() {
    let x = noise(65, 5000, -3.0);
    let i = integers(65, 5000);
    for operator in OPERATORS {
        check(&plan(operator), View::new(&x, 65, 5000).unwrap().into());
        check(&plan(operator), View::new(&i, 65, 5000).unwrap().into());
    }
}

#[test]
fn more_channels_than_sixteen_bits_count() {
    let (channels, samples) = (70_000, 3);
    let i = integers(channels, samples);
    for operator in OPERATORS {
        let plan = plan(operator);
        let want = reference::run(&plan, View::new(&i, channels, samples).unwrap().into()).unwrap();
        let mut y = Signal::zeros(channels, samples).unwrap();
        let variant = &variants(&plan, Shape { channels, samples })[0];
        run(&plan, variant, View::new(&i, channels, samples).unwrap().into(), y.view_mut()).unwrap();
        y.to_vec().iter().zip(want).for_each(|(y, want)| assert!((f64::from(*y) - want).abs() < 3e-3));
    }
}

#[test]
fn groups_radius_and_exclusions() {
    let (channels, samples) = (12, 150);
    let x = noise(channels, samples, 5.0);
    let i = integers(channels, samples);
    let groups = vec![vec![0, 2, 9], vec![1, 3, 4, 5], vec![11]];
    for operator in OPERATORS {
        for nan_policy in [NanPolicy::Propagate, NanPolicy::Omit] {
            for plan in [
                Plan::new(operator, Some(groups.clone()), None, vec![2, 4, 7], nan_policy),
                Plan::new(operator, None, None, vec![0, 5, 11], nan_policy),
                Plan::new(operator, None, Some((1, 3)), vec![2], nan_policy),
                Plan::new(operator, None, Some((0, 2)), vec![], nan_policy),
                Plan::new(operator, None, Some((2, 50)), vec![1], nan_policy),
            ] {
                let plan = plan.unwrap();
                check(&plan, View::new(&x, channels, samples).unwrap().into());
                check(&plan, View::interleaved(&i, channels).unwrap().into());
            }
        }
    }
}

#[test]
fn nan_and_infinity_as_in_numpy() {
    for channels in [2, 5, 6, 40] {
        let samples = 100;
        let mut x = noise(channels, samples, 0.0);
        for (k, v) in [(3, f32::NAN), (17, f32::INFINITY), (18, f32::NEG_INFINITY), (19, f32::NAN)] {
            (0..channels).filter(|c| (c + k) % 3 != 0).for_each(|c| x[c * samples + k] = v);
        }
        (0..channels).for_each(|c| x[c * samples + 50] = f32::NAN);
        (0..channels).for_each(|c| x[c * samples + 51] = [f32::INFINITY, f32::NEG_INFINITY][c % 2]);
        for operator in OPERATORS {
            for nan_policy in [NanPolicy::Propagate, NanPolicy::Omit] {
                for radius in [None, Some((0, 2))] {
                    let plan = Plan::new(operator, None, radius, vec![0], nan_policy).unwrap();
                    check(&plan, View::new(&x, channels, samples).unwrap().into());
                }
            }
        }
    }
}

#[test]
fn integer_sums_do_not_wrap() {
    let x = vec![100i16; 384 * 10];
    all_ways(&plan(Operator::Mean), View::new(&x, 384, 10).unwrap().into(), |name, y| {
        assert!(y.to_vec().iter().all(|v| *v == 0.0), "{name}");
    });
    let mut x = vec![32_767i16; 384 * 10];
    x[..10].fill(-32_768);
    all_ways(&plan(Operator::Median), View::new(&x, 384, 10).unwrap().into(), |name, y| {
        assert!(y.row(0).iter().all(|v| *v == -65_535.0), "{name}");
        assert!(y.row(383).iter().all(|v| *v == 0.0), "{name}");
    });
}

#[test]
fn small_cases_by_hand() {
    let four = Signal::from_rows(&[[1.0], [2.0], [3.0], [4.0]]).unwrap();
    all_ways(&plan(Operator::Median), (&four).into(), |name, y| {
        assert_eq!(y.to_vec(), [-1.5, -0.5, 0.5, 1.5], "{name}")
    });

    let groups =
        Plan::new(Operator::Mean, Some(vec![vec![0, 2], vec![1, 3]]), None, vec![], NanPolicy::Propagate).unwrap();
    let rows = Signal::from_rows(&[[10.0], [20.0], [30.0], [40.0]]).unwrap();
    all_ways(&groups, (&rows).into(), |name, y| assert_eq!(y.to_vec(), [-10.0, -10.0, 10.0, 10.0], "{name}"));

    let gap = Signal::from_rows(&[[8.0], [6.0], [4.0], [f32::NAN]]).unwrap();
    all_ways(&plan(Operator::Median), (&gap).into(), |name, y| {
        assert!(y.to_vec().iter().all(|v| v.is_nan()), "{name}")
    });
    let omit = Plan::new(Operator::Median, None, None, vec![], NanPolicy::Omit).unwrap();
    all_ways(&omit, (&gap).into(), |name, y| {
        assert_eq!(y.to_vec()[..3], [2.0, 0.0, -2.0], "{name}");
        assert!(y.row(3)[0].is_nan(), "{name}");
    });

    let huge = Signal::from_rows(&[[f32::MAX], [f32::MAX]]).unwrap();
    all_ways(&plan(Operator::Median), (&huge).into(), |name, y| assert_eq!(y.to_vec(), [0.0, 0.0], "{name}"));
}

#[test]
fn a_shape_that_does_not_fit_is_refused() {
    let (x, mut y) = (Signal::zeros(2, 3).unwrap(), Signal::zeros(3, 2).unwrap());
    let plan = plan(Operator::Mean);
    let variant = &variants(&plan, Shape { channels: 2, samples: 3 })[0];
    let error = run(&plan, variant, (&x).into(), y.view_mut()).expect_err("shapes differ");
    assert!(error.to_string().contains("2 channels x 3 samples"), "{error}");
}
