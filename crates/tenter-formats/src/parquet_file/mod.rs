//! Checks on what the Parquet library takes on trust: lengths and counts in a file's head and in
//! front of its pages. They run before the library reads either.
//!
//! Source: `parquet.thrift` in apache/parquet-format.

mod thrift;

use parquet::file::metadata::ParquetMetaData;

use crate::error::{ImportError, Place};
use thrift::Reader;

/// Last bytes in a file; the head's length stands in the four bytes before.
const MAGIC: &[u8] = b"PAR1";
/// A page may always unpack to this number of bytes …
const PAGE: u64 = 1 << 20;
/// … and to this number more for each stored byte. Snappy makes at most 22 bytes from one.
const PAGE_PER_BYTE: u64 = 32;

fn damaged(at: usize, what: &str) -> ImportError {
    let remedy = "write plain Parquet, compressed by Snappy or not at all, or CSV";
    ImportError::new(Place::Byte(at), what, remedy)
}

/// Refuses a head whose lengths do not fit into the file, and nested columns, which the library
/// follows by recursion.
///
/// # Errors
/// Names the byte at which the head begins.
pub(crate) fn check_head(bytes: &[u8]) -> Result<(), ImportError> {
    let end = bytes.len().saturating_sub(MAGIC.len() + 4);
    let length = bytes.get(end..).and_then(|tail| tail.first_chunk());
    let length = length.map(|word| u32::from_le_bytes(*word) as usize);
    let begin = length.and_then(|length| end.checked_sub(length));
    let Some(begin) = begin.filter(|_| bytes.ends_with(MAGIC)) else {
        return Err(damaged(end, "the table does not end with its head"));
    };
    let head = bytes.get(..end).unwrap_or_default();
    let most = i64::try_from(end - begin).unwrap_or(i64::MAX);
    let (mut roots, mut nested, mut too_many) = (0_u32, false, None);
    let mut visit = |path: &[i16], number: i64| {
        // Path 2, 0, 5 is the child count of a schema element; the first element is the table.
        if path == [2, 0, 5] && number != 0 {
            roots += 1;
            nested |= roots > 1;
            too_many = too_many.or((roots == 1 && number > most).then_some(number));
        }
    };
    let walked = Reader::new(head, begin).structure(&mut Vec::new(), &mut visit);
    if walked.is_none() {
        return Err(damaged(begin, "the head of the table is damaged"));
    }
    if let Some(count) = too_many {
        let what = format!(
            "the head of the table says that it has {count} columns, more than its {most} bytes can hold"
        );
        return Err(damaged(begin, &what));
    }
    if nested {
        return Err(damaged(begin, "columns of the table have columns in them"));
    }
    Ok(())
}

/// Refuses pages that claim to unpack to more than they can, and dictionaries with more values than
/// bytes.
///
/// # Errors
/// Names the byte at which a page begins.
pub(crate) fn check_pages(bytes: &[u8], metadata: &ParquetMetaData) -> Result<(), ImportError> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let start = column.dictionary_page_offset();
            // A dictionary, if there is one, lies in front of the data.
            let start = start.unwrap_or(column.data_page_offset());
            let length = column.compressed_size();
            let range = usize::try_from(start)
                .ok()
                .zip(usize::try_from(length).ok());
            let end = range.and_then(|(start, length)| start.checked_add(length));
            let range = range.map(|(start, _)| start).zip(end);
            let Some((start, end)) = range.filter(|(_, end)| *end <= bytes.len()) else {
                return Err(damaged(0, "a column lies outside of the file"));
            };
            check_column(bytes.get(..end).unwrap_or_default(), start)?;
        }
    }
    Ok(())
}

/// The numbers in front of a page from which lengths follow.
#[derive(Default)]
struct Page {
    unpacked: i64,
    stored: i64,
    values: i64,
}

/// Checks the headers of a column's pages, which begin at byte `at`.
fn check_column(bytes: &[u8], mut at: usize) -> Result<(), ImportError> {
    while at < bytes.len() {
        let mut page = Page::default();
        // Fields 2 and 3 of a page header are its sizes, 7.1 is the value count of a dictionary.
        let mut visit = |path: &[i16], number: i64| match path {
            [2] => page.unpacked = number,
            [3] => page.stored = number,
            [7, 1] => page.values = number,
            _ => {}
        };
        let mut reader = Reader::new(bytes, at);
        let walked = reader.structure(&mut Vec::new(), &mut visit);
        let numbers = [page.unpacked, page.stored, page.values].map(u64::try_from);
        let [Ok(unpacked), Ok(stored), Ok(values)] = numbers else {
            return Err(damaged(at, "a page has a negative length"));
        };
        let behind = usize::try_from(stored).ok();
        let behind = behind.and_then(|stored| reader.at.checked_add(stored));
        let Some(behind) = behind.filter(|end| walked.is_some() && *end <= bytes.len()) else {
            return Err(damaged(at, "a page is longer than its column"));
        };
        if unpacked > PAGE + PAGE_PER_BYTE * stored {
            return Err(damaged(
                at,
                "a page says that it unpacks to more than it can",
            ));
        }
        // A value takes a byte or more; the library would allocate for any count.
        if values > unpacked {
            return Err(damaged(at, "a dictionary has more values than bytes"));
        }
        at = behind;
    }
    Ok(())
}
