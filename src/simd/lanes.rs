//! Sixteen rows side by side: the form in which filters run, one row in each lane.
//!
//! A row is a channel, or a stretch of one: short wide recordings put channels in the lanes, long narrow ones cut their
//! channels in time and put the pieces there. [`Lanes`] packs any input (rows, interleaved, strided; `f32` or `i16`) into
//! frames of 16 values, one time step each, and [`unpack`] brings results back into rows.

use fearless_simd::Simd;

use super::{prefetch, transpose};
use crate::signal::{Dtype, Sample, Source, View, ViewMut};

/// Rows in a group.
pub(crate) const LANES: usize = 16;

/// One time step of a group.
pub(crate) type Frame = [f32; LANES];

/// Frames are packed and unpacked this many at a time; buffers of frames hold a multiple of it.
pub(crate) const BLOCK: usize = transpose::SIDE;

/// Below this, 2^-100, a sample counts as zero where sums are float32: products with it would be denormal, which take a
/// processor a hundred times as long as others.
pub(crate) const TINY: f32 = f32::from_bits(27 << 23);

/// Makes values below [`TINY`] zero.
#[inline(always)]
pub(crate) fn drop_tiny(frames: &mut [Frame]) {
    let values = frames.as_flattened_mut();
    // A zero wraps around and is none of them.
    let tiny = |v: f32| (v.to_bits() & 0x7fff_ffff).wrapping_sub(1) < TINY.to_bits() - 1;
    if values.iter().fold(false, |any, v| any | tiny(*v)) {
        values.iter_mut().for_each(|v| *v = if tiny(*v) { 0.0 } else { *v });
    }
}

/// Up to 16 rows of an input. Times count from the start of the group; a row reads as zero before and after its samples.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    source: Source<'a>,
    count: usize,
    /// Element index of a row's first sample.
    base: [usize; LANES],
    /// Frames of zeros before it.
    lead: [usize; LANES],
    /// Samples of the row.
    len: [usize; LANES],
}

impl<'a> Lanes<'a> {
    /// Channels `first .. first + count`, whole.
    pub(crate) fn channels(source: Source<'a>, first: usize, count: usize) -> Self {
        let pieces = (first..first + count).map(|c| (c, 0, source.samples()));
        Self::pieces(source, 0, pieces)
    }

    /// Samples `start .. start + len` of a channel for each `(channel, start, len)`, at most 16 of them, and up to `before`
    /// samples that precede them: the piece itself begins at time `before`.
    pub(crate) fn pieces(
        source: Source<'a>,
        before: usize,
        pieces: impl IntoIterator<Item = (usize, usize, usize)>,
    ) -> Self {
        let (channel_stride, sample_stride) = strides(source);
        let mut lanes = Lanes { source, count: 0, base: [0; LANES], lead: [0; LANES], len: [0; LANES] };
        for (i, (channel, start, len)) in pieces.into_iter().take(LANES).enumerate() {
            let past = before.min(start);
            lanes.base[i] = channel * channel_stride + (start - past) * sample_stride;
            lanes.lead[i] = before - past;
            lanes.len[i] = past + len;
            lanes.count = i + 1;
        }
        lanes
    }

    /// Samples `from .. from + count` of a channel for each `(channel, from, count)`, at most 16 of them; `from` may lie before
    /// the first sample.
    pub(crate) fn windows(source: Source<'a>, windows: impl IntoIterator<Item = (usize, isize, usize)>) -> Self {
        let (channel_stride, sample_stride) = strides(source);
        let mut lanes = Lanes { source, count: 0, base: [0; LANES], lead: [0; LANES], len: [0; LANES] };
        for (i, (channel, from, count)) in windows.into_iter().take(LANES).enumerate() {
            let end = source.samples().min(from.saturating_add_unsigned(count).max(0) as usize);
            let first = (from.max(0) as usize).min(end);
            lanes.base[i] = channel * channel_stride + first * sample_stride;
            lanes.lead[i] = if from < 0 { from.unsigned_abs().min(count) } else { 0 };
            lanes.len[i] = end - first;
            lanes.count = i + 1;
        }
        lanes
    }

    /// Rows in use.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Fills `frames` (a multiple of [`BLOCK`]) with the values from time `start` on, and asks the cache for those `ahead`
    /// frames later.
    #[inline(always)]
    pub(crate) fn pack<S: Simd>(&self, simd: S, start: usize, ahead: usize, frames: &mut [Frame]) {
        match self.source {
            Source::F32(view) => self.pack_view(simd, view, start, ahead, frames),
            Source::I16(view) => self.pack_view(simd, view, start, ahead, frames),
        }
    }

    #[inline(always)]
    fn pack_view<S: Simd, T: Sample>(
        &self,
        simd: S,
        view: View<'a, T>,
        start: usize,
        ahead: usize,
        frames: &mut [Frame],
    ) {
        let stride = view.sample_stride();
        let lead = self.lead[0];
        let side_by_side =
            self.count == LANES && self.lead == [lead; LANES] && (1..LANES).all(|i| self.base[i] == self.base[0] + i);
        for (i, block) in frames.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            let t = start + i * BLOCK;
            if stride == 1 {
                self.pack_rows(simd, view.data(), t, ahead, block);
            } else if side_by_side && t >= lead && self.len.iter().all(|len| t - lead + BLOCK <= *len) {
                for (k, frame) in block.iter_mut().enumerate() {
                    let at = self.base[0] + (t - lead + k) * stride;
                    prefetch(view.data(), at + ahead * stride);
                    widen(&view.data()[at..at + LANES], frame);
                }
            } else {
                self.gather(view.data(), stride, t, block);
            }
        }
    }

    /// One block of rows whose samples lie side by side.
    #[inline(always)]
    fn pack_rows<S: Simd, T: Sample>(&self, simd: S, data: &[T], t: usize, ahead: usize, block: &mut [Frame; BLOCK]) {
        let mut copies = [[0f32; BLOCK]; LANES];
        let mut direct = [None; LANES];
        for i in 0..self.count {
            let (lead, end) = (self.lead[i], self.lead[i] + self.len[i]);
            if t >= lead && t + BLOCK <= end {
                let at = self.base[i] + t - lead;
                prefetch(data, at + ahead);
                let row = &data[at..at + BLOCK];
                if T::DTYPE == Dtype::F32 {
                    direct[i] = bytemuck::cast_slice::<T, f32>(row).first_chunk();
                } else {
                    widen(row, &mut copies[i]);
                }
            } else if t + BLOCK > lead && t < end {
                let from = t.max(lead);
                let n = (t + BLOCK).min(end) - from;
                let at = self.base[i] + from - lead;
                widen(&data[at..at + n], &mut copies[i][from - t..from - t + n]);
            }
        }
        let src: [&[f32; BLOCK]; LANES] = std::array::from_fn(|i| direct[i].unwrap_or(&copies[i]));
        transpose::block(simd, &src, &mut block.each_mut(), false);
    }

    /// One block of any strides.
    fn gather<T: Sample>(&self, data: &[T], stride: usize, t: usize, block: &mut [Frame]) {
        for (k, frame) in block.iter_mut().enumerate() {
            *frame = std::array::from_fn(|i| {
                let (lead, at) = (self.lead[i], t + k);
                if at >= lead && at - lead < self.len[i] {
                    data[self.base[i] + (at - lead) * stride].to_f32()
                } else {
                    0.0
                }
            });
        }
    }
}

fn strides(source: Source<'_>) -> (usize, usize) {
    match source {
        Source::F32(v) => (v.channel_stride(), v.sample_stride()),
        Source::I16(v) => (v.channel_stride(), v.sample_stride()),
    }
}

#[inline(always)]
fn widen<T: Sample>(from: &[T], to: &mut [f32]) {
    for (x, y) in from.iter().zip(to) {
        *y = x.to_f32();
    }
}

/// Writes `frames` (a multiple of [`BLOCK`]) to samples `start ..` of the rows, as far as each reaches; past the caches where
/// `streamed`.
#[inline(always)]
pub(crate) fn unpack<S: Simd>(simd: S, start: usize, frames: &[Frame], rows: &mut [&mut [f32]], streamed: bool) {
    for (i, block) in frames.as_chunks::<BLOCK>().0.iter().enumerate() {
        let t = start + i * BLOCK;
        let mut spare = [[0f32; BLOCK]; LANES];
        let mut dst = spare.each_mut();
        // A loop, since a map over an array is not put in line here.
        for (dst, row) in dst.iter_mut().zip(rows.iter_mut()) {
            if let Some(whole) = row.get_mut(t..).and_then(|rest| rest.first_chunk_mut()) {
                *dst = whole;
            }
        }
        transpose::block(simd, &block.each_ref(), &mut dst, streamed);
        for (row, values) in rows.iter_mut().zip(&spare) {
            if row.len() > t && row.len() < t + BLOCK {
                let n = row.len() - t;
                row[t..].copy_from_slice(&values[..n]);
            }
        }
    }
}

/// The reverse of [`unpack`]: values of the rows from `start` on, zero where they end; asks the cache for those `before` frames
/// earlier.
#[inline(always)]
pub(crate) fn pack_rows<S: Simd>(simd: S, start: usize, rows: &[&mut [f32]], before: usize, frames: &mut [Frame]) {
    for (i, block) in frames.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let t = start + i * BLOCK;
        let mut copies = [[0f32; BLOCK]; LANES];
        for (row, copy) in rows.iter().zip(&mut copies) {
            if row.len() > t && row.len() < t + BLOCK {
                copy[..row.len() - t].copy_from_slice(&row[t..]);
            }
        }
        let mut src = copies.each_ref();
        for (src, row) in src.iter_mut().zip(rows) {
            if let Some(whole) = row.get(t..).and_then(|rest| rest.first_chunk()) {
                prefetch(row, t.wrapping_sub(before));
                *src = whole;
            }
        }
        transpose::block(simd, &src, &mut block.each_mut(), false);
    }
}

/// The rows of an output, each cut into pieces of `len` samples, in groups of 16.
pub(crate) fn groups<'a>(y: ViewMut<'a>, len: usize) -> Vec<Vec<&'a mut [f32]>> {
    let (channels, samples, pitch) = (y.channels(), y.samples(), y.pitch());
    if channels == 0 || samples == 0 || len == 0 {
        return Vec::new();
    }
    let mut groups: Vec<Vec<&mut [f32]>> = Vec::new();
    for row in y.into_data().chunks_mut(pitch.max(samples)).take(channels) {
        for piece in row[..samples].chunks_mut(len) {
            match groups.last_mut() {
                Some(group) if group.len() < LANES => group.push(piece),
                _ => groups.push(vec![piece]),
            }
        }
    }
    groups
}

/// Channels cut in time into pieces of equal length but for the last; pieces are counted channel after channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Length of a piece.
    pub(crate) len: usize,
    /// Pieces of a channel.
    pub(crate) pieces: usize,
    samples: usize,
}

impl Cut {
    /// One piece a channel.
    pub(crate) fn whole(samples: usize) -> Self {
        Cut { len: samples, pieces: 1, samples }
    }

    /// Pieces of this length.
    pub(crate) fn every(samples: usize, len: usize) -> Self {
        Cut { len, pieces: samples.div_ceil(len), samples }
    }

    /// Enough pieces, none below `shortest`, to fill the lanes of every thread of the pool.
    pub(crate) fn pieces(channels: usize, samples: usize, shortest: usize) -> Self {
        let wanted = (LANES * rayon::current_num_threads()).div_ceil(channels.max(1));
        let len = samples.div_ceil(wanted).max(shortest).next_multiple_of(LANES);
        Cut { len, pieces: samples.div_ceil(len), samples }
    }

    /// Channel of a piece and its place there.
    pub(crate) fn locate(&self, piece: usize) -> (usize, usize) {
        (piece / self.pieces, piece % self.pieces)
    }

    /// Length of the last piece of a channel.
    pub(crate) fn last(&self) -> usize {
        self.samples - (self.pieces - 1) * self.len
    }

    /// Pieces `first .. first + count`, each with the `before` samples that precede it (see [`Lanes::pieces`]).
    pub(crate) fn lanes<'a>(&self, x: Source<'a>, before: usize, first: usize, count: usize) -> Lanes<'a> {
        let pieces = (first..first + count).map(|i| {
            let (channel, piece) = self.locate(i);
            (channel, piece * self.len, self.len.min(self.samples - piece * self.len))
        });
        Lanes::pieces(x, before, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, levels};

    struct There<'a>(Lanes<'a>, usize, &'a mut [Frame]);
    impl Kernel for There<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            self.0.pack(simd, self.1, 64, self.2);
        }
    }

    struct Back<'a, 'b>(usize, &'a [Frame], &'a mut [&'b mut [f32]]);
    impl Kernel for Back<'_, '_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            unpack(simd, self.0, self.1, self.2, true);
        }
    }

    #[test]
    fn packing_reads_zero_outside_the_rows() {
        let (channels, samples) = (19, 101);
        let data: Vec<f32> = (0..channels * samples).map(|i| i as f32 + 1.0).collect();
        let rows = View::new(&data, channels, samples).unwrap();
        let ints: Vec<i16> = data.iter().map(|v| *v as i16).collect();
        let interleaved = View::interleaved(&ints, channels).unwrap();
        for source in [rows.into(), interleaved.into()] as [Source<'_>; 2] {
            for (before, first, count) in [(0, 0, 16), (20, 2, 16), (7, 16, 3)] {
                let pieces = (first..first + count).map(|c| (c, 10 * (c % 3), samples - 40));
                let lanes = Lanes::pieces(source, before, pieces);
                for level in levels() {
                    for start in [0, 3, 32, 90] {
                        let mut frames = [[f32::NAN; LANES]; 32];
                        level.run(There(lanes, start, &mut frames));
                        for (k, frame) in frames.iter().enumerate() {
                            for (i, v) in frame.iter().enumerate() {
                                let (c, from) = (first + i, 10 * ((first + i) % 3));
                                let at = (from + start + k).checked_sub(before).filter(|at| *at < from + samples - 40);
                                let want = at.filter(|_| i < count).map_or(0.0, |at| source.get(c, at));
                                assert_eq!(*v, want, "{} {source:?} {before} {start} {k} {i}", level.name());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn unpacking_writes_the_rows_and_nothing_else() {
        let frames: Vec<Frame> = (0..48).map(|t| std::array::from_fn(|i| (100 * t + i) as f32)).collect();
        for level in levels() {
            for (samples, start) in [(1, 0), (47, 0), (48, 0), (60, 13), (5, 5)] {
                let mut y = vec![-1.0f32; 5 * 64];
                let mut rows: Vec<&mut [f32]> = y.chunks_mut(64).map(|r| &mut r[..samples]).collect();
                level.run(Back(start, &frames, &mut rows));
                for (i, v) in y.iter().enumerate() {
                    let (row, n) = (i / 64, i % 64);
                    let written = n < samples && n >= start && n - start < 48;
                    let want = if written { (100 * (n - start) + row) as f32 } else { -1.0 };
                    assert_eq!(*v, want, "{} {samples} {start} {row} {n}", level.name());
                }
            }
        }
    }

    #[test]
    fn cuts_cover_every_sample_once() {
        for (channels, samples) in [(1, 10_000), (3, 1), (100, 4097), (1, 4096)] {
            let cut = Cut::pieces(channels, samples, 256);
            assert_eq!((cut.pieces - 1) * cut.len + cut.last(), samples);
            assert!(cut.last() >= 1 && cut.last() <= cut.len);
            assert_eq!(cut.locate(cut.pieces), (1, 0));
        }
    }
}
