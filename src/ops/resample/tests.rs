use proptest::prelude::*;

use super::*;
use crate::design::Window;
use crate::error::ErrorKind;
use crate::ops::problem::Problem;
use crate::signal::{Signal, View};

/// Noise in [-1, 1), the same for the same seed.
pub(super) fn noise(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32)
        .map(|k| (k.wrapping_add(seed << 20).wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0)
        .collect()
}

/// The largest difference against `max(max |want|, gain * max |x|)` of all; infinite where one is finite and the other is
/// not, or they are not the same infinity.
pub(super) fn error(got: &[f32], want: &[f64], x: &[f32], gain: f64) -> f64 {
    assert_eq!(got.len(), want.len());
    let largest = |v: &mut dyn Iterator<Item = f64>| v.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let scale =
        largest(&mut want.iter().map(|v| v.abs())).max(gain * largest(&mut x.iter().map(|v| f64::from(v.abs()))));
    got.iter().zip(want).fold(0.0, |worst, (g, w)| {
        let same = f64::from(*g) == *w || (g.is_nan() && w.is_nan());
        let e = (f64::from(*g) - w).abs() / scale;
        if same {
            worst
        } else if e.is_finite() {
            worst.max(e)
        } else {
            f64::INFINITY
        }
    })
}

fn cpu() -> ResamplePolyOptions {
    ResamplePolyOptions { runtime: Some("cpu".into()), ..Default::default() }
}

fn one(x: &[f32]) -> View<'_, f32> {
    View::new(x, 1, x.len()).unwrap()
}

fn close(y: &[f32], want: &[f64], tolerance: f64) {
    let good = y.len() == want.len() && y.iter().zip(want).all(|(y, w)| (f64::from(*y) - w).abs() <= tolerance);
    assert!(good, "{y:?}, expected {want:?}");
}

/// `scipy.signal.resample_poly([0, 100, 300, -200, 50, 7], 3, 2)`.
#[test]
fn six_integers_are_what_scipy_gives() {
    let x = [0i16, 100, 300, -200, 50, 7];
    let want = [0.0, -0.918, 240.553, 300.182, -66.948, -194.879, 50.030, 78.245, -40.206];
    let y = resample_poly(View::new(&x, 1, 6).unwrap(), 3, 2, &cpu()).unwrap();
    close(y.row(0), &want, 6e-4);
    assert_eq!(y, resample_poly(one(&x.map(f32::from)), 3, 2, &cpu()).unwrap());
}

#[test]
fn lengths_of_results() {
    for (samples, up, down, want) in
        [(44_117, 48_000, 44_117, 48_000), (10, 3, 7, 5), (1, 1, 3, 1), (30_001, 1, 30, 1001), (6, 4, 2, 12)]
    {
        let y = resample_poly(one(&noise(samples, 1)), up, down, &cpu()).unwrap();
        assert_eq!(y.samples(), want, "{samples} {up}/{down}");
    }
}

#[test]
fn rows_are_what_they_are_alone() {
    let x = noise(2 * 131_072, 3);
    let y = resample_poly(View::new(&x, 2, 131_072).unwrap(), 8, 1, &cpu()).unwrap();
    assert_eq!(y.samples(), 1_048_576);
    let alone = resample_poly(one(&x[131_072..]), 8, 1, &cpu()).unwrap();
    assert_eq!(y.row(1), alone.row(0));
}

/// Positions at the raised rate pass 2^31.
#[test]
fn positions_are_counted_beyond_32_bits() {
    let x = noise(6_600_000, 5);
    let y = resample_poly(one(&x), 400, 1333, &cpu()).unwrap();
    assert_eq!(y.samples(), 1_980_496);
    // The last results from the last samples alone: one beginning at a multiple of 1333 samples is in step.
    let from = 1333 * 4900;
    let end = resample_poly(one(&x[from..]), 400, 1333, &cpu()).unwrap();
    assert_eq!(y.row(0)[400 * 4900 + 50..], end.row(0)[50..]);
    assert!(y.row(0).chunks(64).all(|c| c.iter().any(|v| *v != 0.0)));
}

#[test]
fn equal_rates_are_a_copy() {
    let x = noise(100, 2);
    for rate in [1, 7, usize::MAX] {
        let plan = ResamplePoly::new(rate, rate, &cpu()).unwrap();
        assert_eq!(plan.apply(one(&x)).unwrap().row(0), x);
    }
}

#[test]
fn own_windows_and_taps() {
    let x = noise(100, 2);
    let with = |window| ResamplePolyOptions { window, ..cpu() };
    let designed = ResamplePoly::new(2, 3, &with(PolyFilter::Window(Window::Hann))).unwrap();
    let taps = designed.taps().iter().map(|t| t / 2.0).collect();
    let given = ResamplePoly::new(4, 6, &with(PolyFilter::Taps(taps))).unwrap();
    assert_eq!(designed.apply(one(&x)).unwrap(), given.apply(one(&x)).unwrap());
    assert_ne!(designed.apply(one(&x)).unwrap(), resample_poly(one(&x), 2, 3, &cpu()).unwrap());
}

#[test]
fn what_cannot_be_is_refused() {
    let message = |x: &[f32], up, down, options: &ResamplePolyOptions| {
        let e = resample_poly(one(x), up, down, options).unwrap_err();
        assert!(e.kind().is_usage() || e.kind() == ErrorKind::Shape, "{e}");
        e.to_string()
    };
    assert!(message(&[1.0], 0, 1, &cpu()).contains("up is 0"));
    assert!(message(&[1.0], 1, 0, &cpu()).contains("down is 0"));
    assert!(message(&[1.0], usize::MAX, 2, &cpu()).contains("ratio of smaller numbers"));
    assert!(message(&[1.0], 1, usize::MAX, &cpu()).contains("ratio of smaller numbers"));
    assert!(message(&[], 1, 2, &cpu()).contains("without samples"));
    let with = |window| ResamplePolyOptions { window, ..cpu() };
    assert!(message(&[1.0], 1, 2, &with(PolyFilter::Taps(vec![]))).contains("at least one tap"));
    assert!(message(&[1.0], 1, 2, &with(PolyFilter::Taps(vec![1.0, f64::INFINITY]))).contains("tap 1"));
    let padded = ResamplePolyOptions { padtype: PadType::Constant(f64::NAN), ..cpu() };
    assert!(message(&[1.0], 1, 2, &padded).contains("cval must be finite"));
    let mode = UpfirdnOptions { mode: PadType::Mean, ..Default::default() };
    assert!(upfirdn(&[1.0], one(&[1.0]), &mode).unwrap_err().to_string().contains("no mode \"mean\""));
    let empty = resample_poly(View::new(&[0f32; 0], 0, 7).unwrap(), 2, 1, &cpu()).unwrap();
    assert_eq!((empty.channels(), empty.samples()), (0, 14));
}

/// Examples of `scipy.signal.upfirdn`.
#[test]
fn upfirdn_gives_scipys_examples() {
    let run = |h: &[f64], x: &[f32], up, down| {
        let options = UpfirdnOptions { up, down, runtime: Some("cpu".into()), ..Default::default() };
        upfirdn(h, one(x), &options).unwrap().row(0).to_vec()
    };
    let ramp: Vec<f32> = (0..10).map(|v| v as f32).collect();
    assert_eq!(run(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0], 1, 1), [1.0, 2.0, 3.0, 2.0, 1.0]);
    assert_eq!(run(&[1.0], &[1.0, 2.0, 3.0], 3, 1), [1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
    assert_eq!(run(&[1.0], &ramp, 1, 3), [0.0, 3.0, 6.0, 9.0]);
    assert_eq!(run(&[0.5, 1.0, 0.5], &ramp, 2, 3), [0.0, 1.0, 2.5, 4.0, 5.5, 7.0, 8.5]);
}

#[test]
fn decimation_keeps_what_the_new_rate_holds() {
    let wave = |f: f32| -> Vec<f32> { (0..4000).map(|n| (f * n as f32).sin()).collect() };
    for (ftype, q) in [(DecimateFilter::Iir, 4), (DecimateFilter::Fir, 4), (DecimateFilter::Iir, 1)] {
        for zero_phase in [true, false] {
            let options = DecimateOptions { ftype, zero_phase, runtime: Some("cpu".into()), ..Default::default() };
            let slow = decimate(one(&wave(0.01)), q, &options).unwrap();
            assert_eq!(slow.samples(), 4000usize.div_ceil(q));
            let peak = |y: &Signal| y.row(0)[200..800].iter().fold(0f32, |m, v| m.max(v.abs()));
            assert!((peak(&slow) - 1.0).abs() < 0.02, "{options:?}");
            if q > 1 {
                let fast = decimate(one(&wave(2.0)), q, &options).unwrap();
                assert!(peak(&fast) < 1e-2, "{options:?}: {}", peak(&fast));
            }
        }
    }
}

#[test]
fn decimation_refuses_what_it_cannot_do() {
    let message = |x: &[f32], q, options: DecimateOptions| decimate(one(x), q, &options).unwrap_err().to_string();
    let iir = DecimateOptions { runtime: Some("cpu".into()), ..Default::default() };
    let fir = DecimateOptions { ftype: DecimateFilter::Fir, ..iir.clone() };
    assert!(message(&[1.0], 0, iir.clone()).contains("q is 0"));
    assert!(message(&[1.0; 10], 3, iir.clone()).contains("padlen"));
    assert!(message(&[], 3, DecimateOptions { zero_phase: false, ..iir.clone() }).contains("without samples"));
    assert!(message(&[1.0], 1, fir.clone()).contains("decimate by 1"));
    assert!(message(&[1.0], usize::MAX, fir).contains("more than is possible"));
    assert!(message(&[1.0], 3, DecimateOptions { n: Some(0), ..iir }).contains("decimate by 3"));
}

/// The results of a recording in chunks that end at these places.
fn streamed(resampler: &Resampler, x: View<'_, f32>, mut cuts: Vec<usize>) -> Vec<Vec<f32>> {
    cuts.extend([0, x.samples()]);
    cuts.sort_unstable();
    let mut state = resampler.state(x.channels());
    let mut rows = vec![Vec::new(); x.channels()];
    let mut take = |y: Signal| rows.iter_mut().enumerate().for_each(|(c, row)| row.extend_from_slice(y.row(c)));
    for cut in cuts.windows(2) {
        take(resampler.apply_with(x.window(cut[0], cut[1] - cut[0]), &mut state).unwrap());
    }
    take(resampler.finish(&mut state).unwrap());
    assert_eq!((state.samples(), state.results()), (0, 0));
    rows
}

#[test]
fn a_state_belongs_to_its_channels() {
    let resampler = Resampler::new(1, 2, &cpu()).unwrap();
    let e = resampler.apply_with(one(&[1.0]), &mut resampler.state(2)).unwrap_err();
    assert!(e.to_string().contains("the chunk has 1 channels, the state 2"), "{e}");
    let mean = ResamplePolyOptions { padtype: PadType::Mean, ..cpu() };
    assert!(Resampler::new(1, 2, &mean).unwrap_err().to_string().contains("needs the whole recording"));
    let nothing = resampler.finish(&mut resampler.state(3)).unwrap();
    assert_eq!((nothing.channels(), nothing.samples()), (3, 0));
}

const RATES: [(usize, usize); 8] = [(1, 1), (1, 3), (3, 1), (3, 2), (2, 5), (16, 15), (1, 40), (147, 160)];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_give_the_bits_of_the_whole(
        rate in 0usize..RATES.len(),
        channels in 1usize..19,
        samples in 1usize..900,
        cuts in prop::collection::vec(0usize..900, 0..7),
        seed in 1u32..1000,
    ) {
        let (up, down) = RATES[rate];
        let x = noise(channels * samples, seed);
        let x = View::new(&x, channels, samples).unwrap();
        let cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(samples)).collect();
        let resampler = Resampler::new(up, down, &cpu()).unwrap();
        let whole = resampler.plan().apply(x).unwrap();
        for (c, row) in streamed(&resampler, x, cuts).iter().enumerate() {
            prop_assert_eq!(&row[..], whole.row(c));
        }
    }

    #[test]
    fn chunks_with_another_padding_are_as_close(
        rate in 0usize..RATES.len(),
        samples in 1usize..300,
        cuts in prop::collection::vec(0usize..300, 0..7),
        edge: bool,
    ) {
        let (up, down) = RATES[rate];
        let padtype = if edge { PadType::Edge } else { PadType::Constant(2.5) };
        let x: Vec<f32> = noise(samples, 3).iter().map(|v| v + 1.0).collect();
        let cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(samples)).collect();
        let resampler = Resampler::new(up, down, &ResamplePolyOptions { padtype, ..cpu() }).unwrap();
        let want = resampler.plan().problem().reference(one(&x).into(), None).unwrap();
        let e = error(&streamed(&resampler, one(&x), cuts)[0], &want, &[3.5], resampler.plan().problem().tolerance().gain);
        prop_assert!(e < 6e-7, "{}", e);
    }

    #[test]
    fn sums_of_signals_give_sums_of_results(
        rate in 0usize..RATES.len(),
        a in prop::collection::vec(-100f32..100.0, 1..200),
        scale in -3f32..3.0,
    ) {
        let (up, down) = RATES[rate];
        let b = noise(a.len(), 9);
        let both: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + scale * b).collect();
        let run = |x: &[f32]| resample_poly(one(x), up, down, &cpu()).unwrap();
        let (ya, yb, y) = (run(&a), run(&b), run(&both));
        for ((a, b), y) in ya.row(0).iter().zip(yb.row(0)).zip(y.row(0)) {
            prop_assert!((a + scale * b - y).abs() < 5e-4, "{} {} {}", a, b, y);
        }
    }

    #[test]
    fn raising_keeps_the_samples(x in prop::collection::vec(-100f32..100.0, 1..200), up in 2usize..9) {
        let y = resample_poly(one(&x), up, 1, &cpu()).unwrap();
        for (y, x) in y.row(0).iter().step_by(up).zip(&x) {
            // The default filter has its zeros at the other samples; its gain here is 1 within 7e-4.
            prop_assert!((y - x).abs() < 1e-3 * x.abs() + 1e-4, "{} {}", y, x);
        }
    }
}
