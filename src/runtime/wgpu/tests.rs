//! Tests on a real adapter (software Vulkan is enough).

use std::sync::Arc;

use super::*;
use crate::error::ErrorKind;
use crate::kernel::Kernel;
use crate::runtime::gpu::{Command, DeviceBuffer, Gpu, Slice};
use crate::runtime::testing::{adapter_index, scale_kernel};

fn device(overrides: Overrides) -> Option<Arc<WgpuDevice>> {
    adapter_index().map(|index| open_with(index, overrides).expect("the adapter opens"))
}

fn put(gpu: &dyn Gpu, to: &DeviceBuffer, values: &[f32]) {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    gpu.write(to, 0, bytes.len() as u64, &mut |at, part| {
        part.copy_from_slice(&bytes[at as usize..at as usize + part.len()]);
    })
    .unwrap();
}

fn get(gpu: &dyn Gpu, from: &DeviceBuffer, count: usize) -> Vec<f32> {
    let mut values = vec![f32::NAN; count];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
    gpu.read(from, 0, bytes.len() as u64, &mut |at, part| {
        bytes[at as usize..at as usize + part.len()].copy_from_slice(part);
    })
    .unwrap();
    values
}

fn launch(gpu: &dyn Gpu, kernel: &Arc<Kernel>, x: &DeviceBuffer, y: &DeviceBuffer, count: usize, per: u32) -> Command {
    let arguments = gpu.constant(bytemuck::cast_slice(&[count as u32, 2f32.to_bits(), 0, 0])).unwrap();
    Command::Launch {
        kernel: kernel.clone(),
        bindings: vec![Slice::from(&arguments), Slice::from(x), Slice::from(y)],
        groups: count.div_ceil(64 * per as usize) as u64,
    }
}

#[test]
fn a_kernel_runs_and_a_warm_call_makes_nothing_new() {
    for force_staging in [false, true] {
        let Some(gpu) = device(Overrides { force_staging, ..Default::default() }) else { return };
        let kernel = scale_kernel(1);
        let mut made = None;
        for round in 0..4 {
            let (x, y) = (gpu.allocate(4000).unwrap(), gpu.allocate(4000).unwrap());
            let values: Vec<f32> = (0..1000).map(|i| (i * 7 + round) as f32).collect();
            put(&*gpu, &x, &values);
            gpu.submit(&[launch(&*gpu, &kernel, &x, &y, 1000, 1)]).unwrap();
            assert!(get(&*gpu, &y, 1000).iter().zip(&values).all(|(y, x)| *y == 2.0 * x));
            let stats = gpu.stats();
            if round > 1 {
                assert_eq!(made, Some((stats.buffers, stats.bind_groups, stats.pipelines)));
            }
            made = Some((stats.buffers, stats.bind_groups, stats.pipelines));
        }
    }
}
