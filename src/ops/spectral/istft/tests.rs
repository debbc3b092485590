use super::*;
use crate::ops::problem::{Problem, Shape};
use crate::ops::spectral::frames::Boundary;
use crate::ops::spectral::{StftOptions, stft};
use crate::signal::{Complex32, View};

fn noise(n: usize) -> Vec<f32> {
    (0..n as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn cpu() -> Option<String> {
    Some("cpu".into())
}

#[test]
fn gives_back_the_signal() {
    for (n, nperseg, noverlap, nfft) in [
        (1000, 64, 32, None),
        (1000, 51, 34, Some(75)),
        (20_000, 256, 250, None),
        (333, 8, 7, Some(9)),
        (64, 64, 32, None),
    ] {
        for scaling in [Scaling::Spectrum, Scaling::Density] {
            for boundary in [Boundary::Zeros, Boundary::Even] {
                let x = [noise(n), noise(n)].concat();
                let forward = StftOptions {
                    fs: 100.0,
                    nperseg: Some(nperseg),
                    noverlap: Some(noverlap),
                    nfft,
                    boundary,
                    scaling,
                    runtime: cpu(),
                    ..Default::default()
                };
                let z = stft(View::new(&x, 2, n).unwrap(), &forward).unwrap();
                let back = IstftOptions {
                    fs: 100.0,
                    nperseg: Some(nperseg),
                    noverlap: Some(noverlap),
                    nfft,
                    scaling,
                    runtime: cpu(),
                    ..Default::default()
                };
                let y = istft(&z.values, z.f.len(), &back).unwrap();
                assert!(y.samples() >= n, "{n} {nperseg}");
                for c in 0..2 {
                    let error =
                        y.row(c).iter().zip(&x[c * n..(c + 1) * n]).fold(0f32, |m, (a, b)| m.max((a - b).abs()));
                    assert!(error < 3e-6, "{n} {nperseg} {noverlap} {nfft:?}: {error}");
                }
            }
        }
    }
}

/// Pieces of the result, their ends and the ends of the signal, against the plain reference; any number of threads.
#[test]
fn pieces_are_those_of_the_reference() {
    for (bins, options) in [
        (33, IstftOptions::default()),
        (33, IstftOptions { boundary: false, window: crate::design::Window::Hamming.into(), ..Default::default() }),
        (26, IstftOptions { nperseg: Some(51), noverlap: Some(45), ..Default::default() }),
        (
            9,
            IstftOptions {
                nperseg: Some(7),
                noverlap: Some(0),
                nfft: Some(20),
                window: crate::design::Window::Boxcar.into(),
                ..Default::default()
            },
        ),
        (1, IstftOptions { nperseg: Some(1), ..Default::default() }),
    ] {
        let problem = Istft::new(bins, &options).unwrap().problem;
        for frames in [1, 2, 3, 64, 65, 200, 700] {
            let z = noise(2 * bins * frames);
            let source = View::new(&z, 1, z.len()).unwrap().into();
            let expected = problem.reference(source, None).unwrap();
            let shape = Shape { channels: 1, samples: z.len() };
            let mut results = Vec::new();
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut y = Signal::zeros(1, problem.output(shape).samples).unwrap();
                let variant = &problem.cpu_variants(shape)[0];
                pool.install(|| problem.run_cpu(variant, source, y.view_mut(), None)).unwrap();
                results.push(y);
            }
            assert_eq!(results[0], results[1]);
            let scale = expected.iter().fold(1e-9f64, |m, v| m.max(v.abs()));
            let y = results[0].row(0);
            assert_eq!(y.len(), expected.len());
            assert!(y.iter().zip(&expected).all(|(y, e)| (f64::from(*y) - e).abs() < 1e-6 * scale), "{bins} {frames}");
        }
    }
}

#[test]
fn what_cannot_be_inverted_is_refused() {
    let message = |bins, options: IstftOptions| Istft::new(bins, &options).unwrap_err().to_string();
    let hann = |noverlap| IstftOptions { noverlap: Some(noverlap), ..Default::default() };
    // A Hann window that does not overlap leaves its first sample without weight.
    assert!(message(33, hann(0)).contains("larger noverlap"), "{}", message(33, hann(0)));
    assert!(Istft::new(33, &hann(1)).is_ok());
    assert!(message(33, hann(64)).contains("from 0 to 63"));
    assert!(message(0, IstftOptions::default()).contains("frequencies"));
    assert!(message(1, IstftOptions::default()).contains("nperseg is 0"));
    assert!(message(33, IstftOptions { nperseg: Some(66), ..Default::default() }).contains("66 or more"));
    assert!(message(33, IstftOptions { fs: 0.0, ..Default::default() }).contains("above 0"));
    let z = vec![Complex32::default(); 34];
    let e = istft(ComplexView::new(&z, 1, 34).unwrap(), 33, &IstftOptions { runtime: cpu(), ..Default::default() });
    assert_eq!(e.unwrap_err().kind(), crate::ErrorKind::Shape);
}

#[test]
fn no_frames_give_no_samples() {
    let options = IstftOptions { runtime: cpu(), ..Default::default() };
    let y = istft(ComplexView::new(&[], 4, 0).unwrap(), 33, &options).unwrap();
    assert_eq!((y.channels(), y.samples()), (4, 0));
}
