use super::super::tests::LENGTHS;
use super::*;
use crate::design::Window;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::{Problem, Shape};
use crate::signal::View;

fn check(gpu: &std::sync::Arc<dyn Gpu>, problem: &Fourier, channels: usize, n: usize) {
    let x = noise(channels * n, 3);
    let want = problem.reference(View::new(&x, channels, n).unwrap().into(), None).unwrap();
    let x = planar(gpu, (channels, n), &[], &x);
    let variants = problem.gpu_variants(gpu.facts(), Shape { channels, samples: n });
    assert!(!variants.is_empty());
    let y = result(gpu, (channels, problem.num), &[]);
    let y = compute(&y, &record(problem, &**gpu, &variants[0], &x, &y).unwrap());
    for (got, want) in y.chunks(problem.num).zip(want.chunks(problem.num)) {
        crate::ops::job::compare(got, want, 1.0, problem.tolerance())
            .unwrap_or_else(|e| panic!("{:?} {n} to {}: {e}", problem.window, problem.num));
    }
}

#[test]
fn lengths_and_windows_of_all_kinds() {
    let Some(gpu) = device() else { return };
    for (n, num) in LENGTHS {
        for window in [None, Some(Window::Exponential { center: Some(1.0), tau: 20.0 })] {
            check(&gpu, &Fourier::new(num, window).unwrap(), 3, n);
        }
    }
}

#[test]
fn long_channels_in_parts() {
    let Some(gpu) = device() else { return };
    for (channels, n, num) in [(37, 65_600, 30_000), (5, 30_000, 65_537), (700, 3000, 101)] {
        check(&gpu, &Fourier::new(num, None).unwrap(), channels, n);
    }
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    let Some(gpu) = device() else { return };
    for (n, num) in [(100, 33), (33, 100), (1, 3), (2, 2), (4, 2), (3, 4)] {
        let mut x = noise(2 * n, 1);
        x[n - 1] = f32::NAN;
        let problem = Fourier::new(num, None).unwrap();
        let variant = &problem.gpu_variants(gpu.facts(), Shape { channels: 2, samples: n })[0];
        let y = result(&gpu, (2, num), &[]);
        let y = compute(&y, &record(&problem, &*gpu, variant, &planar(&gpu, (2, n), &[], &x), &y).unwrap());
        assert!(y[..num].iter().all(|v| v.is_nan()) && y[num..].iter().all(|v| v.is_finite()), "{n} to {num}: {y:?}");
    }
}
