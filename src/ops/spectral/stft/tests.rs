use super::*;
use crate::ops::problem::{Problem, Shape};
use crate::signal::View;
use proptest::prelude::*;

fn noise(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|k| ((k + seed).wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

fn cpu(nperseg: usize) -> StftOptions {
    StftOptions { nperseg: Some(nperseg), runtime: Some("cpu".into()), ..Default::default() }
}

fn of(x: &[f32], options: &StftOptions) -> ComplexFrames {
    stft(View::new(x, 1, x.len()).unwrap(), options).unwrap()
}

#[test]
fn a_sine_has_half_its_amplitude_or_its_density() {
    let x: Vec<f32> = (0..4000).map(|n| 3.0 * (std::f32::consts::TAU * 0.125 * n as f32).cos()).collect();
    let z = of(&x, &StftOptions { fs: 800.0, ..cpu(64) });
    assert_eq!((z.f[8], z.values.channels()), (100.0, 1));
    assert!((z.line(0, 8)[5].norm() - 1.5).abs() < 1e-5);
    // Parseval: density summed over frequencies is the variance.
    let options =
        SpectrogramOptions { fs: 800.0, nperseg: Some(64), runtime: Some("cpu".into()), ..Default::default() };
    let s = spectrogram(View::new(&x, 1, x.len()).unwrap(), &options).unwrap();
    let variance: f32 = (0..s.f.len()).map(|k| s.line(0, k)[3]).sum::<f32>() * (s.f[1] as f32);
    assert!((variance - 4.5).abs() < 0.01, "{variance}");
}

#[test]
fn what_is_not_finite_stays_in_its_frames() {
    let mut x = noise(2000, 1);
    let clean = of(&x, &cpu(100));
    x[1000] = f32::NAN;
    let rows = [x, noise(2000, 1)].concat();
    let z = stft(View::new(&rows, 2, 2000).unwrap(), &cpu(100)).unwrap();
    for bin in 0..z.f.len() {
        for (frame, (v, c)) in z.line(0, bin).iter().zip(clean.line(0, bin)).enumerate() {
            let holds = (951..=1050).contains(&(frame * 50));
            assert_eq!(v.re.is_nan(), holds, "frame {frame}");
            assert!(holds || v == c);
        }
        assert_eq!(z.line(1, bin), clean.line(0, bin));
    }
}

#[test]
fn layouts_and_element_types_do_not_matter() {
    let ints: Vec<i16> = noise(3 * 700, 3).iter().map(|v| (v * 1000.0) as i16).collect();
    let planar: Vec<f32> = (0..3).flat_map(|c| ints.iter().skip(c).step_by(3).map(|v| f32::from(*v))).collect();
    let expected = stft(View::new(&planar, 3, 700).unwrap(), &cpu(64)).unwrap();
    assert_eq!(stft(View::interleaved(&ints, 3).unwrap(), &cpu(64)).unwrap(), expected);
}

#[test]
fn no_samples_give_no_frames_and_no_channels_none() {
    let empty = stft(View::new(&[0f32; 0], 3, 0).unwrap(), &cpu(64)).unwrap();
    assert_eq!((empty.f.len(), empty.t.len(), empty.values.channels(), empty.values.bins()), (0, 0, 3, 0));
    let none = stft(View::new(&[0f32; 0], 0, 100).unwrap(), &cpu(64)).unwrap();
    assert_eq!((none.f.len(), none.values.channels()), (33, 0));
}

#[test]
fn threads_and_tiles_do_not_change_a_bit() {
    for kept in [Kept::Complex, Kept::Power, Kept::Magnitude] {
        let options = SpectrogramOptions { nperseg: Some(64), noverlap: Some(48), ..Default::default() };
        let local = Local { kept, ..Spectrogram::new(&options).unwrap().problem };
        for (channels, samples) in [(1, 9000), (7, 1111), (2, 64), (3, 100)] {
            let x = noise(channels * samples, 9);
            let shape = Shape { channels, samples };
            let mut results = Vec::new();
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                for variant in local.cpu_variants(shape) {
                    let mut y = Signal::zeros(channels, local.output(shape).samples).unwrap();
                    let source = View::new(&x, channels, samples).unwrap().into();
                    pool.install(|| local.run_cpu(&variant, source, y.view_mut(), None)).unwrap();
                    results.push(y);
                }
            }
            assert!(results.iter().all(|y| *y == results[0]), "{kept:?} {shape:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn is_linear(n in 1usize..600, nperseg in 1usize..100, a in -10f32..10.0, seed in 0u32..1000) {
        let (x, y) = (noise(n, seed), noise(n, seed + 5000));
        let sum: Vec<f32> = x.iter().zip(&y).map(|(x, y)| a * x + y).collect();
        let (zx, zy, zs) = (of(&x, &cpu(nperseg)), of(&y, &cpu(nperseg)), of(&sum, &cpu(nperseg)));
        for ((x, y), s) in zx.values.row(0).iter().zip(zy.values.row(0)).zip(zs.values.row(0)) {
            prop_assert!((x * a + y - s).norm() < 1e-4);
        }
    }
}
