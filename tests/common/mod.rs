//! What the integration tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The runtimes this machine can test, `cpu` first. A missing wgpu device skips loudly, or fails where
/// `DSPK_REQUIRE_WGPU=1` says that it must be there.
pub fn runtimes() -> Vec<&'static str> {
    let mut found = vec!["cpu"];
    #[cfg(feature = "wgpu")]
    match dspk::runtime::device("wgpu") {
        Ok(_) => found.push("wgpu"),
        Err(e) if std::env::var("DSPK_REQUIRE_WGPU").is_ok_and(|v| v == "1") => panic!("wgpu is required here: {e}"),
        Err(e) => {
            static ONCE: std::sync::Once = std::sync::Once::new();
            // Not through `eprintln!`, which the test harness would swallow.
            ONCE.call_once(|| {
                let _ = writeln!(std::io::stderr(), "SKIPPED: the wgpu half of these tests: {e}");
            });
        }
    }
    found
}

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A float64 copy of a `.npy` file and its shape.
pub fn npy(bytes: &[u8]) -> (Vec<f64>, Vec<usize>) {
    let file = npyz::NpyFile::new(bytes).expect("a .npy file");
    let shape: Vec<usize> = file.shape().iter().map(|n| *n as usize).collect();
    let by_columns = file.order() == npyz::Order::Fortran && shape.len() == 2;
    let dtype = file.dtype().descr();
    let values: Vec<f64> = if dtype.contains("f8") {
        file.into_vec::<f64>().expect("float64")
    } else if dtype.contains("f4") {
        file.into_vec::<f32>().expect("float32").into_iter().map(f64::from).collect()
    } else if dtype.contains("i8") {
        file.into_vec::<i64>().expect("int64").into_iter().map(|v| v as f64).collect()
    } else {
        file.into_vec::<i16>().expect("int16").into_iter().map(f64::from).collect()
    };
    if by_columns {
        let (rows, columns) = (shape[0], shape[1]);
        return ((0..rows * columns).map(|i| values[i % columns * rows + i / columns]).collect(), shape);
    }
    (values, shape)
}

/// One golden case: its inputs and its float64 references.
pub struct Case {
    pub id: String,
    pub spec: serde_json::Value,
    pub inputs: Vec<(Vec<f64>, Vec<usize>)>,
    pub outputs: BTreeMap<String, (Vec<f64>, Vec<usize>)>,
}

/// The golden cases of one operation.
pub fn golden(operation: &str) -> Vec<Case> {
    let folder = data("golden");
    let index = std::fs::read_to_string(folder.join("index.json")).expect("tests/golden/index.json");
    let index: serde_json::Value = serde_json::from_str(&index).expect("json");
    let cases = index["cases"].as_array().expect("cases").iter().filter(|c| c["op"] == operation);
    let cases: Vec<Case> = cases.map(|c| case(&folder, c)).collect();
    assert!(!cases.is_empty(), "no golden case for {operation}");
    cases
}

fn case(folder: &Path, spec: &serde_json::Value) -> Case {
    let names: Vec<&str> = match &spec["input"] {
        serde_json::Value::String(s) => vec![s],
        serde_json::Value::Array(a) => a.iter().filter_map(|v| v.as_str()).collect(),
        _ => vec![],
    };
    let inputs = names.iter().map(|n| npy(&std::fs::read(folder.join(n)).expect("input"))).collect();
    let file = std::fs::File::open(folder.join(spec["output"].as_str().expect("output"))).expect("npz");
    let mut archive = zip::ZipArchive::new(file).expect("npz");
    let mut outputs = BTreeMap::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).expect("entry");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("stored");
        outputs.insert(entry.name().expect("a name").trim_end_matches(".npy").to_string(), npy(&bytes));
    }
    Case { id: spec["id"].as_str().expect("id").into(), spec: spec.clone(), inputs, outputs }
}

/// `max |y - ref| <= tolerance * max(max |ref|, floor)` for each channel; NaN must meet NaN.
pub fn close(what: &str, y: &[f32], reference: &[f64], tolerance: f64, floor: f64) {
    assert_eq!(y.len(), reference.len(), "{what}: length");
    let scale = reference.iter().filter(|v| v.is_finite()).fold(floor, |m, v| m.max(v.abs()));
    for (n, (y, r)) in y.iter().zip(reference).enumerate() {
        let y = f64::from(*y);
        let good = (y.is_nan() && r.is_nan()) || y == *r || (y - r).abs() <= tolerance * scale;
        assert!(good, "{what}: sample {n} is {y}, expected {r}, error {:.2e} of {scale:.3e}", (y - r).abs() / scale);
    }
}

/// Deterministic noise in [-1, 1).
pub fn noise(len: usize, mut seed: u32) -> Vec<f32> {
    (0..len)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}
