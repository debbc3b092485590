//! The plain float64 fit.

use super::{Detrend, Trend};
use crate::signal::Source;

/// `[channels, samples]`, contiguous.
pub(super) fn run(detrend: &Detrend, x: Source<'_>) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.channels() * x.samples());
    for c in 0..x.channels() {
        for (start, len) in detrend.pieces(x.samples()) {
            let origin = f64::from(x.get(c, start));
            let values: Vec<f64> = (start..start + len).map(|n| f64::from(x.get(c, n)) - origin).collect();
            let mean = values.iter().sum::<f64>() / len as f64;
            let place = |i: usize| i as f64 - 0.5 * (len - 1) as f64;
            let slope = match detrend.trend {
                Trend::Linear if len > 1 => {
                    let spread: f64 = (0..len).map(|i| place(i) * place(i)).sum();
                    values.iter().enumerate().map(|(i, v)| place(i) * (v - mean)).sum::<f64>() / spread
                }
                _ => 0.0,
            };
            y.extend(values.iter().enumerate().map(|(i, v)| v - mean - slope * place(i)));
        }
    }
    y
}
