//! Centred responses on the CPU: the direct form of `lfilter` looking ahead, then the results near the ends once more, in
//! float64, from the samples that their edge rule gives.

use rayon::prelude::*;

use super::{Centred, Ends};
use crate::error::Result;
use crate::ops::filter::edge::{Edge, Extended};
use crate::ops::filter::lfilter;
use crate::ops::problem::Variant;
use crate::signal::{Source, ViewMut};

/// Filters `x` into `y`, of the same shape.
pub(super) fn run(filter: &Centred, variant: &Variant, x: Source<'_>, mut y: ViewMut<'_>) -> Result<()> {
    let (channels, samples) = (x.channels(), x.samples());
    let taps: Vec<f64> = filter.weights.iter().rev().copied().collect();
    lfilter::run_ahead(&taps, filter.right(), variant, x, y.reborrow())?;
    if channels == 0 || samples == 0 {
        return Ok(());
    }
    let rows = filter.rows(samples);
    let pitch = y.pitch().max(samples);
    y.into_data().par_chunks_mut(pitch).take(channels).enumerate().for_each(|(channel, out)| {
        let out = &mut out[..samples];
        let Ends::Edge(edge) = filter.ends else {
            let row = Extended::new(x, channel, Edge::Nearest);
            let mut window = vec![0.0; filter.weights.len()];
            let mut loaded = None;
            for (n, weights, start) in &rows {
                if loaded != Some(*start) {
                    row.fill(*start as i64, &mut window);
                    loaded = Some(*start);
                }
                out[*n] = sum(weights, &window);
            }
            return;
        };
        let row = Extended::new(x, channel, edge);
        let head = filter.left.min(samples);
        let tail = samples.saturating_sub(filter.right()).max(head);
        for (start, end) in [(0, head), (tail, samples)].into_iter().filter(|(start, end)| end > start) {
            let mut window = vec![0.0; end - start + filter.weights.len() - 1];
            row.fill(start as i64 - filter.left as i64, &mut window);
            let windows = window.windows(filter.weights.len());
            out[start..end].iter_mut().zip(windows).for_each(|(y, window)| *y = sum(&filter.weights, window));
        }
    });
    Ok(())
}

fn sum(weights: &[f64], x: &[f32]) -> f32 {
    weights.iter().zip(x).map(|(w, v)| w * f64::from(*v)).sum::<f64>() as f32
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
