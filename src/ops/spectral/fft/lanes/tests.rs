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

/// The same bits, whether results go past the caches or not, and to aligned rows or others.
#[test]
fn long_rows_past_the_caches() {
    use super::long::{Long, Row, Space};
    for points in [512, 513, 700, 1000, 4096, 4100, 30_000] {
        let Some(long) = Long::get(points) else { continue };
        let x: Vec<f32> = (0..2 * points).map(|i| ((i * 7919) % 1009) as f32 / 500.0 - 1.0).collect();
        for level in levels() {
            for real in [false, true] {
                let run = |to: Option<&mut [f32]>, from: Option<&[f32]>| {
                    let mut near = x.clone();
                    if from.is_some() {
                        near.fill(f32::NAN);
                    }
                    near.resize(2 * points + 2, 0.0);
                    let row = if real { &mut near[..] } else { &mut near[..2 * points] };
                    let (ahead, mut space) = (Ahead::new(&x, 0..x.len(), long.butterflies()), Space::new());
                    let (long, space) = (&*long, &mut space);
                    let streamed = to;
                    level.run(Row { long, from, row, swapped: false, real, factor: 0.7, space, ahead, streamed });
                    near
                };
                let expected = run(None, None);
                let length = 2 * points + 2 * usize::from(real);
                for offset in [0, 5] {
                    let mut y = crate::signal::Buffer::<f32>::dirty(length + 16).unwrap();
                    y.fill(f32::NAN);
                    run(Some(&mut y[offset..offset + length]), Some(&x));
                    assert_eq!(y[offset..offset + length], expected[..length], "{points} {real} {}", level.name());
                    assert!(y[..offset].iter().chain(&y[offset + length..]).all(|v| v.is_nan()));
                }
            }
        }
    }
}
