//! A real filter with variants that are wrong, each in its own way.
//!
//! Results are computed by the filter's own CPU variant, spoilt, and on a device copied into the output, so that any
//! device, also one that computes nothing, gives them. On a device that computes, `kernel` is the filter's own kernel.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::ops::filter::FirFilter;
use crate::ops::problem::{Locality, Problem, Shape, State, Tolerance, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray,
    gpu::{Command, DeviceBuffer, Facts, Gpu},
};
#[cfg(feature = "gpu")]
use crate::signal::Signal;
use crate::signal::{Source, ViewMut};

/// What a variant does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The right thing.
    Right,
    /// The same, one bit off in one value, and claims to round like [`Way::Right`].
    OneBitOff,
    /// The right thing by the filter's own kernel.
    Kernel,
    /// Returns at once.
    Nothing,
    /// Fills with zeros.
    Zeros,
    /// Stops after 65,535 samples.
    Stops,
    /// One value too many.
    Outside,
    /// Leaves its result in the input, too.
    SpoilsInput,
    /// Wrong in the last sample where that is alone in its tile of 24.
    LastTile,
    /// Every other run differs in the last bit.
    Chance,
    /// Takes fresh memory for zeros.
    FreshScratch,
    /// Cannot be launched.
    Fails,
    /// Cannot be launched once [`Faulty::armed`].
    FailsArmed,
    /// One NaN in a middle channel of a long result.
    Nan,
}

impl Way {
    pub(super) const ALL: [Way; 13] = [
        Way::Right,
        Way::OneBitOff,
        Way::Nothing,
        Way::Zeros,
        Way::Stops,
        Way::Outside,
        Way::SpoilsInput,
        Way::LastTile,
        Way::Chance,
        Way::FreshScratch,
        Way::Fails,
        Way::Nan,
        Way::Kernel,
    ];

    fn method(self) -> &'static str {
        match self {
            Way::Right => "right",
            Way::OneBitOff => "one-bit-off",
            Way::Kernel => "kernel",
            Way::Nothing => "nothing",
            Way::Zeros => "zeros",
            Way::Stops => "stops",
            Way::Outside => "outside",
            Way::SpoilsInput => "spoils-input",
            Way::LastTile => "last-tile",
            Way::Chance => "chance",
            Way::FreshScratch => "fresh-scratch",
            Way::Fails => "fails",
            Way::FailsArmed => "fails-armed",
            Way::Nan => "nan",
        }
    }
}

/// Where a loop of [`Way::Stops`] stops.
const ROUNDS: usize = 65_535;
/// No probe is longer.
const LONG: usize = 4500;

/// The filter, and a record of what was run.
pub(super) struct Faulty {
    inner: FirFilter,
    name: &'static str,
    variants: Vec<(Way, Variant)>,
    /// [`Way::FailsArmed`] variants fail from now on.
    pub(super) armed: AtomicBool,
    runs: AtomicUsize,
    log: Mutex<Vec<(String, Shape)>>,
}

impl Faulty {
    /// A filter called `name`, whose variants go these ways, the default first. Work groups are as large as `groups` says.
    pub(super) fn new(name: &'static str, ways: &[Way], groups: &[u32]) -> Self {
        let variants = ways.iter().flat_map(|way| {
            let settings = |wg: &u32| vec![("TILE", 24), ("WG", *wg)];
            groups.iter().map(move |wg| (*way, Variant::new(way.method(), &settings(wg))))
        });
        Faulty {
            inner: FirFilter::new(&[0.5, 0.25, -0.125, 0.7, 0.01]).unwrap(),
            name,
            variants: variants.collect(),
            armed: AtomicBool::new(false),
            runs: AtomicUsize::new(0),
            log: Mutex::default(),
        }
    }

    /// Shapes that variants of a method were run at.
    pub(super) fn runs_of(&self, method: &str) -> Vec<Shape> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().filter(|(m, _)| m == method).map(|(_, shape)| *shape).collect()
    }

    fn begin(&self, variant: &Variant, shape: Shape) -> Result<Way> {
        let found = self.variants.iter().find(|(_, v)| v == variant);
        let way = found.ok_or_else(|| Error::internal(format!("{} is no variant of this test", variant.name)))?.0;
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push((variant.method.into(), shape));
        if way == Way::Fails || (way == Way::FailsArmed && self.armed.load(Ordering::Relaxed)) {
            return Err(Error::new(ErrorKind::Kernel, "it does not compile here"));
        }
        Ok(way)
    }

    /// The result of the filter, spoilt.
    fn compute(&self, way: Way, x: Source<'_>, mut y: ViewMut<'_>) -> Result<()> {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        if way == Way::Zeros {
            (0..shape.channels).for_each(|c| y.row_mut(c).fill(0.0));
            return Ok(());
        }
        self.inner.run_cpu(&self.inner.cpu_variants(shape)[0], x, y.reborrow(), None)?;
        let last = shape.samples - 1;
        match way {
            Way::OneBitOff => y.row_mut(0)[0] = y.row_mut(0)[0].next_up(),
            Way::Chance if self.runs.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                y.row_mut(0)[0] = y.row_mut(0)[0].next_up();
            }
            Way::Stops if shape.samples > ROUNDS => (0..shape.channels).for_each(|c| y.row_mut(c)[ROUNDS..].fill(0.0)),
            Way::LastTile if shape.samples % 24 == 1 && shape.samples > 24 => y.row_mut(0)[last] += 1.0,
            Way::Nan if shape.samples > LONG => y.row_mut(shape.channels / 2)[last / 2] = f32::NAN,
            _ => {}
        }
        Ok(())
    }
}

impl Problem for Faulty {
    fn operation(&self) -> &'static str {
        self.name
    }

    fn class(&self) -> String {
        "test".into()
    }

    fn check(&self, _: Shape) -> Result<()> {
        Ok(())
    }

    fn reference(&self, x: Source<'_>, state: Option<&mut State>) -> Result<Vec<f64>> {
        self.inner.reference(x, state)
    }

    fn locality(&self) -> Locality {
        Locality::Channel
    }

    fn tolerance(&self) -> Tolerance {
        self.inner.tolerance()
    }

    fn rounding(&self, variant: &Variant) -> String {
        if variant.method == Way::OneBitOff.method() { Way::Right.method().into() } else { variant.method.into() }
    }

    fn cpu_variants(&self, _: Shape) -> Vec<Variant> {
        let on_cpu = |way: &Way| !matches!(way, Way::Kernel | Way::SpoilsInput | Way::FreshScratch);
        self.variants.iter().filter(|(way, _)| on_cpu(way)).map(|(_, v)| v.clone()).collect()
    }

    fn run_cpu(&self, variant: &Variant, x: Source<'_>, mut y: ViewMut<'_>, _: Option<&mut State>) -> Result<()> {
        let way = self.begin(variant, Shape { channels: x.channels(), samples: x.samples() })?;
        if way == Way::Nothing {
            return Ok(());
        }
        self.compute(way, x, y.reborrow())?;
        let (samples, pitch) = (y.samples(), y.pitch());
        if way == Way::Outside && samples < pitch {
            y.data_mut()[samples] = 1.0;
        }
        Ok(())
    }

    #[cfg(feature = "gpu")]
    fn gpu_variants(&self, facts: &Facts, _: Shape) -> Vec<Variant> {
        let legal = |way: Way, v: &Variant| {
            v.get("WG") <= facts.limits.group_size && (way != Way::Kernel || facts.runtime != "null")
        };
        self.variants.iter().filter(|(way, v)| legal(*way, v)).map(|(_, v)| v.clone()).collect()
    }

    #[cfg(feature = "gpu")]
    fn record(&self, gpu: &dyn Gpu, variant: &Variant, x: &DeviceArray, y: &DeviceArray) -> Result<Vec<Command>> {
        let shape = Shape { channels: x.channels(), samples: x.samples() };
        let way = self.begin(variant, shape)?;
        match way {
            Way::Nothing => return Ok(Vec::new()),
            Way::Kernel => {
                let own = self.inner.gpu_variants(gpu.facts(), shape);
                return self.inner.record(gpu, &own[0], x, y);
            }
            _ => {}
        }
        let mut answer = Signal::zeros(shape.channels, shape.samples)?;
        self.compute(way, x.download()?.view().into(), answer.view_mut())?;
        let staged = DeviceArray::upload(x.gpu(), (&answer).into())?;
        let mut commands = Vec::new();
        for (from, to) in staged.segments().iter().zip(y.segments()) {
            let part = |to: &DeviceBuffer, to_offset, bytes| Command::Copy {
                from: from.buffer.clone(),
                from_offset: 0,
                to: to.clone(),
                to_offset,
                bytes,
            };
            let bytes = to.buffer.bytes;
            commands.push(part(&to.buffer, 0, bytes));
            match way {
                Way::Outside => {
                    let larger = DeviceBuffer { bytes: bytes + 16, ..to.buffer.clone() };
                    commands.push(part(&larger, bytes, 16));
                }
                Way::SpoilsInput => commands.extend(x.segments().iter().map(|s| part(&s.buffer, 0, bytes))),
                Way::FreshScratch => commands.extend(from_scratch(gpu, answer.row(0), &to.buffer)?),
                _ => {}
            }
            if gpu.facts().runtime == "null" {
                commands.push(scripted(variant, &to.buffer));
            }
        }
        Ok(commands)
    }
}

/// Takes the first value that is zero from fresh memory.
#[cfg(feature = "gpu")]
fn from_scratch(gpu: &dyn Gpu, row: &[f32], to: &DeviceBuffer) -> Result<Option<Command>> {
    let Some(at) = row.iter().position(|v| *v == 0.0) else { return Ok(None) };
    let from = gpu.allocate(16)?;
    Ok(Some(Command::Copy { from, from_offset: 0, to: to.clone(), to_offset: at as u64 * 4, bytes: 4 }))
}

/// The launch whose time a script gives, on a device that computes nothing: its kernel has the variant's name for a text.
#[cfg(feature = "gpu")]
fn scripted(variant: &Variant, y: &DeviceBuffer) -> Command {
    use crate::kernel::{Access, Binding, Kernel};
    let kernel = Kernel {
        name: "test/scripted",
        text: variant.name.clone(),
        hash: xxhash_rust::xxh3::xxh3_128(variant.name.as_bytes()),
        group_size: 1,
        group_bytes: 0,
        bindings: vec![Binding { index: 0, name: "y".into(), access: Access::ReadWrite, min_bytes: 4 }],
        subgroups: false,
    };
    Command::Launch { kernel: std::sync::Arc::new(kernel), bindings: vec![y.into()], groups: 1 }
}
