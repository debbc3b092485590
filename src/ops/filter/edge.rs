//! What a filter that looks both ways finds beyond the ends of a channel: the edge modes of `scipy.ndimage`.
//!
//! An [`Edge`] maps any place to a sample or to a constant. [`Extended`] reads stretches of a channel that may reach over
//! its ends; on devices the `halo` module gathers the same values.

use crate::signal::{Sample, Source, View};

/// How a channel goes on beyond its ends, for samples `a b c d`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Edge {
    /// `d c b a | a b c d | d c b a`: mirrored about the edge of the last sample. scipy.ndimage's default.
    #[default]
    Reflect,
    /// `d c b | a b c d | c b a`: mirrored about the middle of the last sample.
    Mirror,
    /// `a a a a | a b c d | d d d d`.
    Nearest,
    /// This value, rounded to float32, everywhere: scipy's `cval`.
    Constant(f64),
    /// `a b c d | a b c d | a b c d`: from the other end.
    Wrap,
}

impl Edge {
    /// The sample that stands at `place` (negative: before the first) of a channel of `samples`; `None`: the constant.
    pub(crate) fn sample(self, place: i64, samples: usize) -> Option<usize> {
        let n = samples as i64;
        if (0..n).contains(&place) {
            return Some(place as usize);
        }
        // Within a period the second half runs backwards, from `last` down.
        let mirrored = |period: i64, last: i64| {
            let p = place.rem_euclid(period.max(1));
            p.min(last - p)
        };
        let at = match self {
            Edge::Constant(_) => return None,
            _ if n == 0 => return None,
            Edge::Nearest => place.clamp(0, n - 1),
            Edge::Wrap => place.rem_euclid(n),
            Edge::Reflect => mirrored(2 * n, 2 * n - 1),
            Edge::Mirror => mirrored(2 * n - 2, 2 * n - 2),
        };
        Some(at as usize)
    }

    /// The constant, 0 for the modes without one.
    pub(crate) fn constant(self) -> f32 {
        match self {
            Edge::Constant(value) => value as f32,
            _ => 0.0,
        }
    }
}

/// A channel continued beyond its ends.
#[derive(Clone, Copy)]
pub(crate) struct Extended<'a> {
    source: Source<'a>,
    channel: usize,
    edge: Edge,
}

impl<'a> Extended<'a> {
    pub(crate) fn new(source: Source<'a>, channel: usize, edge: Edge) -> Self {
        Extended { source, channel, edge }
    }

    /// The value at a place.
    pub(crate) fn get(&self, place: i64) -> f32 {
        match self.edge.sample(place, self.source.samples()) {
            Some(n) => self.source.get(self.channel, n),
            None => self.edge.constant(),
        }
    }

    /// `len` values from `start` on as they lie in memory, where they do.
    #[inline]
    pub(crate) fn direct(&self, start: i64, len: usize) -> Option<&'a [f32]> {
        let Source::F32(view) = self.source else { return None };
        let start = usize::try_from(start).ok()?;
        view.row(self.channel)?.get(start..start.checked_add(len)?)
    }

    /// Fills `to` with the values from `start` on.
    pub(crate) fn fill(&self, start: i64, to: &mut [f32]) {
        let n = self.source.samples() as i64;
        let end = start + to.len() as i64;
        let (from, until) = (start.clamp(0, n), end.clamp(0, n));
        for place in (start..end.min(from)).chain(until.max(start)..end) {
            to[(place - start) as usize] = self.get(place);
        }
        if until > from {
            let inner = &mut to[(from - start) as usize..(until - start) as usize];
            match self.source {
                Source::F32(view) => copy(view, self.channel, from as usize, inner),
                Source::I16(view) => copy(view, self.channel, from as usize, inner),
            }
        }
    }
}

fn copy<T: Sample>(view: View<'_, T>, channel: usize, start: usize, to: &mut [f32]) {
    match view.row(channel).and_then(|row| row.get(start..start + to.len())) {
        Some(row) => to.iter_mut().zip(row).for_each(|(to, v)| *to = v.to_f32()),
        None => to.iter_mut().enumerate().for_each(|(i, to)| *to = view.get(channel, start + i).to_f32()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Edge; 5] = [Edge::Reflect, Edge::Mirror, Edge::Nearest, Edge::Constant(-7.0), Edge::Wrap];

    #[test]
    fn modes_are_those_of_scipy_ndimage() {
        let x = [1.0f32, 2.0, 3.0, 4.0];
        let view = View::new(&x, 1, 4).unwrap();
        let wanted: [[i32; 14]; 5] = [
            [4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1],
            [2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3],
            [1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4],
            [-7, -7, -7, -7, -7, 1, 2, 3, 4, -7, -7, -7, -7, -7],
            [4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1],
        ];
        for (mode, want) in MODES.into_iter().zip(wanted) {
            let row = Extended::new(view.into(), 0, mode);
            for (i, w) in want.iter().enumerate() {
                assert_eq!(row.get(i as i64 - 5), *w as f32, "{mode:?} {i}");
            }
        }
    }

    #[test]
    fn stretches_hold_what_single_values_are() {
        let x: Vec<i16> = (0..33).collect();
        let floats: Vec<f32> = x.iter().map(|v| f32::from(*v)).collect();
        for samples in [1, 2, 3, 7, 11] {
            let sources: [Source<'_>; 3] = [
                View::new(&floats[..2 * samples], 2, samples).unwrap().into(),
                View::new(&x[..2 * samples], 2, samples).unwrap().into(),
                View::with_strides(&floats, 2, samples, 1, 3).unwrap().into(),
            ];
            for (source, mode) in sources.into_iter().flat_map(|s| MODES.map(|m| (s, m))) {
                let row = Extended::new(source, 1, mode);
                for (start, len) in [(-40, 7), (-9, 9), (-3, 5), (-3, 40), (0, samples), (2, 30), (60, 5), (0, 0)] {
                    let mut got = vec![f32::NAN; len];
                    row.fill(start, &mut got);
                    let want: Vec<f32> = (0..len as i64).map(|i| row.get(start + i)).collect();
                    assert_eq!(got, want, "{source:?} {mode:?} {start}");
                    if let Some(direct) = row.direct(start, len) {
                        assert_eq!(direct, want);
                    }
                }
            }
        }
    }
}
