use super::*;
use crate::signal::{Source, View};

fn segments(nperseg: usize, noverlap: usize) -> Segments {
    Segments { nperseg: Some(nperseg), noverlap: Some(noverlap), ..Default::default() }
}

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

#[test]
fn frames_lie_where_scipy_has_them() {
    let of = |s: &Segments, n| s.geometry(n).map(|g| (g.nperseg, g.step, g.edge, g.frames)).unwrap();
    let plain = segments(64, 32);
    assert_eq!(of(&plain, 360), (64, 32, 0, 10));
    assert_eq!(of(&Segments { padded: true, ..plain.clone() }, 360), (64, 32, 0, 11));
    let centred = Segments { boundary: Boundary::Zeros, padded: true, ..plain.clone() };
    assert_eq!(of(&centred, 360), (64, 32, 32, 13));
    // Shorter recordings are one frame, with the overlap that belongs to it.
    let default = Segments::default();
    assert_eq!(
        (of(&default, 100), of(&default, 1), of(&default, 255)),
        ((100, 50, 0, 1), (1, 1, 0, 1), (255, 128, 0, 1))
    );
    let whole = Segments { whole: true, nfft: Some(50), ..Default::default() };
    assert_eq!((of(&whole, 70), of(&whole, 30)), ((50, 50, 0, 1), (30, 30, 0, 1)));
    let g = centred.geometry(360).unwrap();
    assert_eq!((g.times(10.0)[0], g.times(10.0)[1], g.frequencies(10.0)[32]), (0.0, 3.2, 5.0));
    assert_eq!(plain.geometry(360).unwrap().times(10.0)[0], 3.2);
}

#[test]
fn twice_is_what_has_a_negative_frequency() {
    let sides = |nfft| {
        let s = Segments { nfft: Some(nfft), ..segments(1, 0) };
        let g = s.geometry(10).unwrap();
        (0..g.bins()).map(|k| g.sides(k)).collect::<Vec<_>>()
    };
    assert_eq!(sides(1), [1.0]);
    assert_eq!(sides(2), [1.0, 1.0]);
    assert_eq!(sides(3), [1.0, 2.0]);
    assert_eq!(sides(4), [1.0, 2.0, 1.0]);
    assert_eq!(sides(5), [1.0, 2.0, 2.0]);
}

#[test]
fn what_is_not_a_cut_is_refused_with_its_range() {
    let message = |s: Segments, n| s.checked().and_then(|s| s.geometry(n)).unwrap_err().to_string();
    let has = |s: Segments, n, text: &str| {
        let m = message(s, n);
        assert!(m.contains(text), "{m} / {text}");
    };
    has(segments(64, 64), 100, "pass noverlap from 0 to 63");
    has(segments(64, 60), 50, "pass noverlap from 0 to 49");
    has(segments(0, 0), 100, "nperseg is 0");
    has(Segments { nfft: Some(63), ..segments(64, 0) }, 100, "nfft of 64 or more");
    has(Segments { nfft: Some(0), ..segments(64, 0) }, 100, "nfft is 0");
    has(Segments { nfft: Some(usize::MAX), ..segments(64, 0) }, 100, "memory");
    for fs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        has(Segments { fs, ..segments(64, 0) }, 100, "above 0");
    }
    let values = |v: Vec<f64>| Segments { taper: Taper::Values(v), ..Default::default() };
    has(values(vec![]), 100, "no weights");
    has(values(vec![1.0, f64::NAN]), 100, "weight 1 of the window is NaN");
    has(values(vec![1.0; 101]), 100, "101 weights, a channel 100 samples");
    has(values(vec![0.0; 10]), 100, "a window that does not cancel itself");
    has(Segments { scaling: Scaling::Spectrum, ..values(vec![1.0, -1.0]) }, 100, "sums to 0");
    has(Segments { nperseg: Some(9), ..values(vec![1.0; 10]) }, 100, "nperseg is 9, the window has 10 weights");
    has(Segments { whole: true, ..values(vec![1.0; 10]) }, 100, "100 samples are transformed");
    has(segments(64, 0), 0, "at least one sample");
}

/// Every frame of every kind of cut, against the plain reference.
#[test]
fn frames_are_those_of_the_reference() {
    let boundaries = [Boundary::None, Boundary::Zeros, Boundary::Even, Boundary::Odd, Boundary::Constant];
    for n in [1, 2, 3, 17, 40, 100] {
        let x: Vec<f32> = noise(n).iter().map(|v| v + 100.0).collect();
        let source = Source::F32(View::new(&x, 1, n).unwrap());
        for boundary in boundaries {
            for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
                for (nperseg, nfft, padded) in [(17, 17, true), (40, 51, false), (16, 64, true)] {
                    let s = Segments {
                        nperseg: Some(nperseg),
                        nfft: Some(nfft),
                        boundary,
                        detrend,
                        padded,
                        ..Default::default()
                    };
                    let g = s.geometry(n).unwrap();
                    let table = s.table(g.nperseg).unwrap();
                    let expected = reference::spectra(&source, 0, 0, &g, &table);
                    let loader = Loader::new(&x, &g, &table);
                    // What an odd boundary puts before and after is rounded to float32.
                    let tight = if boundary == Boundary::Odd { 1e-7 } else { 1e-13 };
                    spectra_are::<f64>(&loader, &g, &expected, tight);
                    spectra_are::<f32>(&loader, &g, &expected, 1e-6);
                }
            }
        }
    }
}

fn spectra_are<T: Real + Into<f64>>(
    loader: &Loader<'_>,
    g: &Geometry,
    expected: &[num_complex::Complex<f64>],
    tolerance: f64,
) {
    let plan = T::plan(g.nfft);
    T::with_space(|space| {
        space.reserve(g.bins());
        for (frame, expected) in expected.chunks_exact(g.bins()).enumerate() {
            space.transform(plan.as_ref(), loader, frame, 0).unwrap();
            for (z, e) in space.spectra.iter().zip(expected) {
                let (re, im): (f64, f64) = (z.re.into(), z.im.into());
                let error = (re - e.re).hypot(im - e.im);
                assert!(error < tolerance * 100.0 * g.nperseg as f64, "{g:?} frame {frame}: {re} {im}, expected {e}");
            }
        }
    });
}

#[test]
fn constants_leave_nothing_however_large() {
    for detrend in [Detrend::Constant, Detrend::Linear] {
        for n in [1, 2, 15, 16, 17, 100] {
            let x = vec![12_345_678.9f32; n];
            let s = Segments { detrend, nperseg: Some(n), ..Default::default() };
            let (g, table) = (s.geometry(n).unwrap(), s.table(n).unwrap());
            let mut frame = vec![1.0f32; n + 3];
            Loader::new(&x, &g, &table).frame(0, &mut Vec::new(), &mut frame);
            assert!(frame.iter().all(|v| *v == 0.0), "{n}: {frame:?}");
        }
    }
}

#[test]
fn every_level_makes_the_same_frames() {
    let x: Vec<f32> = noise(77).iter().map(|v| 1000.0 + v).collect();
    for detrend in [Detrend::None, Detrend::Constant, Detrend::Linear] {
        let s = Segments { detrend, nperseg: Some(77), ..Default::default() };
        let table = s.table(77).unwrap();
        let mut frames = Vec::new();
        for level in crate::simd::levels() {
            let mut out = vec![0.0f32; 77];
            level.run(load::Weigh { x: &x, detrend, table: &table, out: &mut out });
            frames.push(out);
        }
        for other in &frames[1..] {
            assert!(frames[0].iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6), "{detrend:?}");
        }
    }
}

#[test]
fn windows_are_kept_and_few() {
    let s = Segments::default().checked().unwrap();
    assert!(Arc::ptr_eq(&s.table(256).unwrap(), &s.table(256).unwrap()));
    (1..50).for_each(|n| assert_eq!(s.table(n).unwrap().len, n));
    assert!(s.tables.lock().unwrap().len() <= MAX_TABLES);
    assert!(Arc::ptr_eq(&s.table(256).unwrap(), &s.clone().table(256).unwrap()));
}

/// Small problems stand for all: those that an option rules out give way to the nearest possible ones.
#[test]
fn the_nearest_number_of_samples_can_be_cut() {
    let overlap = Segments { nperseg: Some(256), noverlap: Some(192), ..Default::default() };
    assert_eq!([1, 192, 193, 1000].map(|n| overlap.nearest(n)), [193, 193, 193, 1000]);
    let short = Segments { nperseg: Some(521), nfft: Some(9), ..Default::default() };
    assert_eq!([1, 9, 10, 1000].map(|n| short.nearest(n)), [1, 9, 9, 9]);
    let weights = Segments { taper: Taper::Values(vec![1.0; 20]), ..Default::default() };
    assert_eq!([1, 20, 1000].map(|n| weights.nearest(n)), [20, 20, 1000]);
    let whole = Segments { whole: true, ..weights.clone() };
    assert_eq!([1, 20, 1000].map(|n| whole.nearest(n)), [20, 20, 20]);
    for cut in [overlap, short, weights, whole] {
        let cut = cut.checked().unwrap();
        for samples in [1, 2, 17, 257, 2051] {
            cut.geometry(cut.nearest(samples)).unwrap();
        }
    }
}
