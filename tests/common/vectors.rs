//! The golden vectors of `tests/golden/`: inputs and float64 references of scipy.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A float64 copy of a `.npy` file and its shape.
fn npy(bytes: &[u8]) -> (Vec<f64>, Vec<usize>) {
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
