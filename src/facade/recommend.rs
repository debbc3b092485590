//! Which runtime is fastest for a size, from what the tuner has measured.

use serde::Serialize;

use super::tuning::{measured_targets, operation, shape};
use crate::error::Result;
use crate::ops::job::Job;
use crate::ops::problem::Shape;
use crate::ops::registry::Representative;
use crate::runtime::{self, Target};
pub use crate::tune::Basis;
use crate::tune::{self, Tunable};

/// What one device takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Its runtime.
    pub runtime: String,
    /// Name to select it by.
    pub device: String,
    /// Name for people.
    pub label: String,
    /// Seconds from host array to host array, transfers included.
    pub seconds: f64,
    /// How the time was come by.
    pub basis: Basis,
    /// Whether it may be recommended: software adapters are measured for comparison only.
    pub eligible: bool,
}

/// Where an operation of one size is best run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// Registry name of the operation.
    pub operation: String,
    /// Rows of the input.
    pub channels: usize,
    /// Samples per row.
    pub samples: usize,
    /// Name to select the recommended device by, as [`crate::runtime::set`] and the `runtime` option of calls take it.
    pub device: String,
    /// Whether it rests on measurements of more than one device; else it is what calls use anyway.
    pub measured: bool,
    /// All devices with results, fastest first.
    pub estimates: Vec<Estimate>,
}

/// Which runtime here is fastest for an operation on `channels` by `samples` values that start and end in host memory, by
/// the times that the tuner has stored (`autotune` measures them). Small jobs often cost more to send to a GPU than to
/// compute on the CPU.
///
/// It is advice: calls run where they are told to. Nothing is measured here. Where fewer than two devices have been
/// measured, it names the device that calls use anyway and `measured` is false.
///
/// # Errors
/// An unknown operation, a size of 0, or a current runtime that cannot be used.
///
/// ```
/// let best = dspk::runtime::recommend("sosfilt", 32, 8192)?;
/// println!("{} ({})", best.device, if best.measured { "measured" } else { "not compared yet" });
/// # Ok::<(), dspk::Error>(())
/// ```
pub fn recommend(operation: &str, channels: usize, samples: usize) -> Result<Recommendation> {
    let entry = self::operation(operation)?;
    let shape = shape(channels, samples)?;
    let problems = (entry.representatives)()?;
    let mut estimates: Vec<Estimate> = measured_targets()
        .into_iter()
        .filter_map(|(record, target)| {
            let (seconds, basis) = time(&problems, &target, shape)?;
            let (label, device) = (record.label, record.device);
            let eligible = record.auto || record.runtime == "cpu";
            Some(Estimate { runtime: record.runtime.into(), device, label, seconds, basis, eligible })
        })
        .collect();
    estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let best = best(&estimates);
    let measured = best.is_some();
    let device = match best {
        Some(best) => best.device.clone(),
        None => runtime::current()?.to_string(),
    };
    Ok(Recommendation { operation: entry.command.name.into(), channels, samples, device, measured, estimates })
}

/// The fastest of several devices that may be recommended, of a list with the fastest first.
fn best(estimates: &[Estimate]) -> Option<&Estimate> {
    let mut eligible = estimates.iter().filter(|e| e.eligible);
    let first = eligible.next()?;
    eligible.next().map(|_| first)
}

/// Time of all problems that stand for the operation, together; `None` if one has not been measured.
fn time(problems: &[Representative], target: &Target, shape: Shape) -> Option<(f64, Basis)> {
    let (mut sum, mut basis) = (0.0, Basis::Measured);
    for r in problems {
        let job = Job::standing_for(r, target.clone(), shape);
        if job.variants().is_empty() {
            return None;
        }
        let (seconds, how) = tune::shared().timing(&job)?;
        sum += seconds;
        if how == Basis::Estimated {
            basis = how;
        }
    }
    Some((sum, basis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_of_several_is_recommended_and_software_adapters_never() {
        let estimate = |device: &str, seconds, eligible| Estimate {
            runtime: device.split(':').next().unwrap_or_default().into(),
            device: device.into(),
            label: String::new(),
            seconds,
            basis: Basis::Measured,
            eligible,
        };
        let software = estimate("wgpu:1", 0.1, false);
        let (cpu, card) = (estimate("cpu", 0.2, true), estimate("wgpu:0", 0.3, true));
        assert_eq!(best(&[]), None);
        assert_eq!(best(&[software.clone(), cpu.clone()]), None);
        assert_eq!(best(&[software, cpu.clone(), card]), Some(&cpu));
    }

    #[test]
    fn what_cannot_be_asked_is_said() {
        assert!(recommend("fftx", 1, 1).unwrap_err().to_string().contains("sosfilt"));
        assert!(recommend("sosfilt", 0, 1).is_err());
    }
}
