//! Devices and kernels for the tests of this crate.

use std::io::Write;
use std::sync::Arc;

use super::gpu::Gpu;
use crate::kernel::{Access, Binding, Kernel};

/// The first adapter of the machine, or `None`, said aloud, where there is none; with `DSPK_REQUIRE_WGPU=1` that fails.
pub(crate) fn test_gpu() -> Option<Arc<dyn Gpu>> {
    adapter_index().map(|index| super::wgpu::open(index).expect("the adapter opens"))
}

/// The index of the adapter tests use.
pub(crate) fn adapter_index() -> Option<usize> {
    let found = super::wgpu::adapters(false).map(|list| list.first().map(|a| a.index));
    if let Ok(Some(index)) = found {
        return Some(index);
    }
    let required = std::env::var("DSPK_REQUIRE_WGPU").is_ok_and(|v| v.trim() == "1");
    assert!(!required, "DSPK_REQUIRE_WGPU=1, but there is no adapter: {found:?}");
    static ONCE: std::sync::Once = std::sync::Once::new();
    // Not through `eprintln!`, which the test harness would swallow.
    ONCE.call_once(|| {
        let _ = writeln!(std::io::stderr(), "SKIPPED: all tests on a GPU, there is no wgpu adapter here ({found:?})");
    });
    None
}

/// `y = factor * x` over `count` values, `per_thread` values a thread: arguments `[count, bits of factor, 0, 0]`.
pub(crate) fn scale_kernel(per_thread: u32) -> Arc<Kernel> {
    let text = format!(
        "struct Arguments {{ count: u32, factor: f32, a: u32, b: u32 }}
@group(0) @binding(0) var<uniform> arguments: Arguments;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
    let flat = group.x + n.x * (group.y + n.y * group.z);
    let first = (flat * 64u + lane) * {per_thread}u;
    if first >= arguments.count {{ return; }}
    let last = min(first + {per_thread}u, arguments.count);
    for (var i = first; i < last; i++) {{ y[i] = x[i] * arguments.factor; }}
}}"
    );
    let binding = |index, name: &str, access, min_bytes| Binding { index, name: name.into(), access, min_bytes };
    Arc::new(Kernel {
        name: "test/scale",
        hash: xxhash_rust::xxh3::xxh3_128(text.as_bytes()),
        text,
        group_size: 64,
        group_bytes: 0,
        bindings: vec![
            binding(0, "arguments", Access::Uniform, 16),
            binding(1, "x", Access::Read, 4),
            binding(2, "y", Access::ReadWrite, 4),
        ],
        subgroups: false,
    })
}

/// The same adapter, pretending that bindings end at `binding_bytes`.
pub(crate) fn test_gpu_limited(binding_bytes: u64) -> Option<Arc<dyn Gpu>> {
    let overrides = super::wgpu::Overrides { binding_bytes: Some(binding_bytes), ..Default::default() };
    Some(super::wgpu::open_with(adapter_index()?, overrides).expect("the adapter opened before") as Arc<dyn Gpu>)
}
