//! Between strided host arrays and the bytes of a segment, in parallel.
//!
//! A device hands out its memory in parts of any multiple of 4 bytes, so everything here works on a window of a
//! segment's bytes: `position` is where the part starts in it.

use rayon::prelude::*;

use super::array::Layout;
use crate::signal::{Dtype, Sample, View, ViewMut};

/// Bytes one task packs at least.
const TASK_BYTES: usize = 256 << 10;

/// Rows of a strided source packed together: two cache lines of an interleaved `i16` frame, so that few are fetched twice.
const TILE_ROWS: usize = 64;
/// Samples of a strided source packed together.
const TILE_SAMPLES: usize = 64;

/// Runs `work(position, piece)` over pieces of a part; small parts stay on this thread.
fn in_pieces(position: u64, part: &mut [u8], piece_bytes: usize, work: impl Fn(usize, &mut [u8]) + Sync) {
    let at = position as usize;
    if part.len() <= piece_bytes {
        work(at, part);
    } else {
        part.par_chunks_mut(piece_bytes).enumerate().for_each(|(i, piece)| work(at + i * piece_bytes, piece));
    }
}

/// Packs a window of a planar segment: rows of `x` every `pitch` elements, zeros between them; as `f32` where `widen`,
/// else as they are.
pub(super) fn planar<T: Sample>(x: View<'_, T>, pitch: usize, widen: bool, position: u64, part: &mut [u8]) {
    let size = if widen { size_of::<f32>() } else { size_of::<T>() };
    if x.sample_stride() == 1 || x.samples() <= 1 {
        in_pieces(position, part, TASK_BYTES, |at, piece| {
            for row in at / size / pitch..(at + piece.len()).div_ceil(size * pitch) {
                let Some((column, target)) = overlap(piece, at / size, size, row * pitch, pitch) else { continue };
                let values = x.row(row).and_then(|v| v.get(column..)).unwrap_or(&[]);
                copy(values, widen, target);
            }
        });
    } else {
        let bytes = TASK_BYTES.max(TILE_ROWS * pitch * size);
        in_pieces(position, part, bytes, |at, piece| strided(x, pitch, widen, at, piece));
    }
}

/// Packs a piece whose source has to be gathered: tile by tile, along the source's frames, through a tile in cache.
fn strided<T: Sample>(x: View<'_, T>, pitch: usize, widen: bool, at: usize, piece: &mut [u8]) {
    let size = if widen { size_of::<f32>() } else { size_of::<T>() };
    let (first, end) = (at / size / pitch, (at + piece.len()).div_ceil(size * pitch).min(x.channels()));
    let mut tile = [[T::default(); TILE_SAMPLES]; TILE_ROWS];
    for group in (first..end).step_by(TILE_ROWS) {
        let rows = TILE_ROWS.min(end - group);
        for column in (0..pitch).step_by(TILE_SAMPLES) {
            let count = TILE_SAMPLES.min(x.samples().saturating_sub(column));
            gather(x, group, rows, column, count, &mut tile);
            for (row, values) in (group..).zip(&tile[..rows]) {
                let width = TILE_SAMPLES.min(pitch - column);
                if let Some((skip, target)) = overlap(piece, at / size, size, row * pitch + column, width) {
                    copy(&values[skip.min(count)..count], widen, target);
                }
            }
        }
    }
}

fn gather<T: Sample>(
    x: View<'_, T>,
    row: usize,
    rows: usize,
    column: usize,
    count: usize,
    tile: &mut [[T; TILE_SAMPLES]; TILE_ROWS],
) {
    for n in 0..count {
        let frame = &x.data()[row * x.channel_stride() + (column + n) * x.sample_stride()..];
        match frame.first_chunk::<TILE_ROWS>() {
            Some(frame) if rows == TILE_ROWS && x.channel_stride() == 1 => {
                tile.iter_mut().zip(frame).for_each(|(row, v)| row[n] = *v);
            }
            _ => tile[..rows].iter_mut().enumerate().for_each(|(r, row)| row[n] = frame[r * x.channel_stride()]),
        }
    }
}

/// The bytes of a piece (elements from `first` on) that belong to `len` elements from `start` on, and how many of those
/// lie before the piece.
fn overlap(piece: &mut [u8], first: usize, size: usize, start: usize, len: usize) -> Option<(usize, &mut [u8])> {
    let end = (start + len).min(first + piece.len() / size);
    let from = start.max(first);
    (from < end).then(|| (from - start, &mut piece[(from - first) * size..(end - first) * size]))
}

/// Writes values, then zeros.
fn copy<T: Sample>(values: &[T], widen: bool, target: &mut [u8]) {
    let size = if widen { size_of::<f32>() } else { size_of::<T>() };
    let count = values.len().min(target.len() / size);
    let (target, padding) = target.split_at_mut(count * size);
    padding.fill(0);
    if widen {
        let targets = target.as_chunks_mut::<{ size_of::<f32>() }>().0;
        targets.iter_mut().zip(values).for_each(|(to, v)| *to = v.to_f32().to_ne_bytes());
    } else {
        target.copy_from_slice(bytemuck::cast_slice(&values[..count]));
    }
}

/// Copies a window of values that lie as on the device already, zeros behind them.
pub(super) fn dense<T: Sample>(values: &[T], position: u64, part: &mut [u8]) {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    in_pieces(position, part, TASK_BYTES, |at, piece| {
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
        if T::DTYPE == Dtype::F32 {
            return bytemuck::cast_slice_mut(to).copy_from_slice(from);
        }
        from.chunks_exact(size_of::<T>()).zip(to).for_each(|(b, v)| *v = bytemuck::pod_read_unaligned::<T>(b).to_f32());
    };
    let chunk = TASK_BYTES / 4;
    if to.len() <= 2 * chunk {
        work((from, to));
    } else {
        from.par_chunks(chunk * size_of::<T>()).zip(to.par_chunks_mut(chunk)).for_each(work);
    }
}
