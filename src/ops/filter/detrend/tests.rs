use super::*;
use crate::ops::launch_tests::{error, noise};
use crate::signal::View;
use proptest::prelude::*;

fn check(detrend: &Detrend, runtime: &str, x: Source<'_>, values: &[f32]) {
    let want = reference::run(detrend, x);
    let y = detrend.clone().on(runtime).apply(x).unwrap().to_vec();
    let e = error(&y, &want, values, x.samples(), detrend.tolerance().gain);
    assert!(e <= 3e-7, "{detrend:?} on {runtime}, {} x {}: {e:e}", x.channels(), x.samples());
}

fn runtimes() -> Vec<&'static str> {
    #[cfg(feature = "wgpu")]
    if crate::runtime::testing::test_gpu().is_some() {
        return vec!["cpu", "wgpu"];
    }
    vec!["cpu"]
}

#[test]
fn offsets_and_slopes_cost_no_digits() {
    for runtime in runtimes() {
        for (channels, samples) in [(1, 1), (2, 2), (3, 17), (2, 1000), (1, 20_000)] {
            let mut data = noise(channels * samples, 3);
            data.iter_mut().enumerate().for_each(|(i, v)| *v += 1e4 + (i % samples) as f32 * 2.0);
            let x: Source<'_> = View::new(&data, channels, samples).unwrap().into();
            for trend in [Trend::Linear, Trend::Constant] {
                check(&Detrend::new(trend, &[]), runtime, x, &data);
                check(&Detrend::new(trend, &[samples, samples / 2, 0, samples / 2, samples / 3]), runtime, x, &data);
            }
        }
    }
}

#[test]
fn constants_leave_nothing_and_nan_stays_in_its_piece() {
    for runtime in runtimes() {
        let y = Detrend::new(Trend::Linear, &[]).on(runtime).apply(View::new(&[0.1f32; 333], 1, 333).unwrap()).unwrap();
        assert!(y.row(0).iter().all(|v| *v == 0.0));
        let mut data = noise(300, 3);
        data[120] = f32::NAN;
        let view = View::new(&data, 1, 300).unwrap();
        let y = Detrend::new(Trend::Linear, &[100, 200]).on(runtime).apply(view).unwrap();
        y.row(0).iter().enumerate().for_each(|(n, v)| assert_eq!(v.is_nan(), (100..200).contains(&n), "{n}"));
    }
}

#[test]
fn breakpoints_beyond_the_channel_are_refused() {
    let x = [0f32; 10];
    let run = |bp| Detrend::new(Trend::Linear, &[bp]).on("cpu").apply(View::new(&x, 1, 10).unwrap());
    assert!(run(10).is_ok());
    assert!(run(11).unwrap_err().kind().is_usage());
}

#[test]
fn integers_and_interleaved_input_give_the_same() {
    let (channels, samples) = (5, 333);
    let ints: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 3000.0) as i16).collect();
    let rows: Vec<f32> = ints.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..ints.len()).map(|i| ints[i % channels * samples + i / channels]).collect();
    let detrend = Detrend::new(Trend::Linear, &[100]);
    check(&detrend, "cpu", View::new(&ints, channels, samples).unwrap().into(), &rows);
    check(&detrend, "cpu", View::interleaved(&interleaved, channels).unwrap().into(), &rows);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_length_and_breakpoints(
        samples in 1usize..700,
        cuts in proptest::collection::vec(0usize..700, 0..5),
        offset in -1e6f32..1e6,
        seed in 1u64..1000,
    ) {
        let data: Vec<f32> = noise(samples, seed).iter().map(|v| v + offset).collect();
        let cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(samples)).collect();
        check(&Detrend::new(Trend::Linear, &cuts), "cpu", View::new(&data, 1, samples).unwrap().into(), &data);
    }
}
