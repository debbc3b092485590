//! Second-order sections on the CPU, with float64 states.
//!
//! Two ways. `channels` puts 16 channels in the lanes, one group of them after another on the pool. `time`, for few long
//! channels, cuts each into pieces and puts those in the lanes: where the filter forgets within a fraction of a piece, each
//! piece starts that much earlier from zero; where it does not, every piece runs once from zero, the states at the ends are
//! carried on exactly by the power of the transition matrix, and every piece runs again from its true state.
//!
//! Filters whose zeros allow it run in a cheaper form (see the module `form`). A value that is not finite makes the states of
//! its channel non-finite for ever, in every form; but the forms differ in the samples just after an infinity, so a group
//! that ends in a non-finite state is run again exactly as scipy writes the recursion.

use rayon::prelude::*;

use super::form::{Cascade, Form};
use super::kernel::{Advance, States};
use super::transition::Transition;
use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Source, ViewMut};
use crate::simd::{
    self, Level,
    lanes::{Cut, LANES, Lanes, groups},
    stream,
};

/// A piece of a channel is at least this long.
const SHORTEST_PIECE: usize = 256;
/// States whose influence has fallen to this do not matter.
const FORGOTTEN: f64 = 1e-13;
/// Filters that have not settled after 2^32 samples are taken not to settle at all.
const SETTLING_BITS: usize = 32;

/// Ways to compute, the default first.
pub fn variants(sos: &[[f64; 6]], shape: Shape) -> Vec<Variant> {
    let by_channels = [256, 128, 512].map(|tile| Variant::new("channels", &[("tile", tile)]));
    if sos.is_empty() || shape.samples < 8 * SHORTEST_PIECE {
        return by_channels.to_vec();
    }
    let by_time = [256, 512].map(|tile| Variant::new("time", &[("tile", tile)]));
    let lanes = LANES * shape.channels.div_ceil(LANES).next_multiple_of(rayon::current_num_threads());
    if shape.channels * 2 < lanes {
        by_time.into_iter().chain(by_channels).collect()
    } else {
        by_channels.into_iter().chain(by_time).collect()
    }
}

/// Filters `x` into `y`, of the same shape. `sos` rows are `b0 b1 b2 a0 a1 a2` with `a0 = 1`; `zi`, if given, is scipy's state
/// (`[channels][sections][2]`), replaced by the final one.
pub fn run(sos: &[[f64; 6]], variant: &Variant, x: Source<'_>, y: ViewMut<'_>, zi: Option<&mut [f64]>) -> Result<()> {
    run_at(simd::level(), sos, variant, x, y, zi)
}

fn run_at(
    level: Level,
    sos: &[[f64; 6]],
    variant: &Variant,
    x: Source<'_>,
    mut y: ViewMut<'_>,
    mut zi: Option<&mut [f64]>,
) -> Result<()> {
    check(sos, x, &y, zi.as_deref())?;
    if x.channels() == 0 || x.samples() == 0 {
        return Ok(());
    }
    let job = Job {
        level,
        tile: variant.get("tile") as usize,
        streamed: stream::pays(x.channels().saturating_mul(x.samples()).saturating_mul(size_of::<f32>())),
        x,
        cascade: &Cascade::cheapest(sos, zi.is_some()),
        exact: &Cascade::general(sos),
    };
    match variant.method {
        "channels" => job.by_channels(y, zi),
        "time" => {
            if !job.by_time(y.reborrow(), zi.as_deref_mut()) {
                job.by_channels(y, zi);
            }
        }
        other => return Err(Error::invalid(format!("sosfilt has no variant `{other}`; it has channels and time"))),
    }
    Ok(())
}

fn check(sos: &[[f64; 6]], x: Source<'_>, y: &ViewMut<'_>, zi: Option<&[f64]>) -> Result<()> {
    if (y.channels(), y.samples()) != (x.channels(), x.samples()) {
        return Err(Error::shape(format!(
            "the output is {} x {}, the input {} x {}; give sosfilt an output of the input's shape",
            y.channels(),
            y.samples(),
            x.channels(),
            x.samples()
        )));
    }
    let wanted = x.channels() * sos.len() * 2;
    if let Some(zi) = zi.filter(|zi| zi.len() != wanted) {
        return Err(Error::shape(format!(
            "zi has {} values; {} channels x {} sections x 2 = {wanted} are needed",
            zi.len(),
            x.channels(),
            sos.len()
        )));
    }
    match sos.iter().position(|s| s[3] != 1.0) {
        Some(k) => {
            Err(Error::invalid(format!("a0 of section {k} is {}, not 1; divide the section by it first", sos[k][3])))
        }
        None => Ok(()),
    }
}

struct Job<'a> {
    level: Level,
    tile: usize,
    streamed: bool,
    x: Source<'a>,
    /// The form to run.
    cascade: &'a Cascade,
    /// The form that does with infinities what scipy does.
    exact: &'a Cascade,
}

impl Job<'_> {
    fn width(&self) -> usize {
        self.cascade.sections.len() * 2
    }

    fn by_channels(&self, y: ViewMut<'_>, zi: Option<&mut [f64]>) {
        let group = LANES * self.width();
        let states: Vec<Option<&mut [f64]>> = match zi {
            Some(zi) if group > 0 => zi.chunks_mut(group).map(Some).collect(),
            _ => Vec::new(),
        };
        let samples = y.samples();
        let mut work: Vec<_> = groups(y, samples).into_iter().map(|rows| (rows, None)).collect();
        for (item, zi) in work.iter_mut().zip(states) {
            item.1 = zi;
        }
        work.into_par_iter().enumerate().with_max_len(1).for_each(|(g, (mut rows, mut zi))| {
            let lanes = Lanes::channels(self.x, g * LANES, rows.len());
            for cascade in [self.cascade, self.exact] {
                let mut states = self.zeros();
                if let Some(zi) = &zi {
                    (0..rows.len()).for_each(|i| self.import(cascade, &mut states, i, zi, i));
                }
                self.advance(cascade, &lanes, 0..samples, &mut states, Some((&mut rows, 0)));
                if finite(&states) || cascade.form == Form::General {
                    if let Some(zi) = &mut zi {
                        (0..rows.len()).for_each(|i| self.export(cascade, &states, i, zi, i));
                    }
                    break;
                }
            }
        });
    }

    /// `false` if it could not be done: too short, unstable or not finite.
    fn by_time(&self, y: ViewMut<'_>, zi: Option<&mut [f64]>) -> bool {
        let (channels, samples) = (y.channels(), y.samples());
        let cut = Cut::pieces(channels, samples, SHORTEST_PIECE);
        let Cut { len, pieces, .. } = cut;
        let step = Transition::one(self.cascade);
        let Some(settling) = step.settling(FORGOTTEN, SETTLING_BITS) else { return false };
        if pieces < 2 || self.width() == 0 {
            return false;
        }
        let (before, starts) = if settling <= len / 2 {
            (settling.next_multiple_of(LANES), None)
        } else {
            (0, Some(self.carry(&step.power(len), &cut, channels, zi.as_deref())))
        };
        let ends: Vec<States> = groups(y, len)
            .into_par_iter()
            .enumerate()
            .with_max_len(1)
            .map(|(g, mut rows)| {
                let lanes = cut.lanes(self.x, before, g * LANES, rows.len());
                let mut states = self.zeros();
                self.advance(self.cascade, &lanes, 0..before, &mut states, None);
                for i in 0..rows.len() {
                    let piece = g * LANES + i;
                    match (&starts, &zi, cut.locate(piece)) {
                        (Some(starts), ..) => {
                            let start = &starts[piece * self.width()..(piece + 1) * self.width()];
                            start.iter().zip(&mut states).for_each(|(v, s)| s[i] = *v);
                        }
                        (None, Some(zi), (channel, 0)) => self.import(self.cascade, &mut states, i, zi, channel),
                        _ => {}
                    }
                }
                // The last piece of a channel may be short: its state is wanted where it ends.
                let split = if zi.is_some() { cut.last() } else { len };
                self.advance(self.cascade, &lanes, before..before + split, &mut states, Some((&mut rows, 0)));
                let at_end = states.clone();
                let rest = before + split..before + len;
                self.advance(self.cascade, &lanes, rest, &mut states, Some((&mut rows, split)));
                if finite(&states) { at_end } else { states }
            })
            .collect();
        if !ends.iter().all(finite) {
            return false;
        }
        if let Some(zi) = zi {
            for channel in 0..channels {
                let piece = channel * pieces + pieces - 1;
                self.export(self.cascade, &ends[piece / LANES], piece % LANES, zi, channel);
            }
        }
        true
    }

    /// The state at the start of every piece, piece after piece.
    fn carry(&self, power: &Transition, cut: &Cut, channels: usize, zi: Option<&[f64]>) -> Vec<f64> {
        let width = self.width();
        let all = channels * cut.pieces;
        let ends: Vec<States> = (0..all.div_ceil(LANES))
            .into_par_iter()
            .map(|g| {
                let lanes = cut.lanes(self.x, 0, g * LANES, LANES.min(all - g * LANES));
                let mut states = self.zeros();
                self.advance(self.cascade, &lanes, 0..cut.len, &mut states, None);
                states
            })
            .collect();
        let mut starts = vec![0.0; all * width];
        for channel in 0..channels {
            let mut state = vec![0.0; width];
            if let Some(zi) = zi {
                let own = &zi[channel * width..(channel + 1) * width];
                let scaled = own.iter().enumerate().map(|(k, v)| self.cascade.import(k / 2, *v));
                state.iter_mut().zip(scaled).for_each(|(s, v)| *s = v);
            }
            for piece in channel * cut.pieces..(channel + 1) * cut.pieces {
                starts[piece * width..(piece + 1) * width].copy_from_slice(&state);
                let end: Vec<f64> = ends[piece / LANES].iter().map(|s| s[piece % LANES]).collect();
                power.apply(&mut state, &end);
            }
        }
        starts
    }

    fn zeros(&self) -> States {
        vec![[0.0; LANES]; self.width()]
    }

    fn advance(
        &self,
        cascade: &Cascade,
        lanes: &Lanes<'_>,
        times: std::ops::Range<usize>,
        states: &mut States,
        rows: Option<(&mut Vec<&mut [f32]>, usize)>,
    ) {
        let (rows, offset) = rows.map_or((None, 0), |(rows, offset)| (Some(rows.as_mut_slice()), offset));
        self.level.run(Advance {
            cascade,
            lanes,
            from: times.start,
            to: times.end,
            states,
            rows,
            offset,
            tile: self.tile,
            streamed: self.streamed,
        });
    }

    fn import(&self, cascade: &Cascade, states: &mut States, lane: usize, zi: &[f64], row: usize) {
        let own = &zi[row * self.width()..(row + 1) * self.width()];
        for (k, (s, v)) in states.iter_mut().zip(own).enumerate() {
            s[lane] = cascade.import(k / 2, *v);
        }
    }

    fn export(&self, cascade: &Cascade, states: &States, lane: usize, zi: &mut [f64], row: usize) {
        let own = &mut zi[row * self.width()..(row + 1) * self.width()];
        for (k, (s, v)) in states.iter().zip(own).enumerate() {
            *v = cascade.export(k / 2, s[lane]);
        }
    }
}

fn finite(states: &States) -> bool {
    states.as_flattened().iter().all(|v| v.is_finite())
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
