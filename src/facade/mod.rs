//! What users see as `runtime::autotune`, `accelerator::devices` and the like: thin functions over all layers.

mod recommend;
mod tuning;

pub use recommend::{Basis, Estimate, Recommendation, recommend};
pub use tuning::{clear_cache, explain, import_tuning, tuning_results};

use std::time::Instant;

use crate::error::{Error, Result};
use crate::ops::job::{Input, Job};
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
    let targets = targets(&options.runtimes)?;
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
                    let input = Input { dtype: r.dtype, interleaved: r.interleaved };
                    let job = Job::new(r.problem.as_ref(), target.clone(), Shape { channels, samples }, input);
                    job.variant(0)?;
                    Ok(Box::new(job) as Box<dyn Tunable>)
                }),
            })
        });
        let budget = options.budget.saturating_sub(start.elapsed());
        let plan = tune::Sweep { runtime: name, budget, force: options.force };
        let mut summary = tune::sweep(tune::shared(), plan, jobs, progress);
        summary.sizes = points.len();
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
    let find = |name: &String| {
        registry::entry(name.trim()).ok_or_else(|| {
            let known: Vec<_> = registry::registry().iter().map(|e| e.command.name).collect();
            Error::invalid(format!("unknown operation '{name}'; operations that are tuned: {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

fn targets(names: &[String]) -> Result<Vec<(String, Target)>> {
    if !names.is_empty() {
        return names.iter().map(|n| Ok((n.trim().to_lowercase(), runtime::resolve(Some(n))?))).collect();
    }
    let mut targets = vec![("cpu".to_string(), Target::Cpu)];
    for device in crate::accelerator::devices() {
        if device.auto && device.runtime != "cpu" {
            match runtime::resolve(Some(&device.device)) {
                // A runtime's first device goes by the runtime's name, further ones by their own.
                Ok(target) => {
                    let first = targets.iter().all(|(_, t)| t.runtime() != device.runtime);
                    targets.push((if first { device.runtime.to_string() } else { device.device }, target));
                }
                Err(e) => log::warn!("{} is left out: {e}", device.device),
            }
        }
    }
    Ok(targets)
}
