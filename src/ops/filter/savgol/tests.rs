use super::*;
use crate::ops::launch_tests::noise;
use crate::signal::View;

fn filtered(window: usize, order: usize, options: &SavgolOptions, x: &[f32]) -> Vec<f32> {
    let filter = SavgolFilter::new(window, order, options).unwrap().on("cpu");
    filter.apply(View::new(x, 1, x.len()).unwrap()).unwrap().to_vec()
}

#[test]
fn polynomials_and_their_derivatives_are_what_they_are() {
    let x: Vec<f32> = (0..60).map(|n| (f64::from(n) * 0.1).powi(3) as f32).collect();
    for window in [5, 8, 11, 60] {
        for (deriv, want) in
            [(0, (|t| t * t * t) as fn(f64) -> f64), (1, |t| 3.0 * t * t), (2, |t| 6.0 * t), (3, |_| 6.0)]
        {
            let options = SavgolOptions { deriv, delta: 0.1, edge: None };
            let y = filtered(window, 3, &options, &x);
            // What is promised of the sum, and the rounding of the input.
            let gain = SavgolFilter::new(window, 3, &options).unwrap().tolerance().gain;
            let bound = (1e-6 + 6e-8) * gain * f64::from(x[59]);
            for (n, v) in y.iter().enumerate() {
                // As in scipy, the middle of an even window lies between two samples; fits at the ends do not.
                let interior = (window / 2..60 - window / 2).contains(&n);
                let between = if window % 2 == 0 && interior { 0.5 } else { 0.0 };
                let want = want((n as f64 + between) * 0.1);
                assert!((f64::from(*v) - want).abs() < bound, "{window} {deriv} at {n}: {v} {want}");
            }
        }
    }
}

#[test]
fn values_of_scipy() {
    // scipy.signal.savgol_filter([2, 2, 5, 2, 1, 0, 1, 4, 9], 5, 2), and mode="nearest".
    let x = [2.0, 2.0, 5.0, 2.0, 1.0, 0.0, 1.0, 4.0, 9.0];
    let want = [1.65714286, 3.17142857, 3.54285714, 2.85714286, 0.65714286, 0.17142857, 1.0, 4.0, 9.0];
    let y = filtered(5, 2, &SavgolOptions::default(), &x);
    y.iter().zip(want).for_each(|(v, w)| assert!((f64::from(*v) - w).abs() < 3e-6, "{y:?}"));
    let y = filtered(5, 2, &SavgolOptions { edge: Some(Edge::Nearest), ..Default::default() }, &x);
    let want = [1.74285714, 3.02857143, 3.54285714, 2.85714286, 0.65714286, 0.17142857, 1.0, 4.6, 7.97142857];
    y.iter().zip(want).for_each(|(v, w)| assert!((f64::from(*v) - w).abs() < 3e-6, "{y:?}"));
}

#[test]
fn the_filter_is_linear() {
    let (a, b) = (noise(300, 1), noise(300, 2));
    let both: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + 2.0 * b).collect();
    let options = SavgolOptions { deriv: 1, ..Default::default() };
    let [a, b, both] = [a, b, both].map(|x| filtered(15, 4, &options, &x));
    both.iter().zip(a.iter().zip(&b)).for_each(|(y, (a, b))| assert!((y - (a + 2.0 * b)).abs() < 3e-5));
}

#[test]
fn what_cannot_be_is_refused() {
    let new = |window, order, options: SavgolOptions| SavgolFilter::new(window, order, &options).map(|_| ());
    let kind = |r: Result<()>| r.unwrap_err().kind();
    assert!(kind(new(0, 0, SavgolOptions::default())).is_usage());
    assert!(kind(new(5, 5, SavgolOptions::default())).is_usage());
    assert!(kind(new(5, 2, SavgolOptions { delta: 0.0, ..Default::default() })).is_usage());
    let edge = Some(Edge::Constant(f64::NAN));
    assert!(kind(new(5, 2, SavgolOptions { edge, ..Default::default() })).is_usage());
    let filter = SavgolFilter::new(5, 2, &SavgolOptions::default()).unwrap().on("cpu");
    let e = filter.apply(View::new(&[0f32; 4], 1, 4).unwrap()).unwrap_err();
    assert!(e.to_string().contains("shorter window"), "{e}");
}
