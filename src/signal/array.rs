//! The owned host array.

use super::{Buffer, Source, View, ViewMut, pitch};
use crate::error::{Error, ErrorKind, Result};

/// An owned `[channels, samples]` array of `f32`, rows padded to [`super::ROW_ALIGN`] samples.
///
/// ```
/// let x = dspk::signal::Signal::from_rows(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
/// assert_eq!(x.row(1), [4.0, 5.0, 6.0]);
/// assert_eq!(x.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), dspk::Error>(())
/// ```
pub struct Signal {
    buffer: Buffer<f32>,
    channels: usize,
    samples: usize,
    pitch: usize,
}

impl Signal {
    /// An array whose values are whatever the recycled buffer held (never uninitialised memory): for outputs every value
    /// of which is written.
    pub(crate) fn dirty(channels: usize, samples: usize) -> Result<Self> {
        let pitch = pitch(samples);
        let len = channels.checked_mul(pitch).filter(|n| *n <= isize::MAX as usize / 4).ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!(
                    "an array of {channels} channels x {samples} samples does not fit in memory; process it in pieces"
                ),
            )
        })?;
        Ok(Signal { buffer: Buffer::dirty(len)?, channels, samples, pitch })
    }

    /// An array of zeros.
    pub fn zeros(channels: usize, samples: usize) -> Result<Self> {
        let mut s = Self::dirty(channels, samples)?;
        s.buffer.fill(0.0);
        Ok(s)
    }

    /// A copy of channel-major values; exactly `channels * samples` of them.
    pub fn from_slice(data: &[f32], channels: usize, samples: usize) -> Result<Self> {
        Self::from_source(View::new(data, channels, samples)?.into())
    }

    /// A copy of rows of equal length.
    pub fn from_rows<R: AsRef<[f32]>>(rows: &[R]) -> Result<Self> {
        let samples = rows.first().map_or(0, |r| r.as_ref().len());
        let mut s = Self::zeros(rows.len(), samples)?;
        for (c, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != samples {
                return Err(Error::shape(format!(
                    "row {c} has {} samples, row 0 has {samples}; every channel needs the same number",
                    row.len()
                )));
            }
            s.row_mut(c).copy_from_slice(row);
        }
        Ok(s)
    }

    /// A copy of any view, widened to `f32`.
    pub fn from_source(source: Source<'_>) -> Result<Self> {
        let mut s = Self::dirty(source.channels(), source.samples())?;
        if s.samples == 0 {
            return Ok(s);
        }
        for c in 0..s.channels {
            match source {
                Source::F32(v) if v.row(c).is_some() => s.row_mut(c).copy_from_slice(v.row(c).unwrap_or(&[])),
                _ => s.row_mut(c).iter_mut().enumerate().for_each(|(n, y)| *y = source.get(c, n)),
            }
        }
        s.zero_padding();
        Ok(s)
    }

    /// Sets the values between the end of each row and the next row to zero.
    pub(crate) fn zero_padding(&mut self) {
        let (samples, pitch) = (self.samples, self.pitch);
        if pitch > samples {
            self.buffer.chunks_exact_mut(pitch).for_each(|row| row[samples..].fill(0.0));
        }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Number of samples in each channel.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Distance between two rows, in samples.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// One channel.
    ///
    /// # Panics
    /// If `channel` is out of range, like slice indexing.
    pub fn row(&self, channel: usize) -> &[f32] {
        assert!(channel < self.channels, "channel out of range");
        &self.buffer[channel * self.pitch..channel * self.pitch + self.samples]
    }

    /// One channel, to write.
    ///
    /// # Panics
    /// If `channel` is out of range, like slice indexing.
    pub fn row_mut(&mut self, channel: usize) -> &mut [f32] {
        assert!(channel < self.channels, "channel out of range");
        &mut self.buffer[channel * self.pitch..channel * self.pitch + self.samples]
    }

    /// The channels in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        (0..self.channels).map(|c| self.row(c))
    }

    /// A view of the whole.
    pub fn view(&self) -> View<'_, f32> {
        View::with_strides(&self.buffer, self.channels, self.samples, self.pitch, 1)
            .expect("a Signal's buffer holds its rows")
    }

    /// A view of the whole, to write.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::with_pitch(&mut self.buffer, self.channels, self.samples, self.pitch)
            .expect("a Signal's buffer holds its rows")
    }

    /// The values without padding, channel after channel.
    pub fn to_vec(&self) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.channels * self.samples);
        // An empty array may claim any number of channels.
        if self.samples > 0 {
            self.rows().for_each(|row| out.extend_from_slice(row));
        }
        out
    }
}

impl Clone for Signal {
    fn clone(&self) -> Self {
        let mut out = Self::dirty(self.channels, self.samples).expect("memory for a copy of an existing array");
        out.buffer.copy_from_slice(&self.buffer);
        out
    }
}

impl PartialEq for Signal {
    fn eq(&self, other: &Self) -> bool {
        self.channels == other.channels && self.samples == other.samples && self.rows().eq(other.rows())
    }
}

impl std::fmt::Debug for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signal [{} channels, {} samples]", self.channels, self.samples)
    }
}
