//! Tests on a real adapter (software Vulkan is enough).

use std::sync::{Arc, Barrier};

use super::faults::scoped;
use super::kept::Kept;
use super::*;
use crate::error::ErrorKind;
use crate::kernel::Kernel;
use crate::runtime::DeviceArray;
use crate::runtime::binaries::Binaries;
use crate::runtime::gpu::{Command, DeviceBuffer, Gpu, Slice};
use crate::runtime::testing::{adapter_index, scale_kernel, test_gpu};
use crate::signal::View;

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

/// Scales every segment of an array by 2 and compares all values.
fn scale_array(gpu: &Arc<dyn Gpu>, channels: usize, samples: usize, per: u32) {
    let values: Vec<f32> = (0..channels * samples).map(|i| (i % 8191) as f32).collect();
    let x = DeviceArray::upload(gpu, View::new(&values, channels, samples).unwrap().into()).unwrap();
    let y = x.like().unwrap();
    let kernel = scale_kernel(per);
    let commands: Vec<_> = x
        .segments()
        .iter()
        .zip(y.segments())
        .map(|(x, y)| launch(&**gpu, &kernel, &x.buffer, &y.buffer, channels * x.pitch, per))
        .collect();
    gpu.submit(&commands).unwrap();
    let y = y.download().unwrap();
    for (c, row) in y.rows().enumerate() {
        let wanted = values[c * samples..(c + 1) * samples].iter();
        let wrong = row.iter().zip(wanted).position(|(y, x)| *y != 2.0 * x);
        assert_eq!(wrong, None, "channel {c} of {channels} x {samples}");
    }
}

#[test]
fn the_adapter_is_described_and_proven() {
    let Some(index) = adapter_index() else { return };
    let summary = adapters(false).unwrap().swap_remove(index);
    assert!(!summary.name.is_empty() && summary.limits.binding_bytes > 1 << 20, "{summary:?}");
    let gpu = open(index).unwrap();
    assert!(Arc::ptr_eq(&gpu, &open(index).unwrap()));
    assert!(gpu.facts().compensation, "{:?}", gpu.facts());
    assert!(gpu.facts().key.starts_with("wgpu-") && gpu.facts().runtime == "wgpu");
    let e = open(1000).err().unwrap();
    assert!(e.kind() == ErrorKind::Unavailable && e.to_string().contains("no wgpu adapter 1000"), "{e}");
}

#[test]
fn a_warm_call_makes_nothing_new() {
    for force_staging in [false, true] {
        let Some(gpu) = device(Overrides { force_staging, ..Default::default() }) else { return };
        let kernel = scale_kernel(1);
        let mut warm = None;
        for round in 0..6 {
            let (x, y) = (gpu.allocate(4000).unwrap(), gpu.allocate(4000).unwrap());
            let values: Vec<f32> = (0..1000).map(|i| (i * 7 + round) as f32).collect();
            put(&*gpu, &x, &values);
            gpu.submit(&[launch(&*gpu, &kernel, &x, &y, 1000, 1)]).unwrap();
            assert!(get(&*gpu, &y, 1000).iter().zip(&values).all(|(y, x)| *y == 2.0 * x));
            let Stats { buffers, bind_groups, pipelines, .. } = gpu.stats();
            // The two buffers may change places once.
            if round > 2 {
                assert_eq!(warm, Some((buffers, bind_groups, pipelines)), "staging: {force_staging}");
            }
            warm = Some((buffers, bind_groups, pipelines));
        }
    }
}

#[test]
fn more_groups_than_a_dimension_holds() {
    let Some(gpu) = test_gpu() else { return };
    scale_array(&gpu, 64, 300_000, 1);
    scale_array(&gpu, 70_000, 16, 1);
    let index = adapter_index().unwrap();
    let narrow = Overrides { groups_per_dimension: Some(9), ..Default::default() };
    let narrow: Arc<dyn Gpu> = open_with(index, narrow).unwrap();
    scale_array(&narrow, 3, 15_000, 1);
    let (x, y) = (narrow.allocate(1 << 20).unwrap(), narrow.allocate(1 << 20).unwrap());
    let e = narrow.submit(&[launch(&*narrow, &scale_kernel(1), &x, &y, 1 << 18, 1)]).unwrap_err();
    assert!(e.kind() == ErrorKind::Limit && e.to_string().contains("4096 work groups"), "{e}");
}

#[test]
fn arrays_over_the_binding_limit() {
    let Some(gpu) = test_gpu() else { return };
    scale_array(&gpu, 384, 100_000, 16);
    scale_array(&gpu, 384, 180_000, 16);
    let index = adapter_index().unwrap();
    for force_staging in [false, true] {
        let small = Overrides { binding_bytes: Some(1 << 20), force_staging, ..Default::default() };
        let small: Arc<dyn Gpu> = open_with(index, small).unwrap();
        scale_array(&small, 384, 5001, 4);
        let (x, y) = (small.allocate(2 << 20).unwrap(), small.allocate(2 << 20).unwrap());
        let e = small.submit(&[launch(&*small, &scale_kernel(1), &x, &y, 9, 1)]).unwrap_err();
        let text = e.to_string();
        assert!(e.kind() == ErrorKind::Limit && text.contains("2097152") && text.contains("1048576"), "{e}");
        scale_array(&small, 3, 7, 1);
    }
}

#[test]
fn transfers_reach_every_byte() {
    for force_staging in [false, true] {
        let Some(gpu) = device(Overrides { force_staging, ..Default::default() }) else { return };
        // Over four staging slots, not a multiple of one.
        let count = (33 << 20) / 4 + 7;
        let buffer = gpu.allocate(4 * count as u64).unwrap();
        let values: Vec<f32> = (0..count).map(|i| (i % 1_000_003) as f32).collect();
        put(&*gpu, &buffer, &values);
        assert!(get(&*gpu, &buffer, count) == values, "staging: {force_staging}");
        gpu.write(&buffer, 20, 12, &mut |_, part| part.fill(0)).unwrap();
        let mut wanted = values;
        wanted[5..8].fill(0.0);
        assert!(get(&*gpu, &buffer, count) == wanted, "staging: {force_staging}");
        let mut seen = Vec::new();
        gpu.read(&buffer, 12, 24, &mut |_, part| seen.extend_from_slice(part)).unwrap();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&seen), [3.0, 4.0, 0.0, 0.0, 0.0, 8.0]);
        assert_eq!(gpu.write(&buffer, 2, 4, &mut |_, _| ()).unwrap_err().kind(), ErrorKind::Internal);
        let copy = gpu.allocate(64).unwrap();
        let from = Command::Copy { from: buffer.clone(), from_offset: 16, to: copy.clone(), to_offset: 4, bytes: 16 };
        gpu.submit(&[Command::Clear(copy.clone()), from]).unwrap();
        assert_eq!(get(&*gpu, &copy, 6), [0.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn eight_threads_share_a_device() {
    for force_staging in [false, true] {
        let Some(gpu) = device(Overrides { force_staging, ..Default::default() }) else { return };
        let gpu: Arc<dyn Gpu> = gpu;
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            for t in 0..8 {
                let (gpu, barrier) = (&gpu, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    (0..12).for_each(|i| scale_array(gpu, 1 + t, 1000 + 64 * i, 1 + (t as u32 % 2)));
                });
            }
        });
    }
}

#[test]
fn wrong_calls_are_readable_errors_and_the_next_call_works() {
    let Some(gpu) = device(Overrides::default()) else { return };
    let kernel = scale_kernel(1);
    let (x, y) = (gpu.allocate(64).unwrap(), gpu.allocate(64).unwrap());
    let command = launch(&*gpu, &kernel, &x, &x, 16, 1);
    assert!(gpu.submit(&[command]).unwrap_err().to_string().contains("one buffer, read and written"));
    let broken = Kernel {
        name: "test/broken",
        text: "fn main( {".into(),
        hash: 1,
        group_size: 1,
        group_bytes: 0,
        bindings: vec![],
        subgroups: false,
    };
    let e = gpu.prepare(&Arc::new(broken)).unwrap_err();
    assert!(e.kind() == ErrorKind::Kernel && e.to_string().contains("test/broken"), "{e}");
    let large = gpu.facts().limits.buffer_bytes;
    let e = gpu.allocate(large.saturating_add(1)).unwrap_err();
    assert!(e.kind() == ErrorKind::Limit && e.to_string().contains(&large.to_string()), "{e}");
    let other = open(adapter_index().unwrap()).unwrap();
    let e = other.submit(&[Command::Clear(x.clone())]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::InvalidArgument);

    put(&*gpu, &x, &[3.0; 16]);
    gpu.submit(&[launch(&*gpu, &kernel, &x, &y, 16, 1)]).unwrap();
    assert_eq!(get(&*gpu, &y, 16), [6.0; 16]);
    assert!(gpu.time(&[launch(&*gpu, &kernel, &x, &y, 16, 1)], 1000).unwrap() > 0.0);
    assert_eq!(gpu.time(&[], 5).unwrap(), 0.0);
}

#[test]
fn what_the_pool_drops_is_released() {
    let Some(gpu) = device(Overrides { pool_bytes: Some(64 << 10), ..Default::default() }) else { return };
    let kernel = scale_kernel(1);
    for i in 0..40 {
        let bytes = 8192 + 1024 * i;
        let (x, y) = (gpu.allocate(bytes).unwrap(), gpu.allocate(bytes).unwrap());
        gpu.submit(&[launch(&*gpu, &kernel, &x, &y, 64, 1)]).unwrap();
    }
    let stats = gpu.stats();
    assert!(stats.bind_groups > 30 && stats.kept_bind_groups < 10 && stats.idle_bytes <= 64 << 10, "{stats:?}");
    gpu.trim();
    assert_eq!((gpu.stats().idle_bytes, gpu.stats().kept_bind_groups), (0, 0));
}

#[test]
fn a_lost_device_says_so_and_is_replaced() {
    let Some(gpu) = device(Overrides::default()) else { return };
    let buffer = gpu.allocate(64).unwrap();
    gpu.destroy();
    let lost = |e: crate::Error| assert_eq!(e.kind(), ErrorKind::DeviceLost, "{e}");
    lost(gpu.allocate(64).unwrap_err());
    lost(gpu.constant(&[1]).unwrap_err());
    lost(gpu.submit(&[Command::Clear(buffer.clone())]).unwrap_err());
    lost(gpu.read(&buffer, 0, 64, &mut |_, _| ()).unwrap_err());
    lost(gpu.write(&buffer, 0, 64, &mut |_, _| ()).unwrap_err());
    lost(gpu.wait().unwrap_err());
    lost(gpu.time(&[Command::Clear(buffer)], 1).unwrap_err());
    let fresh: Arc<dyn Gpu> = device(Overrides::default()).unwrap();
    scale_array(&fresh, 2, 100, 1);
}

/// What the driver hands out for a pipeline cache that nothing was compiled with.
fn empty_pipeline_cache(gpu: &WgpuDevice) -> Vec<u8> {
    let (data, error) = scoped(gpu.faults.device(), |device| {
        let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: None, fallback: true };
        // SAFETY: there is no data.
        unsafe { device.create_pipeline_cache(&descriptor) }.get_data()
    });
    assert!(error.is_none(), "{error:?}");
    data.unwrap()
}

#[test]
fn whatever_the_store_of_compiled_kernels_holds_results_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let start = || device(Overrides { cache: Some(folder.path().into()), ..Default::default() });
    let Some(gpu) = start() else { return };
    // Metal and DX12 hand no compiled kernels out.
    if adapters(false).unwrap()[adapter_index().unwrap()].backend != "vulkan" {
        return;
    }
    let store = Binaries::new(Some(folder.path().into()), &gpu.facts.key);
    let kept = Kept::new(Binaries::new(None, ""), "vulkan", &gpu.facts.driver);
    let key = kept.key(&scale_kernel(3), gpu.checked_shaders());
    let real = empty_pipeline_cache(&gpu);
    let mut other_device = real.clone();
    other_device[20] ^= 0xff;
    let mut header_alone = real.clone();
    header_alone.truncate(64);
    let sound = [real.clone(), other_device, header_alone, real[..real.len() - 1].to_vec(), vec![7; 5000], vec![0]];
    for bytes in sound {
        store.save(&key, &bytes);
        let gpu: Arc<dyn Gpu> = start().unwrap();
        scale_array(&gpu, 3, 1000, 3);
    }
    store.save(&key, &real);
    let files = |ending: &str| -> Vec<_> {
        let inside = std::fs::read_dir(folder.path().join("kernels/v1").join(&gpu.facts.key)).unwrap();
        inside.map(|file| file.unwrap().path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect()
    };
    for damage in [&b""[..], b"not an envelope", &[0; 4096]] {
        store.save(&key, &real);
        let found = files(".bin");
        assert!(!found.is_empty());
        found.iter().for_each(|path| std::fs::write(path, damage).unwrap());
        let gpu: Arc<dyn Gpu> = start().unwrap();
        scale_array(&gpu, 3, 1000, 3);
        // Read, found wanting, and gone or replaced.
        assert!(found.iter().all(|path| std::fs::read(path).map_or(true, |bytes| bytes != damage)));
    }
    assert!(files(".tmp").is_empty());
}
