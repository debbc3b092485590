use num_complex::Complex;

use super::*;
use crate::ops::problem::Problem;
use crate::signal::View;

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn cpu() -> CwtOptions {
    CwtOptions { runtime: Some("cpu".into()), ..Default::default() }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

/// The definition, in sums.
fn convolved(problem: &Wavelets, x: &[f32]) -> Vec<Complex<f64>> {
    let n = x.len();
    let line = |scale| {
        let kernel = problem.kernel(scale, n);
        let skip = (kernel.len() - 1) / 2;
        let products = move |i: usize, j: usize| {
            let at = (i + skip).checked_sub(j).and_then(|at| kernel.get(at).copied());
            at.unwrap_or_default() * f64::from(x[j])
        };
        (0..n).map(move |i| (0..n).map(|j| products(i, j)).sum())
    };
    (0..problem.widths.len()).flat_map(line).collect()
}

#[test]
fn the_reference_is_the_sum_itself_and_the_results_are_those_of_the_reference() {
    let frequencies = [0.5, 0.25, 0.0937, 0.02, 0.001];
    for w in [0.3, 5.0, 6.0] {
        let plan = Cwt::new(&frequencies, &CwtOptions { w, ..cpu() }).unwrap();
        for n in [1, 2, 3, 17, 64, 199] {
            let x = noise(2 * n);
            let view = View::new(&x, 2, n).unwrap();
            let want = plan.problem.reference(view.into(), None).unwrap();
            for (c, want) in want.chunks(want.len() / 2).enumerate() {
                for (e, want) in want.as_chunks::<2>().0.iter().zip(convolved(&plan.problem, &x[c * n..(c + 1) * n])) {
                    assert!((Complex::new(e[0], e[1]) - want).norm() < 1e-12, "{w} {n}");
                }
                let z = plan.apply(view).unwrap();
                crate::ops::job::compare(z.values.parts().row(c), want, 1.0, plan.problem.tolerance())
                    .unwrap_or_else(|e| panic!("{w} {n}: {e}"));
            }
        }
    }
}

#[test]
fn a_sine_has_its_frequency_and_amplitude() {
    let x: Vec<f32> = (0..2000).map(|n| 3.0 * (std::f32::consts::TAU * 0.05 * n as f32).sin()).collect();
    let f: Vec<f64> = (1..=20).map(|k| 0.01 * f64::from(k)).collect();
    let z = cwt(one(&x), &f, &cpu()).unwrap();
    let magnitudes: Vec<f32> = (0..20).map(|k| z.line(0, k)[1000].norm()).collect();
    let largest = (0..20).max_by(|a, b| magnitudes[*a].total_cmp(&magnitudes[*b])).unwrap();
    assert_eq!(largest, 4);
    // A / 2 times the integral of the bell curve, sqrt(2 pi) s, times the wavelet's factor.
    let s = 5.0 / (TAU * 0.05);
    let expected = 1.5 * TAU.sqrt() * s.sqrt() * std::f64::consts::PI.powf(-0.25);
    assert!((f64::from(magnitudes[4]) / expected - 1.0).abs() < 1e-4, "{}, expected {expected}", magnitudes[4]);
}

/// A weak wave keeps its digits beside a strong one far away.
#[test]
fn lines_do_not_share_their_errors() {
    let wave = |f: f64, n: usize| (TAU * f * n as f64).sin();
    // Without steps at the ends, which every wavelet sees.
    let bell = |n: usize| (std::f64::consts::PI * n as f64 / 4096.0).sin().powi(4);
    let x: Vec<f32> = (0..4096).map(|n| (bell(n) * (1e4 * wave(0.01, n) + 1e-2 * wave(0.25, n))) as f32).collect();
    let plan = Cwt::new(&[0.25], &cpu()).unwrap();
    let want = plan.problem.reference(one(&x).into(), None).unwrap();
    let z = plan.apply(one(&x)).unwrap();
    let middle = 4000..4192;
    let (got, want) = (&z.values.parts().row(0)[middle.clone()], &want[middle]);
    let size = want.iter().fold(0f64, |m, v| m.max(v.abs()));
    assert!(got.iter().zip(want).all(|(g, e)| (f64::from(*g) - e).abs() < 1e-5 * size), "{size}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let x = noise(3 * 700);
    let pools = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let [a, b] = pools.map(|p| p.install(|| cwt(View::new(&x, 3, 700).unwrap(), &[0.1, 0.05, 0.01], &cpu()).unwrap()));
    assert_eq!(a, b);
}

#[test]
fn what_is_not_finite_takes_its_whole_channel() {
    let mut x = noise(200);
    x[5] = f32::INFINITY;
    let z = cwt(View::new(&x, 2, 100).unwrap(), &[0.1, 0.2], &cpu()).unwrap();
    assert!(z.values.row(0).iter().all(|v| v.re.is_nan() && v.im.is_nan()));
    assert!(z.values.row(1).iter().all(|v| v.re.is_finite()));
}

#[test]
fn integers_and_strides_are_as_good_as_float_rows() {
    let ints: Vec<i16> = noise(2 * 300).iter().map(|v| (v * 1000.0) as i16).collect();
    let rows: Vec<f32> = (0..2).flat_map(|c| ints.iter().skip(c).step_by(2).map(|v| f32::from(*v))).collect();
    let (a, b) = (View::interleaved(&ints, 2).unwrap(), View::new(&rows, 2, 300).unwrap());
    assert_eq!(cwt(a, &[0.1], &cpu()).unwrap(), cwt(b, &[0.1], &cpu()).unwrap());
}

#[test]
fn what_cannot_be_is_refused_and_nothing_stays_nothing() {
    let message = |f: &[f64], options: CwtOptions| cwt(one(&[1.0; 9]), f, &options).unwrap_err().to_string();
    assert!(message(&[], cpu()).contains("no frequencies"));
    assert!(message(&[0.1, 0.0], cpu()).contains("frequencies[1] is 0"));
    assert!(message(&[0.6], cpu()).contains("up to 0.5"));
    assert!(message(&[f64::NAN], cpu()).contains("NaN"));
    assert!(message(&[0.1], CwtOptions { w: 0.0, ..cpu() }).contains("w is 0"));
    assert!(message(&[0.1], CwtOptions { fs: -1.0, ..cpu() }).contains("fs is -1"));
    let empty = cwt(View::new(&[0f32; 0], 2, 0).unwrap(), &[0.1], &cpu()).unwrap();
    assert_eq!((empty.t.len(), empty.values.channels(), empty.values.bins()), (0, 2, 0));
}
