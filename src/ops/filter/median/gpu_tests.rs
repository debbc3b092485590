use super::super::reference;
use super::*;
use crate::ops::launch_tests::{compute, device, noise, one_group_size, planar, result};
use crate::signal::View;

/// Every variant, whole and cut, against the reference, to the bit.
fn check((channels, samples): (usize, usize), width: usize, edge: Edge, x: &[f32]) {
    let Some(gpu) = device() else { return };
    let want = reference::run(width, edge, View::new(x, channels, samples).unwrap().into());
    for cuts in [&[][..], &[16, 48, 256]] {
        for variant in one_group_size(variants(width, gpu.facts())) {
            let device = planar(&gpu, (channels, samples), cuts, x);
            let y = result(&gpu, (channels, samples), cuts);
            let got = compute(&y, &record(width, edge, &*gpu, &variant, &device, &y).unwrap());
            for (n, (v, w)) in got.iter().zip(&want).enumerate() {
                let same = v.to_bits() == (*w as f32 + 0.0).to_bits() || (v.is_nan() && w.is_nan());
                assert!(same, "{} {edge:?} width {width} of {samples}, {cuts:?}: {n}: {v} {w}", variant.name);
            }
        }
    }
}

#[test]
fn widths_edges_and_segments() {
    let edges = [Edge::Reflect, Edge::Mirror, Edge::Nearest, Edge::Constant(0.25), Edge::Wrap];
    for (i, width) in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 34, 101, 400].into_iter().enumerate() {
        for (channels, samples) in [(3, 1), (2, 17), (1, 333)] {
            check((channels, samples), width, edges[i % 5], &noise(channels * samples, width as u64));
        }
    }
    for edge in edges {
        check((2, 300), 6, edge, &noise(600, 4));
        check((2, 50), 75, edge, &noise(100, 5));
    }
}

#[test]
fn awkward_values_are_selected_as_they_are() {
    let values = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-42, -1e-42, f32::MAX, f32::MIN, 1.0, 1.0, -3.0];
    for width in [2, 3, 9, 16, 50] {
        let mut data: Vec<f32> = noise(400, 9).iter().map(|v| values[((v + 1.0) * 5.5) as usize % 11]).collect();
        check((1, 400), width, Edge::Reflect, &data);
        (data[3], data[200], data[399]) = (f32::NAN, -f32::NAN, f32::NAN);
        check((1, 400), width, Edge::Wrap, &data);
    }
}

#[test]
fn windows_that_would_never_end_are_refused() {
    let Some(gpu) = device() else { return };
    assert!(refusal(LONGEST + 1, gpu.facts()).is_some() && variants(LONGEST + 1, gpu.facts()).is_empty());
    let mut facts = gpu.facts().clone();
    facts.class = crate::runtime::gpu::DeviceClass::Discrete;
    assert!(refusal(LONGEST, &facts).is_none());
    facts.class = crate::runtime::gpu::DeviceClass::Cpu;
    let longest = (1..LONGEST).rev().find(|w| refusal(*w, &facts).is_none()).unwrap();
    assert!(variants(longest, &facts).iter().all(|v| rounds(longest, v.get("RUN") as usize) <= SOFTWARE_ROUNDS));
    assert!(!variants(longest, &facts).is_empty());
}
