//! The tuner itself: what is known of each class in this process, and the steps from a first meeting to a settled choice.
//!
//! A class lives in a [`Slot`]. Threads that meet a settled slot read it and go; the one that meets an open slot claims it
//! and works, while others take the default and do not wait. Across processes a lock on the device does the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use xxhash_rust::xxh3::Xxh3Default;

use super::cache::{self, Candidate, Entry, Exclusion, Found, Location, Outcome, Rejection, Store, Turn};
use super::measure::{Clock, HostClock, Measurement, Verdict, measure, verify};
use super::slot::{Slot, Stage};
use super::{Policy, Tunable};
use crate::error::{Error, ErrorKind, Result};

/// How long a call goes on with the default before it looks again whether a busy device is free.
const RETRY: Duration = Duration::from_secs(1);
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
    /// Wall time that a first meeting may take. Default: 1 second.
    pub on_miss: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { location: Location::Standard, locking: true, on_miss: Duration::from_secs(1) }
    }
}

/// Where a choice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The built-in default: nothing is known, or nothing may be looked up.
    Default,
    /// Measured on this device at this class, now or earlier.
    Tuned,
    /// Taken from the nearest class.
    Nearest,
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
    /// It could not be settled within the budget, for this reason; nothing was stored.
    Abandoned(String),
    /// The device was being tuned by another until the wait ended.
    Busy,
}

/// Chooses, measures and remembers. One is shared by the process ([`super::shared`]); others can stand beside it.
pub struct Tuner {
    settings: Settings,
    clock: Box<dyn Clock>,
    store: Store,
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
            let first = self.slot(tunable).read().failed.clone();
            let variant = tunable.variants().iter().position(|name| !first.contains(name)).unwrap_or(0);
            return Choice { variant, ..default };
        }
        let slot = self.slot(tunable);
        if let Some(choice) = self.answer(&slot, tunable, policy) {
            return choice;
        }
        let Some(claim) = slot.claim() else { return slot.meanwhile(tunable) };
        self.resolve(&slot, tunable, policy);
        drop(claim);
        self.answer(&slot, tunable, policy).unwrap_or_else(|| slot.meanwhile(tunable))
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
                self.store.reject(tunable, name, format!("in use: {error}"));
            }
        }
        slot.read().pick(names)
    }

    /// Settles a class now, ahead of use. `waiting` is called now and then while another holds the device.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`] if no variant is right and runs.
    pub fn tune(&self, tunable: &dyn Tunable, effort: Effort, waiting: &mut dyn FnMut()) -> Result<Tuning> {
        if tunable.variants().len() < 2 {
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
            Verdict::Abandoned(reason) => Ok(Tuning::Abandoned(reason)),
            Verdict::Failed(reason) => {
                let what = format!("{} {} on {}", tunable.operation(), tunable.class(), tunable.device());
                Err(Error::new(ErrorKind::Kernel, reason).context(what))
            }
        }
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
        state.stage == Stage::Settled && state.incomplete_within.is_none_or(|tried| tried >= budget.as_secs_f64())
    }

    /// The answer of a slot that has one.
    fn answer(&self, slot: &Slot, tunable: &dyn Tunable, policy: Policy) -> Option<Choice> {
        let state = slot.read();
        if !state.answers(policy, &*self.clock) {
            return None;
        }
        let names = tunable.variants();
        let choice = state.choice(names);
        if state.deviates(names.get(choice.variant)) {
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

    fn slot(&self, tunable: &dyn Tunable) -> Arc<Slot> {
        let key = key(tunable);
        if let Some(slot) = self.slots.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return slot.clone();
        }
        self.slots.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
    }

    fn take(&self, device: &str) -> Option<Turn<'_>> {
        let path = if self.settings.locking { self.store.lock_path(device) } else { None };
        self.exclusion.try_take(device, path.as_deref())
    }

    /// From a first meeting to whatever the policy allows; the caller holds the slot's claim.
    fn resolve(&self, slot: &Slot, tunable: &dyn Tunable, policy: Policy) {
        let answered = || slot.read().answers(policy, &*self.clock);
        if answered() {
            return;
        }
        if policy != Policy::Force && matches!(slot.read().stage, Stage::New | Stage::Waiting(_)) {
            self.look_up(slot, tunable);
        }
        if policy == Policy::Cached && slot.read().stage == Stage::Absent {
            self.borrow_nearest(slot, tunable);
        }
        if answered() {
            return;
        }
        let Some(_turn) = self.take(tunable.device()) else {
            slot.write().stage = Stage::Waiting(self.clock.now().saturating_add(RETRY));
            return;
        };
        // Whoever had the device until just now may have settled this very class.
        if policy != Policy::Force {
            self.look_up(slot, tunable);
        }
        if !answered() {
            self.measure(slot, tunable, self.settings.on_miss, policy == Policy::Force);
        }
    }

    /// Reads the store into the slot.
    fn look_up(&self, slot: &Slot, tunable: &dyn Tunable) {
        if slot.read().blocked {
            return;
        }
        match self.store.load(tunable) {
            Found::Entry(entry) => self.adopt(slot, tunable, &entry),
            Found::Nothing => slot.write().stage = Stage::Absent,
            Found::Blocked => {
                let mut state = slot.write();
                (state.stage, state.blocked) = (Stage::Absent, true);
            }
        }
    }

    /// Takes a stored entry over. Under another driver each variant is verified before it counts.
    fn adopt(&self, slot: &Slot, tunable: &dyn Tunable, entry: &Entry) {
        let names = tunable.variants();
        let mut failed: Vec<String> = entry.rejected.iter().map(|r| r.variant.clone()).collect();
        let mut merit = entry.merit();
        let stale = entry.driver != tunable.driver() || entry.driver.trim().eq_ignore_ascii_case("unknown");
        if stale {
            let right = |name: &String| {
                names.iter().position(|other| other == name).is_none_or(|variant| verify(tunable, variant).is_ok())
            };
            while let Some(first) = merit.first() {
                if right(first) {
                    break;
                }
                failed.push(merit.remove(0));
            }
            log::info!(
                "{} {} was tuned under another driver: used after verification, autotune measures it again",
                tunable.operation(),
                tunable.class()
            );
        }
        if !merit.iter().any(|name| names.contains(name)) {
            merit.extend(self.store.nearest(tunable));
        }
        let mut state = slot.write();
        failed.retain(|name| !state.failed.contains(name));
        state.failed.extend(failed);
        state.winner = Some(entry.winner.clone());
        state.merit = merit;
        state.borrowed = false;
        state.incomplete_within = if stale { Some(0.0) } else { entry.incomplete_within() };
        state.stage = Stage::Settled;
    }

    fn borrow_nearest(&self, slot: &Slot, tunable: &dyn Tunable) {
        let merit = self.store.nearest(tunable);
        let mut state = slot.write();
        state.borrowed = !merit.is_empty();
        state.merit = merit;
    }

    /// Measures, remembers and stores.
    fn measure(&self, slot: &Slot, tunable: &dyn Tunable, budget: Duration, force: bool) -> Verdict {
        let start = self.clock.now();
        let measured = measure(tunable, &*self.clock, budget);
        let took = self.clock.now().saturating_sub(start);
        let names = tunable.variants();
        let name = |variant: usize| names.get(variant).cloned().unwrap_or_default();
        let (operation, class, device) = (tunable.operation(), tunable.class(), tunable.device());
        let mut state = slot.write();
        if force {
            (state.failed, state.forced) = (Vec::new(), true);
        }
        let used_up: Vec<String> = state.failed.clone();
        for (variant, _) in &measured.rejected {
            let name = name(*variant);
            if !state.failed.contains(&name) {
                state.failed.push(name);
            }
        }
        match &measured.verdict {
            Verdict::Settled { variant, won } => {
                let mut entry = entry_of(tunable, &measured, *variant, *won, budget);
                used_up.iter().for_each(|failed| entry.reject(failed, "in use".into()));
                state.merit = entry.merit();
                state.winner = Some(entry.winner.clone());
                (state.borrowed, state.warned) = (false, false);
                state.incomplete_within = entry.incomplete_within();
                state.stage = Stage::Settled;
                let blocked = state.blocked;
                drop(state);
                if !blocked {
                    self.store.save(tunable, &entry);
                }
                let ratio = measured.timed.iter().find(|t| t.variant == *variant).map_or(1.0, |t| t.ratio.median);
                log::info!(
                    "tuned {operation} {class} on {device}: {} of {} variants, {:.2} of the default's time, in {took:.2?}",
                    entry.winner,
                    names.len(),
                    ratio
                );
            }
            Verdict::Abandoned(reason) => {
                if state.stage != Stage::Settled {
                    state.stage = Stage::Abandoned;
                }
                log::info!("tuning {operation} {class} on {device} was abandoned after {took:.2?}: {reason}");
            }
            Verdict::Failed(reason) => {
                state.stage = Stage::Abandoned;
                log::warn!("tuning {operation} {class} on {device}: {reason}");
            }
        }
        measured.verdict
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

fn entry_of(tunable: &dyn Tunable, measured: &Measurement, winner: usize, won: bool, budget: Duration) -> Entry {
    let names = tunable.variants();
    let name = |variant: usize| names.get(variant).cloned().unwrap_or_default();
    Entry {
        schema: cache::SCHEMA,
        device: tunable.device().to_string(),
        operation: tunable.operation().to_string(),
        class: tunable.class().to_string(),
        identity: cache::identity_text(tunable.identity()),
        driver: tunable.driver().to_string(),
        outcome: if won { Outcome::Won } else { Outcome::DefaultKept },
        winner: name(winner),
        rounds: measured.rounds,
        date: cache::date_now(),
        candidates: measured
            .timed
            .iter()
            .map(|timed| Candidate {
                variant: name(timed.variant),
                seconds: timed.seconds,
                spread: timed.ratio.noise,
                ratio: timed.ratio.median,
            })
            .collect(),
        rejected: measured
            .rejected
            .iter()
            .map(|(variant, reason)| Rejection { variant: name(*variant), reason: reason.clone() })
            .collect(),
        budget: budget.as_secs_f64(),
        untried: measured.untried.iter().map(|&variant| name(variant)).collect(),
    }
}
