//! Finite impulse responses on the CPU, in the direct form.
//!
//! `channels` puts 16 channels in the lanes; `time`, for few long channels, cuts them in time and puts the pieces there,
//! each with the samples it needs from before it. Sums are float32 with float64 totals at proven places (see
//! the module `plan`). An initial state is added to the first outputs afterwards; the final one is computed in float64 from
//! the last samples.

use rayon::prelude::*;

use super::kernel::{Filter, FinalState};
use super::plan::plan;
use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    self, Level,
    lanes::{BLOCK, Cut, LANES, groups},
    stream,
};

/// A piece of a channel is at least this long, and this many times the response.
const SHORTEST_PIECE: usize = 128;
const RESPONSES_PER_PIECE: usize = 2;

/// Ways to compute, the default first. `outputs` is the register tile: 16 wants 32 vector registers.
pub fn variants(taps: usize, shape: Shape) -> Vec<Variant> {
    let outputs = if matches!(simd::level_name(), "avx512" | "neon") { [16, 8] } else { [8, 16] };
    let make = |method, tile, outputs| Variant::new(method, &[("outputs", outputs), ("tile", tile)]);
    let by_channels =
        vec![make("channels", 512, outputs[0]), make("channels", 1024, outputs[0]), make("channels", 512, outputs[1])];
    if shape.samples < 2 * shortest_piece(taps) {
        return by_channels;
    }
    let by_time = vec![make("time", 512, outputs[0]), make("time", 512, outputs[1])];
    let lanes = LANES * shape.channels.div_ceil(LANES).next_multiple_of(rayon::current_num_threads());
    if shape.channels * 4 < lanes * 3 { [by_time, by_channels].concat() } else { [by_channels, by_time].concat() }
}

fn shortest_piece(taps: usize) -> usize {
    taps.saturating_mul(RESPONSES_PER_PIECE).max(SHORTEST_PIECE)
}

/// Filters `x` into `y`, of the same shape: `y[n] = sum of taps[k] x[n - k]`. `zi`, if given, is scipy's state for `a = [1]`
/// (`[channels][taps - 1]`), replaced by the final one.
pub fn run(taps: &[f64], variant: &Variant, x: Source<'_>, y: ViewMut<'_>, zi: Option<&mut [f64]>) -> Result<()> {
    run_at(simd::level(), taps, variant, x, y, zi)
}

/// Filters `x` into `y`, of the same shape, looking ahead: `y[n] = sum of taps[k] x[n + ahead - k]`, with zeros beyond both
/// ends.
pub fn run_ahead(taps: &[f64], ahead: usize, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    check(taps, x, &y, None)?;
    filter(simd::level(), taps, ahead, variant, x, y)
}

fn run_at(
    level: Level,
    taps: &[f64],
    variant: &Variant,
    x: Source<'_>,
    mut y: ViewMut<'_>,
    zi: Option<&mut [f64]>,
) -> Result<()> {
    check(taps, x, &y, zi.as_deref())?;
    filter(level, taps, 0, variant, x, y.reborrow())?;
    if let Some(zi) = zi.filter(|_| taps.len() > 1 && x.channels() > 0 && x.samples() > 0) {
        carry_state(level, taps, x, y, zi);
    }
    Ok(())
}

/// The filter without state.
fn filter(level: Level, taps: &[f64], ahead: usize, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (channels, samples) = (x.channels(), x.samples());
    if channels == 0 || samples == 0 {
        return Ok(());
    }
    let cut = match variant.method {
        "channels" => Cut::whole(samples),
        "time" => Cut::pieces(channels, samples, shortest_piece(taps.len())),
        other => return Err(Error::invalid(format!("lfilter has no variant `{other}`; it has channels and time"))),
    };
    let blocks = plan(taps);
    let history = (taps.len() - 1).next_multiple_of(BLOCK);
    let streamed = stream::pays(channels.saturating_mul(samples).saturating_mul(size_of::<f32>()));
    groups(y, cut.len).into_par_iter().enumerate().with_max_len(1).for_each(|(g, mut rows)| {
        let lanes = cut.lanes_ahead(x, history, ahead, g * LANES, rows.len());
        level.run(Filter {
            blocks: &blocks,
            lanes,
            history,
            len: cut.len,
            rows: &mut rows,
            tile: variant.get("tile") as usize,
            outputs: variant.get("outputs") as usize,
            streamed,
        });
    });
    Ok(())
}

/// Adds the initial state to the outputs it reaches and replaces it.
fn carry_state(level: Level, taps: &[f64], x: Source<'_>, y: ViewMut<'_>, zi: &mut [f64]) {
    let (samples, order) = (x.samples(), taps.len() - 1);
    let rows = groups(y, samples).into_iter().flatten().collect::<Vec<_>>();
    rows.into_par_iter().zip(zi.par_chunks_mut(order)).enumerate().for_each(|(c, (row, zi))| {
        row.iter_mut().zip(zi.iter()).for_each(|(y, z)| *y = (f64::from(*y) + z) as f32);
        let moved = samples.min(order);
        zi.copy_within(moved.., 0);
        zi[order - moved..].fill(0.0);
        let last: Vec<f64> = (0..moved).map(|t| f64::from(x.get(c, samples - 1 - t))).collect();
        level.run(FinalState { taps, last: &last, state: zi });
    });
}

fn check(taps: &[f64], x: Source<'_>, y: &ViewMut<'_>, zi: Option<&[f64]>) -> Result<()> {
    if taps.is_empty() {
        return Err(Error::invalid("the filter has no taps; give at least one coefficient"));
    }
    if (y.channels(), y.samples()) != (x.channels(), x.samples()) {
        return Err(Error::shape(format!(
            "the output is {} x {}, the input {} x {}; give lfilter an output of the input's shape",
            y.channels(),
            y.samples(),
            x.channels(),
            x.samples()
        )));
    }
    let wanted = x.channels() * (taps.len() - 1);
    match zi.filter(|zi| zi.len() != wanted) {
        Some(zi) => Err(Error::shape(format!(
            "zi has {} values; {} channels x (taps - 1) = {wanted} are needed",
            zi.len(),
            x.channels()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
