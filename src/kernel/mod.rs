//! What a kernel is: WGSL text with tagged tunables, composed strictly, reflected from naga's IR, identified by the hash
//! of its flattened text.

use std::collections::BTreeMap;

/// One WGSL file of `shaders/`.
#[derive(Debug)]
pub struct Source {
    /// Path below `shaders/`, without the extension: `filter/fir`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// Values for tunables or specialisations, by name.
pub type Settings = BTreeMap<&'static str, u32>;

/// How a kernel uses a binding of group 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// A binding, read from the IR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// `@binding(index)`.
    pub index: u32,
    /// Name of the variable.
    pub name: String,
    /// Kind of access.
    pub access: Access,
    /// Smallest size that can be bound; the whole size for a uniform.
    pub min_bytes: u64,
}

/// A composed and validated kernel with one entry point, `main`.
#[derive(Debug)]
pub struct Kernel {
    /// Name of the source.
    pub name: &'static str,
    /// The flattened WGSL.
    pub text: String,
    /// Identity: hash of the flattened text.
    pub hash: u128,
    /// Threads of a work group in x (y and z are 1).
    pub group_size: u32,
    /// Bytes of work-group memory.
    pub group_bytes: u32,
    /// Bindings of group 0, in order of index.
    pub bindings: Vec<Binding>,
    /// Uses subgroup operations.
    pub subgroups: bool,
}
