//! Changes of the rate on a device: small factors in register tiles (`resample/polyphase.wgsl`), any factors phase by phase
//! (`resample/phases.wgsl`).
//!
//! Segments of the results and of the samples have nothing to do with each other: a launch takes the results of one segment
//! whose newest samples lie in one other, and finds what it needs from around that one in its halo.

use super::Polyphase;
use super::bank::Bank;
use super::beyond::{self, Levels};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, all, compose, compose_plain, constant, is_software, launch, space, word};
use crate::ops::problem::{Problem, Variant};
use crate::runtime::gpu::{Command, Facts, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};

/// Names of the kernels.
pub(super) const KERNELS: &[&str] = &[
    "filter/halo",
    "resample/polyphase",
    "resample/phases",
    "resample/levels",
    "resample/beyond",
    "resample/lift",
    "resample/median",
];

/// Results of a launch begin at a multiple of this.
const ALIGNED: usize = 16;
/// The largest factors of register tiles, as the kernel is composed.
const LARGEST: (usize, usize) = (4, 16);
/// Registers of a window, and results of a thread.
const REGISTERS: usize = 96;
const RESULTS: usize = 32;
/// Vectors of weights that a kernel may hold.
const CAPACITIES: [usize; 4] = [32, 128, 512, 1024];
/// Taps of a phase from which a tile's sums keep their rounding errors.
const COMPENSATED: usize = 33;

/// Variants, the default first.
pub(super) fn variants(problem: &Polyphase, facts: &Facts) -> Vec<Variant> {
    if refusal(problem, facts).is_some() {
        return Vec::new();
    }
    let groups: &[u32] = if is_software(facts) { &[8, 64] } else { &[64, 128] };
    let (turns, default) = if is_software(facts) { ([8, 16], 16) } else { ([4, 8], 8) };
    let fits = |v: &[(&'static str, u32)]| v[0].1 <= facts.limits.group_size;
    let legal = |v: &[(&'static str, u32)]| fits(v) && Tile::legal(&problem.bank, v[1].1 as usize, v[2].1 as usize);
    let values = [("WG", groups), ("R", &turns[..]), ("K", &[8, 16][..])];
    let mut tiles = space("tile", &[("WG", 64), ("R", default), ("K", 8)], &values, legal);
    if tiles.is_empty() {
        tiles = space("tile", &[("WG", 64), ("R", 4), ("K", 8)], &[("WG", groups), ("R", &[4]), ("K", &[8])], legal);
    }
    let few: &[u32] = if tiles.is_empty() { &[1, 4] } else { &[4] };
    let phases = space("phases", &[("WG", 64), ("R", 4)], &[("WG", groups), ("R", few)], fits);
    [tiles, phases].concat()
}

/// Why a device has no kernel for a problem.
pub(super) fn refusal(problem: &Polyphase, facts: &Facts) -> Option<Error> {
    let longest = problem.bank.longest();
    // Taps, and what settles their sums.
    if is_software(facts) && longest as u64 * 17 / 16 + 2 > SOFTWARE_ROUNDS {
        return Some(Error::new(
            ErrorKind::Unsupported,
            format!("{longest} taps a phase are too many for {}; use the cpu runtime or a shorter filter", facts.name),
        ));
    }
    None
}

/// The results of one segment whose newest samples lie in one other.
struct Stretch<'a> {
    from: &'a Segment,
    to: &'a Segment,
    /// The first of them.
    first: usize,
    results: usize,
    /// With what is behind them in the row, if they are its last ones.
    places: usize,
    /// Where the first one stands, as counted from the segment of samples.
    offset: u64,
    /// What is needed from around it.
    around: (usize, usize),
}

impl<'a> Stretch<'a> {
    fn all(problem: &Polyphase, x: &'a DeviceArray, y: &'a DeviceArray) -> Vec<Self> {
        let bank = &problem.bank;
        let starts = |i: usize| match x.segments().get(i) {
            Some(segment) if i > 0 => bank.first_at(segment.start, problem.offset).next_multiple_of(ALIGNED),
            Some(_) => 0,
            None => y.samples(),
        };
        let mut stretches = Vec::new();
        for to in y.segments() {
            for (i, from) in x.segments().iter().enumerate() {
                let first = starts(i).max(to.start);
                let end = starts(i + 1).min(to.start + to.samples);
                if first >= end {
                    continue;
                }
                let last_of_row = end == to.start + to.samples;
                let oldest = problem.stand(first).newest + 1 - bank.longest() as i64;
                let newest = problem.stand(end - 1).newest;
                let behind = (from.start + from.samples) as i64;
                let start = from.start as u128 * bank.up as u128;
                stretches.push(Stretch {
                    from,
                    to,
                    first,
                    results: end - first,
                    places: if last_of_row { to.pitch - (first - to.start) } else { end - first },
                    offset: (first as u128 * bank.down as u128 + u128::from(problem.offset) - start) as u64,
                    // At least one sample, so that a kernel has something to read.
                    around: ((from.start as i64 - oldest).max(1) as usize, (newest + 1 - behind).max(0) as usize),
                });
            }
        }
        stretches
    }
}

/// Records all results.
pub(super) fn record(
    problem: &Polyphase,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let levels = Levels::new(problem, gpu, x)?;
    let mut commands = levels.commands.clone();
    let taps = match variant.method {
        "phases" => Some(phase_taps(&problem.bank, gpu)?),
        _ => None,
    };
    for stretch in Stretch::all(problem, x, y) {
        let (gather, halo) = beyond::record(problem, gpu, x, stretch.from, stretch.around, &levels)?;
        commands.extend(gather);
        commands.push(match &taps {
            Some(taps) => phases(&problem.bank, gpu, variant, x.channels(), &stretch, taps, halo)?,
            None => {
                Tile::new(&problem.bank, variant, stretch.offset).record(gpu, variant, x.channels(), &stretch, halo)?
            }
        });
    }
    if problem.padtype.is_level() {
        for to in y.segments().iter().filter(|s| s.samples > 0) {
            commands.push(levels.lift(problem, gpu, y, to)?);
        }
    }
    Ok(commands)
}

/// Register tiles for a stretch: weights in the order of samples.
struct Tile<'a> {
    bank: &'a Bank,
    turns: usize,
    step: usize,
    /// The oldest sample of the first window.
    oldest: i64,
    offset: u64,
    steps: usize,
}

impl<'a> Tile<'a> {
    /// Whether the kernel is made for these factors and fits in registers and in a uniform binding.
    fn legal(bank: &Bank, turns: usize, step: usize) -> bool {
        let Bank { up, down, .. } = *bank;
        let span = (turns - 1) * down + step;
        // A window begins up to three samples early, and the phases' windows are up to `down` apart.
        let weights = (bank.longest() + 4 + down).next_multiple_of(step) * up;
        (up <= LARGEST.0 && down <= LARGEST.1)
            && (up * turns <= RESULTS && span <= REGISTERS)
            && weights / 4 <= CAPACITIES[CAPACITIES.len() - 1]
    }

    fn new(bank: &'a Bank, variant: &Variant, offset: u64) -> Self {
        let (turns, step) = (variant.get("R") as usize, variant.get("K") as usize);
        let span = ((turns - 1) * bank.down) as i64;
        let stands = (0..bank.up).map(|slot| bank.stand(slot, offset));
        let needed = stands.map(|s| s.newest + 1 - bank.phases[s.phase].taps.len().max(1) as i64).min().unwrap_or(0);
        // What a step adds to a window begins at a vector.
        let oldest = (needed + span).div_euclid(4) * 4 - span;
        let width = (bank.stand(bank.up - 1, offset).newest - oldest + 1) as usize;
        Tile { bank, turns, step, oldest, offset, steps: width.div_ceil(step) }
    }

    /// Step by step, the weights of each phase; padding is -0.0, which no tap is.
    fn weights(&self, capacity: usize) -> Vec<u8> {
        let up = self.bank.up;
        let mut weights = vec![-0.0f32; capacity * 4];
        for slot in 0..up {
            let stand = self.bank.stand(slot, self.offset);
            for (j, tap) in self.bank.phases[stand.phase].taps.iter().enumerate() {
                let k = (stand.newest - j as i64 - self.oldest) as usize;
                weights[(k / self.step * up + slot) * self.step + k % self.step] = *tap as f32 + 0.0;
            }
        }
        weights.into_iter().flat_map(f32::to_le_bytes).collect()
    }

    fn record(
        &self,
        gpu: &dyn Gpu,
        variant: &Variant,
        channels: usize,
        stretch: &Stretch<'_>,
        halo: Slice,
    ) -> Result<Command> {
        let (up, down) = (self.bank.up, self.bank.down);
        let vectors = self.steps * up * self.step / 4;
        let capacity = CAPACITIES.into_iter().find(|c| *c >= vectors).ok_or_else(|| {
            Error::internal(format!("{vectors} vectors of weights do not fit the kernel, but were taken for legal"))
        })?;
        let special = [
            ("UP", up as u32),
            ("DOWN", down as u32),
            ("CAPACITY", capacity as u32),
            ("COMPENSATE", u32::from(self.bank.longest() >= COMPENSATED)),
        ];
        let kernel = compose("resample/polyphase", variant, &special)?;
        let span = (self.turns - 1) * down;
        let lead = span.div_ceil(self.step) * self.step;
        let start = self.oldest + span as i64 - lead as i64;
        let start = i32::try_from(start).map_err(|_| Error::internal("a window begins too far before its segment"))?;
        let tiles = stretch.places.div_ceil(self.turns * up);
        let (left, right) = stretch.around;
        let args = [
            word(channels)?,
            word(stretch.from.pitch / 4)?,
            word(stretch.from.samples)?,
            word(tiles)?,
            word(self.steps)?,
            start.cast_unsigned(),
            word(left + right)?,
            word(left)?,
            word(stretch.to.pitch / 4)?,
            word((stretch.first - stretch.to.start) / 4)?,
            word(stretch.results)?,
            word(stretch.places.div_ceil(4))?,
            1f32.to_bits(),
            0,
            0,
            0,
        ];
        let groups = (channels * tiles).div_ceil(kernel.group_size.max(1) as usize);
        let weights = constant(gpu, &self.weights(capacity))?;
        launch(gpu, &kernel, &args, &[weights, all(stretch.from), halo, all(stretch.to)], groups as u64)
    }
}

/// The taps, phase by phase.
fn phase_taps(bank: &Bank, gpu: &dyn Gpu) -> Result<Slice> {
    let taps = bank.phases.iter().flat_map(|p| p.taps.iter());
    constant(gpu, &taps.flat_map(|t| (*t as f32).to_le_bytes()).collect::<Vec<u8>>())
}

/// Records a stretch phase by phase.
fn phases(
    bank: &Bank,
    gpu: &dyn Gpu,
    variant: &Variant,
    channels: usize,
    stretch: &Stretch<'_>,
    taps: &Slice,
    halo: Slice,
) -> Result<Command> {
    let kernel = compose("resample/phases", variant, &[])?;
    let turns = variant.get("R").max(1) as usize;
    let starts: Vec<usize> =
        bank.phases.iter().scan(0, |next, phase| Some(std::mem::replace(next, *next + phase.taps.len()))).collect();
    let mut stands = Vec::with_capacity(bank.up * 16);
    for slot in 0..bank.up {
        let stand = bank.stand(slot, stretch.offset);
        let (start, count) = (starts[stand.phase], bank.phases[stand.phase].taps.len());
        for value in [word(stand.newest as usize)?, word(start)?, word(count)?, 0] {
            stands.extend(value.to_le_bytes());
        }
    }
    let tiles = stretch.places.div_ceil(turns * bank.up);
    // Kernels count samples in 31 bits, also those that unused threads of the last tile would ask for.
    let beyond = (tiles * turns) as u128 * bank.down as u128 + bank.stand(bank.up - 1, stretch.offset).newest as u128;
    if beyond > i32::MAX as u128 {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("every {}-th sample is beyond what kernels can address; use the cpu runtime", bank.down),
        ));
    }
    let (left, right) = stretch.around;
    let args = [
        word(channels)?,
        word(stretch.from.pitch)?,
        word(stretch.from.samples)?,
        word(tiles)?,
        word(bank.up)?,
        word(bank.down)?,
        word(left + right)?,
        word(left)?,
        word(stretch.to.pitch)?,
        word(stretch.first - stretch.to.start)?,
        word(stretch.results)?,
        word(stretch.places)?,
        1f32.to_bits(),
        0,
        0,
        0,
    ];
    let groups = (channels * tiles * bank.up).div_ceil(kernel.group_size.max(1) as usize);
    let buffers = [taps.clone(), constant(gpu, &stands)?, all(stretch.from), halo, all(stretch.to)];
    launch(gpu, &kernel, &args, &buffers, groups as u64)
}

/// Records every `step`-th result of a problem whose results are as many as its samples.
pub(super) fn record_every(
    inner: &dyn Problem,
    step: usize,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    let room = |s: &Segment| -> Result<Segment> {
        Ok(Segment { buffer: gpu.allocate((x.channels() * s.pitch * 4).max(16) as u64)?, ..s.clone() })
    };
    let segments = x.segments().iter().map(room).collect::<Result<Vec<_>>>()?;
    let filtered = DeviceArray {
        gpu: x.gpu().clone(),
        channels: x.channels(),
        samples: x.samples(),
        dtype: x.dtype(),
        layout: x.layout(),
        segments,
    };
    let mut commands = inner.record(gpu, variant, x, &filtered)?;
    let kernel = compose_plain("resample/pick", &[])?;
    for to in y.segments() {
        for from in filtered.segments() {
            let end_of_row = to.start + to.samples;
            let first = from.start.div_ceil(step).max(to.start);
            let end = (from.start + from.samples).div_ceil(step).min(end_of_row);
            if first >= end {
                continue;
            }
            let places = if end == end_of_row { to.pitch - (first - to.start) } else { end - first };
            let args = [
                word(x.channels())?,
                word(from.pitch)?,
                word(first * step - from.start)?,
                word(step)?,
                word(to.pitch)?,
                word(first - to.start)?,
                word(end - first)?,
                word(places)?,
            ];
            let groups = (x.channels() * places).div_ceil(kernel.group_size.max(1) as usize);
            commands.push(launch(gpu, &kernel, &args, &[all(from), all(to)], groups as u64)?);
        }
    }
    Ok(commands)
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
