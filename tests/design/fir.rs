//! Filters of finite length against scipy 1.17.1.

use dspk::design::{Firwin2Options, FirwinOptions, PassZero, SavgolCoeffsOptions, Window};
use dspk::design::{firwin, firwin2, savgol_coeffs};

type Firwin = (usize, &'static [f64], Window, bool, bool, [f64; 3]);
type Firwin2 = (usize, &'static [(f64, f64)], Option<usize>, bool, [f64; 3]);
type Savgol = (usize, usize, usize, Option<f64>, [f64; 3]);

/// Taps 0, 4 and the middle one of `scipy.signal.firwin(numtaps, cutoff, window=, pass_zero=, scale=)`.
#[rustfmt::skip]
const FIRWIN: [Firwin; 4] = [
    (31, &[0.3], Window::Hamming, true, true, [0.0016948642895205012, -0.0054270425742124, 0.29950724254439726]),
    (30, &[0.2, 0.5], Window::Blackman, false, true, [3.128986493693028e-19, -0.0025956267762135676, 0.2549327509989315]),
    (41, &[0.1, 0.2, 0.7], Window::Hann, true, false, [-0.0, -0.0018067630421646087, 0.5999999999999999]),
    (21, &[0.1, 0.2, 0.7, 0.8], Window::Boxcar, false, true, [-7.98119163283989e-17, -0.09285966170656655, 0.2274910158956252]),
];

/// Taps 0, 4 and the middle one of `scipy.signal.firwin2(numtaps, freq, gain, nfreqs=, antisymmetric=)`.
#[rustfmt::skip]
const FIRWIN2: [Firwin2; 5] = [
    (31, &[(0.0, 1.0), (0.5, 1.0), (1.0, 0.0)], None, false, [8.661472794343251e-05, 0.0004289752849105833, 0.75]),
    (64, &[(0.0, 0.0), (0.2, 1.0), (0.3, 1.0), (0.6, 0.5), (0.8, 0.0), (1.0, 0.0)], None, false, [-1.9124661251536598e-05, -0.00010708499294353689, 0.3877655274131153]),
    (151, &[(0.0, 1.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.0)], Some(300), false, [-0.0003484774242002071, -0.00039667353329471866, 0.5]),
    (33, &[(0.0, 0.0), (0.4, 1.0), (1.0, 0.0)], None, true, [0.00012264866383354079, 0.0003643378762086677, 0.0]),
    (32, &[(0.0, 0.0), (0.4, 1.0), (1.0, 0.5)], None, true, [0.00010700189378781404, 0.0006992554908130737, -0.4551944625975827]),
];

/// Coefficients 0, 1 and the middle one of `scipy.signal.savgol_coeffs(window_length, polyorder, deriv, 0.5, pos)`.
#[rustfmt::skip]
const SAVGOL: [Savgol; 6] = [
    (5, 2, 0, None, [-0.08571428571428574, 0.34285714285714275, 0.4857142857142856]),
    (7, 3, 1, None, [-0.17460317460317445, 0.5317460317460315, 4.4538975244369835e-17]),
    (11, 4, 2, None, [-0.20979020979021018, 0.4055944055944052, -0.4428904428904406]),
    (4, 2, 1, Some(3.0), [2.0999999999999956, -1.3000000000000054, -1.7000000000000026]),
    (6, 3, 0, None, [-0.09374999999999983, 0.21874999999999975, 0.3749999999999992]),
    (9, 2, 1, Some(0.5), [-0.29090909090909106, -0.006060606060605905, 0.303030303030303]),
];

fn assert_taps(what: &str, taps: &[f64], at: [usize; 3], expected: [f64; 3], tolerance: f64) {
    let scale = taps.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (i, want) in at.into_iter().zip(expected) {
        assert!((taps[i] - want).abs() <= tolerance * scale, "{what} at {i}: {}, scipy {want}", taps[i]);
    }
}

#[test]
fn window_method() {
    for (numtaps, cutoff, window, pass_zero, scale, expected) in FIRWIN {
        let options = FirwinOptions { window, pass_zero: PassZero::Is(pass_zero), scale, width: None };
        let h = firwin(numtaps, cutoff, 2.0, &options).unwrap();
        assert_taps(&format!("firwin {numtaps} {cutoff:?}"), &h, [0, 4, numtaps / 2], expected, 1e-13);
    }
}

#[test]
fn sampled_responses() {
    for (numtaps, points, nfreqs, antisymmetric, expected) in FIRWIN2 {
        let options = Firwin2Options { nfreqs, antisymmetric, ..Default::default() };
        let h = firwin2(numtaps, points, 2.0, &options).unwrap();
        assert_taps(&format!("firwin2 {numtaps} {points:?}"), &h, [0, 4, numtaps / 2], expected, 1e-13);
    }
}

#[test]
fn savitzky_golay() {
    for (length, order, deriv, pos, expected) in SAVGOL {
        let options = SavgolCoeffsOptions { deriv, delta: 0.5, pos, ..Default::default() };
        let c = savgol_coeffs(length, order, &options).unwrap();
        // scipy's own error: powers of the sample number.
        assert_taps(&format!("savgol {length} {order}"), &c, [0, 1, length / 2], expected, 1e-12);
    }
}
