//! The two clocks: device timestamps around the work, or the host's clock around a drained queue.

use std::time::Instant;

use super::device::WgpuDevice;
use super::record::{Step, encode};
use crate::error::Result;

/// Steps put into one submission at most: a driver's watchdog counts per submission.
const STEPS_PER_SUBMISSION: usize = 512;

/// Seconds that `repeats` runs take.
pub(super) fn time(device: &WgpuDevice, steps: &[Step<'_>], repeats: u32) -> Result<f64> {
    device.faults.poll(true)?;
    if steps.is_empty() || repeats == 0 {
        return Ok(0.0);
    }
    let rounds = (STEPS_PER_SUBMISSION / steps.len()).clamp(1, repeats as usize) as u32;
    if device.facts.timestamps
        && let Some(seconds) = by_timestamps(device, steps, repeats, rounds)?
    {
        return Ok(seconds);
    }
    let start = Instant::now();
    submit_all(device, steps, repeats, rounds, None)?;
    device.faults.poll(true)?;
    Ok(start.elapsed().as_secs_f64())
}

fn submit_all(
    device: &WgpuDevice,
    steps: &[Step<'_>],
    repeats: u32,
    rounds: u32,
    stamps: Option<&wgpu::QuerySet>,
) -> Result<()> {
    let mut done = 0;
    while done < repeats {
        let now = rounds.min(repeats - done);
        device.run("timing kernels", |encoder| {
            if let (0, Some(stamps)) = (done, stamps) {
                encoder.write_timestamp(stamps, 0);
            }
            (0..now).for_each(|_| encode(encoder, steps));
            if let (true, Some(stamps)) = (done + now == repeats, stamps) {
                encoder.write_timestamp(stamps, 1);
            }
        })?;
        done += now;
    }
    Ok(())
}

/// `None` where the device's timestamps make no sense.
fn by_timestamps(device: &WgpuDevice, steps: &[Step<'_>], repeats: u32, rounds: u32) -> Result<Option<f64>> {
    use wgpu::BufferUsages as Usage;
    let (stamps, resolved, readable) = device.faults.guard("making timestamps", |raw| {
        let buffer = |usage| {
            raw.create_buffer(&wgpu::BufferDescriptor { label: None, size: 256, usage, mapped_at_creation: false })
        };
        let set = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 };
        (
            raw.create_query_set(&set),
            buffer(Usage::QUERY_RESOLVE | Usage::COPY_SRC),
            buffer(Usage::MAP_READ | Usage::COPY_DST),
        )
    })?;
    submit_all(device, steps, repeats, rounds, Some(&stamps))?;
    device.run("reading timestamps", |encoder| {
        encoder.resolve_query_set(&stamps, 0..2, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, &readable, 0, 16);
    })?;
    let mut ticks = [0u64; 2];
    device.take_mapped(&readable, 0, 16, 0, &mut |_, bytes| {
        bytes.chunks_exact(8).zip(&mut ticks).for_each(|(b, t)| *t = bytemuck::pod_read_unaligned(b));
    })?;
    let period = f64::from(device.queue.get_timestamp_period()) * 1e-9;
    let sane = ticks[0] != 0 && ticks[1] > ticks[0] && period > 0.0;
    if !sane {
        log::debug!("device timestamps {ticks:?} with a period of {period} s make no sense; using the host clock");
    }
    Ok(sane.then(|| (ticks[1] - ticks[0]) as f64 * period))
}
