//! Timing variants at the size at hand; the first run of each is checked, because small problems do not show everything.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::data::Data;
use super::proof::{bits, compare, rounds_differently};
use super::{Job, wrong};
use crate::error::{Error, Result};
use crate::ops::problem::{Locality, Shape, Variant};
use crate::runtime::Target;
#[cfg(feature = "gpu")]
use crate::runtime::{DeviceArray, Layout};
#[cfg(feature = "gpu")]
use crate::signal::Dtype;
use crate::signal::Signal;
use crate::tune::Tunable;

/// What a job knows of its timing.
#[derive(Default)]
pub(super) struct Timing {
    /// Made on first use.
    data: OnceCell<Timed>,
    /// Variants whose result at the timed shape was right.
    proven: RefCell<BTreeSet<usize>>,
    /// The first of them under each rounding, and the bits of its result.
    bits: RefCell<BTreeMap<String, (usize, u128)>>,
}

/// Data for timing.
pub(super) struct Timed {
    pub(super) x: Data,
    host: RefCell<Option<Signal>>,
    #[cfg(feature = "gpu")]
    device: Option<(DeviceArray, DeviceArray)>,
    pub(super) expected: Vec<Part>,
}

/// Reference values of a part of a result.
pub(super) struct Part {
    channel: usize,
    pub(super) start: usize,
    pub(super) values: Vec<f64>,
    /// Largest magnitude of the channel's input.
    max_x: f64,
}

/// Most products that the reference of a whole channel may take; where it would take more, windows are compared.
const WHOLE_CHANNEL: usize = 1 << 26;

impl Job<'_> {
    pub(super) fn timed(&self) -> Result<&Timed> {
        if let Some(t) = self.timed.data.get() {
            return Ok(t);
        }
        let x = Data::noise(self.timed_shape, self.input, 7);
        let expected = self.expected(&x)?;
        let out = self.problem.output(self.timed_shape);
        let t = match &self.target {
            Target::Cpu => Timed {
                host: RefCell::new(Some(Signal::dirty(out.channels, out.samples)?)),
                #[cfg(feature = "gpu")]
                device: None,
                x,
                expected,
            },
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                let device = DeviceArray::upload(gpu, x.source())?;
                let y = DeviceArray::empty(gpu, out.channels, out.samples, Dtype::F32, Layout::Planar)?;
                Timed { host: RefCell::new(None), device: Some((device, y)), x, expected }
            }
        };
        Ok(self.timed.data.get_or_init(|| t))
    }

    /// Reference values of the parts that are compared at the timed shape.
    fn expected(&self, x: &Data) -> Result<Vec<Part>> {
        let Shape { channels, samples } = self.timed_shape;
        let mut ends = vec![0, channels - 1];
        ends.dedup();
        let three = |len: usize| [0, (samples - len) / 2, samples - len].map(|start| (start, len));
        let mut parts = Vec::new();
        match self.problem.locality() {
            Locality::Channel => {
                let windows = match self.problem.memory() {
                    Some(m) if m.saturating_mul(samples) > WHOLE_CHANNEL => three(samples.min(1024)).to_vec(),
                    _ => vec![(0, samples)],
                };
                for channel in ends {
                    let (row, max_x) = (x.rows(channel, 1), x.max_of(channel));
                    for &(start, len) in &windows {
                        let before = self.problem.memory().unwrap_or(start).min(start);
                        let part = row.source().window(start - before, before + len);
                        let values = self.problem.reference_of(part, channel)?.split_off(before);
                        parts.push(Part { channel, start, values, max_x });
                    }
                }
            }
            Locality::Sample => {
                for (start, len) in three(samples.min(64)) {
                    let all = self.problem.reference(x.source().window(start, len), None)?;
                    for &channel in &ends {
                        let values = all[channel * len..(channel + 1) * len].to_vec();
                        parts.push(Part { channel, start, values, max_x: x.max_of(channel) });
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Checks a whole result of the timed shape.
    fn check_timed(&self, index: usize, y: &Signal, t: &Timed) -> Result<()> {
        if let Some(c) = (0..y.channels()).find(|c| y.row(*c).iter().any(|v| v.is_nan())) {
            return Err(wrong(format!("channel {c} has NaN where the input has none")));
        }
        let tolerance = self.tolerance();
        for Part { channel, start, values, max_x } in &t.expected {
            compare(&y.row(*channel)[*start..*start + values.len()], values, *max_x, tolerance)
                .map_err(|e| e.context(format!("channel {channel} from sample {start}")))?;
        }
        let mut known = self.timed.bits.borrow_mut();
        let own = (index, bits(y));
        let (first, expected) = *known.entry(self.rounding(index).to_string()).or_insert(own);
        match own.1 == expected {
            true => Ok(()),
            false => Err(rounds_differently(&self.variant(first)?.name)),
        }
    }

    /// Seconds of `repeats` runs; the first time a variant is timed, its whole result is checked.
    pub(super) fn measure(&self, index: usize, repeats: u32) -> Result<f64> {
        let variant = self.variant(index)?;
        let t = self.timed()?;
        let proven = self.timed.proven.borrow().contains(&index);
        let seconds = match &self.target {
            Target::Cpu => self.measure_on_cpu(index, variant, t, repeats, proven)?,
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                let (x, y) = t.device.as_ref().ok_or_else(|| Error::internal("a GPU job has device arrays"))?;
                let commands = self.problem.record(gpu.as_ref(), variant, x, y)?;
                if !proven {
                    // A pooled buffer may hold the right result of another variant.
                    for segment in y.segments() {
                        let bytes = segment.buffer.bytes;
                        gpu.write(&segment.buffer, 0, bytes, &mut |_, part| part.fill(super::watched::NAN_BYTE))?;
                    }
                }
                let seconds = gpu.time(&commands, repeats)?;
                if !proven {
                    self.check_timed(index, &y.download()?, t)?;
                }
                seconds
            }
        };
        self.timed.proven.borrow_mut().insert(index);
        Ok(seconds)
    }

    fn measure_on_cpu(&self, index: usize, variant: &Variant, t: &Timed, repeats: u32, proven: bool) -> Result<f64> {
        let mut host = t.host.borrow_mut();
        let y = host.as_mut().ok_or_else(|| Error::internal("a CPU job has a host output"))?;
        if !proven {
            y.view_mut().data_mut().fill(f32::NAN);
        }
        let start = Instant::now();
        for _ in 0..repeats {
            self.problem.run_cpu(variant, t.x.source(), y.view_mut(), None)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        if !proven {
            self.check_timed(index, y, t)?;
        }
        Ok(seconds)
    }
}
