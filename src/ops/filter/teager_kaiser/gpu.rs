//! Teager-Kaiser energy on a device (see `filter/teager_kaiser.wgsl`).

use crate::error::Result;
use crate::ops::filter::{edge::Edge, halo};
use crate::ops::launch::{all, compose, is_software, launch, pairs, space, word};
use crate::ops::problem::Variant;
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu};

/// Variants, the default first.
pub(super) fn variants(facts: &Facts) -> Vec<Variant> {
    let groups: &[u32] = if is_software(facts) { &[8, 64] } else { &[64, 128] };
    space("products", &[("WG", 64)], &[("WG", groups)], |v| v[0].1 <= facts.limits.group_size)
}

/// Records the computation over all segments.
pub(super) fn record(
    lag: usize,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let kernel = compose("filter/teager_kaiser", variant, &[])?;
    // A result at an end takes the place of one that is `lag` away.
    let reach = 2 * lag;
    let mut commands = Vec::new();
    for (from, to) in pairs(x, y)? {
        let (gather, halo) = halo::record(gpu, x, from, (reach, reach), Edge::Nearest)?;
        commands.extend(gather);
        let args = [
            word(x.channels())?,
            word(to.pitch / 4)?,
            word(from.samples)?,
            word(from.start)?,
            word(x.samples())?,
            word(lag)?,
            word(2 * reach)?,
            word(reach)?,
            1f32.to_bits(),
            0,
            0,
            0,
        ];
        let groups = (x.channels() * to.pitch / 4).div_ceil(kernel.group_size.max(1) as usize);
        commands.push(launch(gpu, &kernel, &args, &[all(from), halo, all(to)], groups as u64)?);
    }
    Ok(commands)
}

#[cfg(test)]
mod tests {
    use super::super::TeagerKaiser;
    use super::*;
    use crate::ops::launch_tests::{compute, device, error, noise, planar, result};
    use crate::ops::problem::{Problem, Shape};
    use crate::signal::View;

    #[test]
    fn segments_give_what_one_gives() {
        let Some(gpu) = device() else { return };
        for (samples, lag, cuts) in [(3, 1, &[][..]), (100, 1, &[16, 48]), (100, 20, &[16, 32, 96]), (333, 7, &[160])] {
            // A slow wave: products far above their difference.
            let slow = |n: usize| 1000.0 * (n as f32 * 0.01).sin();
            let x: Vec<f32> = noise(3 * samples, 5).iter().enumerate().map(|(n, v)| v * 1e-3 + slow(n)).collect();
            let problem = TeagerKaiser::new(lag).unwrap();
            let want = problem.reference(View::new(&x, 3, samples).unwrap().into(), None).unwrap();
            for variant in variants(gpu.facts()) {
                let (from, y) = (planar(&gpu, (3, samples), cuts, &x), result(&gpu, (3, samples), cuts));
                let y = compute(&y, &record(lag, &*gpu, &variant, &from, &y).unwrap());
                let e = error(&y, &want, &x, samples, 0.0);
                assert!(e <= problem.tolerance().relative, "{samples} {lag} {variant:?}: {e:e}");
            }
        }
    }

    #[test]
    fn nan_and_infinity_reach_three_results() {
        let Some(gpu) = device() else { return };
        for bad in [f32::NAN, f32::INFINITY, 3e38] {
            let mut x = noise(100, 5);
            x[50] = bad;
            let problem = TeagerKaiser::new(2).unwrap();
            let variant = &problem.gpu_variants(gpu.facts(), Shape { channels: 1, samples: 100 })[0];
            let y = result(&gpu, (1, 100), &[]);
            let y = compute(&y, &record(2, &*gpu, variant, &planar(&gpu, (1, 100), &[], &x), &y).unwrap());
            let want = problem.reference(View::new(&x, 1, 100).unwrap().into(), None).unwrap();
            for (n, (y, want)) in y.iter().zip(&want).enumerate() {
                let want = *want as f32;
                let same = y.is_nan() == want.is_nan() && (!want.is_infinite() || *y == want);
                assert!(same, "{bad} at {n}: {y}, expected {want}");
            }
        }
    }
}
