//! Wavelet transforms on devices: the spectrum of each channel (see the module `frames::gpu`: a channel is one frame), its
//! products with the spectra of wavelets (`spectral/wavelets.wgsl`), and what of their inverse transforms belongs to the
//! samples (`spectral/scales.wgsl`). Some wavelets at a time, with some channels at a time, so that all work space is bounded.
//!
//! Transforms are float32, so a channel is freed of its mean first, whose share in a line is known without a transform:
//! the sums of a wavelet's samples. The samples and sums are computed in float64 and rounded once; samples are sent, not
//! spectra, since a wavelet is as long as its scale and its spectrum as long as a channel.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::problem::Wavelets;
use crate::design::Window;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::launch::{compose_plain, constant, launch, word};
use crate::ops::problem::{Shape, Variant};
use crate::ops::spectral::fft::gpu::{self as fft, Rows, only};
use crate::ops::spectral::fft::{Kind, Norm, Transform};
use crate::ops::spectral::frames::gpu::{self as frames, Batch, Spectra, Weights};
use crate::ops::spectral::frames::{Boundary, Detrend, Geometry, Table};
use crate::runtime::DeviceArray;
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};

/// Values of a row that a work group takes.
const GROUP: usize = 256;
/// Most pairs of floats that follow the last line of a channel.
const PADDING: usize = crate::signal::ROW_ALIGN / 2 - 1;
/// Bytes of samples and sums of wavelets that a problem keeps.
const KEPT: usize = 64 << 20;

/// A channel as one frame.
fn geometry(n: usize, points: usize) -> Geometry {
    Geometry {
        samples: n,
        nperseg: n,
        step: n,
        nfft: points,
        edge: 0,
        frames: 1,
        boundary: Boundary::None,
        detrend: Detrend::Constant,
    }
}

fn complex(kind: Kind, points: usize) -> Transform {
    Transform { kind, n: Some(points), norm: Norm::Backward }
}

/// Variants, the default first: those of the transforms.
pub(super) fn variants(p: &Wavelets, facts: &Facts, shape: Shape) -> Vec<Variant> {
    if shape.samples == 0 {
        return Vec::new();
    }
    let points = p.points(shape.samples);
    let rows = Shape { channels: shape.channels, samples: 2 * points };
    let back = fft::variants(&complex(Kind::Ifft, points), facts, rows);
    let mut all = frames::variants(geometry(shape.samples, points), facts, shape);
    all.retain_mut(|variant| match back.iter().find(|other| other.settings == variant.settings) {
        Some(other) => {
            variant.name = format!("{} to {}", variant.name, other.name);
            true
        }
        None => false,
    });
    all
}

/// Samples of some wavelets and their sums, as kernels read them.
#[derive(Debug)]
pub(super) struct Samples {
    n: usize,
    wavelets: Range<usize>,
    /// Of each where its samples begin, their number, how many of them lie before its middle, and where its sums begin.
    places: Vec<u8>,
    samples: Vec<u8>,
    sums: Vec<u8>,
}

impl Samples {
    fn new(p: &Wavelets, n: usize, wavelets: Range<usize>) -> Result<Self> {
        let kernels: Vec<_> = wavelets.clone().into_par_iter().map(|scale| p.kernel(scale, n)).collect();
        let (mut places, mut samples, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        let put = |to: &mut Vec<u8>, v: Complex<f64>| {
            to.extend([v.re, v.im].iter().flat_map(|v| (*v as f32).to_le_bytes()));
        };
        for kernel in &kernels {
            let place = [samples.len() / 8, kernel.len(), (kernel.len() - 1) / 2, sums.len() / 8];
            for v in place {
                places.extend(word(v)?.to_le_bytes());
            }
            let mut sum = Complex::default();
            put(&mut sums, sum);
            for v in kernel {
                put(&mut samples, *v);
                sum += v;
                put(&mut sums, sum);
            }
        }
        Ok(Samples { n, wavelets, places, samples, sums })
    }

    /// Those that the problem has kept, or new ones.
    fn of(p: &Wavelets, n: usize, wavelets: Range<usize>) -> Result<Arc<Self>> {
        if let Some(kept) = p.samples().as_ref().filter(|kept| kept.n == n && kept.wavelets == wavelets) {
            return Ok(kept.clone());
        }
        let made = Arc::new(Samples::new(p, n, wavelets)?);
        if made.samples.len() + made.sums.len() <= KEPT {
            *p.samples() = Some(made.clone());
        }
        Ok(made)
    }
}

/// Records all channels.
pub(super) fn record(
    p: &Wavelets,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    let n = x.samples();
    if x.channels() == 0 || n == 0 {
        return Ok(Vec::new());
    }
    let (from, to) = (only("cwt", x)?, only("cwt", y)?);
    let points = p.points(n);
    let weights = Weights::window(gpu, &Table::new(&Window::Boxcar.into(), n)?, 1.0)?;
    let mut spectra = Spectra::new(gpu, variant, (from, 1), geometry(n, points), weights, false)?;
    let batches = spectra.batches();
    let most = batches.iter().map(|batch| batch.channels).max().unwrap_or(0);
    let mut scales = Scales::new(gpu, variant, (p.widths.len(), n, points), most, to)?;
    let held = scales.at_once.min(p.widths.len());
    let mut commands = Vec::new();
    for first in (0..p.widths.len()).step_by(held) {
        let wavelets = first..p.widths.len().min(first + held);
        let tables = scales.wavelets(p, wavelets, &mut commands)?;
        for batch in &batches {
            // What one batch has stays for all wavelets.
            if first == 0 || batches.len() > 1 {
                commands.extend(spectra.record(batch)?);
            }
            scales.lines(batch, &tables, &spectra, &mut commands)?;
        }
    }
    Ok(commands)
}

/// Some wavelets on the device.
struct Tables {
    wavelets: Range<usize>,
    places: Slice,
    sums: Slice,
}

/// What is recorded beside the spectra of channels.
struct Scales<'a> {
    gpu: &'a dyn Gpu,
    variant: &'a Variant,
    /// How many wavelets there are.
    count: usize,
    /// Samples of a channel.
    n: usize,
    points: usize,
    /// Rows that are computed together.
    at_once: usize,
    /// Spectra of wavelets.
    wavelets: DeviceBuffer,
    /// Rows before their transform, and after it.
    rows: [DeviceBuffer; 2],
    space: Vec<DeviceBuffer>,
    nothing: Slice,
    to: Rows,
}

impl<'a> Scales<'a> {
    /// For batches of at most so many channels.
    fn new(
        gpu: &'a dyn Gpu,
        variant: &'a Variant,
        (count, n, points): (usize, usize, usize),
        channels: usize,
        to: Rows,
    ) -> Result<Self> {
        let (row, room) = (8 * points as u64, fft::room(&gpu.facts().limits));
        if row > room {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "cwt needs transforms of {points} points, {row} bytes in one binding, {} allows {room}; use the cpu runtime or shorter channels",
                    gpu.facts().name
                ),
            ));
        }
        let fitting = usize::try_from(frames::batch_bytes(gpu.facts()) / row).unwrap_or(usize::MAX);
        let at_once = fitting.clamp(1, count.saturating_mul(channels.max(1)));
        let buffer = |rows: usize| gpu.allocate(rows as u64 * row);
        Ok(Scales {
            gpu,
            variant,
            count,
            n,
            points,
            at_once,
            wavelets: buffer(at_once.min(count))?,
            rows: [buffer(at_once)?, buffer(at_once)?],
            space: Vec::new(),
            nothing: constant(gpu, &[0; 16])?,
            to,
        })
    }

    /// Records transforms of rows from one buffer to another.
    fn transform(&mut self, kind: Kind, count: usize, to: &DeviceBuffer) -> Result<Vec<Command>> {
        let row = 2 * self.points;
        let rows = |buffer: &DeviceBuffer| Rows { slice: Slice::from(buffer), count, samples: row, pitch: row };
        let (from, to) = (rows(&self.rows[0]), rows(to));
        fft::rows_within(&complex(kind, self.points), self.gpu, self.variant, &from, &to, &mut self.space)
    }

    /// Records the spectra of some wavelets, as many as are computed at once at most.
    fn wavelets(&mut self, p: &Wavelets, wavelets: Range<usize>, commands: &mut Vec<Command>) -> Result<Tables> {
        let made = Samples::of(p, self.n, wavelets.clone())?;
        let (places, samples) = (constant(self.gpu, &made.places)?, constant(self.gpu, &made.samples)?);
        let sums = constant(self.gpu, &made.sums)?;
        let groups = self.points.div_ceil(GROUP);
        let count = wavelets.len();
        let args = [word(count)?, word(groups)?, word(self.points)?, 0, word(count)?, 0, 0, 0];
        let kernel = compose_plain("spectral/wavelets", &[("KIND", 0)])?;
        let buffers = [places.clone(), samples, self.nothing.clone(), Slice::from(&self.rows[0])];
        commands.push(launch(self.gpu, &kernel, &args, &buffers, (count * groups) as u64)?);
        let to = self.wavelets.clone();
        commands.extend(self.transform(Kind::Fft, count, &to)?);
        Ok(Tables { wavelets, places, sums })
    }

    /// Records the lines of a batch of channels for these wavelets.
    fn lines(
        &mut self,
        batch: &Batch,
        tables: &Tables,
        spectra: &Spectra<'_>,
        commands: &mut Vec<Command>,
    ) -> Result<()> {
        let wavelets = tables.wavelets.len();
        let all = batch.channels * wavelets;
        for first in (0..all).step_by(self.at_once) {
            let count = self.at_once.min(all - first);
            commands.push(self.multiply(first, count, tables, spectra)?);
            let to = self.rows[1].clone();
            commands.extend(self.transform(Kind::Ifft, count, &to)?);
            commands.push(self.put((first, count), batch, tables, spectra)?);
        }
        Ok(())
    }

    /// Records the products of spectra of channels and wavelets.
    fn multiply(&self, first: usize, count: usize, tables: &Tables, spectra: &Spectra<'_>) -> Result<Command> {
        let groups = self.points.div_ceil(GROUP);
        let args = [
            word(count)?,
            word(groups)?,
            word(self.points)?,
            word(self.points / 2 + 1)?,
            word(tables.wavelets.len())?,
            word(first)?,
            0,
            0,
        ];
        let kernel = compose_plain("spectral/wavelets", &[("KIND", 1)])?;
        let buffers =
            [tables.places.clone(), spectra.spectra(), Slice::from(&self.wavelets), Slice::from(&self.rows[0])];
        launch(self.gpu, &kernel, &args, &buffers, (count * groups) as u64)
    }

    /// Records what of transformed rows goes into the result.
    fn put(
        &self,
        (first, count): (usize, usize),
        batch: &Batch,
        tables: &Tables,
        spectra: &Spectra<'_>,
    ) -> Result<Command> {
        let groups = (self.n + PADDING).div_ceil(GROUP);
        let args = [
            word(count)?,
            word(groups)?,
            word(self.points)?,
            word(self.n)?,
            word(tables.wavelets.len())?,
            word(first)?,
            word(batch.channel)?,
            word(tables.wavelets.start)?,
            word(self.count)?,
            word(self.to.pitch / 2)?,
            0,
            0,
        ];
        let kernel = compose_plain("spectral/scales", &[])?;
        let buffers = [
            tables.places.clone(),
            tables.sums.clone(),
            spectra.lines(),
            Slice::from(&self.rows[1]),
            self.to.slice.clone(),
        ];
        launch(self.gpu, &kernel, &args, &buffers, (count * groups) as u64)
    }
}

#[cfg(all(test, feature = "wgpu"))]
#[path = "gpu_tests.rs"]
mod tests;
