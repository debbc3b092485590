//! What users see as `runtime::autotune`, `accelerator::devices` and the like: thin functions over all layers.

mod recommend;
mod tuning;

pub use recommend::{Basis, Estimate, Recommendation, recommend};
pub use tuning::{clear_cache, explain, import_tuning, tuning_results};

use std::time::Instant;

use crate::error::Result;
use crate::ops::job::Job;
use crate::ops::problem::Shape;
use crate::ops::registry::{self, Entry};
use crate::runtime::{self, Target};
use crate::tune::{self, AutotuneOptions, Progress, RuntimeSummary, Tunable};

/// Tunes the given operations (all by default) over a grid of channel and sample counts, ahead of time, and compiles
/// their kernels: on the runtimes named, or on the CPU and every hardware device here (software adapters only when
/// named). What is settled in the cache already is not measured again.
///
/// `progress` is called before each class. Smallest sizes come first; what does not fit the budget is reported and is
/// tuned when it is first met.
///
/// # Errors
/// An unknown runtime or operation, a size of 0, or a named runtime that cannot be used here.
///
/// ```no_run
/// use dspk::tune::AutotuneOptions;
/// let options = AutotuneOptions { runtimes: vec!["cpu".into()], ..Default::default() };
/// for summary in dspk::runtime::autotune_with(&options, &mut |_| ())? {
///     println!("{}: {} sizes in {:.1} s", summary.runtime, summary.sizes, summary.seconds);
/// }
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn autotune_with(
    options: &AutotuneOptions,
    progress: &mut dyn FnMut(&Progress<'_>),
) -> Result<Vec<RuntimeSummary>> {
    let points = options.grid()?.points();
    let entries = chosen(&options.operations)?;
    let opening = Instant::now();
    let targets = targets(&options.runtimes)?;
    // The budgets cover everything, the opening of devices in equal parts.
    let opened = opening.elapsed() / u32::try_from(targets.len().max(1)).unwrap_or(u32::MAX);
    let mut summaries = Vec::new();
    for (name, target) in &targets {
        let start = Instant::now();
        tuning::measure_copy_rate(target, options.force);
        let mut problems = Vec::new();
        for entry in &entries {
            problems.extend((entry.representatives)()?);
        }
        let jobs = points.iter().flat_map(|&(channels, samples)| {
            problems.iter().map(move |r| tune::Job {
                operation: r.problem.operation().to_string(),
                channels,
                samples,
                build: Box::new(move || {
                    let job = Job::standing_for(r, target.clone(), Shape { channels, samples });
                    job.variant(0)?;
                    Ok(Box::new(job) as Box<dyn Tunable>)
                }),
            })
        });
        let budget = options.budget.saturating_sub(opened + start.elapsed());
        let plan = tune::Sweep { runtime: name, budget, force: options.force };
        let mut summary = tune::sweep(tune::shared(), plan, jobs, progress);
        summary.sizes = points.len();
        summary.seconds = (opened + start.elapsed()).as_secs_f64();
        if tune::shared().is_unwritable() {
            summary.failed.push("results could not be stored and are lost when this process ends".into());
        }
        summaries.push(summary);
    }
    Ok(summaries)
}

/// [`autotune_with`] for one runtime (or, with `None`, the CPU and every hardware device) over the given grid, silently.
///
/// An empty `channels` or `samples` stands for the standard grid: 32, 64, 128, 384 channels by 8192, 32768, 131072,
/// 524288 samples.
///
/// # Errors
/// As [`autotune_with`].
pub fn autotune(runtime: Option<&str>, channels: &[usize], samples: &[usize]) -> Result<Vec<RuntimeSummary>> {
    let options = AutotuneOptions {
        runtimes: runtime.into_iter().map(str::to_string).collect(),
        channels: channels.to_vec(),
        samples: samples.to_vec(),
        ..Default::default()
    };
    autotune_with(&options, &mut |_| ())
}

/// The device report, seen from `accelerator`.
pub mod accelerator {
    use crate::accelerator::{Capability, Operation};
    pub use crate::runtime::resolve_device as resolve;
    pub use crate::runtime::{
        describe, device_string, devices, is_cuda, is_gpu, neural_engines, report, supports_bfloat16, supports_float16,
        supports_float64,
    };
    /// What the device that calls use now does with each operation of this build.
    pub fn capabilities_now() -> Vec<Capability> {
        crate::runtime::capabilities(&operations())
    }

    /// The operations of this build, as the report needs them.
    pub fn operations() -> Vec<Operation> {
        let of = |e: &super::Entry| Operation {
            name: e.command.name.into(),
            gpu: !e.kernels.is_empty(),
            ..Default::default()
        };
        super::registry::registry().iter().map(of).collect()
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Entry>> {
    if names.is_empty() {
        return Ok(registry::registry().iter().collect());
    }
    names.iter().map(|name| tuning::operation(name)).collect()
}

fn targets(names: &[String]) -> Result<Vec<(String, Target)>> {
    if !names.is_empty() {
        return names.iter().map(|n| Ok((n.trim().to_lowercase(), runtime::resolve(Some(n))?))).collect();
    }
    let mut targets = vec![("cpu".to_string(), Target::Cpu)];
    for (device, target) in tuning::opened(|device| device.auto && device.runtime != "cpu") {
        // A runtime's first device goes by the runtime's name, further ones by their own.
        let first = targets.iter().all(|(_, t)| t.runtime() != device.runtime);
        targets.push((if first { device.runtime.to_string() } else { device.device }, target));
    }
    Ok(targets)
}
