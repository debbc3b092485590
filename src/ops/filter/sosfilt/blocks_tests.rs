use super::*;
use crate::design::{Band, Sos, butter, iirnotch, sosfilt_zi};
use crate::ops::filter::sosfilt::{gpu, reference};
use crate::ops::launch_tests::{device, error, noise, planar, read, result};
use crate::ops::problem::State;
use crate::runtime::gpu::Gpu;
use crate::signal::View;

const FS: f64 = 30_000.0;

fn designed(sos: &[[f64; 6]]) -> (Vec<[f64; 6]>, Option<Vec<[f64; 2]>>) {
    (sos.to_vec(), Sos::new(sos.to_vec()).ok().and_then(|s| sosfilt_zi(&s).ok()))
}

/// Variants in blocks of a shape in which all are legal.
fn in_blocks(sos: &[[f64; 6]], facts: &Facts) -> Vec<Variant> {
    let all = gpu::variants(&gpu::precision(sos), facts, Shape { channels: 1, samples: 1 << 24 });
    all.into_iter().filter(|v| v.get("BLOCK") > 0).collect()
}

#[derive(Clone, Copy)]
struct Case<'a> {
    sos: &'a [[f64; 6]],
    step: Option<&'a [[f64; 2]]>,
    channels: usize,
    samples: usize,
    cuts: &'a [usize],
    x: &'a [f32],
}

impl Case<'_> {
    /// The result and the state after it, from this one.
    fn run(&self, gpu: &std::sync::Arc<dyn Gpu>, variant: &Variant, zi: &[f64]) -> (Vec<f32>, Vec<f64>) {
        let shape = (self.channels, self.samples);
        let x = planar(gpu, shape, self.cuts, self.x);
        let y = result(gpu, shape, self.cuts);
        let mut state = State { channels: self.channels, values: zi.to_vec() };
        let filter = gpu::Filter { sos: self.sos, step: self.step, precision: gpu::precision(self.sos) };
        gpu::run(&filter, gpu.as_ref(), variant, &x, &y, Some(&mut state)).unwrap();
        (read(&y, false), state.values)
    }

    fn zero(&self) -> Vec<f64> {
        vec![0.0; self.channels * self.sos.len() * 2]
    }

    /// Compares the result with float64, and the state with that of channels in one piece.
    fn check(&self, gpu: &std::sync::Arc<dyn Gpu>, variant: &Variant, zi: &[f64], what: &str) {
        let view = View::new(self.x, self.channels, self.samples).unwrap();
        let want = reference::run(self.sos, view.into(), Some(&mut zi.to_vec()));
        let (got, state) = self.run(gpu, variant, zi);
        let whole = if variant.method == "blocks" { "compensated" } else { "delta" };
        let (_, want_state) = self.run(gpu, &Variant::new(whole, &[("WG", variant.get("WG"))]), zi);
        let e = error(&got, &want, self.x, self.samples, 0.0);
        let what = format!("{what}, {} x {}, {}", self.channels, self.samples, variant.name);
        assert!(e <= 1e-6, "{what}: {e:.1e}");
        // States are sums of what comes in and out.
        let largest = want_state.iter().chain(&want).fold(0.0f64, |m, v| m.max(v.abs()));
        let off = state.iter().zip(&want_state).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off <= 1e-6 * largest, "{what}: states differ by {off:.1e} of {largest:.1e}");
    }
}

#[test]
fn lengths_around_blocks_and_groups_segments_and_states() {
    let Some(gpu) = device() else { return };
    let mixed = [
        butter(5, Band::Pass(300.0, 6000.0), FS).unwrap().sections().to_vec(),
        butter(4, Band::High(0.5), FS).unwrap().sections().to_vec(),
        butter(3, Band::Low(14_000.0), FS).unwrap().sections().to_vec(),
    ];
    let long: Vec<[f64; 6]> = mixed.concat().into_iter().cycle().take(20).collect();
    for (nth, sos) in [&mixed[0][..], &mixed[1], &mixed[2], &long[..16], &long[..17]].into_iter().enumerate() {
        let (sos, step) = designed(sos);
        // Kernels of many sections take long to compile.
        let variants = in_blocks(&sos, gpu.facts()).into_iter().filter(|v| nth < 3 || v.get("BLOCK") == LENGTHS[0]);
        for variant in variants {
            let block = variant.get("BLOCK") as usize;
            let cut = block.next_multiple_of(16);
            let shapes = [
                (1, 1, vec![]),
                (1, block - 1, vec![]),
                (1, block, vec![]),
                (2, block + 1, vec![]),
                (3, 5 * block + 3, vec![cut * 2]),
                (2, 3 * block + 30, vec![16, 16 + cut, 2 * cut]),
            ];
            for (channels, samples, cuts) in shapes {
                let x: Vec<f32> = noise(channels * samples, 6).iter().map(|v| v + 20.0).collect();
                let case = Case { sos: &sos, step: step.as_deref(), channels, samples, cuts: &cuts, x: &x };
                let settled: Vec<f64> = x
                    .chunks(samples)
                    .flat_map(|row| step.iter().flatten().flatten().map(|z| z * f64::from(row[0])))
                    .collect();
                case.check(&gpu, &variant, &case.zero(), &format!("filter {nth}"));
                case.check(&gpu, &variant, &settled, &format!("filter {nth} from its steady state"));
            }
        }
    }
}

#[test]
fn groups_of_groups() {
    let Some(gpu) = device() else { return };
    for sos in [butter(5, Band::Pass(300.0, 6000.0), FS).unwrap(), butter(3, Band::High(0.1), FS).unwrap()] {
        let (sos, step) = designed(sos.sections());
        let variant = &in_blocks(&sos, gpu.facts()).into_iter().find(|v| v.get("BLOCK") == LENGTHS[0]).unwrap();
        let block = LENGTHS[0] as usize;
        for samples in [GROUP * block, GROUP * block + 1, 3 * GROUP * block + 5, GROUP * GROUP * block + 2] {
            let x: Vec<f32> = noise(samples, 3).iter().map(|v| v + 2.0).collect();
            let case = Case { sos: &sos, step: step.as_deref(), channels: 1, samples, cuts: &[], x: &x };
            case.check(&gpu, variant, &case.zero(), "groups");
        }
    }
}

/// Cutoffs from 0.1 to 300 Hz at 30 kHz.
fn slow_filters() -> Vec<(String, Sos)> {
    let mut all = vec![("notch".to_string(), iirnotch(50.0, 30.0, FS).unwrap())];
    for order in 1..=5 {
        for cutoff in [0.1, 0.5, 1.0, 10.0, 100.0, 300.0] {
            all.push((format!("high {order} {cutoff}"), butter(order, Band::High(cutoff), FS).unwrap()));
        }
        for cutoff in [1.0, 10.0, 300.0] {
            all.push((format!("low {order} {cutoff}"), butter(order, Band::Low(cutoff), FS).unwrap()));
        }
        for (low, high) in [(0.1, 300.0), (1.0, 40.0), (8.0, 12.0), (300.0, 6000.0)] {
            all.push((format!("band {order} {low} to {high}"), butter(order, Band::Pass(low, high), FS).unwrap()));
        }
    }
    all
}

#[test]
fn slow_filters_keep_their_accuracy() {
    let Some(gpu) = device() else { return };
    let (channels, samples) = (2, 300_000);
    // A step of 1000, and noise on an offset.
    let mut x = noise(channels * samples, 8);
    x[..samples].fill(1000.0);
    x[samples..].iter_mut().for_each(|v| *v = 1.7 * *v + 3.0);
    for (name, sos) in slow_filters() {
        let (sos, step) = designed(sos.sections());
        let case = Case { sos: &sos, step: step.as_deref(), channels, samples, cuts: &[], x: &x };
        let want = reference::run(&sos, View::new(&x, channels, samples).unwrap().into(), None);
        let variants = gpu::variants(&gpu::precision(&sos), gpu.facts(), Shape { channels, samples });
        for variant in variants.iter().filter(|v| v.method != "compensated" && v.get("BLOCK") != LENGTHS[1]) {
            let e = error(&case.run(&gpu, variant, &case.zero()).0, &want, &x, samples, 0.0);
            assert!(e <= 1e-6, "{name}, {}: {e:.1e}", variant.name);
        }
    }
}

#[test]
fn what_is_not_finite_spoils_what_follows_alone() {
    let Some(gpu) = device() else { return };
    let (channels, samples) = (2, 9000);
    for sos in [butter(5, Band::Pass(300.0, 6000.0), FS).unwrap(), butter(4, Band::High(0.5), FS).unwrap()] {
        let (sos, step) = designed(sos.sections());
        let good = noise(channels * samples, 3);
        for variant in in_blocks(&sos, gpu.facts()) {
            let base = Case { sos: &sos, step: step.as_deref(), channels, samples, cuts: &[4000], x: &good };
            let (clean, _) = base.run(&gpu, &variant, &base.zero());
            for (bad, at) in [(f32::NAN, 0), (f32::NAN, 2500), (f32::INFINITY, 4079), (f32::NEG_INFINITY, 8990)] {
                let mut x = good.clone();
                x[at] = bad;
                let (got, state) = Case { x: &x, ..base }.run(&gpu, &variant, &base.zero());
                let what = format!("{bad} at {at}, {}", variant.name);
                assert_eq!(got[..at], clean[..at], "{what}");
                assert_eq!(got[samples..], clean[samples..], "{what}");
                assert!(got[at..samples].iter().all(|v| !v.is_finite()), "{what}");
                assert!(got[at + 2..samples].iter().all(|v| v.is_nan()), "{what}");
                let (first, second) = state.split_at(state.len() / 2);
                assert!(first.iter().all(|v| v.is_nan()) && second.iter().all(|v| v.is_finite()), "{what}");
            }
        }
    }
}

#[test]
fn offered_where_channels_are_few_and_powers_are_numbers() {
    let Some(gpu) = device() else { return };
    let band = butter(5, Band::Pass(300.0, 6000.0), FS).unwrap();
    let mut facts = gpu.facts().clone();
    let mut methods = |sos: &[[f64; 6]], channels, samples, class| {
        facts.class = class;
        let all = gpu::variants(&gpu::precision(sos), &facts, Shape { channels, samples });
        (all[0].method, all.iter().filter(|v| v.get("BLOCK") > 0).count())
    };
    use crate::runtime::gpu::DeviceClass::{Cpu, Discrete};
    let lanes = software_lanes();
    for (sos, channels, samples, class, want) in [
        (band.sections(), 1, 1_000_000, Cpu, ("blocks", 6)),
        (band.sections(), lanes / LANES + 1, 1_000_000, Cpu, ("compensated", 6)),
        (band.sections(), lanes, 1_000_000, Cpu, ("compensated", 0)),
        (band.sections(), lanes, 1_000_000, Discrete, ("blocks", 6)),
        (band.sections(), 1025, 1_000_000, Discrete, ("compensated", 6)),
        (band.sections(), 4096, 1_000_000, Discrete, ("compensated", 0)),
        (band.sections(), 1, 1009, Discrete, ("blocks", 4)),
        (band.sections(), 1, 240, Discrete, ("compensated", 0)),
        // Doubles with every sample.
        (&[[1.0, 0.0, 0.0, 1.0, -2.5, 1.0]], 1, 1_000_000, Discrete, ("compensated", 0)),
    ] {
        assert_eq!(methods(sos, channels, samples, class), want, "{channels} x {samples} {class:?}");
    }
}
