use super::*;
use crate::ops::launch_tests::{device, error, noise, one_group_size, planar, result};

/// The definition, in float64.
fn reference(plan: &Plan, x: &[f32], channels: usize, samples: usize) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    let omit = plan.nan_policy() == NanPolicy::Omit;
    for part in plan.resolve(channels).unwrap() {
        for n in 0..samples {
            let column = part.source.iter().map(|c| f64::from(x[*c as usize * samples + n]));
            let mut column: Vec<f64> = column.filter(|v| !omit || !v.is_nan()).collect();
            let count = column.len();
            let value = match plan.operator() {
                _ if part.source.is_empty() => 0.0,
                _ if count == 0 || column.iter().any(|v| v.is_nan()) => f64::NAN,
                Operator::Mean => column.iter().sum::<f64>() / count as f64,
                Operator::Median => {
                    column.sort_by(f64::total_cmp);
                    if count % 2 == 1 { column[count / 2] } else { (column[count / 2 - 1] + column[count / 2]) / 2.0 }
                }
            };
            for c in &part.members {
                let at = *c as usize * samples + n;
                y[at] = f64::from(x[at]) - value;
            }
        }
    }
    y
}

fn check(plan: &Plan, channels: usize, samples: usize, x: &[f32], every: bool) {
    let Some(gpu) = device() else { return };
    let shape = Shape { channels, samples };
    let want = reference(plan, x, channels, samples);
    // One rounding of the result is all a median may add.
    let allowed = if plan.operator() == Operator::Mean { 3e-7 } else { 6e-8 };
    let variants = one_group_size(variants(plan, gpu.facts(), shape));
    let count = if every { variants.len() } else { 1 };
    for (i, variant) in variants[..count].iter().enumerate() {
        let cuts: &[usize] = if i % 2 == 0 { &[] } else { &[16, 112] };
        let x_device = planar(&gpu, (channels, samples), cuts, x);
        let y = result(&gpu, (channels, samples), cuts);
        gpu.submit(&record(plan, &*gpu, variant, &x_device, &y).unwrap()).unwrap();
        let got = crate::ops::launch_tests::read(&y, false);
        let e = error(&got, &want, x, samples, 1.0);
        assert!(e <= allowed, "{} {channels} x {samples}: {e:e}", variant.name);
    }
}

fn plan(operator: Operator, nan_policy: NanPolicy) -> Plan {
    Plan::new(operator, None, None, Vec::new(), nan_policy).unwrap()
}

#[test]
fn every_variant_at_edge_sizes() {
    for operator in [Operator::Mean, Operator::Median] {
        for (channels, samples) in [(1, 1), (2, 33), (7, 129), (64, 17), (33, 200)] {
            let x: Vec<f32> = noise(channels * samples, 3).iter().map(|v| v * 50.0 + 1000.0).collect();
            check(&plan(operator, NanPolicy::Propagate), channels, samples, &x, true);
        }
    }
}

#[test]
fn hard_distributions() {
    let (channels, samples) = (61, 160);
    let base = noise(channels * samples, 9);
    let value = |kind: usize, i: usize, v: f32| match kind {
        0 => (v * 3.0).round(),
        1 => (v * 80.0).exp() * v.signum(),
        2 => [f32::INFINITY, f32::NEG_INFINITY, v][i % 3],
        3 if i.is_multiple_of(97) => f32::NAN,
        4 if v > 0.0 => 1.0,
        4 => 2.0,
        5 => (i / samples) as f32 * 1e30 + v,
        6 if v > 0.2 => f32::NAN,
        7 => f32::NAN,
        _ => v,
    };
    for kind in 0..8 {
        let x: Vec<f32> = base.iter().enumerate().map(|(i, v)| value(kind, i, *v)).collect();
        for policy in [NanPolicy::Propagate, NanPolicy::Omit] {
            for channels in [channels, channels - 1] {
                check(&plan(Operator::Median, policy), channels, samples, &x[..channels * samples], false);
            }
            if kind != 5 {
                check(&plan(Operator::Mean, policy), channels, samples, &x, false);
            }
        }
    }
}

#[test]
fn groups_neighbourhoods_and_excluded_channels() {
    let (channels, samples) = (12, 100);
    let x = noise(channels * samples, 4);
    for operator in [Operator::Mean, Operator::Median] {
        let groups = Some(vec![vec![0, 2, 4], vec![1, 3], vec![7, 8, 9]]);
        for (groups, radius, exclude) in [
            (groups, None, vec![3, 8]),
            (Some(vec![vec![0, 1, 2], vec![5, 6]]), None, vec![]),
            (None, Some((1, 3)), vec![5]),
            (None, Some((0, 0)), vec![]),
            (None, None, vec![0, 6]),
        ] {
            let plan = Plan::new(operator, groups, radius, exclude, NanPolicy::Propagate).unwrap();
            check(&plan, channels, samples, &x, true);
        }
    }
}

#[test]
fn many_channels_stay_within_the_rounds_of_a_software_adapter() {
    let (channels, samples) = (20_000, 16);
    let x: Vec<f32> = (0..channels * samples).map(|i| (i % 8191) as f32).collect();
    check(&plan(Operator::Mean, NanPolicy::Propagate), channels, samples, &x, false);
    check(&plan(Operator::Median, NanPolicy::Propagate), channels, samples, &x, false);
}
