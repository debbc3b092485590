use super::super::{PhaseShift, PhaseShiftOptions, Shifts};
use super::*;
use crate::ops::execute;
use crate::ops::launch_tests::{compute, device, noise, planar, result};
use crate::ops::problem::{Problem, Shape};
use crate::runtime::Target;
use crate::signal::{Signal, View};

fn problem(shifts: Shifts, padded: bool) -> Shifted {
    PhaseShift::new(&PhaseShiftOptions { shifts, padded, runtime: None }).unwrap().problem
}

fn compare(problem: &Shifted, got: &[f32], x: &[f32], (channels, n): (usize, usize)) {
    let want = problem.reference(View::new(x, channels, n).unwrap().into(), None).unwrap();
    for (c, (got, want)) in got.chunks(n).zip(want.chunks(n)).enumerate() {
        crate::ops::job::compare(got, want, 1.0, problem.tolerance())
            .unwrap_or_else(|e| panic!("{problem:?} {n} channel {c}: {e}"));
    }
}

#[test]
fn lengths_of_all_kinds() {
    let Some(gpu) = device() else { return };
    for n in [1, 2, 3, 17, 100, 509, 4096, 30_011] {
        for padded in [false, true] {
            for shifts in [Shifts::One(-7.625), Shifts::PerChannel(vec![0.25, -7.5, 1e9 + 0.125])] {
                let (problem, x) = (problem(shifts, padded), noise(3 * n, 3));
                let variant = &problem.gpu_variants(gpu.facts(), Shape { channels: 3, samples: n })[0];
                let (x_device, y) = (planar(&gpu, (3, n), &[], &x), result(&gpu, (3, n), &[]));
                let y = compute(&y, &record(&problem, &*gpu, variant, &x_device, &y).unwrap());
                compare(&problem, &y, &x, (3, n));
            }
        }
    }
}

#[test]
fn each_channel_has_its_delay_in_every_part() {
    let Some(gpu) = device() else { return };
    let (channels, n) = (37, 65_600);
    let shifts = (0..channels).map(|c| c as f64 / 12.0 - 1.0).collect();
    let (problem, x) = (problem(Shifts::PerChannel(shifts), false), noise(channels * n, 3));
    let variant = &problem.gpu_variants(gpu.facts(), Shape { channels, samples: n })[0];
    let y = result(&gpu, (channels, n), &[]);
    let y = compute(&y, &record(&problem, &*gpu, variant, &planar(&gpu, (channels, n), &[], &x), &y).unwrap());
    compare(&problem, &y, &x, (channels, n));
}

/// Arrays beyond the binding limit are computed some channels at a time, each with its own delay.
#[test]
fn channels_keep_their_delays_where_an_array_is_split() {
    let Some(limited) = crate::runtime::testing::test_gpu_limited(1 << 20) else { return };
    let (channels, n) = (24, 40_000);
    let shifts = Shifts::PerChannel((0..channels).map(|c| c as f64 / 7.0 - 1.5).collect());
    let x = noise(channels * n, 3);
    for padded in [false, true] {
        let problem = problem(shifts.clone(), padded);
        let mut y = Signal::zeros(channels, n).unwrap();
        let view = View::new(&x, channels, n).unwrap();
        execute::run_on(&Target::Gpu(limited.clone()), &problem, view.into(), y.view_mut(), None).unwrap();
        compare(&problem, &y.to_vec(), &x, (channels, n));
    }
}
