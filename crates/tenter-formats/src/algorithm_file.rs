//! Reader for collective algorithms in any supported format.

use tenter_language::units::Budget;
use tenter_workload::collective;

use crate::algorithm::{ReadAlgorithm, of_program};
use crate::error::{ImportError, Place};
use crate::{compressed, msccl, mscclpp};

/// Longest unpacked file, in bytes. Files that tools generate have up to some hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

/// Reads an algorithm: an MSCCL XML, a JSON plan for MSCCL++, or a text in Tenter's notation. The
/// first character tells the format; files may be compressed.
///
/// # Errors
/// The first line that violates the format, or the algorithm's first mistake.
pub fn read(bytes: &[u8], budget: &Budget) -> Result<ReadAlgorithm, ImportError> {
    let bytes = compressed::plain(bytes, budget)?;
    if bytes.len() > BYTES_MAX {
        let what = format!("the file has more than {BYTES_MAX} bytes");
        return Err(ImportError::new(
            Place::Byte(BYTES_MAX),
            what,
            "give a smaller file",
        ));
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let place = Place::Byte(error.valid_up_to());
        ImportError::new(
            place,
            "the text is not UTF-8",
            "save it with UTF-8 encoding",
        )
    })?;
    // Some editors put a byte order mark in front of UTF-8, which is no white space for `trim`.
    let text = text.trim_start_matches('\u{feff}');
    match text.trim_start().chars().next() {
        None => Err(ImportError::nothing("give an algorithm of MSCCL")),
        Some('<') => msccl::read(text),
        Some('{') => mscclpp::read(text, budget),
        Some(_) => own(text),
    }
}

/// Reads a text in Tenter's own notation.
fn own(text: &str) -> Result<ReadAlgorithm, ImportError> {
    let read = collective::read_program(text);
    let program = read.map_err(|error| of_program(Place::Line(error.line), &error.error))?;
    Ok(ReadAlgorithm {
        program,
        notes: Vec::new(),
    })
}
