//! Between strided host arrays and the bytes of a segment, in parallel.
//!
//! A device hands out its memory in parts of any multiple of 4 bytes, so everything here works on a window of a
//! segment's bytes: `position` is where the part starts in it.

use rayon::prelude::*;

use super::array::Layout;
use crate::signal::{Sample, View, ViewMut};

/// Bytes one task packs.
const TASK_BYTES: usize = 256 << 10;

/// Runs `work(position, piece)` over pieces of a part; small parts stay on this thread.
fn in_pieces(position: u64, part: &mut [u8], work: impl Fn(usize, &mut [u8]) + Sync) {
    let at = position as usize;
    if part.len() <= 2 * TASK_BYTES {
        work(at, part);
    } else {
        part.par_chunks_mut(TASK_BYTES).enumerate().for_each(|(i, piece)| work(at + i * TASK_BYTES, piece));
    }
}

/// Packs a window of a planar segment: rows of `x` every `pitch` elements, zeros between them. Elements become `O`.
pub(super) fn planar<T: Sample, O: bytemuck::Pod>(
    x: View<'_, T>,
    pitch: usize,
    position: u64,
    part: &mut [u8],
    convert: impl Fn(T) -> O + Sync,
) {
    let size = size_of::<O>();
    in_pieces(position, part, |at, mut piece| {
        let mut element = at / size;
        while piece.len() >= size {
            let (row, column) = (element / pitch, element % pitch);
            let len = (pitch - column).min(piece.len() / size);
            let (target, rest) = piece.split_at_mut(len * size);
            let valid = x.samples().saturating_sub(column).min(len);
            let (values, padding) = target.split_at_mut(valid * size);
            row_piece(x, row, column, values, &convert);
            padding.fill(0);
            element += len;
            piece = rest;
        }
    });
}

fn row_piece<T: Sample, O: bytemuck::Pod>(
    x: View<'_, T>,
    row: usize,
    column: usize,
    target: &mut [u8],
    convert: &impl Fn(T) -> O,
) {
    let size = size_of::<O>();
    let count = target.len() / size;
    let put = |to: &mut [u8], v: T| to.copy_from_slice(bytemuck::bytes_of(&convert(v)));
    match x.row(row) {
        Some(values) => {
            target.chunks_exact_mut(size).zip(&values[column..column + count]).for_each(|(to, v)| put(to, *v));
        }
        None => {
            let (first, stride) = (row * x.channel_stride() + column * x.sample_stride(), x.sample_stride());
            let targets = target.chunks_exact_mut(size).enumerate();
            targets.for_each(|(i, to)| put(to, x.data()[first + i * stride]));
        }
    }
}

/// Copies a window of values that lie as on the device already, zeros behind them.
pub(super) fn dense<T: Sample>(values: &[T], position: u64, part: &mut [u8]) {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    in_pieces(position, part, |at, piece| {
        let from = bytes.get(at..).unwrap_or(&[]);
        let (values, padding) = piece.split_at_mut(from.len().min(piece.len()));
        values.copy_from_slice(&from[..values.len()]);
        padding.fill(0);
    });
}

/// How the elements of a segment lie.
#[derive(Clone, Copy)]
pub(super) struct Lie {
    pub(super) layout: Layout,
    pub(super) pitch: usize,
}

/// Unpacks a window of a segment's bytes into `y`, whose rows have the segment's samples.
pub(super) fn unpack<T: Sample>(part: &[u8], position: u64, lie: Lie, y: &mut ViewMut<'_>) {
    let (channels, samples) = (y.channels(), y.samples());
    if channels == 0 || samples == 0 {
        return;
    }
    let (first, count) = (position as usize / size_of::<T>(), part.len() / size_of::<T>());
    // One row needs no valid pitch.
    let stride = if channels == 1 { usize::MAX } else { y.pitch() };
    let data = y.data_mut();
    let stride = stride.min(data.len());
    let rows = data.chunks_mut(stride).take(channels).map(|row| &mut row[..samples]).enumerate();
    let value = |element: usize| {
        let at = (element - first) * size_of::<T>();
        bytemuck::pod_read_unaligned::<T>(&part[at..at + size_of::<T>()]).to_f32()
    };
    let work = |(c, row): (usize, &mut [f32])| match lie.layout {
        Layout::Planar => {
            let start = (c * lie.pitch).clamp(first, first + count);
            let end = (c * lie.pitch + samples).clamp(first, first + count);
            if start < end {
                let column = start - c * lie.pitch;
                let from = &part[(start - first) * size_of::<T>()..(end - first) * size_of::<T>()];
                widen::<T>(from, &mut row[column..column + end - start]);
            }
        }
        Layout::Interleaved => {
            let start = first.saturating_sub(c).div_ceil(channels);
            let end = (first + count).saturating_sub(c).div_ceil(channels).min(samples);
            (start..end).for_each(|n| row[n] = value(n * channels + c));
        }
    };
    if part.len() <= 2 * TASK_BYTES {
        rows.for_each(work);
    } else {
        rows.collect::<Vec<_>>().into_par_iter().for_each(work);
    }
}

fn widen<T: Sample>(from: &[u8], to: &mut [f32]) {
    let work = |(from, to): (&[u8], &mut [f32])| {
        from.chunks_exact(size_of::<T>()).zip(to).for_each(|(b, v)| *v = bytemuck::pod_read_unaligned::<T>(b).to_f32());
    };
    let chunk = TASK_BYTES / 4;
    if to.len() <= 2 * chunk {
        work((from, to));
    } else {
        from.par_chunks(chunk * size_of::<T>()).zip(to.par_chunks_mut(chunk)).for_each(work);
    }
}
