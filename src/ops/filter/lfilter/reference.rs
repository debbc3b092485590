//! The plain float64 sum, with scipy's states.

use crate::signal::Source;

/// `[channels, samples]`, contiguous: `y[n] = sum of taps[k] x[n - k]`. `zi` is `[channels][taps - 1]` as `scipy.signal.lfilter`
/// has it for `a = [1]`, updated in place.
pub fn run(taps: &[f64], x: Source<'_>, zi: Option<&mut [f64]>) -> Vec<f64> {
    let (channels, samples, order) = (x.channels(), x.samples(), taps.len().saturating_sub(1));
    let mut y = Vec::with_capacity(channels * samples);
    for c in 0..channels {
        for n in 0..samples {
            y.push((0..taps.len().min(n + 1)).map(|k| taps[k] * f64::from(x.get(c, n - k))).sum());
        }
    }
    if let Some(zi) = zi {
        for c in 0..channels {
            let old: Vec<f64> = zi[c * order..(c + 1) * order].to_vec();
            y[c * samples..(c + 1) * samples].iter_mut().zip(&old).for_each(|(y, z)| *y += z);
            for (i, z) in zi[c * order..(c + 1) * order].iter_mut().enumerate() {
                let past = (0..samples.min(order - i)).map(|t| taps[i + 1 + t] * f64::from(x.get(c, samples - 1 - t)));
                *z = past.sum::<f64>() + old.get(i + samples).unwrap_or(&0.0);
            }
        }
    }
    y
}
