//! Events.

use crate::common::runtimes;
use crate::vectors::{Case, golden};
use dspk::ops::detect::{Interval, PeakOptions, find_peaks};
use dspk::signal::View;

fn interval(case: &Case, name: &str) -> Option<Interval> {
    match &case.spec["params"][name] {
        serde_json::Value::Null => None,
        serde_json::Value::Array(ends) => Some(Interval { min: ends[0].as_f64(), max: ends[1].as_f64() }),
        number => Some(Interval::at_least(number.as_f64().expect("a number"))),
    }
}

#[test]
fn peaks() {
    for runtime in runtimes() {
        for case in golden("find_peaks") {
            let number = |name: &str| case.spec["params"][name].as_f64();
            let sign = number("sign").expect("sign") as f32;
            let x: Vec<f32> = case.inputs[0].0.iter().map(|v| *v as f32 * sign).collect();
            let options = PeakOptions {
                height: interval(&case, "height"),
                threshold: interval(&case, "threshold"),
                distance: number("distance"),
                prominence: interval(&case, "prominence"),
                width: interval(&case, "width"),
                wlen: number("wlen"),
                rel_height: number("rel_height").unwrap_or(0.5),
                plateau_size: interval(&case, "plateau_size"),
                runtime: Some(runtime.into()),
            };
            let peaks = &find_peaks(View::new(&x, 1, x.len()).expect("view"), &options).expect("peaks")[0];
            let mut seen = 0;
            let mut same = |name: &str, values: &mut dyn Iterator<Item = f64>| {
                if let Some((want, _)) = case.outputs.get(name) {
                    let values: Vec<f64> = values.collect();
                    assert_eq!(values.len(), want.len(), "{} {name} on {runtime}", case.id);
                    for (v, w) in values.iter().zip(want) {
                        assert!((v - w).abs() <= 1e-12 * w.abs(), "{} {name} on {runtime}: {v}, expected {w}", case.id);
                    }
                    seen += 1;
                }
            };
            let prominences = peaks.prominences.iter().flatten();
            let (widths, plateaus) = (peaks.widths.iter().flatten(), peaks.plateaus.iter().flatten());
            let thresholds = peaks.thresholds.iter().flatten();
            same("peaks", &mut peaks.indices.iter().map(|n| *n as f64));
            same("peak_heights", &mut peaks.heights.iter().flatten().copied());
            same("left_thresholds", &mut thresholds.clone().map(|t| t[0]));
            same("right_thresholds", &mut thresholds.clone().map(|t| t[1]));
            same("plateau_sizes", &mut plateaus.clone().map(|p| p.size() as f64));
            same("left_edges", &mut plateaus.clone().map(|p| p.left as f64));
            same("right_edges", &mut plateaus.clone().map(|p| p.right as f64));
            same("prominences", &mut prominences.clone().map(|p| p.prominence));
            same("left_bases", &mut prominences.clone().map(|p| p.left_base as f64));
            same("right_bases", &mut prominences.clone().map(|p| p.right_base as f64));
            same("widths", &mut widths.clone().map(|w| w.width));
            same("width_heights", &mut widths.clone().map(|w| w.height));
            same("left_ips", &mut widths.clone().map(|w| w.left));
            same("right_ips", &mut widths.clone().map(|w| w.right));
            assert_eq!(seen, case.outputs.len(), "{}", case.id);
        }
    }
}
