//! Finite impulse responses on the CPU.
//!
//! In the direct form `channels` puts 16 channels in the lanes; `time`, for few long channels, cuts them in time and puts
//! the pieces there, each with the samples it needs from before it. Sums are float32 with float64 totals at proven places
//! (see the module `plan`). `overlap`, for long responses, convolves blocks by their transforms (see
//! `ops/filter/convolve`). An initial state is added to the first outputs afterwards; the final one is computed in float64
//! from the last samples.

use rayon::prelude::*;

use super::direct::Direct;
use super::kernel::FinalState;
use crate::error::{Error, Result};
use crate::ops::filter::convolve::{blocks, overlap::Overlap, spectra::Kept};
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    self, Level,
    lanes::{Cut, groups},
};

/// From so many taps on blocks are tried.
const OVERLAPPED: usize = 48;
/// From so many on they are the default.
const LONG: usize = 96;

/// Ways to compute, the default first. `outputs` is the register tile: 16 wants 32 vector registers.
pub fn variants(taps: usize, shape: Shape) -> Vec<Variant> {
    let mut all = direct_variants(taps, shape);
    if taps >= OVERLAPPED {
        let at = if taps >= LONG { 0 } else { all.len() };
        let points = blocks::in_lanes(taps, shape.channels, shape.samples).into_iter().take(2);
        let overlapped = points.map(|points| Variant::new("overlap", &[("points", points as u32)]));
        all.splice(at..at, overlapped);
    }
    all
}

/// Ways to compute in the direct form, the default first.
pub fn direct_variants(taps: usize, shape: Shape) -> Vec<Variant> {
    let best = Direct::outputs();
    let outputs = [best, 24 - best];
    let make = |method, tile, outputs| Variant::new(method, &[("outputs", outputs), ("tile", tile)]);
    let by_channels =
        vec![make("channels", 512, outputs[0]), make("channels", 1024, outputs[0]), make("channels", 512, outputs[1])];
    if shape.samples < 2 * Direct::shortest_piece(taps) {
        return by_channels;
    }
    let by_time = vec![make("time", 512, outputs[0]), make("time", 512, outputs[1])];
    let time_first = Direct::by_time(taps, shape.channels, shape.samples);
    if time_first { [by_time, by_channels].concat() } else { [by_channels, by_time].concat() }
}

/// [`run`] by transforms of blocks, whose spectra of the taps are kept.
pub fn run_overlapped(
    taps: &[f64],
    spectra: &Kept,
    variant: &Variant,
    x: Source<'_>,
    mut y: ViewMut<'_>,
    zi: Option<&mut [f64]>,
) -> Result<()> {
    check(taps, x, &y, zi.as_deref())?;
    let (level, points) = (simd::level(), variant.get("points") as usize);
    Overlap { taps, points, spectra, row: 0, first: 0 }.run(level, x, y.reborrow())?;
    if let Some(zi) = zi.filter(|_| taps.len() > 1 && x.samples() > 0) {
        carry_state(level, taps, x, y, zi);
    }
    Ok(())
}

/// Filters `x` into `y`, of the same shape: `y[n] = sum of taps[k] x[n - k]`. `zi`, if given, is scipy's state for `a = [1]`
/// (`[channels][taps - 1]`), replaced by the final one.
pub fn run(taps: &[f64], variant: &Variant, x: Source<'_>, y: ViewMut<'_>, zi: Option<&mut [f64]>) -> Result<()> {
    run_at(simd::level(), taps, variant, x, y, zi)
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
    direct(level, taps, 0, variant, x, y.reborrow())?;
    if let Some(zi) = zi.filter(|_| taps.len() > 1 && x.channels() > 0 && x.samples() > 0) {
        carry_state(level, taps, x, y, zi);
    }
    Ok(())
}

/// Filters `x` into `y`, of the same shape, looking ahead: `y[n] = sum of taps[k] x[n + ahead - k]`, with zeros beyond both
/// ends; by one of the [`direct_variants`].
pub fn run_ahead(taps: &[f64], ahead: usize, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    check(taps, x, &y, None)?;
    direct(simd::level(), taps, ahead, variant, x, y)
}

/// The direct form without state.
fn direct(level: Level, taps: &[f64], ahead: usize, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (channels, samples) = (x.channels(), x.samples());
    if channels == 0 || samples == 0 {
        return Ok(());
    }
    let cut = match variant.method {
        "channels" => Cut::whole(samples),
        "time" => Cut::pieces(channels, samples, Direct::shortest_piece(taps.len())),
        other => return Err(Error::invalid(format!("lfilter has no variant `{other}`; it has channels and time"))),
    };
    Direct::new(taps, ahead, variant.get("outputs")).run_cut(level, cut, variant.get("tile") as usize, x, y);
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
