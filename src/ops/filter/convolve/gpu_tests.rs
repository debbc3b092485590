use super::super::tests::{MODES, expected, noise, response};
use super::super::{Convolution, Taps};
use super::*;
use crate::ops::launch_tests::{compute, device, error, one_group_size, planar, result};

/// Computes on the device and gives the largest error of all channels.
fn worst(c: &Convolution, channels: usize, x: &[f32]) -> Option<f64> {
    let gpu = device()?;
    let samples = x.len() / channels;
    let count = c.part(samples).count;
    let want: Vec<f64> =
        x.chunks(samples).enumerate().flat_map(|(channel, row)| expected(row, c.taps.of(channel), c.mode)).collect();
    let gain: f64 = c.taps.of(0).iter().map(|t| t.abs()).sum();
    let mut worst = 0f64;
    let (direct, transforms): (Vec<_>, Vec<_>) =
        variants(c, gpu.facts(), Shape { channels, samples }).into_iter().partition(|v| v.method == "direct");
    assert_eq!(transforms.is_empty(), c.taps.len() < 64);
    for variant in [one_group_size(direct), transforms].concat() {
        let x_device = planar(&gpu, (channels, samples), &[], x);
        let y = result(&gpu, (channels, count), &[]);
        let got = compute(&y, &record(c, &*gpu, &variant, &x_device, &y).unwrap());
        // Rows of results and of samples differ in length; the largest sample is what counts.
        let largest = x.iter().copied().filter(|v| v.is_finite()).fold(0f32, |m, v| m.max(v.abs()));
        worst = worst.max(error(&got, &want, &vec![largest; got.len()], count, gain));
    }
    Some(worst)
}

#[test]
fn every_mode_over_lengths() {
    for (channels, samples, taps) in [
        (1, 1, 1),
        (3, 257, 6),
        (2, 129, 64),
        (1, 40, 300),
        (2, 700, 333),
        (5, 48, 63),
        (3, 9000, 255),
        (1, 1794, 255),
        (1, 30_000, 1025),
    ] {
        for mode in MODES {
            let c = Convolution::new(Taps::one(&response(taps, 3)).unwrap(), mode);
            let Some(e) = worst(&c, channels, &noise(channels * samples, 2)) else { return };
            assert!(e <= 1e-6, "{channels} x {samples}, {taps} taps, {mode:?}: {e:e}");
        }
    }
}

#[test]
fn channels_have_their_own_responses_and_long_ones_go_in_passes() {
    let rows: Vec<Vec<f64>> = (0..5).map(|c| response(33, c)).collect();
    let c = Convolution::new(Taps::each(rows).unwrap(), super::super::Mode::Same);
    let Some(e) = worst(&c, 5, &noise(5 * 90, 2)) else { return };
    assert!(e <= 1e-6, "{e:e}");
    let rows: Vec<Vec<f64>> = (0..5).map(|c| response(300, c)).collect();
    let gains = rows.iter().map(|row| row.iter().map(|t| t.abs()).sum::<f64>());
    let (least, most) = gains.fold((f64::MAX, 0f64), |(a, b), v| (a.min(v), b.max(v)));
    let c = Convolution::new(Taps::each(rows).unwrap(), super::super::Mode::Full);
    let Some(e) = worst(&c, 5, &noise(5 * 4000, 2)) else { return };
    assert!(e <= 1e-6 * least / most, "{e:e}");
    for mode in MODES {
        let c = Convolution::new(Taps::one(&response(17_001, 3)).unwrap(), mode);
        let Some(e) = worst(&c, 1, &noise(900, 2)) else { return };
        assert!(e <= 1e-6, "{mode:?}: {e:e}");
    }
}

#[test]
fn not_a_number_and_infinity_reach_exactly_their_taps() {
    for mode in MODES {
        for taps in [5, 50, 100] {
            let mut taps = response(taps, 4);
            taps[1] = 0.0;
            let mut x = noise(400, 3);
            (x[20], x[200], x[399]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
            let c = Convolution::new(Taps::one(&taps).unwrap(), mode);
            let Some(e) = worst(&c, 1, &x) else { return };
            assert!(e <= 1e-6, "{mode:?}: {e:e}");
        }
    }
}

#[test]
fn blocks_in_several_batches_and_beside_bad_ones() {
    let mut x = noise(2 * 600_000, 7);
    (x[5000], x[700_000]) = (f32::NAN, f32::INFINITY);
    let c = Convolution::new(Taps::one(&response(255, 4)).unwrap(), super::super::Mode::Same);
    let Some(e) = worst(&c, 2, &x) else { return };
    assert!(e <= 1e-6, "{e:e}");
}

#[test]
fn results_are_finite_where_only_their_transforms_are_not() {
    let mut x = noise(9000, 7);
    x[3000..3400].fill(3e38);
    let mut taps = vec![0.0; 100];
    (taps[0], taps[50], taps[99]) = (0.5, -0.25, 0.25);
    for mode in MODES {
        let c = Convolution::new(Taps::one(&taps).unwrap(), mode);
        let Some(e) = worst(&c, 1, &x) else { return };
        assert!(e <= 1e-6, "{mode:?}: {e:e}");
    }
}
