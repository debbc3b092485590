//! The golden cases of spectra, through the commands: names, shapes and types of the results with their values.

use std::collections::BTreeMap;

use dspk::ops::command::{Array, NdArray, Params, Request};

use crate::common::close;
use crate::vectors::{Case, golden};

/// Runs a command on the CPU with those of these parameters that the case has.
fn call(case: &Case, operation: &str, names: &[&str], inputs: Vec<Array>) -> BTreeMap<&'static str, Array> {
    let given = case.spec["params"].as_object().expect("params").iter();
    let params: serde_json::Map<_, _> =
        given.filter(|(name, _)| names.contains(&name.as_str())).map(|(n, v)| (n.clone(), v.clone())).collect();
    let params = Params::parse(&serde_json::Value::Object(params).to_string()).expect("json");
    let command = dspk::ops::commands().into_iter().find(|c| c.name == operation).expect("a command");
    let request = Request { inputs, params, runtime: Some("cpu".into()) };
    command.call(request).unwrap_or_else(|e| panic!("{}: {e}", case.id)).into_iter().collect()
}

/// Channels of the case's input, cut to its samples.
fn channels(case: &Case, which: std::ops::Range<usize>) -> Array {
    let (values, shape) = &case.inputs[0];
    let params = &case.spec["params"];
    let cut = params["samples"].as_u64().or(params["n"].as_u64()).map_or(shape[1], |n| n as usize);
    let rows = which.clone().flat_map(|c| values[c * shape[1]..][..cut].iter().map(|v| *v as f32)).collect();
    let shape = if which.len() == 1 { vec![cut] } else { vec![which.len(), cut] };
    Array::F32(NdArray::new(shape, rows).expect("shape"))
}

/// Compares a result with the output `key` of the case; `shape` is how the case has it.
fn check(case: &Case, key: &str, result: &Array, tolerance: f64) {
    let (expected, shape) = &case.outputs[key];
    let (values, parts): (Vec<f64>, _) = match result {
        Array::F32(a) => (a.data().iter().map(|v| f64::from(*v)).collect(), 1),
        Array::F64(a) => (a.data().to_vec(), 1),
        Array::C64(a) => (a.data().iter().flatten().map(|v| f64::from(*v)).collect(), 2),
        other => panic!("{}: {}", case.id, other.dtype()),
    };
    // Complex references have a last axis of two, and some a first of one channel.
    let expected_shape = &shape[usize::from(shape.len() > 1 && shape[0] == 1)..shape.len() - (parts - 1)];
    assert_eq!(result.shape(), expected_shape, "{} {key}", case.id);
    match result {
        Array::F64(_) => {
            let good = values.iter().zip(expected).all(|(v, e)| (v - e).abs() <= 1e-12 * e.abs().max(1e-9));
            assert!(good, "{} {key}: {values:?}, expected {expected:?}", case.id);
        }
        _ => {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            close(&format!("{} {key}", case.id), &values, expected, tolerance, 0.0);
        }
    }
}

/// Checks the axes that the case has.
fn axes(case: &Case, results: &BTreeMap<&'static str, Array>) {
    for key in ["f", "t"] {
        if case.outputs.contains_key(key) {
            check(case, key, &results[key], 0.0);
        }
    }
}

const FRAMES: &[&str] = &["fs", "window", "nperseg", "noverlap", "nfft", "detrend", "scaling"];

fn with(more: &[&'static str]) -> Vec<&'static str> {
    FRAMES.iter().chain(more).copied().collect()
}

#[test]
fn stft() {
    for case in golden("stft") {
        let z = call(&case, "stft", &with(&["boundary", "padded"]), vec![channels(&case, 0..1)]);
        check(&case, "Z", &z["Zxx"], 8e-7);
        axes(&case, &z);
    }
}

#[test]
fn istft() {
    let sources = golden("stft");
    for case in golden("istft") {
        let rule = case.spec["params"]["input_rule"].as_str().expect("a rule");
        let source = sources.iter().find(|s| rule.contains(&format!("case {} ", s.id))).expect("a source");
        let (values, shape) = &source.outputs["Z"];
        let (bins, frames) = (shape[1], shape[2]);
        let weight = |at: usize| 1.0 - 0.8 * (at / frames) as f64 / (bins - 1) as f64;
        let z = values.chunks(2).enumerate().map(|(at, z)| [0, 1].map(|part| (z[part] * weight(at)) as f32));
        let z = Array::C64(NdArray::new(vec![bins, frames], z.collect()).expect("shape"));
        let names = ["fs", "window", "nperseg", "noverlap", "nfft", "boundary", "scaling"];
        let x = call(&case, "istft", &names, vec![z]);
        check(&case, "y", &x["x"], 1e-6);
        assert_eq!(x["t"].shape(), x["x"].shape());
    }
}

#[test]
fn welch() {
    for case in golden("welch") {
        let p = call(&case, "welch", &with(&["average"]), vec![channels(&case, 0..2)]);
        check(&case, "P", &p["Pxx"], 1e-6);
        axes(&case, &p);
    }
}

#[test]
fn csd_and_coherence() {
    for case in golden("csd") {
        let p = call(&case, "csd", &with(&["average"]), vec![channels(&case, 0..1), channels(&case, 1..2)]);
        check(&case, "P", &p["Pxy"], 1e-6);
        axes(&case, &p);
    }
    for case in golden("coherence") {
        let names = &FRAMES[..FRAMES.len() - 1];
        let c = call(&case, "coherence", names, vec![channels(&case, 0..1), channels(&case, 1..2)]);
        check(&case, "C", &c["Cxy"], 1e-6);
        axes(&case, &c);
    }
}

#[test]
fn spectrogram_and_periodogram() {
    for case in golden("spectrogram") {
        let s = call(&case, "spectrogram", &with(&["mode"]), vec![channels(&case, 1..2)]);
        check(&case, "S", &s["Sxx"], 1e-6);
        axes(&case, &s);
    }
    for case in golden("periodogram") {
        let names = ["fs", "window", "nfft", "detrend", "scaling"];
        let p = call(&case, "periodogram", &names, vec![channels(&case, 0..1)]);
        check(&case, "P", &p["Pxx"], 1e-6);
        axes(&case, &p);
    }
}

#[test]
fn hilbert_and_envelope() {
    for case in golden("hilbert") {
        let z = call(&case, "hilbert", &[], vec![channels(&case, 0..2)]);
        check(&case, "z", &z["xa"], 6e-7);
    }
    for mut case in golden("hilbert_envelope") {
        case.spec["params"]["phase"] = true.into();
        let e = call(&case, "envelope", &["phase"], vec![channels(&case, 1..2)]);
        check(&case, "e", &e["envelope"], 6e-7);
        check(&case, "ph", &e["phase"], 1e-6);
    }
}

#[test]
fn resample_and_phase_shift() {
    for case in golden("resample_fft") {
        let y = call(&case, "resample", &["num", "window"], vec![channels(&case, 0..2)]);
        check(&case, "y", &y["y"], 1e-6);
    }
    for mut case in golden("fractional_shift_fft") {
        case.spec["params"]["shifts"] = case.spec["params"]["shift_samples"].clone();
        let y = call(&case, "phase_shift", &["shifts"], vec![channels(&case, 0..3)]);
        check(&case, "y", &y["y"], 1e-6);
    }
}

#[test]
fn multitaper() {
    for case in golden("multitaper") {
        let names = ["fs", "NW", "Kmax", "weights", "nperseg", "noverlap", "nfft", "detrend", "scaling"];
        let p = call(&case, "multitaper", &names, vec![channels(&case, 0..2)]);
        check(&case, "P", &p["Pxx"], 1e-6);
        axes(&case, &p);
    }
}

#[test]
fn cwt() {
    for case in golden("cwt") {
        let z = call(&case, "cwt", &["fs", "frequencies", "w"], vec![channels(&case, 0..2)]);
        check(&case, "W", &z["cwt"], 1e-6);
        axes(&case, &z);
    }
}
