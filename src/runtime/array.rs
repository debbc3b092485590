//! Arrays that live on a device, as a list of time segments.
//!
//! A channel-major array larger than the device's binding limit cannot be bound by time window, so a device array is a
//! list of segments `[channels, T]`, each within the limits. Small arrays have one segment. Where the boundaries fall
//! depends only on the shape and the device's limits, as if every element had 4 bytes, so arrays of equal shape have
//! equal boundaries whatever their element type.

use std::sync::Arc;

use super::gpu::{DeviceBuffer, Gpu, Limits};
use super::pack::{self, Lie};
use crate::error::{Error, ErrorKind, Result};
use crate::signal::{Dtype, ROW_ALIGN, Sample, Signal, Source, View, ViewMut, pitch};

/// Elements of a segment stay below this, so that kernels can count them in 32 bits, signed.
const MAX_ELEMENTS: u64 = (1 << 31) - 1;

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

/// Samples of a full segment: the largest multiple of [`ROW_ALIGN`] that fits the limits.
fn segment_samples(channels: usize, limits: &Limits) -> Result<usize> {
    let allowed = limits.binding_bytes.min(limits.buffer_bytes);
    let samples = (allowed / 4).min(MAX_ELEMENTS) / (channels as u64).max(1) / ROW_ALIGN as u64 * ROW_ALIGN as u64;
    if samples == 0 {
        let needed = (channels as u64).saturating_mul(4 * ROW_ALIGN as u64);
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "{channels} channels need at least {needed} bytes in one binding, the device allows {allowed}; process fewer channels at once or use the cpu runtime"
            ),
        ));
    }
    Ok(usize::try_from(samples).unwrap_or(usize::MAX / ROW_ALIGN * ROW_ALIGN))
}

impl DeviceArray {
    /// An array with arbitrary content, for outputs every value of which is written.
    ///
    /// # Errors
    /// `Limit` if not even 16 samples of all channels fit one binding; `OutOfMemory`, `DeviceLost`.
    pub fn empty(gpu: &Arc<dyn Gpu>, channels: usize, samples: usize, dtype: Dtype, layout: Layout) -> Result<Self> {
        let mut segments = Vec::new();
        if channels > 0 && samples > 0 {
            let full = segment_samples(channels, &gpu.facts().limits)?;
            for start in (0..samples).step_by(full) {
                let len = full.min(samples - start);
                let pitch = pitch(len);
                let columns = if layout == Layout::Planar { pitch } else { len };
                let bytes = channels as u64 * columns as u64 * dtype.size() as u64;
                segments.push(Segment { buffer: gpu.allocate(bytes)?, start, samples: len, pitch });
            }
        }
        Ok(DeviceArray { gpu: gpu.clone(), channels, samples, dtype, layout, segments })
    }

    /// An `f32` array with the same device, channels and boundaries as this one, planar, with arbitrary content.
    pub fn like(&self) -> Result<Self> {
        Self::empty(&self.gpu, self.channels, self.samples, Dtype::F32, Layout::Planar)
    }

    /// Uploads in the form that moves the fewest bytes: `f32` becomes planar `f32`; interleaved `i16` recordings are
    /// copied as they are; other `i16` becomes planar `i16`.
    pub fn upload(gpu: &Arc<dyn Gpu>, x: Source<'_>) -> Result<Self> {
        match x {
            Source::F32(v) => Self::upload_planar(gpu, v, Dtype::F32),
            Source::I16(v) if v.channels() > 1 && v.channel_stride() == 1 && v.sample_stride() == v.channels() => {
                Self::upload_interleaved(gpu, v)
            }
            Source::I16(v) => Self::upload_planar(gpu, v, Dtype::I16),
        }
    }

    /// Uploads as planar `f32`, widening on the host while it writes.
    pub fn upload_f32(gpu: &Arc<dyn Gpu>, x: Source<'_>) -> Result<Self> {
        match x {
            Source::F32(v) => Self::upload_planar(gpu, v, Dtype::F32),
            Source::I16(v) => Self::upload_planar(gpu, v, Dtype::F32),
        }
    }

    /// Uploads as `dtype`: the view's own type, or `f32`.
    fn upload_planar<T: Sample>(gpu: &Arc<dyn Gpu>, x: View<'_, T>, dtype: Dtype) -> Result<Self> {
        let array = Self::empty(gpu, x.channels(), x.samples(), dtype, Layout::Planar)?;
        for s in &array.segments {
            let window = x.window(s.start, s.samples);
            gpu.write(&s.buffer, 0, s.buffer.bytes, &mut |position, part| {
                pack::planar(window, s.pitch, dtype != T::DTYPE, position, part);
            })?;
        }
        Ok(array)
    }

    fn upload_interleaved(gpu: &Arc<dyn Gpu>, x: View<'_, i16>) -> Result<Self> {
        let array = Self::empty(gpu, x.channels(), x.samples(), Dtype::I16, Layout::Interleaved)?;
        for s in &array.segments {
            let values = &x.data()[s.start * x.channels()..(s.start + s.samples) * x.channels()];
            gpu.write(&s.buffer, 0, s.buffer.bytes, &mut |position, part| pack::dense(values, position, part))?;
        }
        Ok(array)
    }

    /// Everything, widened to `f32`, once the work submitted before has finished.
    pub fn download(&self) -> Result<Signal> {
        let mut y = Signal::dirty(self.channels, self.samples)?;
        self.download_into(y.view_mut())?;
        y.zero_padding();
        Ok(y)
    }

    /// The same into memory of the caller's.
    ///
    /// # Errors
    /// `Shape` if `y` has another shape than this array.
    pub fn download_into(&self, mut y: ViewMut<'_>) -> Result<()> {
        if (y.channels(), y.samples()) != (self.channels, self.samples) {
            return Err(Error::shape(format!(
                "an array of {} channels x {} samples cannot be downloaded into one of {} x {}; make the output the same shape",
                self.channels,
                self.samples,
                y.channels(),
                y.samples()
            )));
        }
        for s in &self.segments {
            let mut window = y.reborrow().window(s.start, s.samples);
            let lie = Lie { layout: self.layout, pitch: s.pitch };
            self.gpu.read(&s.buffer, 0, s.buffer.bytes, &mut |position, part| match self.dtype {
                Dtype::F32 => pack::unpack::<f32>(part, position, lie, &mut window),
                Dtype::I16 => pack::unpack::<i16>(part, position, lie, &mut window),
            })?;
        }
        Ok(())
    }

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

impl std::fmt::Debug for DeviceArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (channels, samples, dtype) = (self.channels, self.samples, self.dtype.name());
        write!(f, "DeviceArray [{channels} channels, {samples} samples] {dtype} {:?}, ", self.layout)?;
        write!(f, "{} segments on {}", self.segments.len(), self.gpu.facts().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::null::NullGpu;

    fn null(binding_bytes: u64) -> Arc<dyn Gpu> {
        Arc::new(NullGpu::new().with_binding_bytes(binding_bytes))
    }

    fn check(gpu: &Arc<dyn Gpu>, x: Source<'_>) {
        for array in [DeviceArray::upload(gpu, x).unwrap(), DeviceArray::upload_f32(gpu, x).unwrap()] {
            let y = array.download().unwrap();
            assert_eq!((y.channels(), y.samples()), (x.channels(), x.samples()), "{array:?}");
            for c in 0..x.channels() {
                (0..x.samples()).for_each(|n| assert_eq!(y.row(c)[n], x.get(c, n), "{array:?} at {c}, {n}"));
            }
            let starts = |a: &DeviceArray| a.segments.iter().map(|s| (s.start, s.samples, s.pitch)).collect::<Vec<_>>();
            assert_eq!(starts(&array), starts(&array.like().unwrap()));
        }
    }

    #[test]
    fn every_layout_comes_back_whole() {
        for gpu in [null(1 << 20), null(4096), null(320)] {
            for (channels, samples) in [(1, 1), (1, 15), (2, 16), (3, 17), (5, 1), (5, 333), (4, 1000)] {
                let f: Vec<f32> = (0..channels * samples).map(|i| i as f32 * 0.5 - 100.0).collect();
                let i: Vec<i16> = (0..channels * samples).map(|i| (i * 37 % 65_536) as u16 as i16).collect();
                check(&gpu, View::new(&f, channels, samples).unwrap().into());
                check(&gpu, View::new(&i, channels, samples).unwrap().into());
                check(&gpu, View::interleaved(&f, channels).unwrap().into());
                check(&gpu, View::interleaved(&i, channels).unwrap().into());
                let half = samples / 2 + samples % 2;
                check(&gpu, View::with_strides(&i, channels, half, samples, 2).unwrap().into());
                check(&gpu, View::with_strides(&f[..1], channels, samples, 0, 0).unwrap().into());
            }
        }
    }

    #[test]
    fn strided_rows_beyond_a_tile_come_back_whole() {
        let gpu = null(64 << 10);
        for (channels, samples) in [(64, 64), (65, 129), (130, 70), (1000, 17)] {
            let i: Vec<i16> = (0..2 * channels * samples).map(|i| (i * 37 % 65_536) as u16 as i16).collect();
            check(&gpu, View::interleaved(&i[..channels * samples], channels).unwrap().into());
            check(&gpu, View::with_strides(&i, channels, samples, 2, 2 * channels).unwrap().into());
        }
    }

    #[test]
    fn interleaved_integers_stay_as_they_are_and_padding_is_zero() {
        let gpu = null(1 << 20);
        let i: Vec<i16> = (1..=15).collect();
        let array = DeviceArray::upload(&gpu, View::interleaved(&i, 3).unwrap().into()).unwrap();
        assert_eq!((array.layout(), array.dtype()), (Layout::Interleaved, Dtype::I16));
        let mut bytes = Vec::new();
        gpu.read(&array.segments[0].buffer, 0, 32, &mut |_, part| bytes.extend_from_slice(part)).unwrap();
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, i16>(&bytes), [&i[..], &[0]].concat());

        let f = [1.0f32; 34];
        let array = DeviceArray::upload(&gpu, View::new(&f, 2, 17).unwrap().into()).unwrap();
        let mut bytes = Vec::new();
        gpu.read(&array.segments[0].buffer, 0, 256, &mut |_, part| bytes.extend_from_slice(part)).unwrap();
        let values = bytemuck::pod_collect_to_vec::<u8, f32>(&bytes);
        assert!(values.iter().enumerate().all(|(i, v)| *v == if i % 32 < 17 { 1.0 } else { 0.0 }), "{values:?}");
    }

    #[test]
    fn boundaries_follow_shape_and_limits_alone() {
        let gpu = null(1 << 20);
        let array = DeviceArray::empty(&gpu, 384, 5000, Dtype::I16, Layout::Planar).unwrap();
        let full = (1 << 20) / 4 / 384 / 16 * 16;
        assert!(array.segments.iter().all(|s| s.start % full == 0 && s.pitch * 384 * 4 <= 1 << 20));
        assert_eq!(array.segments.iter().map(|s| s.samples).sum::<usize>(), 5000);
        let huge = Limits { binding_bytes: u64::MAX, buffer_bytes: u64::MAX, ..gpu.facts().limits };
        assert_eq!(segment_samples(1, &huge).unwrap(), (1 << 31) - 16);
        let e = DeviceArray::empty(&gpu, 20_000, 5, Dtype::F32, Layout::Planar).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Limit);
        assert!(e.to_string().contains("1280000") && e.to_string().contains("1048576"), "{e}");
    }

    #[test]
    fn empty_arrays_have_no_segments_and_work() {
        let gpu = null(1 << 20);
        for (channels, samples) in [(0, 0), (0, 7), (3, 0)] {
            let array = DeviceArray::upload(&gpu, View::new(&[0f32; 0], channels, samples).unwrap().into()).unwrap();
            assert!(array.segments().is_empty());
            let y = array.download().unwrap();
            assert_eq!((y.channels(), y.samples()), (channels, samples));
        }
    }

    #[test]
    fn downloads_check_the_shape_and_fill_wide_rows() {
        let gpu = null(4096);
        let f: Vec<f32> = (0..600).map(|i| i as f32).collect();
        let array = DeviceArray::upload(&gpu, View::new(&f, 2, 300).unwrap().into()).unwrap();
        let mut out = vec![-1.0; 800];
        array.download_into(ViewMut::with_pitch(&mut out, 2, 300, 400).unwrap()).unwrap();
        assert!(out[..300] == f[..300] && out[400..700] == f[300..] && out[300..400].iter().all(|v| *v == -1.0));
        let e = array.download_into(ViewMut::new(&mut out[..598], 2, 299).unwrap()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Shape);
    }
}
