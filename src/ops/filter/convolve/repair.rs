//! Values that are not finite, in results by transforms.
//!
//! A transform would spread them over its whole block, so it is given zeros in their place, and what they do to the results
//! that they reach is added afterwards. A block whose results overflow is summed up plainly: its transforms may have done so
//! where its results do not.

use crate::signal::Source;

/// Results from `first` on of one channel's full convolution.
pub(super) struct Piece<'a, 'b> {
    pub taps: &'a [f64],
    pub x: Source<'a>,
    pub channel: usize,
    pub first: usize,
    pub results: &'b mut [f32],
}

impl Piece<'_, '_> {
    /// Adds the share of the samples that are not finite.
    pub fn spread(self) {
        let Piece { taps, x, channel, first, results } = self;
        let end = first + results.len();
        let mut done = first;
        for i in (first + 1).saturating_sub(taps.len())..end.min(x.samples()) {
            let v = x.get(channel, i);
            let reach = i.max(first)..(i + taps.len()).min(end);
            if v.is_nan() {
                let from = reach.start.max(done);
                results[from.min(reach.end) - first..reach.end - first].fill(f32::NAN);
                done = reach.end.max(done);
            } else if v.is_infinite() {
                for n in reach {
                    results[n - first] += (f64::from(v) * taps[n - i]) as f32;
                }
            }
        }
    }

    /// Computes all of them as plain sums.
    pub fn sum(self) {
        let Piece { taps, x, channel, first, results } = self;
        for (n, y) in (first..).zip(results) {
            let meeting = (n + 1).saturating_sub(x.samples())..taps.len().min(n + 1);
            let products = taps[meeting.clone()].iter().zip(meeting).map(|(h, k)| h * f64::from(x.get(channel, n - k)));
            *y = products.sum::<f64>() as f32;
        }
    }
}
