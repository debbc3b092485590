//! A real job, verified and timed by the real tuner on a device whose clock follows a script.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::testing::{Faulty, Way};
use super::*;
use crate::runtime::gpu::Gpu;
use crate::runtime::null::{Call, NullGpu};
use crate::signal::Dtype;
use crate::tune::cache::Location;
use crate::tune::{Clock, Effort, Policy, Settings, Tuner, Tuning};

/// A wall clock that moves with the device's.
#[derive(Clone, Default)]
struct Wall(Arc<AtomicU64>);

impl Clock for Wall {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A device on which a run of the default and of two others takes a scripted time.
struct Bench {
    gpu: Arc<NullGpu>,
    wall: Wall,
    /// `(variant, repeats)` of all readings.
    seen: Arc<Mutex<Vec<(usize, u32)>>>,
    faulty: Faulty,
}

const NAMES: [&str; 3] = ["right TILE=24 WG=8", "right TILE=24 WG=16", "right TILE=24 WG=32"];

impl Bench {
    /// `script`: variant, repeats, readings of this variant so far; gives seconds.
    fn new(name: &'static str, script: impl Fn(usize, f64, usize) -> f64 + Send + 'static) -> Bench {
        Self::of(Faulty::new(name, &[Way::Right], &[8, 16, 32]), script)
    }

    fn of(faulty: Faulty, script: impl Fn(usize, f64, usize) -> f64 + Send + 'static) -> Bench {
        let bench = Bench { gpu: Arc::new(NullGpu::new()), wall: Wall::default(), seen: Arc::default(), faulty };
        let (wall, seen) = (bench.wall.clone(), bench.seen.clone());
        bench.gpu.set_timer(move |kernel, repeats| {
            let variant = NAMES.iter().position(|name| kernel.text == *name).unwrap_or(NAMES.len());
            let mut seen = seen.lock().unwrap();
            let before = seen.iter().filter(|(v, _)| *v == variant).count();
            seen.push((variant, repeats));
            let reading = script(variant, f64::from(repeats), before);
            let passes = if reading.is_finite() { reading.clamp(1e-6, 1e3) } else { 1e-6 };
            wall.0.fetch_add((passes * 1e9) as u64, Ordering::Relaxed);
            reading
        });
        bench
    }

    fn job(&self) -> Job<'_> {
        let gpu: Arc<dyn Gpu> = self.gpu.clone();
        let shape = Shape { channels: 3, samples: 5000 };
        Job::new(&self.faulty, Target::Gpu(gpu), shape, Input { dtype: Dtype::F32, interleaved: false })
    }

    fn tune(&self) -> (crate::Result<Tuning>, Tuner) {
        let settings = Settings { location: Location::Memory, ..Settings::default() };
        let tuner = Tuner::with_clock(settings, Box::new(self.wall.clone()));
        let effort = Effort { budget: Duration::from_secs(2), wait: Duration::ZERO, force: false };
        (tuner.tune(&self.job(), effort, &mut || ()), tuner)
    }

    /// The name of the variant that is chosen after tuning.
    fn winner(&self) -> String {
        let (tuning, tuner) = self.tune();
        assert_eq!(tuning.unwrap(), Tuning::Tuned);
        let job = self.job();
        job.variants()[tuner.choose(&job, Policy::OnMiss).variant].clone()
    }

    fn readings(&self, variant: usize) -> usize {
        self.seen.lock().unwrap().iter().filter(|(v, _)| *v == variant).count()
    }
}

#[test]
fn the_fastest_wins() {
    assert_eq!(Bench::new("null-fast", |v, n, _| [2e-4, 1e-4, 1.5e-4][v] * n).winner(), NAMES[1]);
    assert_eq!(Bench::new("null-equal", |_, n, _| 2e-4 * n).winner(), NAMES[0]);
    assert_eq!(Bench::new("null-close", |v, n, _| [2e-4, 1.96e-4, 1.97e-4][v] * n).winner(), NAMES[0]);
}

#[test]
fn one_lucky_sample_and_stalls_decide_nothing() {
    let lucky = |v: usize, n: f64, before: usize| 2e-4 * n * if v == 1 && before == 5 { 0.01 } else { 1.0 };
    assert_eq!(Bench::new("null-lucky", lucky).winner(), NAMES[0]);
    let outliers =
        |v: usize, n: f64, before: usize| [2e-4, 1e-4, 2e-4][v] * n * if v == 1 && before % 4 == 3 { 6.0 } else { 1.0 };
    assert_eq!(Bench::new("null-outliers", outliers).winner(), NAMES[1]);
}

#[test]
fn drift_decides_nothing() {
    let step = AtomicU64::new(0);
    let slower =
        move |_: usize, n: f64, _: usize| 2e-4 * n * (1.0 + step.fetch_add(1, Ordering::Relaxed) as f64 / 15.0);
    assert_eq!(Bench::new("null-drift", slower).winner(), NAMES[0]);
}

#[test]
fn coarse_ticks_get_longer_samples() {
    let tick = |v: usize, n: f64, _: usize| ([1e-4, 0.6e-4, 1e-4][v] * n / 1e-3).floor() * 1e-3;
    let bench = Bench::new("null-ticks", tick);
    assert_eq!(bench.winner(), NAMES[1]);
    let longest = bench.seen.lock().unwrap().iter().map(|(_, repeats)| *repeats).max();
    assert!(longest.unwrap() >= 150, "{longest:?} repeats");
}

#[test]
fn readings_that_are_none_are_void() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let now_and_then = move |v: usize, n: f64, before: usize| {
            if v == 1 && before % 3 == 2 { bad } else { [2e-4, 1e-4, 2e-4][v] * n }
        };
        assert_eq!(Bench::new("null-void", now_and_then).winner(), NAMES[1], "{bad}");
        let always = move |v: usize, n: f64, _: usize| if v == 1 { bad } else { [2e-4, 0.0, 1e-4][v] * n };
        assert_eq!(Bench::new("null-always-void", always).winner(), NAMES[2], "{bad}");
    }
    let (tuning, _) = Bench::new("null-still", |_, _, _| 0.0).tune();
    assert!(tuning.unwrap_err().to_string().contains("no usable reading"));
}

#[test]
fn a_stall_or_a_lost_device_settles_nothing() {
    let stalls =
        Bench::new("null-stall", |v, n, before| [2e-4, 1e-4, 2e-4][v] * n + if before == 4 { 5.0 } else { 0.0 });
    assert!(matches!(stalls.tune().0.unwrap(), Tuning::Inconclusive(reason) if reason.contains("budget ended")));
    let lost = Bench::new("null-lost", |v, n, _| [2e-4, 1e-4, 2e-4][v] * n);
    // Well after the first verification has begun, and before the last.
    lost.gpu.fail(Call::Launch, 60, ErrorKind::DeviceLost);
    assert!(matches!(lost.tune().0.unwrap(), Tuning::Abandoned(_)));
    let choice = lost.tune().1.choose(&lost.job(), Policy::Cached);
    assert_eq!(choice.variant, 0);
}

#[test]
fn wrong_and_failing_variants_do_not_win_however_fast() {
    let ways =
        [Way::Right, Way::Nothing, Way::Zeros, Way::Chance, Way::FreshScratch, Way::Outside, Way::Nan, Way::Fails];
    let faulty = Faulty::new("null-wrong", &ways, &[8]);
    let bench = Bench::of(faulty, |v, n, _| if v == 0 { 2e-4 * n } else { 1e-9 });
    assert_eq!(bench.winner(), NAMES[0]);
    // Only what full length shows was timed, once.
    assert_eq!(bench.readings(NAMES.len()), 1);
}

#[test]
fn a_launch_that_fails_in_the_race_takes_its_variant_out() {
    let counted = Bench::new("null-race", |v, n, _| [2e-4, 1e-4, 1.5e-4][v] * n);
    assert_eq!(counted.winner(), NAMES[1]);
    // The second variant's first launch after the third has been met is in the first round: that one fails.
    let launches = counted.gpu.take_launches();
    let met = launches.iter().position(|l| l.kernel.text == NAMES[2]).unwrap();
    let at = met + launches[met..].iter().position(|l| l.kernel.text == NAMES[1]).unwrap();
    let bench = Bench::new("null-race-fails", |v, n, _| [2e-4, 1e-4, 1.5e-4][v] * n);
    bench.gpu.fail(Call::Launch, at as u64, ErrorKind::Kernel);
    assert_eq!(bench.winner(), NAMES[2]);
}
