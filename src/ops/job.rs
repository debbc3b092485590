//! A problem at a size on a target, as the tuner sees it.
//!
//! A variant is proven before it is timed. On small shapes around every tile (noise, an impulse, a constant) its result,
//! written over NaN (on the CPU between guard words), must match the float64 reference twice. At the timed shape, again
//! over NaN, every value is scanned for NaN and two whole channels (or, for operations across channels, windows at both
//! ends and in the middle, as for very long responses) are compared: a loop cut off by a driver shows only at full length.
//!
//! A call that meets a class for the first time is timed on at most [`FIRST_MEETING`] values, fewer samples than it has if
//! need be: data of the size of a whole recording would take longer to make than the measurement may last, and as much
//! memory again as the call itself.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::ops::problem::{Locality, Problem, Shape, Tolerance, Variant};
use crate::ops::registry;
use crate::ops::yardstick;
#[cfg(feature = "gpu")]
use crate::runtime::{DeviceArray, Layout};
use crate::runtime::{Target, cpu};
use crate::signal::{Dtype, Signal, Source, View, ViewMut};
use crate::tune::{self, DeviceFacts, Tunable, Work};

/// What the input of a job is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) dtype: Dtype,
    pub(crate) interleaved: bool,
}

impl Input {
    fn of(x: &Source<'_>) -> Self {
        let interleaved = match x {
            Source::F32(v) => v.sample_stride() != 1 && v.samples() > 1,
            Source::I16(v) => v.sample_stride() != 1 && v.samples() > 1,
        };
        Input { dtype: x.dtype(), interleaved }
    }
}

/// A problem, a shape, a target and the variants legal there.
pub(crate) struct Job<'a> {
    problem: &'a dyn Problem,
    target: Target,
    /// Of the problem at hand.
    shape: Shape,
    /// Of what is timed.
    timed_shape: Shape,
    input: Input,
    class: String,
    device: String,
    variants: Vec<Variant>,
    names: Vec<String>,
    probes: OnceCell<Probes>,
    timed: OnceCell<Timed>,
    proven: RefCell<Vec<bool>>,
}

/// Most values of the problem that a first meeting is timed on: 64 MiB, beyond the caches and quick to make.
const FIRST_MEETING: usize = 1 << 24;
/// But never fewer samples than this.
const FEWEST_SAMPLES: usize = 1 << 12;

/// Small problems with their reference results.
struct Probes {
    cases: Vec<(Data, Vec<f64>)>,
    /// Identity of the shapes and results: problems of one class with other coefficients have another one.
    content: u128,
}

/// Data for timing, made on first use.
struct Timed {
    x: Data,
    host: RefCell<Option<Signal>>,
    #[cfg(feature = "gpu")]
    device: Option<(DeviceArray, DeviceArray)>,
    expected: Vec<Part>,
}

/// Reference values of a part of a result.
struct Part {
    channel: usize,
    start: usize,
    values: Vec<f64>,
    /// Largest magnitude of the channel's input.
    max_x: f64,
}

/// Most products that the reference of a whole channel may take; where it would take more, windows are compared.
const WHOLE_CHANNEL: usize = 1 << 26;

impl<'a> Job<'a> {
    /// A job on the CPU, shaped like a real input.
    pub(crate) fn cpu(problem: &'a dyn Problem, x: &Source<'_>) -> Self {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        Self::new(problem, Target::Cpu, shape, Input::of(x)).first_meeting()
    }

    /// A job on a device, shaped like a real input.
    #[cfg(feature = "gpu")]
    pub(crate) fn gpu(problem: &'a dyn Problem, x: &DeviceArray) -> Self {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        let input = Input { dtype: x.dtype(), interleaved: x.layout() == Layout::Interleaved };
        Self::new(problem, Target::Gpu(x.gpu().clone()), shape, input).first_meeting()
    }

    /// Times a problem of fewer samples where this one is large, if the same variants are legal there.
    fn first_meeting(mut self) -> Self {
        let Shape { channels, samples } = self.shape;
        if channels.saturating_mul(samples) > FIRST_MEETING {
            let samples = (FIRST_MEETING / channels).max(FEWEST_SAMPLES).min(samples);
            let shape = Shape { channels, samples };
            let legal = self.legal(shape);
            if self.variants.iter().all(|v| legal.contains(v)) {
                self.timed_shape = shape;
            }
        }
        self
    }

    /// Variants legal at a shape.
    fn legal(&self, shape: Shape) -> Vec<Variant> {
        legal(self.problem, &self.target, shape)
    }

    /// A job of any shape and input.
    pub(crate) fn new(problem: &'a dyn Problem, target: Target, shape: Shape, input: Input) -> Self {
        let variants = legal(problem, &target, shape);
        let device = match &target {
            Target::Cpu => cpu::device_key(),
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => gpu.facts().key.clone(),
        };
        let layout = if input.interleaved { "interleaved" } else { "planar" };
        let class = format!("{}-{}-{layout}", problem.class(), input.dtype.name());
        let names: Vec<String> = variants.iter().map(|v| v.name.clone()).collect();
        let class = tune::class_name(&class, &tune::size_class(shape.channels, shape.samples, &[&choice(&names)]));
        let proven = RefCell::new(vec![false; variants.len()]);
        Job {
            problem,
            target,
            shape,
            timed_shape: shape,
            input,
            class,
            device,
            variants,
            names,
            probes: OnceCell::new(),
            timed: OnceCell::new(),
            proven,
        }
    }

    pub(crate) fn variant(&self, index: usize) -> Result<&Variant> {
        self.variants.get(index).ok_or_else(|| {
            #[cfg(feature = "gpu")]
            if let Target::Gpu(gpu) = &self.target
                && let Some(refusal) = self.problem.gpu_refusal(gpu.facts())
            {
                return refusal;
            }
            Error::new(
                ErrorKind::Unsupported,
                format!(
                    "{} has no variant for {} channels x {} samples on this device; use another runtime, cpu always works",
                    self.problem.operation(),
                    self.shape.channels,
                    self.shape.samples
                ),
            )
        })
    }

    fn tolerance(&self) -> Tolerance {
        let mut t = self.problem.tolerance();
        if t.float64_tight && matches!(self.target, Target::Cpu) {
            t.gain = 0.0;
        }
        t
    }

    /// Runs one variant on `data` into an output filled with NaN, and returns it without guards.
    fn run(&self, variant: &Variant, data: &Data) -> Result<Signal> {
        let shape = data.shape();
        let out = self.problem.output(shape);
        match &self.target {
            Target::Cpu => {
                let mut guarded = Guarded::new(out)?;
                self.problem.run_cpu(variant, data.source(), guarded.view()?, None)?;
                guarded.check()
            }
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                let x = DeviceArray::upload(gpu, data.source())?;
                let mut nan = Signal::zeros(out.channels, out.samples)?;
                nan.view_mut().data_mut().fill(f32::NAN);
                let y = DeviceArray::upload(gpu, (&nan).into())?;
                gpu.submit(&self.problem.record(gpu.as_ref(), variant, &x, &y)?)?;
                y.download()
            }
        }
    }

    fn timed(&self) -> Result<&Timed> {
        if let Some(t) = self.timed.get() {
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
        Ok(self.timed.get_or_init(|| t))
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
                    let row = x.rows(channel, 1);
                    let max_x = row.source_max();
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
                        parts.push(Part { channel, start, values, max_x: x.rows(channel, 1).source_max() });
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Checks a whole result of the timed shape.
    fn check_timed(&self, y: &Signal, t: &Timed) -> Result<()> {
        if let Some(c) = (0..y.channels()).find(|c| y.row(*c).iter().any(|v| v.is_nan())) {
            return Err(wrong(format!("channel {c} has NaN where the input has none")));
        }
        let tolerance = self.tolerance();
        for Part { channel, start, values, max_x } in &t.expected {
            compare(&y.row(*channel)[*start..*start + values.len()], values, *max_x, tolerance)
                .map_err(|e| e.context(format!("channel {channel} from sample {start}")))?;
        }
        Ok(())
    }
}

impl Tunable for Job<'_> {
    fn operation(&self) -> &str {
        self.problem.operation()
    }

    fn class(&self) -> &str {
        &self.class
    }

    fn identity(&self) -> u128 {
        let on_gpu = !matches!(self.target, Target::Cpu);
        registry::entry(self.problem.operation()).map_or(0, |e| e.identity(on_gpu))
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn driver(&self) -> &str {
        match &self.target {
            Target::Cpu => yardstick::CPU_DRIVER,
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => &gpu.facts().driver,
        }
    }

    fn variants(&self) -> &[String] {
        &self.names
    }

    fn prepare(&self) -> Result<()> {
        self.timed().map(|_| ())
    }

    fn work(&self) -> Work {
        let Shape { channels, samples } = self.timed_shape;
        let bytes = registry::entry(self.problem.operation())
            .map_or(0, |e| (e.ideal_bytes)(self.problem, self.input.dtype, self.timed_shape));
        Work { channels: channels as u64, samples: samples as u64, bytes }
    }

    fn end_to_end(&self, index: usize) -> Result<Option<f64>> {
        let (variant, t) = (self.variant(index)?, self.timed()?);
        yardstick::end_to_end(self.problem, variant, &self.target, t.x.source()).map(Some)
    }

    fn facts(&self) -> DeviceFacts {
        yardstick::facts(&self.target)
    }

    fn verify(&self, index: usize) -> Result<()> {
        let variant = self.variant(index)?;
        let probes = self.probes()?;
        let key =
            format!("{} {} {:?} {:032x} {}", self.device, self.operation(), self.input, probes.content, variant.name);
        let known = || VERIFIED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = known().get(&key) {
            return result.clone();
        }
        let result = self.verify_afresh(variant, probes);
        // What passes is no property of the variant.
        if !result.as_ref().is_err_and(|e| e.kind().is_passing()) {
            known().insert(key, result.clone());
        }
        result
    }

    fn time(&self, index: usize, repeats: u32) -> Result<f64> {
        let variant = self.variant(index)?;
        let t = self.timed()?;
        let proven = self.proven.borrow()[index];
        let seconds = self.measure(variant, t, repeats, proven)?;
        self.proven.borrow_mut()[index] = true;
        Ok(seconds)
    }
}

/// Results of the checks on small problems in this process: they do not depend on the size that is timed, but on
/// everything else, coefficients included.
static VERIFIED: Mutex<BTreeMap<String, Result<()>>> = Mutex::new(BTreeMap::new());

/// Channels of the small problems.
fn few(channels: usize) -> usize {
    channels.clamp(1, 40)
}

impl Job<'_> {
    fn probes(&self) -> Result<&Probes> {
        if let Some(probes) = self.probes.get() {
            return Ok(probes);
        }
        let mut cases = Vec::new();
        let mut hash = xxhash_rust::xxh3::Xxh3Default::new();
        for data in probes(self.problem, self.shape.channels, self.input) {
            let expected = self.problem.reference(data.source(), None)?;
            let Shape { channels, samples } = data.shape();
            hash.update(bytemuck::cast_slice(&[channels as u64, samples as u64]));
            hash.update(bytemuck::cast_slice(&expected));
            cases.push((data, expected));
        }
        let tolerance = self.tolerance();
        hash.update(bytemuck::cast_slice(&[tolerance.relative, tolerance.gain]));
        Ok(self.probes.get_or_init(|| Probes { cases, content: hash.digest128() }))
    }

    fn verify_afresh(&self, variant: &Variant, probes: &Probes) -> Result<()> {
        let tolerance = self.tolerance();
        for (data, expected) in &probes.cases {
            if !self.legal(data.shape()).contains(variant) {
                continue;
            }
            for _ in 0..2 {
                let y = self.run(variant, data)?;
                for c in 0..y.channels() {
                    let n = y.samples();
                    compare(y.row(c), &expected[c * n..(c + 1) * n], data.rows(c, 1).source_max(), tolerance).map_err(
                        |e| e.context(format!("{} x {}, channel {c}", data.shape().channels, data.shape().samples)),
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Seconds of `repeats` runs; the first time a variant is timed, its whole result is checked.
    fn measure(&self, variant: &Variant, t: &Timed, repeats: u32, proven: bool) -> Result<f64> {
        match &self.target {
            Target::Cpu => {
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
                    self.check_timed(y, t)?;
                }
                Ok(seconds)
            }
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                let (x, y) = t.device.as_ref().ok_or_else(|| Error::internal("a GPU job has device arrays"))?;
                let commands = self.problem.record(gpu.as_ref(), variant, x, y)?;
                if !proven {
                    // A pooled buffer may hold the right result of another variant.
                    for segment in y.segments() {
                        gpu.write(&segment.buffer, 0, segment.buffer.bytes, &mut |_, memory| memory.fill(NAN_BYTE))?;
                    }
                }
                let seconds = gpu.time(&commands, repeats)?;
                if !proven {
                    self.check_timed(&y.download()?, t)?;
                }
                Ok(seconds)
            }
        }
    }
}

/// Four of these are a NaN.
#[cfg(feature = "gpu")]
const NAN_BYTE: u8 = 0xff;

fn legal(problem: &dyn Problem, target: &Target, shape: Shape) -> Vec<Variant> {
    match target {
        Target::Cpu => problem.cpu_variants(shape),
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => problem.gpu_variants(gpu.facts(), shape),
    }
}

/// What there is to choose from, fit for a file name. Legality may depend on coefficients and sizes that the rest of a
/// class does not name; problems with other choices do not share a result.
fn choice(names: &[String]) -> String {
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    format!("v{:08x}", xxhash_rust::xxh3::xxh3_64(sorted.join(",").as_bytes()) as u32)
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Precision, message)
}

/// The error bound of [`Tolerance`], for one channel.
pub(crate) fn compare(y: &[f32], expected: &[f64], max_x: f64, tolerance: Tolerance) -> Result<()> {
    let max_ref = expected.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let bound = tolerance.relative * max_ref.max(tolerance.gain * max_x);
    for (n, (y, e)) in y.iter().zip(expected).enumerate() {
        // The nearest float32 is right whatever the bound says: beyond its range an infinity, far below it a zero.
        let same = (y.is_nan() && e.is_nan()) || *y == *e as f32;
        let error = (f64::from(*y) - e).abs();
        if !same && (error.is_nan() || error > bound) {
            return Err(wrong(format!("sample {n} is {y}, expected {e} within {bound:.2e}")));
        }
    }
    Ok(())
}

/// An output between guard words, filled with NaN.
struct Guarded {
    data: Vec<f32>,
    shape: Shape,
    pitch: usize,
}

const GUARD: usize = 64;
const GUARD_WORD: f32 = 12345.675;

impl Guarded {
    fn new(shape: Shape) -> Result<Self> {
        let pitch = crate::signal::pitch(shape.samples);
        let len = shape.channels.saturating_mul(pitch).saturating_add(2 * GUARD);
        let mut data = vec![GUARD_WORD; len];
        for row in data[GUARD..len - GUARD].chunks_exact_mut(pitch.max(1)) {
            row[..shape.samples].fill(f32::NAN);
        }
        Ok(Guarded { data, shape, pitch })
    }

    fn view(&mut self) -> Result<ViewMut<'_>> {
        let end = self.data.len() - GUARD;
        ViewMut::with_pitch(&mut self.data[GUARD..end], self.shape.channels, self.shape.samples, self.pitch)
    }

    fn check(self) -> Result<Signal> {
        let end = self.data.len() - GUARD;
        if self.data[..GUARD].iter().chain(&self.data[end..]).any(|v| *v != GUARD_WORD) {
            return Err(wrong("values were written outside the output".into()));
        }
        let inner = &self.data[GUARD..end];
        Signal::from_source(View::with_strides(inner, self.shape.channels, self.shape.samples, self.pitch, 1)?.into())
    }
}

/// Owned input of any accepted kind.
pub(crate) struct Data {
    shape: Shape,
    input: Input,
    f32s: Vec<f32>,
    i16s: Vec<i16>,
}

impl Data {
    fn filled(shape: Shape, input: Input, value: impl Fn(usize, usize) -> f32 + Sync) -> Self {
        let mut data = Data { shape, input, f32s: Vec::new(), i16s: Vec::new() };
        match input.dtype {
            Dtype::F32 => data.f32s = fill(shape, input, &value),
            Dtype::I16 => data.i16s = fill(shape, input, &|c, n| (value(c, n) * 1000.0) as i16),
        }
        data
    }

    /// Noise of unit scale with a different offset on every channel, as recordings have. Long arrays repeat a block, so
    /// that making them costs little beside running them.
    pub(crate) fn noise(shape: Shape, input: Input, seed: u32) -> Self {
        const BLOCK: usize = 1 << 16;
        let mut s = seed;
        let block: Vec<f32> = (0..BLOCK)
            .map(|_| {
                s = s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (s >> 8) as f32 / 8_388_608.0 - 1.0
            })
            .collect();
        Self::filled(shape, input, |c, n| block[(n + c * 7919) % BLOCK] + (c % 5) as f32)
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn source(&self) -> Source<'_> {
        let (c, n) = (self.shape.channels, self.shape.samples);
        let (cs, ss) = if self.input.interleaved { (1, c) } else { (n, 1) };
        match self.input.dtype {
            Dtype::F32 => View::with_strides(&self.f32s, c, n, cs, ss).map(Source::F32),
            Dtype::I16 => View::with_strides(&self.i16s, c, n, cs, ss).map(Source::I16),
        }
        .expect("made with its strides")
    }

    /// A copy of `count` channels from `first`.
    fn rows(&self, first: usize, count: usize) -> Data {
        let x = self.source();
        let planar = Input { interleaved: false, ..self.input };
        let shape = Shape { channels: count, samples: self.shape.samples };
        let mut data = Data { shape, input: planar, f32s: Vec::new(), i16s: Vec::new() };
        let values = (first..first + count).flat_map(|c| (0..shape.samples).map(move |n| (c, n)));
        match x {
            Source::F32(v) => data.f32s = values.map(|(c, n)| v.get(c, n)).collect(),
            Source::I16(v) => data.i16s = values.map(|(c, n)| v.get(c, n)).collect(),
        }
        data
    }

    fn source_max(&self) -> f64 {
        let x = self.source();
        (0..self.shape.channels)
            .flat_map(|c| (0..self.shape.samples).map(move |n| (c, n)))
            .fold(0.0f64, |m, (c, n)| m.max(f64::from(x.get(c, n)).abs()))
    }
}

/// An array of `value(channel, sample)`, in parallel: the grid's largest has 200 million.
fn fill<T: Default + Copy + Send>(shape: Shape, input: Input, value: &(impl Fn(usize, usize) -> T + Sync)) -> Vec<T> {
    let (channels, samples) = (shape.channels, shape.samples);
    let mut all = vec![T::default(); channels * samples];
    let run = if input.interleaved { channels } else { samples };
    all.par_chunks_mut(run.max(1)).enumerate().for_each(|(outer, run)| {
        for (inner, x) in run.iter_mut().enumerate() {
            *x = if input.interleaved { value(inner, outer) } else { value(outer, inner) };
        }
    });
    all
}

/// Small inputs every variant must get right: ragged sizes around the tiles of all variants. Where the parameters fix the
/// number of channels (groups, a gain for each), that number is used.
fn probes(problem: &dyn Problem, channels: usize, input: Input) -> Vec<Data> {
    let few = few(channels);
    let shape = |c: usize, samples: usize| {
        let shape = Shape { channels: c, samples };
        if problem.check(shape).is_ok() { shape } else { Shape { channels, samples } }
    };
    let noisy = [(few, 1), (few.min(3), 17), (few, 257), (few, 1000), (1, 2051)];
    let mut data: Vec<Data> = noisy.iter().map(|(c, n)| Data::noise(shape(*c, *n), input, (c * n) as u32)).collect();
    let shape = shape(few.min(17), 300);
    data.push(Data::filled(shape, input, |c, n| if n == c + 1 { 1.0 } else { 0.0 }));
    data.push(Data::filled(shape, input, |c, _| 3.0 + c as f32));
    data
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
