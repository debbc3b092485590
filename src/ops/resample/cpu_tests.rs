use super::super::padtype::PadType;
use super::super::resample_poly::{PolyFilter, ResamplePoly, ResamplePolyOptions};
use super::super::tests::{error, noise};
use super::super::upfirdn::tests::problem as upfirdn;
use super::*;
use crate::ops::problem::Problem;
use crate::signal::{Signal, View};
use crate::simd::levels;

fn poly(up: usize, down: usize, padtype: PadType) -> Polyphase {
    let options = ResamplePolyOptions { padtype, ..Default::default() };
    ResamplePoly::new(up, down, &options).unwrap().problem().clone()
}

fn dirty(channels: usize, samples: usize) -> Signal {
    let mut y = Signal::zeros(channels, samples).unwrap();
    (0..channels).for_each(|c| y.row_mut(c).fill(f32::NAN));
    y
}

/// Every way to compute, also those that a shape would not offer.
fn every_variant(problem: &Polyphase) -> Vec<Variant> {
    let mut all = variants(problem, Shape { channels: 1, samples: 1 << 20 });
    all.push(Variant::new("channels", &[("outputs", 16), ("tile", 1)]));
    all
}

fn check(problem: &Polyphase, (channels, samples): (usize, usize), data: &[f32]) {
    let x: Source<'_> = View::new(data, channels, samples).unwrap().into();
    let want = problem.reference(x, None).unwrap();
    let count = problem.count(samples);
    for level in levels() {
        for variant in every_variant(problem) {
            let mut y = dirty(channels, count);
            run_at(level, problem, &variant, x, y.view_mut()).unwrap();
            let e = error(&y.to_vec(), &want, data, problem.tolerance().gain);
            let bank = &problem.bank;
            assert!(
                e < 6e-7,
                "{channels} x {samples} at {}/{}, {:?}, {variant:?}, {}: {e:e}",
                bank.up,
                bank.down,
                problem.padtype,
                level.name()
            );
        }
    }
}

#[test]
fn rates_shapes_and_variants_agree_with_the_reference() {
    for (channels, samples) in [(1, 1), (3, 15), (17, 300), (2, 5000)] {
        let data = noise(channels * samples, 7);
        for (up, down) in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 2), (5, 7), (1, 10), (40, 3), (147, 160)] {
            check(&poly(up, down, PadType::default()), (channels, samples), &data);
        }
    }
}

#[test]
fn every_padding_agrees_with_the_reference() {
    let data: Vec<f32> = noise(2 * 300, 3).iter().map(|v| v + 3.0).collect();
    for padtype in PadType::ALL.into_iter().chain([PadType::Constant(-2.5)]) {
        for samples in [1, 2, 7, 300] {
            for (up, down) in [(1, 3), (3, 2), (1, 10)] {
                check(&poly(up, down, padtype), (2, samples), &data[..2 * samples]);
            }
            if !padtype.is_level() {
                check(&upfirdn(&[0.5, -1.0, 3.0, 2.0, 0.25], 3, 2, padtype), (2, samples), &data[..2 * samples]);
            }
        }
    }
}

#[test]
fn taps_fewer_than_rates_and_steps_beyond_the_signal() {
    let data = noise(2 * 5000, 9);
    for (up, down, taps) in [(7, 3, 2), (1, 5, 1), (1, 4000, 30), (3, 10_000, 9), (1, 3000, 7)] {
        let taps: Vec<f64> = (0..taps).map(|k| 1.0 + f64::from(k)).collect();
        check(&upfirdn(&taps, up, down, PadType::default()), (2, 50), &data[..100]);
        check(&upfirdn(&taps, up, down, PadType::Edge), (2, 5000), &data);
    }
    check(&upfirdn(&[1.0, -2.0, 3.0], 4000, 1, PadType::Edge), (2, 20), &data[..40]);
}

#[test]
fn constants_and_long_filters_keep_the_tolerance() {
    let loud: Vec<f32> = noise(3000, 4).iter().map(|v| v * 1e4 + 3e4).collect();
    let even = ResamplePolyOptions { window: PolyFilter::Taps(vec![1.0 / 1024.0; 1024]), ..Default::default() };
    let even = ResamplePoly::new(1, 2, &even).unwrap().problem().clone();
    for problem in [poly(1, 60, PadType::Edge), even] {
        check(&problem, (1, 3000), &vec![0.1; 3000]);
        check(&problem, (1, 3000), &loud);
    }
}

#[test]
fn integers_strides_and_wide_outputs() {
    let (channels, samples) = (35, 400);
    let rows: Vec<i16> = noise(channels * samples, 11).iter().map(|v| (v * 30000.0) as i16).collect();
    let floats: Vec<f32> = rows.iter().map(|v| f32::from(*v)).collect();
    let turned: Vec<i16> = (0..samples * channels).map(|i| rows[i % channels * samples + i / channels]).collect();
    let problem = poly(3, 2, PadType::Mean);
    let count = problem.count(samples);
    let want = problem.reference(View::new(&floats, channels, samples).unwrap().into(), None).unwrap();
    for variant in every_variant(&problem) {
        for source in [View::new(&rows, channels, samples), View::interleaved(&turned, channels)] {
            let mut y = vec![f32::NAN; channels * (count + 5)];
            let view = ViewMut::with_pitch(&mut y, channels, count, count + 5).unwrap();
            run(&problem, &variant, source.unwrap().into(), view).unwrap();
            for (c, row) in y.chunks(count + 5).enumerate() {
                let e = error(&row[..count], &want[c * count..(c + 1) * count], &floats, problem.tolerance().gain);
                assert!(e < 6e-7 && row[count..].iter().all(|v| v.is_nan()), "{variant:?}: {e:e}");
            }
        }
    }
}

#[test]
fn what_is_not_finite_reaches_exactly_its_results() {
    for bad in [f32::NAN, f32::INFINITY] {
        for (up, down) in [(1, 3), (3, 2), (7, 1)] {
            let mut data = noise(3 * 400, 2);
            data[600] = bad;
            check(&poly(up, down, PadType::default()), (3, 400), &data);
            check(&poly(up, down, PadType::Mean), (3, 400), &data);
        }
    }
}
