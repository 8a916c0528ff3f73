//! Algorithms of collectives, and the lines of files that they come from.

use tenter_workload::collective::{At, Program, ProgramError};

use crate::error::{ImportError, Place};

/// An algorithm that has been read and checked, and what is to be said of it.
#[derive(Debug)]
pub struct ReadAlgorithm {
    /// The algorithm.
    pub program: Program,
    /// What was left out or is noteworthy, a sentence each.
    pub notes: Vec<String>,
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
