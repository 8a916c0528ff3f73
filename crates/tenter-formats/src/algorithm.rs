//! Algorithms of collectives from files, whichever format they have.

use tenter_workload::collective::{self, At, Program, ProgramError};

use crate::error::{ImportError, Place};
use crate::{compressed, msccl, mscclpp};

/// No file is longer, in bytes; those that tools generate have up to some hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

/// An algorithm that has been read and checked, and what is to be said of it.
#[derive(Debug)]
pub struct ReadAlgorithm {
    /// The algorithm.
    pub program: Program,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
}

/// The algorithm of a file: an XML of MSCCL, a JSON plan of MSCCL++, or a text of Tenter.
///
/// # Errors
/// The first thing that is not as the format has it, and what the algorithm does wrong, by lines.
pub fn read(bytes: &[u8]) -> Result<ReadAlgorithm, ImportError> {
    let bytes = compressed::plain(bytes)?;
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
        Some('{') => mscclpp::read(text),
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

/// What is wrong with an algorithm, at a line.
pub(crate) fn of_program(place: Place, error: &ProgramError) -> ImportError {
    let at = error.at.map_or_else(String::new, |at| format!("{at}: "));
    ImportError::new(place, format!("{at}{}", error.what), error.remedy.clone())
}

/// The lines of thread blocks and of their steps.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<((u32, u32), Vec<usize>)>);

impl Lines {
    /// A block of a rank, by its number.
    pub(crate) fn add_block(&mut self, rank: u32, block: u32, line: usize) {
        self.0.push(((rank, block), vec![line]));
    }

    /// The next step of the last block.
    pub(crate) fn add_step(&mut self, line: usize) {
        if let Some((_, lines)) = self.0.last_mut() {
            lines.push(line);
        }
    }

    /// Where a place is written; line 1 where it is the whole file.
    pub(crate) fn place(&self, at: Option<At>) -> Place {
        let found = at.and_then(|at| {
            let (_, lines) = self.0.iter().find(|(of, _)| *of == (at.rank, at.block))?;
            let place = at.step.map_or(0, |step| step as usize + 1);
            lines.get(place).or(lines.first()).copied()
        });
        Place::Line(found.unwrap_or(1))
    }
}
