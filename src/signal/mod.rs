//! Host arrays: what goes into an operation and what comes out.
//!
//! Every array is `[channels, samples]`, channel-major. Input is any strided [`View`] of `f32` or `i16` (so a transposed
//! or interleaved recording needs no copy first); output is a [`Signal`], whose rows are padded to a multiple of
//! [`ROW_ALIGN`] samples and whose memory comes from a pool of aligned buffers (a freshly allocated 92 MB output costs
//! ten times the copy in page faults).

mod array;
mod buffer;
mod complex;
mod view;

pub use array::Signal;
pub use buffer::{Buffer, pool_bytes, trim_pool};
pub use complex::{Complex32, ComplexSignal, ComplexView};
pub use view::{Dtype, Sample, Source, View, ViewMut};

/// Rows are padded to a multiple of this many samples: one cache line of `f32`.
pub const ROW_ALIGN: usize = 16;

/// The distance between the starts of two rows of `samples` samples.
pub fn pitch(samples: usize) -> usize {
    samples.div_ceil(ROW_ALIGN).saturating_mul(ROW_ALIGN)
}
