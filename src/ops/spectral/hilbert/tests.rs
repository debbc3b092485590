use super::*;
use crate::ops::problem::Problem;
use crate::signal::View;

fn cpu() -> HilbertOptions {
    HilbertOptions { runtime: Some("cpu".into()) }
}

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn of(x: &[f32]) -> ComplexSignal {
    hilbert(View::new(x, 1, x.len()).unwrap(), &cpu()).unwrap()
}

#[test]
fn the_imaginary_part_of_a_few_numbers() {
    for (n, expected) in [
        (1, &[0.0][..]),
        (2, &[0.0, 0.0]),
        (4, &[1.0, -1.0, -1.0, 1.0]),
        (5, &[1.70130, -1.37638, -0.64984, -1.37638, 1.70130]),
    ] {
        let x: Vec<f32> = (1..=n).map(|v| v as f32).collect();
        let z = of(&x);
        assert!(z.row(0).iter().zip(&x).all(|(z, x)| z.re == *x));
        assert!(z.row(0).iter().zip(expected).all(|(z, e)| (z.im - e).abs() < 1e-5), "{n}: {:?}", z.row(0));
    }
}

#[test]
fn lengths_of_all_kinds_are_those_of_the_reference() {
    for n in [1, 2, 3, 16, 97, 510, 1208, 10_007] {
        let x = noise(2 * n);
        let view = View::new(&x, 2, n).unwrap();
        let z = hilbert(view, &cpu()).unwrap();
        let e = envelope(view, &cpu()).unwrap();
        let expected = Analytic::Signal.reference(view.into(), None).unwrap();
        for c in 0..2 {
            for (k, expected) in expected[c * 2 * n..(c + 1) * 2 * n].as_chunks::<2>().0.iter().enumerate() {
                let z = z.row(c)[k];
                let error = (f64::from(z.re) - expected[0]).hypot(f64::from(z.im) - expected[1]);
                assert!(error < 2e-6, "{n}: {z}, expected {expected:?}");
                assert!((f64::from(e.row(c)[k]) - expected[0].hypot(expected[1])).abs() < 2e-6);
            }
        }
    }
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    for bad in [f32::NAN, f32::INFINITY] {
        for n in [100, 101] {
            let mut x = noise(2 * n);
            x[7] = bad;
            let z = hilbert(View::new(&x, 2, n).unwrap(), &cpu()).unwrap();
            assert!(z.row(0).iter().all(|v| v.re.is_nan() && v.im.is_nan()), "{bad} {n}");
            assert!(z.row(1).iter().all(|v| v.re.is_finite() && v.im.is_finite()));
        }
    }
}

#[test]
fn the_phase_of_a_chirp_and_its_frequency() {
    let n = 4000;
    let at = |k: usize| k as f64 / n as f64;
    let phase = |k: usize| std::f64::consts::TAU * (200.0 * at(k) + 100.0 * at(k) * at(k));
    let x: Vec<f32> = (0..n).map(|k| (2.0 * phase(k).cos()) as f32).collect();
    let view = View::new(&x, 1, n).unwrap();
    let angles = instantaneous_phase(view).unwrap();
    let f = instantaneous_frequency(view, n as f64).unwrap();
    for k in n / 10..n * 9 / 10 {
        assert!((f64::from(angles.row(0)[k]) - phase(k)).abs() < 0.05, "{k}");
        assert!((f64::from(f.row(0)[k]) - 200.0 - 200.0 * at(k)).abs() < 5.0, "{k}: {}", f.row(0)[k]);
    }
    assert!(instantaneous_frequency(view, 0.0).is_err());
    let empty = View::new(&[0f32; 0], 2, 0).unwrap();
    assert_eq!((instantaneous_phase(empty).unwrap().samples(), of(&[]).bins()), (0, 0));
    assert_eq!(instantaneous_frequency(empty, 1.0).unwrap().channels(), 2);
}
