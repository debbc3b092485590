//! What must hold for every operation of the registry, on every runtime of this machine.

use super::job::{Data, Input, Job};
use super::problem::Shape;
use super::registry::{Representative, registry};
use crate::runtime::Target;
use crate::signal::Signal;
use crate::tune::Tunable;

/// The CPU, and the wgpu device if there is one (a missing one skips loudly, or fails where it is required).
fn targets() -> Vec<Target> {
    let mut targets = vec![Target::Cpu];
    #[cfg(feature = "wgpu")]
    targets.extend(crate::runtime::testing::test_gpu().map(Target::Gpu));
    targets
}

/// Whether a device says that it has no kernels for a problem.
fn refuses(target: &Target, r: &Representative) -> bool {
    match target {
        Target::Cpu => false,
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => r.problem.gpu_refusal(gpu.facts()).is_some(),
    }
}

fn input(r: &Representative) -> Input {
    Input { dtype: r.dtype, interleaved: r.interleaved }
}

#[test]
fn every_variant_matches_the_reference_everywhere() {
    for target in targets() {
        for entry in registry() {
            for r in (entry.representatives)().unwrap() {
                for (channels, samples) in [(1, 1), (7, 1001), (33, 4099), (385, 301)] {
                    let shape = r.problem.nearest(Shape { channels, samples });
                    if refuses(&target, &r) {
                        continue;
                    }
                    let job = Job::new(r.problem.as_ref(), target.clone(), shape, input(&r));
                    assert!(!job.variants().is_empty(), "{} has no variant for {shape:?}", entry.command.name);
                    for (v, name) in job.variants().iter().enumerate() {
                        let what = format!("{} '{name}' at {shape:?} on {}", entry.command.name, job.device());
                        job.verify(v).unwrap_or_else(|e| panic!("{what}: {e}"));
                        job.time(v, 1).unwrap_or_else(|e| panic!("{what}, timed: {e}"));
                    }
                }
            }
        }
    }
}

/// The representatives, and problems whose variants may round otherwise.
fn problems(entry: &super::registry::Entry) -> Vec<Representative> {
    use super::convert::{Convert, ConvertOptions, Scale};
    use super::filter::{FirFilter, SosFilter};
    use super::spatial::{CommonReference, CommonReferenceOptions, NanPolicy, Operator};
    use crate::design::{Band, butter};
    let mut all = (entry.representatives)().unwrap();
    match entry.command.name {
        "convert" => {
            let options =
                ConvertOptions { gain: Scale::One(0.3), offset: Some(Scale::One(-7.7)), ..Default::default() };
            all.push(Representative::planar(Convert::new(&options).unwrap()));
        }
        "lfilter" => {
            let taps = |n: usize| (0..n).map(|k| (k as f64 + 0.5).cos()).collect::<Vec<_>>();
            all.extend([32, 200].map(|n| Representative::planar(FirFilter::new(&taps(n)).unwrap())));
        }
        "fftconvolve" => {
            use super::filter::convolve::tests::problem;
            all.extend([20, 1025].map(|n| Representative::planar(problem(n))));
        }
        "sosfilt" => {
            let bands = [(2, Band::Low(2.0)), (12, Band::Low(3000.0))];
            let filter = |(n, band)| SosFilter::new(&butter(n, band, 30_000.0).unwrap()).unwrap();
            all.extend(bands.map(|b| Representative::planar(filter(b))));
        }
        "common_reference" => all.extend([Operator::Mean, Operator::Median].map(|operator| {
            let options = CommonReferenceOptions { operator, nan_policy: NanPolicy::Omit, ..Default::default() };
            Representative::planar(CommonReference::new(&options).unwrap())
        })),
        _ => {}
    }
    all
}

/// The result of one variant on a target.
fn result(target: &Target, r: &Representative, variant: &super::Variant, data: &Data) -> crate::Result<Signal> {
    let out = r.problem.output(super::execute::shape_of(&data.source()));
    let mut y = Signal::zeros(out.channels, out.samples)?;
    match target {
        Target::Cpu => r.problem.run_cpu(variant, data.source(), y.view_mut(), None)?,
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => {
            use crate::runtime::{DeviceArray, Layout};
            let x = DeviceArray::upload(gpu, data.source())?;
            let device = DeviceArray::empty(gpu, out.channels, out.samples, crate::signal::Dtype::F32, Layout::Planar)?;
            r.problem.run_gpu(gpu.as_ref(), variant, &x, &device, None)?;
            y = device.download()?;
        }
    }
    Ok(y)
}

#[test]
fn variants_of_one_rounding_give_the_same_bits() {
    let threads: Vec<_> =
        [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).into_iter().collect();
    for (target, entry) in targets().iter().flat_map(|t| registry().iter().map(move |e| (t, e))) {
        let pools = if matches!(target, Target::Cpu) { &threads[..] } else { &threads[..1] };
        for r in problems(entry) {
            for (channels, samples) in [(1, 1), (2, 31), (33, 2049), (5, 9001), (65, 515)] {
                let shape = r.problem.nearest(Shape { channels, samples });
                let data = Data::noise(shape, input(&r), (channels + samples) as u32);
                let mut known = std::collections::BTreeMap::new();
                for pool in pools {
                    pool.install(|| {
                        let job = Job::new(r.problem.as_ref(), target.clone(), shape, input(&r));
                        for v in 0..job.variants().len() {
                            let variant = job.variant(v).unwrap();
                            let y = result(target, &r, variant, &data).unwrap();
                            let bits: Vec<u32> = y.to_vec().iter().map(|v| v.to_bits()).collect();
                            let (first, expected) = known
                                .entry(job.rounding(v).to_string())
                                .or_insert_with(|| (variant.name.clone(), bits.clone()));
                            let names = (&variant.name, &*first);
                            assert!(bits == *expected, "{} {names:?} at {shape:?} on {target:?}", r.problem.class());
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn names_are_unique_and_sources_known() {
    let names: Vec<_> = super::commands().iter().map(|c| c.name).collect();
    let distinct: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), distinct.len());
    for entry in registry() {
        assert_ne!(entry.identity(false), 0);
        #[cfg(feature = "gpu")]
        {
            entry.kernels.iter().for_each(|k| assert!(crate::kernel::source(k).is_ok(), "{k}"));
            assert_ne!(entry.identity(true), entry.identity(false));
        }
    }
}

#[test]
fn empty_arrays_give_empty_results() {
    use super::execute;
    for runtime in targets().iter().map(|t| if matches!(t, Target::Cpu) { "cpu" } else { "wgpu" }) {
        for entry in registry() {
            for r in (entry.representatives)().unwrap() {
                for (channels, samples) in [(3, 0), (1, 0)] {
                    let shape = Shape { channels, samples };
                    let x = Data::noise(shape, Input { interleaved: false, ..input(&r) }, 1);
                    let y = execute::host(r.problem.as_ref(), x.source(), None, Some(runtime));
                    // A transform of no points is not defined.
                    if r.problem.check(shape).is_err() {
                        assert!(y.is_err_and(|e| e.kind().is_usage()), "{}", entry.command.name);
                        continue;
                    }
                    let y = y.unwrap();
                    assert_eq!((y.channels(), y.samples()), (channels, samples), "{}", entry.command.name);
                }
            }
        }
    }
}

/// A device limited to 1 MiB bindings: arrays split into time segments, filters carry their state across the cuts.
#[cfg(feature = "wgpu")]
#[test]
fn split_arrays_equal_whole_ones() {
    use crate::runtime::DeviceArray;
    let Some(limited) = crate::runtime::testing::test_gpu_limited(1 << 20) else { return };
    for entry in registry() {
        for r in (entry.representatives)().unwrap() {
            // Problems that need whole channels take arrays of one segment; execution from host arrays sees to that.
            if r.problem.whole_channels() || refuses(&Target::Gpu(limited.clone()), &r) {
                continue;
            }
            let shape = Shape { channels: 24, samples: 40_000 };
            let data = Data::noise(shape, input(&r), 11);
            let x = DeviceArray::upload(&limited, data.source()).unwrap();
            assert!(x.segments().len() > 3, "the limit was meant to split the array");
            let y = super::execute::device(r.problem.as_ref(), &x, None).unwrap().download().unwrap();
            let expected = r.problem.reference(data.source(), None).unwrap();
            for c in 0..shape.channels {
                let expected = &expected[c * y.samples()..][..y.samples()];
                super::job::compare(y.row(c), expected, 8.0, r.problem.tolerance())
                    .unwrap_or_else(|e| panic!("{} channel {c}: {e}", entry.command.name));
            }
        }
    }
}

#[test]
fn what_float32_cannot_hold_compares_as_its_nearest_value() {
    let tolerance = super::Tolerance { relative: 1e-6, gain: 0.0, float64_tight: true, ..Default::default() };
    let same = |y: f32, e: f64| super::job::compare(&[y], &[e], 1.0, tolerance).is_ok();
    assert!(same(f32::INFINITY, 1e60) && same(f32::NEG_INFINITY, -1e60) && same(-0.0, -1e-60));
    assert!(!same(f32::INFINITY, -1e60) && !same(f32::NAN, 1e60) && !same(f32::INFINITY, 1e30) && !same(1e-30, 1e-60));
}
