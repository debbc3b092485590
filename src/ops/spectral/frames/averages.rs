//! Averages over frames on devices: `spectral/average.wgsl` adds batch after batch to sums of parts of a channel's frames,
//! `spectral/finish.wgsl` adds these up.
//!
//! How a channel is cut into parts depends on its number of frames alone, sums of a part go on from batch to batch, and all
//! keep their rounding errors.

use super::gpu::{Batch, each};
use crate::error::Result;
use crate::ops::launch::word;
use crate::ops::spectral::fft::gpu::Rows;
use crate::runtime::gpu::{Command, DeviceBuffer, Gpu, Slice};

/// Frames of a part, at least.
const PART: usize = 64;
/// Parts of a channel, at most.
const MAX_PARTS: usize = 64;

/// Frames of a part of a channel that has so many.
pub(in crate::ops::spectral) fn part(frames: usize) -> usize {
    PART.max(frames.div_ceil(MAX_PARTS))
}

/// What is averaged of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops::spectral) enum Term {
    /// The power of one signal.
    Power = 0,
    /// The cross power of two.
    Cross = 1,
    /// That, and the powers of both, for their coherence.
    Both = 2,
}

/// What is recorded once spectra are there.
pub(in crate::ops::spectral) struct Averages<'a> {
    pub gpu: &'a dyn Gpu,
    pub term: Term,
    /// `from` has powers, not spectra; of one signal.
    pub ready: bool,
    /// Of a row.
    pub signals: usize,
    pub bins: usize,
    pub nfft: usize,
    /// Frames of a part.
    pub part: usize,
    /// Of a channel.
    pub parts: usize,
    /// Of a batch, channel after channel, of each signal after signal, of each frame after frame.
    pub from: Slice,
    /// [`Averages::bytes`] for each channel of a batch.
    pub sums: DeviceBuffer,
    /// The result.
    pub to: Rows,
}

impl Averages<'_> {
    /// Bytes of the sums of a channel.
    pub fn bytes(term: Term, parts: usize, bins: usize) -> usize {
        parts * bins * (4 << term as usize)
    }

    /// Adds the frames of a batch to their parts.
    pub fn add(&self, batch: &Batch) -> Result<Command> {
        let first = batch.frame / self.part;
        let parts = (batch.frame + batch.frames).div_ceil(self.part) - first;
        let args = [
            word(batch.channels)?,
            word(self.signals)?,
            word(batch.frames)?,
            word(self.bins)?,
            word(batch.frame)?,
            word(first)?,
            word(parts)?,
            word(self.parts)?,
            word(self.part)?,
            1f32.to_bits(),
            0,
            0,
        ];
        let settings = [("KIND", self.term as u32), ("READY", u32::from(self.ready))];
        let threads = batch.channels * parts * self.bins;
        each(self.gpu, "spectral/average", &settings, &args, &[self.from.clone(), Slice::from(&self.sums)], threads)
    }

    /// Writes the rows of the result: sums divided by `over`.
    pub fn finish(&self, batch: &Batch, over: f64) -> Result<Command> {
        let pitch = if self.term == Term::Cross { self.to.pitch / 2 } else { self.to.pitch };
        let args = [
            word(batch.channels)?,
            word(self.parts)?,
            word(self.bins)?,
            word(batch.channel)?,
            word(pitch)?,
            word(self.nfft)?,
            ((1.0 / over) as f32).to_bits(),
            1f32.to_bits(),
        ];
        let buffers = [Slice::from(&self.sums), self.to.slice.clone()];
        each(self.gpu, "spectral/finish", &[("KIND", self.term as u32)], &args, &buffers, batch.channels * pitch)
    }
}
