use super::super::reference;
use super::*;
use crate::signal::Signal;
use crate::simd::levels;

fn values(n: usize) -> Vec<i16> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16
    };
    (0..n).map(|i| [next(), i16::MIN, i16::MAX, next()][i % 4]).collect()
}

/// Every variant at every level against the reference; `bound` relative to each channel's largest value.
fn check(gain: &Scale, offset: &Scale, x: Source<'_>, bound: f64) {
    let (channels, samples) = (x.channels(), x.samples());
    let want = reference::run(gain, offset, x);
    for variant in variants(Shape { channels, samples }) {
        for level in levels() {
            let mut y = Signal::dirty(channels, samples).unwrap();
            y.view_mut().data_mut().fill(f32::NAN);
            run_at(level, gain, offset, &variant, x, y.view_mut()).unwrap();
            for (row, want) in y.rows().zip(want.chunks(samples.max(1))) {
                let scale = want.iter().fold(0.0f64, |a, v| a.max(v.abs()));
                for (n, (got, want)) in row.iter().zip(want).enumerate() {
                    let error = (f64::from(*got) - want).abs();
                    let name = (&variant.name, level.name());
                    assert!(error <= bound * scale, "{name:?} {channels} x {samples} at {n}: {got}, not {want}");
                }
            }
        }
    }
}

#[test]
fn any_shape_and_layout() {
    let (gain, offset) = (Scale::One(0.195), Scale::One(-6389.76));
    for channels in [1, 2, 7, 16, 33] {
        for samples in [0, 1, 15, 16, 17, 129, 1200] {
            let i = values(channels * samples);
            let f: Vec<f32> = i.iter().map(|v| f32::from(*v) * 0.37).collect();
            check(&gain, &offset, View::new(&i, channels, samples).unwrap().into(), 1e-7);
            check(&gain, &offset, View::interleaved(&i, channels).unwrap().into(), 1e-7);
            check(&gain, &offset, View::new(&f, channels, samples).unwrap().into(), 1e-7);
            check(&gain, &offset, View::interleaved(&f, channels).unwrap().into(), 1e-7);
            if samples > 2 {
                check(&gain, &offset, View::with_strides(&i, channels, samples / 2, samples, 2).unwrap().into(), 1e-7);
            }
        }
    }
}

#[test]
fn widening_and_powers_of_two_are_exact() {
    let i = values(385 * 40);
    let view = View::interleaved(&i, 385).unwrap();
    check(&Scale::One(1.0), &Scale::One(0.0), view.into(), 0.0);
    check(&Scale::One(0.25), &Scale::One(0.0), view.into(), 0.0);
    check(&Scale::One(1.0), &Scale::One(0.0), View::new(&i, 385, 40).unwrap().into(), 0.0);
}

#[test]
fn each_channel_has_its_own_scale() {
    let i = values(37 * 100);
    let gain = Scale::PerChannel((0..37).map(|c| 0.1 + f64::from(c)).collect());
    let offset = Scale::PerChannel((0..37).map(|c| -1e-3 * f64::from(c)).collect());
    check(&gain, &offset, View::interleaved(&i, 37).unwrap().into(), 1e-7);
    check(&gain, &Scale::One(0.0), View::new(&i, 37, 100).unwrap().into(), 1e-7);
}

#[test]
fn an_offset_that_cancels_the_signal_costs_no_accuracy() {
    let i: Vec<i16> = (0..300).map(|n| 30_000 + n as i16 % 3).collect();
    check(&Scale::One(0.1), &Scale::One(-3000.0), View::new(&i, 3, 100).unwrap().into(), 1e-7);
}

#[test]
fn more_channels_than_samples_and_many_tiles() {
    let i = values(70_000 * 2);
    check(&Scale::One(0.5), &Scale::One(0.0), View::interleaved(&i, 70_000).unwrap().into(), 0.0);
    let i = values(18 * 5001);
    check(&Scale::One(0.3), &Scale::One(1.0), View::interleaved(&i, 18).unwrap().into(), 1e-7);
}

#[test]
fn shapes_and_lists_that_do_not_fit_are_refused() {
    let (x, mut y) = (Signal::zeros(2, 3).unwrap(), Signal::zeros(3, 2).unwrap());
    let variant = &variants(Shape { channels: 2, samples: 3 })[0];
    let (one, zero) = (Scale::One(1.0), Scale::One(0.0));
    assert!(run(&one, &zero, variant, (&x).into(), y.view_mut()).is_err());
    let mut y = Signal::zeros(2, 3).unwrap();
    assert!(run(&Scale::PerChannel(vec![1.0]), &zero, variant, (&x).into(), y.view_mut()).is_err());
    assert!(run(&one, &Scale::PerChannel(vec![0.0; 3]), variant, (&x).into(), y.view_mut()).is_err());
}
