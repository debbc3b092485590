use super::*;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::signal::View;

fn run(gpu: &std::sync::Arc<dyn Gpu>, kept: Analytic, x: &[f32], channels: usize) -> Vec<f32> {
    let shape = Shape { channels, samples: x.len() / channels };
    let variant = &kept.gpu_variants(gpu.facts(), shape)[0];
    let x = planar(gpu, (channels, shape.samples), &[], x);
    let y = result(gpu, (channels, kept.output(shape).samples), &[]);
    compute(&y, &kept.record(&**gpu, variant, &x, &y).unwrap())
}

fn check(gpu: &std::sync::Arc<dyn Gpu>, kept: Analytic, x: &[f32], channels: usize) {
    let n = x.len() / channels;
    let got = run(gpu, kept, x, channels);
    let want = kept.reference(View::new(x, channels, n).unwrap().into(), None).unwrap();
    let length = want.len() / channels;
    for (c, (got, want)) in got.chunks(length).zip(want.chunks(length)).enumerate() {
        crate::ops::job::compare(got, want, 1.0, kept.tolerance())
            .unwrap_or_else(|e| panic!("{kept:?} {channels} x {n}, channel {c}: {e}"));
    }
}

#[test]
fn lengths_of_all_kinds() {
    let Some(gpu) = device() else { return };
    for n in (1..=9).chain([16, 17, 97, 255, 256, 510, 1009, 4096, 10_007, 60_000]) {
        for kept in [Analytic::Signal, Analytic::Envelope] {
            check(&gpu, kept, &noise(3 * n, 3), 3);
        }
    }
}

#[test]
fn parts_of_many_channels() {
    let Some(gpu) = device() else { return };
    // Work space of a quarter MiB a row: more rows than are computed at once, and not a multiple of them.
    check(&gpu, Analytic::Signal, &noise(37 * 65_600, 5), 37);
    // Rows of 192 bytes, of which every fourth begins where a binding may.
    check(&gpu, Analytic::Envelope, &noise(50_001 * 33, 5), 50_001);
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    let Some(gpu) = device() else { return };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for n in [1, 2, 3, 4, 5, 64, 97, 100, 101] {
            for kept in [Analytic::Signal, Analytic::Envelope] {
                for at in [0, n - 1] {
                    let mut x = noise(2 * n, 1);
                    x[at] = bad;
                    let shape = Shape { channels: 2, samples: n };
                    let variant = &kept.gpu_variants(gpu.facts(), shape)[0];
                    let x = planar(&gpu, (2, n), &[], &x);
                    let y = result(&gpu, (2, kept.output(shape).samples), &[]);
                    let got = compute(&y, &kept.record(&*gpu, variant, &x, &y).unwrap());
                    let (first, second) = got.split_at(got.len() / 2);
                    assert!(first.iter().all(|v| v.is_nan()), "{bad} at {at} of {n}, {kept:?}: {first:?}");
                    assert!(second.iter().all(|v| v.is_finite()), "{bad} at {at} of {n}, {kept:?}: {second:?}");
                }
            }
        }
    }
}

#[test]
fn magnitudes_of_very_large_and_very_small_values() {
    let Some(gpu) = device() else { return };
    for scale in [1e-30, 1e30] {
        let x: Vec<f32> = noise(200, 9).iter().map(|v| v * scale).collect();
        check(&gpu, Analytic::Envelope, &x, 2);
    }
    assert_eq!(run(&gpu, Analytic::Envelope, &[0.0; 50], 2), [0.0; 50]);
}

#[test]
fn what_does_not_fit_says_so() {
    let Some(limited) = crate::runtime::testing::test_gpu_limited(1 << 20) else { return };
    // The row fits a binding, its spectrum does not.
    let n = 1 << 18;
    let variant = &variants(limited.facts(), Shape { channels: 1, samples: n })[0];
    let x = planar(&limited, (1, n), &[], &vec![0.5; n]);
    let y = result(&limited, (1, n), &[]);
    let e = record(Analytic::Envelope, &*limited, variant, &x, &y).unwrap_err();
    assert_eq!(e.kind(), crate::ErrorKind::Limit);
    assert!(e.to_string().contains("envelope needs") && e.to_string().contains("cpu runtime"), "{e}");
}
