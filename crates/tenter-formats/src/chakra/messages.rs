//! Reader for Chakra traces as protobuf: one message about the file, then one for each node.

use std::io;

use super::attributes::{Node, Value, node_type};
use super::wire::{self, Wire};
use crate::content::{Stream, unreadable};
use crate::error::{ImportError, Place};
use crate::trace::{RankTrace, Traces};

type Read<T> = Result<T, ImportError>;

/// Reads a rank's trace, node by node.
pub(super) fn read<R: io::Read>(
    mut parts: Parts<R>,
    traces: &mut Traces<'_>,
    rank: u32,
    trace: &mut RankTrace,
) -> Read<()> {
    // The first message describes the file, and has nothing that is needed.
    if parts.next()?.is_none() {
        return Err(ImportError::nothing("give a Chakra execution trace"));
    }
    while let Some((at, message)) = parts.next()? {
        let mut fields = Fields {
            traces,
            trace,
            process_groups: false,
        };
        let node = fields.node(message)?;
        node.add(traces, rank, trace, at)?;
    }
    Ok(())
}

/// A file's messages; each has its length in front.
pub(super) struct Parts<R> {
    stream: Stream<R>,
    length: u64,
    part: Vec<u8>,
}

/// Most bytes in a 64-bit number.
const VARINT_MAX: usize = 10;
/// Longest message that protocol buffers allow, in bytes.
const MESSAGE_MAX: u64 = (1 << 31) - 1;

impl<R: io::Read> Parts<R> {
    /// Starts to read a file with `length` bytes.
    pub(super) fn new(stream: Stream<R>, length: u64) -> Parts<R> {
        Parts {
            stream,
            length,
            part: Vec::new(),
        }
    }

    /// Returns the next message with the place of its length; `None` at the end.
    fn next(&mut self) -> Read<Option<(Place, Wire<'_>)>> {
        let at = self.stream.at();
        let failed = |error| unreadable(at, &error);
        if self.stream.is_at_end().map_err(failed)? {
            return Ok(None);
        }
        let mut number = [0; VARINT_MAX];
        let mut length = 0;
        // A number ends with its first byte below 128; `Wire` refuses one that has none.
        while length < VARINT_MAX
            && let Some(byte) = self.stream.byte().map_err(failed)?
        {
            number[length] = byte;
            length += 1;
            if byte < 0x80 {
                break;
            }
        }
        let mut before = Wire::new(&number[..length], at as usize);
        let announced = before.varint()?;
        let begin = self.stream.at();
        let left = self.length.saturating_sub(begin);
        if announced > left.min(MESSAGE_MAX) {
            return Err(before.too_long(announced, left));
        }
        self.stream
            .take(announced, &mut self.part)
            .map_err(failed)?;
        if (self.part.len() as u64) < announced {
            return Err(before.too_long(announced, self.part.len() as u64));
        }
        let place = Place::Byte(at as usize);
        Ok(Some((place, Wire::new(&self.part, begin as usize))))
    }
}

/// The trace and the communicators to which a node's fields are added.
struct Fields<'f, 'r> {
    traces: &'f mut Traces<'r>,
    trace: &'f mut RankTrace,
    process_groups: bool,
}

impl Fields<'_, '_> {
    /// Reads a node's fields. Dependencies go to the trace at once.
    fn node(&mut self, mut message: Wire<'_>) -> Read<Node> {
        let mut node = Node::default();
        let mut inputs = None;
        while let Some((field, value)) = message.field()? {
            match (field, value) {
                // Field numbers are those of `Node` in `et_def.proto`.
                (1, wire::Value::Varint(id)) => node.id = id,
                (2, wire::Value::Bytes(name, _)) => {
                    self.process_groups = contains(name, b"process_group:init");
                }
                (3, wire::Value::Varint(kind)) => node.kind = kind,
                (4, value) => numbers(value, |id| self.trace.called_by(id))?,
                (5, value) => numbers(value, |id| self.trace.waits_for(id))?,
                (6, wire::Value::Varint(start)) => node.start_us = Some(start),
                (7, wire::Value::Varint(duration)) => node.duration_us = duration,
                (8, wire::Value::Bytes(bytes, begin)) => inputs = Some((bytes, begin)),
                (10, wire::Value::Bytes(bytes, begin)) => {
                    self.attribute(&mut node, Wire::new(bytes, begin))?;
                }
                _ => {}
            }
        }
        if node.kind == node_type::METADATA
            && self.process_groups
            && let Some((bytes, begin)) = inputs
        {
            self.process_groups(Wire::new(bytes, begin))?;
        }
        Ok(node)
    }

    /// Reads a node's inputs that list process groups.
    fn process_groups(&mut self, mut inputs: Wire<'_>) -> Read<()> {
        while let Some((field, value)) = inputs.field()? {
            if let (1, wire::Value::Bytes(text, _)) = (field, value)
                && let Ok(text) = std::str::from_utf8(text)
            {
                self.traces.groups.read_process_groups(text);
            }
        }
        Ok(())
    }

    /// Reads an attribute: a name, and a value in the field for its type.
    fn attribute(&mut self, node: &mut Node, mut message: Wire<'_>) -> Read<()> {
        let (mut name, mut given) = ("", None);
        while let Some((field, value)) = message.field()? {
            if field == 1 {
                if let wire::Value::Bytes(bytes, _) = value {
                    name = std::str::from_utf8(bytes).unwrap_or_default();
                }
            } else if let Some(value) = scalar(field, value) {
                given = Some(value);
            }
        }
        if let Some(value) = given {
            node.attribute(name, value, self.traces);
        }
        Ok(())
    }
}

/// Reads repeated numbers: packed into one field, or in a field each.
fn numbers(value: wire::Value<'_>, mut take: impl FnMut(u64)) -> Read<()> {
    match value {
        wire::Value::Varint(number) => take(number),
        wire::Value::Bytes(bytes, begin) => {
            let mut list = Wire::new(bytes, begin);
            while !list.is_at_end() {
                take(list.varint()?);
            }
        }
        wire::Value::Fixed64(_) | wire::Value::Fixed32(_) => {}
    }
    Ok(())
}

/// Returns an attribute's value; the field number tells its type. Lists have no meaning here.
fn scalar(field: u64, value: wire::Value<'_>) -> Option<Value<'_>> {
    let zigzag = |number: u64| (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
    match (field, value) {
        // `AttributeProto` has a field for each type: odd numbers for values, even ones for lists.
        (3, wire::Value::Fixed64(bits)) => Some(Value::Real(f64::from_bits(bits))),
        (5, wire::Value::Fixed32(bits)) => Some(Value::Real(f32::from_bits(bits).into())),
        (7 | 9 | 11 | 13 | 27, wire::Value::Varint(number)) => {
            Some(Value::Number(number.cast_signed()))
        }
        (15 | 17, wire::Value::Varint(number)) => Some(Value::Number(zigzag(number))),
        (19, wire::Value::Fixed32(bits)) => Some(Value::Number(bits.into())),
        (23, wire::Value::Fixed32(bits)) => Some(Value::Number(bits.cast_signed().into())),
        (21 | 25, wire::Value::Fixed64(bits)) => Some(Value::Number(bits.cast_signed())),
        (29, wire::Value::Bytes(bytes, _)) => std::str::from_utf8(bytes).ok().map(Value::Text),
        _ => None,
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
