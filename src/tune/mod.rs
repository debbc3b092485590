//! The tuner: proves a variant right, then measures it, then remembers the winner.
//!
//! It knows no operation, only the [`Tunable`] trait: a choice between named variants of a recipe, on one device, for
//! one class of problem. [`choose`] answers from memory; the first meeting of a class looks into the [`cache`], and
//! tunes, within about a second, if the [`Policy`] says so. [`sweep`] does the same ahead of time for many.
//!
//! Wrong results cannot win: a variant that fails its verification is never timed, a stored winner is accepted only if
//! it is among the variants legal for the actual problem, and one that fails in use ([`report_failure`]) is remembered.
//! Winners are stored by name with the recipe's identity, so a changed kernel is measured anew.

mod attempts;
pub mod cache;
mod class;
mod estimate;
mod exchange;
mod explain;
#[cfg(test)]
mod fake;
mod grid;
mod measure;
mod policy;
mod resolve;
mod shipped;
mod slot;
pub mod statistics;
mod sweep;
#[cfg(test)]
mod tests;
mod tuner;

use std::sync::LazyLock;

pub use cache::{Candidate, DeviceFacts, DeviceResults, Entry, Location, Outcome, Rejection, Work};
pub use class::{class_name, size_class};
pub use estimate::Basis;
pub use exchange::{Collection, ImportSummary};
pub use explain::Explanation;
pub use grid::Grid;
pub use measure::{Clock, HostClock, benchmark_launches, verification_runs};
pub use policy::{POLICY_VARIABLE, Policy};
pub use sweep::{AutotuneOptions, Job, Progress, RuntimeSummary, Sweep, sweep};
pub use tuner::{Choice, Effort, Origin, Settings, Tuner, Tuning};

use crate::error::{Error, Result};

/// A choice between variants of one operation, on one device, at one class of problem.
pub trait Tunable {
    /// Registry name of the operation: names the folder.
    fn operation(&self) -> &str;
    /// Parameter class, element type and size class, fit for a file name: names the entry. See [`class_name`].
    fn class(&self) -> &str;
    /// Identity of the recipe: hash of the sources of all its kernels (or of the CPU source) and of the variants.
    fn identity(&self) -> u128;
    /// The device's key: names the folder above.
    fn device(&self) -> &str;
    /// Driver version recorded with the evidence; a change marks an entry stale. Empty = there is no driver.
    fn driver(&self) -> &str;
    /// Names of the variants that are legal for the actual problem; the first is the built-in default.
    fn variants(&self) -> &[String];
    /// How one variant rounds, as a name: variants of the same name give the same bits on this device, whatever the input.
    /// By default every variant rounds in its own way.
    fn rounding(&self, variant: usize) -> &str {
        self.variants().get(variant).map_or("", String::as_str)
    }
    /// Checks one variant against the float64 reference on small problems. `Err` = rejected, with the reason.
    fn verify(&self, variant: usize) -> Result<()>;
    /// Seconds that `repeats` runs of one variant take at the timed problem.
    fn time(&self, variant: usize, repeats: u32) -> Result<f64>;
    /// Makes what timing needs, so that the first [`Tunable::time`] does not have to.
    fn prepare(&self) -> Result<()> {
        Ok(())
    }
    /// The problem that is timed.
    fn work(&self) -> Work {
        Work::default()
    }
    /// Seconds of one run of a variant with the transfers from and to the host; `None` = not to be had.
    fn end_to_end(&self, variant: usize) -> Result<Option<f64>> {
        let _ = variant;
        Ok(None)
    }
    /// What is stored of the device beside its entries.
    fn facts(&self) -> DeviceFacts {
        DeviceFacts::bare(self.device(), self.driver())
    }
}

static SHARED: LazyLock<Tuner> = LazyLock::new(|| Tuner::new(Settings::default()));

/// The tuner that all calls of the process share.
pub fn shared() -> &'static Tuner {
    &SHARED
}

/// Which variant to run, by the shared tuner. See [`Tuner::choose`].
pub fn choose(tunable: &dyn Tunable, policy: Policy) -> Choice {
    SHARED.choose(tunable, policy)
}

/// Tells the shared tuner that a variant failed in use; gives the next to try. See [`Tuner::report_failure`].
pub fn report_failure(tunable: &dyn Tunable, variant: usize, error: &Error, policy: Policy) -> Option<usize> {
    SHARED.report_failure(tunable, variant, error, policy)
}
