//! numpy's `.npy` format, versions 1 to 3: a short header, a Python dictionary, the values.
//!
//! Read: float32, float64, int16, int32, int64 and complex64, either byte order, C or Fortran order. Written: the same
//! without int32, in C order and this machine's byte order.

mod header;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use bytemuck::Pod;

use crate::error::{Error, ErrorKind, Result};
use crate::ops::command::{Array, NdArray};
use header::{Element, Header};

/// Reads an array. int32 is widened to int64.
///
/// # Errors
/// A path that is not a readable regular file; content that is not `.npy`, is damaged, or is shorter or longer than its
/// header says; an element type that is not listed above.
pub fn read(path: &Path) -> Result<Array> {
    read_file(path).map_err(|e| e.context(path.display()))
}

fn read_file(path: &Path) -> Result<Array> {
    let refused = |e: std::io::Error| {
        Error::invalid(format!("cannot be opened ({e}); pass the path of a readable .npy file")).with_source(e)
    };
    // A pipe or a device is refused before it is opened, which could wait for ever.
    let meta = fs::metadata(path).map_err(refused)?;
    if !meta.is_file() {
        return Err(Error::invalid("is not a regular file; pass the path of a .npy file"));
    }
    let mut file = File::open(path).map_err(refused)?;
    let (header, header_bytes) = Header::read(&mut file)?;
    let len = header.len_in(meta.len().saturating_sub(header_bytes))?;
    match header.element {
        Element::F4 => Ok(Array::F32(values(&mut file, header, len)?)),
        Element::F8 => Ok(Array::F64(values(&mut file, header, len)?)),
        Element::I2 => Ok(Array::I16(values(&mut file, header, len)?)),
        Element::I8 => Ok(Array::I64(values(&mut file, header, len)?)),
        Element::C8 => Ok(Array::C64(values(&mut file, header, len)?)),
        Element::I4 => {
            let narrow: NdArray<i32> = values(&mut file, header, len)?;
            let shape = narrow.shape().to_vec();
            Ok(Array::I64(NdArray::new(shape, narrow.data().iter().map(|v| i64::from(*v)).collect())?))
        }
    }
}

fn values<T: Pod>(file: &mut File, header: Header, len: usize) -> Result<NdArray<T>> {
    let mut data: Vec<T> = Vec::new();
    data.try_reserve_exact(len)
        .map_err(|e| Error::new(ErrorKind::OutOfMemory, format!("no memory for its {len} values")).with_source(e))?;
    data.resize(len, T::zeroed());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut data);
    file.read_exact(bytes)?;
    if header.swapped {
        bytes.chunks_exact_mut(header.element.word()).for_each(<[u8]>::reverse);
    }
    if header.fortran && header.shape.len() > 1 {
        data = to_c_order(&data, &header.shape);
    }
    NdArray::new(header.shape, data)
}

/// Values of which the first index runs fastest, put so that the last one does.
fn to_c_order<T: Copy>(data: &[T], shape: &[usize]) -> Vec<T> {
    let strides: Vec<usize> = shape
        .iter()
        .scan(1, |stride, d| {
            let this = *stride;
            *stride *= d;
            Some(this)
        })
        .collect();
    let (mut index, mut position) = (vec![0; shape.len()], 0);
    let mut out = Vec::with_capacity(data.len());
    for _ in 0..data.len() {
        out.push(data[position]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            position += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            position -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

/// Writes an array to a stream, header and values.
pub(super) fn write(array: &Array, to: &mut impl Write) -> std::io::Result<()> {
    let (element, bytes): (_, &[u8]) = match array {
        Array::F32(a) => (Element::F4, bytemuck::cast_slice(a.data())),
        Array::F64(a) => (Element::F8, bytemuck::cast_slice(a.data())),
        Array::I16(a) => (Element::I2, bytemuck::cast_slice(a.data())),
        Array::I64(a) => (Element::I8, bytemuck::cast_slice(a.data())),
        Array::C64(a) => (Element::C8, bytemuck::cast_slice(a.data())),
    };
    to.write_all(&header::format(element, array.shape()))?;
    to.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(array: &Array) -> Vec<u8> {
        let mut out = Vec::new();
        write(array, &mut out).unwrap();
        out
    }

    fn read_bytes(bytes: &[u8]) -> Result<Array> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        read(file.path())
    }

    fn arrays() -> Vec<Array> {
        vec![
            Array::F32(NdArray::new(vec![2, 3], vec![1.0, -0.0, f32::INFINITY, 1e-40, 5.0, 6.0]).unwrap()),
            Array::F64(NdArray::flat(vec![0.1, f64::MIN_POSITIVE])),
            Array::I16(NdArray::new(vec![1, 1, 2], vec![i16::MIN, i16::MAX]).unwrap()),
            Array::I64(NdArray::new(vec![], vec![i64::MIN]).unwrap()),
            Array::C64(NdArray::new(vec![0, 4], vec![]).unwrap()),
            Array::C64(NdArray::flat(vec![[1.0, -2.0], [3.0, 4.0]])),
        ]
    }

    #[test]
    fn arrays_come_back_as_they_went() {
        for array in arrays() {
            let bytes = bytes(&array);
            assert_eq!(read_bytes(&bytes).unwrap(), array);
            assert_eq!(bytes.windows(1).position(|w| w == b"\n").map(|end| (end + 1) % 64), Some(0), "data is aligned");
        }
    }

    #[test]
    fn another_reader_of_the_format_agrees() {
        let array = Array::F32(NdArray::new(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap());
        let bytes = bytes(&array);
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.shape(), [2, 3]);
        assert_eq!(file.into_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    /// A version 1 file with any header text and data.
    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn byte_order_and_index_order_are_undone() {
        let big = file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", &[0x01, 0x02, 0xff, 0xfe]);
        assert_eq!(read_bytes(&big).unwrap(), Array::I16(NdArray::flat(vec![0x0102, -2])));
        let complex = [1.0f32, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<_>>();
        let big = file("{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}", &complex);
        assert_eq!(read_bytes(&big).unwrap(), Array::C64(NdArray::flat(vec![[1.0, -2.0]])));

        let values: Vec<u8> = (0..12i32).flat_map(i32::to_le_bytes).collect();
        let fortran = file("{'shape': (2, 3, 2), 'fortran_order': True, 'descr': \"<i4\"}", &values);
        // numpy.arange(12).reshape((2, 3, 2), order="F").ravel()
        let expected = vec![0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
        assert_eq!(read_bytes(&fortran).unwrap(), Array::I64(NdArray::new(vec![2, 3, 2], expected).unwrap()));
    }

    #[test]
    fn versions_two_and_three_have_a_longer_length_field() {
        for version in [2, 3] {
            let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
            let mut bytes = b"\x93NUMPY".to_vec();
            bytes.extend([version, 0]);
            bytes.extend((header.len() as u32).to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes.extend(2.5f32.to_le_bytes());
            assert_eq!(read_bytes(&bytes).unwrap(), Array::F32(NdArray::flat(vec![2.5])));
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let message = |bytes: &[u8]| {
            let e = read_bytes(bytes).unwrap_err();
            assert!(e.kind().is_usage(), "{e:?}");
            e.to_string()
        };
        let typed = |descr: &str| {
            message(&file(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}"), &[0; 16]))
        };
        for (descr, name) in [("'|b1'", "|b1"), ("'|O'", "|O"), ("'<f2'", "<f2"), ("'<c16'", "<c16"), ("'<U3'", "<U3")]
        {
            let e = typed(descr);
            assert!(e.contains(name) && e.contains("float32"), "{e}");
        }
        assert!(typed("[('a', '<f4')]").contains("structured"));
        assert!(message(b"").contains("not a .npy file"));
        assert!(message(b"PK\x03\x04 a zip archive").contains("not a .npy file"));
        assert!(message(b"\x93NUMPY\x09\x00\x10\x00").contains("version 9"));
        assert!(message(&file("{'descr': '<f4'}", &[])).contains("header"));
        let huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615, 18446744073709551615)}";
        assert!(message(&file(huge, &[0; 8])).contains("shape"));
        for empty in ["0, 9223372036854775807", "9223372036854775807, 0", "4294967296, 0, 4294967296"] {
            let empty = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({empty})}}");
            assert!(message(&file(&empty, &[])).contains("does not fit"));
        }
        let long = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}";
        assert!(message(&file(long, &[0; 8])).contains("8 bytes of data"));
        let mut giant = b"\x93NUMPY\x02\x00".to_vec();
        giant.extend(u32::MAX.to_le_bytes());
        assert!(message(&giant).contains("header"));
        for array in arrays() {
            let whole = bytes(&array);
            (0..whole.len()).for_each(|n| assert!(read_bytes(&whole[..n]).is_err(), "{n} of {}", whole.len()));
            assert!(message(&[&whole[..], &[0]].concat()).contains("bytes of data"));
        }
    }

    #[test]
    fn paths_that_are_not_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let e = read(dir.path()).unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains("regular file"), "{e}");
        let e = read(&dir.path().join("absent.npy")).unwrap_err();
        assert!(e.kind().is_usage() && e.to_string().contains("absent.npy"), "{e}");
    }

    proptest! {
        #[test]
        fn damage_is_an_error_or_another_array_never_a_panic(which in 0usize..6, at in 0usize..200, bits in 1u8..=255) {
            let mut bytes = bytes(&arrays()[which]);
            let at = at % bytes.len();
            bytes[at] ^= bits;
            if let Ok(array) = read_bytes(&bytes) {
                prop_assert!(array.shape().iter().product::<usize>() <= bytes.len());
            }
        }

        #[test]
        fn any_bytes_after_the_magic_are_survived(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_bytes(&[b"\x93NUMPY\x01\x00\x20\x00", &tail[..]].concat());
        }
    }
}
