//! Spectra of frames on devices in one kernel, where work-group memory holds a frame: samples are read once, and what leaves
//! the work group is the result (`spectral/local.wgsl`) or sums of parts of it (`spectral/sums.wgsl`).

use super::averages::Term;
use super::gpu::{Batch, batch_bytes, boundary, cut, detrend, line_weights};
use super::{Detrend, Geometry, Table};
use crate::error::{Error, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, compose_plain, constant, is_software, launch, word};
use crate::ops::problem::Variant;
use crate::ops::spectral::fft::gpu::{Near, Rows};
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Method of these variants.
pub(in crate::ops::spectral) const METHOD: &str = "fused";
/// Parts of a channel, at most.
const MAX_PARTS: usize = 1024;

/// `WIDEST`, `THREADS`, `POWERS`, `PAD` as of a transform, whether values are taken apart where they are, and the frames of
/// a part.
type Try = [u32; 6];

const SUMS: [Try; 5] =
    [[16, 64, 0, 1, 1, 16], [8, 64, 0, 1, 0, 16], [16, 64, 0, 1, 0, 16], [16, 64, 0, 1, 1, 64], [16, 128, 1, 1, 0, 16]];
const SOFTWARE_SUMS: [Try; 4] =
    [[32, 8, 1, 0, 1, 64], [16, 8, 1, 0, 1, 64], [32, 8, 1, 0, 0, 64], [16, 8, 1, 0, 0, 16]];
const LINES: [Try; 4] = [[16, 256, 0, 1, 0, 0], [8, 256, 0, 1, 0, 0], [16, 64, 0, 1, 0, 0], [16, 128, 1, 1, 1, 0]];
const SOFTWARE_LINES: [Try; 4] = [[32, 8, 1, 0, 1, 0], [16, 8, 1, 0, 1, 0], [32, 8, 1, 0, 0, 0], [16, 8, 1, 0, 0, 0]];

/// Variants that average rows of `signals` signals, the default first.
pub(in crate::ops::spectral) fn averaging(g: &Geometry, signals: usize, facts: &Facts) -> Vec<Variant> {
    let software = is_software(facts);
    if software && g.frames.div_ceil(MAX_PARTS) as u64 > SOFTWARE_ROUNDS {
        return Vec::new();
    }
    variants(g, signals, facts, if software { &SOFTWARE_SUMS } else { &SUMS })
}

/// Variants that keep the spectrum of each frame, the default first.
pub(in crate::ops::spectral) fn keeping(g: &Geometry, facts: &Facts) -> Vec<Variant> {
    variants(g, 1, facts, if is_software(facts) { &SOFTWARE_LINES } else { &LINES })
}

fn variants(g: &Geometry, signals: usize, facts: &Facts, tries: &[Try]) -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    for &[widest, threads, powers, pad, facing, run] in tries {
        let settings = [
            ("WIDEST", widest),
            ("THREADS", threads),
            ("POWERS", powers),
            ("PAD", pad),
            ("FACING", facing),
            ("RUN", run),
        ];
        let mut variant = Variant::new(METHOD, &settings);
        let Some(near) = near(g, signals, &variant, facts) else { continue };
        variant.name = near.name(METHOD, &variant);
        variant.name += if facing == 1 { " facing" } else { "" };
        if run > 0 {
            variant.name += &format!(" run={}", part(g.frames, run));
        }
        if all.iter().all(|v| v.name != variant.name) {
            all.push(variant);
        }
    }
    all
}

fn near(g: &Geometry, signals: usize, variant: &Variant, facts: &Facts) -> Option<Near> {
    // Values of two signals meet in memory.
    let near = Near::new(g.nfft, signals, variant, facts).filter(|_| signals == 1 || variant.get("FACING") == 0)?;
    // Sums of a line need twice the room of those of a mean, where a transform needs it.
    (g.detrend != Detrend::Linear || 2 * near.threads() <= near.points()).then_some(near)
}

/// Frames of a part: the parts of a channel are as even as they can be.
fn part(frames: usize, run: u32) -> usize {
    let parts = frames.div_ceil(run.max(1) as usize).clamp(1, MAX_PARTS);
    frames.div_ceil(parts)
}

/// The frames of an array.
pub(in crate::ops::spectral) struct Fused<'a> {
    gpu: &'a dyn Gpu,
    x: Rows,
    signals: usize,
    g: Geometry,
    near: Near,
    settings: Vec<(&'static str, u32)>,
    scale: f32,
    /// Roots, those of the row's own degree, weights, samples.
    buffers: [Slice; 4],
    /// Frames of a part.
    pub part: usize,
}

impl<'a> Fused<'a> {
    /// Rows of `signals` signals each; power comes out multiplied by `factor`.
    pub fn new(
        gpu: &'a dyn Gpu,
        variant: &Variant,
        (x, signals): (Rows, usize),
        g: Geometry,
        table: &Table,
        factor: f64,
    ) -> Result<Self> {
        let near = near(&g, signals, variant, gpu.facts()).filter(|_| variant.method == METHOD);
        let near =
            near.ok_or_else(|| Error::internal(format!("{} does not transform {} points", variant.name, g.nfft)))?;
        // Behind a frame weights are zeros.
        let weighted = !table.weights.is_empty() || g.nfft > g.nperseg;
        let scale = factor.sqrt();
        let samples = if weighted { g.nperseg } else { 0 };
        let mut weights: Vec<u8> =
            (0..samples).flat_map(|i| ((table.weight(i) * scale) as f32).to_le_bytes()).collect();
        weights.resize(4 * g.nfft.max(4), 0);
        let mut settings = near.settings(variant);
        settings.extend([
            ("BOUNDARY", boundary(g.boundary)),
            ("DETREND", detrend(g.detrend)),
            ("WEIGHTED", u32::from(weighted)),
        ]);
        let [roots, wide] = near.tables(gpu)?;
        let buffers = [roots, wide, constant(gpu, &weights)?, x.slice.clone()];
        let part = part(g.frames, variant.get("RUN"));
        Ok(Fused { gpu, x, signals, g, near, settings, scale: scale as f32, buffers, part })
    }

    /// Parts of a channel.
    pub fn parts(&self) -> usize {
        self.g.frames.div_ceil(self.part)
    }

    /// All frames of some channels together, so that what is summed of them, `row` bytes of a channel, stays small.
    pub fn batches(&self, row: usize) -> Vec<Batch> {
        let channels = usize::try_from(batch_bytes(self.gpu.facts()) / row.max(1) as u64).unwrap_or(usize::MAX).max(1);
        super::gpu::batches(self.x.count, self.g.frames, channels.saturating_mul(self.g.frames))
    }

    /// Records the sums over the frames of each part of a batch's channels.
    pub fn add(&self, batch: &Batch, term: Term, sums: &DeviceBuffer) -> Result<Command> {
        let (parts, signals) = (self.parts(), self.signals);
        let units = batch.channels * parts;
        let cut = cut(&self.g, &self.x, signals, batch, batch.channels * signals * batch.frames)?;
        let more = [
            self.scale.to_bits(),
            1f32.to_bits(),
            word(units)?,
            word(parts)?,
            word(self.part)?,
            word(self.g.bins())?,
            0,
            0,
        ];
        self.launch("spectral/sums", ("KIND", term as u32), (&cut, &more), Slice::from(sums), units * signals)
    }

    /// Records the spectra of all frames as lines of `to`, of `width` floats a value; `kept` is `KEPT` of the kernel.
    pub fn lines(&self, kept: u32, width: usize, to: &Rows) -> Result<Command> {
        let batch = Batch { channel: 0, channels: self.x.count, frame: 0, frames: self.g.frames };
        let rows = batch.channels * batch.frames;
        let cut = cut(&self.g, &self.x, 1, &batch, rows)?;
        let more = [
            self.scale.to_bits(),
            1f32.to_bits(),
            word(self.g.nfft)?,
            word(to.pitch / width)?,
            word(self.g.bins() * self.g.frames)?,
            0,
            0,
            0,
        ];
        self.launch("spectral/local", ("KEPT", kept), (&cut, &more), to.slice.clone(), rows)
    }

    fn launch(
        &self,
        kernel: &str,
        setting: (&'static str, u32),
        (cut, more): (&[u32; 12], &[u32; 8]),
        to: Slice,
        slots: usize,
    ) -> Result<Command> {
        let settings = [&self.settings[..], &[setting]].concat();
        let args = [&cut[..], more, &line_weights(&self.g)].concat();
        let buffers = [&self.buffers[..], &[to]].concat();
        let groups = slots.div_ceil(self.near.slots());
        launch(self.gpu, &compose_plain(kernel, &settings)?, &args, &buffers, groups as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_few() {
        for frames in [1, 15, 16, 17, 100, 116, 16_384, 16_385, 1_000_000] {
            let part = part(frames, 16);
            let parts = frames.div_ceil(part);
            assert!(parts <= MAX_PARTS && part >= 1 && (part <= 16 || frames > 16 * MAX_PARTS), "{frames}: {part}");
            assert!(parts * part - frames < parts, "{frames}: {part}");
        }
    }
}
