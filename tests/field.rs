//! Faults that users of other tools met, as tests: each stands for a kind of fault, with values computed in float64.

mod common;

use common::{close, noise, runtimes};
use dspk::design::{Band, butter, sosfilt_zi};
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::filter::{Edge, MedianFilter, SosFilter};
use dspk::ops::spatial::{CommonReferenceOptions, NanPolicy, Operator, common_reference};
use dspk::signal::{Signal, View};

fn on(runtime: &str, operator: Operator) -> CommonReferenceOptions {
    CommonReferenceOptions { operator, runtime: Some(runtime.into()), ..Default::default() }
}

/// The float64 recursion of a cascade: what scipy computes.
fn sosfilt_f64(sections: &[[f64; 6]], x: impl Iterator<Item = f64>, zi: Option<Vec<[f64; 2]>>) -> Vec<f64> {
    let mut z = zi.unwrap_or_else(|| vec![[0.0; 2]; sections.len()]);
    x.map(|x| {
        sections.iter().zip(&mut z).fold(x, |x, (s, z)| {
            let y = s[0] * x + z[0];
            z[0] = s[1] * x - s[4] * y + z[1];
            z[1] = s[2] * x - s[5] * y;
            y
        })
    })
    .collect()
}

/// More than 65,535 work groups, along time and along channels; every value checked.
#[test]
fn more_work_groups_than_a_dimension_holds() {
    for (channels, samples) in [(64usize, 300_000usize), (70_000, 16)] {
        let value = |i: usize| (i % 8191) as f32;
        let x: Vec<f32> = (0..channels * samples).map(value).collect();
        let x = View::new(&x, channels, samples).expect("view");
        let raw: Vec<i16> = (0..channels * samples).map(|i| value(i) as i16).collect();
        let raw = View::new(&raw, channels, samples).expect("view");
        let means: Vec<f64> = (0..samples)
            .map(|n| (0..channels).map(|c| f64::from(value(c * samples + n))).sum::<f64>() / channels as f64)
            .collect();
        let sos = butter(2, Band::Low(1000.0), 30_000.0).expect("design");
        for runtime in runtimes() {
            let what = |op: &str, c| format!("{op} of {channels} x {samples}, channel {c}, on {runtime}");
            let options = ConvertOptions { gain: Scale::One(2.0), runtime: Some(runtime.into()), ..Default::default() };
            let doubled = convert(x, &options).expect("scaled");
            let widened = convert(raw, &ConvertOptions { runtime: Some(runtime.into()), ..Default::default() });
            let widened = widened.expect("widened");
            let referenced = common_reference(x, &on(runtime, Operator::Mean)).expect("referenced");
            let filtered = SosFilter::new(&sos).expect("filter").on(runtime).apply(x).expect("filtered");
            for c in 0..channels {
                let row: Vec<f64> = (0..samples).map(|n| f64::from(value(c * samples + n))).collect();
                let twice: Vec<f64> = row.iter().map(|v| 2.0 * v).collect();
                close(&what("scale", c), doubled.row(c), &twice, 0.0, 0.0);
                close(&what("widening", c), widened.row(c), &row, 0.0, 0.0);
                let less: Vec<f64> = row.iter().zip(&means).map(|(v, m)| v - m).collect();
                close(&what("mean reference", c), referenced.row(c), &less, 3e-7, 8190.0);
                if c % (channels / 64) == 0 {
                    let y = sosfilt_f64(sos.sections(), row.into_iter(), None);
                    close(&what("filter", c), filtered.row(c), &y, 1e-6, 0.0);
                }
            }
        }
    }
}

/// Arrays over 128 and 256 MiB give what the CPU gives, and small work still runs afterwards.
#[test]
fn arrays_over_the_binding_limits() {
    for samples in [100_000usize, 180_000] {
        let x = noise(384 * samples, 3);
        let x = View::new(&x, 384, samples).expect("view");
        let results: Vec<Signal> = runtimes()
            .into_iter()
            .map(|runtime| common_reference(x, &on(runtime, Operator::Median)).expect("referenced"))
            .collect();
        assert!(results.windows(2).all(|w| w[0] == w[1]), "runtimes differ at 384 x {samples}");
    }
    for runtime in runtimes() {
        let small = View::new(&[1.0f32, 2.0, 4.0], 3, 1).expect("view");
        let y = common_reference(small, &on(runtime, Operator::Median)).expect("referenced");
        assert_eq!(y.to_vec(), [-1.0, 0.0, 2.0]);
    }
}

/// Integer input is widened before anything is summed.
#[test]
fn integer_references_do_not_wrap() {
    for runtime in runtimes() {
        let same = vec![100i16; 384 * 10];
        let y = common_reference(View::new(&same, 384, 10).expect("view"), &on(runtime, Operator::Mean));
        assert!(y.expect("referenced").to_vec().iter().all(|v| *v == 0.0), "{runtime}");

        let mut extreme = vec![32_767i16; 384];
        extreme[0] = -32_768;
        let y = common_reference(View::new(&extreme, 384, 1).expect("view"), &on(runtime, Operator::Median));
        let y = y.expect("referenced");
        assert_eq!((y.row(0)[0], y.row(383)[0]), (-65_535.0, 0.0), "{runtime}");

        let four = View::new(&[1i16, 2, 3, 4], 4, 1).expect("view");
        let y = common_reference(four, &on(runtime, Operator::Median)).expect("referenced");
        assert_eq!(y.to_vec(), [-1.5, -0.5, 0.5, 1.5], "{runtime}");

        let rows = View::new(&[10i16, 20, 30, 40], 4, 1).expect("view");
        let groups = Some(vec![vec![0, 2], vec![1, 3]]);
        let options = CommonReferenceOptions { groups, ..on(runtime, Operator::Mean) };
        assert_eq!(
            common_reference(rows, &options).expect("referenced").to_vec(),
            [-10.0, -10.0, 10.0, 10.0],
            "{runtime}"
        );
    }
}

/// A NaN among the channels: it propagates, or is left out where that is asked for.
#[test]
fn medians_and_nan() {
    let x = View::new(&[8.0f32, 6.0, 4.0, f32::NAN], 4, 1).expect("view");
    for runtime in runtimes() {
        let y = common_reference(x, &on(runtime, Operator::Median)).expect("referenced");
        assert!(y.to_vec().iter().all(|v| v.is_nan()), "{runtime}");
        let options = CommonReferenceOptions { nan_policy: NanPolicy::Omit, ..on(runtime, Operator::Median) };
        let y = common_reference(x, &options).expect("referenced").to_vec();
        assert_eq!(y[..3], [2.0, 0.0, -2.0], "{runtime}");
        assert!(y[3].is_nan(), "{runtime}");
    }
}

/// A NaN spoils the windows that hold it, and no others; beyond the ends zeros, or the nearest sample, by name.
#[test]
fn running_medians_and_nan() {
    let nan = f32::NAN;
    let x = [nan, 5.0, 1.0, 8.0, 2.0, 6.0, 4.0, nan, 7.0, 3.0, 9.0];
    let inner = [nan, 5.0, 4.0, nan, nan, nan, nan];
    let same = |a: f32, b: f32| a == b || (a.is_nan() && b.is_nan());
    for runtime in runtimes() {
        let zeros = MedianFilter::medfilt(5).expect("filter").on(runtime);
        let nearest = MedianFilter::new(5, Edge::Nearest).expect("filter").on(runtime);
        for (filter, last) in [(&zeros, 3.0), (&nearest, 9.0)] {
            let y = filter.apply(View::new(&x, 1, 11).expect("view")).expect("filtered");
            assert!(y.row(0)[2..9].iter().zip(inner).all(|(a, b)| same(*a, b)), "{runtime}: {:?}", y.row(0));
            assert_eq!(y.row(0)[10], last, "{runtime}");
        }
        let alone = View::new(&[99.0f32], 1, 1).expect("view");
        assert_eq!(MedianFilter::medfilt(3).expect("filter").on(runtime).apply(alone).expect("filtered").row(0), [0.0]);
        assert_eq!(nearest.apply(alone).expect("filtered").row(0), [99.0]);
        // scipy.ndimage's even windows: the upper middle of [n - 2, n + 1].
        let even = MedianFilter::new(4, Edge::Nearest).expect("filter").on(runtime);
        let y = even.apply(View::new(&[4.0f32, 1.0, 3.0, 2.0], 1, 4).expect("view")).expect("filtered");
        assert_eq!(y.row(0), [4.0, 4.0, 3.0, 2.0], "{runtime}");
    }
    assert!(MedianFilter::medfilt(4).expect_err("even").kind().is_usage());
}

/// A 0.5 Hz high-pass at 30 kHz on a constant of 1000: plain float32 gives 7e15 where this gives -0.98.
#[test]
fn a_very_low_high_pass() {
    let expected = [
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
    let sos = butter(4, Band::High(0.5), 30_000.0).expect("design");
    let x = vec![1000.0f32; 300_000];
    let reference = sosfilt_f64(sos.sections(), x.iter().map(|v| f64::from(*v)), None);
    for (n, value) in expected {
        assert!((reference[n] - value).abs() < 1e-3 * value.abs().max(0.01), "reference at {n}: {}", reference[n]);
    }
    for runtime in runtimes() {
        let y = SosFilter::new(&sos).expect("filter").on(runtime).apply(View::new(&x, 1, x.len()).expect("view"));
        close(runtime, y.expect("filtered").row(0), &reference, 1e-6, 0.0);
    }
}

/// The same step through cutoffs from 0.5 to 300 Hz, where plain float32 is off by 115,000 down to 0.004.
#[test]
fn a_step_through_low_high_passes() {
    let x = vec![1000.0f32; 150_000];
    for cutoff in [0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 300.0] {
        let sos = butter(4, Band::High(cutoff), 30_000.0).expect("design");
        let reference = sosfilt_f64(sos.sections(), x.iter().map(|v| f64::from(*v)), None);
        for runtime in runtimes() {
            let y = SosFilter::new(&sos).expect("filter").on(runtime).apply(View::new(&x, 1, x.len()).expect("view"));
            close(&format!("{cutoff} Hz on {runtime}"), y.expect("filtered").row(0), &reference, 1e-6, 0.0);
        }
    }
}

/// Cutoffs down to 0.1 Hz at 30 kHz, on a constant of 1000 plus unit noise, from zero and from steady state.
#[test]
fn low_cutoffs_stay_within_a_millionth() {
    let n = 120_000;
    let x: Vec<f32> = noise(n, 5).iter().map(|v| 1000.0 + v).collect();
    let view = View::new(&x, 1, n).expect("view");
    let designs = [
        (2, Band::High(1.0)),
        (2, Band::High(0.1)),
        (5, Band::High(1.0)),
        (4, Band::Low(10.0)),
        (4, Band::Pass(8.0, 12.0)),
        (4, Band::Pass(0.5, 300.0)),
        (4, Band::High(300.0)),
        (4, Band::Low(14_000.0)),
    ];
    for (order, band) in designs {
        let sos = butter(order, band, 30_000.0).expect("design");
        let step = sosfilt_zi(&sos).expect("steady state");
        let zi = step.iter().map(|z| [z[0] * f64::from(x[0]), z[1] * f64::from(x[0])]).collect();
        let wide = || x.iter().map(|v| f64::from(*v));
        let (zero, steady) = (sosfilt_f64(sos.sections(), wide(), None), sosfilt_f64(sos.sections(), wide(), Some(zi)));
        for runtime in runtimes() {
            let filter = SosFilter::new(&sos).expect("filter").on(runtime);
            let what = format!("{order} {band:?} on {runtime}");
            close(&what, filter.apply(view).expect("filtered").row(0), &zero, 1e-6, 0.0);
            let mut state = filter.steady_state(&x[..1]).expect("state");
            let y = filter.apply_with(view, &mut state).expect("filtered");
            close(&format!("{what}, steady"), y.row(0), &steady, 1e-6, 0.0);
        }
    }
}
