//! Files that may be compressed by gzip, whatever their names.

use std::borrow::Cow;
use std::io::{BufReader, Read};

use flate2::read::MultiGzDecoder;

use crate::error::{ImportError, Place};

/// What a compressed file begins with.
const MAGIC: [u8; 2] = [0x1F, 0x8B];
/// A file may unpack to so many bytes,
const BYTES: u64 = 4 << 20;
/// and to so many for each byte that it has: traces compress 20 to 50 times.
const BYTES_PER_BYTE: u64 = 100;

/// A file that is unpacked while it is read.
pub(crate) type Unpacking<'b> = BufReader<MultiGzDecoder<&'b [u8]>>;

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
    read.map_err(|error| damaged(&error))?;
    if unpacked.len() as u64 > most {
        return Err(too_long(most));
    }
    Ok(Cow::Owned(unpacked))
}

/// What a compressed file holds, unpacked while it is read; `None` of one that is not compressed.
///
/// # Errors
/// Those of [`plain`]: a file is unpacked once to see that it may be read, which takes far less
/// time than reading it.
pub(crate) fn unpacking(bytes: &[u8]) -> Result<Option<Unpacking<'_>>, ImportError> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(None);
    }
    let most = BYTES + BYTES_PER_BYTE * bytes.len() as u64;
    let mut all = MultiGzDecoder::new(bytes).take(most + 1);
    let length = std::io::copy(&mut all, &mut std::io::sink());
    if length.map_err(|error| damaged(&error))? > most {
        return Err(too_long(most));
    }
    let unpacking = MultiGzDecoder::new(bytes);
    Ok(Some(BufReader::with_capacity(1 << 16, unpacking)))
}

fn damaged(error: &std::io::Error) -> ImportError {
    let what = format!("the compressed data are damaged ({error})");
    ImportError::new(Place::Byte(0), what, "give the whole file")
}

fn too_long(most: u64) -> ImportError {
    let what = format!("the file unpacks to more than {most} bytes");
    ImportError::new(Place::Byte(0), what, "unpack it first")
}
