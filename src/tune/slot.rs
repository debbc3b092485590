//! What this process knows of one class, and who may work on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::tuner::{Choice, Origin};
use super::{Clock, Policy, Tunable};

/// What is known of one class.
#[derive(Debug, Default)]
pub(super) struct State {
    pub stage: Stage,
    /// Variants worth using, best first.
    pub merit: Vec<String>,
    /// The variant that ought to be used, when that is known.
    pub winner: Option<String>,
    /// Variants that must not be used.
    pub failed: Vec<String>,
    /// Where `merit` comes from, if it is that of another class or device.
    pub borrowed: Option<Origin>,
    /// The deviation from `winner` has been warned about.
    pub warned: bool,
    /// Wall seconds of the measurement if they were too few to try every variant, 0 if it was made under another driver:
    /// a larger budget measures again.
    pub incomplete_within: Option<f64>,
    /// Channels times samples of the problem that was timed; 0 = not known.
    pub timed_values: u64,
    /// The entry's place is blocked: do not store.
    pub blocked: bool,
    /// Measured under [`Policy::Force`] in this process.
    pub forced: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not looked up yet.
    #[default]
    New,
    /// Looked up; no result of its own.
    Absent,
    /// The device is busy; look again then.
    Waiting(Duration),
    /// Tried in this process and given up.
    Abandoned,
    Settled,
}

impl State {
    /// The best usable variant; under [`Policy::Pinned`] the best that rounds like the first usable one.
    pub fn pick(&self, tunable: &dyn Tunable, policy: Policy) -> Option<usize> {
        let names = tunable.variants();
        let usable = |index: &usize| !self.failed.contains(&names[*index]);
        let first = (0..names.len()).find(usable)?;
        let allowed = |index: &usize| policy != Policy::Pinned || tunable.rounding(*index) == tunable.rounding(first);
        let legal = |name: &String| names.iter().position(|other| other == name);
        Some(self.merit.iter().filter_map(legal).find(|index| usable(index) && allowed(index)).unwrap_or(first))
    }

    pub fn choice(&self, tunable: &dyn Tunable, policy: Policy) -> Choice {
        let origin = match (self.stage, self.borrowed) {
            (Stage::Settled, _) => Origin::Tuned,
            (Stage::Waiting(_), _) => Origin::Busy,
            (_, Some(origin)) => origin,
            _ => Origin::Default,
        };
        Choice { variant: self.pick(tunable, policy).unwrap_or(0), origin }
    }

    pub fn answers(&self, policy: Policy, clock: &dyn Clock) -> bool {
        match self.stage {
            Stage::Settled | Stage::Abandoned => policy != Policy::Force || self.forced,
            Stage::Absent => policy == Policy::Cached,
            Stage::Waiting(until) => clock.now() < until,
            Stage::New => false,
        }
    }

    /// Whether the variant picked is not the one that ought to be, for no known reason.
    pub fn deviates(&self, picked: Option<&String>) -> bool {
        !self.warned
            && self.winner.as_ref().is_some_and(|winner| Some(winner) != picked && !self.failed.contains(winner))
    }
}

#[derive(Debug, Default)]
pub(super) struct Slot {
    state: RwLock<State>,
    busy: AtomicBool,
}

/// The right to work on a slot.
pub(super) struct Claim<'a>(&'a AtomicBool);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Slot {
    pub fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn claim(&self) -> Option<Claim<'_>> {
        (!self.busy.swap(true, Ordering::Acquire)).then(|| Claim(&self.busy))
    }

    pub fn meanwhile(&self, tunable: &dyn Tunable, policy: Policy) -> Choice {
        Choice { origin: Origin::Busy, ..self.read().choice(tunable, policy) }
    }
}
