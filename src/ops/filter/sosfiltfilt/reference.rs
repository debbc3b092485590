//! Forward and backward in plain float64.

use super::extension::Extension;
use crate::ops::filter::sosfilt::reference::advance;
use crate::signal::Source;

/// `[channels, samples]`, contiguous. `step` is the steady state of a unit step.
pub(super) fn run(sos: &[[f64; 6]], step: &[[f64; 2]], extension: Extension, x: Source<'_>) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.channels() * x.samples());
    for c in 0..x.channels() {
        let own = (0..x.samples()).map(|n| f64::from(x.get(c, n)));
        let mut values: Vec<f64> = extension.head(&x, c).chain(own).chain(extension.tail(&x, c)).collect();
        for _ in 0..2 {
            let first = values.first().copied().unwrap_or(0.0);
            let mut state: Vec<f64> = step.iter().flatten().map(|z| z * first).collect();
            values.iter_mut().for_each(|v| *v = advance(sos, &mut state, *v));
            values.reverse();
        }
        y.extend_from_slice(&values[extension.edge..extension.edge + x.samples()]);
    }
    y
}
