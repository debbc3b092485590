//! Every golden case (float64 scipy) on every runtime of this machine, at the tolerance of `docs/architecture.md`.

mod common;
#[path = "golden/designs.rs"]
mod designs;
#[path = "golden/detect.rs"]
mod detect;
#[path = "golden/filters.rs"]
mod filters;
#[path = "golden/local.rs"]
mod local;
#[path = "golden/rates.rs"]
mod rates;
#[path = "golden/spectra.rs"]
mod spectra;
#[path = "common/vectors.rs"]
mod vectors;

use common::{close, noise, runtimes};
use dspk::design::{Band, Sos, butter, get_window, sosfilt_zi};
use dspk::ops::command::Params;
use dspk::ops::convert::{ConvertOptions, Scale, convert};
use dspk::ops::filter::{Convolve, FirFilter, Mode, SosFilter};
use dspk::ops::spatial::{CommonReferenceOptions, NanPolicy, Operator, common_reference};
use dspk::signal::{Signal, View};
use vectors::{Case, golden};

const FS: f64 = 30_000.0;

fn signal(case: &Case, i: usize) -> Signal {
    let (values, shape) = &case.inputs[i];
    let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
    Signal::from_slice(&values, shape[0], shape[1]).expect("input")
}

fn check(what: &str, y: &Signal, reference: &(Vec<f64>, Vec<usize>), tolerance: f64, gain: f64, x: &Signal) {
    assert_eq!(reference.1, [y.channels(), y.samples()], "{what}: shape");
    for (c, r) in reference.0.chunks_exact(y.samples()).enumerate() {
        let max_x = x.row(c).iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(f64::from(*v).abs()));
        close(&format!("{what} channel {c}"), y.row(c), r, tolerance, gain * max_x);
    }
}

fn sos_of(case: &Case) -> Sos {
    let design = case.spec["params"]["butter"].as_array().expect("butter");
    let order = design[0].as_u64().expect("order") as usize;
    let band = match (&design[1], design[2].as_str().expect("btype")) {
        (w, "highpass") => Band::High(w.as_f64().expect("cutoff")),
        (w, "bandpass") => Band::Pass(w[0].as_f64().expect("low"), w[1].as_f64().expect("high")),
        (w, "bandstop") => Band::Stop(w[0].as_f64().expect("low"), w[1].as_f64().expect("high")),
        other => panic!("unknown design {other:?}"),
    };
    butter(order, band, FS).expect("design")
}

/// The input by formula: 60,000 samples of noise on a drifting offset.
fn drifting_noise() -> Vec<f32> {
    let drifting = |(i, v): (usize, &f32)| (10.0 * f64::from(*v) + 500.0 + 12.5 * i as f64 / 8192.0) as f32;
    noise(60_000, 12_345).iter().enumerate().map(drifting).collect()
}

fn assert_zf(what: &str, zf: &[f64], reference: &[f64]) {
    let scale = reference.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (z, r) in zf.iter().zip(reference) {
        assert!((z - r).abs() <= 1e-6 * scale, "{what}: zf {z}, expected {r}");
    }
}

#[test]
fn sosfilt_from_zero_state() {
    for runtime in runtimes() {
        for case in golden("sosfilt") {
            let filter = SosFilter::new(&sos_of(&case)).expect("filter").on(runtime);
            let what = format!("{} on {runtime}", case.id);
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
fn sosfilt_from_steady_state() {
    for runtime in runtimes() {
        for case in golden("sosfilt_zi") {
            let what = format!("{} on {runtime}", case.id);
            let x = signal(&case, 0);
            let filter = SosFilter::new(&sos_of(&case)).expect("filter").on(runtime);
            let first: Vec<f32> = x.rows().map(|r| r[0]).collect();
            let mut state = filter.steady_state(&first).expect("state");
            let y = filter.apply_with(&x, &mut state).expect("filtered");
            check(&what, &y, &case.outputs["y"], 1e-6, 0.0, &x);
            assert_zf(&what, &filter.zi(&state), &case.outputs["zf"].0);
        }
    }
}

#[test]
fn sosfilt_in_chunks() {
    for runtime in runtimes() {
        for case in golden("sosfilt_chunked") {
            let what = format!("{} on {runtime}", case.id);
            let x = signal(&case, 0);
            let filter = SosFilter::new(&sos_of(&case)).expect("filter").on(runtime);
            let mut state = filter.state(x.channels());
            let mut y = Signal::zeros(x.channels(), x.samples()).expect("memory");
            let cuts: Vec<usize> = case.spec["params"]["cuts"]
                .as_array()
                .expect("cuts")
                .iter()
                .map(|v| v.as_u64().expect("cut") as usize)
                .collect();
            for cut in cuts.windows(2) {
                let part = filter.apply_with(x.view().window(cut[0], cut[1] - cut[0]), &mut state).expect("chunk");
                for c in 0..x.channels() {
                    y.row_mut(c)[cut[0]..cut[1]].copy_from_slice(part.row(c));
                }
            }
            check(&what, &y, &case.outputs["y"], 1e-6, 0.0, &x);
            assert_zf(&what, &filter.zi(&state), &case.outputs["zf"].0);
        }
    }
}

#[test]
fn lfilter_fir() {
    for runtime in runtimes() {
        for case in golden("lfilter_fir") {
            let what = format!("{} on {runtime}", case.id);
            let (x, taps) = (signal(&case, 0), &case.inputs[1].0);
            let gain = taps.iter().map(|t| t.abs()).sum();
            let filter = FirFilter::new(taps).expect("filter").on(runtime);
            check(&what, &filter.apply(&x).expect("filtered"), &case.outputs["y"], 1e-6, gain, &x);
        }
        for case in golden("lfilter_fir_zi") {
            let what = format!("{} on {runtime}", case.id);
            let (x, taps) = (signal(&case, 0), &case.inputs[1].0);
            let gain = taps.iter().map(|t| t.abs()).sum();
            let filter = FirFilter::new(taps).expect("filter").on(runtime);
            // scipy.signal.lfilter_zi(h, 1) is what is still to come of a unit step: the sums of the later taps.
            let step: Vec<f64> = (1..taps.len()).map(|k| taps[k..].iter().sum()).collect();
            let zi: Vec<f64> =
                x.rows().flat_map(|r| step.iter().map(|s| s * f64::from(r[0])).collect::<Vec<_>>()).collect();
            let mut state = filter.state_from_zi(&zi, x.channels()).expect("state");
            let y = filter.apply_with(&x, &mut state).expect("filtered");
            check(&what, &y, &case.outputs["y"], 1e-6, gain, &x);
            assert_zf(&what, filter.zi(&state), &case.outputs["zf"].0);
        }
    }
}

#[test]
fn convolutions() {
    for runtime in runtimes() {
        for case in golden("fftconvolve").into_iter().chain(golden("oaconvolve")) {
            let what = format!("{} on {runtime}", case.id);
            let (x, taps) = (signal(&case, 0), &case.inputs[1].0);
            let gain = taps.iter().map(|t| t.abs()).sum();
            let params = &case.spec["params"];
            let mode = Mode::named(params["mode"].as_str().expect("mode")).expect("known");
            let y = Convolve::new(taps, mode).expect("plan").on(runtime).apply(&x).expect("convolved");
            // The reference has some channels, and some of their samples.
            let (reference, every) = (&case.outputs["y"], params["every"].as_u64().unwrap_or(1) as usize);
            let rows: Vec<Vec<f32>> =
                y.rows().take(reference.1[0]).map(|row| row.iter().copied().step_by(every).collect()).collect();
            check(&what, &Signal::from_rows(&rows).expect("rows"), reference, 1e-6, gain, &x);
        }
    }
}

#[test]
fn common_references() {
    for runtime in runtimes() {
        let gain = if runtime == "cpu" { 0.0 } else { 1.0 };
        let median = CommonReferenceOptions { runtime: Some(runtime.into()), ..Default::default() };
        let mean = CommonReferenceOptions { operator: Operator::Mean, ..median.clone() };
        let run = |case: &Case, key: &str, options: &CommonReferenceOptions| {
            let x = signal(case, 0);
            let y = common_reference(&x, options).expect("referenced");
            check(&format!("{} {key} on {runtime}", case.id), &y, &case.outputs[key], 3e-7, gain, &x);
        };
        golden("car").iter().for_each(|c| run(c, "y", &mean));
        golden("cmr").iter().for_each(|c| run(c, "y", &median));
        let groups = Some(vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        golden("cmr_groups")
            .iter()
            .for_each(|c| run(c, "y", &CommonReferenceOptions { groups: groups.clone(), ..median.clone() }));
        for case in golden("cmr_exclude") {
            run(&case, "y", &CommonReferenceOptions { exclude: vec![2, 5], ..median.clone() });
            run(&case, "ym", &CommonReferenceOptions { exclude: vec![2, 5], ..mean.clone() });
        }
        for case in golden("cmr_local") {
            run(&case, "y", &CommonReferenceOptions { radius: Some((1, 3)), ..median.clone() });
            run(&case, "ym", &CommonReferenceOptions { radius: Some((1, 3)), ..mean.clone() });
        }
        for case in golden("cmr_nan") {
            if case.id.ends_with("ignore") {
                run(&case, "y", &CommonReferenceOptions { nan_policy: NanPolicy::Omit, ..median.clone() });
                run(&case, "ym", &CommonReferenceOptions { nan_policy: NanPolicy::Omit, ..mean.clone() });
            } else {
                run(&case, "y", &median);
            }
        }
    }
}

#[test]
fn windows() {
    for case in golden("get_window") {
        let spec = &case.spec["params"];
        for entry in spec["windows"].as_array().expect("windows") {
            let (name, call) = (entry[0].as_str().expect("name"), &entry[1]);
            let params = Params::parse(&format!("{{\"window\": {call}}}")).expect("json");
            let (window, _) = params.window("window").expect("window").expect("given");
            // Some have no very short form.
            let long_only = ["dpss", "chebwin", "taylor"].contains(&window.name());
            let lengths: Vec<usize> = spec["lengths"]
                .as_array()
                .expect("lengths")
                .iter()
                .map(|n| n.as_u64().expect("length") as usize)
                .filter(|n| *n > 7 || !long_only)
                .collect();
            let values: Vec<f64> = [true, false]
                .iter()
                .flat_map(|fftbins| lengths.iter().map(|n| get_window(&window, *n, *fftbins).expect("window")))
                .flatten()
                .collect();
            let reference = &case.outputs[name].0;
            assert_eq!(values.len(), reference.len(), "{name}");
            for (i, (v, r)) in values.iter().zip(reference).enumerate() {
                assert!((v - r).abs() <= 1e-12, "{name} sample {i}: {v}, expected {r}");
            }
        }
    }
}

#[test]
fn int16_to_float32() {
    for runtime in runtimes() {
        for case in golden("ingest_i16") {
            let (values, shape) = &case.inputs[0];
            let raw: Vec<i16> = values.iter().map(|v| *v as i16).collect();
            let options = ConvertOptions {
                gain: Scale::PerChannel(case.inputs[1].0.clone()),
                offset: Some(Scale::PerChannel(case.inputs[2].0.clone())),
                runtime: Some(runtime.into()),
            };
            let y = convert(View::interleaved(&raw, shape[1]).expect("view"), &options).expect("converted");
            let what = format!("{} on {runtime}", case.id);
            check(&what, &y, &case.outputs["y"], 1.5e-7, 0.0, &y);
        }
    }
}

/// The steady state of a section is what `scipy.signal.sosfilt_zi` gives: filtering a constant from it gives the DC gain.
#[test]
fn a_steady_state_stays_steady() {
    let sos = butter(3, Band::Low(100.0), 1000.0).expect("design");
    assert_eq!(sosfilt_zi(&sos).expect("zi").len(), 2);
    for runtime in runtimes() {
        let filter = SosFilter::new(&sos).expect("filter").on(runtime);
        let mut state = filter.steady_state(&[7.0]).expect("state");
        let y = filter.apply_with(View::new(&[7.0; 100], 1, 100).expect("view"), &mut state).expect("filtered");
        close(runtime, y.row(0), &[7.0; 100], 1e-6, 0.0);
    }
}
