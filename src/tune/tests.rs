//! The tuner on scripted choices: policies, stored results, damage, failures in use, and what threads see.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::fake::{Fake, kernel_error};
use super::*;
use crate::error::ErrorKind;
use cache::Location;

/// A tuner with a store in a folder, on the fake's own clock: what one process is.
fn process(folder: &Path, fake: &Fake) -> Tuner {
    let settings = Settings { location: Location::At(folder.to_path_buf()), ..Settings::default() };
    Tuner::with_clock(settings, Box::new(fake.clock.clone()))
}

fn entry_path(folder: &Path, fake: &Fake) -> PathBuf {
    let class = format!("{}.json", fake.class);
    folder.join("tune/v1").join(&fake.device).join(&fake.operation).join(class)
}

fn fast() -> Fake {
    Fake::new(&[1e-4, 0.8e-4, 0.5e-4])
}

const TUNED_2: Choice = Choice { variant: 2, origin: Origin::Tuned };
const DEFAULT: Choice = Choice { variant: 0, origin: Origin::Default };

#[test]
fn a_first_meeting_tunes_and_later_ones_and_other_processes_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let one = process(folder.path(), &fake);
    assert_eq!(one.choose(&fake, Policy::OnMiss), TUNED_2);
    let samples = fake.samples();
    assert!(samples > 0);
    for policy in [Policy::OnMiss, Policy::Cached] {
        assert_eq!(one.choose(&fake, policy), TUNED_2);
    }
    assert_eq!(fake.samples(), samples);

    let again = fast();
    let two = process(folder.path(), &again);
    assert_eq!(two.choose(&again, Policy::OnMiss), TUNED_2);
    assert_eq!((again.samples(), again.verified.load(Ordering::Relaxed)), (0, 0));
    assert!(folder.path().join("tune/v1/fake-device/device.json").is_file());
    let entry = fs::read_to_string(entry_path(folder.path(), &fake)).unwrap();
    assert!(entry.contains("\"winner\": \"v2\"") && entry.contains("\"outcome\": \"won\""), "{entry}");
}

#[test]
fn a_default_kept_counts_as_tuned() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new(&[1e-4, 1e-4]);
    let kept = Choice { variant: 0, origin: Origin::Tuned };
    assert_eq!(process(folder.path(), &fake).choose(&fake, Policy::OnMiss), kept);
    assert!(fs::read_to_string(entry_path(folder.path(), &fake)).unwrap().contains("default-kept"));
    let again = Fake::new(&[1e-4, 1e-4]);
    assert_eq!(process(folder.path(), &again).choose(&again, Policy::OnMiss), kept);
    assert_eq!(again.samples(), 0);
}

#[test]
fn off_is_the_default_and_touches_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let tuner = process(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::Off), DEFAULT);
    assert_eq!(tuner.report_failure(&fake, 0, &kernel_error("no"), Policy::Off), Some(1));
    assert_eq!(tuner.choose(&fake, Policy::Off).variant, 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(fake.samples(), 0);
}

#[test]
fn cached_never_measures_and_borrows_from_the_nearest_class() {
    let folder = tempfile::tempdir().unwrap();
    let near = fast().class("p--c7-s15");
    process(folder.path(), &near).choose(&near, Policy::OnMiss);

    let asked = |class: &str| {
        let fake = fast().class(class);
        let choice = process(folder.path(), &fake).choose(&fake, Policy::Cached);
        assert_eq!(fake.samples(), 0);
        choice
    };
    assert_eq!(asked("p--c7-s15"), TUNED_2);
    assert_eq!(asked("p--c7-s16"), Choice { variant: 2, origin: Origin::Nearest });
    assert_eq!(asked("q--c7-s15"), DEFAULT);
    assert_eq!(asked("p--c7-s30"), DEFAULT);

    // Another recipe's result is no help, and a borrowed choice does not keep on-miss from tuning.
    let mut other = fast().class("p--c7-s16");
    other.identity = 8;
    assert_eq!(process(folder.path(), &other).choose(&other, Policy::Cached), DEFAULT);
    let fake = fast().class("p--c7-s16");
    let tuner = process(folder.path(), &fake);
    tuner.choose(&fake, Policy::Cached);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), TUNED_2);
}

#[test]
fn force_measures_once_per_process() {
    let folder = tempfile::tempdir().unwrap();
    let first = fast();
    process(folder.path(), &first).choose(&first, Policy::OnMiss);
    let fake = fast();
    let tuner = process(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), TUNED_2);
    assert_eq!(fake.samples(), 0);
    assert_eq!(tuner.choose(&fake, Policy::Force), TUNED_2);
    let samples = fake.samples();
    assert!(samples > 0);
    tuner.choose(&fake, Policy::Force);
    assert_eq!(fake.samples(), samples);
}

#[test]
fn a_changed_recipe_is_measured_again_and_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let old = fast();
    process(folder.path(), &old).choose(&old, Policy::OnMiss);
    let mut new = Fake::new(&[1e-4, 0.3e-4, 1e-4]);
    new.identity = 99;
    assert_eq!(process(folder.path(), &new).choose(&new, Policy::OnMiss).variant, 1);
    assert!(fs::read_to_string(entry_path(folder.path(), &new)).unwrap().contains(&format!("{:032x}", 99)));
}

#[test]
fn under_another_driver_the_winner_is_verified_again() {
    let folder = tempfile::tempdir().unwrap();
    let old = fast();
    process(folder.path(), &old).choose(&old, Policy::OnMiss);

    let mut updated = fast();
    updated.driver = "2.0".into();
    let tuner = process(folder.path(), &updated);
    assert_eq!(tuner.choose(&updated, Policy::OnMiss), TUNED_2);
    assert_eq!((updated.samples(), updated.verified.load(Ordering::Relaxed)), (0, 1));

    let mut broken = fast();
    broken.driver = "3.0".into();
    broken.wrong = vec![2];
    assert_eq!(process(folder.path(), &broken).choose(&broken, Policy::OnMiss).variant, 1);

    // An ahead-of-time run measures it again; then it is settled.
    let effort = Effort { budget: Duration::from_secs(5), wait: Duration::ZERO, force: false };
    assert_eq!(tuner.tune(&updated, effort, &mut || ()).unwrap(), Tuning::Tuned);
    assert_eq!(tuner.tune(&updated, effort, &mut || ()).unwrap(), Tuning::Cached);
}

#[test]
fn an_unknown_driver_never_equals_an_unknown_one() {
    let folder = tempfile::tempdir().unwrap();
    for verified in [3, 1] {
        let mut fake = fast();
        fake.driver = "Unknown".into();
        process(folder.path(), &fake).choose(&fake, Policy::OnMiss);
        assert_eq!(fake.verified.load(Ordering::Relaxed), verified);
    }
}

#[test]
fn a_stored_winner_must_be_legal_here() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    process(folder.path(), &fake).choose(&fake, Policy::OnMiss);
    // The same class, but this problem does not allow v2; then neither v2 nor v1.
    let mut narrow = fast();
    narrow.names = vec!["v0".into(), "v1".into()];
    assert_eq!(process(folder.path(), &narrow).choose(&narrow, Policy::OnMiss).variant, 1);
    narrow.names = vec!["x".into(), "y".into()];
    assert_eq!(process(folder.path(), &narrow).choose(&narrow, Policy::OnMiss).variant, 0);

    // An unknown name in the file: next by time.
    let path = entry_path(folder.path(), &fake);
    let text = fs::read_to_string(&path).unwrap().replace("\"winner\": \"v2\"", "\"winner\": \"none\"");
    fs::write(&path, text.replace("\"variant\": \"v2\"", "\"variant\": \"none\"")).unwrap();
    let again = fast();
    assert_eq!(process(folder.path(), &again).choose(&again, Policy::OnMiss).variant, 1);
    assert_eq!(again.samples(), 0);
}

#[test]
fn a_failure_in_use_is_remembered_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let tuner = process(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), TUNED_2);
    let error = kernel_error("too many resources");
    assert_eq!(tuner.report_failure(&fake, 2, &error, Policy::OnMiss), Some(1));
    assert_eq!(tuner.report_failure(&fake, 2, &error, Policy::OnMiss), Some(1));
    assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, 1);
    let again = fast();
    let other = process(folder.path(), &again);
    assert_eq!(other.choose(&again, Policy::OnMiss).variant, 1);
    assert_eq!(other.report_failure(&again, 1, &error, Policy::OnMiss), Some(0));
    assert_eq!(other.report_failure(&again, 0, &error, Policy::OnMiss), None);
    assert_eq!(other.report_failure(&again, 9, &error, Policy::OnMiss), None);
}

#[test]
fn a_limit_met_in_use_belongs_to_the_problem_and_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let tuner = process(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), TUNED_2);
    let limit = Error::new(ErrorKind::Limit, "too many work groups");
    assert_eq!(tuner.report_failure(&fake, 2, &limit, Policy::OnMiss), Some(1));
    let again = fast();
    assert_eq!(process(folder.path(), &again).choose(&again, Policy::OnMiss), TUNED_2);
}

#[test]
fn an_error_that_is_not_the_variants_fault_changes_nothing() {
    let fake = fast();
    let tuner = Tuner::new(Settings { location: Location::Memory, ..Settings::default() });
    for kind in [ErrorKind::OutOfMemory, ErrorKind::DeviceLost, ErrorKind::InvalidArgument, ErrorKind::Shape] {
        assert_eq!(tuner.report_failure(&fake, 0, &Error::new(kind, "no"), Policy::Off), None);
    }
    assert_eq!(tuner.choose(&fake, Policy::Off), DEFAULT);
}

#[test]
fn what_failed_before_tuning_does_not_win() {
    let fake = fast();
    let folder = tempfile::tempdir().unwrap();
    let tuner = process(folder.path(), &fake);
    tuner.report_failure(&fake, 2, &kernel_error("too many threads"), Policy::OnMiss);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, 1);
    let again = fast();
    assert_eq!(process(folder.path(), &again).choose(&again, Policy::OnMiss).variant, 1);
}

#[test]
fn a_wrong_candidate_however_fast_never_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut fake = Fake::new(&[1e-4, 1e-9]);
    fake.wrong = vec![1];
    assert_eq!(process(folder.path(), &fake).choose(&fake, Policy::OnMiss).variant, 0);
    // Not even when the file says so.
    let path = entry_path(folder.path(), &fake);
    let text = fs::read_to_string(&path).unwrap().replace("\"winner\": \"v0\"", "\"winner\": \"v1\"");
    fs::write(&path, text).unwrap();
    assert_eq!(process(folder.path(), &fake).choose(&fake, Policy::OnMiss).variant, 0);
}

#[test]
fn what_a_first_meeting_has_no_time_for_is_stored_as_the_default_kept_until_there_is_more() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new(&[0.5, 0.1]);
    let tuner = process(folder.path(), &fake);
    let kept = Choice { variant: 0, origin: Origin::Tuned };
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), kept);
    let samples = fake.samples();
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), kept);
    assert_eq!(fake.samples(), samples);
    let text = fs::read_to_string(entry_path(folder.path(), &fake)).unwrap();
    assert!(text.contains("\"inconclusive\"") && text.contains("too long"), "{text}");
    let again = Fake::new(&[0.5, 0.1]);
    let other = process(folder.path(), &again);
    assert_eq!(other.choose(&again, Policy::OnMiss), kept);
    assert_eq!(again.samples(), 0);
    // With more time it is settled; with less it is not tried.
    let effort = |seconds| Effort { budget: Duration::from_secs(seconds), wait: Duration::ZERO, force: false };
    assert_eq!(other.tune(&again, effort(1), &mut || ()).unwrap(), Tuning::Cached);
    assert_eq!(other.tune(&again, effort(40), &mut || ()).unwrap(), Tuning::Tuned);
    assert_eq!(other.choose(&again, Policy::OnMiss).variant, 1);
}

#[test]
fn a_device_that_goes_away_settles_nothing_and_is_not_asked_again_here() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::scripted(2, |_, _, _| Err(Error::new(ErrorKind::DeviceLost, "gone")));
    let tuner = process(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), DEFAULT);
    let samples = fake.samples();
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), DEFAULT);
    assert_eq!(fake.samples(), samples);
    assert!(!entry_path(folder.path(), &fake).exists());
}

#[test]
fn pinned_keeps_to_variants_that_round_like_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let fake = || {
        let mut fake = Fake::new(&[1e-4, 0.8e-4, 0.5e-4, 0.9e-4]);
        fake.roundings = vec!["exact", "exact", "fused", "exact"];
        fake
    };
    let first = fake();
    let tuner = process(folder.path(), &first);
    let pinned = Choice { variant: 1, origin: Origin::Tuned };
    assert_eq!(tuner.choose(&first, Policy::Pinned), pinned);
    assert_eq!(tuner.choose(&first, Policy::OnMiss), TUNED_2);
    // Another process: the same choice, unmeasured; and after a failure the next that rounds alike.
    let second = fake();
    let tuner = process(folder.path(), &second);
    assert_eq!(tuner.choose(&second, Policy::Pinned), pinned);
    assert_eq!(tuner.report_failure(&second, 1, &kernel_error("no"), Policy::Pinned), Some(3));
    assert_eq!(second.samples(), 0);
    // A default that fails hands over to its own kind first.
    assert_eq!(tuner.report_failure(&second, 3, &kernel_error("no"), Policy::Pinned), Some(0));
    assert_eq!(tuner.report_failure(&second, 0, &kernel_error("no"), Policy::Pinned), Some(2));
    assert_eq!(tuner.report_failure(&second, 2, &kernel_error("no"), Policy::Pinned), None);
}

#[test]
fn two_equal_cards_share_their_results_whatever_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let card = |index: usize| {
        let mut fake = fast();
        let name = format!("card {index}, slot {}", 3 - index);
        fake.facts = Some(DeviceFacts { name, ..DeviceFacts::bare(&fake.device, &fake.driver) });
        fake
    };
    let (first, second) = (card(0), card(1));
    process(folder.path(), &first).choose(&first, Policy::OnMiss);
    assert_eq!(process(folder.path(), &second).choose(&second, Policy::OnMiss), TUNED_2);
    assert_eq!(second.samples(), 0);
    // Another kind of card does not see them.
    let mut other = card(0);
    other.device = "other-silicon".into();
    process(folder.path(), &other).choose(&other, Policy::OnMiss);
    assert!(other.samples() > 0);
}

#[test]
fn what_was_timed_on_less_than_asked_is_measured_again_ahead_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = fast();
    process(folder.path(), &first).choose(&first, Policy::OnMiss);
    let mut whole = fast();
    whole.work.samples *= 2;
    let tuner = process(folder.path(), &whole);
    assert_eq!(tuner.choose(&whole, Policy::OnMiss), TUNED_2);
    assert_eq!(whole.samples(), 0);
    let effort = Effort { budget: Duration::from_secs(5), wait: Duration::ZERO, force: false };
    assert_eq!(tuner.tune(&whole, effort, &mut || ()).unwrap(), Tuning::Tuned);
    assert_eq!(tuner.tune(&whole, effort, &mut || ()).unwrap(), Tuning::Cached);
}

#[test]
fn a_near_class_tells_which_variants_would_take_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let slow = |class: &str, samples: u64| {
        let scale = samples as f64 / 1000.0;
        let mut fake = Fake::new(&[1e-3 * scale, 0.1 * scale, 0.5e-3 * scale]).class(class);
        (fake.work.channels, fake.work.samples, fake.setup) = (1, samples, 1e-3 * scale);
        fake
    };
    let small = slow("p--c0-s10", 1000);
    process(folder.path(), &small).choose(&small, Policy::OnMiss);
    // One run of v1 would take three times the budget: it is not even started.
    let large = slow("p--c0-s14", 30_000);
    let tuner = process(folder.path(), &large);
    assert_eq!(tuner.choose(&large, Policy::OnMiss).variant, 2);
    assert_eq!(large.timed.lock().unwrap()[1], 0);
    assert!(large.clock.now() < Duration::from_millis(1100), "{:?}", large.clock.now());
    // Nor is a problem made that would take longer than there is.
    let huge = slow("p--c0-s17", 130_000);
    let tuner = process(folder.path(), &huge);
    tuner.choose(&huge, Policy::OnMiss);
    assert!(huge.clock.now() < Duration::from_millis(10), "{:?}", huge.clock.now());
}

#[test]
fn a_busy_device_gives_the_default_and_is_asked_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let tuner = process(folder.path(), &fake);
    let lock = folder.path().join("tune/v1/fake-device/lock");
    let other = cache::Exclusion::default();
    let turn = other.try_take(&fake.device, Some(&lock)).unwrap();
    let busy = Choice { variant: 0, origin: Origin::Busy };
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), busy);
    // autotune waits as long as it may.
    let mut calls = 0;
    let effort = Effort { budget: Duration::from_secs(1), wait: Duration::from_secs(2), force: false };
    assert_eq!(tuner.tune(&fake, effort, &mut || calls += 1).unwrap(), Tuning::Busy);
    assert_eq!(calls, 100);
    drop(turn);
    assert_eq!(fake.samples(), 0);
    fake.clock.advance(2.0);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss), TUNED_2);
}

#[test]
fn without_locks_the_tuner_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    let settings = Settings { location: Location::At(folder.path().into()), locking: false, ..Settings::default() };
    assert_eq!(Tuner::new(settings).choose(&fake, Policy::OnMiss), TUNED_2);
    assert!(!folder.path().join("tune/v1/fake-device/lock").exists());
}

#[test]
fn threads_tune_a_class_once_and_nobody_waits() {
    let tuner = Tuner::new(Settings { location: Location::Memory, ..Settings::default() });
    let fake = Fake::scripted(2, |variant, repeats, _| {
        std::thread::sleep(Duration::from_millis(2));
        Ok([1e-4, 0.5e-4][variant] * f64::from(repeats))
    });
    let choices: Vec<Choice> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| tuner.choose(&fake, Policy::OnMiss))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(choices.iter().filter(|c| c.origin == Origin::Tuned).count(), 1, "{choices:?}");
    assert!(choices.iter().all(|c| c.variant == 0 || c.origin == Origin::Tuned), "{choices:?}");
    assert_eq!(fake.verified.load(Ordering::Relaxed), 2);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, 1);
}

#[test]
fn a_known_class_costs_less_than_a_microsecond() {
    let tuner = Tuner::new(Settings { location: Location::Memory, ..Settings::default() });
    let fake = fast();
    tuner.choose(&fake, Policy::OnMiss);
    let best = (0..50)
        .map(|_| {
            let start = Instant::now();
            (0..1000).for_each(|_| assert_eq!(std::hint::black_box(tuner.choose(&fake, Policy::OnMiss)), TUNED_2));
            start.elapsed() / 1000
        })
        .min();
    assert!(best < Some(Duration::from_micros(1)), "{best:?}");
}

#[test]
fn one_variant_is_no_choice() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new(&[1e-4]);
    assert_eq!(process(folder.path(), &fake).choose(&fake, Policy::OnMiss), DEFAULT);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn hostile_keys_stay_below_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("cache");
    for key in ["../../../x", "/tmp/x", "a\0b", "..", "", "con", &"n".repeat(3000)] {
        let mut fake = fast().class(&format!("{key}--c1-s1"));
        (fake.device, fake.operation) = (key.to_string(), key.to_string());
        assert_eq!(process(&inner, &fake).choose(&fake, Policy::OnMiss), TUNED_2);
        let mut again = fast().class(&fake.class);
        (again.device, again.operation) = (key.to_string(), key.to_string());
        assert_eq!(process(&inner, &again).choose(&again, Policy::OnMiss), TUNED_2);
        // A name with control characters is no name to keep: it is measured in each process.
        assert_eq!(again.samples() > 0, key.contains(char::is_control), "{key}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn flipped_bytes_never_panic_and_never_give_an_illegal_variant() {
    let folder = tempfile::tempdir().unwrap();
    let fake = fast();
    process(folder.path(), &fake).choose(&fake, Policy::OnMiss);
    let path = entry_path(folder.path(), &fake);
    let sound = fs::read(&path).unwrap();
    let mut state = 1u64;
    for round in 0..2000usize {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = sound.clone();
        let at = (state >> 33) as usize % bytes.len();
        bytes[at] ^= 1 << (round % 8);
        if let Ok(entry) = cache::Entry::parse(&bytes) {
            assert!(entry.candidates.iter().all(|c| c.seconds > 0.0 && c.ratio > 0.0 && c.ratio.is_finite()));
        }
        if round % 20 == 0 {
            fs::write(&path, &bytes).unwrap();
            let reader = fast();
            let choice = process(folder.path(), &reader).choose(&reader, Policy::Cached);
            assert!(choice.variant < 3);
        }
    }
}

#[test]
fn a_sweep_goes_from_small_to_large_within_its_budget() {
    let tuner = |clock: &fake::FakeClock| {
        Tuner::with_clock(Settings { location: Location::Memory, ..Settings::default() }, Box::new(clock.clone()))
    };
    let clock = fake::FakeClock::default();
    let tuner = tuner(&clock);
    let jobs = |clock: &fake::FakeClock| -> Vec<Job<'static>> {
        let sizes = [(8, 1000), (2, 10), (4, 100), (2, 10)];
        let clock = clock.clone();
        sizes
            .into_iter()
            .enumerate()
            .map(|(index, (channels, samples))| {
                let clock = clock.clone();
                let build = move || -> Result<Box<dyn Tunable>> {
                    if index == 3 {
                        return Err(Error::new(ErrorKind::Kernel, "does not compile"));
                    }
                    let mut fake = fast().class(&size_class(channels, samples, &[]));
                    fake.clock = clock;
                    Ok(Box::new(fake))
                };
                Job { operation: "fir".into(), channels, samples, build: Box::new(build) }
            })
            .collect()
    };
    let plan = Sweep { runtime: "cpu", budget: Duration::from_secs(300), force: false };
    let mut seen = Vec::new();
    let summary = sweep(&tuner, plan, jobs(&clock), &mut |p| seen.push((p.size, p.done, p.total)));
    assert_eq!((summary.sizes, summary.tuned, summary.cached, summary.skipped), (3, 3, 0, 0));
    assert_eq!(summary.failed, ["fir 2 x 10: does not compile"]);
    assert_eq!(seen.first(), Some(&((2, 10), 0, 4)));
    assert_eq!(seen.last(), Some(&((8, 1000), 4, 4)));
    assert!(summary.seconds > 0.0 && summary.benchmark_launches > 0);

    let again = sweep(&tuner, plan, jobs(&clock), &mut |_| ());
    assert_eq!((again.tuned, again.cached), (0, 3));
    let forced = sweep(&tuner, Sweep { force: true, ..plan }, jobs(&clock), &mut |_| ());
    assert_eq!((forced.tuned, forced.cached), (3, 0));
    let none = sweep(&tuner, Sweep { budget: Duration::ZERO, ..plan }, jobs(&clock), &mut |_| ());
    assert_eq!((none.skipped, none.sizes), (4, 3));
}
