//! Laws of filters, on every runtime of this machine.

mod common;

use common::{close, noise, runtimes};
use dspk::design::{Band, Sos, butter};
use dspk::ops::filter::{FiltFilt, FirFilter, Padding, SosFiltFilt, SosFilter};
use dspk::signal::{Signal, View};
use proptest::prelude::*;

fn largest(y: &[f32]) -> f32 {
    y.iter().fold(0.0, |m, v| m.max(v.abs()))
}

fn distance(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// A slow drift, a large offset and noise: what a fixed margin of a few milliseconds gets wrong.
fn recording(samples: usize) -> Vec<f32> {
    let drift = |n: usize| 100.0 * (n as f32 * 2e-4).sin() + 1000.0;
    noise(samples, 7).iter().enumerate().map(|(n, v)| v + drift(n)).collect()
}

fn sections(low: f64) -> Sos {
    butter(3, Band::Pass(low, 300.0), 30_000.0).expect("design")
}

#[test]
fn pieces_of_a_recording_give_the_whole() {
    for runtime in runtimes() {
        for low in [1.0, 10.0] {
            let filter = SosFiltFilt::new(&sections(low)).expect("filter").on(runtime);
            let margin = filter.margin().expect("it settles");
            let samples = 3 * margin + 1234;
            let x = recording(samples);
            let x = View::new(&x, 1, samples).expect("view");
            let whole = filter.apply(x).expect("whole");
            let mut worst = 0.0f32;
            for (from, to) in [(0, 1000), (1000, margin + 7), (margin + 7, samples - 500), (samples - 500, samples)] {
                let (before, after) = (margin.min(from), margin.min(samples - to));
                let piece = x.window(from - before, before + (to - from) + after);
                let at_end = |margin: usize, ends: bool| if ends { None } else { Some(margin) };
                // Within a margin of an end, the piece begins or ends with the recording.
                let first = before < margin;
                let last = after < margin;
                let y = filter.apply_piece(piece, at_end(before, first), at_end(after, last)).expect("piece");
                let skip = if first { before } else { 0 };
                let own = &y.row(0)[skip..skip + (to - from)];
                worst = worst.max(distance(own, &whole.row(0)[from..to]));
            }
            let scale = largest(whole.row(0));
            assert!(worst <= 1e-5 * scale, "{low} Hz on {runtime}: {} of {scale}", worst / scale);
        }
    }
}

#[test]
fn margins_that_are_too_short_are_refused_with_the_length_needed() {
    let filter = SosFiltFilt::new(&sections(1.0)).expect("filter").on("cpu");
    let margin = filter.margin().expect("it settles");
    let x = recording(2000);
    let x = View::new(&x, 1, 2000).expect("view");
    // Five milliseconds.
    let e = filter.apply_piece(x, Some(150), None).expect_err("too short").to_string();
    assert!(e.contains("150") && e.contains(&margin.to_string()), "{e}");
    let e = filter.apply_piece(x, Some(margin), None).expect_err("longer than the input").to_string();
    assert!(e.contains("longer than the input of 2000"), "{e}");
    let integrator = Sos::new(vec![[1.0, 0.0, 0.0, 1.0, -2.1, 1.05]]).expect("sections");
    let e = SosFiltFilt::new(&integrator).expect("plan").margin().expect_err("unstable").to_string();
    assert!(e.contains("never settles"), "{e}");
}

#[test]
fn signals_that_are_not_longer_than_the_padding_are_refused() {
    let filter = SosFiltFilt::new(&sections(10.0)).expect("filter");
    let x = vec![1.0f32; filter.padlen() + 1];
    let long = View::new(&x, 1, filter.padlen() + 1).expect("view");
    let short = long.window(1, filter.padlen());
    for runtime in runtimes() {
        let filter = filter.clone().on(runtime);
        let e = filter.apply(short).expect_err("short").to_string();
        assert!(e.contains(&format!("padlen = {}", filter.padlen())), "{e}");
        filter.apply(long).expect("long enough");
        let none = filter.with_padding(Padding::None, None);
        assert_eq!(none.apply(View::new(&x[..1], 1, 1).expect("view")).expect("one sample").samples(), 1);
        assert_eq!(none.apply(View::<f32>::new(&[], 3, 0).expect("view")).expect("nothing").channels(), 3);
    }
}

#[test]
fn an_fir_filter_both_ways_is_its_square() {
    let taps = [0.1, -0.2, 0.4, 0.3];
    for runtime in runtimes() {
        let mut x = vec![0.0f32; 64];
        x[30] = 1.0;
        let y = FiltFilt::new(&taps, &[1.0]).expect("filter").on(runtime).apply(View::new(&x, 1, 64).expect("view"));
        let y: Signal = y.expect("filtered");
        let square = |lag: i32| (0..4).filter_map(|k| taps.get((k + lag) as usize).map(|t| t * taps[k as usize])).sum();
        let expected: Vec<f64> = (0..64).map(|n| square(n - 30)).collect();
        close(runtime, y.row(0), &expected, 1e-6, 0.0);
    }
}

/// The pieces between cuts, which may be empty.
fn pieces(cuts: &[usize], samples: usize) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = cuts.iter().map(|c| c % (samples + 1)).collect();
    ends.push(samples);
    ends.sort_unstable();
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
    starts.into_iter().zip(ends).map(|(from, to)| (from, to - from)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn sections_in_chunks_give_the_whole(
        order in 1usize..6,
        cutoff in 0.001f64..0.2,
        cuts in proptest::collection::vec(0usize..3000, 0..6),
        steady: bool,
        seed in 1u64..1000,
    ) {
        let sos = butter(order, Band::Pass(cutoff, 2.0 * cutoff), 1.0).expect("design");
        let x: Vec<f32> = noise(2 * 2999, seed as u32).iter().map(|v| v + 50.0).collect();
        let x = View::new(&x, 2, 2999).expect("view");
        for runtime in runtimes() {
            let filter = SosFilter::new(&sos).expect("filter").on(runtime);
            let start = if steady { filter.steady_state(&[50.0, 50.0]).expect("state") } else { filter.state(2) };
            let (mut state, mut end) = (start.clone(), start);
            let whole = filter.apply_with(x, &mut end).expect("whole");
            let mut chunks = vec![Vec::new(); 2];
            for (from, len) in pieces(&cuts, 2999) {
                let y = filter.apply_with(x.window(from, len), &mut state).expect("chunk");
                chunks.iter_mut().zip(y.rows()).for_each(|(all, row)| all.extend_from_slice(row));
            }
            for (c, chunks) in chunks.iter().enumerate() {
                let scale = largest(whole.row(c));
                prop_assert!(distance(chunks, whole.row(c)) <= 1e-6 * scale, "{runtime}: {:?}", pieces(&cuts, 2999));
            }
        }
    }

    #[test]
    fn taps_in_chunks_give_the_whole(
        count in 1usize..300,
        cuts in proptest::collection::vec(0usize..3000, 0..6),
        seed in 1u64..1000,
    ) {
        let taps: Vec<f64> = noise(count, seed as u32 + 1).iter().map(|v| f64::from(*v)).collect();
        let gain = taps.iter().map(|t| t.abs() as f32).sum::<f32>();
        let x = noise(2 * 2999, seed as u32);
        let x = View::new(&x, 2, 2999).expect("view");
        for runtime in runtimes() {
            let filter = FirFilter::new(&taps).expect("filter").on(runtime);
            let whole = filter.apply(x).expect("whole");
            let mut state = filter.state(2);
            let mut chunks = vec![Vec::new(); 2];
            for (from, len) in pieces(&cuts, 2999) {
                let y = filter.apply_with(x.window(from, len), &mut state).expect("chunk");
                chunks.iter_mut().zip(y.rows()).for_each(|(all, row)| all.extend_from_slice(row));
            }
            for (c, chunks) in chunks.iter().enumerate() {
                prop_assert!(distance(chunks, whole.row(c)) <= 1e-6 * gain, "{runtime}: {count} {:?}", pieces(&cuts, 2999));
            }
        }
    }

    #[test]
    fn filters_are_linear_and_the_same_at_any_time(
        order in 1usize..6,
        cutoff in 0.02f64..0.45,
        delay in 0usize..400,
        factor in -3.0f32..3.0,
        seed in 1u64..1000,
    ) {
        let sos = butter(order, Band::Low(cutoff), 1.0).expect("design");
        let taps: Vec<f64> = noise(40 * order, seed as u32 + 2).iter().map(|v| f64::from(*v)).collect();
        let (a, b) = (noise(900, seed as u32), noise(900, seed as u32 + 1));
        let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + factor * b).collect();
        let late: Vec<f32> = std::iter::repeat_n(0.0, delay).chain(a.iter().copied()).take(900).collect();
        for runtime in runtimes() {
            let sections = SosFilter::new(&sos).expect("filter").on(runtime);
            let finite = FirFilter::new(&taps).expect("filter").on(runtime);
            for kind in ["sections", "taps"] {
                let of = |x: &[f32]| {
                    let x = View::new(x, 1, 900).expect("view");
                    let y = if kind == "taps" { finite.apply(x) } else { sections.apply(x) };
                    y.expect("filtered").row(0).to_vec()
                };
                let (first, second) = (of(&a), of(&b));
                let expected: Vec<f32> = first.iter().zip(&second).map(|(a, b)| a + factor * b).collect();
                let scale = largest(&first).max(largest(&second)) * (1.0 + factor.abs());
                prop_assert!(distance(&of(&sum), &expected) <= 4e-6 * scale, "{runtime}, {kind}: linear");
                let moved = of(&late);
                // Long responses go through transforms, whose rounding reaches all of a block.
                let early = if kind == "taps" { 1e-6 * scale } else { 0.0 };
                prop_assert!(largest(&moved[..delay]) <= early, "{runtime}, {kind}: before its cause");
                let error = distance(&moved[delay..], &first[..900 - delay]);
                prop_assert!(error <= 4e-6 * scale, "{runtime}, {kind}: late by {delay}, {error}");
            }
        }
    }

    #[test]
    fn zero_phase_filters_do_not_know_the_direction_of_time(order in 1usize..4, cutoff in 0.05f64..0.4, seed in 1u64..1000) {
        // With room for every answer to die away, what happens at the ends cannot be seen in the middle.
        let sos = butter(order, Band::Low(cutoff), 1.0).expect("design");
        let mut x = vec![0.0f32; 3000];
        x[1400..1600].copy_from_slice(&noise(200, seed as u32));
        let turned: Vec<f32> = x.iter().rev().copied().collect();
        for runtime in runtimes() {
            let filter = SosFiltFilt::new(&sos).expect("filter").on(runtime);
            let of = |x: &[f32]| filter.apply(View::new(x, 1, 3000).expect("view")).expect("filtered").row(0).to_vec();
            let (ahead, mut back) = (of(&x), of(&turned));
            back.reverse();
            prop_assert!(distance(&ahead, &back) <= 2e-6 * largest(&ahead), "{runtime}");
        }
    }

    #[test]
    fn zero_phase_filters_are_linear(order in 1usize..5, cutoff in 0.02f64..0.45, seed in 1u64..1000, factor in -3.0f32..3.0) {
        let sos = butter(order, Band::High(cutoff), 1.0).expect("design");
        let (a, b) = (noise(900, seed as u32), noise(900, seed as u32 + 1));
        let sum: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + factor * b).collect();
        for runtime in runtimes() {
            let filter = SosFiltFilt::new(&sos).expect("filter").on(runtime);
            let of = |x: &[f32]| filter.apply(View::new(x, 1, 900).expect("view")).expect("filtered").row(0).to_vec();
            let expected: Vec<f32> = of(&a).iter().zip(of(&b)).map(|(a, b)| a + factor * b).collect();
            prop_assert!(distance(&of(&sum), &expected) <= 4e-6 * (1.0 + factor.abs()) * largest(&expected).max(1e-3));
        }
    }
}
