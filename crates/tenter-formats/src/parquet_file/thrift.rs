//! A walk over structures in Thrift's compact encoding.
//!
//! Source: the compact protocol's specification in apache/thrift.

/// Called for each whole number with the field numbers on the path to it, and its value. An item of
/// a list has field number 0.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&[i16], i64);

/// Deepest nesting; structures in Parquet are half as deep.
const DEPTH_MAX: usize = 16;

/// Bytes and the position in them.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], at: usize) -> Reader<'b> {
        Reader { bytes, at }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn skip(&mut self, length: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        self.at = end;
        (end <= self.bytes.len()).then_some(())
    }

    /// Walks over a structure. Returns `None` if a length in it exceeds the bytes, or if it is
    /// nested too deeply.
    pub(super) fn structure(&mut self, path: &mut Vec<i16>, visit: Visit<'_>) -> Option<()> {
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            // A field number is stored as the step from the one before, or in full behind a step of
            // 0.
            field = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).ok()?,
                step => field.checked_add(i16::from(step))?,
            };
            path.push(field);
            // The type of a flag is its value, so no byte follows.
            if !matches!(head & 15, 1 | 2) {
                self.value(head & 15, path, &mut *visit)?;
            }
            path.pop();
        }
    }

    /// Walks over a value; `kind` is its type in the encoding.
    fn value(&mut self, kind: u8, path: &mut Vec<i16>, visit: Visit<'_>) -> Option<()> {
        if path.len() > DEPTH_MAX {
            return None;
        }
        match kind {
            // In a list a flag takes a byte.
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.zigzag()?;
                visit(path, number);
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(path, visit),
            12 => self.structure(path, visit),
            _ => None,
        }
    }

    /// Walks over a list or set.
    fn list(&mut self, path: &mut Vec<i16>, visit: Visit<'_>) -> Option<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        // Each item takes a byte or more, so a larger count is damaged.
        if count > (self.bytes.len() - self.at.min(self.bytes.len())) as u64 {
            return None;
        }
        path.push(0);
        for _ in 0..count {
            self.value(head & 15, path, &mut *visit)?;
        }
        path.pop();
        Some(())
    }
}
