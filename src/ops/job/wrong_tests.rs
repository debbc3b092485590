//! A variant that is wrong is rejected with the reason, is not timed afterwards and never wins, on any runtime.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::testing::{Faulty, Way};
use super::*;
use crate::ops::execute::with_tuner;
use crate::signal::{Dtype, Signal, ViewMut};
use crate::tune::cache::Location;
use crate::tune::{Effort, Origin, Policy, Settings, Tuner, Tuning};

const SHAPE: Shape = Shape { channels: 3, samples: 70_001 };
const PLANAR: Input = Input { dtype: Dtype::F32, interleaved: false };

fn tuner(location: Location) -> Tuner {
    Tuner::new(Settings { location, ..Settings::default() })
}

fn at(folder: &Path) -> Location {
    Location::At(folder.to_path_buf())
}

fn tune(tuner: &Tuner, job: &Job<'_>) {
    let effort = Effort { budget: Duration::from_secs(120), wait: Duration::ZERO, force: false };
    assert_eq!(tuner.tune(job, effort, &mut || ()).unwrap(), Tuning::Tuned);
}

/// The one entry of a store.
fn entry(folder: &Path) -> (std::path::PathBuf, serde_json::Value) {
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if let Ok(value) = serde_json::from_slice::<serde_json::Value>(&std::fs::read(&path).unwrap())
                && value["winner"].is_string()
            {
                return (path, value);
            }
        }
    }
    panic!("no entry was stored");
}

/// What must be said of each way to be wrong.
const REASONS: [(&str, &str); 11] = [
    ("one-bit-off", "rounds differently from 'right TILE=24 WG=8', with which it is declared to round identically"),
    ("nothing", "is NaN, expected"),
    ("zeros", "is 0, expected"),
    ("stops", "sample 65535 is 0, expected"),
    ("outside", "values were written"),
    ("spoils-input", "the input was changed"),
    ("last-tile", "expected"),
    ("chance", "two runs on the same input give different results"),
    ("fresh-scratch", "is NaN, expected 0"),
    ("fails", "it does not compile here"),
    ("nan", "channel 1 has NaN where the input has none"),
];

fn check_rejections(target: Target) {
    let faulty = Faulty::new("faulty", &Way::ALL, &[8]);
    let folder = tempfile::tempdir().unwrap();
    let job = Job::new(&faulty, target, SHAPE, PLANAR);
    let wrong = |name: &str| !["right", "kernel"].contains(&name.split(' ').next().unwrap_or_default());
    let known = tuner(at(folder.path()));
    tune(&known, &job);
    let (_, entry) = entry(folder.path());
    let rejected = entry["rejected"].as_array().unwrap();
    assert_eq!(rejected.len(), job.variants().iter().filter(|name| wrong(name)).count(), "{entry:#}");
    for (method, reason) in REASONS {
        let Some(name) = job.variants().iter().find(|name| name.starts_with(&format!("{method} "))) else { continue };
        let found = rejected.iter().find(|r| r["variant"] == **name).unwrap_or_else(|| panic!("{name}: {entry:#}"));
        let said = found["reason"].as_str().unwrap();
        assert!(said.contains(reason), "{name}: {said}");
        // What only full length shows is run there once.
        let at_length = faulty.runs_of(method).iter().filter(|shape| **shape == SHAPE).count();
        assert_eq!(at_length, usize::from(["stops", "nan"].contains(&method)), "{name}");
        assert!(!entry["candidates"].as_array().unwrap().iter().any(|c| c["variant"] == **name), "{name}");
    }
    assert!(!wrong(entry["winner"].as_str().unwrap()), "{entry:#}");
    let later = tuner(at(folder.path()));
    for tuner in [&known, &later] {
        let choice = tuner.choose(&job, Policy::OnMiss);
        assert!(choice.origin == Origin::Tuned && !wrong(&job.variants()[choice.variant]));
    }
}

#[test]
fn wrong_variants_never_win_on_the_cpu() {
    check_rejections(Target::Cpu);
}

#[cfg(feature = "wgpu")]
#[test]
fn wrong_variants_never_win_on_wgpu() {
    let Some(gpu) = crate::runtime::testing::test_gpu() else { return };
    check_rejections(Target::Gpu(gpu));
}

/// The same where the wrong ones come first, so that one of them is the default.
#[test]
fn a_wrong_default_gives_way() {
    let faulty = Faulty::new("faulty-default", &[Way::Zeros, Way::Stops, Way::Right], &[8]);
    let job = Job::new(&faulty, Target::Cpu, SHAPE, PLANAR);
    let tuner = tuner(Location::Memory);
    tune(&tuner, &job);
    assert_eq!(tuner.choose(&job, Policy::OnMiss).variant, 2);
}

/// Runs a job's variants for real until one succeeds.
fn run(tuner: &Tuner, faulty: &Faulty, x: &Signal) -> Result<Signal> {
    let mut y = Signal::zeros(x.channels(), x.samples())?;
    y.view_mut().data_mut().fill(f32::NAN);
    let source: Source<'_> = x.into();
    let mut out: ViewMut<'_> = y.view_mut();
    with_tuner(tuner, Policy::Cached, &Job::cpu(faulty, &source), |v| faulty.run_cpu(v, source, out.reborrow(), None))?;
    Ok(y)
}

#[test]
fn a_variant_that_fails_in_use_leaves_no_output_unwritten() {
    let x = Data::noise(Shape { channels: 3, samples: 1001 }, PLANAR, 3);
    let x = Signal::from_source(x.source()).unwrap();
    let faulty = Faulty::new("faulty-use", &[Way::FailsArmed, Way::Fails, Way::Right], &[8]);
    let tuner = tuner(Location::Memory);
    let before = run(&tuner, &faulty, &x).unwrap();
    faulty.armed.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(run(&tuner, &faulty, &x).unwrap(), before);
    }
    // Each failure is met once: then the variant is known.
    assert_eq!((faulty.runs_of("fails-armed").len(), faulty.runs_of("fails").len()), (2, 1));

    let hopeless = Faulty::new("faulty-hopeless", &[Way::Fails, Way::FailsArmed], &[8]);
    hopeless.armed.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        assert_eq!(run(&tuner, &hopeless, &x).unwrap_err().kind(), ErrorKind::Kernel);
    }
}

#[cfg(feature = "gpu")]
mod on_a_scripted_device {
    use std::sync::Arc;

    use super::*;
    use crate::runtime::gpu::Gpu;
    use crate::runtime::null::{Call, NullGpu};

    #[test]
    fn a_launch_that_fails_in_use_is_followed_by_one_that_does_not() {
        let null = Arc::new(NullGpu::new());
        let gpu: Arc<dyn Gpu> = null.clone();
        let faulty = Faulty::new("faulty-launch", &[Way::Right], &[8, 16]);
        let data = Data::noise(Shape { channels: 3, samples: 1001 }, PLANAR, 3);
        let (x, tuner) = (DeviceArray::upload(&gpu, data.source()).unwrap(), tuner(Location::Memory));
        null.fail(Call::Launch, 0, ErrorKind::Kernel);
        let y = x.like().unwrap();
        let job = Job::gpu(&faulty, &x);
        with_tuner(&tuner, Policy::Cached, &job, |v| faulty.run_gpu(gpu.as_ref(), v, &x, &y, None)).unwrap();
        let launched: Vec<String> = null.take_launches().iter().map(|l| l.kernel.text.clone()).collect();
        assert_eq!(launched, ["right TILE=24 WG=16"]);
        let expected = faulty.reference(data.source(), None).unwrap();
        let host = y.download().unwrap();
        (0..3).for_each(|c| compare(host.row(c), &expected[c * 1001..][..1001], 8.0, faulty.tolerance()).unwrap());
        for at in 0..2 {
            null.fail(Call::Launch, at, ErrorKind::Kernel);
        }
        let failed = with_tuner(&tuner, Policy::Cached, &job, |v| faulty.run_gpu(gpu.as_ref(), v, &x, &y, None));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Kernel);
    }

    /// A store may name a winner that this device cannot launch.
    #[test]
    fn a_stored_winner_too_large_for_the_device_is_not_launched() {
        let mut facts = NullGpu::new().facts().clone();
        facts.limits.group_size = 256;
        let null: Arc<dyn Gpu> = Arc::new(NullGpu::with_facts(facts));
        let faulty = Faulty::new("faulty-store", &[Way::Right], &[64, 256, 1024]);
        let shape = Shape { channels: 3, samples: 1001 };
        let job = Job::new(&faulty, Target::Gpu(null), shape, PLANAR);
        assert_eq!(job.variants(), ["right TILE=24 WG=64", "right TILE=24 WG=256"]);
        for winner in ["right TILE=24 WG=1024", "no such kernel"] {
            let folder = tempfile::tempdir().unwrap();
            tune(&tuner(at(folder.path())), &job);
            let (path, mut stored) = entry(folder.path());
            let text = stored.to_string().replace("right TILE=24 WG=64", winner);
            stored = serde_json::from_str(&text).unwrap();
            stored["winner"] = winner.into();
            std::fs::write(&path, stored.to_string()).unwrap();
            let choice = tuner(at(folder.path())).choose(&job, Policy::OnMiss);
            assert_eq!(job.variants()[choice.variant], "right TILE=24 WG=256", "{stored:#}");
        }
    }
}
