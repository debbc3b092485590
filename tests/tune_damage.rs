//! A damaged store: right answers, one warning that names the file, and a sound store afterwards.

mod tune_support;

use std::fs;
use std::path::{Path, PathBuf};

use dspk::tune::{Origin, Policy};
use tune_support::{Scripted, files, process, warnings};

const WINNER: usize = 1;

fn entry(cache: &Path) -> PathBuf {
    cache.join("tune/v1/scripted/fir/taps64-f32--c7-s15.json")
}

/// A sound entry, as text.
fn sound(cache: &Path) -> String {
    let fake = Scripted::new("fir");
    assert_eq!(process(cache).choose(&fake, Policy::OnMiss).variant, WINNER);
    fs::read_to_string(entry(cache)).unwrap()
}

/// One process on whatever stands there; gives its warnings.
fn meets(cache: &Path) -> Vec<String> {
    let tuner = process(cache);
    let fake = Scripted::new("fir");
    for _ in 0..3 {
        let choice = tuner.choose(&fake, Policy::OnMiss);
        assert_eq!((choice.variant, choice.origin), (WINNER, Origin::Tuned));
    }
    assert!(fake.timed() > 0, "damage must be measured again");
    warnings(cache)
}

/// A second process: silent, and without any measuring.
fn is_silent(cache: &Path) {
    let fake = Scripted::new("fir");
    let choice = process(cache).choose(&fake, Policy::OnMiss);
    assert_eq!((choice.variant, choice.origin), (WINNER, Origin::Tuned));
    assert_eq!(fake.timed(), 0);
    assert_eq!(warnings(cache), [""; 0]);
}

fn check(damage: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    assert_eq!(warnings(cache), [""; 0]);
    sound(cache);
    let path = entry(cache);
    fs::write(&path, damage).unwrap();
    let said = meets(cache);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(&path.display().to_string()), "{said:?}");
    let aside = path.with_extension("json.damaged");
    assert_eq!(fs::read(aside).unwrap(), damage);
    is_silent(cache);
}

fn altered(from: &str, to: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let text = sound(folder.path());
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1).into_bytes()
}

/// The first recorded time replaced by `value`.
fn timing(value: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let text = sound(folder.path());
    let start = text.find("\"seconds\": ").unwrap() + "\"seconds\": ".len();
    let end = start + text[start..].find(',').unwrap();
    format!("{}{value}{}", &text[..start], &text[end..]).into_bytes()
}

#[test]
fn empty() {
    check(b"");
}

#[test]
fn cut_in_half() {
    let folder = tempfile::tempdir().unwrap();
    let text = sound(folder.path());
    check(&text.as_bytes()[..text.len() / 2]);
}

#[test]
fn random_bytes() {
    let mut state = 42u64;
    let bytes: Vec<u8> = (0..4096)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    check(&bytes);
}

#[test]
fn not_utf8() {
    check(b"{\"schema\": 1, \"device\": \"\xff\xfe\"}");
}

#[test]
fn another_schema_inside() {
    check(&altered("\"schema\": 1", "\"schema\": 2"));
}

#[test]
fn another_operation_inside() {
    check(&altered("\"fir\"", "\"iir\""));
}

#[test]
fn times_that_are_none() {
    for value in ["NaN", "-1.0", "0.0", "1e999", "null", "\"1\""] {
        check(&timing(value));
    }
}

/// Where a damaged file cannot even be renamed, there is still one warning, and the result stays in memory.
#[test]
fn damage_that_cannot_be_moved_is_warned_about_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    sound(cache);
    let path = entry(cache);
    fs::write(&path, b"damage").unwrap();
    let aside = path.with_extension("json.damaged");
    fs::create_dir_all(aside.join("in the way")).unwrap();
    let said = meets(cache);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(fs::read(&path).unwrap(), b"damage");
}

#[test]
fn a_directory_in_its_place_keeps_the_result_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path();
    let path = entry(cache);
    fs::create_dir_all(&path).unwrap();
    warnings(cache);
    for _ in 0..2 {
        let said = meets(cache);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(&path.display().to_string()));
    }
    assert!(path.is_dir());
}

#[test]
fn nowhere_to_write_keeps_results_in_memory_with_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("file");
    fs::write(&cache, b"not a folder").unwrap();
    warnings(&cache);
    let tuner = process(&cache);
    for operation in ["fir", "iir", "fft"] {
        let fake = Scripted::new(operation);
        assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, WINNER);
        let samples = fake.timed();
        assert_eq!(tuner.choose(&fake, Policy::OnMiss).variant, WINNER);
        assert_eq!(fake.timed(), samples);
    }
    let said = warnings(&cache);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(fs::read(&cache).unwrap(), b"not a folder");
}

#[test]
fn a_winner_that_cannot_run_here_gives_way_to_the_next_with_one_warning() {
    for (from, to) in
        [("\"winner\": \"tiled R=4\"", "\"winner\": \"no such kernel\""), ("\"tiled R=4\"", "\"tiled R=64\"")]
    {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path();
        let text = sound(cache).replace(from, to);
        fs::write(entry(cache), text).unwrap();
        let fake = Scripted::new("fir");
        warnings(cache);
        let tuner = process(cache);
        let choices: Vec<usize> = (0..3).map(|_| tuner.choose(&fake, Policy::OnMiss).variant).collect();
        assert!(choices.iter().all(|&v| v == choices[0] && v < 3), "{choices:?}");
        assert_eq!(fake.timed(), 0);
        let said = warnings(cache);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(&entry(cache).display().to_string()), "{said:?}");
        assert_eq!(files(cache).iter().filter(|f| f.to_string_lossy().ends_with(".damaged")).count(), 0);
    }
}
