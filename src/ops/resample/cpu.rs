//! Changes of the rate on the CPU.
//!
//! `channels` puts 16 channels in the lanes; `time`, for few long channels, cuts them in time, at whole turns of the phases,
//! and puts the pieces there. Sums are float32 with float64 totals at proven places, as those of `lfilter`. Only results
//! that are kept are computed. There are zeros beyond the ends; where another extension holds, the results that it
//! reaches are computed once more, in float64.

use rayon::prelude::*;

use super::bank::Bank;
use super::kernel::Rows;
use super::padtype::{Continued, level};
use super::{Polyphase, bank::Stand};
use crate::error::{Error, Result};
use crate::ops::filter::lfilter::direct::Direct;
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    self, Level,
    lanes::{Cut, LANES, Lanes, groups},
    stream,
};

/// Samples that a tile spans: what it reads and writes stays in the first caches.
const TILE: usize = 256;
/// A piece of a channel has at least this many results.
const SHORTEST_PIECE: usize = 128;
/// Samples of a piece, in lengths of the phases.
const RESPONSES_PER_PIECE: usize = 4;

/// Where so many samples make one result, results are few and computed one by one.
const SPARSE: usize = 2048;

/// Ways to compute, the default first.
pub(super) fn variants(problem: &Polyphase, shape: Shape) -> Vec<Variant> {
    let best = Direct::outputs();
    let make = |method, tile: usize, outputs| {
        Variant::new(method, &[("outputs", outputs), ("tile", u32::try_from(tile).unwrap_or(u32::MAX))])
    };
    let all = |method| vec![make(method, TILE, best), make(method, 4 * TILE, best), make(method, TILE, 24 - best)];
    let (pieces, by_channels) = (pieces(problem, shape), all("channels"));
    if pieces.pieces < 2 {
        return by_channels;
    }
    let lanes = LANES * shape.channels.div_ceil(LANES).next_multiple_of(rayon::current_num_threads());
    if shape.channels * 4 < lanes * 3 {
        [all("time"), by_channels].concat()
    } else {
        [by_channels, all("time")].concat()
    }
}

/// How channels are cut in time: all pieces begin with the same phase.
fn pieces(problem: &Polyphase, shape: Shape) -> Cut {
    let (bank, count) = (&*problem.bank, problem.count(shape.samples));
    let turn = bank.up / gcd(bank.up, LANES) * LANES;
    let responses = (bank.longest() as u128 * RESPONSES_PER_PIECE as u128 * bank.up as u128) / bank.down as u128;
    let shortest = (responses.min(count as u128) as usize).max(SHORTEST_PIECE);
    let even = Cut::pieces(shape.channels, count, shortest).len;
    Cut::every(count, even.div_ceil(turn).saturating_mul(turn))
}

/// The greatest common divisor of two numbers that are not 0.
pub(super) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Computes `x` into `y`, of the problem's output shape.
pub(super) fn run(problem: &Polyphase, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    run_at(simd::level(), problem, variant, x, y)
}

pub(super) fn run_at(
    simd: Level,
    problem: &Polyphase,
    variant: &Variant,
    x: Source<'_>,
    mut y: ViewMut<'_>,
) -> Result<()> {
    let shape = Shape { channels: x.channels(), samples: x.samples() };
    let count = problem.count(shape.samples);
    if (y.channels(), y.samples()) != (shape.channels, count) {
        return Err(Error::internal(format!(
            "an output of {} x {} is not the result's shape",
            y.channels(),
            y.samples()
        )));
    }
    if shape.channels == 0 || count == 0 {
        return Ok(());
    }
    let cut = match variant.method {
        "channels" => Cut::whole(count),
        "time" => pieces(problem, shape),
        other => return Err(Error::invalid(format!("there is no variant `{other}`; there are channels and time"))),
    };
    let bank = &*problem.bank;
    if bank.down / bank.up >= SPARSE {
        extend(problem, x, y, (0, 0));
        return Ok(());
    }
    let streamed = stream::pays(shape.channels.saturating_mul(count).saturating_mul(size_of::<f32>()));
    // The lanes begin with the oldest sample of a piece's first result.
    let Stand { newest, phase } = problem.stand(0);
    let before = bank.longest() - 1;
    let offset = (before * bank.up + phase) as u64;
    let tile = (variant.get("tile") as usize * bank.up / bank.down).max(LANES);
    groups(y.reborrow(), cut.len).into_par_iter().enumerate().with_max_len(1).for_each(|(group, mut rows)| {
        let span = bank.stand(cut.len - 1, offset).newest as usize + 1;
        let windows = (0..rows.len()).map(|lane| {
            let (channel, piece) = cut.locate(group * LANES + lane);
            let first = newest as isize + (piece * (cut.len / bank.up) * bank.down) as isize - before as isize;
            (channel, first, span)
        });
        let lanes = Lanes::windows(x, windows);
        let len = rows.iter().map(|r| r.len()).max().unwrap_or(0);
        let outputs = variant.get("outputs") as usize;
        simd.run(Rows { bank, offset, lanes, rows: &mut rows, len, tile, outputs, streamed });
    });
    if !problem.padtype.is_zero() {
        extend(problem, x, y, problem.inside(shape.samples));
    }
    Ok(())
}

/// All results but those inside, in float64, and what a level of the channel adds to the others.
fn extend(problem: &Polyphase, x: Source<'_>, y: ViewMut<'_>, (inside, behind): (usize, usize)) {
    let (channels, count, pitch) = (y.channels(), y.samples(), y.pitch().max(y.samples()));
    let bank: &Bank = &problem.bank;
    let lifts: Vec<f64> = bank.phases.iter().map(|p| 1.0 - p.gain()).collect();
    y.into_data().par_chunks_mut(pitch).take(channels).enumerate().for_each(|(channel, out)| {
        let level = level(problem.padtype, x, channel);
        let lift = |phase: usize| if problem.padtype.is_level() { level * lifts[phase] } else { 0.0 };
        let row = Continued::new(x, channel, problem.padtype, level);
        for m in (0..inside).chain(behind..count) {
            let Stand { newest, phase } = problem.stand(m);
            let taps = bank.phases[phase].taps.iter();
            let sum: f64 = taps.enumerate().map(|(j, h)| h * row.get(newest - j as i64)).sum();
            out[m] = (sum + lift(phase)) as f32;
        }
        if problem.padtype.is_level() {
            for (m, y) in out.iter_mut().enumerate().take(behind).skip(inside) {
                *y = (f64::from(*y) + lift(problem.stand(m).phase)) as f32;
            }
        }
    });
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
