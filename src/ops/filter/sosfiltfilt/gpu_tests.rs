use super::super::{Padding, SosFiltFilt, reference};
use crate::design::{Band, Sos, butter, iirnotch};
use crate::ops::launch_tests::{compute, device, error, noise, one_group_size, planar, result};
use crate::ops::problem::{Problem, Shape};
use crate::signal::View;

/// Largest error of a channel by its largest value, over all variants.
fn worst(filter: &SosFiltFilt, x: &[f32], channels: usize, samples: usize) -> f64 {
    let Some(gpu) = device() else { return 0.0 };
    let shape = (channels, samples);
    let from = planar(&gpu, shape, &[], x);
    let view = View::new(x, channels, samples).unwrap();
    let expected = reference::run(filter.sos().sections(), &filter.step, filter.extension, view.into());
    let variants = one_group_size(filter.gpu_variants(gpu.facts(), Shape { channels, samples }));
    assert!(!variants.is_empty());
    let errors = variants.iter().map(|variant| {
        let y = result(&gpu, shape, &[]);
        let got = compute(&y, &filter.record(gpu.as_ref(), variant, &from, &y).unwrap());
        error(&got, &expected, x, samples, 0.0)
    });
    errors.fold(0.0, f64::max)
}

fn filters() -> Vec<(&'static str, Sos)> {
    let butter = |order, band| butter(order, band, 30_000.0).unwrap();
    vec![
        ("band 300-6000", butter(5, Band::Pass(300.0, 6000.0))),
        ("high 300", butter(3, Band::High(300.0))),
        ("high 0.5", butter(4, Band::High(0.5))),
        ("low 10", butter(2, Band::Low(10.0))),
        ("low 13000", butter(4, Band::Low(13_000.0))),
        ("notch", iirnotch(50.0, 30.0, 30_000.0).unwrap()),
        ("many", butter(18, Band::Pass(1000.0, 6000.0))),
    ]
}

#[test]
fn every_padding_on_an_offset() {
    for (name, sos) in filters() {
        for padding in [Padding::Odd, Padding::Even, Padding::Constant, Padding::None] {
            for (channels, samples, offset) in
                [(1, 201, 0.0), (3, 1001, 1000.0), (33, 260, -50.0), (1, 9001, 1000.0), (2, 5000, 3.0)]
            {
                let filter = SosFiltFilt::new(&sos).unwrap().with_padding(padding, Some(150));
                let x: Vec<f32> = noise(channels * samples, 5).iter().map(|v| v + offset).collect();
                let error = worst(&filter, &x, channels, samples);
                assert!(error <= 1e-6, "{name} {padding:?} {channels} x {samples}: {error:.1e}");
            }
        }
    }
}

#[test]
fn a_bad_value_spoils_its_channel_alone() {
    let Some(gpu) = device() else { return };
    for (bad, at) in [(f32::NAN, 0), (f32::INFINITY, 0), (f32::NAN, 500), (f32::NEG_INFINITY, 999)] {
        let (channels, samples) = (3, 1000);
        let mut x = noise(channels * samples, 9);
        x[samples + at] = bad;
        let filter = SosFiltFilt::new(&filters()[1].1).unwrap();
        let variant = &filter.gpu_variants(gpu.facts(), Shape { channels, samples })[0];
        let from = planar(&gpu, (channels, samples), &[], &x);
        let y = result(&gpu, (channels, samples), &[]);
        let got = compute(&y, &filter.record(gpu.as_ref(), variant, &from, &y).unwrap());
        for (c, row) in got.chunks_exact(samples).enumerate() {
            assert!(row.iter().all(|v| v.is_finite() == (c != 1)), "{bad} at {at}, channel {c}");
        }
    }
}
