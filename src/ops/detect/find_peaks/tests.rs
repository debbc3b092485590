use super::rules;
use super::*;
use crate::ops::launch_tests::noise;
use crate::ops::problem::Problem;
use crate::signal::View;
use proptest::prelude::*;

fn search(x: &[f32], options: &PeakOptions) -> Peaks {
    find_peaks(View::new(x, 1, x.len()).unwrap(), options).unwrap().remove(0)
}

fn cpu() -> PeakOptions {
    PeakOptions { runtime: Some("cpu".into()), ..Default::default() }
}

#[test]
fn plateaus_ends_and_nan() {
    let nan = f32::NAN;
    for (x, want) in [
        (&[1.0f32, 0.0, 1.0][..], &[][..]),
        (&[0.0, 1.0, 1.0, 1.0, 1.0, 0.0], &[2]),
        (&[0.0, 1.0, 1.0, 1.0], &[]),
        (&[0.0, 1.0, 1.0, 2.0, 1.0], &[3]),
        (&[0.0, 1.0, nan, 1.0, 0.0, 3.0, 0.0], &[5]),
        (&[nan, 1.0, 0.0], &[]),
        (&[0.0, 1.0, 1.0, nan], &[]),
        (&[0.0, f32::INFINITY, 0.0], &[1]),
        (&[-0.0, 0.0, -0.0, 1e-45, 0.0], &[3]),
        (&[], &[]),
        (&[1.0], &[]),
    ] {
        assert_eq!(search(x, &cpu()).indices, want, "{x:?}");
    }
}

#[test]
fn equal_heights_keep_the_last_one() {
    let x = [0.0f32, 3.0, 0.0, 3.0, 0.0, 3.0, 0.0, 2.0, 0.0];
    let options = |distance| PeakOptions { distance: Some(distance), ..cpu() };
    assert_eq!(search(&x, &options(2.0)).indices, [1, 3, 5, 7]);
    assert_eq!(search(&x, &options(2.1)).indices, [1, 5]);
    assert_eq!(search(&x, &options(1e300)).indices, [5]);
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    let nan = Some(Interval::at_least(f64::NAN));
    for options in [
        PeakOptions { distance: Some(0.9), ..cpu() },
        PeakOptions { distance: Some(f64::NAN), ..cpu() },
        PeakOptions { wlen: Some(1.0), ..cpu() },
        PeakOptions { rel_height: -0.1, ..cpu() },
        PeakOptions { rel_height: f64::INFINITY, ..cpu() },
        PeakOptions { height: nan, ..cpu() },
        PeakOptions { width: nan, ..cpu() },
    ] {
        assert!(FindPeaks::new(&options).unwrap_err().kind().is_usage(), "{options:?}");
    }
}

/// scipy's loop from each peak outwards.
fn plain_prominence(x: &[f32], peak: usize, window: usize) -> Prominence {
    let half = window / 2;
    let (first, last) = (peak.saturating_sub(half), (peak + half).min(x.len() - 1));
    let (mut left, mut right) = (peak, peak);
    let mut n = peak;
    while x[n] <= x[peak] {
        if x[n] < x[left] {
            left = n;
        }
        if n == first {
            break;
        }
        n -= 1;
    }
    n = peak;
    while n <= last && x[n] <= x[peak] {
        if x[n] < x[right] {
            right = n;
        }
        n += 1;
    }
    let base = f64::from(x[left]).max(f64::from(x[right]));
    Prominence { prominence: f64::from(x[peak]) - base, left_base: left, right_base: right }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn prominences_are_those_of_the_plain_loop(
        samples in 3usize..400,
        levels in 2u32..60,
        spoiled in proptest::collection::vec(0usize..400, 0..3),
        window in 2usize..60,
        seed in 1u64..1000,
    ) {
        // Few levels: many equal values.
        let mut x: Vec<f32> = noise(samples, seed).iter().map(|v| (v * levels as f32).round()).collect();
        spoiled.iter().filter(|n| **n < samples).for_each(|n| x[*n] = f32::NAN);
        for wlen in [None, Some(window as f64)] {
            let peaks = search(&x, &PeakOptions { prominence: Some(Interval::any()), wlen, ..cpu() });
            for (peak, found) in peaks.indices.iter().zip(peaks.prominences.unwrap()) {
                let want = plain_prominence(&x, *peak, if wlen.is_some() { window } else { 2 * samples });
                prop_assert_eq!(found, want, "{:?} in {:?}", peak, &x);
            }
        }
    }

    #[test]
    fn a_scaled_signal_has_the_same_peaks_and_a_turned_one_their_mirror(seed in 1u64..1000, power in -20i32..20) {
        let x = noise(700, seed);
        let scale = 2f32.powi(power);
        let options = PeakOptions { distance: Some(5.0), ..cpu() };
        let own = search(&x, &options).indices;
        let scaled: Vec<f32> = x.iter().map(|v| v * scale).collect();
        prop_assert_eq!(&search(&scaled, &options).indices, &own);
        let turned: Vec<f32> = x.iter().rev().copied().collect();
        let mut mirror: Vec<usize> = search(&turned, &options).indices.iter().map(|n| 699 - n).collect();
        mirror.reverse();
        prop_assert_eq!(mirror, own);
    }
}

#[test]
fn any_layout_and_runtime_gives_the_same() {
    let (channels, samples) = (5, 40_000);
    let ints: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 300.0) as i16).collect();
    let rows: Vec<f32> = ints.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..ints.len()).map(|i| ints[i % channels * samples + i / channels]).collect();
    let options =
        PeakOptions { height: Some(Interval::between(100.0, 290.0)), width: Some(Interval::at_least(1.0)), ..cpu() };
    let want: Vec<Peaks> = rows
        .chunks(samples)
        .map(|x| {
            let flags = rises::Rises.reference(View::new(x, 1, samples).unwrap().into(), None).unwrap();
            rules::peaks(x, &flags.iter().map(|v| *v as f32).collect::<Vec<_>>(), &options)
        })
        .collect();
    assert!(want.iter().all(|p| p.indices.len() > 1000));
    assert_eq!(find_peaks(View::new(&rows, channels, samples).unwrap(), &options).unwrap(), want);
    assert_eq!(find_peaks(View::interleaved(&interleaved, channels).unwrap(), &options).unwrap(), want);
    #[cfg(feature = "wgpu")]
    if crate::runtime::testing::test_gpu().is_some() {
        let on_device = PeakOptions { runtime: Some("wgpu".into()), ..options };
        assert_eq!(find_peaks(View::new(&rows, channels, samples).unwrap(), &on_device).unwrap(), want);
    }
}

#[cfg(feature = "wgpu")]
#[test]
fn devices_mark_what_the_reference_does_for_every_kind_of_number() {
    use crate::ops::launch_tests::{compute, device, planar, result};
    let Some(gpu) = device() else { return };
    let kinds = [
        0.0f32,
        -0.0,
        1e-45,
        -1e-45,
        1e-40,
        1.0,
        -1.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
    ];
    let mut x = Vec::new();
    for a in kinds {
        for b in kinds {
            x.extend(kinds.iter().flat_map(|c| [a, b, *c]));
        }
    }
    let shape = crate::ops::problem::Shape { channels: 1, samples: x.len() };
    let want = rises::Rises.reference(View::new(&x, 1, x.len()).unwrap().into(), None).unwrap();
    for variant in rises::Rises.gpu_variants(gpu.facts(), shape) {
        let y = result(&gpu, (1, x.len()), &[]);
        let y = compute(&y, &rises::Rises.record(&*gpu, &variant, &planar(&gpu, (1, x.len()), &[], &x), &y).unwrap());
        for (n, (got, want)) in y.iter().zip(&want).enumerate() {
            assert_eq!(
                f64::from(*got),
                *want,
                "{variant:?} at {n}: {:?}",
                &x[n.saturating_sub(1)..(n + 2).min(x.len())]
            );
        }
    }
}
