//! How a channel goes on beyond its ends: the extensions of `scipy.signal.upfirdn` and those of `resample_poly`.
//!
//! Every one of them is a weighted sum of a sample, the first one and the last one, or a level of the channel: a
//! [`Blend`], which the CPU evaluates in float64 and devices in a halo.

use crate::error::{Error, Result};
use crate::ops::filter::Edge;
use crate::signal::Source;

/// What a channel `a b c d` is continued with: scipy's `mode` of `upfirdn` and `padtype` of `resample_poly`. A channel of one
/// sample is continued with it where scipy has no answer (`Line`, `Smooth`, `Reflect`, `Antireflect`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PadType {
    /// This value: scipy's `cval`.
    Constant(f64),
    /// The straight line through the first and the last sample.
    Line,
    /// The straight line through the two samples at each end.
    Smooth,
    /// The last sample: `a a | a b c d | d d`.
    Edge,
    /// From the other end: `c d | a b c d | a b`.
    Wrap,
    /// Mirrored about the edge of the last sample: `b a | a b c d | d c`.
    Symmetric,
    /// Mirrored about the middle of the last sample: `c b | a b c d | c b`.
    Reflect,
    /// Mirrored as `Symmetric`, with the other sign: `-b -a | a b c d | -d -c`.
    Antisymmetric,
    /// Turned about the last sample: `2a-c 2a-b | a b c d | 2d-c 2d-b`.
    Antireflect,
    /// The mean of the channel, which is taken off first and added again; not for `upfirdn`.
    Mean,
    /// Its median, in the same way.
    Median,
    /// Its largest value, in the same way.
    Maximum,
    /// Its smallest value, in the same way.
    Minimum,
}

impl Default for PadType {
    fn default() -> Self {
        PadType::Constant(0.0)
    }
}

/// A value beyond the ends: `weight * sample + first * x[0] + last * x[n - 1] + constant`, or the channel's level.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Blend {
    pub(super) sample: usize,
    pub(super) weight: f64,
    pub(super) first: f64,
    pub(super) last: f64,
    pub(super) constant: f64,
    pub(super) level: bool,
}

impl PadType {
    /// Every name, with the default constant.
    pub const ALL: [PadType; 13] = [
        PadType::Constant(0.0),
        PadType::Line,
        PadType::Mean,
        PadType::Median,
        PadType::Maximum,
        PadType::Minimum,
        PadType::Symmetric,
        PadType::Reflect,
        PadType::Edge,
        PadType::Wrap,
        PadType::Smooth,
        PadType::Antisymmetric,
        PadType::Antireflect,
    ];

    /// scipy's name.
    pub const fn name(self) -> &'static str {
        match self {
            PadType::Constant(_) => "constant",
            PadType::Line => "line",
            PadType::Smooth => "smooth",
            PadType::Edge => "edge",
            PadType::Wrap => "wrap",
            PadType::Symmetric => "symmetric",
            PadType::Reflect => "reflect",
            PadType::Antisymmetric => "antisymmetric",
            PadType::Antireflect => "antireflect",
            PadType::Mean => "mean",
            PadType::Median => "median",
            PadType::Maximum => "maximum",
            PadType::Minimum => "minimum",
        }
    }

    /// Whether a level of the whole channel stands beyond its ends.
    pub(super) fn is_level(self) -> bool {
        matches!(self, PadType::Mean | PadType::Median | PadType::Maximum | PadType::Minimum)
    }

    /// Whether there are zeros beyond the ends, which cost nothing.
    pub(super) fn is_zero(self) -> bool {
        matches!(self, PadType::Constant(v) if v as f32 == 0.0)
    }

    /// Refuses a constant that float32 does not hold.
    pub(super) fn check(self) -> Result<()> {
        match self {
            PadType::Constant(v) if !(v as f32).is_finite() => {
                Err(Error::invalid(format!("the constant beyond the ends is {v}; cval must be finite in float32")))
            }
            _ => Ok(()),
        }
    }

    /// The edge mode that gives the same samples, where there is one.
    #[cfg(feature = "gpu")]
    pub(super) fn edge(self) -> Option<Edge> {
        match self {
            PadType::Constant(v) => Some(Edge::Constant(v)),
            PadType::Edge => Some(Edge::Nearest),
            PadType::Wrap => Some(Edge::Wrap),
            PadType::Symmetric => Some(Edge::Reflect),
            PadType::Reflect => Some(Edge::Mirror),
            _ => None,
        }
    }

    /// What stands at `place` (negative: before the first sample) of a channel of `samples`, at least one.
    pub(super) fn blend(self, place: i64, samples: usize) -> Blend {
        let n = samples as i64;
        let sample = |edge: Edge, weight: f64| match edge.sample(place, samples) {
            Some(sample) => Blend { sample, weight, ..Blend::default() },
            None => Blend::default(),
        };
        if (0..n).contains(&place) {
            return sample(Edge::Nearest, 1.0);
        }
        let (beyond, before) = (if place < 0 { place } else { place - (n - 1) } as f64, place < 0);
        match self {
            PadType::Constant(constant) => Blend { constant, ..Blend::default() },
            PadType::Mean | PadType::Median | PadType::Maximum | PadType::Minimum => {
                Blend { level: true, ..Blend::default() }
            }
            PadType::Edge => sample(Edge::Nearest, 1.0),
            PadType::Wrap => sample(Edge::Wrap, 1.0),
            PadType::Symmetric => sample(Edge::Reflect, 1.0),
            PadType::Reflect => sample(Edge::Mirror, 1.0),
            PadType::Line | PadType::Smooth | PadType::Antireflect if n == 1 => sample(Edge::Nearest, 1.0),
            PadType::Antisymmetric => {
                let odd = place.div_euclid(n).rem_euclid(2) == 1;
                sample(Edge::Reflect, if odd { -1.0 } else { 1.0 })
            }
            PadType::Line => {
                let last = place as f64 / (n - 1) as f64;
                Blend { first: 1.0 - last, last, ..Blend::default() }
            }
            PadType::Smooth if before => Blend { sample: 1, weight: beyond, first: 1.0 - beyond, ..Blend::default() },
            PadType::Smooth => Blend { sample: samples - 2, weight: -beyond, last: 1.0 + beyond, ..Blend::default() },
            PadType::Antireflect => {
                // Odd about both ends, so that it rises by the channel's rise in every turn.
                let turn = place.div_euclid(n - 1);
                let (weight, own) = if turn.rem_euclid(2) == 1 { (-1.0, 1.0) } else { (1.0, 0.0) };
                let (first, last) = (own - turn as f64, own + turn as f64);
                Blend { sample: sample(Edge::Mirror, 1.0).sample, weight, first, last, ..Blend::default() }
            }
        }
    }
}

/// The level of a channel for a padding that has one: a NaN if any sample is one, or if it is not finite.
pub(super) fn level(padtype: PadType, x: Source<'_>, channel: usize) -> f64 {
    let n = x.samples();
    let values = (0..n).map(|i| f64::from(x.get(channel, i)));
    let level = match padtype {
        PadType::Mean => values.sum::<f64>() / n as f64,
        PadType::Median => median(values.collect()),
        PadType::Maximum => values.fold(f64::NEG_INFINITY, |a, b| if b > a || b.is_nan() { b } else { a }),
        PadType::Minimum => values.fold(f64::INFINITY, |a, b| if b < a || b.is_nan() { b } else { a }),
        _ => 0.0,
    };
    // Infinite levels leave differences of infinities.
    if level.is_finite() { level } else { f64::NAN }
}

fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    match below.iter().copied().max_by(f64::total_cmp).filter(|_| values.len().is_multiple_of(2)) {
        Some(lower) => 0.5 * (lower + upper),
        None => upper,
    }
}

/// A channel continued beyond its ends, in float64.
pub(super) struct Continued<'a> {
    x: Source<'a>,
    channel: usize,
    padtype: PadType,
    first: f64,
    last: f64,
    level: f64,
}

impl<'a> Continued<'a> {
    /// Of a channel with samples, whose level is known where the padding has one.
    pub(super) fn new(x: Source<'a>, channel: usize, padtype: PadType, level: f64) -> Self {
        let at = |n: usize| f64::from(x.get(channel, n));
        Continued { x, channel, padtype, first: at(0), last: at(x.samples() - 1), level }
    }

    /// The value at a place.
    pub(super) fn get(&self, place: i64) -> f64 {
        if let Some(n) = usize::try_from(place).ok().filter(|n| *n < self.x.samples()) {
            return f64::from(self.x.get(self.channel, n));
        }
        let blend = self.padtype.blend(place, self.x.samples());
        if blend.level {
            return self.level;
        }
        // A weight of 0 takes no part, also of what is not finite.
        let part = |weight: f64, v: f64| if weight == 0.0 { 0.0 } else { weight * v };
        let own = if blend.weight == 0.0 { 0.0 } else { f64::from(self.x.get(self.channel, blend.sample)) };
        part(blend.weight, own) + part(blend.first, self.first) + part(blend.last, self.last) + blend.constant
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::View;

    fn stretch(padtype: PadType, x: &[f32], places: std::ops::Range<i64>) -> Vec<f64> {
        let x: Source<'_> = View::new(x, 1, x.len()).unwrap().into();
        let row = Continued::new(x, 0, padtype, level(padtype, x, 0));
        places.map(|p| row.get(p)).collect()
    }

    /// `scipy.signal.upfirdn` with a delayed unit tap shows its extensions.
    #[test]
    fn extensions_are_those_of_scipy() {
        let x = [1.0, 4.0, 2.0, 7.0];
        let cases: [(PadType, [f64; 9], [f64; 9]); 12] = EXTENSIONS;
        for (padtype, before, after) in cases {
            let close = |got: &[f64], want: &[f64]| got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(close(&stretch(padtype, &x, -9..0), &before), "{padtype:?} before");
            assert!(close(&stretch(padtype, &x, 4..13), &after), "{padtype:?} after");
            assert_eq!(stretch(padtype, &x, 0..4), x.map(f64::from));
        }
        assert_eq!(stretch(PadType::Constant(-3.0), &x, -1..1), [-3.0, 1.0]);
    }

    #[test]
    fn one_sample_goes_on_as_it_is() {
        for padtype in PadType::ALL {
            let want = match padtype {
                PadType::Constant(_) => [0.0, 5.0, 0.0],
                PadType::Antisymmetric => [-5.0, 5.0, -5.0],
                _ => [5.0; 3],
            };
            assert_eq!(stretch(padtype, &[5.0], -1..2), want, "{padtype:?}");
        }
    }

    #[test]
    fn levels() {
        let of = |padtype, x: &[f32]| level(padtype, View::new(x, 1, x.len()).unwrap().into(), 0);
        assert_eq!(of(PadType::Median, &[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(of(PadType::Median, &[4.0, 1.0, 2.0, 9.0]), 3.0);
        for padtype in PadType::ALL.into_iter().filter(|p| p.is_level()) {
            assert!(of(padtype, &[1.0, f32::NAN, 2.0]).is_nan(), "{padtype:?}");
            assert!(!of(padtype, &[1.0, f32::INFINITY, f32::NEG_INFINITY, 1.0]).is_infinite(), "{padtype:?}");
        }
    }

    const EXTENSIONS: [(PadType, [f64; 9], [f64; 9]); 12] = [
        (
            PadType::Line,
            [-17.0, -15.0, -13.0, -11.0, -9.0, -7.0, -5.0, -3.0, -1.0],
            [9.0, 11.0, 13.0, 15.0, 17.0, 19.0, 21.0, 23.0, 25.0],
        ),
        (PadType::Mean, [3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5], [3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5]),
        (PadType::Median, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
        (
            PadType::Maximum,
            [7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0],
            [7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0],
        ),
        (
            PadType::Minimum,
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ),
        (
            PadType::Symmetric,
            [1.0, 1.0, 4.0, 2.0, 7.0, 7.0, 2.0, 4.0, 1.0],
            [7.0, 2.0, 4.0, 1.0, 1.0, 4.0, 2.0, 7.0, 7.0],
        ),
        (
            PadType::Reflect,
            [7.0, 2.0, 4.0, 1.0, 4.0, 2.0, 7.0, 2.0, 4.0],
            [2.0, 4.0, 1.0, 4.0, 2.0, 7.0, 2.0, 4.0, 1.0],
        ),
        (PadType::Edge, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0]),
        (PadType::Wrap, [7.0, 1.0, 4.0, 2.0, 7.0, 1.0, 4.0, 2.0, 7.0], [1.0, 4.0, 2.0, 7.0, 1.0, 4.0, 2.0, 7.0, 1.0]),
        (
            PadType::Smooth,
            [-26.0, -23.0, -20.0, -17.0, -14.0, -11.0, -8.0, -5.0, -2.0],
            [12.0, 17.0, 22.0, 27.0, 32.0, 37.0, 42.0, 47.0, 52.0],
        ),
        (
            PadType::Antisymmetric,
            [-1.0, 1.0, 4.0, 2.0, 7.0, -7.0, -2.0, -4.0, -1.0],
            [-7.0, -2.0, -4.0, -1.0, 1.0, 4.0, 2.0, 7.0, -7.0],
        ),
        (
            PadType::Antireflect,
            [-17.0, -12.0, -14.0, -11.0, -8.0, -10.0, -5.0, 0.0, -2.0],
            [12.0, 10.0, 13.0, 16.0, 14.0, 19.0, 24.0, 22.0, 25.0],
        ),
    ];
}
