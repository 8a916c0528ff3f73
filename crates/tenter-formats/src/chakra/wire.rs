//! The protobuf encoding, as far as Chakra's messages need it.
//!
//! Source: "Encoding" of the protocol buffers documentation.

use crate::error::{ImportError, Place};
use crate::varint;

/// A field's value, by its wire type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'b> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// A message, text or list, and its position in the file.
    Bytes(&'b [u8], usize),
}

/// A part of a file that is read from its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The part's position in the file.
    base: usize,
}

impl<'b> Wire<'b> {
    pub(super) fn new(bytes: &'b [u8], base: usize) -> Wire<'b> {
        Wire { bytes, at: 0, base }
    }

    /// Returns the next byte's place in the file.
    pub(super) fn place(&self) -> Place {
        Place::Byte(self.base + self.at)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn damaged(&self, what: &str) -> ImportError {
        let remedy = "give the whole file of a Chakra execution trace (`.et`)";
        ImportError::new(self.place(), what, remedy)
    }

    pub(super) fn varint(&mut self) -> Result<u64, ImportError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes.get(self.at);
            let byte = *byte.ok_or_else(|| self.damaged("the file ends within a number"))?;
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged("a number has more than 64 bits"))
    }

    /// Returns the error for a length beyond the bytes that follow, or beyond any message's.
    pub(super) fn too_long(&self, announced: u64, left: u64) -> ImportError {
        let what = format!("{announced} bytes are announced, and {left} follow");
        self.damaged(&what)
    }

    /// Takes the next `length` bytes, with their position in the file.
    fn take(&mut self, length: u64) -> Result<(&'b [u8], usize), ImportError> {
        let left = &self.bytes[self.at..];
        let taken = usize::try_from(length)
            .ok()
            .and_then(|length| left.get(..length));
        let taken = taken.ok_or_else(|| self.too_long(length, left.len() as u64))?;
        let begin = self.base + self.at;
        self.at += taken.len();
        Ok((taken, begin))
    }

    /// Takes a message or text that has its length in front.
    pub(super) fn part(&mut self) -> Result<(&'b [u8], usize), ImportError> {
        let length = self.varint()?;
        self.take(length)
    }

    /// Reads the next field: its number and value; `None` at the end.
    pub(super) fn field(&mut self) -> Result<Option<(u64, Value<'b>)>, ImportError> {
        if self.is_at_end() {
            return Ok(None);
        }
        let key = self.varint()?;
        // The low three bits of a key are the wire type, the others the field number.
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                let (bytes, _) = self.take(8)?;
                Value::Fixed64(
                    bytes
                        .iter()
                        .rev()
                        .fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
                )
            }
            2 => {
                let (bytes, begin) = self.part()?;
                Value::Bytes(bytes, begin)
            }
            5 => {
                let (bytes, _) = self.take(4)?;
                Value::Fixed32(
                    bytes
                        .iter()
                        .rev()
                        .fold(0, |sum, &byte| sum << 8 | u32::from(byte)),
                )
            }
            _ => return Err(self.damaged("a field is of no kind that protobuf has")),
        };
        Ok(Some((key >> 3, value)))
    }
}

/// A message while it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn varint(&mut self, number: u64) {
        varint::push(&mut self.0, number);
    }

    pub(super) fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.part(bytes);
    }

    /// Writes bytes with their length in front.
    pub(super) fn part(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}
