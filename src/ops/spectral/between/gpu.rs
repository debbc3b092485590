//! On devices: rows are transformed into work space, changed there, and transformed back, some rows at a time, so that the
//! work space stays bounded and what one step has written is still near when the next reads it.

use super::super::fft::gpu::{self, Rows};
use super::super::fft::{Kind, Norm, Transform};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{compose_plain, is_software, launch, word};
use crate::ops::problem::{Shape, Variant};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, Facts, Gpu, Limits, Slice};
use crate::signal::pitch;

/// Bytes of a row's work space times the rows at once.
const SCRATCH_BYTES: u64 = 64 << 20;
/// The same on software devices, whose caches are smaller.
const SOFTWARE_SCRATCH_BYTES: u64 = 8 << 20;
/// Values of a row that a work group of `spectral/spectrum` and `spectral/analytic` takes.
const GROUP: usize = 256;

/// A real transform of rows.
pub(in super::super) fn transform(kind: Kind, n: usize, norm: Norm) -> Transform {
    Transform { kind, n: Some(n), norm }
}

/// Variants for rows of `samples` that are transformed with `forward` points and back with `inverse`, the default first:
/// those of the transforms.
pub(in super::super) fn variants(facts: &Facts, samples: usize, forward: usize, inverse: usize) -> Vec<Variant> {
    if samples == 0 || forward == 0 || inverse == 0 {
        return Vec::new();
    }
    let of =
        |kind, n, samples| gpu::variants(&transform(kind, n, Norm::Backward), facts, Shape { channels: 1, samples });
    let mut all = of(Kind::Rfft, forward, samples);
    if forward != inverse {
        let back = of(Kind::Irfft, inverse, 2 * (inverse / 2 + 1));
        all.retain_mut(|variant| match back.iter().find(|other| other.settings == variant.settings) {
            Some(other) => {
                variant.name = format!("{} to {}", variant.name, other.name);
                true
            }
            None => false,
        });
    }
    all
}

/// The rows of an input and those of a result, and how many of them are computed at once.
pub(in super::super) struct Parts<'a> {
    gpu: &'a dyn Gpu,
    from: Rows,
    to: Rows,
    at_once: usize,
}

/// Some of the rows.
pub(in super::super) struct Part {
    /// Index of the first.
    pub first: usize,
    pub from: Rows,
    pub to: Rows,
}

impl<'a> Parts<'a> {
    /// `longest`: values of the longest row of work space. Both arrays have values.
    pub fn new(operation: &str, gpu: &'a dyn Gpu, x: &DeviceArray, y: &DeviceArray, longest: usize) -> Result<Self> {
        let (from, to) = (gpu::only(operation, x)?, gpu::only(operation, y)?);
        let facts = gpu.facts();
        let row = 4 * pitch(longest) as u64;
        let room = facts.limits.binding_bytes.min(facts.limits.buffer_bytes);
        let unit = aligned_rows(&facts.limits, from.pitch).max(aligned_rows(&facts.limits, to.pitch));
        let most = if is_software(facts) { SOFTWARE_SCRATCH_BYTES } else { SCRATCH_BYTES };
        let fitting = |bytes: u64| usize::try_from(bytes / row).unwrap_or(usize::MAX);
        // Parts begin where bindings may.
        let wanted = (fitting(most.min(room)) / unit).max(1) * unit;
        let at_once = wanted.min(from.count);
        if at_once > fitting(room) {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "{operation} needs {} bytes of work space in one binding, {} offers {room}; use the cpu runtime or shorter channels",
                    at_once as u64 * row,
                    facts.name
                ),
            ));
        }
        Ok(Parts { gpu, from, to, at_once })
    }

    /// Work space for rows of so many values.
    pub fn scratch(&self, samples: usize) -> Result<Rows> {
        let pitch = pitch(samples);
        let buffer = self.gpu.allocate(4 * (self.at_once * pitch) as u64)?;
        Ok(Rows { slice: Slice::from(&buffer), count: self.at_once, samples, pitch })
    }

    /// The parts in order.
    pub fn each(&self) -> impl Iterator<Item = Part> + '_ {
        (0..self.from.count).step_by(self.at_once).map(|first| {
            let count = self.at_once.min(self.from.count - first);
            let part = |rows: &Rows| {
                let bytes = |count: usize| 4 * (count * rows.pitch) as u64;
                let slice = Slice { buffer: rows.slice.buffer.clone(), offset: bytes(first), bytes: bytes(count) };
                Rows { slice, count, ..*rows }
            };
            Part { first, from: part(&self.from), to: part(&self.to) }
        })
    }
}

/// Rows after which one begins where a binding may.
fn aligned_rows(limits: &Limits, pitch: usize) -> usize {
    let alignment = (limits.storage_alignment as usize).max(1);
    let (mut a, mut b) = (alignment, 4 * pitch);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    alignment / a.max(1)
}

/// What is done to spectra.
pub(in super::super) enum Change {
    /// A quarter turn back; the spectrum is that of so many points.
    Quarter(usize),
    /// Weights of the bins from `first` on.
    Weights {
        /// The first bin that is weighted.
        first: usize,
        /// Pairs of equal floats.
        weights: Slice,
        /// How many.
        bins: usize,
    },
    /// Roots of unity.
    Roots {
        /// For each row of the whole array, or once: `1 << low_bits` roots for the lower bits of a bin, then those for
        /// the upper ones.
        tables: Slice,
        /// Pairs between the tables of two rows; 0: one for all.
        table: usize,
        low_bits: u32,
    },
}

/// Records a change of spectra, those of rows from `first` on of the whole array.
pub(in super::super) fn change(
    gpu: &dyn Gpu,
    change: &Change,
    spectra: &Rows,
    rows: usize,
    first: usize,
) -> Result<Command> {
    let all = spectra.samples / 2;
    let (kind, from, bins, alone, table, low_bits) = match change {
        Change::Quarter(n) => (0, 0, all, if n.is_multiple_of(2) { n / 2 } else { all }, 0, 0),
        Change::Weights { first, bins, .. } => (1, *first, *bins, all, 0, 0),
        Change::Roots { table, low_bits, .. } => (2, 0, all, all, *table, *low_bits),
    };
    let factors = match change {
        Change::Quarter(_) => crate::ops::launch::constant(gpu, &[0; 8])?,
        Change::Weights { weights: factors, .. } | Change::Roots { tables: factors, .. } => factors.clone(),
    };
    let groups = bins.div_ceil(GROUP);
    let args = [
        word(rows)?,
        word(groups)?,
        word(from)?,
        word(bins)?,
        word(spectra.pitch / 2)?,
        word(alone)?,
        word(first)?,
        word(table)?,
        low_bits,
        0f32.to_bits(),
        0,
        0,
    ];
    let kernel = compose_plain("spectral/spectrum", &[("KIND", kind)])?;
    launch(gpu, &kernel, &args, &[factors, spectra.slice.clone()], (rows * groups) as u64)
}

/// What rows are put together to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Put {
    /// Both in pairs.
    Pairs = 0,
    /// The magnitude of the pairs.
    Magnitude = 1,
    /// The first values of the second.
    Cut = 2,
}

/// Records the rows of a result from `x` and `q`, `samples` values or pairs each, and the zeros behind them.
pub(in super::super) fn put(gpu: &dyn Gpu, put: Put, x: &Rows, q: &Rows, y: &Rows, samples: usize) -> Result<Command> {
    let pitch = if put == Put::Pairs { y.pitch / 2 } else { y.pitch };
    let groups = pitch.div_ceil(GROUP);
    let args = [
        word(y.count)?,
        word(groups)?,
        word(samples)?,
        word(x.pitch)?,
        word(q.pitch)?,
        word(pitch)?,
        f32::NAN.to_bits(),
        0,
    ];
    let kernel = compose_plain("spectral/analytic", &[("KIND", put as u32)])?;
    launch(gpu, &kernel, &args, &[x.slice.clone(), q.slice.clone(), y.slice.clone()], (y.count * groups) as u64)
}

impl Rows {
    /// The first of them.
    pub(in super::super) fn take(&self, count: usize) -> Rows {
        Rows { count, ..self.clone() }
    }
}
