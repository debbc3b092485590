use super::*;
use crate::ops::launch_tests::{compute, device, error, noise, planar, read, result};
use crate::ops::problem::Shape;

fn variants(sos: &[[f64; 6]], facts: &Facts, shape: Shape) -> Vec<Variant> {
    super::variants(&precision(sos), facts, shape)
}

/// The first variant of each method.
fn of_every_method(mut variants: Vec<Variant>) -> Vec<Variant> {
    let mut seen = Vec::new();
    variants.retain(|v| {
        !seen.contains(&v.method) && {
            seen.push(v.method);
            true
        }
    });
    variants
}

fn record(
    sos: &[[f64; 6]],
    step: Option<&[[f64; 2]]>,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    super::record(&Filter { sos, step, precision: precision(sos) }, gpu, variant, x, y)
}

fn run(
    sos: &[[f64; 6]],
    step: Option<&[[f64; 2]]>,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
    state: Option<&mut State>,
) -> Result<()> {
    super::run(&Filter { sos, step, precision: precision(sos) }, gpu, variant, x, y, state)
}

/// scipy's designs, at 30 kHz.
const BAND: &[[f64; 6]] = &[
    [0.0179052290775511, 0.0358104581551022, 0.0179052290775511, 1.0, -0.41488281136493704, 0.1568801776748323],
    [1.0, 2.0, 1.0, 1.0, -0.4964688276665688, 0.5739584248473685],
    [1.0, 0.0, -1.0, 1.0, -1.1375979216362906, 0.19076020221856674],
    [1.0, -2.0, 1.0, 1.0, -1.8972507975260808, 0.9014457490171331],
    [1.0, -2.0, 1.0, 1.0, -1.9606312289011083, 0.9645632488794053],
];
const HIGH_1HZ: &[[f64; 6]] =
    &[[0.9998519148677472, -1.9997038297354943, 0.9998519148677472, 1.0, -1.9997038078062876, 0.9997038516647007]];
const HIGH_TENTH: &[[f64; 6]] =
    &[[0.999985190499868, -1.999970380999736, 0.999985190499868, 1.0, -1.9999703807804143, 0.9999703812190569]];
const HIGH_HALF: &[[f64; 6]] = &[
    [0.9998631864060301, -1.9997263728120602, 0.9998631864060301, 1.0, -1.999806510877088, 0.9998065218422542],
    [1.0, -2.0, 1.0, 1.0, -1.9999198432155127, 0.9999198541813005],
];
const LOW_14K: &[[f64; 6]] = &[
    [0.7601538590971476, 1.5203077181942952, 0.7601538590971476, 1.0, 1.6410697372354204, 0.677732211380257],
    [1.0, 2.0, 1.0, 1.0, 1.8121154003511892, 0.8525991363591154],
];
const LOW_10HZ: &[[f64; 6]] = &[
    [
        1.1992968074353302e-12,
        2.3985936148706603e-12,
        1.1992968074353302e-12,
        1.0,
        -1.9961331610110182,
        0.996137539028938,
    ],
    [1.0, 2.0, 1.0, 1.0, -1.9983939213251918, 0.9983983043015228],
];
const BAND_8_12: &[[f64; 6]] = &[
    [1.753557455406049e-07, 3.507114910812098e-07, 1.753557455406049e-07, 1.0, -1.9993167312037272, 0.9993223606415412],
    [1.0, -2.0, 1.0, 1.0, -1.9994900805858158, 0.9994932287282356],
];
const PEAK: &[[f64; 6]] =
    &[[0.007792936291951547, 0.0, -0.007792936291951547, 1.0, -1.2151032046614562e-16, 0.9844141274160969]];
const ELLIPTIC: &[[f64; 6]] = &[
    [0.0029986479277732386, 0.001991916609971716, 0.0029986479277732394, 1.0, -1.6407881706087826, 0.7049053645064248],
    [1.0, -1.0352746348166342, 1.0, 1.0, -1.593531839140328, 0.8350167950533689],
    [1.0, -1.3345924036254284, 1.0000000000000002, 1.0, -1.5812633848286863, 0.9529105595696432],
];
const NOTCH: &[[f64; 6]] =
    &[[0.999790604342423, -1.99942333015848, 0.9997906043424234, 1.0, -1.9994233301584798, 0.9995812086848459]];
const ALL: &[(&str, &[[f64; 6]])] = &[
    ("band 300-6000", BAND),
    ("high 1 Hz", HIGH_1HZ),
    ("high 0.1 Hz", HIGH_TENTH),
    ("high 0.5 Hz", HIGH_HALF),
    ("low 14 kHz", LOW_14K),
    ("low 10 Hz", LOW_10HZ),
    ("band 8-12", BAND_8_12),
    ("peak 7.5 kHz", PEAK),
    ("elliptic", ELLIPTIC),
    ("notch", NOTCH),
];

/// scipy's recursion in float64; `zi` is `[channels][sections][2]`.
fn reference(sos: &[[f64; 6]], x: &[f32], samples: usize, zi: &mut [f64]) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.len());
    for (row, state) in x.chunks(samples).zip(zi.chunks_mut(sos.len() * 2)) {
        for v in row {
            let mut v = f64::from(*v);
            for (s, z) in sos.iter().zip(state.chunks_exact_mut(2)) {
                let out = s[0] * v + z[0];
                z[0] = s[1] * v - s[4] * out + z[1];
                z[1] = s[2] * v - s[5] * out;
                v = out;
            }
            y.push(v);
        }
    }
    y
}

/// scipy's `sosfilt_zi`.
fn steady(sos: &[[f64; 6]]) -> Vec<[f64; 2]> {
    let mut level = 1.0;
    sos.iter()
        .map(|s| {
            let out = level * ((s[0] + s[1]) + s[2]) / ((1.0 + s[4]) + s[5]);
            let zi = [out - s[0] * level, s[2] * level - s[5] * out];
            level = out;
            zi
        })
        .collect()
}

fn zero(sos: &[[f64; 6]], channels: usize) -> Vec<f64> {
    vec![0.0; channels * sos.len() * 2]
}

#[test]
fn every_filter_on_noise_and_offset_from_both_states() {
    let Some(gpu) = device() else { return };
    let (channels, samples) = (8, 60_000);
    for (name, sos) in ALL {
        let step = steady(sos);
        for level in [0.0, 1000.0] {
            let x: Vec<f32> = noise(channels * samples, 3).iter().map(|v| v * 1.7 + level).collect();
            let x_device = planar(&gpu, (channels, samples), &[], &x);
            let settled: Vec<f64> =
                x.chunks(samples).flat_map(|r| step.iter().flatten().map(|z| z * f64::from(r[0]))).collect();
            for zi in [zero(sos, channels), settled] {
                let want = reference(sos, &x, samples, &mut zi.clone());
                for variant in &of_every_method(variants(sos, gpu.facts(), Shape { channels, samples })) {
                    let y = result(&gpu, (channels, samples), &[]);
                    let mut state = State { channels, values: zi.clone() };
                    run(sos, Some(&step), &*gpu, variant, &x_device, &y, Some(&mut state)).unwrap();
                    let e = error(&read(&y, true), &want, &x, samples, 0.0);
                    assert!(e <= 1e-6, "{name}, level {level}, {}: {e:e}", variant.name);
                }
            }
        }
    }
}

#[test]
fn constant_input_of_a_very_low_high_pass() {
    let Some(gpu) = device() else { return };
    let samples = 300_000;
    let x_device = planar(&gpu, (1, samples), &[160_000], &vec![1000.0; samples]);
    let y = result(&gpu, (1, samples), &[160_000]);
    let variant = &variants(HIGH_HALF, gpu.facts(), Shape { channels: 1, samples })[0];
    let got = compute(&y, &record(HIGH_HALF, Some(&steady(HIGH_HALF)), &*gpu, variant, &x_device, &y).unwrap());
    for (n, want) in [
        (0, 999.8632),
        (1_000, 744.4606),
        (3_000, 334.3618),
        (10_000, -314.4843),
        (15_000, -327.4557),
        (30_000, 102.4783),
        (60_000, -34.5711),
        (150_000, -0.97657),
        (299_999, 0.0060048),
    ] {
        assert!((got[n] - want).abs() < 2e-3, "{n}: {} {want}", got[n]);
    }
}

#[test]
fn sizes_segments_and_long_cascades() {
    let Some(gpu) = device() else { return };
    // 40 sections: three passes, the filters of all kinds mixed.
    let long: Vec<[f64; 6]> = (0..40).map(|i| [NOTCH[0], HIGH_1HZ[0], LOW_14K[1]][i % 3]).collect();
    for (channels, samples) in [(1, 1), (3, 2), (7, 129), (33, 64), (9, 1003)] {
        for sos in [BAND, &long[..16], &long[..17], &long[..]] {
            let x = noise(channels * samples, 6);
            let want = reference(sos, &x, samples, &mut zero(sos, channels));
            for (cuts, step) in [(&[][..], None), (&[16, 112][..], Some(steady(sos)))] {
                let variant = &variants(sos, gpu.facts(), Shape { channels, samples })[0];
                let x_device = planar(&gpu, (channels, samples), cuts, &x);
                let y = result(&gpu, (channels, samples), cuts);
                let got = compute(&y, &record(sos, step.as_deref(), &*gpu, variant, &x_device, &y).unwrap());
                let e = error(&got, &want, &x, samples, 0.0);
                assert!(e <= 1e-6, "{} sections {channels} x {samples} {}: {e:e}", sos.len(), variant.name);
            }
        }
    }
}

#[test]
fn state_continues_a_signal_cut_anywhere() {
    let Some(gpu) = device() else { return };
    let (channels, samples) = (3, 3000);
    let x: Vec<f32> = noise(channels * samples, 6).iter().map(|v| v + 500.0).collect();
    for (name, sos) in ALL {
        let variant = &variants(sos, gpu.facts(), Shape { channels, samples })[0];
        let mut state = State { channels, values: zero(sos, channels) };
        let mut zi = state.values.clone();
        let mut all = vec![Vec::new(); channels];
        for (start, end) in [(0, 1), (1, 4), (4, 1001), (1001, 1003), (1003, 3000)] {
            let chunk: Vec<f32> = x.chunks(samples).flat_map(|row| row[start..end].to_vec()).collect();
            let x_device = planar(&gpu, (channels, end - start), &[], &chunk);
            let y = result(&gpu, (channels, end - start), &[]);
            run(sos, Some(&steady(sos)), &*gpu, variant, &x_device, &y, Some(&mut state)).unwrap();
            let got = read(&y, true);
            all.iter_mut().zip(got.chunks(end - start)).for_each(|(all, got)| all.extend_from_slice(got));
        }
        let want = reference(sos, &x, samples, &mut zi);
        let e = error(&all.concat(), &want, &x, samples, 0.0);
        assert!(e <= 1e-6, "{name}: {e:e}");
        let largest = zi.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let off = state.values.iter().zip(&zi).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off <= 1e-6 * largest, "{name}: states are off by {off:e} of {largest:e}");
    }
}

#[test]
fn a_channel_stays_not_a_number() {
    let Some(gpu) = device() else { return };
    let samples = 400;
    for (name, sos) in ALL {
        for bad in [f32::NAN, f32::INFINITY] {
            for place in [0, 201] {
                let mut x = noise(2 * samples, 3);
                x[place] = bad;
                for variant in &of_every_method(variants(sos, gpu.facts(), Shape { channels: 2, samples })) {
                    let x_device = planar(&gpu, (2, samples), &[], &x);
                    let y = result(&gpu, (2, samples), &[]);
                    let commands = record(sos, Some(&steady(sos)), &*gpu, variant, &x_device, &y).unwrap();
                    gpu.submit(&commands).unwrap();
                    let got = read(&y, false);
                    let what = format!("{name} {bad} at {place}, {}", variant.name);
                    assert!(got[place + 2..samples].iter().all(|v| v.is_nan()), "{what}");
                    assert!(got[..place].iter().chain(&got[samples..]).all(|v| v.is_finite()), "{what}");
                }
            }
        }
    }
}

#[test]
fn without_compensation_only_accurate_variants_are_left() {
    let Some(gpu) = device() else { return };
    let mut facts = gpu.facts().clone();
    facts.compensation = false;
    let shape = Shape { channels: 4, samples: 100 };
    assert!(variants(HIGH_1HZ, &facts, shape).is_empty());
    assert!(variants(BAND, &facts, shape).iter().all(|v| v.method == "delta"));
}

#[test]
fn cascades_that_float32_between_passes_would_spoil_are_refused() {
    use crate::design::{Band, butter};
    let Some(gpu) = device() else { return };
    let shape = Shape { channels: 4, samples: 100 };
    let offered = |order| {
        let sos = butter(order, Band::Low(0.3), 2.0).unwrap();
        !variants(sos.sections(), gpu.facts(), shape).is_empty()
    };
    assert!(offered(32), "16 sections are one pass");
    assert!(!offered(60) && !offered(79), "what leaves the first pass is far above the response of the whole");
    assert!(!variants(&[[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]; 20], gpu.facts(), shape).is_empty());
}
