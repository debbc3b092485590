//! The results that come with dspk: every file is sound, known to the build, and legal where it says it was measured.

use std::path::Path;
use std::sync::Arc;

use crate::ops::job::Job;
use crate::ops::problem::Shape;
use crate::ops::registry;
use crate::runtime::Target;
use crate::runtime::gpu::{DeviceClass, Facts, Gpu, Limits};
use crate::runtime::null::NullGpu;
use crate::tune::shipped::FILES;
use crate::tune::{Collection, DeviceFacts, Entry, Tunable};

#[test]
fn every_file_is_compiled_in_and_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tuning/devices");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    assert_eq!(names, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for &(name, text) in FILES {
        let collection = Collection::parse(text).unwrap();
        assert!(!collection.devices.is_empty(), "{name}");
        for device in &collection.devices {
            let facts = &device.facts;
            assert!(["cpu", "wgpu", "cuda", "hip"].contains(&facts.runtime.as_str()), "{name}");
            let said = [&facts.device, &facts.architecture, &facts.vendor, &facts.name, &facts.date];
            assert!(said.iter().all(|text| !text.is_empty()), "{name}: {facts:?}");
            assert!(facts.copy_bytes_per_second.is_some() && !device.entries.is_empty(), "{name}");
            device.entries.iter().for_each(|entry| check(name, facts, entry));
        }
    }
}

/// The operation is known, and everything that was timed is a legal variant of one of its problems at that size.
fn check(file: &str, facts: &DeviceFacts, entry: &Entry) {
    let what = format!("{file}: {} {}", entry.operation, entry.class);
    let operation = registry::entry(&entry.operation).unwrap_or_else(|| panic!("{what}: unknown operation"));
    let work = entry.work;
    let shape = Shape { channels: work.channels as usize, samples: work.samples as usize };
    let parameters = entry.class.split("--").next().unwrap();
    let mut known = Vec::new();
    for r in (operation.representatives)().unwrap() {
        let job = Job::standing_for(&r, target(facts), shape);
        if job.class().starts_with(parameters) {
            known.extend_from_slice(job.variants());
        }
    }
    for name in entry.candidates.iter().map(|c| &c.variant).chain([&entry.winner]) {
        assert!(known.contains(name), "{what}: {name} is not among {known:?}");
    }
    assert!(entry.candidates.iter().any(|c| c.variant == entry.winner), "{what}: a winner without evidence");
}

/// A stand-in for the device: what a variant's legality asks of it.
fn target(facts: &DeviceFacts) -> Target {
    if facts.runtime == "cpu" {
        return Target::Cpu;
    }
    let plain = NullGpu::new();
    let class = if facts.software { DeviceClass::Cpu } else { DeviceClass::Discrete };
    let subgroups = if facts.software { Some((8, 8)) } else { plain.facts().subgroups };
    let limits = Limits { binding_bytes: 1 << 30, buffer_bytes: 1 << 30, ..plain.facts().limits };
    Target::Gpu(Arc::new(NullGpu::with_facts(Facts { class, subgroups, limits, ..plain.facts().clone() })))
}
