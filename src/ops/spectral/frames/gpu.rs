//! Spectra of frames on devices: a batch of frames at a time is cut, freed of its lines, weighted (`spectral/trend.wgsl`,
//! `spectral/frames.wgsl`) and transformed, into scratch that stays in the caches; what an operation makes of spectra, it
//! takes from there.
//!
//! A batch holds all frames of some channels, or, where a channel alone has too many, some of its frames.

use super::{Boundary, Detrend, Geometry, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{SOFTWARE_ROUNDS, compose_plain, constant, is_software, launch, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::Norm;
use crate::ops::spectral::fft::gpu::{self as fft, Rows};
use crate::ops::spectral::fft::{Kind, Transform};
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Bytes of the spectra of a batch.
const BATCH_BYTES: u64 = 32 << 20;
/// The same on software devices, whose caches are smaller.
const SOFTWARE_BATCH_BYTES: u64 = 4 << 20;
/// Samples of a frame whose line a work group finds; more are split.
const PART: usize = 1 << 14;
/// Threads of a work group of the kernels that have one for each value.
const GROUP: usize = 64;
/// Frequencies of a thread of `spectral/turn.wgsl`.
pub(in crate::ops::spectral) const TURNED: usize = 8;

/// Variants, the default first: those of the transform.
pub(in crate::ops::spectral) fn variants(g: Geometry, facts: &Facts, shape: Shape) -> Vec<Variant> {
    fft::variants(&transform(&g), facts, Shape { samples: g.nperseg, ..shape })
}

/// Variants of fewer kernels, and after them those of the transform: where there are any of the former, one.
pub(in crate::ops::spectral) fn after(fewer: Vec<Variant>, g: Geometry, facts: &Facts, shape: Shape) -> Vec<Variant> {
    let most = if fewer.is_empty() { usize::MAX } else { 1 };
    fewer.into_iter().chain(variants(g, facts, shape).into_iter().take(most)).collect()
}

fn transform(g: &Geometry) -> Transform {
    Transform { kind: Kind::Rfft, n: Some(g.nfft), norm: Norm::Backward }
}

/// Frames computed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ops::spectral) struct Batch {
    /// First channel.
    pub channel: usize,
    pub channels: usize,
    /// First frame of each channel.
    pub frame: usize,
    /// Frames of each channel.
    pub frames: usize,
}

/// All frames of all channels, at most so many of one frame together, but one at least.
pub(in crate::ops::spectral) fn batches(channels: usize, frames: usize, at_once: usize) -> Vec<Batch> {
    let (across, along) = ((at_once / frames).max(1), at_once.clamp(1, frames));
    let mut all = Vec::new();
    for channel in (0..channels).step_by(across) {
        for frame in (0..frames).step_by(along) {
            all.push(Batch {
                channel,
                channels: across.min(channels - channel),
                frame,
                frames: along.min(frames - frame),
            });
        }
    }
    all
}

/// Bytes that the spectra of a batch may have.
pub(in crate::ops::spectral) fn batch_bytes(facts: &Facts) -> u64 {
    let most = if is_software(facts) { SOFTWARE_BATCH_BYTES } else { BATCH_BYTES };
    most.min(fft::room(&facts.limits))
}

/// Records a kernel that has a thread for each of `count` values.
pub(in crate::ops::spectral) fn each(
    gpu: &dyn Gpu,
    kernel: &str,
    settings: &[(&'static str, u32)],
    args: &[u32],
    buffers: &[Slice],
    count: usize,
) -> Result<Command> {
    launch(gpu, &compose_plain(kernel, settings)?, args, buffers, count.div_ceil(GROUP) as u64)
}

/// Weights as a kernel reads them, in whole vectors of four: none for a boxcar.
pub(in crate::ops::spectral) fn weights(gpu: &dyn Gpu, table: &Table, factor: f64) -> Result<Slice> {
    let mut bytes: Vec<u8> = table.weights.iter().flat_map(|w| ((w * factor) as f32).to_le_bytes()).collect();
    bytes.resize(bytes.len().next_multiple_of(16).max(16), 0);
    constant(gpu, &bytes)
}

/// What samples of frames are multiplied by.
pub(in crate::ops::spectral) struct Weights {
    /// In whole vectors of four, taper after taper.
    values: Slice,
    /// There are none, but for a factor.
    plain: Option<f64>,
    /// Of a frame, each with a spectrum of its own.
    tapers: usize,
}

impl Weights {
    /// A window; power comes out multiplied by `factor`.
    pub fn window(gpu: &dyn Gpu, table: &Table, factor: f64) -> Result<Self> {
        let plain = table.weights.is_empty().then(|| factor.sqrt());
        Ok(Weights { values: weights(gpu, table, factor.sqrt())?, plain, tapers: 1 })
    }

    /// Tapers, each of them times its factor.
    pub fn tapers(gpu: &dyn Gpu, tapers: &[Vec<f32>], factors: &[f64]) -> Result<Self> {
        let mut bytes = Vec::new();
        for (taper, factor) in tapers.iter().zip(factors) {
            bytes.extend(taper.iter().flat_map(|v| ((f64::from(*v) * factor) as f32).to_le_bytes()));
            bytes.resize(bytes.len().next_multiple_of(16), 0);
        }
        Ok(Weights { values: constant(gpu, &bytes)?, plain: None, tapers: tapers.len() })
    }
}

/// A number as a pair of floats.
fn pair(v: f64) -> [u32; 2] {
    let high = v as f32;
    [high.to_bits(), ((v - f64::from(high)) as f32).to_bits()]
}

/// The spectra of all frames of an array.
pub(in crate::ops::spectral) struct Spectra<'a> {
    gpu: &'a dyn Gpu,
    variant: &'a Variant,
    x: Rows,
    g: Geometry,
    /// Of a row.
    signals: usize,
    weights: Weights,
    nothing: Slice,
    at_once: usize,
    frames: DeviceBuffer,
    spectra: DeviceBuffer,
    lines: Slice,
    parts: Slice,
    space: Vec<DeviceBuffer>,
}

impl<'a> Spectra<'a> {
    /// Rows of `signals` signals each. With `whole` a batch holds whole channels.
    pub fn new(
        gpu: &'a dyn Gpu,
        variant: &'a Variant,
        (x, signals): (Rows, usize),
        g: Geometry,
        weights: Weights,
        whole: bool,
    ) -> Result<Self> {
        let nothing = constant(gpu, &[0; 16])?;
        let (quads, bins) = (g.nperseg.div_ceil(4), g.bins());
        let row = (signals * weights.tapers * (16 * quads).max(8 * bins)) as u64;
        let fitting = |bytes: u64| usize::try_from(bytes / row).unwrap_or(usize::MAX);
        let room = fitting(fft::room(&gpu.facts().limits));
        let least = if whole { g.frames } else { 1 };
        if room < least {
            return Err(too_large(&g, row, gpu.facts(), whole));
        }
        // What adds up frames goes over all of a batch in one loop.
        let rounds = if is_software(gpu.facts()) { SOFTWARE_ROUNDS as usize / weights.tapers } else { usize::MAX };
        let at_once = fitting(batch_bytes(gpu.facts())).min(rounds).max(least).min(x.count.saturating_mul(g.frames));
        let rows = (signals * at_once.max(1)) as u64;
        let tapered = rows * weights.tapers as u64;
        let parts = g.nperseg.div_ceil(PART) as u64;
        let space = |wanted: bool, count: u64| -> Result<Slice> {
            Ok(if wanted { Slice::from(&gpu.allocate(16 * count)?) } else { nothing.clone() })
        };
        Ok(Spectra {
            weights,
            at_once,
            frames: gpu.allocate(tapered * 16 * quads as u64)?,
            spectra: gpu.allocate(tapered * 8 * bins as u64)?,
            lines: space(g.detrend != Detrend::None, rows)?,
            parts: space(g.detrend != Detrend::None && parts > 1, rows * parts)?,
            space: Vec::new(),
            gpu,
            variant,
            x,
            g,
            signals,
            nothing,
        })
    }

    /// How frames are computed together.
    pub fn batches(&self) -> Vec<Batch> {
        batches(self.x.count, self.g.frames, self.at_once)
    }

    /// Where the spectra of a batch are: channel after channel, of each signal after signal, of each frame after frame, of
    /// each taper after taper.
    pub fn spectra(&self) -> Slice {
        Slice::from(&self.spectra)
    }

    /// Where what was taken off the frames of a batch is: for each a mean and a slope, both in pairs of floats.
    pub fn lines(&self) -> Slice {
        self.lines.clone()
    }

    /// How many parts the variance of a frame has.
    pub fn variance_parts(&self) -> usize {
        self.g.nperseg.div_ceil(PART)
    }

    /// Records the variances of a batch's frames, times `factor`, in parts to be added up; after their spectra.
    pub fn variances(&self, batch: &Batch, factor: f64, to: &DeviceBuffer) -> Result<Command> {
        let (rows, parts) = (batch.channels * batch.frames * self.signals, self.variance_parts());
        let scale = (factor / self.g.nperseg as f64).sqrt() as f32;
        let more = [word(parts)?, word(PART)?, scale.to_bits(), 1f32.to_bits()];
        let args = [&self.cut(batch, rows)?[..], &more].concat();
        let settings = [
            ("BOUNDARY", boundary(self.g.boundary)),
            ("DETREND", detrend(self.g.detrend)),
            ("WG", summing(self.gpu.facts())),
        ];
        let buffers = [self.x.slice.clone(), self.lines.clone(), Slice::from(to)];
        launch(self.gpu, &compose_plain("spectral/variance", &settings)?, &args, &buffers, (rows * parts) as u64)
    }

    /// Records the spectra of a batch.
    pub fn record(&mut self, batch: &Batch) -> Result<Vec<Command>> {
        let (quads, bins) = (self.g.nperseg.div_ceil(4), self.g.bins());
        let rows = batch.channels * batch.frames * self.signals;
        let cut = self.cut(batch, rows)?;
        let mut commands = Vec::new();
        if self.g.detrend != Detrend::None {
            self.level(&cut, rows, &mut commands)?;
        }
        let Weights { values, plain, tapers } = &self.weights;
        let settings = [
            ("BOUNDARY", boundary(self.g.boundary)),
            ("DETREND", detrend(self.g.detrend)),
            ("WEIGHTED", u32::from(plain.is_none())),
        ];
        let scale = plain.unwrap_or(1.0) as f32;
        let args = [&cut[..], &[word(quads)?, scale.to_bits(), 1f32.to_bits(), word(*tapers)?]].concat();
        let buffers = [self.x.slice.clone(), values.clone(), self.lines.clone(), Slice::from(&self.frames)];
        let rows = rows * tapers;
        commands.push(each(self.gpu, "spectral/frames", &settings, &args, &buffers, rows * quads)?);
        let rows = |buffer, samples, pitch| Rows { slice: Slice::from(buffer), count: rows, samples, pitch };
        let from = rows(&self.frames, self.g.nperseg, 4 * quads);
        let to = rows(&self.spectra, 2 * bins, 2 * bins);
        let transformed = fft::rows_within(&transform(&self.g), self.gpu, self.variant, &from, &to, &mut self.space)?;
        commands.extend(transformed);
        Ok(commands)
    }

    fn cut(&self, batch: &Batch, rows: usize) -> Result<[u32; 12]> {
        cut(&self.g, &self.x, self.signals, batch, rows)
    }

    /// Records what finds the lines of frames.
    fn level(&self, cut: &[u32; 12], rows: usize, commands: &mut Vec<Command>) -> Result<()> {
        let g = &self.g;
        let parts = g.nperseg.div_ceil(PART);
        let more = [word(parts)?, word(PART)?, 1f32.to_bits(), 0];
        let args = [&cut[..], &more, &line_weights(g)].concat();
        let stage = |stage: u32, sums: &Slice, to: &Slice, groups: usize| {
            let settings = [
                ("BOUNDARY", boundary(g.boundary)),
                ("LINEAR", u32::from(g.detrend == Detrend::Linear)),
                ("WG", summing(self.gpu.facts())),
                ("STAGE", stage),
            ];
            let kernel = compose_plain("spectral/trend", &settings)?;
            launch(self.gpu, &kernel, &args, &[self.x.slice.clone(), sums.clone(), to.clone()], groups as u64)
        };
        match parts {
            1 => commands.push(stage(0, &self.nothing, &self.lines, rows)?),
            _ => commands.extend([
                stage(1, &self.nothing, &self.parts, rows * parts)?,
                stage(2, &self.parts, &self.lines, rows)?,
            ]),
        }
        Ok(())
    }
}

/// `Cut` of the kernels, for frames of rows of `signals` signals each.
pub(super) fn cut(g: &Geometry, x: &Rows, signals: usize, batch: &Batch, rows: usize) -> Result<[u32; 12]> {
    Ok([
        word(rows)?,
        word(batch.frames)?,
        word(batch.channel * signals)?,
        word(batch.frame)?,
        word(signals)?,
        word(x.samples / signals)?,
        word(x.pitch)?,
        word(g.samples)?,
        word(g.nperseg)?,
        word(g.step)?,
        word(g.edge)?,
        0,
    ])
}

/// What the sums of a frame are multiplied by, for its mean and its slope.
pub(super) fn line_weights(g: &Geometry) -> [u32; 4] {
    let n = g.nperseg as f64;
    let spread = n * (n * n - 1.0) / 12.0;
    let [a, b] = pair(1.0 / n);
    let [c, d] = pair(if spread > 0.0 { 1.0 / spread } else { 0.0 });
    [a, b, c, d]
}

/// Threads of a work group that sums a frame.
fn summing(facts: &Facts) -> u32 {
    if is_software(facts) { 8 } else { 64 }
}

pub(super) fn boundary(boundary: Boundary) -> u32 {
    match boundary {
        Boundary::None | Boundary::Zeros => 0,
        Boundary::Even => 1,
        Boundary::Odd => 2,
        Boundary::Constant => 3,
    }
}

pub(super) fn detrend(detrend: Detrend) -> u32 {
    match detrend {
        Detrend::None => 0,
        Detrend::Constant => 1,
        Detrend::Linear => 2,
    }
}

fn too_large(g: &Geometry, row: u64, facts: &Facts, whole: bool) -> Error {
    let frames = if whole { g.frames as u64 } else { 1 };
    Error::new(
        ErrorKind::Limit,
        format!(
            "spectra of {frames} frames of {} points take {} bytes in one binding, {} allows {}; use the cpu runtime",
            g.nfft,
            row.saturating_mul(frames),
            facts.name,
            fft::room(&facts.limits)
        ),
    )
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
pub(in crate::ops::spectral) mod tests;
