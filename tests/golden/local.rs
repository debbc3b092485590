//! Filters that look both ways, and detrending.

use crate::common::{close, runtimes};
use crate::vectors::{Case, golden};
use dspk::ops::filter::{Detrend, Edge, MedianFilter, SavgolFilter, SavgolOptions, Trend};
use dspk::signal::Signal;

/// The first channels and samples of the first input, as many as the result has.
fn signal(case: &Case) -> Signal {
    let (values, shape) = &case.inputs[0];
    let result = &case.outputs["y"].1;
    let (channels, samples) = match result[..] {
        [channels, samples] => (channels, samples),
        _ => (1, result[0]),
    };
    let rows = values.chunks_exact(shape[1]).take(channels);
    let rows: Vec<Vec<f32>> = rows.map(|row| row[..samples].iter().map(|v| *v as f32).collect()).collect();
    Signal::from_rows(&rows).expect("input")
}

fn check(what: &str, y: &Signal, case: &Case, tolerance: f64, gain: f64, x: &Signal) {
    for (c, reference) in case.outputs["y"].0.chunks_exact(y.samples()).enumerate() {
        let largest = x.row(c).iter().fold(0.0f64, |m, v| m.max(f64::from(*v).abs()));
        close(&format!("{what} channel {c}"), y.row(c), reference, tolerance, gain * largest);
    }
}

fn number(case: &Case, name: &str) -> usize {
    case.spec["params"][name].as_u64().expect("a number") as usize
}

fn edge(case: &Case) -> Option<Edge> {
    match case.spec["params"]["mode"].as_str().expect("mode") {
        "reflect" => Some(Edge::Reflect),
        "mirror" => Some(Edge::Mirror),
        "nearest" => Some(Edge::Nearest),
        "constant" => Some(Edge::Constant(0.0)),
        "interp" => None,
        other => panic!("unknown mode {other}"),
    }
}

#[test]
fn running_medians() {
    for runtime in runtimes() {
        for case in golden("medfilt") {
            let x = signal(&case);
            let filter = MedianFilter::medfilt(number(&case, "kernel")).expect("filter").on(runtime);
            check(&format!("{} on {runtime}", case.id), &filter.apply(&x).expect("filtered"), &case, 0.0, 0.0, &x);
        }
        for case in golden("ndimage_median_filter") {
            let x = signal(&case);
            let edge = edge(&case).expect("an edge mode");
            let filter = MedianFilter::new(number(&case, "size"), edge).expect("filter").on(runtime);
            check(&format!("{} on {runtime}", case.id), &filter.apply(&x).expect("filtered"), &case, 0.0, 0.0, &x);
        }
    }
}

#[test]
fn savitzky_golay() {
    for runtime in runtimes() {
        for case in golden("savgol_filter") {
            let x = signal(&case);
            let delta = case.spec["params"]["delta"].as_f64().expect("delta");
            let options = SavgolOptions { deriv: number(&case, "deriv"), delta, edge: edge(&case) };
            let filter = SavgolFilter::new(number(&case, "window"), number(&case, "poly"), &options).expect("filter");
            let gain = filter.coefficients().iter().map(|c| c.abs()).sum();
            let y = filter.on(runtime).apply(&x).expect("filtered");
            check(&format!("{} on {runtime}", case.id), &y, &case, 1e-6, gain, &x);
        }
    }
}

#[test]
fn detrending() {
    for runtime in runtimes() {
        for case in golden("detrend") {
            let x = signal(&case);
            let params = &case.spec["params"];
            let trend = if params["type"] == "constant" { Trend::Constant } else { Trend::Linear };
            let breakpoints: Vec<usize> = params["breakpoints"]
                .as_array()
                .map(|list| list.iter().map(|v| v.as_u64().expect("a breakpoint") as usize).collect())
                .unwrap_or_default();
            let y = Detrend::new(trend, &breakpoints).on(runtime).apply(&x).expect("detrended");
            check(&format!("{} on {runtime}", case.id), &y, &case, 3e-7, 1e-3, &x);
        }
    }
}
