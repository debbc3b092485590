//! Transforms on the CPU: rows in parallel, each by RustFFT or RealFFT, or sixteen at a time by [`lanes`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

use fearless_simd::Simd;

use super::lanes::long::{Long, Row, Space};
use super::lanes::{Ahead, Plan as LanesPlan};
use super::transform::{Kind, Transform};
use crate::error::{Error, Result};
use crate::ops::problem::{Shape, Variant};
use crate::signal::{Complex32, Source, View, ViewMut};
use crate::simd::lanes::{BLOCK, Frame, LANES, Lanes, groups, unpack};
use crate::simd::{self, Kernel, stream};

/// Variants, the default first.
pub(super) fn variants(t: &Transform, shape: Shape) -> Vec<Variant> {
    let variant = |name| Variant::new(name, &[]);
    let points = lanes_points(t, t.points(shape.samples)).unwrap_or(0);
    let mut all = vec![variant("rows")];
    if LanesPlan::exists(points) {
        let at = if shape.channels < LANES { 1 } else { 0 };
        all.insert(at, variant("lanes"));
    }
    if Long::exists(points) {
        let at = if points <= 4096 && shape.channels >= LANES { 1 } else { 0 };
        all.insert(at, variant("table"));
    }
    all
}

/// Complex points of a row of `n` in lanes; `None` for odd lengths of real rows.
fn lanes_points(t: &Transform, n: usize) -> Option<usize> {
    match t.kind {
        Kind::Fft | Kind::Ifft => Some(n),
        Kind::Rfft | Kind::Irfft => n.is_multiple_of(2).then_some(n / 2),
    }
}

/// A plan of any kind.
#[derive(Clone)]
enum Plan {
    Complex(Arc<dyn Fft<f32>>),
    Forward(Arc<dyn RealToComplex<f32>>),
    Inverse(Arc<dyn ComplexToReal<f32>>),
}

/// Plans that are kept; making one of a long transform costs as much as many runs of it.
const MAX_PLANS: usize = 64;

static PLANS: LazyLock<Mutex<HashMap<(Kind, usize), Plan>>> = LazyLock::new(Mutex::default);

/// The kept plan of a real transform of `n` points.
pub(in crate::ops) fn real_forward_plan(n: usize) -> Arc<dyn RealToComplex<f32>> {
    match plan(Kind::Rfft, n) {
        Plan::Forward(plan) => plan,
        _ => RealFftPlanner::new().plan_fft_forward(n),
    }
}

/// The kept plan of the inverse of a real transform of `n` points.
pub(in crate::ops) fn real_inverse_plan(n: usize) -> Arc<dyn ComplexToReal<f32>> {
    match plan(Kind::Irfft, n) {
        Plan::Inverse(plan) => plan,
        _ => RealFftPlanner::new().plan_fft_inverse(n),
    }
}

fn plan(kind: Kind, n: usize) -> Plan {
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = plans.get(&(kind, n)) {
        return plan.clone();
    }
    let plan = match kind {
        Kind::Fft => Plan::Complex(FftPlanner::new().plan_fft_forward(n)),
        Kind::Ifft => Plan::Complex(FftPlanner::new().plan_fft_inverse(n)),
        Kind::Rfft => Plan::Forward(RealFftPlanner::new().plan_fft_forward(n)),
        Kind::Irfft => Plan::Inverse(RealFftPlanner::new().plan_fft_inverse(n)),
    };
    if plans.len() >= MAX_PLANS {
        plans.clear();
    }
    plans.insert((kind, n), plan.clone());
    plan
}

thread_local! {
    /// Work space of a thread: the row, then the plan's scratch.
    static SPACE: RefCell<(Vec<Complex32>, Vec<Complex32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// Computes all channels.
pub(super) fn run(t: &Transform, variant: &Variant, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    match variant.method {
        "lanes" => lanes(t, x, y),
        "table" => table(t, x, y),
        _ => rows(t, x, y),
    }
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

fn lanes(t: &Transform, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let n = t.points(x.samples());
    let plan = lanes_points(t, n).and_then(LanesPlan::get);
    let plan = plan.ok_or_else(|| Error::internal(format!("a transform of {n} points has no plan in lanes")))?;
    let input = t.kind.floats(n);
    let (samples, factor) = (y.samples(), t.norm.factor(n, t.kind.inverse()) as f32);
    let streamed = stream::pays(4 * samples * x.channels());
    let (length, level) = (input.min(x.samples()), simd::level());
    let complete = length == input;
    let space = (input + BLOCK).max(samples).next_multiple_of(BLOCK);
    groups(y, samples).into_par_iter().enumerate().for_each(|(group, mut rows)| {
        let channels = LANES * group..LANES * group + rows.len();
        FRAMES.with_borrow_mut(|frames| {
            if frames.len() < 2 * space {
                frames.resize(2 * space, [0.0; LANES]);
            }
            let (from, to) = frames[..2 * space].split_at_mut(space);
            let from = &mut from[..input.next_multiple_of(BLOCK)];
            let rows = &mut rows;
            level.run(Batch {
                plan: &plan,
                kind: t.kind,
                factor,
                x,
                channels,
                length,
                complete,
                from,
                to,
                rows,
                streamed,
            });
        });
    });
    Ok(())
}

/// The transforms of one group of rows.
struct Batch<'a, 'b> {
    plan: &'a LanesPlan,
    kind: Kind,
    factor: f32,
    x: Source<'a>,
    channels: std::ops::Range<usize>,
    /// Samples of a row that count.
    length: usize,
    /// Whether these are all that the transform takes.
    complete: bool,
    from: &'a mut [Frame],
    /// For the result; before, for the rows as they come.
    to: &'a mut [Frame],
    rows: &'a mut [&'b mut [f32]],
    streamed: bool,
}

impl Kernel for Batch<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Batch { plan, kind, factor, x, channels, length, complete, from, to, rows, streamed } = self;
        let mut ahead = match x {
            // Rows that lie close to each other.
            Source::F32(v) if v.sample_stride() == 1 && v.channel_stride() < length + 64 => {
                let first = channels.end * v.channel_stride();
                Ahead::new(v.data(), first..first + LANES * v.channel_stride(), plan.butterflies())
            }
            _ => Ahead::default(),
        };
        let lines =
            if kind != Kind::Irfft && complete && plan.reads_lines() { whole(x, channels.clone()) } else { None };
        if let Some(lines) = lines {
            plan.transform_rows(simd, lines, bytemuck::cast_slice_mut(from), &mut ahead);
        } else {
            pack(simd, x, channels, length, to, from);
            let z = bytemuck::cast_slice_mut(from);
            if kind == Kind::Irfft {
                plan.join(simd, z);
            }
            plan.transform(simd, z, &mut ahead);
        }
        let (z, out) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        if kind == Kind::Rfft && plan.separates_in_lines() {
            plan.separate_into(simd, z, factor, rows, streamed);
            if streamed {
                stream::fence();
            }
            return;
        }
        match kind {
            Kind::Rfft => plan.separate(simd, z, factor, out),
            _ => plan.gather(simd, z, kind.inverse(), factor, out),
        }
        let samples = rows.iter().map(|row| row.len()).max().unwrap_or(0);
        unpack(simd, 0, &to[..samples.next_multiple_of(BLOCK)], rows, streamed);
        if streamed {
            stream::fence();
        }
    }
}

/// Sixteen rows whose samples lie side by side.
fn whole(x: Source<'_>, channels: std::ops::Range<usize>) -> Option<[&[f32]; LANES]> {
    let Source::F32(view) = x else { return None };
    let mut rows = [&[][..]; LANES];
    for (row, channel) in rows.iter_mut().zip(channels.clone()) {
        *row = view.row(channel)?;
    }
    (channels.len() == LANES).then_some(rows)
}

/// Packs rows into lanes. Sixteen rows at a time are too many, and each too short, for the prefetchers of processors: rows
/// are first read one after the other, into `near`.
#[inline(always)]
fn pack<S: Simd>(
    simd: S,
    x: Source<'_>,
    channels: std::ops::Range<usize>,
    length: usize,
    near: &mut [Frame],
    frames: &mut [Frame],
) {
    let near = bytemuck::cast_slice_mut::<Frame, f32>(near);
    let rows = match x {
        // A pitch that is no power of two, so that rows do not fall on each other in the cache.
        Source::F32(view) if view.row(0).is_some() => Some((view, length.next_multiple_of(LANES) + LANES)),
        _ => None,
    };
    let lanes = rows.and_then(|(view, pitch)| {
        for (channel, near) in channels.clone().zip(near.chunks_exact_mut(pitch)) {
            near[..length].copy_from_slice(&view.row(channel)?[..length]);
        }
        let view = View::with_strides(near, channels.len(), length, pitch, 1).ok()?;
        Some(Lanes::channels(view.into(), 0, channels.len()))
    });
    let lanes = lanes.unwrap_or_else(|| Lanes::pieces(x, 0, channels.map(|c| (c, 0, length))));
    lanes.pack(simd, 0, 0, frames);
}

/// Longest row, in floats, whose columns are read from where it lies: longer ones do not stay in the second cache, and
/// are copied near in one go.
const DIRECT: usize = 60_001;

thread_local! {
    static TABLE: RefCell<(Vec<f32>, Space)> = const { RefCell::new((Vec::new(), Space::new())) };
}

/// Each row as a table.
fn table(t: &Transform, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let n = t.points(x.samples());
    let long = lanes_points(t, n).and_then(Long::get);
    let long = long.ok_or_else(|| Error::internal(format!("a transform of {n} points has no plan as a table")))?;
    let input = t.kind.floats(n);
    let (samples, pitch) = (y.samples(), y.pitch());
    let (factor, level) = (t.norm.factor(n, t.kind.inverse()) as f32, simd::level());
    let real = matches!(t.kind, Kind::Rfft | Kind::Irfft);
    let past = stream::pays(4 * samples * x.channels());
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().for_each(|(channel, row)| {
        TABLE.with_borrow_mut(|(near, space)| {
            let length = input.max(samples);
            if near.len() < length {
                near.resize(length, 0.0);
            }
            let near = &mut near[..length];
            let swapped = t.kind.inverse();
            let from = match x {
                Source::F32(v) if !swapped && input <= DIRECT => v.row(channel).and_then(|row| row.get(..input)),
                _ => None,
            };
            if from.is_none() {
                load(x, channel, &mut near[..input]);
            }
            let ahead = match x {
                Source::F32(v) if v.sample_stride() == 1 && channel + 1 < x.channels() => {
                    let next = (channel + 1) * v.channel_stride();
                    Ahead::new(v.data(), next..next + input.min(x.samples()), long.butterflies())
                }
                _ => Ahead::default(),
            };
            let row = &mut row[..samples];
            if past {
                level.run(Row {
                    long: &long,
                    from,
                    row: near,
                    swapped,
                    real,
                    factor,
                    space,
                    ahead,
                    streamed: Some(row),
                });
            } else {
                let task =
                    Row { long: &long, from, row: &mut *near, swapped, real, factor, space, ahead, streamed: None };
                level.run(task);
                row.copy_from_slice(&near[..samples]);
            }
        });
    });
    Ok(())
}

/// Each row by itself.
fn rows(t: &Transform, x: Source<'_>, y: ViewMut<'_>) -> Result<()> {
    let (n, samples, pitch) = (t.points(x.samples()), y.samples(), y.pitch());
    let plan = plan(t.kind, n);
    let factor = t.norm.factor(n, t.kind.inverse()) as f32;
    y.into_data().par_chunks_mut(pitch.max(1)).take(x.channels()).enumerate().try_for_each(|(channel, row)| {
        SPACE.with_borrow_mut(|(values, scratch)| {
            one(&plan, &x, channel, n, &mut row[..samples], values, scratch)?;
            if factor != 1.0 {
                row[..samples].iter_mut().for_each(|v| *v *= factor);
            }
            Ok(())
        })
    })
}

fn one(
    plan: &Plan,
    x: &Source<'_>,
    channel: usize,
    n: usize,
    row: &mut [f32],
    values: &mut Vec<Complex32>,
    scratch: &mut Vec<Complex32>,
) -> Result<()> {
    let failed = |e: realfft::FftError| Error::internal("a row of a transform does not have its length").with_source(e);
    match plan {
        Plan::Complex(plan) => {
            load(*x, channel, row);
            grow(scratch, plan.get_inplace_scratch_len());
            plan.process_with_scratch(bytemuck::cast_slice_mut(row), scratch);
            Ok(())
        }
        Plan::Forward(plan) => {
            grow(values, n.div_ceil(2));
            let input = &mut bytemuck::cast_slice_mut::<Complex32, f32>(values)[..n];
            load(*x, channel, input);
            grow(scratch, plan.get_scratch_len());
            plan.process_with_scratch(input, bytemuck::cast_slice_mut(row), scratch).map_err(failed)
        }
        Plan::Inverse(plan) => {
            let bins = n / 2 + 1;
            grow(values, bins);
            let input = &mut values[..bins];
            load(*x, channel, bytemuck::cast_slice_mut(input));
            input[0].im = 0.0;
            if n.is_multiple_of(2) {
                input[bins - 1].im = 0.0;
            }
            grow(scratch, plan.get_scratch_len());
            plan.process_with_scratch(input, row, scratch).map_err(failed)
        }
    }
}

fn grow(space: &mut Vec<Complex32>, len: usize) {
    if space.len() < len {
        space.resize(len, Complex32::default());
    }
}

/// A channel, cut or padded with zeros to the length of `to`.
fn load(x: Source<'_>, channel: usize, to: &mut [f32]) {
    let len = to.len().min(x.samples());
    match x {
        Source::F32(v) if v.row(channel).is_some() => to[..len].copy_from_slice(&v.row(channel).unwrap_or(&[])[..len]),
        _ => to[..len].iter_mut().enumerate().for_each(|(k, to)| *to = x.get(channel, k)),
    }
    to[len..].fill(0.0);
}

#[cfg(test)]
#[path = "cpu_tests.rs"]
mod tests;
