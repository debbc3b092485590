use super::*;
use crate::simd::{Kernel, levels};

struct Run<'a> {
    plan: &'a Plan,
    z: &'a mut [Point],
    out: &'a mut [Point],
}

impl Kernel for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.plan.transform(simd, self.z, &mut Ahead::default());
        self.plan.gather(simd, self.z, false, 1.0, self.out);
    }
}

#[test]
fn every_radix_at_every_level() {
    for points in (1..100).chain([128, 343, 512, 625, 1000, 1024, 2187, 4096]).filter(|n| Plan::exists(*n)) {
        let plan = Plan::new(points).unwrap();
        let value = |j: usize, lane: usize| ((j * 7 + lane * 5) % 23) as f32 / 11.0 - 1.0;
        for level in levels() {
            let mut z: Vec<Point> =
                (0..points).map(|j| [0, 8].map(|o| std::array::from_fn(|lane| value(j, lane + o)))).collect();
            let mut out = vec![[[0.0; 16]; 2]; points];
            level.run(Run { plan: &plan, z: &mut z, out: &mut out });
            for lane in [0, 15] {
                let mut expected: Vec<num_complex::Complex<f64>> = (0..points)
                    .map(|j| num_complex::Complex::new(value(j, lane).into(), value(j, lane + 8).into()))
                    .collect();
                rustfft::FftPlanner::new().plan_fft_forward(points).process(&mut expected);
                let (mut error, mut norm) = (0.0, 0.0);
                for (z, e) in out.iter().zip(&expected) {
                    error += (f64::from(z[0][lane]) - e.re).powi(2) + (f64::from(z[1][lane]) - e.im).powi(2);
                    norm += e.norm_sqr();
                }
                assert!(error.sqrt() < 3e-7 * norm.sqrt(), "{points} {}: {}", level.name(), (error / norm).sqrt());
            }
        }
    }
}

#[test]
fn plans_by_length() {
    let plan = |n| radices(n).unwrap_or_default();
    assert_eq!((plan(1), plan(2), plan(16)), (vec![], vec![2], vec![4, 4]));
    assert_eq!((plan(512), plan(1024), plan(2048)), (vec![8, 8, 8], vec![8, 8, 4, 4], vec![8, 8, 8, 4]));
    assert_eq!((plan(480), plan(1000)), (vec![8, 5, 4, 3], vec![8, 5, 5, 5]));
    assert_eq!((radices(11), radices(2 * 13)), (None, None));
}
