//! What a kernel is: WGSL text with tagged tunables, composed strictly, reflected from naga's IR, identified by the hash
//! of its flattened text.
//!
//! Files below `shaders/` are valid WGSL as they stand. What the composer may change is named in comments, one
//! directive a line, and anything it does not know is an error that names file and line:
//!
//! | directive | meaning |
//! |---|---|
//! | `// dspk:import shared/fold.wgsl` | that file's text stands here, once for each kernel |
//! | `const R: u32 = 16u; // dspk:tune 8 16 32` | a tunable: its default and its legal values |
//! | `const SECTIONS: u32 = 2u; // dspk:specialise 1..16` | a property of the problem; both bounds are legal |
//! | `alias Lanes = vec2<f32>; // dspk:vector VEC` | a vector as wide as the constant says, a scalar for 1 |
//! | `// dspk:unroll` before `for (var i = 0u; i < R; i++) {` | one copy of the body for each value of `i` |
//! | `// dspk:fold` before `if (R == 4u) {` | only the branch that is taken; the condition is made of constants |
//!
//! A `const NAME = array<u32, 3>(A, B, C);` on one line can be indexed in bounds and conditions, and a `const_assert` of
//! such constants is checked first. Unrolling is what lets a small array live in registers: every index is then a literal. Tunables and specialisations
//! use the same mechanism and differ in who chooses: the tuner or the problem.

use std::collections::BTreeMap;

#[cfg(feature = "gpu")]
mod compose;
#[cfg(feature = "gpu")]
mod constant;
#[cfg(feature = "gpu")]
mod reflect;
#[cfg(feature = "gpu")]
mod registry;
#[cfg(feature = "gpu")]
mod unroll;

#[cfg(feature = "gpu")]
pub use compose::{Tunable, compose, space_identity, specialisations, tunables};
#[cfg(feature = "gpu")]
pub use registry::{source, sources};

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

/// A composed and validated kernel with one entry point, `main`. Only [`compose`] makes one, from a source of the
/// registry: release builds run it without bounds checks.
#[derive(Debug)]
#[non_exhaustive]
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

#[cfg(all(test, feature = "gpu"))]
pub(crate) mod space_tests;
