use super::*;
use crate::ops::launch_tests::{error, noise};
use crate::signal::View;
use proptest::prelude::*;

fn check(lag: usize, x: Source<'_>, values: &[f32]) {
    let problem = TeagerKaiser::new(lag).unwrap().on("cpu");
    let want = problem.reference(x, None).unwrap();
    let y = problem.apply(x).unwrap().to_vec();
    // Rounded once.
    let e = error(&y, &want, values, x.samples(), 0.0);
    assert!(e <= 6e-8, "lag {lag}, {} x {}: {e:e}", x.channels(), x.samples());
}

#[test]
fn integers_and_interleaved_input_give_the_same() {
    let (channels, samples) = (5, 333);
    let ints: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 30_000.0) as i16).collect();
    let rows: Vec<f32> = ints.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..ints.len()).map(|i| ints[i % channels * samples + i / channels]).collect();
    check(3, View::new(&ints, channels, samples).unwrap().into(), &rows);
    check(3, View::interleaved(&interleaved, channels).unwrap().into(), &rows);
}

#[test]
fn ends_repeat_the_nearest_result() {
    let x = [1.0f32, 3.0, 2.0, 5.0, 4.0, 0.0, 1.0];
    let y = teager_kaiser(View::new(&x, 1, 7).unwrap(), 2).unwrap();
    // 2^2 - 1 * 4, 5^2 - 3 * 0, 4^2 - 2 * 1
    assert_eq!(y.row(0), [0.0, 0.0, 0.0, 25.0, 14.0, 14.0, 14.0]);
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(TeagerKaiser::new(0).unwrap_err().kind().is_usage());
    assert!(TeagerKaiser::new(usize::MAX).unwrap_err().kind().is_usage());
    let e = TeagerKaiser::new(2).unwrap().on("cpu").apply(View::new(&[1.0f32; 4], 1, 4).unwrap()).unwrap_err();
    assert!(e.kind().is_usage() && e.to_string().contains("at least 5 samples"), "{e}");
    assert_eq!(teager_kaiser(View::<f32>::new(&[], 3, 0).unwrap(), 2).unwrap().channels(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_length_and_lag(samples in 1usize..40_000, lag in 1usize..200, seed in 1u64..1000) {
        let samples = samples.max(2 * lag + 1);
        let data = noise(samples, seed);
        check(lag, View::new(&data, 1, samples).unwrap().into(), &data);
    }

    #[test]
    fn scaling_counts_twice(seed in 1u64..1000, power in -8i32..8) {
        let (data, scale) = (noise(500, seed), 2f32.powi(power));
        let scaled: Vec<f32> = data.iter().map(|v| v * scale).collect();
        let of = |x: &[f32]| TeagerKaiser::new(1).unwrap().on("cpu").apply(View::new(x, 1, 500).unwrap()).unwrap().to_vec();
        of(&data).iter().zip(of(&scaled)).for_each(|(a, b)| assert_eq!(a * scale * scale, b));
    }
}
