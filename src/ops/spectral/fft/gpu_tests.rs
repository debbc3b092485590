use super::*;
use crate::kernel::space_tests::is_written_everywhere;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::Problem;
use crate::ops::spectral::Norm;
use crate::runtime::gpu::DeviceClass;
use crate::signal::View;

const KINDS: [Kind; 4] = [Kind::Fft, Kind::Ifft, Kind::Rfft, Kind::Irfft];

/// Largest relative L2 error of a channel.
fn error(got: &[f32], want: &[f64], length: usize) -> f64 {
    let worst = got.chunks(length).zip(want.chunks(length)).map(|(got, want)| {
        let wrong: f64 = got.iter().zip(want).map(|(g, w)| (f64::from(*g) - w).powi(2)).sum();
        let all: f64 = want.iter().map(|w| w * w).sum();
        if wrong == 0.0 { 0.0 } else { (wrong / all).sqrt() }
    });
    worst.fold(0.0, f64::max)
}

fn check(gpu: &std::sync::Arc<dyn Gpu>, t: Transform, channels: usize, samples: usize, every: bool) {
    let x = noise(channels * samples, 3);
    let want = t.reference(View::new(&x, channels, samples).unwrap().into(), None).unwrap();
    let shape = Shape { channels, samples };
    let out = t.output(shape);
    let x_device = planar(gpu, (channels, samples), &[], &x);
    let own = variants(&t, gpu.facts(), shape);
    let others = variants(&t, &Facts { class: DeviceClass::Discrete, ..gpu.facts().clone() }, shape);
    assert!(!own.is_empty() && own.len() <= 6);
    let tried = if every { [own, others].concat() } else { own[..1].to_vec() };
    for variant in &tried {
        let y = result(gpu, (channels, out.samples), &[]);
        let got = compute(&y, &record(&t, &**gpu, variant, &x_device, &y).unwrap());
        let e = error(&got, &want, out.samples);
        let bound = if matches!(Recipe::new(t.points(samples)), Recipe::Bluestein { .. }) { 1e-6 } else { 5e-7 };
        assert!(e <= bound, "{t:?} {channels} x {samples}, {}: {e:e}", variant.name);
    }
}

fn lengths(kinds: &[Kind], lengths: impl IntoIterator<Item = usize>, channels: usize, every: bool) {
    let Some(gpu) = device() else { return };
    for n in lengths {
        for &kind in kinds {
            let t = Transform { kind, n: Some(n), norm: Norm::Backward };
            check(&gpu, t, channels, kind.floats(n), every);
        }
    }
}

/// What is launched for lengths of every kind, on devices of both classes, is accepted by the writers for every target.
#[test]
fn every_kernel_is_written_everywhere() {
    use crate::runtime::Layout;
    use crate::runtime::null::NullGpu;
    use crate::signal::Dtype;
    let gpu: std::sync::Arc<dyn Gpu> = std::sync::Arc::new(NullGpu::new().with_binding_bytes(1 << 26));
    let mut seen = std::collections::BTreeSet::new();
    for kind in KINDS {
        for n in [1, 8, 17, 96, 405, 1001, 4096, 9000, 60_000, 65_537] {
            let t = Transform { kind, n: Some(n), norm: Norm::Backward };
            let shape = Shape { channels: 2, samples: kind.floats(n) };
            let array = |samples| DeviceArray::empty(&gpu, 2, samples, Dtype::F32, Layout::Planar).unwrap();
            let (x, y) = (array(shape.samples), array(t.output(shape).samples));
            for software in [true, false] {
                let mut facts = gpu.facts().clone();
                facts.class = if software { DeviceClass::Cpu } else { DeviceClass::Discrete };
                for variant in variants(&t, &facts, shape).iter().take(if n > 1000 { 6 } else { 1 }) {
                    for command in record(&t, &*gpu, variant, &x, &y).unwrap() {
                        let Command::Launch { kernel, .. } = command else { panic!("only launches") };
                        if seen.insert(kernel.hash) {
                            is_written_everywhere(&kernel)
                                .unwrap_or_else(|e| panic!("{kind:?} {n} {}: {e}", variant.name));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn short_lengths() {
    lengths(&KINDS, (1..=16).chain([18, 25, 49, 64]), 3, false);
    lengths(&[Kind::Rfft], 17..=64, 3, false);
}

#[test]
fn every_variant_of_a_length_of_each_kind() {
    lengths(&KINDS, [1001], 2, true);
    lengths(&[Kind::Rfft, Kind::Irfft], [1024], 3, true);
    lengths(&[Kind::Fft], [509, 4096], 3, true);
}

#[test]
fn lengths_around_a_work_group() {
    lengths(&[Kind::Fft, Kind::Rfft], [4095, 4097], 2, false);
    lengths(&[Kind::Rfft, Kind::Irfft], [8192], 1, false);
}

#[test]
fn long_lengths() {
    lengths(&[Kind::Rfft, Kind::Irfft], [60_000, 131_072], 3, false);
    lengths(&[Kind::Fft], [65_536, 65_537], 2, false);
    lengths(&[Kind::Rfft], [30_375, 1_000_003], 1, false);
}

#[test]
fn rows_are_cut_and_padded() {
    let Some(gpu) = device() else { return };
    for kind in KINDS {
        for (samples, n) in
            [(2, 7), (10, 16), (46, 9), (46, 12), (46, 17), (200, 101), (2, 1), (16_002, 8000), (300, 9000)]
        {
            check(&gpu, Transform { kind, n: Some(n), norm: Norm::Ortho }, 3, samples, false);
        }
    }
    for (samples, n) in [(1, 4), (7, 8), (9, 8), (7, 5), (5, 34)] {
        check(&gpu, Transform { kind: Kind::Rfft, n: Some(n), norm: Norm::Forward }, 2, samples, false);
    }
    for kind in KINDS {
        check(&gpu, Transform { kind, n: None, norm: Norm::Forward }, 2, 90, false);
    }
}

#[test]
fn batches_of_channels_and_groups_beyond_a_dimension() {
    let Some(gpu) = device() else { return };
    // Rows of half a MiB of scratch: more of them than are computed at once.
    let t = Transform { kind: Kind::Rfft, n: Some(131_072), norm: Norm::Backward };
    check(&gpu, t, 19, 131_072, false);
    let t = Transform { kind: Kind::Fft, n: Some(2), norm: Norm::Backward };
    check(&gpu, t, 70_000 * 8, 4, false);
}

/// A channel keeps its precision, and what is not finite to itself, whatever its neighbours hold.
#[test]
fn channels_do_not_mix() {
    let Some(gpu) = device() else { return };
    for (kind, n) in [(Kind::Rfft, 512), (Kind::Rfft, 405), (Kind::Irfft, 512), (Kind::Rfft, 12_000)] {
        let t = Transform { kind, n: Some(n), norm: Norm::Backward };
        let samples = kind.floats(n);
        let mut x = noise(4 * samples, 8);
        x[..samples].iter_mut().for_each(|v| *v *= 1e9);
        x[2 * samples + 3] = f32::NAN;
        let want = t.reference(View::new(&x, 4, samples).unwrap().into(), None).unwrap();
        let out = t.output(Shape { channels: 4, samples }).samples;
        let variant = &variants(&t, gpu.facts(), Shape { channels: 4, samples })[0];
        let x_device = planar(&gpu, (4, samples), &[], &x);
        let y = result(&gpu, (4, out), &[]);
        let got = compute(&y, &record(&t, &*gpu, variant, &x_device, &y).unwrap());
        for channel in [0, 1, 3] {
            let row = channel * out..(channel + 1) * out;
            let e = error(&got[row.clone()], &want[row], out);
            assert!(e <= 5e-7, "{kind:?} {n}, channel {channel}: {e:e}");
        }
        assert!(got[2 * out..3 * out].iter().any(|v| v.is_nan()));
    }
}

#[test]
fn what_does_not_fit_says_so() {
    let Some(gpu) = device() else { return };
    let t = Transform { kind: Kind::Fft, n: None, norm: Norm::Backward };
    let variant = &variants(&t, gpu.facts(), Shape { channels: 2, samples: 64 })[0];
    let x = planar(&gpu, (2, 64), &[16], &noise(128, 1));
    let y = result(&gpu, (2, 64), &[]);
    let e = record(&t, &*gpu, variant, &x, &y).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("2 segments") && e.to_string().contains("fewer channels"), "{e}");

    let Some(limited) = crate::runtime::testing::test_gpu_limited(1 << 20) else { return };
    let t = Transform { kind: Kind::Rfft, n: Some(262_147), norm: Norm::Backward };
    let x = planar(&limited, (1, 64), &[], &noise(64, 1));
    let e = record(&t, &*limited, variant, &x, &x).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("262147") && e.to_string().contains("cpu runtime"), "{e}");
    let other = Variant::new("other", &[]);
    assert!(record(&t, &*gpu, &other, &x, &x).is_err());
}

#[test]
fn variants_are_named_after_their_plans() {
    let Some(gpu) = device() else { return };
    let shape = Shape { channels: 4, samples: 1001 };
    for software in [true, false] {
        let mut facts = gpu.facts().clone();
        facts.class = if software { DeviceClass::Cpu } else { DeviceClass::Discrete };
        let t = Transform { kind: Kind::Rfft, n: Some(1001), norm: Norm::Backward };
        let names: Vec<String> = variants(&t, &facts, shape).into_iter().map(|v| v.name).collect();
        assert!(names[0].starts_with("stockham 13x11x7 T=91 S=1"), "{names:?}");
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        let t = Transform { n: Some(1009), ..t };
        assert!(variants(&t, &facts, shape)[0].name.starts_with("bluestein "), "{names:?}");
    }
}
