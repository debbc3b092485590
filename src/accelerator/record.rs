//! The one record type of the report.

use serde::Serialize;

/// What a device is physically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares memory with the CPU.
    Integrated,
    /// A virtual GPU, or one whose driver does not say.
    Other,
    /// A program that pretends to be a GPU (llvmpipe, lavapipe, SwiftShader, WARP).
    Software,
    /// The processor itself.
    Cpu,
    /// A neural engine: named, never selected.
    Neural,
}

impl Class {
    /// Whether this is a GPU made of silicon.
    pub fn is_hardware_gpu(self) -> bool {
        matches!(self, Class::Discrete | Class::Integrated | Class::Other)
    }
}

/// Limits that decide how work is split; 0 = unknown or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Largest binding, in bytes.
    pub binding_bytes: u64,
    /// Largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Work groups per dimension.
    pub groups_per_dimension: u32,
    /// Threads in a work group.
    pub group_size: u32,
    /// Work-group memory, in bytes.
    pub group_bytes: u32,
}

/// One device through one runtime: a card reached by two runtimes has two records with one [`Record::identity`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Runtime that drives it: `cuda`, `hip`, `wgpu`, `cpu`; `none` for a neural engine.
    pub runtime: &'static str,
    /// Interface below the runtime: `cuda`, `rocm`, `metal`, `vulkan`, `dx12`, `cpu`; `none` where none answered.
    pub backend: &'static str,
    /// The true kind, for people: a backend's name, `gpu` (no interface answered), `software` or `neural-engine`.
    pub kind: &'static str,
    /// True vendor, never the interface's.
    pub vendor: String,
    /// Name to select it by: `cuda:0`, `wgpu:1`, `cpu`; empty where it cannot be selected.
    pub device: String,
    /// Marketing name.
    pub name: String,
    /// One line for people.
    pub label: String,
    /// Driver and its version; empty = none or unknown.
    pub driver: String,
    /// Memory of its own, in MiB; 0 = unknown, or the CPU.
    pub mem_mb: u64,
    /// It is here.
    pub detected: bool,
    /// It can be computed on now; never without `detected`.
    pub usable: bool,
    /// The same as `usable`.
    pub available: bool,
    /// It may be chosen by default.
    pub auto: bool,
    /// Why it is not usable, or not by default, and what to do; else empty.
    pub note: String,
    /// It computes in float64.
    pub float64: bool,
    /// It computes in float16.
    pub float16: bool,
    /// It computes in bfloat16.
    pub bfloat16: bool,
    /// Smallest and largest subgroup, where subgroup operations work.
    pub subgroups: Option<(u32, u32)>,
    /// Device timestamps work.
    pub timestamps: bool,
    /// It is a software adapter.
    pub fallback: bool,
    /// Limits.
    pub limits: Limits,
    /// Physical class.
    pub class: Class,
    /// PCI address or UUID, shared by all records of one card; empty = unknown.
    pub identity: String,
}

impl Record {
    /// A record that says only what it is; nothing is claimed of it yet.
    pub(crate) fn blank(runtime: &'static str, backend: &'static str, kind: &'static str, class: Class) -> Record {
        Record {
            runtime,
            backend,
            kind,
            vendor: String::new(),
            device: String::new(),
            name: String::new(),
            label: String::new(),
            driver: String::new(),
            mem_mb: 0,
            detected: false,
            usable: false,
            available: false,
            auto: false,
            note: String::new(),
            float64: false,
            float16: false,
            bfloat16: false,
            subgroups: None,
            timestamps: false,
            fallback: class == Class::Software,
            limits: Limits::default(),
            class,
            identity: String::new(),
        }
    }

    /// The record of nothing, with the reason.
    pub(crate) fn unusable(note: String) -> Record {
        let mut record = Record::blank("none", "none", "none", Class::Other);
        record.label = "no device".into();
        record.note = note;
        record
    }

    /// Sets `detected`, `usable` and what follows from them.
    pub(crate) fn set_state(&mut self, usable: bool) {
        self.detected = true;
        self.usable = usable;
        self.available = usable;
        self.auto = usable && (self.class == Class::Cpu || self.class.is_hardware_gpu());
    }

    /// A GPU made of silicon, usable now.
    pub fn is_gpu(&self) -> bool {
        self.usable && self.class.is_hardware_gpu()
    }

    /// An NVIDIA GPU driven by the `cuda` runtime, usable now.
    pub fn is_cuda(&self) -> bool {
        self.usable && self.runtime == "cuda"
    }

    /// One line: where, what, and the note if there is one.
    pub fn describe(&self) -> String {
        let place = if self.device.is_empty() { self.runtime } else { &self.device };
        match self.note.is_empty() {
            true => format!("{place}: {}", self.label),
            false => format!("{place}: {} ({})", self.label, self.note),
        }
    }
}

/// One row of the runtime table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuntimeRow {
    /// `cuda`, `hip`, `wgpu` or `cpu`.
    pub name: &'static str,
    /// This build contains it.
    pub compiled: bool,
    /// It has at least one usable device (a software adapter counts).
    pub usable: bool,
    /// Why it is not usable, or not by default; else empty.
    pub note: String,
}
