use super::*;
use crate::ops::launch_tests::{compute, device, error, noise, one_group_size, planar, read, result};

/// `lfilter(taps, 1, x, zi=zi)` in float64; returns the next state too.
fn reference(taps: &[f64], x: &[f32], zi: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut state = zi.to_vec();
    state.push(0.0);
    let mut y = Vec::new();
    for v in x {
        y.push(taps[0] * f64::from(*v) + state[0]);
        for k in 1..taps.len() {
            state[k - 1] = state[k] + taps[k] * f64::from(*v);
        }
    }
    state.truncate(taps.len() - 1);
    (y, state)
}

fn taps(count: usize) -> Vec<f64> {
    noise(count, 77).iter().enumerate().map(|(i, v)| f64::from(*v) + (i as f64 * 0.1).cos()).collect()
}

fn channels_of(x: &[f32], channels: usize, taps: &[f64]) -> Vec<f64> {
    let zi = vec![0.0; taps.len() - 1];
    x.chunks(x.len() / channels).flat_map(|row| reference(taps, row, &zi).0).collect()
}

fn gain(taps: &[f64]) -> f64 {
    taps.iter().map(|t| t.abs()).sum()
}

#[test]
fn every_variant_over_sizes_and_segments() {
    let Some(gpu) = device() else { return };
    for (channels, samples, count) in [(1, 1, 1), (3, 257, 5), (2, 129, 64), (1, 700, 333), (5, 48, 63)] {
        let x = noise(channels * samples, 2);
        let taps = taps(count);
        let want = channels_of(&x, channels, &taps);
        for cuts in [&[][..], &[16, 48, 128]] {
            for variant in one_group_size(variants(&taps, gpu.facts(), Shape { channels, samples })) {
                let x_device = planar(&gpu, (channels, samples), cuts, &x);
                let y = result(&gpu, (channels, samples), cuts);
                let got = compute(&y, &record(&taps, &*gpu, &variant, &x_device, &y).unwrap());
                let e = error(&got, &want, &x, samples, gain(&taps));
                assert!(e <= 1e-6, "{} {channels} x {samples}, {count} taps: {e:e}", variant.name);
            }
        }
    }
}

#[test]
fn more_taps_than_a_uniform_holds_and_constant_input() {
    let Some(gpu) = device() else { return };
    let samples = 22_000;
    let variant = &variants(&[1.0], gpu.facts(), Shape { channels: 1, samples })[0];
    for (taps, x) in [(taps(20_000), noise(samples, 8)), (vec![1.0 / 3.0; 9000], vec![0.7; samples])] {
        let want = channels_of(&x, 1, &taps);
        let x_device = planar(&gpu, (1, samples), &[8000], &x);
        let y = result(&gpu, (1, samples), &[8000]);
        let got = compute(&y, &record(&taps, &*gpu, variant, &x_device, &y).unwrap());
        let e = error(&got, &want, &x, samples, gain(&taps));
        assert!(e <= 1e-6, "{e:e}");
    }
}

#[test]
fn state_continues_a_signal_cut_anywhere() {
    let Some(gpu) = device() else { return };
    let (channels, samples, taps) = (3, 300, taps(40));
    let x = noise(channels * samples, 6);
    let variant = &variants(&taps, gpu.facts(), Shape { channels, samples })[0];
    let mut state = State { channels, values: vec![0.25; channels * 39] };
    let mut wanted = state.values.clone();
    for (start, end) in [(0, 1), (1, 8), (8, 39), (39, 150), (150, 300)] {
        let count = end - start;
        let chunk: Vec<f32> = x.chunks(samples).flat_map(|row| row[start..end].to_vec()).collect();
        let mut want = Vec::new();
        for (row, zi) in chunk.chunks(count).zip(wanted.chunks_mut(39)) {
            let (y, next) = reference(&taps, row, zi);
            want.extend(y);
            zi.copy_from_slice(&next);
        }
        let x_device = planar(&gpu, (channels, count), &[64], &chunk);
        let y = result(&gpu, (channels, count), &[64]);
        run(&taps, &*gpu, variant, &x_device, &y, Some(&mut state)).unwrap();
        let e = error(&read(&y, true), &want, &chunk, count, gain(&taps));
        assert!(e <= 1e-6, "{start}..{end}: {e:e}");
        let close = state.values.iter().zip(&wanted).all(|(a, b)| (a - b).abs() <= 1e-12);
        assert!(close, "{start}..{end}: {:?} {:?}", &state.values[..4], &wanted[..4]);
    }
}

#[test]
fn not_a_number_and_infinity_reach_exactly_their_taps() {
    let Some(gpu) = device() else { return };
    let samples = 400;
    for count in [5, 50] {
        let taps: Vec<f64> = (0..count).map(|k| 1.0 + k as f64).collect();
        let mut x = noise(samples, 3);
        (x[20], x[200]) = (f32::NAN, f32::INFINITY);
        let want = channels_of(&x, 1, &taps);
        for variant in one_group_size(variants(&taps, gpu.facts(), Shape { channels: 1, samples })) {
            let x_device = planar(&gpu, (1, samples), &[208], &x);
            let y = result(&gpu, (1, samples), &[208]);
            let got = compute(&y, &record(&taps, &*gpu, &variant, &x_device, &y).unwrap());
            for (n, (g, reach)) in got.iter().zip(0..).enumerate() {
                let from = |place: usize| (place..place + count).contains(&reach);
                assert_eq!(g.is_nan(), from(20), "{} {n}", variant.name);
                assert_eq!(g.is_infinite(), from(200), "{} {n}", variant.name);
            }
            assert!(error(&got, &want, &x, samples, gain(&taps)) <= 1e-6, "{}", variant.name);
        }
    }
}
