//! Arrays that live on a device, as a list of time segments.
//!
//! A channel-major array larger than the device's binding limit cannot be bound by time window, so a device array is a
//! list of segments `[channels, T]`, each within the limits. Small arrays have one segment.

use std::sync::Arc;

use super::gpu::{DeviceBuffer, Gpu};
use crate::signal::Dtype;

/// How the values of a segment lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// `[channels][pitch]`, pitch a multiple of 16 samples; what lies in the padding is arbitrary finite data or zero.
    Planar,
    /// `[samples][channels]`, dense; the buffer is rounded up to 16 bytes.
    Interleaved,
}

/// A time window of all channels in one buffer.
#[derive(Debug, Clone)]
pub struct Segment {
    /// The values.
    pub buffer: DeviceBuffer,
    /// Index of its first sample in the whole array; a multiple of 16.
    pub start: usize,
    /// Samples it holds.
    pub samples: usize,
    /// Elements between two rows (planar layout), a multiple of 16.
    pub pitch: usize,
}

/// A `[channels, samples]` array on a device.
#[derive(Clone)]
pub struct DeviceArray {
    pub(crate) gpu: Arc<dyn Gpu>,
    pub(crate) channels: usize,
    pub(crate) samples: usize,
    pub(crate) dtype: Dtype,
    pub(crate) layout: Layout,
    pub(crate) segments: Vec<Segment>,
}

impl DeviceArray {
    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of samples in each channel.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Element type on the device.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// How segments lie.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The segments in time order. Arrays of equal shape on one device have equal boundaries, whatever their type.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The device it lives on.
    pub fn gpu(&self) -> &Arc<dyn Gpu> {
        &self.gpu
    }
}
