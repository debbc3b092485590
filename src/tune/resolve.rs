//! From a first meeting with a class to a settled choice: the store, what is known elsewhere, a measurement.

use std::time::Duration;

use super::attempts::Watched;
use super::cache::{self, Candidate, Entry, Found, Outcome, Rejection};
use super::measure::{Measurement, Prior, Verdict, measure, verify};
use super::slot::{Slot, Stage};
use super::statistics::is_void;
use super::tuner::{Origin, Tuner};
use super::{Policy, Tunable, shipped};

/// How long a call goes on with the default before it looks again whether a busy device is free.
const RETRY: Duration = Duration::from_secs(1);

impl Tuner {
    /// From a first meeting to whatever the policy allows; the caller holds the slot's claim.
    pub(super) fn resolve(&self, slot: &Slot, tunable: &dyn Tunable, policy: Policy) {
        let answered = || slot.read().answers(policy, &*self.clock);
        if answered() {
            return;
        }
        if policy != Policy::Force && matches!(slot.read().stage, Stage::New | Stage::Waiting(_)) {
            self.look_up(slot, tunable);
        }
        if policy == Policy::Cached {
            self.borrow(slot, tunable);
        }
        if answered() {
            return;
        }
        let Some(_turn) = self.take(tunable.device()) else {
            self.borrow(slot, tunable);
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
    pub(super) fn look_up(&self, slot: &Slot, tunable: &dyn Tunable) {
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

    /// Takes a stored entry over. What was measured under another driver, or elsewhere, is verified before it counts.
    fn adopt(&self, slot: &Slot, tunable: &dyn Tunable, entry: &Entry) {
        // A first meeting would try for longer than this one had.
        if entry.outcome == Outcome::Inconclusive && entry.budget < self.settings.on_miss.as_secs_f64() {
            slot.write().stage = Stage::Absent;
            return;
        }
        let names = tunable.variants();
        let mut failed: Vec<String> = entry.rejected.iter().map(|r| r.variant.clone()).collect();
        let mut merit = entry.merit();
        let stale = entry.driver != tunable.driver() || entry.driver.trim().eq_ignore_ascii_case("unknown");
        if stale || entry.imported {
            let (right, wrong) = proven(tunable, &merit);
            merit = right;
            failed.extend(wrong);
            let why = if stale { "under another driver" } else { "elsewhere" };
            let (operation, class) = (tunable.operation(), tunable.class());
            log::info!("{operation} {class} was tuned {why}: used after verification");
        }
        if !merit.iter().any(|name| names.contains(name)) {
            merit.extend(self.store.neighbours(tunable).iter().flat_map(Entry::merit));
        }
        let mut state = slot.write();
        failed.retain(|name| !state.failed.contains(name));
        state.failed.extend(failed);
        state.winner = Some(entry.winner.clone());
        state.merit = merit;
        state.borrowed = None;
        state.timed_values = entry.work.values();
        state.incomplete_within = if stale { Some(0.0) } else { entry.incomplete_within() };
        state.stage = Stage::Settled;
    }

    /// Without a result of its own a class takes the best known elsewhere: a near class here, then what is shipped.
    pub(super) fn borrow(&self, slot: &Slot, tunable: &dyn Tunable) {
        if slot.read().stage != Stage::Absent {
            return;
        }
        let names = tunable.variants();
        let legal = |merit: &[String]| merit.iter().any(|name| names.contains(name));
        let mut merit: Vec<String> = self.store.neighbours(tunable).iter().flat_map(Entry::merit).collect();
        let mut origin = Origin::Nearest;
        let mut failed = Vec::new();
        if !legal(&merit) {
            (merit, failed) = proven(tunable, &shipped::merit(tunable));
            origin = Origin::Shipped;
        }
        let mut state = slot.write();
        state.borrowed = legal(&merit).then_some(origin);
        state.merit = merit;
        failed.retain(|name| !state.failed.contains(name));
        state.failed.extend(failed);
    }

    /// What the nearest class on this device leads to expect.
    fn prior(&self, tunable: &dyn Tunable) -> Prior {
        let near = self.store.neighbours(tunable);
        // One that ended before anything ran has nothing to tell.
        let known = |entry: &&Entry| entry.work.values() > 0 && !entry.candidates.is_empty();
        let Some(entry) = near.iter().find(known) else { return Prior::default() };
        let scale = tunable.work().values() as f64 / entry.work.values() as f64;
        let seconds = |name: &String| entry.seconds(name).map(|seconds| seconds * scale);
        Prior { setup: entry.setup * scale, seconds: tunable.variants().iter().map(seconds).collect() }
    }

    /// Seconds of a winner's run with transfers, if time is left to measure them; else 0.
    fn end_to_end(&self, tunable: &dyn Tunable, measured: &Measurement, end: Duration) -> f64 {
        let Verdict::Settled { variant, .. } = measured.verdict else { return 0.0 };
        if self.clock.now().saturating_add(measured.setup.saturating_mul(2)) > end {
            return 0.0;
        }
        // It is advice about runtimes, no property of the variant: a failure leaves it unknown.
        tunable.end_to_end(variant).ok().flatten().filter(|seconds| !is_void(*seconds)).unwrap_or(0.0)
    }

    /// Measures, remembers and stores.
    pub(super) fn measure(&self, slot: &Slot, tunable: &dyn Tunable, budget: Duration, force: bool) -> Verdict {
        let start = self.clock.now();
        // Only a device's driver can take the process down.
        let facts = tunable.facts();
        let notes =
            if facts.runtime == "cpu" || slot.read().blocked { None } else { self.store.attempts_path(tunable) };
        let watched = Watched::new(tunable, notes, force);
        let measured = measure(&watched, &*self.clock, budget, &self.prior(tunable));
        let end_to_end = self.end_to_end(&watched, &measured, start.saturating_add(budget));
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
        if matches!(measured.verdict, Verdict::Settled { .. } | Verdict::Inconclusive(_)) {
            let mut entry = entry_of(tunable, &measured, budget);
            entry.end_to_end = end_to_end;
            used_up.iter().for_each(|failed| entry.reject(failed, "in use"));
            state.merit = entry.merit();
            state.winner = Some(entry.winner.clone());
            (state.borrowed, state.warned) = (None, false);
            state.incomplete_within = entry.incomplete_within();
            state.timed_values = entry.work.values();
            state.stage = Stage::Settled;
            let blocked = state.blocked;
            drop(state);
            if !blocked {
                self.store.save(&entry, &facts);
            }
            let what = match &measured.verdict {
                Verdict::Inconclusive(reason) => format!("default kept, {reason}"),
                _ => {
                    let ratio = entry.candidates.iter().find(|c| c.variant == entry.winner).map_or(1.0, |c| c.ratio);
                    format!("{} of {} variants, {ratio:.2} of the default's time", entry.winner, names.len())
                }
            };
            log::info!("tuned {operation} {class} on {device}: {what}, in {took:.2?}");
            return measured.verdict;
        }
        match &measured.verdict {
            Verdict::Settled { .. } | Verdict::Inconclusive(_) => {}
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

/// Of variants that were measured elsewhere, best first: the first that is right here, with the first right one that
/// rounds like the default; and those found wrong on the way.
fn proven(tunable: &dyn Tunable, merit: &[String]) -> (Vec<String>, Vec<String>) {
    let names = tunable.variants();
    let (mut right, mut wrong): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut pinned = false;
    for name in merit {
        let Some(variant) = names.iter().position(|known| known == name) else { continue };
        let like_default = tunable.rounding(variant) == tunable.rounding(0);
        if !right.is_empty() && (pinned || !like_default) {
            continue;
        }
        // The default as a companion needs no proof: it is what runs without a tuner.
        let proof = if variant == 0 && !right.is_empty() { Ok(()) } else { verify(tunable, variant) };
        match proof {
            Ok(()) => {
                pinned |= like_default;
                right.push(name.clone());
            }
            Err(error) if error.kind().is_passing() => {}
            Err(_) => wrong.push(name.clone()),
        }
    }
    (right, wrong)
}

fn entry_of(tunable: &dyn Tunable, measured: &Measurement, budget: Duration) -> Entry {
    let names = tunable.variants();
    let name = |variant: usize| names.get(variant).cloned().unwrap_or_default();
    let default = measured.baseline.unwrap_or(0);
    let (winner, outcome, reason) = match &measured.verdict {
        Verdict::Settled { variant, won: true } => (*variant, Outcome::Won, String::new()),
        Verdict::Settled { variant, won: false } => (*variant, Outcome::DefaultKept, String::new()),
        Verdict::Inconclusive(reason) | Verdict::Abandoned(reason) | Verdict::Failed(reason) => {
            (default, Outcome::Inconclusive, reason.clone())
        }
    };
    Entry {
        schema: cache::SCHEMA,
        device: tunable.device().to_string(),
        operation: tunable.operation().to_string(),
        class: tunable.class().to_string(),
        identity: cache::identity_text(tunable.identity()),
        driver: tunable.driver().to_string(),
        outcome,
        winner: name(winner),
        default: name(default),
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
        rejected: measured.rejected.iter().map(|(variant, reason)| Rejection::new(&name(*variant), reason)).collect(),
        budget: budget.as_secs_f64(),
        untried: measured.untried.iter().map(|&variant| name(variant)).collect(),
        reason,
        work: tunable.work(),
        setup: measured.setup.as_secs_f64(),
        end_to_end: 0.0,
        imported: false,
    }
}
