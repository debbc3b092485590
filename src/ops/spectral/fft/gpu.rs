//! Transforms on devices: one kernel, `spectral/fft.wgsl`, launched once for lengths that fit the memory of a work group,
//! once for each pass over memory for longer ones, and for both transforms of Bluestein's convolution where a length has
//! large prime factors.
//!
//! Rows are transformed alone, never two real ones as one complex: a quiet channel keeps its precision, and its infinities,
//! to itself. A real row of even length is a complex one of half the length, whose spectrum is taken apart in the last
//! pass (or put together in the first); other real rows are complex ones without imaginary parts, which cost arithmetic
//! but no memory traffic.

use super::Recipe;
use super::transform::{Kind, Transform};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{compose_plain, constant, is_software, launch, word};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Limits, Slice};

mod near;
mod plan;
mod tables;

pub(in crate::ops::spectral) use near::Near;
use plan::{Pass, Taste};
use tables::Table;

/// `LOAD` and `STORE` of the kernel.
const PLAIN: u32 = 0;
const COMPLEX: u32 = 1;
const REAL: u32 = 2;
const HALF: u32 = 3;
const SIDED: u32 = 4;
const LOWER: u32 = 2;
const SEPARATED: u32 = 3;
const SINGLE: u32 = 4;
/// `CHIRP_OUT` of the kernel.
const CHIRP: u32 = 1;
const SPECTRUM: u32 = 2;

/// Roots of the whole row's degree that are looked up directly; beyond, as products of two.
const DIRECT_ROOTS: usize = 1 << 14;
/// Bytes between two passes, so that what one has written is still near when the next reads it.
const SCRATCH_BYTES: u64 = 64 << 20;
/// The same on software devices, whose caches are smaller.
const SOFTWARE_SCRATCH_BYTES: u64 = 8 << 20;

/// Variants, the default first.
pub(in crate::ops) fn variants(t: &Transform, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let form = Form::new(t, t.points(shape.samples));
    let software = is_software(facts);
    let mut all: Vec<(usize, Variant)> = Vec::new();
    let tries: &[[u32; 4]] = if software {
        &[[32, 8, 1, 0], [16, 8, 1, 0], [16, 8, 0, 0], [8, 8, 1, 0], [16, 64, 1, 0]]
    } else {
        &[[16, 64, 0, 1], [8, 64, 0, 1], [16, 128, 1, 1], [8, 128, 1, 0], [16, 256, 0, 0]]
    };
    for &[widest, threads, powers, pad] in tries {
        let settings = [("WIDEST", widest), ("THREADS", threads), ("POWERS", powers), ("PAD", pad)];
        let mut variant = Variant::new("stockham", &settings);
        let Some(passes) = plan::passes(form.points, taste(&variant, software), &facts.limits) else { continue };
        variant.name = name(if form.chirp { "bluestein" } else { "stockham" }, &passes, &variant);
        if all.iter().all(|(_, v)| v.name != variant.name) {
            all.push((passes.len(), variant));
        }
    }
    // Padding may cost a length its only pass.
    all.sort_by_key(|(passes, _)| *passes);
    all.into_iter().map(|(_, variant)| variant).collect()
}

fn taste(variant: &Variant, software: bool) -> Taste {
    Taste {
        widest: variant.get("WIDEST") as usize,
        threads: variant.get("THREADS") as usize,
        columns: if software { 8 } else { 16 },
        padded: variant.get("PAD") == 1,
    }
}

/// `stockham 16x16x4 T=64 S=1 powers`: radices, passes parted by commas, threads of a transform, transforms of a group.
fn name(method: &str, passes: &[Pass], variant: &Variant) -> String {
    let radices = |pass: &Pass| pass.radices.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let list = |of: &dyn Fn(&Pass) -> String| passes.iter().map(of).collect::<Vec<_>>().join(",");
    let mut name = format!("{method} {} T={}", list(&radices), list(&|pass| pass.threads.to_string()));
    name += &format!(" S={}", list(&|pass| pass.slots.to_string()));
    for (setting, word) in [("POWERS", " powers"), ("PAD", " padded")] {
        name += if variant.get(setting) == 1 { word } else { "" };
    }
    name
}

/// Records the transform of all channels.
pub(super) fn record(
    t: &Transform,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if x.channels() == 0 || y.samples() == 0 {
        return Ok(Vec::new());
    }
    rows(t, gpu, variant, &only(t.kind.name(), x)?, &only(t.kind.name(), y)?)
}

/// Rows of float32 values in one binding, `pitch` (a multiple of two) from one to the next.
#[derive(Debug, Clone)]
pub(in crate::ops) struct Rows {
    pub slice: Slice,
    /// How many.
    pub count: usize,
    /// Values of a row that count.
    pub samples: usize,
    pub pitch: usize,
}

/// Records the transform of rows into as many rows, whose padding is written with zeros. `variant` is one of
/// [`variants`], or any that has their settings.
pub(in crate::ops) fn rows(
    t: &Transform,
    gpu: &dyn Gpu,
    variant: &Variant,
    from: &Rows,
    to: &Rows,
) -> Result<Vec<Command>> {
    rows_within(t, gpu, variant, from, to, &mut Vec::new())
}

/// [`rows`], with what lies between passes in `space`: transforms recorded one after the other can share it.
pub(in crate::ops) fn rows_within(
    t: &Transform,
    gpu: &dyn Gpu,
    variant: &Variant,
    from: &Rows,
    to: &Rows,
    space: &mut Vec<DeviceBuffer>,
) -> Result<Vec<Command>> {
    if variant.method != "stockham" {
        return Err(Error::internal(format!("{} is no variant of a transform", variant.name)));
    }
    let facts = gpu.facts();
    let n = t.points(from.samples);
    let form = Form::new(t, n);
    let passes = plan::passes(form.points, taste(variant, is_software(facts)), &facts.limits)
        .ok_or_else(|| too_long(n, "", facts))?;
    let row = 8 * form.points as u64;
    if row > room(&facts.limits) {
        return Err(too_long(n, &format!(": a row of {row} bytes in one binding"), facts));
    }
    Launches { t, gpu, variant, form, passes, n, from, to }.record(space)
}

/// The one segment of an array.
pub(in crate::ops) fn only(operation: &str, array: &DeviceArray) -> Result<Rows> {
    match array.segments() {
        [segment] => Ok(Rows {
            slice: Slice::from(&segment.buffer),
            count: array.channels(),
            samples: array.samples(),
            pitch: segment.pitch,
        }),
        segments => Err(Error::new(
            ErrorKind::Limit,
            format!(
                "{operation} needs whole channels in one binding, this array of {} channels x {} samples lies in {} segments; pass fewer channels at once, or host arrays to the cpu runtime",
                array.channels(),
                array.samples(),
                segments.len()
            ),
        )),
    }
}

/// Bytes of scratch that a batch of rows should not exceed.
fn scratch_bytes(facts: &Facts) -> u64 {
    let most = if is_software(facts) { SOFTWARE_SCRATCH_BYTES } else { SCRATCH_BYTES };
    most.min(room(&facts.limits))
}

/// Bytes of the largest binding.
pub(in crate::ops) fn room(limits: &Limits) -> u64 {
    limits.binding_bytes.min(limits.buffer_bytes)
}

fn too_long(n: usize, why: &str, facts: &Facts) -> Error {
    Error::new(
        ErrorKind::Limit,
        format!("a transform of {n} points needs more than {} offers{why}; use the cpu runtime", facts.name),
    )
}

/// A transform in the terms of the kernel.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Points of a row on its way.
    points: usize,
    /// By convolution with a chirp.
    chirp: bool,
    load: u32,
    store: u32,
    /// Values of a row of the result: real ones for `SINGLE`, else pairs.
    length: usize,
    /// Degree of the wide roots.
    degree: usize,
}

impl Form {
    fn new(t: &Transform, n: usize) -> Form {
        let recipe = Recipe::new(n.max(1));
        let chirp = matches!(recipe, Recipe::Bluestein { .. });
        let halved = !chirp && n.is_multiple_of(2);
        let (load, store, length) = match t.kind {
            Kind::Fft | Kind::Ifft => (COMPLEX, COMPLEX, n),
            Kind::Rfft if halved => (COMPLEX, SEPARATED, n / 2 + 1),
            Kind::Irfft if halved => (HALF, COMPLEX, n / 2),
            Kind::Rfft => (REAL, LOWER, n / 2 + 1),
            Kind::Irfft => (SIDED, SINGLE, n),
        };
        let halved = load == HALF || store == SEPARATED;
        let points = match recipe {
            Recipe::Bluestein { inner, .. } => inner,
            Recipe::Mixed(_) if halved => n / 2,
            Recipe::Mixed(_) => n,
        };
        Form { points, chirp, load, store, length, degree: if halved { n } else { points } }
    }
}

/// A launch, as far as rows do not matter.
struct Step<'a> {
    pass: &'a Pass,
    /// Product of the lengths of earlier passes over the row.
    before: usize,
    load: u32,
    store: u32,
    swap_in: bool,
    swap_out: bool,
    chirp_in: bool,
    chirp_out: u32,
}

impl Step<'_> {
    fn mirrored(&self, columns: usize) -> bool {
        self.store == SEPARATED && columns > 1
    }
}

/// All that is recorded.
struct Launches<'a> {
    t: &'a Transform,
    gpu: &'a dyn Gpu,
    variant: &'a Variant,
    form: Form,
    passes: Vec<Pass>,
    n: usize,
    from: &'a Rows,
    to: &'a Rows,
}

/// Rows that are computed together, and where they are between passes.
struct Batch {
    first: usize,
    rows: usize,
    scratch: Vec<Slice>,
}

impl<'a> Launches<'a> {
    fn record(&self, space: &mut Vec<DeviceBuffer>) -> Result<Vec<Command>> {
        let steps = self.steps();
        let rows = self.rows_at_once(steps.len());
        let bytes = rows as u64 * 8 * self.form.points as u64;
        let needed = steps.len().min(3) - 1;
        if space.len() < needed || space.iter().any(|buffer| buffer.bytes < bytes) {
            *space = (0..needed).map(|_| self.gpu.allocate(bytes)).collect::<Result<_>>()?;
        }
        let scratch: Vec<Slice> = space.iter().map(Slice::from).collect();
        let mut commands = Vec::new();
        for first in (0..self.from.count).step_by(rows) {
            let batch = Batch { first, rows: rows.min(self.from.count - first), scratch: scratch.clone() };
            for (nth, step) in steps.iter().enumerate() {
                commands.push(self.launch(step, nth, nth + 1 == steps.len(), &batch)?);
            }
        }
        Ok(commands)
    }

    fn rows_at_once(&self, steps: usize) -> usize {
        if steps == 1 {
            return self.from.count;
        }
        let fitting = scratch_bytes(self.gpu.facts()) / (8 * self.form.points as u64);
        usize::try_from(fitting).unwrap_or(usize::MAX).clamp(1, self.from.count)
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let inverse = self.t.kind.inverse();
        let form = &self.form;
        let row = |load, store| {
            let mut before = 1;
            let last = self.passes.len() - 1;
            self.passes.iter().enumerate().map(move |(nth, pass)| {
                let step = Step {
                    pass,
                    before,
                    load: if nth == 0 { load } else { PLAIN },
                    store: if nth == last { store } else { PLAIN },
                    swap_in: inverse && nth == 0 && load != PLAIN,
                    swap_out: inverse && nth == last && store != PLAIN,
                    chirp_in: form.chirp && nth == 0 && load != PLAIN,
                    chirp_out: match (form.chirp && nth == last, store) {
                        (false, _) => 0,
                        (true, PLAIN) => SPECTRUM,
                        (true, _) => CHIRP,
                    },
                };
                before *= pass.points;
                step
            })
        };
        match form.chirp {
            false => row(form.load, form.store).collect(),
            true => row(form.load, PLAIN).chain(row(PLAIN, form.store)).collect(),
        }
    }

    fn launch(&self, step: &Step<'_>, nth: usize, last: bool, batch: &Batch) -> Result<Command> {
        let Step { pass, before, .. } = *step;
        let form = &self.form;
        let columns = form.points / pass.points;
        let mirrored = step.mirrored(columns);
        let units = if mirrored { columns / 2 + 1 } else { columns };
        let turned = before > 1;
        let products = form.degree > DIRECT_ROOTS;
        let wide = turned || step.load == HALF || step.store == SEPARATED;
        let single = step.store == SINGLE;

        let between = |index: usize| batch.scratch[index % 2].clone();
        let (input, in_pitch, first_in) = match nth {
            0 => (self.from.slice.clone(), self.from.pitch / 2, batch.first),
            _ => (between(nth - 1), form.points, 0),
        };
        let (output, out_pitch, first_out) = match last {
            true => (self.to.slice.clone(), if single { self.to.pitch } else { self.to.pitch / 2 }, batch.first),
            false => (between(nth), form.points, 0),
        };
        let count = batch.rows * units;
        let factor =
            self.t.norm.factor(self.n, self.t.kind.inverse()) * if step.store == SEPARATED { 0.5 } else { 1.0 };
        let args = [
            word(count)?,
            word(units)?,
            word(columns)?,
            word(before)?,
            word(form.points)?,
            word(self.n)?,
            word(self.from.samples)?,
            word(in_pitch)?,
            word(out_pitch)?,
            word(form.length)?,
            word(form.degree / (before * pass.points))?,
            self.low_bits(),
            (factor as f32).to_bits(),
            word(first_in)?,
            word(first_out)?,
            0,
        ];
        let kernel = compose_plain("spectral/fft", &self.settings(step, columns, wide, products))?;
        let [roots, wide, chirp, spectrum] = self.tables(step, wide, products)?;
        let share = if mirrored { pass.slots / 2 } else { pass.slots };
        launch(self.gpu, &kernel, &args, &[roots, wide, chirp, spectrum, input, output], count.div_ceil(share) as u64)
    }

    /// Roots of the pass, wide roots, chirp and spectrum, those that it does not need in short.
    fn tables(&self, step: &Step<'_>, wide: bool, products: bool) -> Result<[Slice; 4]> {
        let form = &self.form;
        let roots = self.table(Table::Passes(step.pass.radices.clone()))?;
        let nothing = self.table(Table::Roots { degree: 1, count: 1 })?;
        let wide = match (wide, products) {
            (false, _) => nothing.clone(),
            (true, false) => self.table(Table::Roots { degree: form.degree, count: form.degree })?,
            (true, true) => self.table(Table::Products { degree: form.degree, low_bits: self.low_bits() })?,
        };
        let chirped = step.chirp_in || step.chirp_out == CHIRP;
        let chirp = if chirped { self.table(Table::Chirp(self.n))? } else { nothing.clone() };
        let spectrum = match step.chirp_out {
            SPECTRUM => self.table(Table::Spectrum { n: self.n, inner: form.points })?,
            _ => nothing,
        };
        Ok([roots, wide, chirp, spectrum])
    }

    /// Bits of the lower index of products of roots.
    fn low_bits(&self) -> u32 {
        self.form.degree.next_power_of_two().trailing_zeros().div_ceil(2)
    }

    fn table(&self, table: Table) -> Result<Slice> {
        constant(self.gpu, &tables::bytes(table))
    }

    fn settings(&self, step: &Step<'_>, columns: usize, wide: bool, products: bool) -> Vec<(&'static str, u32)> {
        let mut settings = radices(step.pass);
        settings.extend([
            ("T", step.pass.threads as u32),
            ("S", step.pass.slots as u32),
            ("ACROSS", if columns == 1 { 0 } else { 1 + u32::from(step.before > 1) }),
            ("LOAD", step.load),
            ("STORE", step.store),
            ("SWAP_IN", u32::from(step.swap_in)),
            ("SWAP_OUT", u32::from(step.swap_out)),
            ("CHIRP_IN", u32::from(step.chirp_in)),
            ("CHIRP_OUT", step.chirp_out),
            ("TURN", u32::from(step.before > 1)),
            ("WIDE", u32::from(wide) + u32::from(wide && products)),
            ("POWERS", self.variant.get("POWERS")),
            ("PAD", self.variant.get("PAD")),
            ("WIDTH", if step.store == SINGLE { 1 } else { 2 }),
        ]);
        settings
    }
}

/// The kernel's settings for the radices of a pass.
fn radices(pass: &Pass) -> Vec<(&'static str, u32)> {
    const PARTS: [(&str, &str); plan::RADICES] =
        [("A0", "B0"), ("A1", "B1"), ("A2", "B2"), ("A3", "B3"), ("A4", "B4"), ("A5", "B5")];
    let parts = |nth: usize| plan::parts(pass.radices.get(nth).copied().unwrap_or(1));
    let settings = PARTS.into_iter().enumerate();
    settings.flat_map(|(nth, (first, second))| [(first, parts(nth).0), (second, parts(nth).1)]).collect()
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
