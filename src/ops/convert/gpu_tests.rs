use super::*;
use crate::ops::launch_tests::{array, compute, device, error, noise, one_group_size, result};

#[test]
fn every_variant_layout_and_size() {
    let Some(gpu) = device() else { return };
    for (channels, samples) in [(1, 1), (8, 33), (16, 1001), (7, 129), (3, 64)] {
        let shape = Shape { channels, samples };
        let values = noise(channels * samples, 5);
        let ints: Vec<i16> = values.iter().map(|v| (v * 32768.0) as i16).collect();
        let scale = |c: usize| (0.195 + c as f64 * 0.01, 1e4 / 3.0 - c as f64 * 7.1);
        let each = |f: &dyn Fn(usize) -> f64| Scale::PerChannel((0..channels).map(f).collect());
        let variants = one_group_size(variants(gpu.facts(), shape));
        for (i, variant) in variants.iter().enumerate() {
            let cuts: &[usize] = if i % 2 == 0 { &[] } else { &[16, 112] };
            for layout in [Layout::Planar, Layout::Interleaved] {
                let y = result(&gpu, (channels, samples), cuts);
                let at = |c: usize, n: usize| c * samples + n;
                let x = array(&gpu, (channels, samples), Dtype::I16, layout, cuts, |c, n| {
                    ints[at(c, n)].to_le_bytes().to_vec()
                });
                let what = format!("{} {layout:?} {shape:?}", variant.name);
                let got = compute(&y, &record(&Scale::One(1.0), &Scale::One(0.0), &*gpu, variant, &x, &y).unwrap());
                assert!(got.iter().zip(&ints).all(|(g, w)| *g == f32::from(*w)), "{what}");
                let got = compute(
                    &y,
                    &record(&each(&|c| scale(c).0), &each(&|c| scale(c).1), &*gpu, variant, &x, &y).unwrap(),
                );
                let want: Vec<f64> = (0..channels * samples)
                    .map(|i| f64::from(ints[i]) * scale(i / samples).0 + scale(i / samples).1)
                    .collect();
                let e = error(&got, &want, &values, samples, 0.0);
                assert!(e <= 1.5e-7, "{what}: {e:e}");
                let x = array(&gpu, (channels, samples), Dtype::F32, layout, cuts, |c, n| {
                    values[at(c, n)].to_le_bytes().to_vec()
                });
                let got = compute(
                    &y,
                    &record(&each(&|c| 1e3 * scale(c).0), &Scale::One(0.1), &*gpu, variant, &x, &y).unwrap(),
                );
                let want: Vec<f64> =
                    (0..channels * samples).map(|i| f64::from(values[i]) * 1e3 * scale(i / samples).0 + 0.1).collect();
                let e = error(&got, &want, &values, samples, 0.0);
                assert!(e <= 1.5e-7, "{what}: {e:e}");
            }
        }
    }
}

#[test]
fn not_a_number_and_infinity_stay() {
    let Some(gpu) = device() else { return };
    let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 2.0];
    let x = array(&gpu, (1, 4), Dtype::F32, Layout::Planar, &[], |_, n| values[n].to_le_bytes().to_vec());
    let y = result(&gpu, (1, 4), &[]);
    let variant = &variants(gpu.facts(), Shape { channels: 1, samples: 4 })[0];
    let got = compute(&y, &record(&Scale::One(0.1), &Scale::One(1.0), &*gpu, variant, &x, &y).unwrap());
    assert!(got[0].is_nan() && got[1] == f32::INFINITY && got[2] == f32::NEG_INFINITY && got[3] == 1.2, "{got:?}");
}

/// The offset takes away nearly all of the product: what is left is still right to its own magnitude.
#[test]
fn an_offset_may_cancel_the_product() {
    let Some(gpu) = device() else { return };
    let (channels, samples) = (8, 64);
    let variant = &variants(gpu.facts(), Shape { channels, samples })[0];
    let y = result(&gpu, (channels, samples), &[]);
    for (gain, offset) in [(0.195, -0.195 * 20_000.0), (0.1, 0.0), (0.3333333, 7.7)] {
        let scales = [(Scale::One(gain), Scale::One(offset))]
            .into_iter()
            .chain([(Scale::PerChannel(vec![gain; channels]), Scale::PerChannel(vec![offset; channels]))]);
        for (gains, offsets) in scales {
            for layout in [Layout::Planar, Layout::Interleaved] {
                let int = |c: usize, n: usize| 20_000 + (n as i16 % 7) - 3 + (c as i16 % 2);
                let x =
                    array(&gpu, (channels, samples), Dtype::I16, layout, &[], |c, n| int(c, n).to_le_bytes().to_vec());
                let got = compute(&y, &record(&gains, &offsets, &*gpu, variant, &x, &y).unwrap());
                let at = |i: usize| f64::from(int(i / samples, i % samples));
                let want: Vec<f64> = (0..channels * samples).map(|i| at(i) * gain + offset).collect();
                let e = error(&got, &want, &vec![1.0; channels * samples], samples, 0.0);
                assert!(e <= 1.5e-7, "gain {gain} offset {offset} {layout:?}: {e:e}");
                let float = |c: usize, n: usize| int(c, n) as f32 * 1.000_123;
                let x = array(&gpu, (channels, samples), Dtype::F32, layout, &[], |c, n| {
                    float(c, n).to_le_bytes().to_vec()
                });
                let got = compute(&y, &record(&gains, &offsets, &*gpu, variant, &x, &y).unwrap());
                let at = |i: usize| f64::from(float(i / samples, i % samples));
                let want: Vec<f64> = (0..channels * samples).map(|i| at(i) * gain + offset).collect();
                let e = error(&got, &want, &vec![1.0; channels * samples], samples, 0.0);
                assert!(e <= 1.5e-7, "float32, gain {gain} offset {offset} {layout:?}: {e:e}");
            }
        }
    }
}
