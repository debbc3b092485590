//! The tuner itself: what is known of each class in this process, and the steps from a first meeting to a settled choice.
//!
//! A class lives in a [`Slot`]. Threads that meet a settled slot read it and go; the one that meets an open slot claims it
//! and works, while others take the default and do not wait. Across processes a lock on the device does the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3Default;

use super::cache::{Exclusion, Location, Store, Turn};
use super::measure::{Clock, HostClock, Verdict};
use super::slot::{Slot, Stage};
use super::{Policy, Tunable};
use crate::error::{Error, ErrorKind, Result};

/// How often a waiting `autotune` looks.
const POLL: Duration = Duration::from_millis(20);

/// What a tuner is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where results are kept. Default: the standard place.
    pub location: Location,
    /// Whether a file lock keeps two processes from timing on one device at once. Default: yes; where the file system has
    /// no locks the tuner goes on without.
    pub locking: bool,
    /// Wall time that a first meeting may take, beside the one step it is in when time is up. Default: 1 second.
    pub on_miss: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { location: Location::Standard, locking: true, on_miss: Duration::from_secs(1) }
    }
}

/// Where a choice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The built-in default: nothing is known, or nothing may be looked up.
    Default,
    /// Measured on this device at this class, now or earlier.
    Tuned,
    /// Taken from the nearest class measured on this device.
    Nearest,
    /// Taken from results shipped with dspk for this device, its architecture or its vendor; verified here.
    Shipped,
    /// The default, while another thread or process is tuning.
    Busy,
}

/// Which variant to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Index into [`Tunable::variants`].
    pub variant: usize,
    /// Where it comes from.
    pub origin: Origin,
}

/// How much [`Tuner::tune`] may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Wall time for measuring.
    pub budget: Duration,
    /// Wall time for waiting until another thread or process has finished on the device.
    pub wait: Duration,
    /// Measure even what is settled.
    pub force: bool,
}

/// What [`Tuner::tune`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tuning {
    /// It was settled already.
    Cached,
    /// It was measured and settled.
    Tuned,
    /// It could not be settled within the budget, for this reason: the default stays until a larger one.
    Inconclusive(String),
    /// Something that says nothing about the variants got in the way; nothing was stored.
    Abandoned(String),
    /// The device was being tuned by another until the wait ended.
    Busy,
}

/// Chooses, measures and remembers. One is shared by the process ([`super::shared`]); others can stand beside it.
pub struct Tuner {
    pub(super) settings: Settings,
    pub(super) clock: Box<dyn Clock>,
    pub(super) store: Store,
    slots: RwLock<HashMap<u128, Arc<Slot>>>,
    exclusion: Exclusion,
    any_failed: AtomicBool,
}

impl Tuner {
    /// A tuner that knows nothing yet; no file is touched before the first question.
    pub fn new(settings: Settings) -> Tuner {
        Tuner::with_clock(settings, Box::new(HostClock::default()))
    }

    /// The same with another wall clock, for tests.
    pub fn with_clock(settings: Settings, clock: Box<dyn Clock>) -> Tuner {
        let store = Store::new(settings.location.clone());
        Tuner {
            settings,
            clock,
            store,
            slots: RwLock::default(),
            exclusion: Exclusion::default(),
            any_failed: AtomicBool::new(false),
        }
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Which variant to run. Known classes are answered from memory in well under a microsecond. A class met for the
    /// first time is looked up and, if the policy allows, tuned, by one thread; others get the default meanwhile.
    ///
    /// Never fails: where anything goes wrong the answer is the default (the first variant not known to fail).
    pub fn choose(&self, tunable: &dyn Tunable, policy: Policy) -> Choice {
        let default = Choice { variant: 0, origin: Origin::Default };
        if tunable.variants().len() < 2 {
            return default;
        }
        if policy == Policy::Off {
            if !self.any_failed.load(Ordering::Relaxed) {
                return default;
            }
            let failed = self.slot(tunable).read().failed.clone();
            let variant = tunable.variants().iter().position(|name| !failed.contains(name)).unwrap_or(0);
            return Choice { variant, ..default };
        }
        let slot = self.slot(tunable);
        if let Some(choice) = self.answer(&slot, tunable, policy) {
            return choice;
        }
        let Some(claim) = slot.claim() else { return slot.meanwhile(tunable, policy) };
        self.resolve(&slot, tunable, policy);
        drop(claim);
        self.answer(&slot, tunable, policy).unwrap_or_else(|| slot.meanwhile(tunable, policy))
    }

    /// Notes that `variant` failed with `error` when it was run for real, and gives the next variant to try; `None` if
    /// there is none, or if the error is not the variant's fault (bad arguments, out of memory, device lost): then the
    /// error is the answer. The failure is remembered by this process; one of the kernel itself is stored, too, unless the
    /// policy is [`Policy::Off`]. A limit depends on the problem at hand, of which a class holds many.
    pub fn report_failure(
        &self,
        tunable: &dyn Tunable,
        variant: usize,
        error: &Error,
        policy: Policy,
    ) -> Option<usize> {
        if error.kind().is_usage() || error.kind().is_passing() {
            return None;
        }
        let names = tunable.variants();
        let name = names.get(variant)?;
        let slot = self.slot(tunable);
        let (first_time, blocked) = {
            let mut state = slot.write();
            let first_time = !state.failed.contains(name);
            if first_time {
                state.failed.push(name.clone());
            }
            (first_time, state.blocked)
        };
        self.any_failed.store(true, Ordering::Relaxed);
        if first_time {
            log::warn!(
                "variant {name:?} of {} failed on {} and is not used again: {error}",
                tunable.operation(),
                tunable.device()
            );
            if policy != Policy::Off && !blocked && error.kind() == ErrorKind::Kernel {
                self.store.reject(tunable, name, &format!("in use: {error}"));
            }
        }
        let state = slot.read();
        let next = state.pick(tunable, policy)?;
        (!state.failed.contains(&names[next])).then_some(next)
    }

    /// Settles a class now, ahead of use. `waiting` is called now and then while another holds the device.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`] if no variant is right and runs.
    pub fn tune(&self, tunable: &dyn Tunable, effort: Effort, waiting: &mut dyn FnMut()) -> Result<Tuning> {
        if tunable.variants().is_empty() {
            return Ok(Tuning::Cached);
        }
        let slot = self.slot(tunable);
        let until = self.clock.now().saturating_add(effort.wait);
        let Some(_claim) = self.wait_for(until, waiting, || slot.claim()) else { return Ok(Tuning::Busy) };
        if !effort.force && self.is_complete(&slot, tunable, effort.budget) {
            return Ok(Tuning::Cached);
        }
        let Some(_turn) = self.wait_for(until, waiting, || self.take(tunable.device())) else {
            return Ok(Tuning::Busy);
        };
        if !effort.force && self.is_complete(&slot, tunable, effort.budget) {
            return Ok(Tuning::Cached);
        }
        match self.measure(&slot, tunable, effort.budget, effort.force) {
            Verdict::Settled { .. } => Ok(Tuning::Tuned),
            Verdict::Inconclusive(reason) => Ok(Tuning::Inconclusive(reason)),
            Verdict::Abandoned(reason) => Ok(Tuning::Abandoned(reason)),
            Verdict::Failed(reason) => {
                let what = format!("{} {} on {}", tunable.operation(), tunable.class(), tunable.device());
                Err(Error::new(ErrorKind::Kernel, reason).context(what))
            }
        }
    }

    /// Whether a result could not be stored: it stays in this process's memory alone.
    pub fn is_unwritable(&self) -> bool {
        self.store.is_unwritable()
    }

    /// Removes temporary files that killed processes left under a device.
    pub fn remove_leftovers(&self, device: &str) {
        self.store.remove_leftovers(device);
    }

    fn wait_for<T>(&self, until: Duration, waiting: &mut dyn FnMut(), take: impl Fn() -> Option<T>) -> Option<T> {
        loop {
            if let Some(taken) = take() {
                return Some(taken);
            }
            if self.clock.now() >= until {
                return None;
            }
            waiting();
            self.clock.sleep(POLL);
        }
    }

    /// Whether the class is settled, after a look into the store, and a measurement within `budget` would add nothing.
    fn is_complete(&self, slot: &Slot, tunable: &dyn Tunable, budget: Duration) -> bool {
        if slot.read().stage != Stage::Settled {
            self.look_up(slot, tunable);
        }
        let state = slot.read();
        let known = |winner: &String| tunable.variants().contains(winner);
        state.stage == Stage::Settled
            && state.winner.as_ref().is_none_or(known)
            && state.incomplete_within.is_none_or(|tried| tried >= budget.as_secs_f64())
            && (state.timed_values == 0 || state.timed_values >= tunable.work().values())
    }

    /// The answer of a slot that has one.
    fn answer(&self, slot: &Slot, tunable: &dyn Tunable, policy: Policy) -> Option<Choice> {
        let state = slot.read();
        if !state.answers(policy, &*self.clock) {
            return None;
        }
        let names = tunable.variants();
        let choice = state.choice(tunable, policy);
        if policy != Policy::Pinned && state.deviates(names.get(choice.variant)) {
            drop(state);
            self.warn(slot, tunable, choice);
        }
        Some(choice)
    }

    #[cold]
    fn warn(&self, slot: &Slot, tunable: &dyn Tunable, choice: Choice) {
        let mut state = slot.write();
        if std::mem::replace(&mut state.warned, true) {
            return;
        }
        let entry = self.store.path(tunable).unwrap_or_else(|| tunable.class().into());
        log::warn!(
            "the winner {:?} of tuning entry {} cannot be used here (unknown, without evidence, or not legal for this \
             problem); using {:?}",
            state.winner.as_deref().unwrap_or_default(),
            entry.display(),
            tunable.variants().get(choice.variant).map_or("", String::as_str),
        );
    }

    pub(super) fn slot(&self, tunable: &dyn Tunable) -> Arc<Slot> {
        let key = key(tunable);
        if let Some(slot) = self.slots.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return slot.clone();
        }
        self.slots.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
    }

    pub(super) fn take(&self, device: &str) -> Option<Turn<'_>> {
        let path = if self.settings.locking { self.store.lock_path(device) } else { None };
        self.exclusion.try_take(device, path.as_deref())
    }
}

impl std::fmt::Debug for Tuner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tuner").field("settings", &self.settings).finish_non_exhaustive()
    }
}

fn key(tunable: &dyn Tunable) -> u128 {
    let mut hash = Xxh3Default::new();
    for part in [tunable.device(), tunable.operation(), tunable.class()] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(&tunable.identity().to_le_bytes());
    hash.digest128()
}
