//! Proving a variant right on small problems, before it is timed.
//!
//! Some problems are the same for all variants: noise in a few shapes, an impulse, a constant. Others have lengths one
//! below, at and one above those at which the variant cuts its work, where the last tile is ragged or missing. Each is run
//! twice into outputs full of NaN, between guards, on a device whose every buffer is dirty (see the modules `guard` and
//! `watched`); both results must be the same to the bit, within the bound of the float64 reference, and leave the input as
//! it was.
//!
//! Variants that are declared to round alike ([`Problem::rounding`]) must agree to the bit on the problems they share.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

use super::data::{Data, Input};
use super::guard::Guarded;
use super::{Job, wrong};
use crate::error::Result;
use crate::ops::problem::{Distance, Problem, Shape, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::DeviceArray;
use crate::runtime::Target;
use crate::signal::Signal;
use crate::tune::Tunable;

/// Lengths of tiles that a variant is probed around; the rest are passed over.
const TILES: usize = 4;
/// Longer tiles are not probed: verification stays within milliseconds.
const LONGEST_TILE: usize = 4096;
/// Longest channel of a problem that needs it whole which is probed.
const WHOLE_SAMPLES: usize = 1 << 18;
/// Most channels in such a probe.
const MOST_CHANNELS: usize = 128;

/// A small problem with its reference result.
pub(super) struct Case {
    data: Data,
    expected: Vec<f64>,
    /// Largest magnitude of each channel's input.
    max_x: Vec<f64>,
}

impl Case {
    fn new(problem: &dyn Problem, data: Data) -> Result<Self> {
        let expected = problem.reference(data.source(), None)?;
        let max_x = (0..data.shape().channels).map(|c| data.max_of(c)).collect();
        Ok(Case { data, expected, max_x })
    }

    /// Checks every value of a result.
    fn check(&self, y: &Signal, tolerance: Tolerance) -> Result<()> {
        let n = y.samples();
        for c in 0..y.channels() {
            // Operations that make channels of their own are bound by the largest of all.
            let max_x = self.max_x.get(c).copied().unwrap_or_else(|| self.max_x.iter().copied().fold(0.0, f64::max));
            compare(y.row(c), &self.expected[c * n..(c + 1) * n], max_x, tolerance)
                .map_err(|e| e.context(format!("channel {c}")))?;
        }
        Ok(())
    }
}

/// The problems a job's variants are proven on.
#[derive(Default)]
pub(super) struct Probes {
    shared: OnceCell<Shared>,
    /// Those around tiles, by shape: variants have many lengths in common.
    ragged: RefCell<BTreeMap<(usize, usize), Rc<Case>>>,
}

/// Problems that all variants are proven on.
pub(super) struct Shared {
    cases: Vec<Case>,
    /// Identity of the shapes and results: problems of one class with other coefficients have another one.
    pub(super) content: u128,
}

/// What this process has found on small problems: it does not depend on the size that is timed, but on everything else,
/// coefficients included.
struct Found {
    results: BTreeMap<String, Result<()>>,
    /// Of the first variant to pass under each rounding: its name, and the bits of its results.
    bits: BTreeMap<String, (String, Vec<Option<u128>>)>,
}

static FOUND: Mutex<Found> = Mutex::new(Found { results: BTreeMap::new(), bits: BTreeMap::new() });

impl Job<'_> {
    /// Proves one variant, or says what was found before.
    pub(super) fn prove(&self, index: usize) -> Result<()> {
        let variant = self.variant(index)?;
        let shared = self.shared()?;
        let place = format!("{} {} {:?} {:032x}", self.device, self.operation(), self.input, shared.content);
        let key = format!("{place} {}", variant.name);
        let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(result) = found().results.get(&key) {
            return result.clone();
        }
        let result = self.run_probes(variant, shared).and_then(|bits| {
            let mut found = found();
            let (first, expected) = found
                .bits
                .entry(format!("{place} {}", self.rounding(index)))
                .or_insert_with(|| (variant.name.clone(), bits.clone()));
            let differ = |(a, b): (&Option<u128>, &Option<u128>)| a.is_some() && b.is_some() && a != b;
            match bits.iter().zip(expected.iter()).any(differ) {
                true => Err(rounds_differently(first)),
                false => Ok(()),
            }
        });
        // What passes is no property of the variant.
        if !result.as_ref().is_err_and(|e| e.kind().is_passing()) {
            found().results.insert(key, result.clone());
        }
        result
    }

    pub(super) fn shared(&self) -> Result<&Shared> {
        if let Some(shared) = self.probes.shared.get() {
            return Ok(shared);
        }
        let mut cases = Vec::new();
        let mut hash = Xxh3Default::new();
        for data in shared_inputs(self.problem, self.shape.channels, self.input) {
            let case = Case::new(self.problem, data)?;
            let Shape { channels, samples } = case.data.shape();
            hash.update(bytemuck::cast_slice(&[channels as u64, samples as u64]));
            hash.update(bytemuck::cast_slice(&case.expected));
            cases.push(case);
        }
        let tolerance = self.tolerance();
        hash.update(bytemuck::cast_slice(&[tolerance.relative, tolerance.gain]));
        Ok(self.probes.shared.get_or_init(|| Shared { cases, content: hash.digest128() }))
    }

    /// Runs a variant on all its problems; gives the bits of the results that all variants have, where it is legal.
    fn run_probes(&self, variant: &Variant, shared: &Shared) -> Result<Vec<Option<u128>>> {
        let bits = shared.cases.iter().map(|case| self.run_case(variant, case)).collect::<Result<_>>()?;
        let mut shapes = ragged_shapes(&self.problem.tiles(variant));
        // A variant may be made for one length: a whole channel of it, odd in number.
        if self.problem.whole_channels() && self.timed_shape.samples <= WHOLE_SAMPLES {
            shapes.push(Shape { channels: 3, samples: self.timed_shape.samples });
        }
        for shape in shapes {
            self.run_case(variant, &*self.ragged(shape)?)?;
        }
        Ok(bits)
    }

    fn ragged(&self, shape: Shape) -> Result<Rc<Case>> {
        let shape = possible(self.problem, shape, self.shape.channels);
        let key = (shape.channels, shape.samples);
        if let Some(case) = self.probes.ragged.borrow().get(&key) {
            return Ok(case.clone());
        }
        let seed = (shape.channels * 31 + shape.samples) as u32;
        let case = Rc::new(Case::new(self.problem, Data::noise(shape, self.input, seed))?);
        self.probes.ragged.borrow_mut().insert(key, case.clone());
        Ok(case)
    }

    /// Two runs on one problem, checked; the hash of the result, or nothing where the variant is not legal.
    fn run_case(&self, variant: &Variant, case: &Case) -> Result<Option<u128>> {
        let shape = case.data.shape();
        if !self.legal(shape).contains(variant) {
            return Ok(None);
        }
        let checked = || {
            let ([first, second], padding) = self.run_twice(variant, &case.data)?;
            case.check(&first, self.tolerance())?;
            if !same_bits(&first, &second) {
                let text = "two runs on the same input give different results: they depend on chance";
                return Err(wrong(text.into()));
            }
            padding.map(|()| Some(bits(&first)))
        };
        checked().map_err(|e: crate::Error| e.context(format!("{} x {}", shape.channels, shape.samples)))
    }

    /// Runs one variant twice, under guard; gives the results, and whether what lies between rows is in order.
    fn run_twice(&self, variant: &Variant, data: &Data) -> Result<([Signal; 2], Result<()>)> {
        let out = self.problem.output(data.shape());
        match &self.target {
            Target::Cpu => {
                let before = data.hash();
                let run = || {
                    let mut guarded = Guarded::new(out)?;
                    self.problem.run_cpu(variant, data.source(), guarded.view()?, None)?;
                    guarded.check()
                };
                let results = [run()?, run()?];
                if data.hash() != before { Err(input_changed()) } else { Ok((results, Ok(()))) }
            }
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                use super::watched::{Watched, check_padding};
                use crate::runtime::{Layout, gpu::Gpu};
                use crate::signal::Dtype;
                let watched = std::sync::Arc::new(Watched::new(gpu.clone()));
                let device: std::sync::Arc<dyn Gpu> = watched.clone();
                let x = DeviceArray::upload(&device, data.source())?;
                let run = || {
                    let y = DeviceArray::empty(&device, out.channels, out.samples, Dtype::F32, Layout::Planar)?;
                    device.submit(&self.problem.record(device.as_ref(), variant, &x, &y)?)?;
                    Ok::<_, crate::Error>(y)
                };
                let results = [run()?, run()?];
                watched.check()?;
                if !data.equals(&x.download()?) {
                    return Err(input_changed());
                }
                let padding = check_padding(&results[0]);
                Ok(([results[0].download()?, results[1].download()?], padding))
            }
        }
    }
}

/// Small inputs every variant must get right.
fn shared_inputs(problem: &dyn Problem, channels: usize, input: Input) -> Vec<Data> {
    let few = channels.clamp(1, 40);
    let shape =
        |channels_here: usize, samples: usize| possible(problem, Shape { channels: channels_here, samples }, channels);
    let noisy = [(few, 1), (few.min(3), 17), (few, 257), (few, 1000), (1, 2051)];
    let mut data: Vec<Data> = noisy.iter().map(|(c, n)| Data::noise(shape(*c, *n), input, (c * n) as u32)).collect();
    let shape = shape(few.min(17), 300);
    data.push(Data::filled(shape, input, |c, n| if n == c + 1 { 1.0 } else { 0.0 }));
    data.push(Data::filled(shape, input, |c, _| 3.0 + c as f32));
    data
}

/// Most values of a small problem.
const MOST_VALUES: usize = 1 << 20;

/// The shape, with the number of channels at hand where the parameters fix it (groups, a gain for each).
fn possible(problem: &dyn Problem, shape: Shape, channels: usize) -> Shape {
    let shape = problem.nearest(shape);
    // Fewer channels where each has to be long.
    let length = shape.samples.max(problem.output(shape).samples);
    let shape = Shape { channels: shape.channels.min((MOST_VALUES / length.max(1)).max(1)), ..shape };
    if problem.check(shape).is_ok() { shape } else { Shape { channels, ..shape } }
}

/// Shapes one below, at and one above these lengths, along samples and along channels: the longest lengths, the shortest,
/// and some between.
fn ragged_shapes(tiles: &[usize]) -> Vec<Shape> {
    let mut tiles: Vec<usize> = tiles.iter().copied().filter(|t| (2..=LONGEST_TILE).contains(t)).collect();
    tiles.sort_unstable();
    tiles.dedup();
    let spread = |list: &[usize], most: usize| -> Vec<usize> {
        let last = list.len().saturating_sub(1);
        let mut some: Vec<usize> = (0..most).filter_map(|i| list.get(i * last / (most - 1).max(1)).copied()).collect();
        some.dedup();
        some
    };
    let along_samples = spread(&tiles, TILES);
    tiles.retain(|t| *t < MOST_CHANNELS);
    let along_channels = spread(&tiles, TILES / 2);
    let around = |length: usize| [length - 1, length, length + 1].into_iter().enumerate();
    let samples = along_samples.into_iter().flat_map(around).map(|(i, samples)| Shape { channels: i + 1, samples });
    let channels = along_channels.into_iter().flat_map(around);
    samples.chain(channels.map(|(i, channels)| Shape { channels, samples: 15 + 2 * i })).collect()
}

fn input_changed() -> crate::Error {
    wrong("the input was changed".into())
}

pub(super) fn rounds_differently(first: &str) -> crate::Error {
    wrong(format!("rounds differently from '{first}', with which it is declared to round identically"))
}

/// A hash of the values of a result.
pub(super) fn bits(y: &Signal) -> u128 {
    // Row by row, so that all cores share the reading.
    let rows: Vec<u128> = (0..y.channels()).into_par_iter().map(|c| xxh3_128(bytemuck::cast_slice(y.row(c)))).collect();
    xxh3_128(bytemuck::cast_slice(&rows))
}

fn same_bits(a: &Signal, b: &Signal) -> bool {
    let bytes = |row| bytemuck::cast_slice::<f32, u8>(row);
    a.rows().zip(b.rows()).all(|(a, b)| bytes(a) == bytes(b))
}

/// The error bound of [`Tolerance`], for one channel.
pub(crate) fn compare(y: &[f32], expected: &[f64], max_x: f64, tolerance: Tolerance) -> Result<()> {
    if tolerance.distance == Distance::Norm {
        return compare_norms(y, expected, max_x, tolerance);
    }
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

/// The same for [`Distance::Norm`]. What is not finite has no norm: it must be of the same kind, value for value.
fn compare_norms(y: &[f32], expected: &[f64], max_x: f64, tolerance: Tolerance) -> Result<()> {
    let (mut error, mut norm) = (0.0, 0.0);
    for (n, (y, e)) in y.iter().zip(expected).enumerate() {
        let (y, e) = (f64::from(*y), *e);
        if y.is_finite() && e.is_finite() {
            error += (y - e) * (y - e);
            norm += e * e;
        } else if y.is_finite() || e.is_finite() {
            return Err(wrong(format!("sample {n} is {y}, expected {e}")));
        }
    }
    let (error, root) = (f64::sqrt(error), (y.len() as f64).sqrt());
    let norm = f64::sqrt(norm).max(tolerance.gain * max_x * root);
    // A smallest float32 of error per value is rounding, whatever the norm.
    let bound = (tolerance.relative * norm).max(f64::from(f32::MIN_POSITIVE) * root);
    if error > bound || error.is_nan() {
        let (found, allowed) = (error / norm, tolerance.relative);
        return Err(wrong(format!("relative error {found:.2e} of the whole channel, allowed are {allowed:.1e}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_suggest_tiles() {
        assert_eq!(Variant::new("direct", &[("R", 16), ("WG", 64)]).tiles(), [16, 64, 1024, 1024, 4096]);
        let three = Variant::new("sums", &[("Q", 2), ("ROWS", 4), ("WG", 8)]).tiles();
        assert_eq!(three, [2, 4, 8, 8, 16, 32, 64, 256]);
        assert_eq!(Variant::new("plain", &[]).tiles(), [1, 4]);
        // Products past all bounds are passed over, not wrapped.
        let huge = Variant::new("huge", &[("A", u32::MAX), ("B", u32::MAX), ("C", u32::MAX)]).tiles();
        assert!(huge.iter().all(|t| *t >= u32::MAX as usize) && ragged_shapes(&huge).is_empty());
    }

    #[test]
    fn shapes_are_ragged_around_tiles_and_few() {
        let shapes = ragged_shapes(&[16, 64, 1024, 4096]);
        let has = |channels, samples| shapes.contains(&Shape { channels, samples });
        for tile in [16, 64, 1024, 4096] {
            assert!(has(1, tile - 1) && has(2, tile) && has(3, tile + 1), "{tile}");
        }
        assert!(has(15, 15) && has(16, 17) && has(17, 19) && has(65, 19), "{shapes:?}");
        assert_eq!(shapes.len(), 18);
        // Nothing to go around, one length, more than are probed.
        assert!(ragged_shapes(&[]).is_empty() && ragged_shapes(&[0, 1, 5000]).is_empty());
        assert_eq!(ragged_shapes(&[512, 512]).len(), 3);
        let many: Vec<usize> = (1..200).map(|i| 20 * i).collect();
        let shapes = ragged_shapes(&many);
        assert!(shapes.len() == 18 && shapes.iter().all(|s| s.channels <= MOST_CHANNELS));
        assert!(shapes.contains(&Shape { channels: 3, samples: 3981 }));
    }
}
