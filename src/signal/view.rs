//! Borrowed arrays with strides.

use crate::error::{Error, Result};

/// The element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dtype {
    /// 32-bit float.
    F32,
    /// 16-bit signed integer.
    I16,
}

impl Dtype {
    /// numpy's name.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "float32",
            Dtype::I16 => "int16",
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Dtype::F32 => 4,
            Dtype::I16 => 2,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i16 {}
}

/// An element type operations accept.
pub trait Sample: Copy + Default + Send + Sync + bytemuck::Pod + sealed::Sealed + 'static {
    /// Its name.
    const DTYPE: Dtype;
    /// The value as `f32`; exact for every type of at most 24 bits.
    fn to_f32(self) -> f32;
}

impl Sample for f32 {
    const DTYPE: Dtype = Dtype::F32;
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

impl Sample for i16 {
    const DTYPE: Dtype = Dtype::I16;
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from(self)
    }
}

/// A borrowed `[channels, samples]` array with strides counted in elements.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    data: &'a [T],
    channels: usize,
    samples: usize,
    channel_stride: usize,
    sample_stride: usize,
}

impl<'a, T: Sample> View<'a, T> {
    /// A contiguous channel-major array. `data` must hold exactly `channels * samples` values.
    ///
    /// ```
    /// let v = dspk::signal::View::new(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?;
    /// assert_eq!(v.get(1, 0), 4.0);
    /// # Ok::<(), dspk::Error>(())
    /// ```
    pub fn new(data: &'a [T], channels: usize, samples: usize) -> Result<Self> {
        exact_len(data.len(), channels, samples)?;
        Self::with_strides(data, channels, samples, samples, 1)
    }

    /// An interleaved `[samples, channels]` recording, seen as `[channels, samples]` without a copy. `data` must hold a
    /// whole number of frames of `channels` values.
    ///
    /// ```
    /// let v = dspk::signal::View::interleaved(&[1i16, 10, 2, 20, 3, 30], 2)?;
    /// assert_eq!((v.channels(), v.samples(), v.get(1, 2)), (2, 3, 30));
    /// # Ok::<(), dspk::Error>(())
    /// ```
    pub fn interleaved(data: &'a [T], channels: usize) -> Result<Self> {
        if channels == 0 || !data.len().is_multiple_of(channels) {
            return Err(Error::shape(format!(
                "{} interleaved values do not divide into frames of {channels} channels; pass the number of channels of the recording",
                data.len()
            )));
        }
        Self::with_strides(data, channels, data.len() / channels, 1, channels)
    }

    /// Any strided array: element `(c, n)` is `data[c * channel_stride + n * sample_stride]`.
    pub fn with_strides(
        data: &'a [T],
        channels: usize,
        samples: usize,
        channel_stride: usize,
        sample_stride: usize,
    ) -> Result<Self> {
        if channels > 0 && samples > 0 {
            let last = (channels - 1)
                .checked_mul(channel_stride)
                .zip((samples - 1).checked_mul(sample_stride))
                .and_then(|(a, b)| a.checked_add(b));
            if last.is_none_or(|last| last >= data.len()) {
                return Err(Error::shape(format!(
                    "a {channels} x {samples} view with strides {channel_stride} and {sample_stride} reaches past its {} values; check shape and strides",
                    data.len()
                )));
            }
        }
        Ok(View { data, channels, samples, channel_stride, sample_stride })
    }

    /// Number of channels (rows).
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of samples in each channel.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Distance between two channels, in elements.
    pub fn channel_stride(&self) -> usize {
        self.channel_stride
    }

    /// Distance between two samples of a channel, in elements.
    pub fn sample_stride(&self) -> usize {
        self.sample_stride
    }

    /// The slice the view was made of; element `(c, n)` is at `c * channel_stride + n * sample_stride`.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// One value.
    ///
    /// # Panics
    /// If `channel` or `sample` is out of range, like slice indexing.
    #[inline]
    pub fn get(&self, channel: usize, sample: usize) -> T {
        assert!(channel < self.channels && sample < self.samples, "index out of range");
        self.data[channel * self.channel_stride + sample * self.sample_stride]
    }

    /// A channel as a slice, if its samples lie side by side.
    #[inline]
    pub fn row(&self, channel: usize) -> Option<&'a [T]> {
        if self.samples == 0 {
            return Some(&[]);
        }
        if self.sample_stride != 1 && self.samples > 1 {
            return None;
        }
        let start = channel * self.channel_stride;
        self.data.get(start..start + self.samples)
    }

    /// Channels `first .. first + count`. Out-of-range ones are cut to what there is.
    pub fn channel_range(&self, first: usize, count: usize) -> View<'a, T> {
        let first = first.min(self.channels);
        let count = count.min(self.channels - first);
        let data = if count == 0 || self.samples == 0 { &[] } else { &self.data[first * self.channel_stride..] };
        View { data, channels: count, ..*self }
    }

    /// Samples `start .. start + len` of every channel. Out-of-range windows are cut to what there is.
    pub fn window(&self, start: usize, len: usize) -> View<'a, T> {
        let start = start.min(self.samples);
        let len = len.min(self.samples - start);
        let data = if len == 0 || self.channels == 0 { &[] } else { &self.data[start * self.sample_stride..] };
        View { data, samples: len, ..*self }
    }
}

fn exact_len(len: usize, channels: usize, samples: usize) -> Result<()> {
    if channels.checked_mul(samples) == Some(len) {
        return Ok(());
    }
    Err(Error::shape(format!(
        "{len} values are not {channels} channels x {samples} samples; pass exactly channels * samples values, channel after channel"
    )))
}

/// A borrowed array of any accepted element type: what operations take.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Source<'a> {
    /// 32-bit floats.
    F32(View<'a, f32>),
    /// 16-bit integers; every operation widens them exactly.
    I16(View<'a, i16>),
}

impl<'a> From<View<'a, f32>> for Source<'a> {
    fn from(v: View<'a, f32>) -> Self {
        Source::F32(v)
    }
}

impl<'a> From<View<'a, i16>> for Source<'a> {
    fn from(v: View<'a, i16>) -> Self {
        Source::I16(v)
    }
}

impl<'a> From<&'a super::Signal> for Source<'a> {
    fn from(v: &'a super::Signal) -> Self {
        Source::F32(v.view())
    }
}

macro_rules! each {
    ($self:expr, $v:ident => $e:expr) => {
        match $self {
            Source::F32($v) => $e,
            Source::I16($v) => $e,
        }
    };
}

impl<'a> Source<'a> {
    /// Number of channels.
    pub fn channels(&self) -> usize {
        each!(self, v => v.channels())
    }

    /// Number of samples in each channel.
    pub fn samples(&self) -> usize {
        each!(self, v => v.samples())
    }

    /// Element type.
    pub fn dtype(&self) -> Dtype {
        match self {
            Source::F32(_) => Dtype::F32,
            Source::I16(_) => Dtype::I16,
        }
    }

    /// One value, widened.
    ///
    /// # Panics
    /// If `channel` or `sample` is out of range, like slice indexing.
    #[inline]
    pub fn get(&self, channel: usize, sample: usize) -> f32 {
        each!(self, v => v.get(channel, sample).to_f32())
    }

    /// Channels `first .. first + count`.
    pub fn channel_range(&self, first: usize, count: usize) -> Source<'a> {
        match self {
            Source::F32(v) => Source::F32(v.channel_range(first, count)),
            Source::I16(v) => Source::I16(v.channel_range(first, count)),
        }
    }

    /// Samples `start .. start + len` of every channel.
    pub fn window(&self, start: usize, len: usize) -> Source<'a> {
        match self {
            Source::F32(v) => Source::F32(v.window(start, len)),
            Source::I16(v) => Source::I16(v.window(start, len)),
        }
    }
}

/// A borrowed `[channels, samples]` array of `f32` to write into; the samples of a channel lie side by side.
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: &'a mut [f32],
    channels: usize,
    samples: usize,
    pitch: usize,
}

impl<'a> ViewMut<'a> {
    /// A contiguous channel-major array of exactly `channels * samples` values.
    pub fn new(data: &'a mut [f32], channels: usize, samples: usize) -> Result<Self> {
        exact_len(data.len(), channels, samples)?;
        Self::with_pitch(data, channels, samples, samples)
    }

    /// Rows `pitch` values apart; the values between the end of a row and the next are left alone or zeroed.
    pub fn with_pitch(data: &'a mut [f32], channels: usize, samples: usize, pitch: usize) -> Result<Self> {
        let needed = if channels == 0 || samples == 0 {
            Some(0)
        } else {
            (channels - 1).checked_mul(pitch).and_then(|v| v.checked_add(samples))
        };
        if (channels > 1 && pitch < samples) || needed.is_none_or(|n| n > data.len()) {
            return Err(Error::shape(format!(
                "{} values cannot hold {channels} rows of {samples} samples, {pitch} apart; enlarge the output",
                data.len()
            )));
        }
        Ok(ViewMut { data, channels, samples, pitch })
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of samples in each channel.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Distance between two rows.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// All values, row `c` starting at `c * pitch`.
    pub fn data_mut(&mut self) -> &mut [f32] {
        self.data
    }

    /// All values, for as long as the view was borrowed.
    pub(crate) fn into_data(self) -> &'a mut [f32] {
        self.data
    }

    /// One channel.
    pub fn row_mut(&mut self, channel: usize) -> &mut [f32] {
        assert!(channel < self.channels, "channel out of range");
        let start = channel * self.pitch;
        &mut self.data[start..start + self.samples]
    }

    /// The same array borrowed for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_> {
        ViewMut { data: self.data, channels: self.channels, samples: self.samples, pitch: self.pitch }
    }

    /// Channels `first .. first + count`. Out-of-range ones are cut to what there is.
    pub fn channel_range(self, first: usize, count: usize) -> ViewMut<'a> {
        let first = first.min(self.channels);
        let channels = count.min(self.channels - first);
        let data = if channels == 0 || self.samples == 0 { &mut [] } else { &mut self.data[first * self.pitch..] };
        ViewMut { data, channels, samples: self.samples, pitch: self.pitch }
    }

    /// Samples `start .. start + len` of every channel. Out-of-range windows are cut to what there is.
    pub fn window(self, start: usize, len: usize) -> ViewMut<'a> {
        let start = start.min(self.samples);
        let samples = len.min(self.samples - start);
        let data = if samples == 0 || self.channels == 0 { &mut [] } else { &mut self.data[start..] };
        ViewMut { data, channels: self.channels, samples, pitch: self.pitch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_no_channels_are_empty() {
        let x = View::new(&[0f32; 0], 0, 100).unwrap().window(10, 20);
        assert_eq!((x.channels(), x.samples()), (0, 20));
        let y = ViewMut::new(&mut [], 0, 100).unwrap().window(10, 20);
        assert_eq!((y.channels(), y.samples()), (0, 20));
    }
}
