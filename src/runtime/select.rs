//! Choosing where a call runs.
//!
//! The order is: the call's own argument, [`set`], `DSPK_RUNTIME`, the default. The default is forgiving: it takes the
//! first runtime that opens a hardware device, else the CPU, and says once what it took and why. A name is strict: it
//! runs there, or the error says what is missing.
//!
//! A name is looked up once and kept with its device, so that a repeated call costs two short locks and one read of the
//! environment, which is never kept. What the machine has is read once (see [`refresh`]); devices are opened on first
//! use and shared by all names that lead to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "gpu")]
use super::gpu::Gpu;
use super::selector::{Pick, Selector};
use crate::accelerator::{Record, Report, best_of, build_remedy};
use crate::error::{Error, ErrorKind, Result};

/// The environment variable that names a runtime.
pub const VARIABLE: &str = "DSPK_RUNTIME";
/// More names than this are not kept; no program uses as many.
const NAMES_KEPT: usize = 64;

/// Where a call runs.
#[derive(Clone)]
pub enum Target {
    /// The current rayon pool.
    Cpu,
    /// A GPU, open.
    #[cfg(feature = "gpu")]
    Gpu(Arc<dyn Gpu>),
}

impl Target {
    /// Canonical runtime name: `cuda`, `hip`, `wgpu` or `cpu`.
    pub fn runtime(&self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => gpu.facts().runtime,
        }
    }

    /// The device's key: names the tuner's folder.
    pub fn key(&self) -> String {
        match self {
            Target::Cpu => super::cpu::device_key(),
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => gpu.facts().key.clone(),
        }
    }

    /// Gives unused pooled memory of the device back.
    fn trim(&self) {
        match self {
            Target::Cpu => {}
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => gpu.trim(),
        }
    }

    /// Whether it can still be computed on.
    fn is_alive(&self) -> bool {
        match self {
            Target::Cpu => true,
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => !gpu.is_lost(),
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({})", self.key())
    }
}

/// What choosing needs of the world; tests script it.
pub(super) trait Machine: Send + Sync {
    /// Runtimes of this build, in order of preference.
    fn compiled(&self) -> &'static [&'static str];
    /// `DSPK_RUNTIME` now.
    fn environment(&self) -> Option<String>;
    /// What is here.
    fn report(&self, refresh: bool) -> Arc<Report>;
    /// The CPU alone: naming it looks at no driver.
    fn cpu(&self) -> Option<Record> {
        self.report(false).devices().iter().find(|r| r.runtime == "cpu").cloned()
    }
    /// What a runtime's library lacks, for the message only.
    fn missing_library(&self, runtime: &str) -> Option<String>;
    /// Opens a usable device that is not the CPU.
    fn open(&self, device: &Record) -> Result<Target>;
}

/// A name's meaning: the device's record and the device.
#[derive(Debug, Clone)]
pub(super) struct Resolved {
    pub record: Arc<Record>,
    pub target: Target,
}

/// The choice of one process, over one machine.
pub(super) struct Resolver<M> {
    machine: M,
    chosen: Mutex<Option<String>>,
    names: Mutex<HashMap<String, Resolved>>,
    devices: Mutex<HashMap<String, Arc<Mutex<Option<Target>>>>>,
    told: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Machine> Resolver<M> {
    pub fn new(machine: M) -> Self {
        Resolver {
            machine,
            chosen: Mutex::default(),
            names: Mutex::default(),
            devices: Mutex::default(),
            told: AtomicBool::new(false),
        }
    }

    pub fn machine(&self) -> &M {
        &self.machine
    }

    pub fn set(&self, name: Option<&str>) -> Result<()> {
        if let Some(name) = name {
            self.understand(name)?;
        }
        *lock(&self.chosen) = name.map(str::to_owned);
        Ok(())
    }

    pub fn resolve(&self, argument: Option<&str>) -> Result<Resolved> {
        if let Some(name) = argument {
            return self.named(name);
        }
        let chosen = lock(&self.chosen).clone();
        if let Some(name) = chosen {
            return self.named(&name);
        }
        let name = self.machine.environment().unwrap_or_default();
        self.named(&name).map_err(|e| if name.is_empty() { e } else { e.context(format!("{VARIABLE}={name}")) })
    }

    /// Whether a call with this argument leaves the choice to the default, by which it may run elsewhere.
    #[cfg(feature = "gpu")]
    pub fn is_default(&self, argument: Option<&str>) -> bool {
        let name = argument.map(str::to_owned).or_else(|| lock(&self.chosen).clone());
        let name = name.or_else(|| self.machine.environment()).unwrap_or_default();
        matches!(Selector::parse(&name, self.machine.compiled()), Ok(Selector::Auto))
    }

    /// Looks at the machine again; open devices stay open.
    pub fn refresh(&self) -> Arc<Report> {
        let report = self.machine.report(true);
        lock(&self.names).clear();
        report
    }

    /// Trims the memory pools of the open devices.
    pub fn trim(&self) {
        let slots: Vec<_> = lock(&self.devices).values().cloned().collect();
        for slot in slots {
            if let Some(target) = lock(&slot).clone() {
                target.trim();
            }
        }
    }

    fn named(&self, name: &str) -> Result<Resolved> {
        if let Some(known) = lock(&self.names).get(name).filter(|known| known.target.is_alive()) {
            return Ok(known.clone());
        }
        let resolved = match self.understand(name)? {
            Selector::Auto => self.default(),
            Selector::Gpu => self.any_gpu(),
            Selector::Cpu => self.cpu(),
            Selector::Device { runtime, backend, pick } => self.device(runtime, backend, &pick),
        }?;
        let mut names = lock(&self.names);
        if names.len() >= NAMES_KEPT {
            names.clear();
        }
        names.insert(name.to_owned(), resolved.clone());
        Ok(resolved)
    }

    /// Reads a name and checks that this build can mean it.
    fn understand(&self, name: &str) -> Result<Selector> {
        let compiled = self.machine.compiled();
        let selector = Selector::parse(name, compiled)?;
        match selector.runtime() {
            Some(runtime) if !compiled.contains(&runtime) => {
                let library = self.machine.missing_library(runtime);
                let library = library.map(|text| format!(" (and {text})")).unwrap_or_default();
                Err(Error::new(
                    ErrorKind::NotCompiled,
                    format!(
                        "runtime '{runtime}' is not compiled into this build; compiled in: {}; {}{library}",
                        compiled.join(", "),
                        build_remedy(runtime)
                    ),
                ))
            }
            _ => Ok(selector),
        }
    }

    fn default(&self) -> Result<Resolved> {
        let report = self.machine.report(false);
        let mut failures = Vec::new();
        for record in report.candidates().into_iter().filter(|r| r.runtime != "cpu") {
            match self.open(record) {
                Ok(resolved) => {
                    self.tell(|| format!("using {}: the first runtime with a hardware device", record.describe()));
                    return Ok(resolved);
                }
                Err(e) => {
                    log::warn!("{} was passed over by the default: {e}", record.device);
                    failures.push(format!("{}: {e}", record.device));
                }
            }
        }
        self.tell(|| format!("using the CPU: no hardware GPU can be used ({})", reasons(&report, &failures)));
        self.cpu()
    }

    fn tell(&self, what: impl FnOnce() -> String) {
        if !self.told.swap(true, Ordering::Relaxed) {
            log::info!("{}", what());
        }
    }

    fn any_gpu(&self) -> Result<Resolved> {
        let report = self.machine.report(false);
        let mut left: Vec<&Record> = report.devices().iter().filter(|r| r.is_gpu()).collect();
        let mut failures = Vec::new();
        while let Some(best) = best_of(left.iter().copied()) {
            match self.open(best) {
                Ok(resolved) => return Ok(resolved),
                Err(e) => failures.push(format!("{}: {e}", best.device)),
            }
            left.retain(|r| r.device != best.device);
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "no hardware GPU can be used here ({}); `cpu` always works, and a software adapter can be named",
                reasons(&report, &failures)
            ),
        ))
    }

    fn cpu(&self) -> Result<Resolved> {
        let record = self.machine.cpu().ok_or_else(|| Error::internal("the device report has no CPU"))?;
        Ok(Resolved { record: Arc::new(record), target: Target::Cpu })
    }

    fn device(&self, runtime: &'static str, backend: Option<&str>, pick: &Pick) -> Result<Resolved> {
        let report = self.machine.report(false);
        let ours = || {
            let all = report.devices().iter().filter(|r| r.runtime == runtime);
            all.filter(|r| backend.is_none_or(|b| r.backend == b))
        };
        let found = match pick {
            Pick::Best => best_of(ours()),
            Pick::Index(index) => ours().find(|r| r.device == format!("{runtime}:{index}")),
            Pick::Named(name) => {
                let fits = |r: &&Record| r.identity == *name || r.name.to_lowercase().contains(name.as_str());
                best_of(ours().filter(fits)).or_else(|| ours().find(fits))
            }
        };
        match found {
            Some(record) if record.usable => self.open(record),
            Some(record) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("{} cannot be used by runtime '{runtime}': {}", record.name, record.note),
            )),
            None => Err(missing(&report, runtime, backend, pick)),
        }
    }

    /// Opens a device, or finds it open; two threads that want one device open it once.
    fn open(&self, record: &Record) -> Result<Resolved> {
        let place = format!("{} {} {} {}", record.device, record.backend, record.identity, record.name);
        let slot = lock(&self.devices).entry(place).or_default().clone();
        let mut slot = lock(&slot);
        let target = match slot.as_ref().filter(|target| target.is_alive()) {
            Some(target) => target.clone(),
            None => self.machine.open(record)?,
        };
        *slot = Some(target.clone());
        Ok(Resolved { record: Arc::new(record.clone()), target })
    }
}

/// Why no GPU is used: what failed to open, else each GPU runtime's own reason.
fn reasons(report: &Report, failures: &[String]) -> String {
    if !failures.is_empty() {
        return failures.join("; ");
    }
    let rows = report.runtimes().iter().filter(|row| row.name != "cpu" && !row.note.is_empty());
    rows.map(|row| format!("{}: {}", row.name, row.note)).collect::<Vec<_>>().join("; ")
}

/// A named runtime has no such device.
fn missing(report: &Report, runtime: &str, backend: Option<&str>, pick: &Pick) -> Error {
    let usable: Vec<String> = report
        .devices()
        .iter()
        .filter(|r| r.runtime == runtime && r.usable)
        .map(|r| format!("{} = {} ({})", r.device, r.name, r.backend))
        .collect();
    let note = report.runtimes().iter().find(|row| row.name == runtime).map_or("", |row| row.note.as_str());
    let what = match (backend, pick) {
        (Some(backend), _) => format!("runtime '{runtime}' has no usable {backend} device here"),
        (None, Pick::Best) => format!("runtime '{runtime}' has no usable device here"),
        (None, Pick::Index(index)) => format!("runtime '{runtime}' has no device {index} here"),
        (None, Pick::Named(name)) => format!("runtime '{runtime}' has no device here whose name contains '{name}'"),
    };
    let rest = match usable.is_empty() {
        true => note.to_owned(),
        false => format!("it has {}", usable.join(", ")),
    };
    Error::new(ErrorKind::Unavailable, format!("{what}: {rest}"))
}

#[cfg(all(test, feature = "gpu"))]
mod tests;
