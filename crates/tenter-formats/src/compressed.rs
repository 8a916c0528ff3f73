//! Files that may be compressed by gzip, whatever their names are.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::{GzDecoder, MultiGzDecoder};
use tenter_language::units::Budget;

use crate::content::{Buffered, Content, unreadable};
use crate::error::{ImportError, Place};

/// The bytes that every gzip file begins with.
const MAGIC: [u8; 2] = [0x1F, 0x8B];
/// A compressed file may always unpack to this number of bytes …
const BYTES: u64 = 4 << 20;
/// … and to this number more for each stored byte. Traces compress 20 to 50 times, decompression
/// bombs far more.
const BYTES_PER_BYTE: u64 = 100;

/// A compressed file may always have this number of members, each compressed by itself …
const MEMBERS: u64 = 1_000;
/// … and one more for each such stretch of stored bytes. A member takes some microseconds to unpack
/// even if it is empty, so a file with many empty members would take unbounded time.
const BYTES_OF_MEMBER: u64 = 1 << 10;
/// Bytes that are unpacked between two looks at the budget.
const PIECE: u64 = 1 << 20;
/// Bytes that are unpacked in about the time that a unit of work stands for.
const BYTES_PER_UNIT: u64 = 4;

/// Returns true if a file begins as gzip does.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Returns a file's content, unpacked if it is compressed.
///
/// # Errors
/// Damaged data, data that unpack to more than traces do, and memory or time beyond the budget.
pub(crate) fn plain<'b>(bytes: &'b [u8], budget: &Budget) -> Result<Cow<'b, [u8]>, ImportError> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    unpack(bytes, bytes.len() as u64, &mut unpacked, budget)?;
    Ok(Cow::Owned(unpacked))
}

/// A file whose content is known to be readable. A compressed file has been unpacked once to check
/// its limits, which takes far less time than parsing it.
pub(crate) struct Checked<'c, 'b> {
    content: &'c mut Content<'b>,
    is_packed: bool,
    /// Content length in bytes, unpacked.
    pub(crate) length: u64,
}

impl<'c, 'b> Checked<'c, 'b> {
    /// Checks a file and measures its content.
    ///
    /// # Errors
    /// Errors from [`plain`], and a file that cannot be read.
    pub(crate) fn of(
        content: &'c mut Content<'b>,
        budget: &Budget,
    ) -> Result<Checked<'c, 'b>, ImportError> {
        let mut length = content.length();
        let allowed = budget.read(length);
        allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
        let is_packed = is_packed(&content.part(0, MAGIC.len() as u64)?);
        if is_packed {
            length = unpack(content.buffered()?, length, &mut io::sink(), budget)?;
        }
        Ok(Checked {
            content,
            is_packed,
            length,
        })
    }

    /// Opens the content at its beginning. A compressed file is unpacked while it is read.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn open(&mut self) -> Result<Buffered<'_>, ImportError> {
        let stored = self.content.buffered()?;
        if !self.is_packed {
            return Ok(stored);
        }
        let unpacking: Box<dyn Read + '_> = Box::new(MultiGzDecoder::new(stored));
        Ok(BufReader::with_capacity(1 << 16, unpacking))
    }
}

/// Unpacks a file with `length` stored bytes into `to`, and returns its content's length in bytes.
fn unpack(
    mut packed: impl BufRead,
    length: u64,
    to: &mut impl io::Write,
    budget: &Budget,
) -> Result<u64, ImportError> {
    let most = BYTES.saturating_add(BYTES_PER_BYTE.saturating_mul(length));
    let members_most = MEMBERS + length / BYTES_OF_MEMBER;
    let (mut unpacked, mut members) = (0, 0);
    // `MultiGzDecoder` unpacks all members, too, but does not count them.
    while members == 0
        || !packed
            .fill_buf()
            .map_err(|error| not_unpacked(&error))?
            .is_empty()
    {
        members += 1;
        if members > members_most {
            let what = format!("the file has more than {members_most} compressed members");
            return Err(ImportError::new(Place::Byte(0), what, "unpack it first"));
        }
        let mut member = GzDecoder::new(packed);
        loop {
            let piece = io::copy(&mut (&mut member).take(PIECE), to);
            let piece = piece.map_err(|error| not_unpacked(&error))?;
            unpacked += piece;
            if unpacked > most {
                let what = format!("the file unpacks to more than {most} bytes");
                return Err(ImportError::new(Place::Byte(0), what, "unpack it first"));
            }
            let allowed = budget.may_take(unpacked);
            let allowed = allowed.and_then(|()| budget.work(piece / BYTES_PER_UNIT));
            allowed.map_err(|over| ImportError::of(Place::Byte(0), over))?;
            // A short piece is the end of the member: `take` stops early only there.
            if piece < PIECE {
                break;
            }
        }
        // The next member, if any, begins directly behind this one.
        packed = member.into_inner();
    }
    Ok(unpacked)
}

/// Returns the error for damaged compressed data, or for a file that cannot be read.
fn not_unpacked(error: &io::Error) -> ImportError {
    use ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if !matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return unreadable(0, error);
    }
    let what = format!("the compressed data are damaged ({error})");
    ImportError::new(Place::Byte(0), what, "give the whole file")
}
