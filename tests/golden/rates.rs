//! Other sampling rates.

use crate::common::{close, runtimes};
use crate::vectors::{Case, golden};
use dspk::design::Window;
use dspk::ops::resample::{
    Decimate, DecimateFilter, DecimateOptions, PadType, PolyFilter, ResamplePoly, ResamplePolyOptions,
};
use dspk::signal::Signal;

/// The channels of the input that the result has.
fn signal(case: &Case) -> Signal {
    let (values, shape) = &case.inputs[0];
    let rows = values.chunks_exact(shape[1]).take(case.outputs["y"].1[0]);
    let rows: Vec<Vec<f32>> = rows.map(|row| row.iter().map(|v| *v as f32).collect()).collect();
    Signal::from_rows(&rows).expect("input")
}

fn check(what: &str, y: &Signal, case: &Case, gain: f64, x: &Signal) {
    let (reference, shape) = &case.outputs["y"];
    assert_eq!(shape[..], [y.channels(), y.samples()], "{what}: shape");
    for (c, reference) in reference.chunks_exact(y.samples()).enumerate() {
        let largest = x.row(c).iter().fold(0.0f64, |m, v| m.max(f64::from(*v).abs()));
        close(&format!("{what} channel {c}"), y.row(c), reference, 1e-6, gain * largest);
    }
}

fn number(case: &Case, name: &str) -> usize {
    case.spec["params"][name].as_u64().expect("a number") as usize
}

#[test]
fn polyphase_filters() {
    for runtime in runtimes() {
        for case in golden("resample_poly") {
            let params = &case.spec["params"];
            let padtype = params["padtype"].as_str().expect("padtype");
            let window = Window::named(params["window"][0].as_str().expect("window"), &[params["window"][1].as_f64()]);
            let options = ResamplePolyOptions {
                window: PolyFilter::Window(window.expect("window")),
                padtype: PadType::ALL.into_iter().find(|p| p.name() == padtype).expect("padtype"),
                runtime: Some(runtime.into()),
            };
            let plan = ResamplePoly::new(number(&case, "up"), number(&case, "down"), &options).expect("plan");
            let x = signal(&case);
            let gain = plan.taps().iter().map(|h| h.abs()).sum::<f64>() / plan.up() as f64;
            check(&format!("{} on {runtime}", case.id), &plan.apply(&x).expect("result"), &case, gain, &x);
        }
    }
}

#[test]
fn decimation() {
    for runtime in runtimes() {
        for case in golden("decimate") {
            let params = &case.spec["params"];
            let fir = params["ftype"] == "fir";
            let options = DecimateOptions {
                ftype: if fir { DecimateFilter::Fir } else { DecimateFilter::Iir },
                zero_phase: params["zero_phase"].as_bool().expect("zero_phase"),
                runtime: Some(runtime.into()),
                ..Default::default()
            };
            let plan = Decimate::new(number(&case, "q"), &options).expect("plan");
            let x = signal(&case);
            // The window's taps sum to 1, and their magnitudes to more.
            let gain = if fir { 1.0 } else { 0.0 };
            check(&format!("{} on {runtime}", case.id), &plan.apply(&x).expect("result"), &case, gain, &x);
        }
    }
}
