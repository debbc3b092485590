use super::super::reference;
use super::*;
use crate::ops::launch_tests::{compute, device, error, noise, one_group_size, planar, result};
use crate::signal::View;

/// Every variant, whole and cut, against the reference.
fn check((channels, samples): (usize, usize), filter: &Centred, x: &[f32]) {
    let Some(gpu) = device() else { return };
    let want = reference::run(filter, View::new(x, channels, samples).unwrap().into());
    for cuts in [&[][..], &[16, 48, 256]] {
        for variant in one_group_size(variants(filter, gpu.facts())) {
            let device = planar(&gpu, (channels, samples), cuts, x);
            let y = result(&gpu, (channels, samples), cuts);
            let got = compute(&y, &record(filter, &*gpu, &variant, &device, &y).unwrap());
            let e = error(&got, &want, x, samples, filter.tolerance().gain);
            let taps = filter.weights.len();
            assert!(e <= 1e-6, "{} {:?} {taps} taps at {samples}, {cuts:?}: {e:e}", variant.name, filter.ends);
        }
    }
}

fn weights(count: usize, seed: u64) -> Vec<f64> {
    noise(count, seed).iter().map(|v| f64::from(*v)).collect()
}

#[test]
fn lengths_edges_and_segments() {
    let edges = [Edge::Reflect, Edge::Mirror, Edge::Nearest, Edge::Constant(0.25), Edge::Wrap];
    for (i, taps) in [1, 2, 3, 8, 17, 64, 401].into_iter().enumerate() {
        for (channels, samples) in [(3, 1), (2, 17), (1, 333)] {
            for left in [0, (taps - 1) / 2, taps - 1] {
                let filter = Centred::new(weights(taps, 3), left, Ends::Edge(edges[i % 5])).unwrap();
                check((channels, samples), &filter, &noise(channels * samples, taps as u64));
            }
        }
    }
    for edge in edges {
        let filter = Centred::new(weights(12, 3), 5, Ends::Edge(edge)).unwrap();
        check((2, 300), &filter, &noise(600, 4));
    }
}

#[test]
fn results_near_the_ends_have_weights_of_their_own() {
    for taps in [5, 60] {
        let rows = |seed| (0..taps as u64 / 2).map(|i| weights(taps, seed + i)).collect();
        let ends = Ends::Rows { first: rows(10), last: rows(500) };
        let filter = Centred::new(weights(taps, 1), (taps - 1) / 2, ends).unwrap();
        for samples in [taps, taps + 1, 300] {
            check((2, samples), &filter, &noise(2 * samples, 8));
        }
    }
}

#[test]
fn not_a_number_and_infinity_reach_exactly_their_weights() {
    let mut data = noise(400, 3);
    (data[2], data[200]) = (f32::NAN, f32::INFINITY);
    for taps in [5, 40] {
        let weights = (0..taps).map(|k| 1.0 + k as f64).collect();
        let filter = Centred::new(weights, 2, Ends::Edge(Edge::Reflect)).unwrap();
        check((1, 400), &filter, &data);
    }
}
