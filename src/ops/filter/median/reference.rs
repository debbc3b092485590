//! The plain definition: sort every window.

use crate::ops::filter::edge::{Edge, Extended};
use crate::signal::Source;

/// `[channels, samples]`, contiguous: the value of rank `width / 2` of the `width` samples from `width / 2` before each.
pub fn run(width: usize, edge: Edge, x: Source<'_>) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.channels() * x.samples());
    for c in 0..x.channels() {
        let row = Extended::new(x, c, edge);
        // The window in order, moved along: a value out, a value in.
        let mut window = vec![0f32; width];
        row.fill(-((width / 2) as i64), &mut window);
        window.sort_by(f32::total_cmp);
        for n in 0..x.samples() as i64 {
            if n > 0 {
                let (old, new) = (row.get(n - 1 - (width / 2) as i64), row.get(n - 1 + (width - width / 2) as i64));
                let place = |v: f32, w: &[f32]| w.partition_point(|u| u.total_cmp(&v).is_lt());
                window.remove(place(old, &window));
                window.insert(place(new, &window), new);
            }
            let spoiled = window.first().is_some_and(|v| v.is_nan()) || window.last().is_some_and(|v| v.is_nan());
            y.push(if spoiled { f64::NAN } else { f64::from(window[width / 2]) });
        }
    }
    y
}
