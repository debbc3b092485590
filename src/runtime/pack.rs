//! Between strided host arrays and the bytes of a segment, in parallel.
//!
//! A device hands out its memory in parts of any multiple of 4 bytes, so everything here works on a window of a
//! segment's bytes: `position` is where the part starts in it.

use rayon::prelude::*;

use super::array::Layout;
use crate::signal::{Dtype, Sample, View, ViewMut};

/// Bytes one task packs at least.
const TASK_BYTES: usize = 256 << 10;

/// Rows of a strided source packed together: as many as share its cache lines.
const TILE_ROWS: usize = 16;
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
    let contiguous = x.sample_stride() == 1 || x.samples() <= 1;
    let tile = if contiguous { pitch } else { TILE_SAMPLES };
    let piece_bytes = if contiguous { TASK_BYTES } else { TASK_BYTES.max(TILE_ROWS * pitch * size) };
    in_pieces(position, part, piece_bytes, |at, piece| {
        let (first, end) = (at / size, (at + piece.len()) / size);
        for column in (0..pitch).step_by(tile) {
            for row in first / pitch..end.div_ceil(pitch) {
                let from = (row * pitch + column).max(first);
                let to = (row * pitch + pitch.min(column + tile)).min(end);
                if from < to {
                    let target = &mut piece[(from - first) * size..(to - first) * size];
                    row_piece(x, row, from - row * pitch, widen, target);
                }
            }
        }
    });
}

/// Packs samples of one row from `column` on, then zeros.
fn row_piece<T: Sample>(x: View<'_, T>, row: usize, column: usize, widen: bool, target: &mut [u8]) {
    let size = if widen { size_of::<f32>() } else { size_of::<T>() };
    let count = x.samples().saturating_sub(column).min(target.len() / size);
    let (target, padding) = target.split_at_mut(count * size);
    padding.fill(0);
    let values = match x.row(row) {
        Some(values) if !widen => {
            return target.copy_from_slice(bytemuck::cast_slice(&values[column..column + count]));
        }
        Some(values) => &values[column..],
        None if count == 0 => return,
        None => &x.data()[row * x.channel_stride() + column * x.sample_stride()..],
    };
    let stride = if x.samples() > 1 { x.sample_stride() } else { 1 };
    let targets = target.chunks_exact_mut(size).enumerate();
    if widen {
        targets.for_each(|(i, to)| to.copy_from_slice(&values[i * stride].to_f32().to_ne_bytes()));
    } else {
        targets.for_each(|(i, to)| to.copy_from_slice(bytemuck::bytes_of(&values[i * stride])));
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
