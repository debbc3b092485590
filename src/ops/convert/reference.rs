//! The conversion in plain float64: what every kernel is checked against.

use super::plan::Scale;
use crate::signal::Source;

/// `x * gain + offset`, `[channels, samples]`, contiguous.
pub fn run(gain: &Scale, offset: &Scale, x: Source<'_>) -> Vec<f64> {
    let one = |c: usize, n: usize| f64::from(x.get(c, n)) * gain.at(c) + offset.at(c);
    (0..x.channels()).flat_map(|c| (0..x.samples()).map(move |n| one(c, n))).collect()
}
