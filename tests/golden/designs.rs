//! The golden cases of designs, through the commands.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use dspk::design::{Band, BesselNorm, Prototype};
use dspk::design::{Complex, Sos, Tf, Zpk, freqz, freqz_sos, iirfilter};
use dspk::ops::command::{Array, Params, Request};
use serde_json::{Map, Value};

use crate::vectors::{Case, golden};

/// Runs a command with those parameters of the case that have one of these names, renamed.
fn call(case: &Case, operation: &str, names: &[(&str, &str)]) -> BTreeMap<&'static str, Vec<f64>> {
    let given = &case.spec["params"];
    let params: Map<String, Value> = names
        .iter()
        .filter(|(from, _)| !given[from].is_null())
        .map(|(from, to)| (to.to_string(), given[from].clone()))
        .collect();
    let params = Params::parse(&Value::Object(params).to_string()).expect("json");
    let command = dspk::ops::commands().into_iter().find(|c| c.name == operation).expect("a command");
    let outputs = command.call(Request { params, ..Request::default() });
    let values = |array| match array {
        Array::F64(a) => a.into_data(),
        other => panic!("{}: {} in place of float64", case.id, other.dtype()),
    };
    outputs.unwrap_or_else(|e| panic!("{}: {e}", case.id)).into_iter().map(|(n, a)| (n, values(a))).collect()
}

fn complex(case: &Case, key: &str) -> Vec<Complex> {
    case.outputs[key].0.chunks_exact(2).map(|v| Complex::new(v[0], v[1])).collect()
}

/// Every expected root is met by one of its own.
fn assert_roots(what: &str, mut found: Vec<Complex>, expected: &[Complex]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for want in expected {
        let distances = found.iter().map(|z| (*z - *want).abs()).enumerate();
        let (i, d) = distances.min_by(|a, b| a.1.total_cmp(&b.1)).expect("a root");
        assert!(d <= 1e-12 * want.abs(), "{what}: {:?}, expected {want:?}", found[i]);
        found.swap_remove(i);
    }
}

fn zpk(case: &Case) -> Zpk {
    let params = &case.spec["params"];
    let number = |v: &Value| v.as_f64().expect("a number");
    let (rp, rs) = (params["rp"].as_f64(), params["rs"].as_f64());
    let kind = match params["ftype"].as_str().expect("ftype") {
        "butter" => Prototype::Butter,
        "cheby1" => Prototype::Cheby1 { rp: rp.expect("rp") },
        "cheby2" => Prototype::Cheby2 { rs: rs.expect("rs") },
        "ellip" => Prototype::Ellip { rp: rp.expect("rp"), rs: rs.expect("rs") },
        "bessel" => Prototype::Bessel(BesselNorm::Phase),
        other => panic!("unknown kind {other}"),
    };
    let fc = &params["fc"];
    let band = match params["btype"].as_str().expect("btype") {
        "lowpass" => Band::Low(number(fc)),
        "highpass" => Band::High(number(fc)),
        "bandpass" => Band::Pass(number(&fc[0]), number(&fc[1])),
        "bandstop" => Band::Stop(number(&fc[0]), number(&fc[1])),
        other => panic!("unknown band {other}"),
    };
    iirfilter(params["order"].as_u64().expect("order") as usize, kind, band, number(&params["fs"])).expect("design")
}

/// Frequencies of the case in radians per sample.
fn radians(case: &Case) -> Vec<f64> {
    let fs = case.spec["params"]["fs"].as_f64().expect("fs");
    case.outputs["freq"].0.iter().map(|f| 2.0 * PI * f / fs).collect()
}

fn assert_response(case: &Case, h: &[Complex], tolerance: f64) {
    let expected = complex(case, "H");
    let scale = expected.iter().fold(0.0f64, |m, h| m.max(h.abs()));
    assert_eq!(h.len(), expected.len());
    for (h, want) in h.iter().zip(&expected) {
        assert!((*h - *want).abs() <= tolerance * scale, "{}: {h:?}, expected {want:?}", case.id);
    }
}

#[test]
fn sections_have_the_roots_and_responses_of_scipy() {
    for case in golden("design_sos") {
        let zpk = zpk(&case);
        assert_roots(&format!("{} poles", case.id), zpk.poles(), &complex(&case, "poles"));
        assert_roots(&format!("{} zeros", case.id), zpk.zeros(), &complex(&case, "zeros"));
        let gain = case.outputs["gain"].0[0];
        assert!((zpk.gain() / gain - 1.0).abs() < 1e-12, "{}: gain {}, expected {gain}", case.id, zpk.gain());

        let renamed = [("order", "N"), ("fc", "Wn"), ("btype", "btype"), ("fs", "fs"), ("rp", "rp"), ("rs", "rs")];
        let name = case.spec["params"]["ftype"].as_str().expect("ftype");
        let sections = &call(&case, name, &renamed)["sos"];
        let rows: Vec<&[f64]> = sections.chunks_exact(6).collect();
        let sos = Sos::from_rows(&rows).expect("sections");
        assert_eq!(sos, zpk.to_sos().expect("sections"));
        assert_eq!(case.outputs["sos"].1, [sos.len(), 6], "{}", case.id);
        // What coefficients near -2 can express of poles near 1 bounds a response at very low cutoffs.
        let tolerance = case.spec["tol"]["H"].as_f64().expect("tolerance");
        assert_response(&case, &freqz_sos(&sos, &radians(&case)), tolerance);
    }
}

#[test]
fn notches_and_peaks_are_those_of_scipy() {
    for case in golden("design_ba") {
        let name = case.spec["params"]["kind"].as_str().expect("kind");
        let out = call(&case, name, &[("f0", "w0"), ("Q", "Q"), ("fs", "fs")]);
        for (key, values) in &out {
            for (v, want) in values.iter().zip(&case.outputs[*key].0) {
                assert!((v - want).abs() <= 1e-15, "{} {key}: {v}, expected {want}", case.id);
            }
        }
        let tf = Tf::new(&out["b"], &out["a"]).expect("coefficients");
        assert_response(&case, &freqz(&tf, &radians(&case)), 1e-9);
    }
}

#[test]
fn taps_are_those_of_scipy() {
    for case in golden("firwin") {
        let names = ["numtaps", "cutoff", "window", "pass_zero", "scale", "fs"].map(|n| (n, n));
        let h = &call(&case, "firwin", &names)["h"];
        let expected = &case.outputs["h"].0;
        let scale = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        assert_eq!(h.len(), expected.len(), "{}", case.id);
        for (h, want) in h.iter().zip(expected) {
            assert!((h - want).abs() <= 1e-12 * scale, "{}: {h}, expected {want}", case.id);
        }
    }
}
