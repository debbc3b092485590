//! Filters forward and backward, and transfer functions.

use super::common::{close, runtimes};
use super::vectors::{Case, golden};
use super::{FS, check, drifting_noise, signal, sos_of};
use dspk::design::{Band, Sos, butter, cheby2, iirnotch};
use dspk::ops::filter::{FiltFilt, Padding, SosFiltFilt, SosFilter};
use dspk::signal::View;

fn padding(case: &Case) -> (Padding, Option<usize>) {
    let params = &case.spec["params"];
    let padding = match params["padtype"].as_str() {
        Some("odd") => Padding::Odd,
        Some("even") => Padding::Even,
        Some("constant") => Padding::Constant,
        None => Padding::None,
        other => panic!("unknown padding {other:?}"),
    };
    (padding, params["padlen"].as_u64().map(|n| n as usize))
}

fn sections(case: &Case) -> Sos {
    let design = &case.spec["params"]["cheby2"];
    match design.as_array() {
        Some(d) => {
            let number = |i: usize| d[i].as_f64().expect("number");
            cheby2(number(0) as usize, number(1), Band::High(number(2)), FS).expect("design")
        }
        None => sos_of(case),
    }
}

#[test]
fn sosfiltfilt_of_every_padding() {
    for runtime in runtimes() {
        for case in golden("sosfiltfilt") {
            let what = format!("{} on {runtime}", case.id);
            let (padding, padlen) = padding(&case);
            let filter = SosFiltFilt::new(&sections(&case)).expect("filter").with_padding(padding, padlen).on(runtime);
            if let Some((idx, _)) = case.outputs.get("idx") {
                let x = drifting_noise();
                let y = filter.apply(View::new(&x, 1, x.len()).expect("view")).expect("filtered");
                let kept: Vec<f32> = idx.iter().map(|i| y.row(0)[*i as usize]).collect();
                close(&what, &kept, &case.outputs["y"].0, 1e-6, 0.0);
            } else {
                let x = signal(&case, 0);
                check(&what, &filter.apply(&x).expect("filtered"), &case.outputs["y"], 1e-6, 0.0, &x);
            }
        }
    }
}

#[test]
fn filtfilt_of_a_notch() {
    for runtime in runtimes() {
        for case in golden("filtfilt_ba") {
            let notch = iirnotch(50.0, 30.0, FS).and_then(|sos| sos.to_tf()).expect("design");
            let filter = FiltFilt::new(notch.b(), notch.a()).expect("filter").on(runtime);
            let x = signal(&case, 0);
            let what = format!("{} on {runtime}", case.id);
            check(&what, &filter.apply(&x).expect("filtered"), &case.outputs["y"], 1e-6, 0.0, &x);
        }
    }
}

#[test]
fn lfilter_of_a_recursive_filter() {
    for runtime in runtimes() {
        for case in golden("lfilter_ba") {
            let tf = butter(2, Band::Low(800.0), FS).and_then(|sos| sos.to_tf()).expect("design");
            let filter = SosFilter::from_ba(tf.b(), tf.a()).expect("filter").on(runtime);
            let x = signal(&case, 0);
            let what = format!("{} on {runtime}", case.id);
            check(&what, &filter.apply(&x).expect("filtered"), &case.outputs["y"], 1e-6, 0.0, &x);
        }
    }
}
