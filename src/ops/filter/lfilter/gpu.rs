//! FIR filters on a device: direct form in register tiles (see `filter/fir.wgsl`).
//!
//! Segments hand the samples their successors still need on in a history. Scipy's `zi` is added to the first outputs; the
//! state after the last sample is computed on the host, in float64, from the last samples of the input.

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::ops::launch::{
    all, compose, compose_plain, constant, download, is_software, launch, pairs, space, upload, word,
};
use crate::ops::problem::{Shape, State, Variant};
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};

/// Vectors of four taps that a pass may hold, as the kernel is composed.
const CAPACITIES: [usize; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/// Taps from which the sum keeps its rounding errors.
const COMPENSATED_TAPS: usize = 33;

/// Whether sums over these taps keep their rounding errors.
pub fn compensates<T>(taps: &[T]) -> bool {
    taps.len() >= COMPENSATED_TAPS
}

/// Variants, the default first.
pub fn variants(_taps: &[f64], facts: &Facts, _shape: Shape) -> Vec<Variant> {
    let default = if is_software(facts) { [("WG", 64), ("R", 16)] } else { [("WG", 64), ("R", 8)] };
    let (groups, tile): (&[u32], &[u32]) =
        if is_software(facts) { (&[8, 64], &[16, 32]) } else { (&[64, 128], &[8, 16]) };
    space("direct", &default, &[("WG", groups), ("R", tile)], |v| v[0].1 <= facts.limits.group_size)
}

/// Records the computation from zero state.
pub fn record(
    taps: &[f64],
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if pairs(x, y)?.is_empty() {
        return Ok(Vec::new());
    }
    Ok(Filter::new(taps, gpu, variant)?.record(x, y, None)?.0)
}

/// Computes, with state carried in and out if there is one: `state.values` is scipy's `zi`, `[channels][taps - 1]`.
pub fn run(
    taps: &[f64],
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
    state: Option<&mut State>,
) -> Result<()> {
    let order = taps.len().saturating_sub(1);
    let Some(state) = state.filter(|_| order > 0) else { return gpu.submit(&record(taps, gpu, variant, x, y)?) };
    state.check("lfilter", x.channels(), order)?;
    if pairs(x, y)?.is_empty() {
        return Ok(());
    }
    let filter = Filter::new(taps, gpu, variant)?;
    let addend = filter.upload(&state.values, order)?;
    let (commands, last) = filter.record(x, y, Some((&addend, order.div_ceil(4))))?;
    gpu.submit(&commands)?;
    let last = last.ok_or_else(|| Error::internal("the history after the last segment was not recorded"))?;
    let history = download(gpu, &last, x.channels() * filter.history)?;
    state.values.par_chunks_exact_mut(order).zip(history.par_chunks_exact(filter.history)).for_each(|(zi, recent)| {
        let recent = &recent[recent.len() - order.min(x.samples())..];
        next_state(taps, recent, x.samples(), zi);
    });
    Ok(())
}

/// Scipy's `zf` from `zi` and the last samples, as many as there are up to the order.
fn next_state(taps: &[f64], recent: &[f32], samples: usize, zi: &mut [f64]) {
    for k in 0..zi.len() {
        // Places only move towards the front, so the values still needed have not been overwritten.
        let kept = if k + samples < zi.len() { zi[k + samples] } else { 0.0 };
        zi[k] = taps[k + 1..].iter().zip(recent.iter().rev()).fold(kept, |sum, (h, v)| sum + h * f64::from(*v));
    }
}

/// A filter on its way to the device.
struct Filter<'a> {
    gpu: &'a dyn Gpu,
    variant: &'a Variant,
    taps: Vec<f32>,
    /// Outputs of a thread.
    width: usize,
    /// Vectors of taps of a pass.
    capacity: usize,
    /// Samples before a segment that are kept.
    history: usize,
    nothing: Slice,
}

impl<'a> Filter<'a> {
    fn new(taps: &[f64], gpu: &'a dyn Gpu, variant: &'a Variant) -> Result<Self> {
        let width = variant.get("R").max(1) as usize;
        let history = taps.len().next_multiple_of(width);
        let allowed = (gpu.facts().limits.uniform_bytes / 16) as usize;
        let wanted = history / 4;
        let fitting = || CAPACITIES.iter().copied().filter(|c| *c <= allowed);
        let capacity = fitting()
            .find(|c| *c >= wanted)
            .or_else(|| fitting().next_back())
            .ok_or_else(|| Error::internal(format!("a uniform binding of {allowed} vectors holds no taps")))?;
        let taps = taps.iter().map(|t| *t as f32).collect();
        Ok(Filter { gpu, variant, taps, width, capacity, history, nothing: constant(gpu, &[0; 16])? })
    }

    /// Commands for all segments, with an addend for the first outputs (its rows' vectors are counted); then also the
    /// buffer with the history after the last segment.
    fn record(
        &self,
        x: &DeviceArray,
        y: &DeviceArray,
        addend: Option<(&DeviceBuffer, usize)>,
    ) -> Result<(Vec<Command>, Option<DeviceBuffer>)> {
        let pairs = pairs(x, y)?;
        let mut commands = Vec::new();
        let mut before: Option<DeviceBuffer> = None;
        let zero = || -> Result<DeviceBuffer> { self.gpu.allocate((x.channels() * self.history * 4) as u64) };
        for (i, (from, to)) in pairs.iter().enumerate() {
            let place = addend.filter(|(_, size4)| from.start / 4 < *size4);
            let history = before.as_ref().map_or_else(|| self.nothing.clone(), Slice::from);
            let added = place.map_or_else(|| self.nothing.clone(), |(buffer, _)| Slice::from(buffer));
            let buffers = [all(from), history, added, all(to)];
            let tiles = to.pitch.div_ceil(self.width);
            for (pass, taps) in self.taps.chunks(self.capacity * 4).enumerate() {
                let first = pass * self.capacity * 4 / self.width;
                let size4 = place.filter(|_| pass == 0).map(|(_, size4)| size4);
                let window = Window { pitch: from.pitch, ..Window::default() };
                let places =
                    Places { channels: x.channels(), pitch: to.pitch, tiles, first, start: from.start, window };
                commands.push(self.launch(taps, &places, before.is_some(), size4, &buffers)?);
            }
            if i + 1 < pairs.len() || addend.is_some() {
                let old = match before.take() {
                    Some(old) => old,
                    None => {
                        let old = zero()?;
                        commands.push(Command::Clear(old.clone()));
                        old
                    }
                };
                let new = zero()?;
                let args = [word(x.channels())?, word(from.pitch)?, word(from.samples)?, word(self.history)?];
                let kernel = compose_plain("filter/fir_history", &[])?;
                let groups = (x.channels() * self.history).div_ceil(kernel.group_size.max(1) as usize);
                let buffers = [all(from), Slice::from(&old), Slice::from(&new)];
                commands.push(launch(self.gpu, &kernel, &args, &buffers, groups as u64)?);
                before = Some(new);
            }
        }
        Ok((commands, before))
    }

    fn launch(
        &self,
        taps: &[f32],
        places: &Places,
        history: bool,
        addend4: Option<usize>,
        buffers: &[Slice; 4],
    ) -> Result<Command> {
        let special = [
            ("CAPACITY", self.capacity as u32),
            ("HISTORY", u32::from(history)),
            ("ADDEND", u32::from(addend4.is_some())),
            ("ACCUMULATE", u32::from(places.first > 0)),
            ("COMPENSATE", u32::from(compensates(&self.taps))),
            ("WINDOW", u32::from(places.window.samples > 0)),
        ];
        let kernel = compose("filter/fir", self.variant, &special)?;
        let mut bytes: Vec<u8> = taps.iter().flat_map(|t| t.to_le_bytes()).collect();
        bytes.resize(self.capacity * 16, 0);
        let args = [
            word(places.channels)?,
            word(places.pitch / 4)?,
            word(places.tiles)?,
            word(places.first)?,
            word(taps.len().div_ceil(self.width))?,
            word(taps.len())?,
            word(self.history)?,
            word(addend4.unwrap_or(0))?,
            word(places.start / 4)?,
            1f32.to_bits(),
            word(places.window.pitch / 4)?,
            word(places.window.samples)?,
            word(places.window.shift)?,
            word(places.window.skip)?,
            word(places.window.channel)?,
            word(places.window.results)?,
        ];
        let mut all = vec![constant(self.gpu, &bytes)?];
        all.extend_from_slice(buffers);
        let groups = (places.channels * places.tiles).div_ceil(kernel.group_size.max(1) as usize);
        launch(self.gpu, &kernel, &args, &all, groups as u64)
    }

    /// Scipy's `zi` as float32 rows padded to whole vectors.
    fn upload(&self, zi: &[f64], order: usize) -> Result<DeviceBuffer> {
        let row = order.next_multiple_of(4);
        let mut bytes = Vec::with_capacity(zi.len() / order * row * 4);
        for channel in zi.chunks_exact(order) {
            bytes.extend(channel.iter().flat_map(|v| (*v as f32).to_le_bytes()));
            bytes.resize(bytes.len() + (row - order) * 4, 0);
        }
        let buffer = self.gpu.allocate(bytes.len() as u64)?;
        upload(self.gpu, &buffer, &bytes)?;
        Ok(buffer)
    }
}

/// Where a launch works.
struct Places {
    channels: usize,
    pitch: usize,
    tiles: usize,
    /// First block of taps.
    first: usize,
    /// First sample of the segment.
    start: usize,
    window: Window,
}

/// What is read, where results are those of another part of the convolution than the samples' own times.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    /// Values between rows of samples.
    pitch: usize,
    /// Samples of a channel; 0: results are those of the samples' times.
    samples: usize,
    /// Tiles by which results are ahead of samples.
    shift: usize,
    /// Zeros before the taps.
    skip: usize,
    /// The first channel.
    channel: usize,
    /// Results of a channel.
    results: usize,
}

/// Some channels of an array of one segment, and where the results begin, as counted in the full convolution.
pub struct Part {
    pub channel: usize,
    pub channels: usize,
    pub first: usize,
}

/// Records a part of the convolution of some channels of `x` into those of `y`.
pub fn record_part(
    taps: &[f64],
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &Segment,
    y: &Segment,
    part: &Part,
) -> Result<Vec<Command>> {
    let width = variant.get("R").max(1) as usize;
    // Tiles of results begin where tiles of samples do: zeros before the taps make up for the rest.
    let skip = part.first.next_multiple_of(width) - part.first;
    let filter = Filter::new(&[&vec![0.0; skip], taps].concat(), gpu, variant)?;
    let buffers = [all(x), filter.nothing.clone(), filter.nothing.clone(), all(y)];
    let (tiles, shift) = (y.pitch.div_ceil(width), (part.first + skip) / width);
    let passes = filter.taps.chunks(filter.capacity * 4).enumerate().map(|(pass, taps)| {
        let first = pass * filter.capacity * 4 / width;
        let skip = if pass == 0 { skip } else { 0 };
        let window =
            Window { pitch: x.pitch, samples: x.samples, shift, skip, channel: part.channel, results: y.samples };
        let places = Places { channels: part.channels, pitch: y.pitch, tiles, first, start: 0, window };
        filter.launch(taps, &places, false, None, &buffers)
    });
    passes.collect()
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
