//! Compiled kernels and bind groups, each made once; compiled kernels with the help of earlier processes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::faults::{Faults, lock};
use super::kept::Kept;
use super::lru::Lru;
use super::memory::{Block, Memory};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Access, Kernel};
use crate::runtime::gpu::{Limits, Slice};

const MAX_PIPELINES: usize = 1024;
const MAX_GROUPS: usize = 4096;

/// A compiled kernel.
pub(super) struct Pipeline {
    pub(super) raw: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// One slot per kernel, so that threads asking for the same kernel compile it once and others are not held up.
type Slot = Arc<Mutex<Option<Arc<Pipeline>>>>;

/// The compiled kernels of a device.
pub(super) struct Pipelines {
    slots: Mutex<Lru<u128, Slot>>,
    checked: bool,
    kept: Option<Kept>,
    pub(super) made: AtomicU64,
}

impl Pipelines {
    pub(super) fn new(checked: bool, kept: Option<Kept>) -> Self {
        Pipelines { slots: Mutex::new(Lru::new(MAX_PIPELINES, u64::MAX)), checked, kept, made: AtomicU64::new(0) }
    }

    /// Whether shaders run with bounds and loop checks.
    pub(super) fn checked(&self) -> bool {
        self.checked
    }

    pub(super) fn get(&self, faults: &Faults, limits: &Limits, kernel: &Kernel) -> Result<Arc<Pipeline>> {
        let (slot, _gone) = {
            let mut slots = lock(&self.slots);
            match slots.get(&kernel.hash) {
                Some(slot) => (slot, Vec::new()),
                None => {
                    let slot = Slot::default();
                    let gone = slots.insert(kernel.hash, slot.clone(), 0);
                    (slot, gone)
                }
            }
        };
        let mut pipeline = lock(&slot);
        if let Some(pipeline) = &*pipeline {
            return Ok(pipeline.clone());
        }
        let made = Arc::new(self.compile(faults, limits, kernel)?);
        *pipeline = Some(made.clone());
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(made)
    }

    fn compile(&self, faults: &Faults, limits: &Limits, kernel: &Kernel) -> Result<Pipeline> {
        if kernel.group_size > limits.group_size || kernel.group_bytes > limits.group_bytes {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "kernel {} needs work groups of {} threads with {} bytes of memory, the device allows {} threads and {} bytes; choose another variant",
                    kernel.name, kernel.group_size, kernel.group_bytes, limits.group_size, limits.group_bytes
                ),
            ));
        }
        let Some(kept) = &self.kept else { return self.build(faults, kernel, None) };
        kept.help(kernel, self.checked, faults, |cache| self.build(faults, kernel, cache))
    }

    fn build(&self, faults: &Faults, kernel: &Kernel, cache: Option<&wgpu::PipelineCache>) -> Result<Pipeline> {
        let source = wgpu::ShaderSource::Wgsl(kernel.text.as_str().into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: Some(kernel.name), source };
        let entries: Vec<_> = kernel.bindings.iter().map(layout_entry).collect();
        faults.guard(&format!("compiling kernel {}", kernel.name), |device| {
            let module = if self.checked {
                device.create_shader_module(descriptor)
            } else {
                // SAFETY: only kernels of the registry get here; their loops end, their divisors are not zero and they
                // stay inside the bindings whose sizes `record` checks. Tests and debug builds run them checked.
                unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
            };
            let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(kernel.name),
                entries: &entries,
            });
            let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(kernel.name),
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let raw = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.name),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    zero_initialize_workgroup_memory: self.checked,
                },
                cache,
            });
            Pipeline { raw, layout }
        })
    }
}

fn layout_entry(binding: &crate::kernel::Binding) -> wgpu::BindGroupLayoutEntry {
    use wgpu::BufferBindingType as Type;
    let ty = match binding.access {
        Access::Uniform => Type::Uniform,
        Access::Read => Type::Storage { read_only: true },
        Access::ReadWrite => Type::Storage { read_only: false },
    };
    wgpu::BindGroupLayoutEntry {
        binding: binding.index,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: wgpu::BufferSize::new(binding.min_bytes),
        },
        count: None,
    }
}

/// Which kernel reads what: buffer id, offset, bytes.
type GroupKey = (u128, Vec<(u64, u64, u64)>);

/// The bind groups of a device.
pub(super) struct BindGroups {
    groups: Mutex<Lru<GroupKey, wgpu::BindGroup>>,
    pub(super) made: AtomicU64,
}

impl Default for BindGroups {
    fn default() -> Self {
        BindGroups { groups: Mutex::new(Lru::new(MAX_GROUPS, u64::MAX)), made: AtomicU64::new(0) }
    }
}

impl BindGroups {
    pub(super) fn get(
        &self,
        faults: &Faults,
        home: &Arc<Memory>,
        kernel: &Kernel,
        pipeline: &Pipeline,
        slices: &[Slice],
    ) -> Result<wgpu::BindGroup> {
        let key = (kernel.hash, slices.iter().map(|s| (s.buffer.id, s.offset, s.bytes)).collect());
        if let Some(group) = lock(&self.groups).get(&key) {
            return Ok(group);
        }
        let buffers = slices.iter().map(|s| Block::of(&s.buffer, home)).collect::<Result<Vec<_>>>()?;
        let entries: Vec<_> = kernel
            .bindings
            .iter()
            .zip(slices)
            .zip(buffers)
            .map(|((binding, slice), buffer)| wgpu::BindGroupEntry {
                binding: binding.index,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: slice.offset,
                    size: wgpu::BufferSize::new(slice.bytes),
                }),
            })
            .collect();
        let group = faults.guard(&format!("binding the arguments of kernel {}", kernel.name), |device| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &pipeline.layout,
                entries: &entries,
            })
        })?;
        self.made.fetch_add(1, Ordering::Relaxed);
        let _gone = lock(&self.groups).insert(key, group.clone(), 0);
        Ok(group)
    }

    /// Drops the groups that name any of these buffers.
    pub(super) fn forget(&self, ids: &[u64]) {
        let _gone = lock(&self.groups).remove_where(|(_, slices)| slices.iter().any(|(id, ..)| ids.contains(id)));
    }

    /// Number of groups kept.
    pub(super) fn len(&self) -> usize {
        lock(&self.groups).len()
    }
}
