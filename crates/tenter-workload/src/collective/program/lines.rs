//! Where the steps of an algorithm are written.

use super::error::At;

/// The lines of thread blocks and of their steps in a text, from 1.
#[derive(Debug, Default)]
pub struct Lines(Vec<((u32, u32), Vec<usize>)>);

impl Lines {
    /// A block of a rank, by its number.
    pub fn add_block(&mut self, rank: u32, block: u32, line: usize) {
        self.0.push(((rank, block), vec![line]));
    }

    /// The next step of the last block.
    pub fn add_step(&mut self, line: usize) {
        if let Some((_, lines)) = self.0.last_mut() {
            lines.push(line);
        }
    }

    /// Where a place is written; line 1 where it is the whole file.
    pub fn line(&self, at: Option<At>) -> usize {
        let found = at.and_then(|at| {
            let (_, lines) = self.0.iter().find(|(of, _)| *of == (at.rank, at.block))?;
            let place = at.step.map_or(0, |step| step as usize + 1);
            lines.get(place).or(lines.first()).copied()
        });
        found.unwrap_or(1)
    }
}
