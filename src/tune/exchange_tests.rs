//! Results carried from one machine to another.

use std::path::Path;

use super::super::fake::Fake;
use super::*;
use crate::ErrorKind;
use crate::tune::{Effort, Location, Origin, Policy, Settings, Tuning};

fn tuner(folder: &Path, fake: &Fake) -> Tuner {
    let settings = Settings { location: Location::At(folder.into()), ..Settings::default() };
    Tuner::with_clock(settings, Box::new(fake.clock.clone()))
}

/// A choice of which the second variant is the best.
fn fake() -> Fake {
    Fake::new(&[1e-4, 0.5e-4, 0.8e-4])
}

/// What a machine that has measured the choice exports, as text.
fn exported() -> String {
    let (folder, fake) = (tempfile::tempdir().unwrap(), fake());
    let tuner = tuner(folder.path(), &fake);
    assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, 1);
    Collection::new(tuner.results()).to_text().unwrap()
}

fn import(tuner: &Tuner, text: &str, devices: &[&str], force: bool) -> ImportSummary {
    let devices: Vec<String> = devices.iter().map(|d| d.to_string()).collect();
    tuner.import(&Collection::parse(text).unwrap(), &devices, force, &|_| true)
}

#[test]
fn another_machine_uses_what_was_exported_without_a_launch() {
    let (folder, here) = (tempfile::tempdir().unwrap(), fake());
    let text = exported();
    let summary = import(&tuner(folder.path(), &here), &text, &["fake-device"], false);
    assert_eq!(summary, ImportSummary { imported: 1, ..ImportSummary::default() });

    // The next process there.
    let tuner = tuner(folder.path(), &here);
    let choice = tuner.choose(&here, Policy::OnMiss);
    assert_eq!((choice.variant, choice.origin), (1, Origin::Tuned));
    assert_eq!(here.samples(), 0);
    assert!(here.verified.load(std::sync::atomic::Ordering::Relaxed) > 0, "an imported winner is verified before use");
    let results = tuner.results();
    assert!(results[0].entries[0].imported);
    assert_eq!(results[0].facts.device, "fake-device");
}

#[test]
fn an_imported_winner_that_is_wrong_here_is_not_used() {
    let (folder, mut here) = (tempfile::tempdir().unwrap(), fake());
    here.wrong = vec![1];
    let tuner = tuner(folder.path(), &here);
    import(&tuner, &exported(), &["fake-device"], false);
    assert_ne!(tuner.choose(&here, Policy::OnMiss).variant, 1);
}

#[test]
fn own_results_stay_unless_forced_and_imported_ones_are_replaced() {
    let (folder, here) = (tempfile::tempdir().unwrap(), Fake::new(&[0.5e-4, 1e-4, 0.2e-4]));
    let first = tuner(folder.path(), &here);
    let effort =
        Effort { budget: std::time::Duration::from_secs(1), wait: std::time::Duration::from_secs(1), force: false };
    assert_eq!(first.tune(&here, effort, &mut || ()).unwrap(), Tuning::Tuned);
    let winner = |tuner: &Tuner| tuner.results()[0].entries[0].winner.clone();
    let text = exported();
    let summary = import(&tuner(folder.path(), &here), &text, &["fake-device"], false);
    assert_eq!(summary, ImportSummary { kept: 1, ..ImportSummary::default() });
    assert_eq!(winner(&first), "v2");
    assert_eq!(import(&tuner(folder.path(), &here), &text, &["fake-device"], true).imported, 1);
    assert_eq!(winner(&first), "v1");
    assert_eq!(import(&tuner(folder.path(), &here), &text, &["fake-device"], false).imported, 1);
}

#[test]
fn other_devices_and_other_versions_are_left_out() {
    let (folder, here) = (tempfile::tempdir().unwrap(), fake());
    let (tuner, text) = (tuner(folder.path(), &here), exported());
    let summary = import(&tuner, &text, &["another"], false);
    assert_eq!(summary, ImportSummary { other_devices: vec!["fake-device".into()], ..ImportSummary::default() });
    let collection = Collection::parse(&text).unwrap();
    let summary = tuner.import(&collection, &["fake-device".into()], false, &|_| false);
    assert_eq!(summary, ImportSummary { other_version: 1, ..ImportSummary::default() });
    assert!(tuner.results().is_empty());
    assert_eq!(import(&tuner, &text, &["another"], true).imported, 1);
}

#[test]
fn a_text_is_read_back_as_it_was() {
    let text = exported();
    let collection = Collection::parse(&text).unwrap();
    assert_eq!(collection.to_text().unwrap(), text);
    assert_eq!(Collection::read(text.as_bytes()).unwrap(), collection);
    assert!(collection.made_by.starts_with("dspk "));
}

#[test]
fn what_is_no_collection_is_an_error_that_says_so() {
    let text = exported();
    let refused = |text: &str| {
        let error = Collection::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    };
    for damaged in ["", "null", "{}", "[]", "hello", &text[..text.len() / 2], &"[".repeat(100_000)] {
        assert!(refused(damaged).contains("these are no tuning results"));
    }
    assert!(refused(&text.replace("\"schema\": 1", "\"schema\": 2")).contains("schema 2"));
    assert!(refused(&text.replacen("fake-device", "other", 1)).contains("is listed under"));
    let entry = |from: &str, to: &str| {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        refused(&changed)
    };
    entry("\"won\"", "\"lost\"");
    entry("\"winner\": \"v1\"", &format!("\"winner\": \"{}\"", "x".repeat(1 << 20)));
    entry("\"spread\": 0.0", "\"spread\": -1.0");
    entry("\"spread\": 0.0", "\"spread\": 1e999");
    entry("\"rounds\": ", "\"rounds\": -");
}

#[test]
fn endless_and_unreadable_files_end_in_an_error() {
    let error = Collection::read(std::io::repeat(b' ')).unwrap_err();
    assert!(error.kind() == ErrorKind::InvalidArgument && error.to_string().contains("bytes are not read"), "{error}");
    assert!(Collection::read(&[0xff, 0xc3, 0x00][..]).unwrap_err().kind().is_usage());

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    assert_eq!(Collection::read(Broken).unwrap_err().kind(), ErrorKind::Io);
}
