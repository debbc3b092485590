use proptest::prelude::*;

use super::*;
use crate::ops::problem::Problem;
use crate::signal::View;

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn cpu(window: Option<Window>) -> ResampleOptions {
    ResampleOptions { window, runtime: Some("cpu".into()) }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

/// Both of a pair of lengths: up, down, even, odd, the same, prime, one.
pub(super) const LENGTHS: [(usize, usize); 17] = [
    (1, 1),
    (1, 2),
    (1, 5),
    (2, 1),
    (2, 3),
    (3, 2),
    (4, 8),
    (8, 4),
    (8, 5),
    (5, 8),
    (7, 7),
    (8, 8),
    (97, 64),
    (64, 97),
    (1009, 500),
    (1000, 1011),
    (360, 150),
];

/// `scipy.signal.resample` of 1, 2, ..., n.
#[test]
fn a_few_numbers() {
    let cases: [(usize, usize, &[f64]); 6] = [
        (1, 3, &[1.0, 1.0, 1.0]),
        (2, 1, &[1.5]),
        (4, 2, &[1.5, 3.5]),
        (2, 4, &[1.0, 1.5, 2.0, 1.5]),
        (4, 3, &[1.5, 2.133_974_6, 3.866_025_4]),
        (3, 5, &[1.0, 1.141_890_27, 2.469_659_02, 3.148_374_97, 2.240_075_74]),
    ];
    for (n, num, expected) in cases {
        let x: Vec<f32> = (1..=n).map(|v| v as f32).collect();
        let y = resample(one(&x), num, &cpu(None)).unwrap();
        let good = y.row(0).iter().zip(expected).all(|(y, e)| (f64::from(*y) - e).abs() < 1e-5);
        assert!(good, "{n} to {num}: {:?}, expected {expected:?}", y.row(0));
    }
}

#[test]
fn lengths_and_windows_of_all_kinds_are_those_of_the_reference() {
    for window in [None, Some(Window::Hamming), Some(Window::Exponential { center: Some(1.0), tau: 20.0 })] {
        for (n, num) in LENGTHS {
            let problem = Fourier::new(num, window.clone()).unwrap();
            let x = noise(3 * n);
            let view = View::new(&x, 3, n).unwrap();
            let want = problem.reference(view.into(), None).unwrap();
            let y = resample(view, num, &cpu(window.clone())).unwrap();
            for (c, want) in want.chunks(num).enumerate() {
                crate::ops::job::compare(y.row(c), want, 1.0, problem.tolerance())
                    .unwrap_or_else(|e| panic!("{window:?} {n} to {num}: {e}"));
            }
        }
    }
}

#[test]
fn a_sine_keeps_its_amplitude_and_what_the_new_rate_cannot_hold_goes() {
    let wave = |f: usize, n: usize| -> Vec<f32> {
        (0..n).map(|k| (std::f64::consts::TAU * (f * k) as f64 / n as f64).cos() as f32).collect()
    };
    for (from, to) in [(1000, 400), (400, 1000), (1000, 999)] {
        let y = resample(one(&wave(30, from)), to, &cpu(None)).unwrap();
        assert!(y.row(0).iter().zip(wave(30, to)).all(|(y, e)| (y - e).abs() < 2e-6), "{from} to {to}");
    }
    let y = resample(one(&wave(300, 1000)), 400, &cpu(None)).unwrap();
    assert!(y.row(0).iter().all(|v| v.abs() < 1e-6));
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    for (n, num) in [(100, 33), (33, 100), (1, 3), (2, 2)] {
        let mut x = noise(2 * n);
        x[n - 1] = f32::NAN;
        let y = resample(View::new(&x, 2, n).unwrap(), num, &cpu(None)).unwrap();
        assert!(y.row(0).iter().all(|v| v.is_nan()) && y.row(1).iter().all(|v| v.is_finite()), "{n} to {num}");
    }
}

#[test]
fn integers_and_strides_are_as_good_as_float_rows() {
    let ints: Vec<i16> = noise(2 * 500).iter().map(|v| (v * 1000.0) as i16).collect();
    let rows: Vec<f32> = (0..2).flat_map(|c| ints.iter().skip(c).step_by(2).map(|v| f32::from(*v))).collect();
    let (a, b) = (View::interleaved(&ints, 2).unwrap(), View::new(&rows, 2, 500).unwrap());
    let plan = Resample::new(123, &cpu(None)).unwrap();
    assert_eq!(plan.apply(a).unwrap(), plan.apply(b).unwrap());
    // Another length with the same plan.
    assert_eq!(plan.apply(one(&rows)).unwrap().samples(), 123);
}

#[test]
fn what_cannot_be_is_refused() {
    let message = |x: &[f32], num, window| resample(one(x), num, &cpu(window)).unwrap_err().to_string();
    assert!(message(&[1.0], 0, None).contains("num is 0"));
    assert!(message(&[], 5, None).contains("without samples"));
    assert!(message(&[1.0], usize::MAX, None).contains("fit in memory"));
    assert!(message(&[1.0; 5], 3, Some(Window::Dpss { nw: 4.0 })).contains("NW = 4"));
    let empty = resample(View::new(&[0f32; 0], 0, 7).unwrap(), 5, &cpu(None)).unwrap();
    assert_eq!((empty.channels(), empty.samples()), (0, 5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn up_and_down_again_is_where_it_was(x in prop::collection::vec(-100f32..100.0, 1..200), more in 1usize..300) {
        let n = x.len();
        let up = resample(one(&x), n + more, &cpu(None)).unwrap();
        let back = resample(&up, n, &cpu(None)).unwrap();
        for (a, b) in back.row(0).iter().zip(&x) {
            prop_assert!((a - b).abs() < 1e-4, "{} {}: {} {}", n, more, a, b);
        }
    }

    #[test]
    fn a_multiple_of_the_length_keeps_the_samples(x in prop::collection::vec(-100f32..100.0, 1..100), times in 2usize..6) {
        let y = resample(one(&x), x.len() * times, &cpu(None)).unwrap();
        for (a, b) in y.row(0).iter().step_by(times).zip(&x) {
            prop_assert!((a - b).abs() < 1e-4);
        }
    }
}
