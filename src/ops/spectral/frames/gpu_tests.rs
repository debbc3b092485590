use std::sync::Arc;

use super::*;
use crate::kernel::space_tests::is_written_everywhere;
use crate::ops::job::compare;
use crate::ops::launch_tests::{compute, device, planar, result};
use crate::ops::problem::Problem;
use crate::runtime::DeviceArray;
use crate::runtime::gpu::DeviceClass;
use crate::signal::View;

/// The first variant of each method, or every one, against the reference, on a device.
pub(in crate::ops::spectral) fn check(
    gpu: &Arc<dyn Gpu>,
    problem: &dyn Problem,
    (channels, samples): (usize, usize),
    x: &[f32],
    every: bool,
) {
    let shape = Shape { channels, samples };
    let want = problem.reference(View::new(x, channels, samples).unwrap().into(), None).unwrap();
    let out = problem.output(shape);
    let x_device = planar(gpu, (channels, samples), &[], x);
    let mut variants = problem.gpu_variants(gpu.facts(), shape);
    if every {
        // What a GPU would run.
        let facts = Facts { class: DeviceClass::Discrete, ..gpu.facts().clone() };
        variants.extend(problem.gpu_variants(&facts, shape));
    }
    let mut methods = std::collections::BTreeSet::new();
    for variant in variants.iter().filter(|v| methods.insert(v.method) || every) {
        let y = result(gpu, (channels, out.samples), &[]);
        let got = compute(&y, &problem.record(&**gpu, variant, &x_device, &y).unwrap());
        let rows = got.chunks(out.samples).zip(want.chunks(out.samples)).zip(x.chunks(samples));
        for (channel, ((got, want), x)) in rows.enumerate() {
            let largest = x.iter().fold(0f64, |m, v| m.max(f64::from(v.abs())));
            compare(got, want, largest, problem.tolerance()).unwrap_or_else(|e| {
                panic!("{} {} {shape:?} channel {channel}, {}: {e}", problem.operation(), problem.class(), variant.name)
            });
        }
    }
}

/// What a device whose bindings hold so little says of a problem.
pub(in crate::ops::spectral) fn refusal(problem: &dyn Problem, (channels, samples): (usize, usize)) -> Option<Error> {
    let gpu: Arc<dyn Gpu> = crate::runtime::testing::test_gpu_limited(1 << 16)?;
    let shape = Shape { channels, samples };
    let x = planar(&gpu, (channels, samples), &[], &vec![0.0; channels * samples]);
    let out = problem.output(shape).samples;
    let y = DeviceArray::empty(&gpu, channels, out, crate::signal::Dtype::F32, crate::runtime::Layout::Planar).unwrap();
    let variant = &problem.gpu_variants(gpu.facts(), shape)[0];
    problem.record(&*gpu, variant, &x, &y).err()
}

/// Whether what is recorded is accepted by the writers for every target.
pub(in crate::ops::spectral) fn written(problem: &dyn Problem, (channels, samples): (usize, usize)) {
    let gpu: Arc<dyn Gpu> = Arc::new(crate::runtime::null::NullGpu::new().with_binding_bytes(1 << 26));
    let shape = Shape { channels, samples };
    let array = |samples| {
        DeviceArray::empty(&gpu, channels, samples, crate::signal::Dtype::F32, crate::runtime::Layout::Planar).unwrap()
    };
    let (x, y) = (array(samples), array(problem.output(shape).samples));
    let mut seen = std::collections::BTreeSet::new();
    let mut methods = std::collections::BTreeSet::new();
    let variants = problem.gpu_variants(gpu.facts(), shape);
    for variant in variants.iter().filter(|v| methods.insert(v.method) || v.method == "fused") {
        for command in problem.record(&*gpu, variant, &x, &y).unwrap() {
            let Command::Launch { kernel, .. } = command else { panic!("only launches") };
            if seen.insert(kernel.hash) {
                is_written_everywhere(&kernel).unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
            }
        }
    }
}

#[test]
fn batches_hold_every_frame_once() {
    for (channels, frames) in [(1, 1), (3, 1), (1, 100), (7, 13), (5, 64)] {
        for at_once in [1, 2, 12, 13, 14, 26, 64, 1000] {
            let mut seen = vec![0; channels * frames];
            for b in batches(channels, frames, at_once) {
                assert!(b.channels * b.frames <= at_once && (b.channels == 1 || b.frames == frames), "{b:?}");
                for c in b.channel..b.channel + b.channels {
                    seen[c * frames + b.frame..][..b.frames].iter_mut().for_each(|n| *n += 1);
                }
            }
            assert!(seen.iter().all(|n| *n == 1), "{channels} {frames} {at_once}");
        }
    }
}

#[test]
fn numbers_are_split_in_two() {
    let [high, low] = pair(1.0 / 3.0).map(f32::from_bits);
    assert!((f64::from(high) + f64::from(low) - 1.0 / 3.0).abs() < 1e-15 && high != 0.0 && low != 0.0);
    assert_eq!(pair(2.0), [2f32.to_bits(), 0]);
    assert!(device().is_none_or(|gpu| batch_bytes(gpu.facts()) > 0));
}
