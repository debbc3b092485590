//! Cascades of sections on a device: a thread for each channel, delta operators in float32 (see `filter/sosfilt.wgsl`),
//! or one for each block of each channel (see the module `blocks`).
//!
//! A state near the steady one of a large offset would drown what passes a high-pass. Where the filter's response at DC
//! is small and a channel's state is closer to `sosfilt_zi` times its first sample than to zero, that sample is removed
//! from the input, `sosfilt_zi` times it from the state, and what it comes out as is added back. From zero state nothing
//! is removed: the answer to the step is then as large as the step.

use super::blocks;
use super::precision::{Delta, Precision, predict};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Kernel;
use crate::ops::launch::{
    all, compose, compose_plain, constant, download, is_software, launch, pairs, space, upload, word,
};
use crate::ops::problem::{Shape, State, Variant};
use crate::runtime::gpu::{Command, DeviceBuffer, Facts, Gpu, Slice};
use crate::runtime::{DeviceArray, Segment};

/// Sections of one launch; longer cascades run in passes.
pub(in crate::ops::filter) const PASS: usize = 16;

/// Samples of one launch: drivers stop loops at 65,535 rounds of four samples.
const WINDOW: usize = 196_608;

/// Predicted error up to which plain float32 states are offered.
const PLAIN_BUDGET: f64 = 2.5e-7;

/// Predicted error up to which float32 coefficients and outputs do; beyond it everything is computed in pairs.
const BUDGET: f64 = 2.5e-7;

/// Response at DC, over the largest, up to which the first sample is removed.
const DC_RESPONSE: f64 = 0.25;

/// What to compute.
pub(in crate::ops::filter) struct Filter<'a> {
    pub(in crate::ops::filter) sos: &'a [[f64; 6]],
    /// Scipy's `sosfilt_zi`, none where the filter has a pole at z = 1.
    pub(in crate::ops::filter) step: Option<&'a [[f64; 2]]>,
    /// What [`precision`] says of it.
    pub(in crate::ops::filter) precision: Precision,
}

/// The errors of a cascade in float32, as predicted; costs far more than looking it up.
pub(in crate::ops::filter) fn precision(sos: &[[f64; 6]]) -> Precision {
    predict(&deltas(sos), PASS)
}

/// Variants, the default first. Empty where the device cannot hold the accuracy.
pub(in crate::ops::filter) fn variants(precision: &Precision, facts: &Facts, shape: Shape) -> Vec<Variant> {
    if spoilt(precision) {
        return Vec::new();
    }
    let default = if is_software(facts) { 8 } else { 32 };
    let (mut by_channels, mut in_blocks) = (Vec::new(), Vec::new());
    if facts.compensation {
        by_channels.extend(groups("compensated", default, facts));
        in_blocks.extend(blocks::variants("blocks", precision, facts, shape));
    }
    if precision.plain <= PLAIN_BUDGET {
        by_channels.extend(groups("delta", default, facts));
        in_blocks.extend(blocks::variants("delta-blocks", precision, facts, shape));
    }
    if blocks::come_first(facts, shape) {
        std::mem::swap(&mut by_channels, &mut in_blocks);
    }
    by_channels.extend(in_blocks);
    by_channels
}

/// Whether a variant keeps what sums of states round away.
fn compensates(variant: &Variant) -> bool {
    matches!(variant.method, "compensated" | "blocks")
}

fn groups(method: &'static str, default: u32, facts: &Facts) -> Vec<Variant> {
    let sizes: &[u32] = if is_software(facts) { &[8, 32] } else { &[32, 64] };
    space(method, &[("WG", default)], &[("WG", sizes)], |v| v[0].1 <= facts.limits.group_size)
}

/// Records the computation from zero state.
pub(in crate::ops::filter) fn record(
    filter: &Filter<'_>,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
) -> Result<Vec<Command>> {
    if pairs(x, y)?.is_empty() {
        return Ok(Vec::new());
    }
    let cascade = Cascade::new(filter, gpu, variant, x)?;
    let mut commands: Vec<_> = cascade.states.iter().cloned().map(Command::Clear).collect();
    commands.push(Command::Clear(cascade.offsets.clone()));
    commands.extend(cascade.filter(pairs(x, y)?)?);
    Ok(commands)
}

/// Computes, with state carried in and out if there is one: `state.values` is scipy's `zi`, `[channels][sections][2]`.
/// Which offset is removed is decided anew for each call; the values do not depend on it.
pub(in crate::ops::filter) fn run(
    filter: &Filter<'_>,
    gpu: &dyn Gpu,
    variant: &Variant,
    x: &DeviceArray,
    y: &DeviceArray,
    state: Option<&mut State>,
) -> Result<()> {
    let Some(state) = state else { return gpu.submit(&record(filter, gpu, variant, x, y)?) };
    state.check("sosfilt", x.channels(), filter.sos.len() * 2)?;
    if pairs(x, y)?.is_empty() {
        return Ok(());
    }
    let cascade = Cascade::new(filter, gpu, variant, x)?;
    let offsets = cascade.choose_offsets(&state.values)?;
    cascade.upload_states(&state.values, &offsets)?;
    gpu.submit(&cascade.filter(pairs(x, y)?)?)?;
    cascade.download_states(&mut state.values, &offsets)?;
    Ok(())
}

fn deltas(sos: &[[f64; 6]]) -> Vec<Delta> {
    sos.iter().map(Delta::new).collect()
}

/// A filter on its way to the device.
pub(in crate::ops::filter) struct Cascade<'a> {
    gpu: &'a dyn Gpu,
    variant: &'a Variant,
    channels: usize,
    pitch: usize,
    first: Slice,
    deltas: Vec<Delta>,
    /// Steady states of a unit step, as delta states; zero where no offset is removed.
    steady: Vec<[f64; 2]>,
    removes: bool,
    /// What an offset of 1 comes out as.
    gain: f32,
    wide: bool,
    offsets: DeviceBuffer,
    states: Vec<DeviceBuffer>,
}

impl<'a> Cascade<'a> {
    pub(in crate::ops::filter) fn new(
        filter: &Filter<'_>,
        gpu: &'a dyn Gpu,
        variant: &'a Variant,
        x: &DeviceArray,
    ) -> Result<Self> {
        let Filter { sos, step, precision } = *filter;
        let deltas = deltas(sos);
        check(gpu.facts(), variant, &precision)?;
        let gain = deltas.iter().zip(sos).map(|(_, s)| ((s[0] + s[1]) + s[2]) / ((1.0 + s[4]) + s[5])).product::<f64>();
        let removes = step.is_some() && precision.dc <= DC_RESPONSE && (gain as f32).is_finite();
        let steady = match step.filter(|_| removes) {
            Some(step) => deltas.iter().zip(step).map(|(d, z)| d.delta_state(*z)).collect(),
            None => vec![[0.0; 2]; deltas.len()],
        };
        let channels = x.channels();
        let first = x.segments().first().ok_or_else(|| Error::internal("an array with samples has no segment"))?;
        let states =
            deltas.chunks(PASS).map(|p| gpu.allocate((channels * p.len() * 16) as u64)).collect::<Result<_>>()?;
        Ok(Cascade {
            gpu,
            variant,
            channels,
            pitch: first.pitch,
            first: all(first),
            steady,
            removes,
            gain: if removes { gain as f32 } else { 0.0 },
            wide: compensates(variant) && (precision.compensated.is_nan() || precision.compensated > BUDGET),
            offsets: gpu.allocate(channels as u64 * 4)?,
            states,
            deltas,
        })
    }

    pub(super) fn gpu(&self) -> &dyn Gpu {
        self.gpu
    }

    pub(super) fn variant(&self) -> &Variant {
        self.variant
    }

    pub(super) fn channels(&self) -> usize {
        self.channels
    }

    /// Whether coefficients and signals are pairs of floats.
    pub(super) fn wide(&self) -> bool {
        self.wide
    }

    /// Samples of a block; 0 where channels are not cut.
    pub(super) fn block(&self) -> usize {
        self.variant.get("BLOCK") as usize
    }

    /// What is removed from each channel.
    pub(in crate::ops::filter) fn offsets(&self) -> &DeviceBuffer {
        &self.offsets
    }

    /// The states of each pass.
    pub(in crate::ops::filter) fn states(&self) -> &[DeviceBuffer] {
        &self.states
    }

    /// Whether offsets are removed at all.
    pub(in crate::ops::filter) fn removes(&self) -> bool {
        self.removes
    }

    /// What a removed offset of 1 comes out as.
    pub(in crate::ops::filter) fn gain(&self) -> f32 {
        self.gain
    }

    /// Steady states of a unit step, as delta states.
    pub(in crate::ops::filter) fn steady_states(&self, filter: &Filter<'_>) -> Vec<[f64; 2]> {
        filter.step.iter().flat_map(|step| self.deltas.iter().zip(*step)).map(|(d, z)| d.delta_state(*z)).collect()
    }

    pub(in crate::ops::filter) fn groups(&self, kernel: &Kernel) -> u64 {
        (self.channels as u64).div_ceil(u64::from(kernel.group_size))
    }

    /// The first sample of each channel whose state is closer to that sample's steady state than to zero, 0 for others.
    fn choose_offsets(&self, zi: &[f64]) -> Result<Vec<f32>> {
        let mut offsets = vec![0.0; self.channels];
        if self.removes {
            let kernel = compose_plain("filter/first_samples", &[])?;
            let args = [word(self.channels)?, word(self.pitch)?, 0, 0];
            let buffers = [self.first.clone(), Slice::from(&self.offsets)];
            self.gpu.submit(&[launch(self.gpu, &kernel, &args, &buffers, self.groups(&kernel))?])?;
            let first: Vec<f32> = download(self.gpu, &self.offsets, self.channels)?;
            let per_channel = self.deltas.len() * 2;
            for ((offset, x0), zi) in offsets.iter_mut().zip(first).zip(zi.chunks_exact(per_channel)) {
                let steady = self.steady.iter().zip(&self.deltas).flat_map(|(w, d)| d.scipy_state(*w));
                let (near, far) = zi.iter().zip(steady).fold((0.0, 0.0), |(near, far), (z, unit)| {
                    (near + (z - unit * f64::from(x0)).powi(2), far + z * z)
                });
                if x0.is_finite() && near < far {
                    *offset = x0;
                }
            }
        }
        upload(self.gpu, &self.offsets, &offsets.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
        Ok(offsets)
    }

    /// All passes over all of these segments.
    pub(in crate::ops::filter) fn filter(&self, segments: Vec<(&Segment, &Segment)>) -> Result<Vec<Command>> {
        self.less(&self.offsets, segments)
    }

    /// The same with other offsets than its own.
    pub(in crate::ops::filter) fn less(
        &self,
        offsets: &DeviceBuffer,
        segments: Vec<(&Segment, &Segment)>,
    ) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        for (pass, (sections, states)) in self.deltas.chunks(PASS).zip(&self.states).enumerate() {
            let mirror = u32::from(sections.iter().any(|d| d.sign < 0.0));
            let special = [
                ("SECTIONS", sections.len() as u32),
                ("COMPENSATED", u32::from(compensates(self.variant))),
                ("MIRROR", mirror),
                ("WIDE", u32::from(self.wide)),
                ("IN_PLACE", u32::from(pass > 0)),
            ];
            let coefficients: Vec<u8> = sections.iter().flat_map(words).flat_map(f32::to_le_bytes).collect();
            let coefficients = constant(self.gpu, &coefficients)?;
            for (from, to) in &segments {
                let buffers = [coefficients.clone(), all(from), Slice::from(offsets), Slice::from(states), all(to)];
                let subtracts = if pass == 0 { 1.0 } else { 0.0 };
                let gain = if pass + 1 == self.states.len() { self.gain } else { 0.0 };
                if self.block() > 0 && to.samples > self.block() {
                    self.blocks(sections, (subtracts, gain), &special, to, &buffers, &mut commands)?;
                } else {
                    self.windows((subtracts, gain), &special, to, &buffers, &mut commands)?;
                }
            }
        }
        Ok(commands)
    }

    /// The launches that cover a segment.
    fn windows(
        &self,
        (subtracts, gain): (f32, f32),
        special: &[(&'static str, u32)],
        segment: &Segment,
        buffers: &[Slice],
        commands: &mut Vec<Command>,
    ) -> Result<()> {
        let group = Variant::new("channels", &[("WG", self.variant.get("WG"))]);
        let kernel = &compose("filter/sosfilt", &group, special)?;
        for start in (0..segment.samples).step_by(WINDOW) {
            let samples = WINDOW.min(segment.samples - start);
            let last = start + samples == segment.samples;
            let rest4 = if last { segment.pitch / 4 - segment.samples.div_ceil(4) } else { 0 };
            let args = [
                word(self.channels)?,
                word(segment.pitch / 4)?,
                word(start / 4)?,
                word(samples / 4)?,
                word(samples % 4)?,
                subtracts.to_bits(),
                gain.to_bits(),
                1f32.to_bits(),
                word(rest4)?,
                0,
                0,
                0,
            ];
            commands.push(launch(self.gpu, kernel, &args, buffers, self.groups(kernel))?);
        }
        Ok(())
    }

    /// Writes scipy's states, less those of the offsets.
    fn upload_states(&self, zi: &[f64], offsets: &[f32]) -> Result<()> {
        let sections = self.deltas.len();
        for (pass, buffer) in self.states.iter().enumerate() {
            let first = pass * PASS;
            let count = PASS.min(sections - first);
            let mut bytes = Vec::with_capacity(count * self.channels * 16);
            for s in first..first + count {
                for (c, offset) in offsets.iter().enumerate() {
                    let at = (c * sections + s) * 2;
                    let w = self.deltas[s].delta_state([zi[at], zi[at + 1]]);
                    for (w, steady) in w.iter().zip(&self.steady[s]) {
                        bytes.extend(split(w - steady * f64::from(*offset)).into_iter().flat_map(f32::to_le_bytes));
                    }
                }
            }
            upload(self.gpu, buffer, &bytes)?;
        }
        Ok(())
    }

    fn download_states(&self, zi: &mut [f64], offsets: &[f32]) -> Result<()> {
        let sections = self.deltas.len();
        for (pass, buffer) in self.states.iter().enumerate() {
            let first = pass * PASS;
            let count = PASS.min(sections - first);
            let values: Vec<f32> = download(self.gpu, buffer, count * self.channels * 4)?;
            for (k, v) in values.chunks_exact(4).enumerate() {
                let (s, c) = (first + k / self.channels, k % self.channels);
                let offset = f64::from(offsets[c]);
                let pair = |at: usize| f64::from(v[2 * at]) + f64::from(v[2 * at + 1]) + self.steady[s][at] * offset;
                let at = (c * sections + s) * 2;
                zi[at..at + 2].copy_from_slice(&self.deltas[s].scipy_state([pair(0), pair(1)]));
            }
        }
        Ok(())
    }
}

/// Whether the variant can be trusted with this filter on this device.
fn check(facts: &Facts, variant: &Variant, precision: &Precision) -> Result<()> {
    let trusted = match variant.method {
        "compensated" | "blocks" => facts.compensation,
        _ => precision.plain <= PLAIN_BUDGET,
    };
    if trusted && !spoilt(precision) { Ok(()) } else { Err(refusal(facts, precision)) }
}

/// Whether float32 between passes would cost too much. A filter that gives nothing has no relative error to speak of.
fn spoilt(precision: &Precision) -> bool {
    precision.handing > BUDGET
}

/// Why a device has no variant for a filter.
pub(in crate::ops::filter) fn refusal(facts: &Facts, precision: &Precision) -> Error {
    let text = if !spoilt(precision) {
        format!("{} loses the low words of compensated sums (start-up self-test), and plain float32", facts.name)
    } else {
        format!("{} hands float32 from one pass of {PASS} sections to the next, which", facts.name)
    };
    let error = precision.plain.max(precision.handing);
    Error::new(
        ErrorKind::Precision,
        format!("{text} would compute this filter with a relative error of about {error:.0e}; use the cpu runtime"),
    )
}

/// A number as the sum of two floats.
pub(in crate::ops::filter) fn split(v: f64) -> [f32; 2] {
    let high = v as f32;
    [high, if high.is_finite() { (v - f64::from(high)) as f32 } else { 0.0 }]
}

/// A section as the kernel reads it.
fn words(d: &Delta) -> [f32; 12] {
    let [b0, d1, d2] = d.forward.map(split);
    let [e1, e2] = d.back.map(split);
    [b0[0], d1[0], d2[0], d.sign as f32, b0[1], d1[1], d2[1], 0.0, e1[0], e1[1], e2[0], e2[1]]
}

#[cfg(test)]
#[path = "gpu_tests.rs"]
mod tests;
