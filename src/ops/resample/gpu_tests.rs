use super::super::padtype::PadType;
use super::super::resample_poly::{PolyFilter, ResamplePoly, ResamplePolyOptions};
use super::super::upfirdn::tests::problem as upfirdn;
use super::*;
use crate::ops::launch_tests::{compute, device, error, noise, one_group_size, planar, result};
use crate::signal::View;

fn poly(up: usize, down: usize, padtype: PadType) -> Polyphase {
    let options = ResamplePolyOptions { padtype, ..Default::default() };
    ResamplePoly::new(up, down, &options).unwrap().problem().clone()
}

/// Every variant, whole and cut, against the reference.
fn check(problem: &Polyphase, (channels, samples): (usize, usize), x: &[f32]) {
    let Some(gpu) = device() else { return };
    let want = problem.reference(View::new(x, channels, samples).unwrap().into(), None).unwrap();
    let count = problem.count(samples);
    for (cuts, out_cuts) in [(&[][..], &[][..]), (&[16, 48, 256], &[32, 160])] {
        for variant in one_group_size(variants(problem, gpu.facts())) {
            let device = planar(&gpu, (channels, samples), cuts, x);
            let y = result(&gpu, (channels, count), out_cuts);
            let got = compute(&y, &record(problem, &*gpu, &variant, &device, &y).unwrap());
            // An error against the results of each channel, whose input is another number of values.
            let largest: Vec<f32> = x
                .chunks(samples)
                .flat_map(|row| {
                    let largest = row.iter().filter(|v| v.is_finite()).fold(0f32, |m, v| m.max(v.abs()));
                    vec![largest; count]
                })
                .collect();
            let e = error(&got, &want, &largest, count, problem.tolerance().gain);
            let (up, down) = (problem.bank.up, problem.bank.down);
            let what = format!("{} {up}/{down} {:?} at {samples}", variant.name, problem.padtype);
            assert!(e <= 1e-6, "{what}, {cuts:?}: {e:e}");
        }
    }
}

#[test]
fn rates_and_segments() {
    for (up, down) in [(1, 1), (1, 3), (2, 1), (3, 2), (4, 5), (1, 10), (5, 3), (147, 160)] {
        for (channels, samples) in [(3, 1), (2, 17), (2, 700)] {
            check(&poly(up, down, PadType::default()), (channels, samples), &noise(channels * samples, up as u64));
        }
    }
}

#[test]
fn paddings() {
    for padtype in PadType::ALL.into_iter().chain([PadType::Constant(-2.5)]) {
        for samples in [1, 2, 300] {
            let x: Vec<f32> = noise(2 * samples, 5).iter().map(|v| v + 3.0).collect();
            check(&poly(1, 3, padtype), (2, samples), &x);
            if !padtype.is_level() {
                check(&upfirdn(&[0.5, -1.0, 3.0, 2.0, 0.25], 6, 5, padtype), (2, samples), &x);
            }
        }
    }
}

#[test]
fn taps_of_other_numbers() {
    for (up, down, taps) in [(7, 3, 2), (1, 5, 1), (1, 400, 30), (3, 700, 9), (3, 1, 200)] {
        let taps: Vec<f64> = (0..taps).map(|k| 1.0 + f64::from(k)).collect();
        check(&upfirdn(&taps, up, down, PadType::Edge), (2, 700), &noise(1400, 9));
    }
    let even = ResamplePolyOptions { window: PolyFilter::Taps(vec![1.0 / 1024.0; 1024]), ..Default::default() };
    check(ResamplePoly::new(1, 2, &even).unwrap().problem(), (1, 3000), &[0.1; 3000]);
}

#[test]
fn not_a_number_and_infinity_reach_exactly_their_results() {
    let mut x = noise(800, 3);
    (x[2], x[300], x[700]) = (f32::NAN, f32::INFINITY, f32::NAN);
    for (up, down) in [(1, 3), (3, 2), (7, 5)] {
        check(&poly(up, down, PadType::default()), (2, 400), &x);
    }
    check(&poly(1, 3, PadType::Mean), (2, 400), &x);
    check(&poly(1, 3, PadType::Minimum), (2, 400), &x);
    // An infinite tap-free gap, and a tap that is zero.
    check(&upfirdn(&[1.0, 0.0, 2.0], 1, 2, PadType::default()), (2, 400), &x);
}

#[test]
fn medians_select() {
    for (samples, spoiled) in [(1, false), (2, false), (9001, false), (20_000, false), (9001, true)] {
        let mut x: Vec<f32> = noise(3 * samples, 8).iter().map(|v| (v * 40.0).round() / 8.0).collect();
        if spoiled {
            (x[5], x[samples + 3], x[samples + 4]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
        }
        check(&poly(1, 3, PadType::Median), (3, samples), &x);
    }
}

#[test]
fn a_phase_too_long_for_a_software_device_is_refused() {
    let Some(gpu) = device() else { return };
    let problem = upfirdn(&vec![1e-5; 70_000], 1, 2, PadType::default());
    let refused = refusal(&problem, gpu.facts());
    assert_eq!(refused.is_some(), is_software(gpu.facts()));
    assert_eq!(variants(&problem, gpu.facts()).is_empty(), refused.is_some());
    assert!(refused.is_none_or(|e| e.kind() == ErrorKind::Unsupported && e.to_string().contains("cpu runtime")));
}
