use super::super::reference;
use super::*;
use crate::ops::launch_tests::noise;
use crate::signal::View;
use crate::simd::levels;
use proptest::prelude::*;

const EDGES: [Edge; 5] = [Edge::Reflect, Edge::Mirror, Edge::Nearest, Edge::Constant(0.25), Edge::Wrap];

fn program(width: usize) -> Program {
    Program::new(if width <= NETWORK_WIDTH { width } else { 1 })
}

/// Every variant at every level against the reference, to the bit.
fn check(x: Source<'_>, width: usize, edge: Edge) {
    let (channels, samples) = (x.channels(), x.samples());
    let want = reference::run(width, edge, x);
    let program = program(width);
    for level in levels() {
        for variant in variants(width, Shape { channels, samples }) {
            let mut y = vec![-1.0f32; channels * (samples + 3)];
            let view = ViewMut::with_pitch(&mut y, channels, samples, samples + 3).unwrap();
            run_at(level, &program, width, edge, &variant, x, view).unwrap();
            for (c, row) in y.chunks(samples + 3).enumerate() {
                for (n, (v, w)) in row[..samples].iter().zip(&want[c * samples..]).enumerate() {
                    // Positive zeros, whichever the reference found.
                    let same = v.to_bits() == (*w as f32 + 0.0).to_bits() || (v.is_nan() && w.is_nan());
                    assert!(same, "{} {edge:?} width {width} {}: {c}, {n}: {v} {w}", variant.name, level.name());
                }
                assert!(row[samples..].iter().all(|v| *v == -1.0), "written behind the row");
            }
        }
    }
}

#[test]
fn every_width_and_edge_equals_a_sort() {
    for width in (1..=34).chain([47, 48, 63, 64, 99, 100, 101, 127, 128, 129, 200]) {
        let edge = EDGES[width % 5];
        for (channels, samples) in [(1, 1), (2, 17), (1, 300), (2, 1041)] {
            let data = noise(channels * samples, width as u64);
            check(View::new(&data, channels, samples).unwrap().into(), width, edge);
        }
    }
}

#[test]
fn tiles_and_pieces_meet_without_a_seam() {
    for width in [1, 2, 9, 40, 130] {
        let samples = 2 * TILE * TILES + 21;
        let data = noise(samples, 3);
        check(View::new(&data, 1, samples).unwrap().into(), width, Edge::Mirror);
    }
    let ramp: Vec<f32> = (0..30_000).map(|i| (i % 11_000) as f32).collect();
    check(View::new(&ramp, 1, ramp.len()).unwrap().into(), 3001, Edge::Wrap);
}

#[test]
fn awkward_values_are_selected_as_they_are() {
    let values = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-42, -1e-42, f32::MAX, f32::MIN, 1.0, 1.0, -3.0];
    let pick = |seed: u64, n: usize| -> Vec<f32> {
        noise(n, seed).iter().map(|v| values[((v + 1.0) * 5.5) as usize % values.len()]).collect()
    };
    for width in [2, 3, 5, 9, 16, 31, 64, 141] {
        let mut data = pick(width as u64, 1500);
        check(View::new(&data, 1, 1500).unwrap().into(), width, Edge::Reflect);
        (data[3], data[700], data[1499]) = (f32::NAN, -f32::NAN, f32::NAN);
        check(View::new(&data, 1, 1500).unwrap().into(), width, Edge::Wrap);
    }
}

#[test]
fn integers_and_interleaved_input_give_the_same() {
    let (channels, samples) = (5, 333);
    let rows: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 30.0) as i16).collect();
    check(View::new(&rows, channels, samples).unwrap().into(), 7, Edge::Reflect);
    check(View::interleaved(&rows, channels).unwrap().into(), 12, Edge::Nearest);
    let floats: Vec<f32> = rows.iter().map(|v| f32::from(*v)).collect();
    check(View::interleaved(&floats, channels).unwrap().into(), 12, Edge::Constant(4.0));
}

#[test]
fn nan_spreads_as_far_as_the_window() {
    let nan = f32::NAN;
    let x = [nan, 5.0, 1.0, 8.0, 2.0, 6.0, 4.0, nan, 7.0, 3.0, 9.0];
    let mut y = vec![0.0; 11];
    for variant in variants(5, Shape { channels: 1, samples: 11 }) {
        let view = View::new(&x, 1, 11).unwrap();
        run(&program(5), 5, Edge::Constant(0.0), &variant, view.into(), ViewMut::new(&mut y, 1, 11).unwrap()).unwrap();
        let want = [nan, 5.0, 4.0, nan, nan, nan, nan];
        for (v, w) in y[2..9].iter().zip(want) {
            assert!(*v == w || (v.is_nan() && w.is_nan()), "{y:?}");
        }
    }
}

#[test]
fn variants_that_do_not_exist_are_refused() {
    let mut y = [0.0; 4];
    for (name, width) in [("guess", 3), ("network", NETWORK_WIDTH + 1)] {
        let x = View::new(&[0f32; 4], 1, 4).unwrap();
        let view = ViewMut::new(&mut y, 1, 4).unwrap();
        let e = run(&program(width), width, Edge::Reflect, &Variant::new(name, &[]), x.into(), view).unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains(name), "{e}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_width_length_and_edge_equals_a_sort(
        width in 1usize..260,
        channels in 1usize..4,
        samples in 1usize..400,
        edge in 0usize..5,
        distinct in 1i32..50,
        seed in 1u64..1000,
    ) {
        let data: Vec<f32> =
            noise(channels * samples, seed).iter().map(|v| (v * distinct as f32).round() / 4.0).collect();
        check(View::new(&data, channels, samples).unwrap().into(), width, EDGES[edge]);
    }

    #[test]
    fn a_shifted_signal_gives_a_shifted_median(
        width in 1usize..60,
        shift in 1usize..50,
        scale in -3i32..4,
        seed in 1u64..1000,
    ) {
        let (samples, variant) = (400, Variant::new("network", &[]));
        let data = noise(samples + shift, seed);
        let scaled: Vec<f32> = data[shift..].iter().map(|v| v * scale as f32).collect();
        let (mut whole, mut moved) = (vec![0.0; samples + shift], vec![0.0; samples]);
        let view = View::new(&data, 1, samples + shift).unwrap();
        let program = program(width);
        run(&program, width, Edge::Reflect, &variant, view.into(), ViewMut::new(&mut whole, 1, samples + shift).unwrap()).unwrap();
        let view = View::new(&scaled, 1, samples).unwrap();
        run(&program, width, Edge::Reflect, &variant, view.into(), ViewMut::new(&mut moved, 1, samples).unwrap()).unwrap();
        // An even number of samples has no value in the middle: a negative scale takes the other one.
        if width % 2 == 1 || scale >= 0 {
            let inner = width..samples - width;
            let expected: Vec<f32> = whole[shift..][inner.clone()].iter().map(|v| v * scale as f32).collect();
            prop_assert_eq!(&moved[inner], &expected[..]);
        }
    }
}
