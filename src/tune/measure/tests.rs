//! Scripted readings in, exact verdicts out.

use std::time::Duration;

use super::*;
use crate::error::ErrorKind;
use crate::tune::fake::{Fake, kernel_error};

const SECOND: Duration = Duration::from_secs(1);

fn run(fake: &Fake) -> Measurement {
    measure(fake, &fake.clock, SECOND, &Prior::default())
}

fn won(variant: usize) -> Verdict {
    Verdict::Settled { variant, won: true }
}

const KEPT: Verdict = Verdict::Settled { variant: 0, won: false };

/// A reproducible disturbance in -1..1, each seed's unrelated to the next one's.
fn wobble(seed: usize) -> f64 {
    let hash = xxhash_rust::xxh3::xxh3_64(&(seed as u64).to_le_bytes());
    (hash >> 40) as f64 / f64::from(1u32 << 23) - 1.0
}

#[test]
fn the_fastest_wins_and_the_evidence_is_kept() {
    let fake = Fake::new(&[1e-4, 0.9e-4, 0.5e-4, 0.7e-4]);
    let measured = run(&fake);
    assert_eq!(measured.verdict, won(2));
    assert_eq!(measured.timed[0].variant, 2);
    assert!((measured.timed[0].ratio.median - 0.5).abs() < 1e-9);
    assert!((measured.timed[0].seconds - 0.5e-4).abs() < 1e-12);
    assert!(measured.rounds >= 5 && measured.rejected.is_empty() && measured.untried.is_empty());
}

#[test]
fn a_gain_within_three_percent_keeps_the_default() {
    assert_eq!(run(&Fake::new(&[1e-4, 0.98e-4])).verdict, KEPT);
    assert_eq!(run(&Fake::new(&[1e-4, 1e-4])).verdict, KEPT);
    assert_eq!(run(&Fake::new(&[1e-4, 0.96e-4])).verdict, won(1));
}

#[test]
fn slower_candidates_leave_early() {
    let fake = Fake::new(&[1e-4, 1.2e-4, 5e-4]);
    let measured = run(&fake);
    assert_eq!(measured.verdict, KEPT);
    assert_eq!(measured.rounds, 3);
    let timed = fake.timed.lock().unwrap().clone();
    assert!(timed[2] < timed[1], "a hopeless candidate enters no round: {timed:?}");
    assert_eq!(measured.timed.iter().map(|t| t.variant).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_large_field_is_halved() {
    let seconds: Vec<f64> = (0..32).map(|v| 1e-4 * (1.0 - 0.001 * f64::from(v))).collect();
    let fake = Fake::new(&seconds);
    let measured = measure(&fake, &fake.clock, 10 * SECOND, &Prior::default());
    assert_eq!(measured.verdict, won(31));
    // All 31 in 3 rounds, 16 in 2 more, then 8, 4, 2, 1: far fewer than 31 in each round.
    let in_rounds: usize = measured.timed.iter().map(|t| t.ratio.readings).sum();
    assert!(in_rounds < 200, "{in_rounds}");
}

#[test]
fn drift_does_not_decide() {
    // The device slows down by a factor of three during the measurement.
    let clock = AtomicU64::new(0);
    let drift = move |speed: [f64; 2]| {
        move |variant: usize, repeats: u32, _: usize| {
            let step = clock.fetch_add(1, Ordering::Relaxed) as f64;
            Ok(1e-4 * f64::from(repeats) * speed[variant] * (1.0 + step / 15.0))
        }
    };
    assert_eq!(run(&Fake::scripted(2, drift([1.0, 1.0]))).verdict, KEPT);
}

/// How many of 500 measurements name a winner, where five challengers take `time` of the default's time and every
/// reading is disturbed by up to `noise`.
fn wins_of_500(time: f64, noise: f64) -> usize {
    let wins = |seed: usize| {
        let fake = Fake::scripted(6, move |variant, repeats, before| {
            let disturbance = 1.0 + noise * wobble(seed * 7919 + variant * 101 + before);
            Ok(1e-4 * f64::from(repeats) * disturbance * if variant == 0 { 1.0 } else { time })
        });
        matches!(run(&fake).verdict, Verdict::Settled { won: true, .. })
    };
    (0..500).filter(|&seed| wins(seed)).count()
}

#[test]
fn noise_wins_less_than_once_in_a_hundred() {
    for noise in [0.02, 0.05, 0.1, 0.2, 0.4] {
        let wins = wins_of_500(1.0, noise);
        assert!(wins <= 4, "{wins} of 500 at noise {noise}");
    }
}

#[test]
fn a_real_gain_is_seen_through_the_noise() {
    for (time, noise) in [(0.93, 0.01), (0.85, 0.05), (0.7, 0.1), (0.5, 0.2)] {
        let wins = wins_of_500(time, noise);
        assert!(wins >= 450, "{wins} of 500 at time {time}, noise {noise}");
    }
}

#[test]
fn one_lucky_sample_does_not_win() {
    let fake = Fake::scripted(2, |variant, repeats, before| {
        let lucky = variant == 1 && before == 4;
        Ok(1e-4 * f64::from(repeats) * if lucky { 0.01 } else { 1.0 })
    });
    assert_eq!(run(&fake).verdict, KEPT);
}

#[test]
fn outliers_do_not_lose_a_win() {
    let fake = Fake::scripted(2, |variant, repeats, before| {
        let stall = if variant == 1 && before % 4 == 3 { 6.0 } else { 1.0 };
        Ok([1e-4, 0.6e-4][variant] * f64::from(repeats) * stall)
    });
    assert_eq!(run(&fake).verdict, won(1));
}

#[test]
fn void_readings_do_not_count() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let fake = Fake::scripted(2, move |variant, repeats, before| {
            if variant == 1 && before % 3 == 2 {
                return Ok(bad);
            }
            Ok([1e-4, 0.5e-4][variant] * f64::from(repeats))
        });
        let measured = run(&fake);
        assert_eq!(measured.verdict, won(1), "{bad}");
        assert_eq!(measured.timed[0].ratio.median, 0.5);
    }
}

#[test]
fn a_candidate_that_only_ever_reads_nothing_is_rejected() {
    for bad in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let fake = Fake::scripted(2, move |variant, repeats, _| {
            Ok(if variant == 1 { bad } else { 1e-4 * f64::from(repeats) })
        });
        let measured = run(&fake);
        assert_eq!(measured.verdict, KEPT, "{bad}");
        assert!(measured.rejected[0].1.contains("no usable reading"));
    }
}

#[test]
fn a_clock_that_never_moves_ends() {
    let fake = Fake::scripted(3, |_, _, _| Ok(0.0));
    let before = benchmark_launches();
    assert!(matches!(run(&fake).verdict, Verdict::Failed(_)));
    assert!(fake.samples() <= 3 * 21);
    assert!(benchmark_launches() > before);
}

#[test]
fn a_coarse_clock_gets_longer_samples() {
    // Ticks of 1 ms: samples of one tick would read 1 or 2 ms for anything between.
    let tick = |seconds: f64| (seconds / 1e-3).floor() * 1e-3;
    let longest = std::sync::Arc::new(std::sync::Mutex::new(0.0f64));
    let seen = longest.clone();
    let fake = Fake::scripted(2, move |variant, repeats, _| {
        let reading = tick([1e-4, 0.8e-4][variant] * f64::from(repeats));
        let mut seen = seen.lock().unwrap();
        *seen = seen.max(reading);
        Ok(reading)
    });
    let measured = measure(&fake, &fake.clock, 5 * SECOND, &Prior::default());
    assert_eq!(measured.verdict, won(1));
    assert!(*longest.lock().unwrap() >= 0.015);
}

#[test]
fn samples_last_a_millisecond() {
    let fake = Fake::scripted(2, |variant, repeats, before| {
        let reading = [2e-6, 1e-6][variant] * f64::from(repeats);
        assert!(before < 8 || reading >= 1e-3, "sample {before} lasts {reading}");
        Ok(reading)
    });
    assert_eq!(run(&fake).verdict, won(1));
}

#[test]
fn a_wrong_candidate_is_never_timed() {
    let mut fake = Fake::new(&[1e-4, 1e-9, 0.5e-4]);
    fake.wrong = vec![1];
    let measured = run(&fake);
    assert_eq!(measured.verdict, won(2));
    assert_eq!(fake.timed.lock().unwrap()[1], 0);
    assert_eq!(measured.rejected, [(1, "verification: returns zeros".to_string())]);
}

#[test]
fn a_failing_launch_rejects_the_candidate_wherever_it_happens() {
    for fails_at in [0, 1, 2, 4] {
        let fake = Fake::scripted(3, move |variant, repeats, before| {
            if variant == 1 && before >= fails_at {
                return Err(kernel_error("too many threads"));
            }
            Ok([1e-4, 0.1e-4, 0.5e-4][variant] * f64::from(repeats))
        });
        let measured = run(&fake);
        assert_eq!(measured.verdict, won(2), "{fails_at}");
        assert!(measured.rejected[0].1.contains("too many threads"));
        assert!(measured.timed.iter().all(|t| t.variant != 1));
    }
}

#[test]
fn a_default_that_is_wrong_makes_room_for_the_next() {
    let mut fake = Fake::new(&[1e-4, 1e-4, 1.5e-4]);
    fake.wrong = vec![0];
    assert_eq!(run(&fake).verdict, won(1));
    fake.wrong = vec![0, 1, 2];
    let Verdict::Failed(reason) = run(&fake).verdict else { panic!("nothing is right") };
    assert!(reason.contains("v0: verification: returns zeros"), "{reason}");
}

#[test]
fn a_lost_device_settles_nothing() {
    for lost_at in [0, 5] {
        let fake = Fake::scripted(2, move |_, repeats, before| {
            if before >= lost_at {
                return Err(Error::new(ErrorKind::DeviceLost, "driver reset"));
            }
            Ok(1e-4 * f64::from(repeats))
        });
        let Verdict::Abandoned(reason) = run(&fake).verdict else { panic!("{lost_at}") };
        assert!(reason.contains("driver reset"), "{reason}");
    }
}

#[test]
fn a_run_too_long_for_the_budget_is_given_up_after_one() {
    let fake = Fake::new(&[0.2, 0.1]);
    assert!(matches!(run(&fake).verdict, Verdict::Inconclusive(_)));
    assert_eq!(fake.samples(), 1);
    let patient = Fake::new(&[0.2, 0.1]);
    assert_eq!(measure(&patient, &patient.clock, 10 * SECOND, &Prior::default()).verdict, won(1));
}

#[test]
fn absurd_readings_do_not_panic() {
    for reading in [1e300, f64::MAX, f64::MIN_POSITIVE] {
        let fake = Fake::scripted(3, move |_, _, before| Ok(if before % 3 == 0 { reading } else { 1e-3 }));
        run(&fake);
        run(&Fake::scripted(3, move |_, _, _| Ok(reading)));
    }
}

#[test]
fn a_stall_abandons_instead_of_settling() {
    let fake = Fake::scripted(2, |variant, repeats, before| {
        let stall = if variant == 1 && before == 4 { 5.0 } else { 0.0 };
        Ok([1e-4, 0.5e-4][variant] * f64::from(repeats) + stall)
    });
    let Verdict::Inconclusive(reason) = run(&fake).verdict else { panic!("settled in a stall") };
    assert!(reason.contains("budget ended in round"), "{reason}");
}

#[test]
fn candidates_whose_rounds_would_not_fit_are_untried_and_the_rest_is_settled() {
    let mut seconds = [0.01; 24];
    seconds[1] = 0.005;
    let measured = run(&Fake::new(&seconds));
    assert_eq!(measured.verdict, won(1));
    assert!(measured.untried.len() > 5 && measured.untried.len() < 22, "{:?}", measured.untried);
    assert_eq!(measured.untried.len() + measured.timed.len(), 24);
}

#[test]
fn the_length_of_a_race() {
    assert_eq!(samples_needed(1), 10);
    // 3 rounds of 3, 2 of 2.
    assert_eq!(samples_needed(2), 13);
    // 3 rounds of 32, then 2 each of 17, 9, 5 and 3.
    assert_eq!(samples_needed(31), 3 * 32 + 2 * (17 + 9 + 5 + 3));
    assert_eq!(samples_needed(usize::MAX), u32::MAX);
}

#[test]
fn every_run_is_counted() {
    let runs = std::sync::Arc::new(AtomicU64::new(0));
    let counted = runs.clone();
    let fake = Fake::scripted(2, move |_, repeats, _| {
        counted.fetch_add(u64::from(repeats), Ordering::Relaxed);
        Ok(1e-6 * f64::from(repeats))
    });
    let before = benchmark_launches();
    let verified = verification_runs();
    run(&fake);
    // Other tests of this process count too.
    assert!(benchmark_launches() - before >= runs.load(Ordering::Relaxed));
    assert!(verification_runs() - verified >= 2);
}

#[test]
fn a_single_variant_needs_no_race() {
    let fake = Fake::new(&[1e-4]);
    let measured = run(&fake);
    assert_eq!((measured.verdict, measured.rounds), (KEPT, 0));
    assert_eq!(measured.timed[0].ratio.median, 1.0);
}

#[test]
fn no_memory_left_says_nothing_about_a_variant() {
    for first in [0, 1] {
        let fake = Fake::scripted(2, move |variant, repeats, _| match variant {
            v if v >= first => Err(Error::new(ErrorKind::OutOfMemory, "no memory")),
            _ => Ok(1e-4 * f64::from(repeats)),
        });
        let measured = run(&fake);
        assert!(matches!(measured.verdict, Verdict::Abandoned(_)), "{:?}", measured.verdict);
        assert!(measured.rejected.is_empty());
    }
}
