//! What variants are held against: the device itself, its copy rate, and the time of a whole call.

use std::time::Instant;

use rayon::prelude::*;

use crate::error::Result;
#[cfg(feature = "gpu")]
use crate::ops::launch;
use crate::ops::problem::{Problem, Shape, Variant};
#[cfg(feature = "gpu")]
use crate::runtime::{
    DeviceArray, Layout,
    gpu::{DeviceClass, Gpu, Slice},
};
use crate::runtime::{Target, cpu};
#[cfg(feature = "gpu")]
use crate::signal::Dtype;
use crate::signal::{Signal, Source};
use crate::tune::statistics::median;
use crate::tune::{DeviceFacts, cache};

/// The CPU's "driver": the compiler that made its code.
pub(crate) const CPU_DRIVER: &str = env!("CARGO_PKG_RUST_VERSION");

/// float32 values of the arrays that are copied: 64 MiB, beyond the caches.
const COPIED: usize = 1 << 24;
/// Readings of which the median counts.
const READINGS: usize = 7;

/// What is stored of a device beside its results.
pub(crate) fn facts(target: &Target) -> DeviceFacts {
    match target {
        Target::Cpu => {
            let cpu = cpu::facts();
            DeviceFacts {
                runtime: "cpu".into(),
                architecture: format!("{}-{}", std::env::consts::ARCH, cpu.instruction_set),
                vendor: cpu.vendor.clone(),
                name: cpu.name.clone(),
                ..cache::DeviceFacts::bare(&cpu::device_key(), CPU_DRIVER)
            }
        }
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => {
            let facts = gpu.facts();
            let (low, high) = facts.subgroups.unwrap_or((0, 0));
            let class = match facts.class {
                DeviceClass::Cpu => "software",
                DeviceClass::Integrated => "integrated",
                DeviceClass::Discrete => "discrete",
                DeviceClass::Other => "other",
            };
            let vendor = &facts.vendor;
            let known = !vendor.is_empty();
            DeviceFacts {
                runtime: facts.runtime.into(),
                architecture: if known { format!("{vendor}-{class}-sg{low}-{high}") } else { String::new() },
                vendor: vendor.clone(),
                name: facts.name.clone(),
                software: facts.class == DeviceClass::Cpu,
                ..cache::DeviceFacts::bare(&facts.key, &facts.driver)
            }
        }
    }
}

/// Bytes that a plain copy of large arrays reads and writes in a second, together.
pub(crate) fn copy_rate(target: &Target) -> Result<f64> {
    match target {
        Target::Cpu => cpu_copy_rate(),
        #[cfg(feature = "gpu")]
        Target::Gpu(gpu) => gpu_copy_rate(gpu.as_ref()),
    }
}

fn cpu_copy_rate() -> Result<f64> {
    let x = Signal::zeros(1, COPIED)?;
    let mut y = Signal::zeros(1, COPIED)?;
    let part = COPIED.div_ceil(4 * rayon::current_num_threads());
    let mut run = || {
        let start = Instant::now();
        let (to, from) = (y.view_mut().into_data(), x.row(0));
        to.par_chunks_mut(part).zip(from.par_chunks(part)).for_each(|(y, x)| y[..x.len()].copy_from_slice(x));
        start.elapsed().as_secs_f64()
    };
    run();
    let seconds: Vec<f64> = (0..READINGS).map(|_| run()).collect();
    Ok(rate(2 * 4 * COPIED, &seconds))
}

#[cfg(feature = "gpu")]
fn gpu_copy_rate(gpu: &dyn Gpu) -> Result<f64> {
    let limits = gpu.facts().limits;
    let most = (4 * COPIED as u64).min(limits.binding_bytes).min(limits.buffer_bytes);
    let vectors = u32::try_from(most / 16).unwrap_or(u32::MAX);
    let bytes = u64::from(vectors) * 16;
    let (x, y) = (gpu.allocate(bytes)?, gpu.allocate(bytes)?);
    let kernel = launch::compose_plain("device/copy", &[])?;
    let groups = u64::from(vectors).div_ceil(4 * u64::from(kernel.group_size));
    let commands = [launch::launch(gpu, &kernel, &[vectors, 0, 0, 0], &[Slice::from(&x), Slice::from(&y)], groups)?];
    gpu.time(&commands, 2)?;
    let seconds = (0..READINGS).map(|_| Ok(gpu.time(&commands, 2)? / 2.0)).collect::<Result<Vec<f64>>>()?;
    Ok(rate(2 * bytes as usize, &seconds))
}

fn rate(bytes: usize, seconds: &[f64]) -> f64 {
    bytes as f64 / median(seconds).unwrap_or(f64::INFINITY)
}

/// Seconds of one call from host array to host array, transfers included, with warm pools: the median of three.
pub(crate) fn end_to_end(problem: &dyn Problem, variant: &Variant, target: &Target, x: Source<'_>) -> Result<f64> {
    let out = problem.output(Shape { channels: x.channels(), samples: x.samples() });
    let mut host = Signal::dirty(out.channels, out.samples)?;
    let mut run = || {
        let start = Instant::now();
        match target {
            Target::Cpu => problem.run_cpu(variant, x, host.view_mut(), None)?,
            #[cfg(feature = "gpu")]
            Target::Gpu(gpu) => {
                let device = DeviceArray::upload(gpu, x)?;
                let y = DeviceArray::empty(gpu, out.channels, out.samples, Dtype::F32, Layout::Planar)?;
                problem.run_gpu(gpu.as_ref(), variant, &device, &y, None)?;
                y.download_into(host.view_mut())?;
            }
        }
        Ok(start.elapsed().as_secs_f64())
    };
    run()?;
    let seconds = (0..3).map(|_| run()).collect::<Result<Vec<f64>>>()?;
    Ok(median(&seconds).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_a_rate_and_a_device_has_facts() {
        let rate = copy_rate(&Target::Cpu).unwrap();
        assert!(rate > 1e8 && rate < 1e13, "{rate}");
        let facts = facts(&Target::Cpu);
        assert_eq!((facts.runtime.as_str(), facts.software), ("cpu", false));
        assert_eq!(facts.device, cpu::device_key());
        assert!(facts.architecture.starts_with(std::env::consts::ARCH));
    }
}
