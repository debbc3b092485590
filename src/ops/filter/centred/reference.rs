//! The plain float64 sum.

use super::{Centred, Ends};
use crate::ops::filter::edge::{Edge, Extended};
use crate::signal::Source;

/// `[channels, samples]`, contiguous.
pub(super) fn run(filter: &Centred, x: Source<'_>) -> Vec<f64> {
    let samples = x.samples();
    let mut y = Vec::with_capacity(x.channels() * samples);
    for c in 0..x.channels() {
        let edge = if let Ends::Edge(edge) = filter.ends { edge } else { Edge::Nearest };
        let row = Extended::new(x, c, edge);
        let sum = |weights: &[f64], start: i64| -> f64 {
            weights.iter().zip(start..).map(|(w, place)| w * f64::from(row.get(place))).sum()
        };
        let first = y.len();
        y.extend((0..samples as i64).map(|n| sum(&filter.weights, n - filter.left as i64)));
        if samples > 0 {
            filter.rows(samples).iter().for_each(|(n, row, start)| y[first + n] = sum(row, *start as i64));
        }
    }
    y
}
