//! Where results lie, and how they are cut into blocks.
//!
//! Results are counted as those of the full convolution, `y[n] = sum of taps[k] x[n - k]`. A transform of `P` points turns
//! `P` samples into `P - M + 1` results of `M` taps.

use super::Mode;
use crate::ops::spectral::fft::convenient;
use crate::ops::spectral::fft::lanes::{MOST_POINTS, Plan};
use crate::simd::lanes::{BLOCK, LANES};

/// Results `first .. first + count` of the full convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops::filter) struct Part {
    pub first: usize,
    pub count: usize,
}

impl Part {
    /// Those that a mode keeps of `samples` and `taps`.
    pub fn of(mode: Mode, samples: usize, taps: usize) -> Part {
        if samples == 0 {
            return Part { first: 0, count: 0 };
        }
        match mode {
            Mode::Full => Part { first: 0, count: samples.saturating_add(taps - 1) },
            Mode::Same => Part { first: (taps - 1) / 2, count: samples },
            Mode::Valid => Part { first: samples.min(taps) - 1, count: samples.abs_diff(taps) + 1 },
        }
    }
}

/// Samples before a block that its results depend on, in whole blocks of frames.
pub(in crate::ops::filter) fn history(taps: usize) -> usize {
    (taps - 1).next_multiple_of(BLOCK)
}

/// Results of a block of `points`; two of them make a lane.
pub(in crate::ops::filter) fn step(taps: usize, points: usize) -> usize {
    points.saturating_sub(history(taps))
}

/// Lengths of transforms in lanes.
const POINTS: [usize; 10] = [128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, MOST_POINTS];
/// What reading and writing a point costs, in units of a level of its transforms.
const MEMORY: f64 = 5.0;
/// How many lengths there are to choose from.
const CHOICES: usize = 3;

/// Lengths of transforms of blocks in lanes, the fastest first by the number of operations, lanes without work included.
/// The number of threads does not count, so that it cannot be seen in results.
pub(in crate::ops::filter) fn in_lanes(taps: usize, channels: usize, count: usize) -> Vec<usize> {
    let cost = |points: usize| {
        let pieces = channels.saturating_mul(count.div_ceil(2 * step(taps, points)));
        pieces.div_ceil(LANES) as f64 * points as f64 * (MEMORY + (points as f64).log2())
    };
    // A block that is history for the most part is better made longer.
    let legal = |points: &usize| Plan::exists(*points) && 4 * step(taps, *points) >= *points;
    let mut all: Vec<usize> = POINTS.into_iter().filter(legal).collect();
    // Stable, so that of equals the shorter one comes first.
    all.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    all.truncate(CHOICES);
    all
}

/// Lengths of transforms of whole rows, or of blocks of them: one that takes all at once, if that is not long, or blocks of
/// some times the taps.
pub(super) fn in_rows(taps: usize, samples: usize) -> Vec<usize> {
    /// Shorter than this, transforms are not worth their overhead.
    const SHORTEST: usize = 2048;
    let whole = convenient(samples.saturating_add(taps - 1));
    let block = taps.saturating_mul(4).next_power_of_two().max(SHORTEST);
    let mut all: Vec<usize> = [block, block.saturating_mul(4)].into_iter().filter(|b| *b < whole).collect();
    if all.len() < 2 {
        all.push(whole);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_scipy() {
        let part = |mode, n, m| {
            let Part { first, count } = Part::of(mode, n, m);
            (first, count)
        };
        assert_eq!([Mode::Full, Mode::Same, Mode::Valid].map(|m| part(m, 10, 4)), [(0, 13), (1, 10), (3, 7)]);
        assert_eq!([Mode::Full, Mode::Same, Mode::Valid].map(|m| part(m, 4, 10)), [(0, 13), (4, 4), (3, 7)]);
        assert_eq!([Mode::Full, Mode::Same, Mode::Valid].map(|m| part(m, 1, 1)), [(0, 1); 3]);
        assert_eq!([Mode::Full, Mode::Same, Mode::Valid].map(|m| part(m, 0, 5)), [(0, 0); 3]);
    }

    #[test]
    fn blocks_grow_with_the_taps_and_fit_short_channels() {
        assert!(in_lanes(63, 384, 60_000)[0] < in_lanes(255, 384, 60_000)[0]);
        assert_eq!(in_lanes(1025, 384, 60_000)[0], MOST_POINTS);
        assert!(in_lanes(63, 32, 300)[0] <= 256);
        for taps in [1, 2, 63, 1000, 3000] {
            assert!(in_lanes(taps, 3, 1000).iter().all(|p| step(taps, *p) > 0), "{taps}");
        }
        assert!(in_lanes(3100, 384, 60_000).is_empty());
        assert_eq!(in_rows(5, 20), [24]);
        assert_eq!(in_rows(5000, 1_000_000), [32_768, 131_072]);
        assert_eq!(in_rows(1_000_000, 10), [convenient(1_000_009)]);
    }
}
