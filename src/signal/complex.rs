//! Complex arrays: a real array of twice the length, real and imaginary parts in turn.
//!
//! That is how operations see them (so that one kind of array runs through tuning, devices and files), and how numpy's
//! `complex64` lies in memory. The two types here are that layout with its meaning.

use super::{Signal, Source, View};
use crate::error::{Error, Result};

/// A complex number of two `f32`.
pub type Complex32 = num_complex::Complex<f32>;

/// An owned `[channels, bins]` array of complex numbers, rows padded like those of a [`Signal`].
///
/// ```
/// use dspk::signal::{Complex32, ComplexSignal};
/// let z = ComplexSignal::from_rows(&[[Complex32::new(1.0, 2.0), Complex32::new(3.0, 4.0)]])?;
/// assert_eq!(z.row(0)[1].im, 4.0);
/// # Ok::<(), dspk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ComplexSignal {
    parts: Signal,
}

impl ComplexSignal {
    /// The complex array whose real and imaginary parts are the samples of `parts` in turn.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] for an odd number of samples.
    pub fn from_parts(parts: Signal) -> Result<Self> {
        even(parts.samples())?;
        Ok(ComplexSignal { parts })
    }

    /// A copy of rows of equal length.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] for rows of different lengths, or no memory.
    pub fn from_rows<R: AsRef<[Complex32]>>(rows: &[R]) -> Result<Self> {
        let parts: Vec<&[f32]> = rows.iter().map(|row| bytemuck::cast_slice(row.as_ref())).collect();
        Ok(ComplexSignal { parts: Signal::from_rows(&parts)? })
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.parts.channels()
    }

    /// Complex values in each channel.
    pub fn bins(&self) -> usize {
        self.parts.samples() / 2
    }

    /// One channel.
    ///
    /// # Panics
    /// If `channel` is out of range, like slice indexing.
    pub fn row(&self, channel: usize) -> &[Complex32] {
        bytemuck::cast_slice(self.parts.row(channel))
    }

    /// One channel, to write.
    ///
    /// # Panics
    /// If `channel` is out of range, like slice indexing.
    pub fn row_mut(&mut self, channel: usize) -> &mut [Complex32] {
        bytemuck::cast_slice_mut(self.parts.row_mut(channel))
    }

    /// The channels in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Complex32]> {
        (0..self.channels()).map(|c| self.row(c))
    }

    /// The real and imaginary parts in turn, `[channels, 2 * bins]`.
    pub fn parts(&self) -> &Signal {
        &self.parts
    }

    /// The same, given away.
    pub fn into_parts(self) -> Signal {
        self.parts
    }

    /// A view of the whole.
    pub fn view(&self) -> ComplexView<'_> {
        ComplexView { parts: self.parts.view() }
    }

    /// The values without padding, channel after channel.
    pub fn to_vec(&self) -> Vec<Complex32> {
        self.rows().flatten().copied().collect()
    }
}

/// A borrowed `[channels, bins]` array of complex numbers.
#[derive(Debug, Clone, Copy)]
pub struct ComplexView<'a> {
    parts: View<'a, f32>,
}

impl<'a> ComplexView<'a> {
    /// A contiguous channel-major array. `data` must hold exactly `channels * bins` values.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] for another number of values.
    pub fn new(data: &'a [Complex32], channels: usize, bins: usize) -> Result<Self> {
        let samples = bins.checked_mul(2).ok_or_else(|| Error::shape(format!("{bins} bins are too many")))?;
        Ok(ComplexView { parts: View::new(bytemuck::cast_slice(data), channels, samples)? })
    }

    /// The complex array whose real and imaginary parts are the samples of `parts` in turn.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] for an odd number of samples.
    pub fn from_parts(parts: View<'a, f32>) -> Result<Self> {
        even(parts.samples())?;
        Ok(ComplexView { parts })
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.parts.channels()
    }

    /// Complex values in each channel.
    pub fn bins(&self) -> usize {
        self.parts.samples() / 2
    }

    /// The real and imaginary parts in turn.
    pub fn parts(&self) -> View<'a, f32> {
        self.parts
    }
}

impl<'a> From<&'a ComplexSignal> for ComplexView<'a> {
    fn from(z: &'a ComplexSignal) -> Self {
        z.view()
    }
}

impl<'a> From<ComplexView<'a>> for Source<'a> {
    fn from(z: ComplexView<'a>) -> Self {
        Source::F32(z.parts)
    }
}

fn even(samples: usize) -> Result<()> {
    if samples.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::shape(format!(
        "{samples} values in a row are not pairs of a real and an imaginary part; pass an even number"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_values_are_the_same_memory() {
        let z = [Complex32::new(1.0, -1.0), Complex32::new(2.0, -2.0), Complex32::new(3.0, -3.0)];
        let signal = ComplexSignal::from_rows(&[z, z]).unwrap();
        assert_eq!((signal.channels(), signal.bins()), (2, 3));
        assert_eq!(signal.parts().row(1), [1.0, -1.0, 2.0, -2.0, 3.0, -3.0]);
        assert_eq!(signal.to_vec(), [z, z].concat());
        let view = ComplexView::new(&z, 1, 3).unwrap();
        assert_eq!((view.channels(), view.bins(), view.parts().get(0, 3)), (1, 3, -2.0));
        assert_eq!(ComplexSignal::from_parts(signal.clone().into_parts()).unwrap(), signal);
    }

    #[test]
    fn halves_of_numbers_are_refused() {
        assert!(ComplexSignal::from_parts(Signal::zeros(2, 3).unwrap()).is_err());
        assert!(ComplexView::from_parts(View::new(&[1.0f32], 1, 1).unwrap()).is_err());
        assert!(ComplexView::new(&[], 1, 3).is_err());
        assert!(ComplexView::new(&[], 0, usize::MAX).is_err());
        assert_eq!(ComplexSignal::from_parts(Signal::zeros(0, 0).unwrap()).unwrap().to_vec(), []);
    }
}
