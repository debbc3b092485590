use super::super::{PeriodogramOptions, WelchOptions};
use super::*;
use crate::design::Window;
use crate::ops::launch_tests::{device, noise};
use crate::ops::spectral::frames::gpu::tests::{check, refusal, written};
use crate::ops::spectral::{Detrend, Periodogram, Scaling};

fn problem(kind: Kind, options: &WelchOptions) -> Averaged {
    super::super::problem(kind, options).unwrap()
}

fn cut(nperseg: usize, noverlap: usize, nfft: usize) -> WelchOptions {
    WelchOptions { nperseg: Some(nperseg), noverlap: Some(noverlap), nfft: Some(nfft), ..Default::default() }
}

const KINDS: [(Kind, Average); 5] = [
    (Kind::Welch, Average::Mean),
    (Kind::Welch, Average::Median),
    (Kind::Csd, Average::Mean),
    (Kind::Csd, Average::Median),
    (Kind::Coherence, Average::Mean),
];

/// Two signals a row that share something, as pairs do.
fn pairs(channels: usize, samples: usize) -> Vec<f32> {
    let (a, b) = (noise(channels * samples, 3), noise(channels * samples, 4));
    let rows = a.chunks(samples).zip(b.chunks(samples));
    rows.flat_map(|(a, b)| {
        let second = a.iter().zip(b).map(|(a, b)| a - 0.5 * b).collect::<Vec<_>>();
        [a.to_vec(), second].concat()
    })
    .collect()
}

#[test]
fn every_kind_of_every_length() {
    let Some(gpu) = device() else { return };
    for (kind, average) in KINDS {
        for (nperseg, noverlap, nfft) in [(64, 32, 64), (64, 60, 64), (33, 30, 51), (64, 0, 64), (50, 7, 509)] {
            let options = WelchOptions { average, fs: 250.0, ..cut(nperseg, noverlap, nfft) };
            let p = problem(kind, &options);
            for (channels, samples) in [(3, 640), (1, 130), (2, 1001)] {
                check(&gpu, &p, (channels, 2 * samples), &pairs(channels, samples), false);
            }
        }
    }
}

#[test]
fn every_variant_and_scaling() {
    let Some(gpu) = device() else { return };
    for (kind, average) in KINDS {
        let options = WelchOptions {
            average,
            scaling: Scaling::Spectrum,
            detrend: Detrend::Linear,
            window: Window::Hamming.into(),
            ..cut(256, 128, 256)
        };
        check(&gpu, &problem(kind, &options), (3, 4000), &pairs(3, 2000), true);
    }
    for samples in [1, 2, 3, 1000, 40_001] {
        for window in [Window::Boxcar, Window::Hann] {
            // Less its mean, a signal of two samples is what roundings leave of it.
            let detrend = if samples < 4 { Detrend::None } else { Detrend::Constant };
            if samples == 1 && window == Window::Hann {
                continue;
            }
            let options = PeriodogramOptions { window: window.into(), detrend, ..Default::default() };
            check(&gpu, &Periodogram::new(&options).unwrap().problem, (2, samples), &noise(2 * samples, 5), false);
        }
    }
}

/// Parts of unequal length, work groups that are not full, frames shorter than transforms, with and without weights.
#[test]
fn frames_that_a_work_group_holds() {
    let Some(gpu) = device() else { return };
    for (kind, average) in KINDS.into_iter().filter(|(_, average)| *average == Average::Mean) {
        for nfft in [8, 15, 26, 96, 1024] {
            for window in [Window::Boxcar, Window::Hann] {
                // Less the mean, the first frequency of frames without weights is what roundings leave of it.
                let detrend = if window == Window::Boxcar { Detrend::None } else { Detrend::Constant };
                let window = window.clone().into();
                let options = WelchOptions { average, detrend, window, ..cut(nfft / 2 + 3, nfft / 2, nfft) };
                for (channels, frames) in [(1, 3), (5, 17), (3, 67)] {
                    let samples = nfft / 2 + 3 * frames;
                    let p = problem(kind, &options);
                    check(&gpu, &p, (channels, 2 * samples), &pairs(channels, samples), channels == 5);
                }
            }
        }
    }
}

/// More frames than a batch, a part or a launch of the search holds; many channels.
#[test]
fn batches_and_parts_fit_together() {
    let Some(gpu) = device() else { return };
    for (kind, average) in KINDS {
        let options = WelchOptions { average, ..cut(64, 60, 64) };
        check(&gpu, &problem(kind, &options), (1, 80_000), &pairs(1, 40_000), false);
        check(&gpu, &problem(kind, &options), (40, 4000), &pairs(40, 2000), false);
    }
}

/// Medians are those of the values that were computed, also where these are equal, tiny, or of both signs.
#[test]
fn medians_of_few_and_of_equal_frames() {
    let Some(gpu) = device() else { return };
    for (kind, average) in [KINDS[1], KINDS[3]] {
        let p = problem(kind, &WelchOptions { average, detrend: Detrend::None, ..cut(64, 0, 64) });
        for frames in 1..=5 {
            check(&gpu, &p, (2, 128 * frames), &pairs(2, 64 * frames), false);
        }
        let repeated: Vec<f32> = noise(64, 1).into_iter().cycle().take(4 * 640).collect();
        check(&gpu, &p, (2, 1280), &repeated, false);
        check(&gpu, &p, (2, 1280), &vec![0.0; 4 * 640], false);
    }
}

#[test]
fn what_is_not_a_number_stays_in_its_channel() {
    let Some(gpu) = device() else { return };
    for (kind, average) in KINDS {
        let mut x = pairs(2, 1000);
        x[500] = f32::NAN;
        check(&gpu, &problem(kind, &WelchOptions { average, ..cut(64, 32, 64) }), (2, 2000), &x, false);
    }
}

#[test]
fn kernels_are_written_everywhere() {
    for (kind, average) in KINDS {
        written(&problem(kind, &WelchOptions { average, ..cut(64, 32, 64) }), (2, 2000));
    }
}

#[test]
fn what_does_not_fit_says_so() {
    let median = WelchOptions { average: Average::Median, ..cut(64, 60, 64) };
    let Some(e) = refusal(&problem(Kind::Welch, &median), (1, 2000)) else { return };
    assert_eq!(e.kind(), ErrorKind::Limit);
    assert!(e.to_string().contains("485 frames of 64 points"), "{e}");
    assert!(refusal(&problem(Kind::Welch, &cut(64, 60, 64)), (1, 2000)).is_none());
}
