//! Files that may be compressed by gzip, whatever their names.

use std::borrow::Cow;
use std::io::{BufReader, Read, Take};

use flate2::read::MultiGzDecoder;

use crate::error::{ImportError, Place};

/// What a compressed file begins with.
const MAGIC: [u8; 2] = [0x1F, 0x8B];
/// A file may unpack to so many bytes,
const BYTES: u64 = 64 << 20;
/// and to so many for each byte that it has: traces compress 20 to 50 times.
const BYTES_PER_BYTE: u64 = 200;

/// What a file holds.
///
/// # Errors
/// Damaged data, and data that unpack to more than traces do.
pub(crate) fn plain(bytes: &[u8]) -> Result<Cow<'_, [u8]>, ImportError> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(bytes));
    }
    let most = BYTES + BYTES_PER_BYTE * bytes.len() as u64;
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(most + 1)
        .read_to_end(&mut unpacked);
    if let Err(error) = read {
        let what = format!("the compressed data are damaged ({error})");
        return Err(ImportError::new(
            Place::Byte(0),
            what,
            "give the whole file",
        ));
    }
    if unpacked.len() as u64 > most {
        let what = format!("the file unpacks to more than {most} bytes");
        return Err(ImportError::new(Place::Byte(0), what, "unpack it first"));
    }
    Ok(Cow::Owned(unpacked))
}

/// What a file holds, unpacked while it is read; it ends early where it unpacks to more than traces
/// do.
pub(crate) fn unpacking(bytes: &[u8]) -> Option<BufReader<Take<MultiGzDecoder<&[u8]>>>> {
    let most = BYTES + BYTES_PER_BYTE * bytes.len() as u64;
    let packed = bytes.starts_with(&MAGIC);
    packed.then(|| BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes).take(most)))
}
