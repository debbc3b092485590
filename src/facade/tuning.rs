//! What the tuner knows, to look at and to carry to other machines.

use crate::accelerator;
use crate::error::{Error, Result};
use crate::ops::job::{Input, Job};
use crate::ops::problem::Shape;
use crate::ops::registry::{self, Entry};
use crate::ops::yardstick;
use crate::runtime::{self, Target};
use crate::tune::{self, Collection, DeviceFacts, DeviceResults, Explanation, ImportSummary, Policy};

/// The operation of this name.
pub(super) fn operation(name: &str) -> Result<&'static Entry> {
    registry::entry(name.trim()).ok_or_else(|| {
        let known: Vec<_> = registry::registry().iter().map(|e| e.command.name).collect();
        Error::invalid(format!("unknown operation '{name}'; operations that are tuned: {}", known.join(", ")))
    })
}

/// A size to ask about.
pub(super) fn shape(channels: usize, samples: usize) -> Result<Shape> {
    if channels == 0 || samples == 0 {
        return Err(Error::invalid(format!("channels and samples must be 1 or more, got {channels} x {samples}")));
    }
    Ok(Shape { channels, samples })
}

/// Which variant of an operation a call of this size would use now on a runtime (`None`: the current one), and why; one
/// explanation for each of the problems that stand for the operation in the registry. Nothing is measured.
///
/// # Errors
/// An unknown operation or runtime, a size of 0, a runtime that cannot be used here, or a damaged `DSPK_AUTOTUNE`.
///
/// ```
/// for explanation in dspk::runtime::explain("sosfilt", 64, 30_000, Some("cpu"))? {
///     println!("{explanation}");
/// }
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn explain(operation: &str, channels: usize, samples: usize, runtime: Option<&str>) -> Result<Vec<Explanation>> {
    let (entry, shape) = (self::operation(operation)?, shape(channels, samples)?);
    let (policy, target) = (Policy::from_env()?, runtime::resolve(runtime)?);
    let explain = |r: registry::Representative| {
        let input = Input { dtype: r.dtype, interleaved: r.interleaved };
        let job = Job::new(r.problem.as_ref(), target.clone(), shape, input);
        job.variant(0)?;
        Ok(tune::shared().explain(&job, policy))
    };
    (entry.representatives)()?.into_iter().map(explain).collect()
}

/// Everything the tuner has stored, by device.
pub fn tuning_results() -> Vec<DeviceResults> {
    tune::shared().results()
}

/// Takes over results measured elsewhere, as [`Collection::parse`] reads them, for the devices that this machine has (for
/// all, with `force`). What this machine has measured itself stays, unless `force` is set. An imported winner is verified
/// before its first use.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] if none of the devices is here and `force` is not set.
pub fn import_tuning(collection: &Collection, force: bool) -> Result<ImportSummary> {
    let here: Vec<String> = here().iter().map(Target::key).collect();
    if !force && collection.devices.iter().all(|device| !here.contains(&device.facts.device)) {
        let list = |keys: Vec<&str>| if keys.is_empty() { "none".into() } else { keys.join(", ") };
        return Err(Error::invalid(format!(
            "the results are of other devices ({}) than this machine's ({}); use them only if you know that they are \
             alike: --force",
            list(collection.devices.iter().map(|d| d.facts.device.as_str()).collect()),
            list(here.iter().map(String::as_str).collect()),
        )));
    }
    let is_current = |entry: &tune::Entry| {
        let known = collection.devices.iter().find(|device| device.facts.device == entry.device);
        let on_gpu = known.is_some_and(|device| device.facts.runtime != "cpu");
        registry::entry(&entry.operation)
            .is_some_and(|e| tune::cache::identity_text(e.identity(on_gpu)) == entry.identity)
    };
    Ok(tune::shared().import(collection, &here, force, &is_current))
}

/// Removes what dspk has stored of the devices of these runtimes (none given: of all devices ever used here): tuning
/// results and compiled kernels, nothing else. Running processes keep what they have in memory.
///
/// # Errors
/// A runtime that is unknown or cannot be used here, or a file that may not be removed; what went before is gone.
pub fn clear_cache(runtimes: &[String]) -> Result<tune::cache::Cleared> {
    let keys: Vec<String> =
        runtimes.iter().map(|name| Ok(runtime::resolve(Some(name))?.key())).collect::<Result<_>>()?;
    let devices = (!keys.is_empty()).then_some(&keys[..]);
    let Some(cache) = crate::disk::cache_folder() else { return Ok(tune::cache::Cleared::default()) };
    let mut cleared = tune::cache::clear(&cache, devices)?;
    cleared += runtime::binaries::clear(&cache, devices)?;
    Ok(cleared)
}

/// The CPU and every device that opens.
fn here() -> Vec<Target> {
    let mut found = vec![Target::Cpu];
    for device in accelerator::devices() {
        if device.usable && device.runtime != "cpu" {
            match runtime::resolve(Some(&device.device)) {
                Ok(target) => found.push(target),
                Err(e) => log::warn!("{} is left out: {e}", device.device),
            }
        }
    }
    found
}

/// Measures and stores a device's copy rate, by which reports judge throughput, unless it is known.
pub(super) fn measure_copy_rate(target: &Target, again: bool) {
    let facts = yardstick::facts(target);
    if !again && tune::shared().copy_rate(&facts.device).is_some() {
        return;
    }
    match yardstick::copy_rate(target) {
        Ok(rate) if rate.is_finite() && rate > 0.0 => {
            tune::shared().describe(&DeviceFacts { copy_bytes_per_second: Some(rate), ..facts });
        }
        Ok(_) => log::info!("the copy rate of {} could not be read from its clock", facts.device),
        Err(e) => log::info!("the copy rate of {} was not measured: {e}", facts.device),
    }
}

/// The targets that have results stored, with the names to select them by; software adapters among them.
pub(super) fn measured_targets() -> Vec<(accelerator::Record, Target)> {
    let stored = tuning_results();
    let is_stored = |runtime: &str| stored.iter().any(|device| device.facts.runtime == runtime);
    let usable = accelerator::devices().into_iter().filter(|d| d.usable && is_stored(d.runtime));
    usable.filter_map(|device| runtime::resolve(Some(&device.device)).ok().map(|target| (device, target))).collect()
}
