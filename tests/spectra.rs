//! What must hold of spectra whatever the length and the runtime: awkward lengths that users of other tools met, and the
//! laws of the transform.

mod common;

use std::f64::consts::TAU;

use common::{close, noise, runtimes};
use dspk::ops::spectral::{Fft, FftOptions, HilbertOptions, Norm, fft, hilbert, ifft, irfft, rfft};
use dspk::signal::{Complex32, ComplexSignal, ComplexView, View};
use proptest::prelude::*;
use realfft::RealFftPlanner;

/// Tiny, a power of two short of one, 8 x 151, prime, 17 x 3011, prime.
const AWKWARD: [usize; 9] = [1, 2, 3, 510, 1208, 49_999, 51_187, 65_537, 1_030_703];

fn on(runtime: &str, n: Option<usize>, norm: Norm) -> FftOptions {
    FftOptions { n, norm, runtime: Some(runtime.into()) }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).expect("a view")
}

fn row(z: &[Complex32]) -> ComplexView<'_> {
    ComplexView::new(z, 1, z.len()).expect("a view")
}

/// `|a - b| / |b|`, root of sums of squares.
fn distance(a: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (wrong, all) = a.fold((0.0, 0.0), |(wrong, all), (a, b)| (wrong + (a - b) * (a - b), all + b * b));
    if wrong == 0.0 { 0.0 } else { f64::sqrt(wrong / all) }
}

fn parts(z: &[Complex32]) -> impl Iterator<Item = f64> {
    z.iter().flat_map(|z| [f64::from(z.re), f64::from(z.im)])
}

#[test]
fn awkward_lengths() {
    for runtime in runtimes() {
        for n in AWKWARD {
            let plan = Fft::new(&on(runtime, Some(n), Norm::Backward)).expect("a plan");
            if n > 1 {
                let mut impulse = vec![0.0; n];
                impulse[1] = 1.0;
                let z = plan.real_forward(one(&impulse)).expect("a spectrum");
                let worst = z.row(0).iter().map(|z| (z.norm() - 1.0).abs()).fold(0.0, f32::max);
                assert!(worst < 4e-6, "{runtime} {n}: {worst:.1e}");
            }
            let x = noise(n, 3);
            let z = plan.real_forward(one(&x)).expect("a spectrum");
            let mut wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
            let transform = RealFftPlanner::<f64>::new().plan_fft_forward(n);
            let mut expected = transform.make_output_vec();
            transform.process(&mut wide, &mut expected).expect("lengths that fit");
            let error = distance(parts(z.row(0)).zip(expected.iter().flat_map(|z| [z.re, z.im])));
            assert!(error <= 1e-6, "{runtime} {n}: relative L2 error {error:.1e}");
            if runtime != "cpu" && n > 50_000 {
                // Shorter primes take the same way back.
                continue;
            }
            let back = plan.real_inverse(&z).expect("a signal");
            let error = distance(back.row(0).iter().zip(&x).map(|(a, b)| (f64::from(*a), f64::from(*b))));
            assert!(error <= 1e-6, "{runtime} {n}, there and back: {error:.1e}");
        }
    }
}

#[test]
fn a_cosine_in_a_prime_number_of_samples() {
    let n = 65_537;
    let x: Vec<f32> = (0..n).map(|k| (TAU * ((1000 * k) % n) as f64 / n as f64).cos() as f32).collect();
    for runtime in runtimes() {
        let z = rfft(one(&x), &on(runtime, None, Norm::Backward)).expect("a spectrum");
        for (k, z) in z.row(0).iter().enumerate() {
            let expected = if k == 1000 { 32_768.5 } else { 0.0 };
            assert!((z.norm() - expected).abs() < 0.1, "{runtime} bin {k}: {z}");
        }
    }
}

#[test]
fn analytic_signals_of_a_few_samples() {
    for runtime in runtimes() {
        let options = HilbertOptions { runtime: Some(runtime.into()) };
        let ramps: [(&[f32], &[f64]); 2] = [
            (&[1.0, 2.0, 3.0, 4.0], &[1.0, -1.0, -1.0, 1.0]),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.70130, -1.37638, -0.64984, -1.37638, 1.70130]),
        ];
        for (x, expected) in ramps {
            let z = hilbert(one(x), &options).expect("a signal");
            let side = |of: fn(&Complex32) -> f32| z.row(0).iter().map(of).collect::<Vec<_>>();
            close(runtime, &side(|z| z.re), &x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>(), 1e-6, 0.0);
            close(runtime, &side(|z| z.im), expected, 5e-6, 0.0);
        }
    }
}

/// Complex noise, and a length: short, smooth, prime, long.
fn signals() -> impl Strategy<Value = (Vec<Complex32>, Vec<Complex32>)> {
    let length = prop_oneof![1usize..80, Just(128), Just(251), Just(1000), Just(4099)];
    (length, any::<u32>()).prop_map(|(n, seed)| {
        let values =
            |seed| noise(2 * n, seed).as_chunks::<2>().0.iter().map(|z| Complex32::new(z[0], z[1])).collect::<Vec<_>>();
        (values(seed), values(seed ^ 0x5555_5555))
    })
}

fn forward(z: &[Complex32], norm: Norm) -> ComplexSignal {
    fft(row(z), &on("cpu", None, norm)).expect("a spectrum")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Parseval: what is measured in time is found again among the frequencies.
    #[test]
    fn energy_is_kept((z, _) in signals()) {
        let spectrum = forward(&z, Norm::Ortho);
        let energy = |z: &[Complex32]| parts(z).map(|v| v * v).sum::<f64>();
        let (time, frequency) = (energy(&z), energy(spectrum.row(0)));
        prop_assert!((time - frequency).abs() <= 2e-6 * time, "{time} {frequency}");
    }

    #[test]
    fn sums_have_the_sum_of_spectra((a, b) in signals(), by in -3f32..3.0) {
        let both: Vec<_> = a.iter().zip(&b).map(|(a, b)| a + b * by).collect();
        let (of_both, of_a, of_b) = (forward(&both, Norm::Ortho), forward(&a, Norm::Ortho), forward(&b, Norm::Ortho));
        let sum: Vec<_> = of_a.row(0).iter().zip(of_b.row(0)).map(|(a, b)| a + b * by).collect();
        let size = parts(&a).chain(parts(&b)).map(|v| v * v).sum::<f64>().sqrt() * (1.0 + f64::from(by.abs()));
        let wrong = parts(of_both.row(0)).zip(parts(&sum)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        prop_assert!(wrong <= 2e-6 * size, "{wrong} {size}");
    }

    /// A delay turns each frequency by its own angle.
    #[test]
    fn delays_are_turns((z, _) in signals(), by in 0usize..5000) {
        let (n, by) = (z.len(), by % z.len());
        let delayed: Vec<_> = (0..n).map(|k| z[(k + n - by) % n]).collect();
        let (plain, delayed) = (forward(&z, Norm::Ortho), forward(&delayed, Norm::Ortho));
        let turned = plain.row(0).iter().enumerate().flat_map(|(k, z)| {
            let (sin, cos) = (-TAU * ((k * by) % n) as f64 / n as f64).sin_cos();
            let (re, im) = (f64::from(z.re), f64::from(z.im));
            [re * cos - im * sin, re * sin + im * cos]
        });
        let error = distance(parts(delayed.row(0)).zip(turned));
        prop_assert!(error <= 2e-6, "{error}");
    }

    #[test]
    fn there_and_back((z, _) in signals(), norm in prop_oneof![Just(Norm::Backward), Just(Norm::Ortho), Just(Norm::Forward)]) {
        let back = ifft(&forward(&z, norm), &on("cpu", None, norm)).expect("a signal");
        let error = distance(parts(back.row(0)).zip(parts(&z)));
        prop_assert!(error <= 2e-6, "{error}");
        let x: Vec<f32> = z.iter().map(|z| z.re).collect();
        let half = rfft(one(&x), &on("cpu", None, norm)).expect("a spectrum");
        let back = irfft(&half, &on("cpu", Some(x.len()), norm)).expect("a signal");
        let error = distance(back.row(0).iter().zip(&x).map(|(a, b)| (f64::from(*a), f64::from(*b))));
        prop_assert!(error <= 2e-6, "{error}");
    }
}
