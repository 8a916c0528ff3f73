//! Algorithms of collectives from files, whichever format they have.

use tenter_units::Budget;
use tenter_workload::collective;

use crate::algorithm::{ReadAlgorithm, of_program};
use crate::error::{ImportError, Place};
use crate::{compressed, msccl, mscclpp};

/// No file is longer, in bytes; those that tools generate have up to some hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

/// The algorithm of a file: an XML of MSCCL, a JSON plan of MSCCL++, or a text of Tenter.
///
/// # Errors
/// The first thing that is not as the format has it, and what the algorithm does wrong, by lines.
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
    let text = text.trim_start_matches('\u{feff}');
    match text.trim_start().chars().next() {
        None => Err(ImportError::nothing("give an algorithm of MSCCL")),
        Some('<') => msccl::read(text),
        Some('{') => mscclpp::read(text, budget),
        Some(_) => own(text),
    }
}

/// A text in Tenter's notation.
fn own(text: &str) -> Result<ReadAlgorithm, ImportError> {
    let read = collective::read_program(text);
    let program = read.map_err(|error| of_program(Place::Line(error.line), &error.error))?;
    Ok(ReadAlgorithm {
        program,
        notes: Vec::new(),
    })
}
