//! Files that may be compressed by gzip, whatever their names.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

use crate::content::{Buffered, Content, unreadable};
use crate::error::{ImportError, Place};

/// What a compressed file begins with.
const MAGIC: [u8; 2] = [0x1F, 0x8B];
/// A file may unpack to so many bytes,
const BYTES: u64 = 4 << 20;
/// and to so many for each byte that it has: traces compress 20 to 50 times.
const BYTES_PER_BYTE: u64 = 100;

/// Whether a file is compressed.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// What a file holds.
///
/// # Errors
/// Damaged data, and data that unpack to more than traces do.
pub(crate) fn plain(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ImportError> {
    if !is_packed(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    unpack(bytes, bytes.len() as u64, &mut unpacked)?;
    Ok(Cow::Owned(unpacked))
}

/// What a file holds, unpacked while it is read where it is compressed, and how many bytes that
/// are.
///
/// # Errors
/// Those of [`plain`], since a compressed file is unpacked once before, which takes far less time
/// than reading it; and when the file cannot be read.
pub(crate) fn unpacked<'c>(
    content: &'c mut Content<'_>,
) -> Result<(Buffered<'c>, u64), ImportError> {
    let length = content.length();
    if !is_packed(&content.part(0, MAGIC.len() as u64)?) {
        return Ok((content.buffered()?, length));
    }
    let unpacked = unpack(content.buffered()?, length, &mut io::sink())?;
    let unpacking: Box<dyn Read + 'c> = Box::new(MultiGzDecoder::new(content.buffered()?));
    Ok((BufReader::with_capacity(1 << 16, unpacking), unpacked))
}

/// Unpacks a file of `length` bytes; gives how many bytes it holds.
fn unpack(packed: impl BufRead, length: u64, to: &mut impl io::Write) -> Result<u64, ImportError> {
    let most = BYTES.saturating_add(BYTES_PER_BYTE.saturating_mul(length));
    let mut unpacking = MultiGzDecoder::new(packed).take(most + 1);
    let unpacked = io::copy(&mut unpacking, to).map_err(|error| not_unpacked(&error))?;
    if unpacked > most {
        let what = format!("the file unpacks to more than {most} bytes");
        return Err(ImportError::new(Place::Byte(0), what, "unpack it first"));
    }
    Ok(unpacked)
}

/// Compressed data are damaged, or the file cannot be read.
fn not_unpacked(error: &io::Error) -> ImportError {
    use ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if !matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return unreadable(0, error);
    }
    let what = format!("the compressed data are damaged ({error})");
    ImportError::new(Place::Byte(0), what, "give the whole file")
}
