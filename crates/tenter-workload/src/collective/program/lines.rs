//! Line numbers for the steps in an algorithm's text.

use super::error::At;

/// Lines in which thread blocks and their steps are written, counted from 1.
#[derive(Debug, Default)]
pub struct Lines(Vec<((u32, u32), Vec<usize>)>);

impl Lines {
    /// Notes the line on which a thread block is written.
    pub fn add_block(&mut self, rank: u32, block: u32, line: usize) {
        self.0.push(((rank, block), vec![line]));
    }

    /// Notes the line on which the next step in the last block is written.
    pub fn add_step(&mut self, line: usize) {
        if let Some((_, lines)) = self.0.last_mut() {
            lines.push(line);
        }
    }

    /// Returns the line of a place, or line 1 for the whole file.
    pub fn line(&self, at: Option<At>) -> usize {
        let found = at.and_then(|at| {
            let (_, lines) = self.0.iter().find(|(of, _)| *of == (at.rank, at.block))?;
            let place = at.step.map_or(0, |step| step as usize + 1);
            lines.get(place).or(lines.first()).copied()
        });
        found.unwrap_or(1)
    }
}
