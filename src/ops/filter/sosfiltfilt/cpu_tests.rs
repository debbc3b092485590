use super::super::reference;
use super::*;
use crate::design::{Band, Sos, butter, sosfilt_zi};
use crate::ops::filter::sosfiltfilt::Padding;
use crate::signal::View;
use proptest::prelude::*;

fn noise(len: usize) -> Vec<f32> {
    (0..len as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn filters() -> Vec<Sos> {
    vec![
        butter(5, Band::Pass(300.0, 6000.0), 30_000.0).unwrap(),
        butter(4, Band::High(0.5), 30_000.0).unwrap(),
        butter(3, Band::Low(13_000.0), 30_000.0).unwrap(),
        butter(8, Band::Stop(55.0, 65.0), 1000.0).unwrap(),
        Sos::new(vec![[0.0, 1.0, 0.0, 1.0, 0.0, 0.0], [0.3, -0.2, 0.15, 1.0, -1.2, 0.5]]).unwrap(),
    ]
}

fn worst(sos: &Sos, extension: Extension, x: &[f32], channels: usize, samples: usize) -> f64 {
    let step = sosfilt_zi(sos).unwrap();
    let task = Task { sos: sos.sections(), step: &step, extension };
    let view = View::new(x, channels, samples).unwrap();
    let expected = reference::run(sos.sections(), &step, extension, view.into());
    let mut worst = 0.0f64;
    for variant in [Variant::new("channels", &[("tile", 128)]), Variant::new("time", &[("tile", 256)])] {
        let mut y = Signal::zeros(channels, samples).unwrap();
        run(task, &variant, view.into(), y.view_mut()).unwrap();
        for (c, expected) in expected.chunks_exact(samples).enumerate() {
            let scale = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let error = y.row(c).iter().zip(expected).fold(0.0f64, |m, (y, e)| m.max((f64::from(*y) - e).abs()));
            worst = worst.max(error / scale);
        }
    }
    worst
}

#[test]
fn every_padding_every_filter() {
    for sos in filters() {
        for padding in [Padding::Odd, Padding::Even, Padding::Constant, Padding::None] {
            for (channels, samples) in [(1, 101), (3, 4099), (17, 260), (1, 20_000)] {
                let edge = if padding == Padding::None { 0 } else { 100 };
                let x: Vec<f32> = noise(channels * samples).iter().map(|v| v + 1000.0).collect();
                let error = worst(&sos, Extension { padding, edge }, &x, channels, samples);
                assert!(error < 3e-7, "{padding:?} {channels} x {samples}: {error:.1e}");
            }
        }
    }
}

#[test]
fn a_bad_value_spoils_its_channel_alone() {
    let sos = &filters()[0];
    let step = sosfilt_zi(sos).unwrap();
    let task = Task { sos: sos.sections(), step: &step, extension: Extension { padding: Padding::Odd, edge: 33 } };
    for bad in [f32::NAN, f32::INFINITY] {
        let (channels, samples) = (5, 3000);
        let mut x = noise(channels * samples);
        x[2 * samples + 1500] = bad;
        for variant in [Variant::new("channels", &[("tile", 256)]), Variant::new("time", &[("tile", 256)])] {
            let mut y = Signal::zeros(channels, samples).unwrap();
            run(task, &variant, View::new(&x, channels, samples).unwrap().into(), y.view_mut()).unwrap();
            for c in 0..channels {
                assert!(y.row(c).iter().all(|v| v.is_nan() == (c == 2)), "{} channel {c}", variant.name);
            }
        }
    }
}

#[test]
fn rows_turn_around_whatever_their_length() {
    for len in [0, 1, 2, 3, 1000, (1 << 17) + 3, (1 << 18) - 1] {
        let mut row: Vec<f32> = (0..len).map(|v| v as f32).collect();
        reverse(&mut row);
        assert!(row.iter().rev().enumerate().all(|(k, v)| *v == k as f32), "{len}");
    }
}

proptest! {
    /// A reversed signal gives the reversed result, as far as its ends are forgotten.
    #[test]
    fn forward_and_backward_are_alike(order in 1usize..6, cutoff in 0.05f64..0.45, seed in 0u32..1000) {
        let sos = butter(order, Band::Low(cutoff), 1.0).unwrap();
        let filter = crate::ops::filter::SosFiltFilt::new(&sos).unwrap().on("cpu");
        let x: Vec<f32> = noise(2000).iter().map(|v| v * (1.0 + seed as f32)).collect();
        let turned: Vec<f32> = x.iter().rev().copied().collect();
        let of = |x: &[f32]| filter.apply(View::new(x, 1, x.len()).unwrap()).unwrap();
        let (y, back) = (of(&x), of(&turned));
        for n in 700..1300 {
            let (a, b) = (y.row(0)[n], back.row(0)[1999 - n]);
            prop_assert!((a - b).abs() <= 2e-6 * (1.0 + seed as f32), "{} {}", a, b);
        }
    }
}
