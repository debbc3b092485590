//! The references of one block: all channels x a few samples, in the first-level cache.
//!
//! A reference is kept as the sum of two floats (value and rest), so that subtracting it is as good as in float64
//! whatever offset the channels share. Means add up in float64, or in integers for 16-bit sources. Medians: see
//! [`crate::simd::select`]; small neighbourhoods may use a sorting network instead. A NaN shows in the sum that either
//! operator takes anyway; only then are columns looked at for what to leave out.

use bytemuck::Zeroable;
use fearless_simd::{Simd, f32x16, f64x8, i16x16, i16x32, i32x16, mask32x16, prelude::*};

use super::plan::{NanPolicy, Operator, Plan};
use crate::error::Result;
use crate::signal::Sample;
use crate::simd::select::{self, LANES, NETWORK_ROWS, Network, WIDE};

/// What a plan comes to for a number of channels.
pub(super) struct Work {
    median: bool,
    omit: bool,
    sources: Vec<Sources>,
    part_of: Vec<u32>,
    widest: usize,
    /// By number of rows; empty: no networks.
    networks: Vec<Option<Network>>,
}

/// The rows of a block that a reference is taken from.
enum Sources {
    /// None: the channels are copied.
    None,
    /// Neighbours, used where they lie.
    Range(usize, usize),
    /// Gathered first.
    List(Vec<u32>),
}

impl Work {
    /// `networks`: use sorting networks for medians of few channels.
    pub fn new(plan: &Plan, channels: usize, networks: bool) -> Result<Work> {
        let parts = plan.resolve(channels)?;
        let median = plan.operator() == Operator::Median;
        let widest = parts.iter().map(|p| p.source.len()).max().unwrap_or(0);
        let mut work = Work {
            median,
            omit: plan.nan_policy() == NanPolicy::Omit,
            sources: Vec::with_capacity(parts.len()),
            part_of: vec![0; channels],
            widest,
            networks: Vec::new(),
        };
        if networks && median {
            work.networks = vec![None; widest.min(NETWORK_ROWS) + 1];
        }
        for (index, part) in parts.into_iter().enumerate() {
            part.members.iter().for_each(|&c| work.part_of[c as usize] = index as u32);
            if let Some(slot) = work.networks.get_mut(part.source.len())
                && !part.source.is_empty()
            {
                slot.get_or_insert_with(|| Network::new(part.source.len()));
            }
            work.sources.push(match (part.source.first(), part.source.last()) {
                (Some(&a), Some(&b)) if (b - a) as usize + 1 == part.source.len() => {
                    Sources::Range(a as usize, b as usize + 1)
                }
                (Some(_), _) => Sources::List(part.source),
                (None, _) => Sources::None,
            });
        }
        Ok(work)
    }

    /// Number of references per sample.
    pub fn parts(&self) -> usize {
        self.sources.len()
    }

    /// Which reference channel `c` takes.
    pub fn part_of(&self, c: usize) -> usize {
        self.part_of[c] as usize
    }

    /// Most channels any reference is taken from.
    pub fn widest(&self) -> usize {
        self.widest
    }
}

/// 16 references, each the sum of two floats.
#[derive(Clone, Copy, Default)]
pub(super) struct Pair {
    pub value: [f32; LANES],
    pub rest: [f32; LANES],
}

impl Pair {
    #[inline(always)]
    fn of<S: Simd>(simd: S, a: f64x8<S>, b: f64x8<S>) -> Pair {
        let value = a.narrow(b);
        let (va, vb) = value.widen();
        let rest = (a - va).narrow(b - vb);
        let rest = value.is_finite().select(rest, f32x16::splat(simd, 0.0));
        let mut pair = Pair::default();
        value.store_array(&mut pair.value);
        rest.store_array(&mut pair.rest);
        pair
    }
}

/// An element type of packed blocks.
pub(super) trait Element: Sample {
    /// Columns of a block.
    const COLUMNS: usize;
    /// One row of a block.
    type Block: bytemuck::Pod;
    /// References of one part for the columns of a block.
    type Reference: Copy + Default;

    /// The values of a row.
    fn values(row: &mut Self::Block) -> &mut [Self];
    /// A row of the first values, zeros where there are too few.
    fn row<T: Sample>(values: &[T]) -> Self::Block
    where
        Self: From<T>;
    /// The references, 16 columns at a time.
    fn pairs(reference: &Self::Reference) -> &[Pair];
    /// 16 values of a row.
    fn widen<S: Simd>(simd: S, row: &Self::Block, which: usize) -> f32x16<S>;
    /// The reference over `rows`; `scratch` has room for as many.
    fn reference<S: Simd>(simd: S, work: &Work, rows: &[Self::Block], scratch: &mut [Self::Block]) -> Self::Reference;

    /// The references of all parts; `scratch` has room for the widest twice.
    #[inline(always)]
    fn references<S: Simd>(
        simd: S,
        work: &Work,
        block: &[Self::Block],
        scratch: &mut [Self::Block],
        references: &mut [Self::Reference],
    ) {
        let (gathered, scratch) = scratch.split_at_mut(work.widest);
        for (sources, reference) in work.sources.iter().zip(references) {
            let rows = match sources {
                Sources::None => continue,
                Sources::Range(a, b) => &block[*a..*b],
                Sources::List(list) => {
                    list.iter().zip(gathered.iter_mut()).for_each(|(&c, row)| *row = block[c as usize]);
                    &gathered[..list.len()]
                }
            };
            *reference = Self::reference(simd, work, rows, scratch);
        }
    }
}

/// The first values, zeros where there are fewer than a block has columns. A whole row of the block's own type is one
/// copy of known length: element by element, the compiler was seen to store single floats.
#[inline(always)]
fn fill<T: Sample, E: Element + From<T>>(values: &[T]) -> E::Block {
    if T::DTYPE == E::DTYPE
        && let Some(whole) = values.get(..E::COLUMNS)
    {
        return bytemuck::pod_read_unaligned(bytemuck::cast_slice(whole));
    }
    let mut row = E::Block::zeroed();
    for (r, &v) in E::values(&mut row).iter_mut().zip(values) {
        *r = E::from(v);
    }
    row
}

impl Element for f32 {
    const COLUMNS: usize = LANES;
    type Block = [f32; LANES];
    type Reference = [Pair; 1];

    #[inline(always)]
    fn values(row: &mut Self::Block) -> &mut [f32] {
        row
    }

    #[inline(always)]
    fn row<T: Sample>(values: &[T]) -> Self::Block
    where
        Self: From<T>,
    {
        fill::<T, Self>(values)
    }

    #[inline(always)]
    fn pairs(reference: &Self::Reference) -> &[Pair] {
        reference
    }

    #[inline(always)]
    fn widen<S: Simd>(simd: S, row: &Self::Block, _which: usize) -> f32x16<S> {
        f32x16::load_array_ref(simd, row)
    }

    #[inline(always)]
    fn reference<S: Simd>(simd: S, work: &Work, rows: &[Self::Block], scratch: &mut [Self::Block]) -> [Pair; 1] {
        [if work.median { median(simd, work, rows, scratch) } else { mean(simd, work, rows) }]
    }
}

#[inline(always)]
fn mean<S: Simd>(simd: S, work: &Work, rows: &[[f32; LANES]]) -> Pair {
    let zero = f64x8::splat(simd, 0.0);
    let (mut low, mut high) = ([zero; 2], [zero; 2]);
    let mut pairs = rows.chunks_exact(2);
    for pair in &mut pairs {
        for i in 0..2 {
            let (a, b) = f32x16::load_array_ref(simd, &pair[i]).widen();
            (low[i], high[i]) = (low[i] + a, high[i] + b);
        }
    }
    for row in pairs.remainder() {
        let (a, b) = f32x16::load_array_ref(simd, row).widen();
        (low[0], high[0]) = (low[0] + a, high[0] + b);
    }
    let (low, high) = (low[0] + low[1], high[0] + high[1]);
    if work.omit && (low.is_nan() | high.is_nan()).any_true() {
        return mean_of_numbers(simd, rows);
    }
    let count = rows.len() as f64;
    Pair::of(simd, low / count, high / count)
}

/// The mean without NaNs.
#[inline(always)]
fn mean_of_numbers<S: Simd>(simd: S, rows: &[[f32; LANES]]) -> Pair {
    let (mut sum, mut count) = ([0.0; LANES], [0.0; LANES]);
    for row in rows {
        for (lane, v) in row.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
            sum[lane] += f64::from(*v);
            count[lane] += 1.0;
        }
    }
    let half =
        |first: usize| f64x8::from_slice(simd, &sum[first..][..8]) / f64x8::from_slice(simd, &count[first..][..8]);
    Pair::of(simd, half(0), half(8))
}

#[inline(always)]
fn median<S: Simd>(simd: S, work: &Work, rows: &[[f32; LANES]], scratch: &mut [[f32; LANES]]) -> Pair {
    let mut moments = select::moments(simd, rows);
    let scratch = &mut scratch[..rows.len()];
    let nan = moments.sum.is_nan().any_true();
    if let Some(Some(network)) = work.networks.get(rows.len())
        && !nan
    {
        scratch.copy_from_slice(rows);
        let (lower, upper) = network.middles(simd, scratch);
        return middle(simd, lower, upper);
    }
    let (mut rows, mut count) = (rows, i32x16::splat(simd, rows.len() as i32));
    if nan {
        count = i32x16::load_array(simd, leave_out(rows, scratch, work.omit));
        rows = scratch;
        moments = select::moments(simd, rows);
    }
    let (lower, upper) = select::middles(simd, rows, count, &moments);
    let none: mask32x16<S> = count.simd_le(i32x16::splat(simd, 0));
    let nothing = f32x16::splat(simd, f32::NAN);
    middle(simd, none.select(nothing, lower), none.select(nothing, upper))
}

/// The average of two floats; it does not overflow in float64.
#[inline(always)]
fn middle<S: Simd>(simd: S, lower: f32x16<S>, upper: f32x16<S>) -> Pair {
    let ((la, lb), (ua, ub)) = (lower.widen(), upper.widen());
    Pair::of(simd, (la + ua) * 0.5, (lb + ub) * 0.5)
}

/// Copies the rows with NaNs turned into infinities, which sort behind all numbers. Returns how many values of each
/// column count: all but the NaNs, or none where `omit` is off and there is a NaN.
#[inline(never)]
fn leave_out(rows: &[[f32; LANES]], clean: &mut [[f32; LANES]], omit: bool) -> [i32; LANES] {
    let mut nans = [0; LANES];
    for (row, clean) in rows.iter().zip(clean) {
        for lane in 0..LANES {
            let nan = row[lane].is_nan();
            nans[lane] += i32::from(nan);
            clean[lane] = if nan { f32::INFINITY } else { row[lane] };
        }
    }
    nans.map(|n| if n > 0 && !omit { 0 } else { rows.len() as i32 - n })
}

impl Element for i16 {
    const COLUMNS: usize = WIDE;
    type Block = [i16; WIDE];
    type Reference = [Pair; 2];

    #[inline(always)]
    fn values(row: &mut Self::Block) -> &mut [i16] {
        row
    }

    #[inline(always)]
    fn row<T: Sample>(values: &[T]) -> Self::Block
    where
        Self: From<T>,
    {
        fill::<T, Self>(values)
    }

    #[inline(always)]
    fn pairs(reference: &Self::Reference) -> &[Pair] {
        reference
    }

    #[inline(always)]
    fn widen<S: Simd>(simd: S, row: &Self::Block, which: usize) -> f32x16<S> {
        let (a, b) = i16x16::from_slice(simd, &row[which * LANES..][..LANES]).widen();
        a.combine(b).to_float()
    }

    #[inline(always)]
    fn reference<S: Simd>(simd: S, work: &Work, rows: &[Self::Block], _scratch: &mut [Self::Block]) -> [Pair; 2] {
        let (sums, divisor) = if work.median {
            let (lower, upper) = select::middles_i16(simd, rows);
            let ((la, lb), (ua, ub)) = (lower.widen(), upper.widen());
            ([la + ua, lb + ub], 2.0)
        } else {
            let mut sums = [i32x16::splat(simd, 0); 2];
            for row in rows {
                let (a, b) = i16x32::load_array_ref(simd, row).widen();
                sums = [sums[0] + a, sums[1] + b];
            }
            (sums, rows.len() as f64)
        };
        sums.map(|sum| {
            let (a, b) = sum.widen();
            let (a, b): (f64x8<S>, f64x8<S>) = (a.to_float(), b.to_float());
            Pair::of(simd, a / divisor, b / divisor)
        })
    }
}
