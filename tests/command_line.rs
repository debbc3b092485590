//! The `dspk` binary: exit status, streams and files.
#![cfg(feature = "cli")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use dspk::design::{Band, butter, sosfilt_zi};
use dspk::io::npy;
use dspk::ops::command::{Array, NdArray};

fn dspk(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dspk"))
        .args(args)
        .current_dir(dir)
        .env_remove("DSPK_LOG")
        .env_remove("DSPK_RUNTIME")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The message of a run that must fail with `status`, one line, and must leave no file.
fn failure(args: &[&str], status: i32) -> String {
    let dir = tempfile::tempdir().unwrap();
    failure_in(dir.path(), args, status)
}

fn failure_in(dir: &Path, args: &[&str], status: i32) -> String {
    let before = fs::read_dir(dir).unwrap().count();
    let out = dspk(dir, args);
    let err = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(status), "{args:?}: {err}");
    assert!(out.stdout.is_empty(), "{args:?} wrote to stdout");
    assert!(err.starts_with("error: ") && err.lines().count() == 1, "{args:?}: {err:?}");
    assert_eq!(fs::read_dir(dir).unwrap().count(), before, "{args:?} left a file");
    err
}

fn success(dir: &Path, args: &[&str]) {
    let out = dspk(dir, args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stdout.is_empty(), "{args:?} wrote to stdout");
}

#[test]
fn a_design_is_written_in_float64() {
    let dir = tempfile::tempdir().unwrap();
    let params = r#"{"N": 4, "Wn": [1, 40], "btype": "bandpass", "fs": 1000, "output": "sos"}"#;
    success(dir.path(), &["op", "butter", "--params", params, "--output", "sos.npy"]);
    let sos = butter(4, Band::Pass(1.0, 40.0), 1000.0).unwrap();
    let expected = NdArray::new(vec![4, 6], sos.sections().concat()).unwrap();
    assert_eq!(npy::read(&dir.path().join("sos.npy")).unwrap(), Array::F64(expected));

    success(dir.path(), &["op", "sosfilt_zi", "--params", r#"{"sos": "sos.npy"}"#, "--output", "zi.npy"]);
    let expected = NdArray::new(vec![4, 2], sosfilt_zi(&sos).unwrap().concat()).unwrap();
    assert_eq!(npy::read(&dir.path().join("zi.npy")).unwrap(), Array::F64(expected));
}

#[test]
fn parameters_come_from_a_file_and_defaults_are_scipys() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.json"), r#"{"N": 3, "Wn": 0.25, "btype": null}"#).unwrap();
    success(dir.path(), &["op", "butter", "--params", "@p.json", "--output", "sos.npy"]);
    let expected = butter(3, Band::Low(0.25), 2.0).unwrap().sections().concat();
    let got = npy::read(&dir.path().join("sos.npy")).unwrap();
    assert_eq!(got, Array::F64(NdArray::new(vec![2, 6], expected).unwrap()));
}

#[test]
fn every_spelling_of_the_band_is_scipys() {
    let dir = tempfile::tempdir().unwrap();
    for (names, wn, band) in [
        (["low", "lowpass", "lp", "l"], "0.3", Band::Low(0.3)),
        (["high", "highpass", "hp", "h"], "[0.3]", Band::High(0.3)),
        (["bandpass", "band", "bp", "pass"], "[0.3, 0.4]", Band::Pass(0.3, 0.4)),
        (["bandstop", "stop", "bs", "bands"], "[0.3, 0.4]", Band::Stop(0.3, 0.4)),
    ] {
        for name in names {
            let params = format!(r#"{{"N": 2, "Wn": {wn}, "btype": "{name}"}}"#);
            success(dir.path(), &["op", "butter", "--params", &params, "--output", "sos.npy"]);
            let Array::F64(got) = npy::read(&dir.path().join("sos.npy")).unwrap() else { panic!("not float64") };
            assert_eq!(got.data(), butter(2, band, 2.0).unwrap().sections().concat(), "{name}");
        }
    }
}

#[test]
fn a_wrong_call_is_status_2_and_says_why() {
    let out = ["--output", "y.npy"];
    let op = |rest: &[&str]| failure(&[&["op"], rest, &out].concat(), 2);
    assert!(op(&["no_such"]).contains("unknown operation 'no_such'"));
    assert!(op(&["butter", "--params", r#"{"N": 2, "Wn": 0.5, "order": 2}"#]).contains("unknown parameter 'order'"));
    assert!(op(&["butter"]).contains("'N'"));
    assert!(op(&["butter", "--params", r#"{"N": 2}"#]).contains("'Wn'"));
    assert!(op(&["butter", "--params", r#"{"N": 0, "Wn": 0.5}"#]).contains("order 0"));
    assert!(op(&["butter", "--params", r#"{"N": 2, "Wn": 1.5}"#]).contains("below 1"));
    assert!(op(&["butter", "--params", r#"{"N": 2, "Wn": [0.1, 0.2]}"#]).contains("one frequency"));
    assert!(op(&["butter", "--params", r#"{"N": 2, "Wn": 0.5, "btype": "x"}"#]).contains("\"bandpass\""));
    assert!(op(&["butter", "--params", r#"{"N": 2, "Wn": 0.5, "output": "ba"}"#]).contains("\"sos\""));
    assert!(op(&["butter", "--params", "{"]).contains("JSON"));
    assert!(op(&["butter", "--params", "@absent.json"]).contains("absent.json"));
    assert!(op(&["sosfilt_zi", "--params", r#"{"sos": "absent.npy"}"#]).contains("absent.npy"));
    assert!(op(&["sosfilt_zi", "--params", r#"{"sos": [[1, 0, 0, 1, -1, 0]]}"#]).contains("pole at z = 1"));
    assert!(op(&["butter", "--input", "absent.npy", "--params", r#"{"N": 2, "Wn": 0.5}"#]).contains("absent.npy"));
}

#[test]
fn a_named_runtime_is_strict() {
    let params = r#"{"N": 2, "Wn": 0.5}"#;
    let on = |runtime, status| {
        failure(&["op", "butter", "--params", params, "--output", "y.npy", "--runtime", runtime], status)
    };
    assert!(on("bogus", 2).contains("no runtime 'bogus'"));
    #[cfg(not(feature = "wgpu"))]
    assert!(on("wgpu", 1).contains("wgpu"));
    assert!(on("cuda", 1).contains("cuda"));
    let dir = tempfile::tempdir().unwrap();
    success(dir.path(), &["op", "butter", "--params", params, "--output", "y.npy", "--runtime", "cpu"]);
}

#[test]
fn what_the_argument_parser_refuses_is_one_line_too() {
    assert!(failure(&[], 2).contains("a command is needed"));
    assert!(failure(&["nothing"], 2).contains("nothing"));
    assert!(failure(&["op", "butter"], 2).contains("--output"));
    assert!(failure(&["op", "--output", "y.npy"], 2).contains("NAME"));
    assert!(failure(&["op", "butter", "--json", "--output", "y.npy"], 2).contains("--list"));
    assert!(failure(&["op", "butter", "--outptu", "y.npy"], 2).contains("--outptu"));
}

#[test]
fn an_output_that_cannot_be_is_refused_and_nothing_is_left() {
    let params = r#"{"N": 2, "Wn": 0.5}"#;
    let butter = |output| failure(&["op", "butter", "--params", params, "--output", output], 2);
    assert!(butter("y.npz").contains("must end in .npy"));
    assert!(butter("y.txt").contains("no known ending"));
    assert!(butter("absent/y.npy").contains("does not exist"));
}

#[test]
fn inputs_are_counted_and_damaged_ones_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bad.npy"), b"\x93NUMPY\x01\x00").unwrap();
    let params = r#"{"N": 2, "Wn": 0.5}"#;
    let with =
        |input: &str| ["op", "butter", "--input", input, "--params", params, "--output", "y.npy"].map(String::from);
    let run = |input: &str| {
        let args = with(input);
        failure_in(dir.path(), &args.each_ref().map(String::as_str), 2)
    };
    assert!(run("bad.npy").contains("bad.npy: the file ends within its header"));
    success(dir.path(), &["op", "butter", "--params", params, "--output", "good.npy"]);
    assert!(run("good.npy").contains("butter takes no input, 1 given"));
    assert!(run(".").contains("regular file"));
}

#[test]
fn the_list_names_every_operation() {
    let dir = tempfile::tempdir().unwrap();
    let text = dspk(dir.path(), &["op", "--list"]);
    assert!(text.status.success() && text.stderr.is_empty());
    let text = String::from_utf8(text.stdout).unwrap();
    let json = dspk(dir.path(), &["op", "--list", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let names: Vec<_> = json.as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, dspk::ops::commands().iter().map(|c| c.name).collect::<Vec<_>>());
    names.iter().for_each(|n| assert!(text.contains(n), "{n}"));
    let butter = &json.as_array().unwrap()[names.iter().position(|n| *n == "butter").unwrap()];
    assert_eq!(butter["parameters"][0]["required"], true);
    assert_eq!(butter["parameters"][2]["default"], "low");
}

#[test]
fn declared_defaults_are_json_and_names_are_unique() {
    let commands = dspk::ops::commands();
    for c in &commands {
        assert_eq!(commands.iter().filter(|other| other.name == c.name).count(), 1, "{}", c.name);
        for p in c.params {
            let default = p.default.map(serde_json::from_str::<serde_json::Value>);
            assert!(default.is_none_or(|d| d.is_ok()), "{}: {}", c.name, p.name);
        }
    }
}

#[test]
fn devices_are_listed_whatever_the_machine_has() {
    let dir = tempfile::tempdir().unwrap();
    let text = dspk(dir.path(), &["devices"]);
    assert_eq!(text.status.code(), Some(0), "{}", String::from_utf8_lossy(&text.stderr));
    let text = String::from_utf8(text.stdout).unwrap();
    let json = dspk(dir.path(), &["devices", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let runtimes: Vec<_> = json["runtimes"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(runtimes, ["cuda", "hip", "wgpu", "cpu"]);
    runtimes.iter().for_each(|r| assert!(text.contains(r), "{r}"));
    let cpu = json["devices"].as_array().unwrap().iter().find(|d| d["runtime"] == "cpu").unwrap();
    assert_eq!(cpu["usable"], true);
}

#[test]
fn devices_name_the_fastest_of_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let devices = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dspk"));
        let out = command.arg("devices").args(arguments).env("DSPK_CACHE_DIR", dir.path()).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(
        devices(&[]).ends_with("Fastest from host to host (measured by autotune)\n  not measured yet; run autotune\n")
    );
    let json: serde_json::Value = serde_json::from_str(&devices(&["--json"])).unwrap();
    assert_eq!(json["recommendations"], serde_json::json!([]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "looking stores nothing");

    let key = dspk::runtime::resolve(Some("cpu")).unwrap().key();
    let entry = serde_json::json!({
        "schema": 1, "device": key, "operation": "lfilter", "class": "taps64-float32-planar--c5-s13",
        "identity": "0".repeat(32), "driver": "", "outcome": "default-kept", "winner": "direct", "rounds": 5, "date": "",
        "candidates": [], "rejected": [], "work": { "channels": 32, "samples": 8192, "bytes": 1 }, "end_to_end": 0.0125,
    });
    let facts = serde_json::json!({
        "schema": 1, "device": key, "runtime": "cpu", "architecture": "", "vendor": "", "name": "Here", "driver": "",
    });
    let folder = dir.path().join("tune/v1/here");
    fs::create_dir_all(folder.join("lfilter")).unwrap();
    fs::write(folder.join("device.json"), facts.to_string()).unwrap();
    fs::write(folder.join("lfilter/a.json"), entry.to_string()).unwrap();
    let text = devices(&[]);
    assert!(text.contains("lfilter taps64-float32-planar, 32 x 8192\n"), "{text}");
    assert!(text.contains("12.500 ms    1.00x  cpu: Here\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&devices(&["--json"])).unwrap();
    assert_eq!(json["recommendations"][0]["times"][0]["seconds"], 0.0125);
}

#[test]
fn version_and_help_succeed() {
    let dir = tempfile::tempdir().unwrap();
    let version = dspk(dir.path(), &["--version"]);
    assert_eq!(String::from_utf8(version.stdout).unwrap(), format!("dspk {}\n", env!("CARGO_PKG_VERSION")));
    for args in [&["--help"][..], &["op", "--help"]] {
        let help = dspk(dir.path(), args);
        assert!(help.status.success() && String::from_utf8(help.stdout).unwrap().contains("Usage"));
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dspk"))
        .args(["op", "--list", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}
