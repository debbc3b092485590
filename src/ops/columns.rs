//! Cutting an output into time windows that threads write independently.

use std::ops::Range;

use crate::signal::ViewMut;

/// Fewer values than this are not worth a second thread.
const SERIAL: usize = 1 << 15;
/// Windows per thread: enough to even out threads of unequal speed.
const PER_THREAD: usize = 4;

/// The same samples of every channel, to write.
pub(crate) struct Columns<'a> {
    /// Index of the first sample.
    pub start: usize,
    /// One piece per channel, all of the same length.
    pub rows: Vec<&'a mut [f32]>,
}

impl Columns<'_> {
    /// Which samples these are.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows.first().map_or(0, |r| r.len())
    }
}

/// Windows for the current rayon pool, each but the last a multiple of `tile` samples.
pub(crate) fn split<'a>(y: &'a mut ViewMut<'_>, tile: usize) -> Vec<Columns<'a>> {
    let (channels, samples, pitch) = (y.channels(), y.samples(), y.pitch());
    if channels == 0 || samples == 0 {
        return Vec::new();
    }
    let tasks = match channels.saturating_mul(samples) < SERIAL {
        true => 1,
        false => rayon::current_num_threads() * PER_THREAD,
    };
    let width = samples.div_ceil(tasks).next_multiple_of(tile.max(1));
    let mut windows: Vec<Columns<'a>> =
        (0..samples).step_by(width).map(|start| Columns { start, rows: Vec::with_capacity(channels) }).collect();
    let mut rest = y.data_mut();
    for c in 0..channels {
        let here = rest;
        // The last row need not reach to the pitch.
        let (row, after) = here.split_at_mut(if c + 1 < channels { pitch } else { samples });
        rest = after;
        row[..samples].chunks_mut(width).zip(&mut windows).for_each(|(piece, window)| window.rows.push(piece));
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_window() {
        for (channels, samples, pitch) in [(1, 5, 0), (3, 100, 112), (40, 3000, 3000), (2, 0, 0), (0, 4, 4)] {
            let mut data = vec![0.0; channels * pitch.max(samples)];
            let mut view = ViewMut::with_pitch(&mut data, channels, samples, pitch).unwrap();
            let mut next = 0;
            for mut window in split(&mut view, 48) {
                assert_eq!(window.start, next);
                assert_eq!((window.start % 48, window.rows.len()), (0, channels));
                next = window.range().end;
                window.rows.iter_mut().for_each(|r| r.iter_mut().for_each(|v| *v += 1.0));
            }
            assert_eq!(next, if channels == 0 { 0 } else { samples });
            assert_eq!(data.iter().sum::<f32>(), (channels * samples) as f32);
        }
    }
}
