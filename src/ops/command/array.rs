//! Arrays of any shape, as they come from and go to files.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::signal::{Complex32, ComplexSignal, ComplexView, Signal, Source, View};

/// Values in C order with their shape; no dimension makes it a single number.
#[derive(Debug, Clone, PartialEq)]
pub struct NdArray<T> {
    shape: Vec<usize>,
    data: Vec<T>,
}

impl<T> NdArray<T> {
    /// Values in C order; as many as the shape says.
    ///
    /// # Errors
    /// If shape and values do not fit.
    pub fn new(shape: Vec<usize>, data: Vec<T>) -> Result<Self> {
        let len = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if len != Some(data.len()) {
            return Err(Error::shape(format!("{} values do not fill an array of shape {shape:?}", data.len())));
        }
        Ok(NdArray { shape, data })
    }

    /// A one-dimensional array.
    pub fn flat(data: Vec<T>) -> Self {
        NdArray { shape: vec![data.len()], data }
    }

    /// Length of each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values in C order.
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The values in C order.
    pub fn into_data(self) -> Vec<T> {
        self.data
    }
}

/// An array of one of the element types commands take and give.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Array {
    /// float32: data.
    F32(NdArray<f32>),
    /// float64: designs, states, axes.
    F64(NdArray<f64>),
    /// int16: raw recordings.
    I16(NdArray<i16>),
    /// int64: indices.
    I64(NdArray<i64>),
    /// complex64 as `[re, im]`: spectra.
    C64(NdArray<[f32; 2]>),
}

macro_rules! each {
    ($self:expr, $a:ident => $e:expr) => {
        match $self {
            Array::F32($a) => $e,
            Array::F64($a) => $e,
            Array::I16($a) => $e,
            Array::I64($a) => $e,
            Array::C64($a) => $e,
        }
    };
}

impl Array {
    /// numpy's name of the element type.
    pub fn dtype(&self) -> &'static str {
        match self {
            Array::F32(_) => "float32",
            Array::F64(_) => "float64",
            Array::I16(_) => "int16",
            Array::I64(_) => "int64",
            Array::C64(_) => "complex64",
        }
    }

    /// Length of each dimension.
    pub fn shape(&self) -> &[usize] {
        each!(self, a => a.shape())
    }

    /// Size of the values in bytes.
    pub fn bytes(&self) -> usize {
        each!(self, a => std::mem::size_of_val(a.data()))
    }

    /// The array as a signal: `[channels, samples]`, or one channel if it has one dimension.
    ///
    /// # Errors
    /// Another number of dimensions, or an element type other than float32 and int16.
    pub fn channels(&self) -> Result<Channels<'_>> {
        let (channels, samples, flat) = match *self.shape() {
            [samples] => (1, samples, true),
            [channels, samples] => (channels, samples, false),
            _ => {
                return Err(Error::shape(format!(
                    "an array of shape {:?} is not a signal; pass [channels, samples], or [samples] for one channel",
                    self.shape()
                )));
            }
        };
        let source = match self {
            Array::F32(a) => View::new(a.data(), channels, samples)?.into(),
            Array::I16(a) => View::new(a.data(), channels, samples)?.into(),
            _ => {
                return Err(Error::invalid(format!(
                    "{} values are not a signal; pass float32 or int16 (in numpy: x.astype(\"float32\"))",
                    self.dtype()
                )));
            }
        };
        Ok(Channels { source, flat })
    }

    /// The array as complex values, `[channels, bins]`, or one channel if it has one dimension; real ones have an imaginary
    /// part of zero.
    ///
    /// # Errors
    /// Another number of dimensions, or integers.
    pub fn spectra(&self) -> Result<Spectra<'_>> {
        let (channels, bins, flat) = match *self.shape() {
            [bins] => (1, bins, true),
            [channels, bins] => (channels, bins, false),
            _ => {
                return Err(Error::shape(format!(
                    "an array of shape {:?} is not spectra; pass [channels, bins], or [bins] for one channel",
                    self.shape()
                )));
            }
        };
        let data = match self {
            Array::C64(a) => Cow::Borrowed(bytemuck::cast_slice(a.data())),
            Array::F32(a) => a.data().iter().map(|re| Complex32::new(*re, 0.0)).collect(),
            _ => {
                return Err(Error::invalid(format!(
                    "{} values are not complex; pass complex64 (in numpy: z.astype(\"complex64\"))",
                    self.dtype()
                )));
            }
        };
        Ok(Spectra { data, channels, bins, flat })
    }

    /// Rounds float64 values to float32; other element types stay as they are.
    pub(super) fn round_to_f32(&mut self) {
        if let Array::F64(a) = self {
            let data = a.data.iter().map(|v| *v as f32).collect();
            *self = Array::F32(NdArray { shape: std::mem::take(&mut a.shape), data });
        }
    }
}

/// A signal among the inputs.
#[derive(Debug, Clone, Copy)]
pub struct Channels<'a> {
    /// The samples.
    pub source: Source<'a>,
    /// Whether the array had no channel axis; results then have none either.
    pub flat: bool,
}

/// Complex values among the inputs.
#[derive(Debug, Clone)]
pub struct Spectra<'a> {
    data: Cow<'a, [Complex32]>,
    channels: usize,
    bins: usize,
    flat: bool,
}

impl Spectra<'_> {
    /// The values, `[channels, bins]`.
    ///
    /// # Errors
    /// None that can be met: they fit the shape.
    pub fn view(&self) -> Result<ComplexView<'_>> {
        ComplexView::new(&self.data, self.channels, self.bins)
    }

    /// A complex result of the operation on these values, without a channel axis if they had none.
    pub fn complex(&self, y: &ComplexSignal) -> Array {
        complex(y, self.flat)
    }

    /// A real result, the same way.
    pub fn real(&self, y: &Signal) -> Array {
        real(y, self.flat)
    }
}

fn real(y: &Signal, flat: bool) -> Array {
    let shape = if flat { vec![y.samples()] } else { vec![y.channels(), y.samples()] };
    Array::F32(NdArray { shape, data: y.to_vec() })
}

fn complex(y: &ComplexSignal, flat: bool) -> Array {
    let shape = if flat { vec![y.bins()] } else { vec![y.channels(), y.bins()] };
    Array::C64(NdArray { shape, data: y.to_vec().into_iter().map(|v| [v.re, v.im]).collect() })
}

impl Channels<'_> {
    /// A complex result of the operation on this signal, `[channels, bins]`, or `[bins]` if the signal was flat.
    pub fn complex(&self, y: &ComplexSignal) -> Array {
        complex(y, self.flat)
    }

    /// A result of the operation on this signal, `[channels, samples]`, or `[samples]` if the signal was flat.
    pub fn result(&self, y: &Signal) -> Array {
        real(y, self.flat)
    }

    /// A result whose channels are themselves `[lines, length]`: `[channels, lines, length]`, or `[lines, length]`.
    ///
    /// # Errors
    /// If the channels do not have `lines * length` values.
    pub fn lines(&self, y: &Signal, lines: usize, length: usize) -> Result<Array> {
        Ok(Array::F32(NdArray::new(self.deep(y.channels(), lines, length), y.to_vec())?))
    }

    /// The same for complex values.
    ///
    /// # Errors
    /// If the channels do not have `lines * length` values.
    pub fn complex_lines(&self, y: &ComplexSignal, lines: usize, length: usize) -> Result<Array> {
        let values = y.to_vec().into_iter().map(|v| [v.re, v.im]).collect();
        Ok(Array::C64(NdArray::new(self.deep(y.channels(), lines, length), values)?))
    }

    fn deep(&self, channels: usize, lines: usize, length: usize) -> Vec<usize> {
        if self.flat { vec![lines, length] } else { vec![channels, lines, length] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_values_must_fit() {
        assert!(NdArray::new(vec![2, 3], vec![0.0; 6]).is_ok());
        assert!(NdArray::new(vec![], vec![1i16]).is_ok());
        assert!(NdArray::new(vec![0, 5], Vec::<f32>::new()).is_ok());
        for shape in [vec![], vec![5], vec![usize::MAX, 2], vec![2, 2]] {
            assert!(NdArray::new(shape.clone(), vec![0.0; 6]).is_err(), "{shape:?}");
        }
    }

    #[test]
    fn an_empty_signal_may_claim_any_number_of_channels() {
        let x = Array::I16(NdArray::new(vec![1 << 40, 0], vec![]).unwrap());
        let c = x.channels().unwrap();
        // Nothing may walk over the channels: that would take minutes.
        let y = c.result(&Signal::from_source(c.source).unwrap());
        assert_eq!((y.shape(), y.dtype()), (&[1 << 40, 0][..], "float32"));
    }

    #[test]
    fn only_one_and_two_dimensional_numbers_are_signals() {
        let x = Array::I16(NdArray::new(vec![2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap());
        let c = x.channels().unwrap();
        assert_eq!((c.source.channels(), c.source.samples(), c.source.get(1, 2), c.flat), (2, 3, 6.0, false));
        let message = |a: Array| a.channels().unwrap_err().to_string();
        assert!(message(Array::F32(NdArray::new(vec![1, 1, 1], vec![0.0]).unwrap())).contains("[1, 1, 1]"));
        assert!(message(Array::F32(NdArray::new(vec![], vec![0.0]).unwrap())).contains("[channels, samples]"));
        assert!(message(Array::I64(NdArray::flat(vec![0]))).contains("int64"));
        assert!(message(Array::C64(NdArray::flat(vec![[0.0; 2]]))).contains("complex64"));
    }
}
