//! Results shipped with dspk, `tuning/devices/*.json`: where a device has no results of its own, the best variants of the
//! same device elsewhere, of its architecture, or of its vendor, in this order.
//!
//! They may be of an older version of the kernels, so nothing of their times is believed; a variant they name must be
//! legal for the problem at hand and is verified before its first use.

use std::sync::LazyLock;

use super::cache::{DeviceFacts, DeviceResults};
use super::{Collection, Tunable, class};

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        /// The files, by name.
        pub(crate) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../tuning/devices/", $name)))),+];
    };
}

files!["cpu-x86_64-avx512.json", "wgpu-lavapipe-256.json"];

static DEVICES: LazyLock<Vec<DeviceResults>> = LazyLock::new(|| {
    // The tests check the files; a build with a damaged one does without it.
    FILES.iter().filter_map(|(_, text)| Collection::parse(text).ok()).flat_map(|file| file.devices).collect()
});

/// How much a shipped device has in common with this one: less is more; `None` = too little.
fn kinship(shipped: &DeviceFacts, here: &DeviceFacts) -> Option<u8> {
    let same = |a: &str, b: &str| !a.is_empty() && !a.eq_ignore_ascii_case("unknown") && a == b;
    if shipped.runtime != here.runtime || shipped.software != here.software {
        return None;
    }
    if same(&shipped.device, &here.device) {
        Some(0)
    } else if same(&shipped.architecture, &here.architecture) {
        Some(1)
    } else if same(&shipped.vendor, &here.vendor) {
        Some(2)
    } else {
        None
    }
}

/// The variants that are best on the most closely related device at the nearest class; empty if none is known.
pub(crate) fn merit(tunable: &dyn Tunable) -> Vec<String> {
    merit_among(&DEVICES, tunable)
}

fn merit_among(devices: &[DeviceResults], tunable: &dyn Tunable) -> Vec<String> {
    let here = tunable.facts();
    let legal = |names: &[String]| names.iter().any(|name| tunable.variants().contains(name));
    devices
        .iter()
        .filter_map(|device| Some((kinship(&device.facts, &here)?, device)))
        .flat_map(|(kinship, device)| device.entries.iter().map(move |entry| (kinship, entry)))
        .filter(|(_, entry)| entry.operation == tunable.operation())
        .filter_map(|(kinship, entry)| {
            Some(((kinship, class::distance(&entry.class, tunable.class())?), entry.merit()))
        })
        .filter(|(_, merit)| legal(merit))
        .min_by_key(|(order, _)| *order)
        .map(|(_, merit)| merit)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;
    use crate::tune::{Location, Policy, Settings, Tuner};

    /// Results of a device on which the second variant is the best.
    fn device(key: &str, architecture: &str, vendor: &str, best: f64, class: &str) -> DeviceResults {
        let mut fake = Fake::new(&[1e-4, best, 0.9e-4]).class(class);
        fake.device = key.into();
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { location: Location::At(folder.path().into()), ..Settings::default() };
        Tuner::with_clock(settings.clone(), Box::new(fake.clock.clone())).choose(&fake, Policy::OnMiss);
        let mut results = Tuner::new(settings).results().remove(0);
        results.facts.runtime = "wgpu".into();
        results.facts.architecture = architecture.into();
        results.facts.vendor = vendor.into();
        results
    }

    fn asked(devices: &[DeviceResults], key: &str, architecture: &str, vendor: &str) -> Vec<String> {
        let mut fake = Fake::new(&[1.0; 3]).class("p--c7-s15");
        fake.device = key.into();
        fake.facts = Some(DeviceFacts {
            runtime: "wgpu".into(),
            architecture: architecture.into(),
            vendor: vendor.into(),
            ..DeviceFacts::bare(key, "1")
        });
        merit_among(devices, &fake)
    }

    #[test]
    fn the_closest_relative_is_asked_first() {
        let devices = [
            device("other", "arch", "maker", 0.3e-4, "p--c7-s15"),
            device("card", "arch", "maker", 2e-4, "p--c8-s16"),
            device("third", "arch2", "maker", 0.2e-4, "p--c7-s15"),
        ];
        assert_eq!(asked(&devices, "card", "arch", "maker")[0], "v2");
        assert_eq!(asked(&devices, "new", "arch", "maker")[0], "v1");
        assert_eq!(asked(&devices, "new", "arch3", "maker")[0], "v1");
        assert_eq!(asked(&devices, "new", "arch3", "other"), [""; 0]);
        assert_eq!(asked(&devices, "new", "unknown", "unknown"), [""; 0]);
    }
}
