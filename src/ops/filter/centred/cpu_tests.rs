use super::super::reference;
use super::*;
use crate::ops::launch_tests::{error, noise};
use crate::ops::problem::Shape;
use crate::signal::View;
use proptest::prelude::*;

const EDGES: [Edge; 5] = [Edge::Reflect, Edge::Mirror, Edge::Nearest, Edge::Constant(0.25), Edge::Wrap];

fn response(taps: usize, left: usize, edge: Edge) -> Centred {
    let weights = noise(taps, taps as u64 + 1).iter().map(|v| f64::from(*v)).collect();
    Centred::new(weights, left, Ends::Edge(edge)).unwrap()
}

/// Every variant against the reference, with rows that are longer than the channel.
fn check(filter: &Centred, x: Source<'_>, values: &[f32]) {
    let (channels, samples) = (x.channels(), x.samples());
    let want = reference::run(filter, x);
    let gain = filter.tolerance().gain;
    for variant in filter.cpu_variants(Shape { channels, samples }) {
        let mut y = vec![f32::NAN; channels * (samples + 3)];
        run(filter, &variant, x, ViewMut::with_pitch(&mut y, channels, samples, samples + 3).unwrap()).unwrap();
        for (c, row) in y.chunks(samples + 3).enumerate() {
            let (got, want) = (&row[..samples], &want[c * samples..][..samples]);
            let e = error(got, want, &values[c * samples..][..samples], samples, gain);
            assert!(
                e <= 1e-6,
                "{} taps, {:?} {} at {channels} x {samples}: {e:e}",
                filter.weights.len(),
                filter.ends,
                variant.name
            );
            assert!(row[samples..].iter().all(|v| v.is_nan()), "written behind the row");
        }
    }
}

#[test]
fn lengths_edges_and_shapes() {
    for (i, taps) in [1, 2, 3, 8, 17, 64, 201].into_iter().enumerate() {
        for (channels, samples) in [(1, 1), (3, 17), (18, 300), (1, 6000)] {
            let data = noise(channels * samples, taps as u64);
            for left in [0, (taps - 1) / 2, taps - 1] {
                check(&response(taps, left, EDGES[i % 5]), View::new(&data, channels, samples).unwrap().into(), &data);
            }
        }
    }
}

#[test]
fn integers_and_interleaved_input_give_the_same() {
    let (channels, samples) = (5, 333);
    let ints: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 3000.0) as i16).collect();
    let rows: Vec<f32> = ints.iter().map(|v| f32::from(*v)).collect();
    let interleaved: Vec<i16> = (0..ints.len()).map(|i| ints[i % channels * samples + i / channels]).collect();
    let filter = response(21, 10, Edge::Mirror);
    check(&filter, View::new(&ints, channels, samples).unwrap().into(), &rows);
    check(&filter, View::interleaved(&interleaved, channels).unwrap().into(), &rows);
}

#[test]
fn not_a_number_and_infinity_reach_exactly_their_weights() {
    let samples = 500;
    let mut data = noise(samples, 3);
    (data[2], data[300]) = (f32::NAN, f32::INFINITY);
    let filter = Centred::new(vec![1.0, 2.0, 3.0, 4.0, 5.0], 1, Ends::Edge(Edge::Reflect)).unwrap();
    check(&filter, View::new(&data, 1, samples).unwrap().into(), &data);
}

#[test]
fn results_near_the_ends_have_weights_of_their_own() {
    let rows = |seed: u64| (0..3).map(|i| noise(7, seed + i).iter().map(|v| f64::from(*v)).collect()).collect();
    let weights = noise(7, 1).iter().map(|v| f64::from(*v)).collect();
    let filter = Centred::new(weights, 3, Ends::Rows { first: rows(10), last: rows(20) }).unwrap();
    for samples in [7, 8, 13, 400] {
        let data = noise(2 * samples, 5);
        check(&filter, View::new(&data, 2, samples).unwrap().into(), &data);
    }
    assert!(filter.check(Shape { channels: 1, samples: 6 }).is_err());
    assert!(filter.check(Shape { channels: 1, samples: 0 }).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_length_and_edge_equals_the_sum(
        taps in 1usize..90,
        left in 0usize..90,
        channels in 1usize..4,
        samples in 1usize..500,
        edge in 0usize..5,
        seed in 1u64..1000,
    ) {
        let data = noise(channels * samples, seed);
        let filter = response(taps, left.min(taps - 1), EDGES[edge]);
        check(&filter, View::new(&data, channels, samples).unwrap().into(), &data);
    }
}
