//! Tuning many classes ahead of time: smallest sizes first, within a budget.

use std::time::Duration;

use serde::Serialize;

use super::measure::{benchmark_launches, verification_runs};
use super::tuner::{Effort, Tuner, Tuning};
use super::{Grid, Tunable};
use crate::error::{ErrorKind, Result};

/// Wall time one class may take in a sweep.
const CLASS_BUDGET: Duration = Duration::from_secs(25);

/// What `autotune` is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutotuneOptions {
    /// Runtimes by name; empty = cpu and every hardware device here.
    pub runtimes: Vec<String>,
    /// Channel counts; empty = the standard grid's.
    pub channels: Vec<usize>,
    /// Samples per channel; empty = the standard grid's.
    pub samples: Vec<usize>,
    /// Operations by registry name; empty = all.
    pub operations: Vec<String>,
    /// Wall time per runtime. Default: 5 minutes.
    pub budget: Duration,
    /// Measure again what is settled. Default: no.
    pub force: bool,
}

impl Default for AutotuneOptions {
    fn default() -> Self {
        AutotuneOptions {
            runtimes: Vec::new(),
            channels: Vec::new(),
            samples: Vec::new(),
            operations: Vec::new(),
            budget: Duration::from_secs(300),
            force: false,
        }
    }
}

impl AutotuneOptions {
    /// The sizes to tune for.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a size of 0.
    pub fn grid(&self) -> Result<Grid> {
        Grid::with(&self.channels, &self.samples)
    }
}

/// How far a sweep has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The runtime being tuned.
    pub runtime: &'a str,
    /// The operation being tuned.
    pub operation: &'a str,
    /// Its channels and samples.
    pub size: (usize, usize),
    /// Classes finished.
    pub done: usize,
    /// Classes in all.
    pub total: usize,
    /// Estimated time left, never more than the budget leaves; `None` = not known yet.
    pub left: Option<Duration>,
    /// Another process is tuning the device: this one waits.
    pub waiting: bool,
}

/// What a sweep did on one runtime.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuntimeSummary {
    /// Its name.
    #[serde(skip)]
    pub runtime: String,
    /// Grid points (distinct channels x samples) asked for.
    pub sizes: usize,
    /// Wall time.
    pub seconds: f64,
    /// Runs made to time variants; 0 if everything was settled already.
    pub benchmark_launches: u64,
    /// Verifications of a variant against the reference.
    pub verification_runs: u64,
    /// Classes measured now.
    pub tuned: usize,
    /// Classes that were settled already.
    pub cached: usize,
    /// Classes for which the time of one class was not enough to find evidence: the default stays.
    pub inconclusive: usize,
    /// Classes that did not fit the budget; they are tuned when first met.
    pub skipped: usize,
    /// What failed, one line each.
    pub failed: Vec<String>,
}

/// One class to tune, built only when its turn comes.
pub struct Job<'a> {
    /// Registry name of the operation.
    pub operation: String,
    /// Channels of the grid point.
    pub channels: usize,
    /// Samples of the grid point.
    pub samples: usize,
    /// Makes the tunable (and its arrays). An error of kind [`ErrorKind::Unsupported`] means that the operation has no
    /// form for this size here, which is no failure.
    pub build: Box<dyn FnOnce() -> Result<Box<dyn Tunable + 'a>> + 'a>,
}

/// How to sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep<'a> {
    /// Runtime named in progress and summary.
    pub runtime: &'a str,
    /// Wall time for all of it, waiting included.
    pub budget: Duration,
    /// Measure again what is settled.
    pub force: bool,
}

/// Tunes all jobs, smallest first, until the budget is used up. One job's failure is noted and the others go on.
pub fn sweep<'a>(
    tuner: &Tuner,
    plan: Sweep<'_>,
    jobs: impl IntoIterator<Item = Job<'a>>,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> RuntimeSummary {
    let mut jobs: Vec<Job<'a>> = jobs.into_iter().collect();
    jobs.sort_by_key(|job| (job.channels as u128 * job.samples as u128, job.channels));
    let mut run = Run {
        tuner,
        plan,
        start: tuner.clock().now(),
        total: jobs.len(),
        done: 0,
        launches: benchmark_launches(),
        verifications: verification_runs(),
        device: None,
        summary: RuntimeSummary {
            runtime: plan.runtime.to_string(),
            sizes: 0,
            seconds: 0.0,
            benchmark_launches: 0,
            verification_runs: 0,
            tuned: 0,
            cached: 0,
            inconclusive: 0,
            skipped: 0,
            failed: Vec::new(),
        },
    };
    let mut last = None;
    for job in jobs {
        let size = (job.channels, job.samples);
        run.summary.sizes += usize::from(last.replace(size) != Some(size));
        run.job(job, progress);
    }
    run.finish()
}

struct Run<'a> {
    tuner: &'a Tuner,
    plan: Sweep<'a>,
    start: Duration,
    total: usize,
    done: usize,
    launches: u64,
    verifications: u64,
    /// The device whose leftovers have been cleared.
    device: Option<String>,
    summary: RuntimeSummary,
}

impl Run<'_> {
    fn elapsed(&self) -> Duration {
        self.tuner.clock().now().saturating_sub(self.start)
    }

    fn job(&mut self, job: Job<'_>, progress: &mut dyn FnMut(&Progress<'_>)) {
        let elapsed = self.elapsed();
        let remaining = self.plan.budget.saturating_sub(elapsed);
        let estimate = (self.done > 0).then(|| elapsed.mul_f64((self.total - self.done) as f64 / self.done as f64));
        let (operation, size) = (job.operation, (job.channels, job.samples));
        let mut state = Progress {
            runtime: self.plan.runtime,
            operation: &operation,
            size,
            done: self.done,
            total: self.total,
            left: estimate.map(|left| left.min(remaining)),
            waiting: false,
        };
        progress(&state);
        if remaining.is_zero() {
            self.summary.skipped += 1;
        } else {
            let effort = Effort { budget: remaining.min(CLASS_BUDGET), wait: remaining, force: self.plan.force };
            let result = (job.build)().and_then(|tunable| {
                if self.device.as_deref() != Some(tunable.device()) {
                    self.tuner.remove_leftovers(tunable.device());
                    self.device = Some(tunable.device().to_string());
                }
                self.tuner.tune(&*tunable, effort, &mut || {
                    state.waiting = true;
                    progress(&state);
                })
            });
            match result {
                Ok(Tuning::Tuned) => self.summary.tuned += 1,
                Ok(Tuning::Cached) => self.summary.cached += 1,
                Ok(Tuning::Inconclusive(_)) if remaining >= CLASS_BUDGET => self.summary.inconclusive += 1,
                Ok(Tuning::Inconclusive(_) | Tuning::Abandoned(_) | Tuning::Busy) => self.summary.skipped += 1,
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                Err(error) => self.summary.failed.push(format!("{operation} {} x {}: {error}", size.0, size.1)),
            }
        }
        self.done += 1;
        let left = (self.done == self.total).then_some(Duration::ZERO);
        progress(&Progress {
            runtime: self.plan.runtime,
            operation: &operation,
            size,
            done: self.done,
            total: self.total,
            left: left.or(estimate),
            waiting: false,
        });
    }

    fn finish(mut self) -> RuntimeSummary {
        self.summary.seconds = self.elapsed().as_secs_f64();
        self.summary.benchmark_launches = benchmark_launches() - self.launches;
        self.summary.verification_runs = verification_runs() - self.verifications;
        self.summary
    }
}
