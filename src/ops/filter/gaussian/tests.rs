use super::*;
use crate::signal::View;

#[test]
fn coefficients_are_those_of_scipy() {
    // scipy.ndimage._filters._gaussian_kernel1d(1.5, order, 3)[::-1]
    let cases: [(usize, [f64; 4]); 3] = [
        (0, [0.03663285, 0.11128076, 0.21674532, 0.27068215]),
        (1, [-0.04884379, -0.09891623, -0.09633125, 0.0]),
        (2, [0.04884379, 0.03846742, -0.05351736, -0.12030318]),
    ];
    for (order, want) in cases {
        let options = GaussianOptions { order, radius: Some(3), ..Default::default() };
        let filter = GaussianFilter::new(1.5, &options).unwrap();
        let sign = if order % 2 == 1 { -1.0 } else { 1.0 };
        let c = filter.coefficients();
        assert_eq!(c.len(), 7);
        for (k, want) in want.iter().enumerate() {
            assert!((c[k] - want).abs() < 1e-7, "{order}: {c:?}");
            assert!((c[6 - k] - sign * c[k]).abs() < 1e-15, "{order}: {c:?}");
        }
    }
}

#[test]
fn derivatives_of_polynomials() {
    let x: Vec<f32> = (0..200).map(|n| (n * n) as f32 * 0.01).collect();
    for (order, want) in [(1, (|n| 0.02 * n) as fn(f64) -> f64), (2, |_| 0.02)] {
        let options = GaussianOptions { order, truncate: 8.0, ..Default::default() };
        let y = GaussianFilter::new(2.0, &options).unwrap().on("cpu").apply(View::new(&x, 1, 200).unwrap()).unwrap();
        for (n, v) in y.row(0).iter().enumerate().take(180).skip(20) {
            assert!((f64::from(*v) - want(n as f64)).abs() < 3e-4, "{order} at {n}: {v}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(GaussianFilter::new(sigma, &GaussianOptions::default()).unwrap_err().kind().is_usage(), "{sigma}");
    }
    let options = GaussianOptions { truncate: f64::NAN, ..Default::default() };
    assert!(GaussianFilter::new(1.0, &options).is_err());
}
