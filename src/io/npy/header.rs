//! The header of a `.npy` file.

use std::io::{ErrorKind as Io, Read};

use crate::error::{Error, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// numpy itself refuses headers above 10,000 bytes unless told otherwise; plain arrays need about a hundred.
const LONGEST: usize = 1 << 16;

/// Element types that can be read, under numpy's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    F4,
    F8,
    I2,
    I4,
    I8,
    C8,
}

impl Element {
    const ALL: [Element; 6] = [Element::F4, Element::F8, Element::I2, Element::I4, Element::I8, Element::C8];

    fn code(self) -> &'static str {
        match self {
            Element::F4 => "f4",
            Element::F8 => "f8",
            Element::I2 => "i2",
            Element::I4 => "i4",
            Element::I8 => "i8",
            Element::C8 => "c8",
        }
    }

    fn size(self) -> usize {
        match self {
            Element::I2 => 2,
            Element::F4 | Element::I4 => 4,
            Element::F8 | Element::I8 | Element::C8 => 8,
        }
    }

    /// Bytes that turn round together where the byte order differs.
    pub fn word(self) -> usize {
        if self == Element::C8 { 4 } else { self.size() }
    }
}

/// What the header says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub element: Element,
    /// The values are in the other byte order than this machine's.
    pub swapped: bool,
    /// The first index runs fastest.
    pub fortran: bool,
    pub shape: Vec<usize>,
}

impl Header {
    /// Reads it, up to the first value; also how many bytes that were.
    pub fn read(from: &mut impl Read) -> Result<(Header, u64)> {
        let mut start = [0; 8];
        fill(from, &mut start, "this is not a .npy file; save with numpy.save")?;
        if start[..6] != MAGIC[..] {
            return Err(Error::invalid("this is not a .npy file; save with numpy.save"));
        }
        const CUT: &str = "the file ends within its header";
        let (len, field) = match start[6] {
            1 => {
                let mut len = [0; 2];
                fill(from, &mut len, CUT)?;
                (usize::from(u16::from_le_bytes(len)), 2)
            }
            2 | 3 => {
                let mut len = [0; 4];
                fill(from, &mut len, CUT)?;
                (u32::from_le_bytes(len) as usize, 4)
            }
            other => {
                return Err(Error::invalid(format!("the .npy format has version {other}; 1, 2 and 3 can be read")));
            }
        };
        if len > LONGEST {
            return Err(Error::invalid(format!(
                "the header claims {len} bytes, plain arrays need far fewer; the file is damaged"
            )));
        }
        let mut text = vec![0; len];
        fill(from, &mut text, CUT)?;
        Ok((Parser { rest: &text }.header()?, 8 + field + len as u64))
    }

    /// The number of values, if they are exactly what `available` bytes hold.
    pub fn len_in(&self, available: u64) -> Result<usize> {
        // As in numpy, an empty array must have dimensions that would be possible if it were not empty.
        let most = self.shape.iter().try_fold(self.element.size(), |n, d| n.checked_mul((*d).max(1)));
        let possible = most.is_some_and(|bytes| isize::try_from(bytes).is_ok());
        let len = self.shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)).filter(|_| possible);
        match len.map(|len| (len, len * self.element.size())) {
            Some((len, bytes)) if bytes as u64 == available => Ok(len),
            _ => Err(Error::invalid(format!(
                "shape {:?} of {} does not fit the {available} bytes of data in the file; it is cut off or damaged",
                self.shape,
                self.element.code()
            ))),
        }
    }
}

/// Reads exactly `buffer`; the file being too short is what `short` says.
fn fill(from: &mut impl Read, buffer: &mut [u8], short: &str) -> Result<()> {
    from.read_exact(buffer).map_err(|e| match e.kind() {
        Io::UnexpectedEof => Error::invalid(short).with_source(e),
        _ => e.into(),
    })
}

/// A header for an array in C order, padded so that the values start on a multiple of 64 bytes.
pub(super) fn format(element: Element, shape: &[usize]) -> Vec<u8> {
    let order = if cfg!(target_endian = "big") { '>' } else { '<' };
    let dims: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let dims = if shape.len() == 1 { dims.trim_end() } else { dims.trim_end_matches(", ") };
    let mut text =
        format!("{{'descr': '{order}{}', 'fortran_order': False, 'shape': ({dims}), }}", element.code()).into_bytes();
    let fixed = MAGIC.len() + 2 + 2;
    text.resize((fixed + text.len() + 1).next_multiple_of(64) - fixed - 1, b' ');
    text.push(b'\n');
    let mut out = [&MAGIC[..], &[1, 0], &(text.len() as u16).to_le_bytes()].concat();
    out.extend(text);
    out
}

/// Reads the one Python dictionary numpy writes, its keys in any order.
struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    fn header(&mut self) -> Result<Header> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.eat(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            match key.as_str() {
                "descr" if self.peek() == Some(b'[') => {
                    return Err(Error::invalid(format!("structured values cannot be read; {ACCEPTED}")));
                }
                "descr" => descr = Some(self.string()?),
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err(malformed()),
            }
            if !self.eat(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let (Some(descr), Some(fortran), Some(shape), None) = (descr, fortran, shape, self.peek()) else {
            return Err(malformed());
        };
        let (element, swapped) = element(&descr)?;
        Ok(Header { element, swapped, fortran, shape })
    }

    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(malformed()) }
    }

    fn string(&mut self) -> Result<String> {
        let quote = self.peek().filter(|q| matches!(q, b'\'' | b'"')).ok_or_else(malformed)?;
        let body = &self.rest[1..];
        let end = body.iter().position(|b| *b == quote).ok_or_else(malformed)?;
        self.rest = &body[end + 1..];
        match std::str::from_utf8(&body[..end]) {
            Ok(text) if text.chars().all(|c| c.is_ascii_graphic()) => Ok(text.to_string()),
            _ => Err(malformed()),
        }
    }

    fn boolean(&mut self) -> Result<bool> {
        self.peek();
        for (name, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(name.as_bytes()) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(malformed())
    }

    fn tuple(&mut self) -> Result<Vec<usize>> {
        let mut out = Vec::new();
        self.expect(b'(')?;
        while !self.eat(b')') {
            out.push(self.integer()?);
            if !self.eat(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(out)
    }

    fn integer(&mut self) -> Result<usize> {
        self.peek();
        let end = self.rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(self.rest.len());
        let digits = std::str::from_utf8(&self.rest[..end]).unwrap_or("");
        let value = digits.parse().map_err(|_| malformed())?;
        self.rest = &self.rest[end..];
        // Python 2 wrote long integers with a suffix.
        self.rest = self.rest.strip_prefix(b"L").unwrap_or(self.rest);
        Ok(value)
    }
}

const ACCEPTED: &str = "pass float32, float64, int16, int32, int64 or complex64 (in numpy: x.astype(\"float32\"))";

/// The element type of a numpy code such as `<f4`, and whether its bytes must be turned round.
fn element(descr: &str) -> Result<(Element, bool)> {
    let unknown = || Error::invalid(format!("values of type '{descr}' cannot be read; {ACCEPTED}"));
    let code = descr.get(1..).ok_or_else(unknown)?;
    let element = Element::ALL.into_iter().find(|e| e.code() == code).ok_or_else(unknown)?;
    match descr.as_bytes()[0] {
        b'<' => Ok((element, cfg!(target_endian = "big"))),
        b'>' => Ok((element, cfg!(target_endian = "little"))),
        b'=' => Ok((element, false)),
        _ => Err(unknown()),
    }
}

fn malformed() -> Error {
    Error::invalid("the header is not the dictionary numpy writes (descr, fortran_order, shape); the file is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&format(Element::F4, shape)[10..]).trim_end().to_string();
        assert!(text(&[]).ends_with("'shape': (), }"), "{}", text(&[]));
        assert!(text(&[3]).ends_with("'shape': (3,), }"), "{}", text(&[3]));
        assert!(text(&[3, 4]).ends_with("'shape': (3, 4), }"), "{}", text(&[3, 4]));
        for shape in [&[][..], &[3], &[3, 4], &[1, 2, 3, usize::MAX]] {
            let bytes = format(Element::C8, shape);
            let (header, read) = Header::read(&mut &bytes[..]).unwrap();
            assert_eq!((header.shape.as_slice(), read as usize % 64, read as usize), (shape, 0, bytes.len()));
        }
    }

    #[test]
    fn other_spellings_of_the_dictionary_are_understood() {
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L)}",
            "{\"shape\":(3,4,),\"descr\":\"<f4\",\"fortran_order\":False,}   \n",
        ] {
            let header = Parser { rest: text.as_bytes() }.header().unwrap();
            assert_eq!(header.shape, [3, 4]);
        }
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3)} x",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
        ] {
            assert!(Parser { rest: text.as_bytes() }.header().is_err(), "{text}");
        }
    }
}
