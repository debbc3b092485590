//! Convolution on the CPU: `direct` for short responses, as FIR filters have it; `overlap`, transforms of 32 blocks at a
//! time, for all up to some thousand taps; `rows`, one row at a time, for any.

use rayon::prelude::*;

use super::overlap::Overlap;
use super::problem::Convolution;
use super::{blocks, rows};
use crate::error::{Error, Result};
use crate::ops::filter::lfilter::direct::Direct;
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Source, ViewMut};
use crate::simd::{self, Level};

/// Up to so many taps the direct form is the default.
const FEW_TAPS: usize = 32;
/// And to so many it is tried at all.
const MOST_DIRECT: usize = 192;

/// Ways to compute, the default first.
pub(super) fn variants(c: &Convolution, shape: Shape) -> Vec<Variant> {
    let (taps, part) = (c.taps.len(), c.part(shape.samples));
    // Channels that have responses of their own do not share lanes.
    let channels = if c.taps.shared().is_some() { shape.channels } else { 1 };
    let in_lanes = blocks::in_lanes(taps, channels, part.count);
    let of = |method, points: &usize| u32::try_from(*points).ok().map(|p| Variant::new(method, &[("points", p)]));
    let mut all: Vec<Variant> = in_lanes.iter().filter_map(|points| of("overlap", points)).collect();
    all.extend(blocks::in_rows(taps, shape.samples).iter().filter_map(|points| of("rows", points)));
    if taps <= MOST_DIRECT || all.is_empty() {
        let at = if taps <= FEW_TAPS { 0 } else { all.len() };
        all.insert(at, Variant::new("direct", &[("outputs", Direct::outputs())]));
    }
    all
}

/// Lengths around which blocks may go wrong.
pub(in crate::ops::filter) fn tiles(variant: &Variant, taps: usize) -> Vec<usize> {
    let points = variant.get("points") as usize;
    match variant.method {
        "overlap" => {
            let step = blocks::step(taps, points);
            vec![step, 2 * step, points, taps]
        }
        "rows" | "transforms" => vec![(points + 1).saturating_sub(taps), points, taps],
        _ => [variant.tiles(), vec![taps]].concat(),
    }
}

/// Bytes of work space of a thread.
pub(super) fn work_space(c: &Convolution, shape: Shape) -> usize {
    let longest = blocks::in_rows(c.taps.len(), shape.samples).into_iter().max().unwrap_or(0);
    rows::work_space(longest)
}

/// Convolves `x` into `y`, which takes the results of the mode.
pub(super) fn run(c: &Convolution, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    run_at(simd::level(), c, variant, x, y)
}

pub(super) fn run_at(level: Level, c: &Convolution, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    if variant.method == "rows" {
        return rows::run(c, variant.get("points") as usize, x, y);
    }
    if let Some(taps) = c.taps.shared() {
        return in_lanes(level, c, variant, taps, 0, x, y);
    }
    let (count, pitch) = (y.samples(), y.pitch());
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        let y = ViewMut::new(&mut row[..count], 1, count)?;
        in_lanes(level, c, variant, c.taps.of(channel), channel, x.channel_range(channel, 1), y)
    })
}

/// Channels with one response, that of row `row`.
fn in_lanes(
    level: Level,
    c: &Convolution,
    variant: &Variant,
    taps: &[f64],
    row: usize,
    x: Source<'_>,
    y: ViewMut<'_>,
) -> Result<()> {
    let first = c.part(x.samples()).first;
    match variant.method {
        "direct" => {
            Direct::new(taps, first, variant.get("outputs")).run(level, x, y);
            Ok(())
        }
        "overlap" => {
            let points = variant.get("points") as usize;
            Overlap { taps, points, spectra: &c.spectra, row, first }.run(level, x, y)
        }
        other => Err(Error::internal(format!("{other} is no way to convolve"))),
    }
}
