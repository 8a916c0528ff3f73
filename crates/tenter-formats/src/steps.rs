//! Reader and writer for collective steps: one line for each, below a header.
//!
//! A line has the sending rank, its peer, whole bytes, and the steps that must have arrived before,
//! by their places from 0 with spaces between them: `2,3,65536,0 1`. The last field may be left
//! out. Lines that begin with `#` are comments.

use std::fmt::Write as _;

use tenter_language::units::Budget;

use super::matrix::numbered;
use crate::error::{ImportError, Place};
use crate::limits;

/// The header line, which names the fields.
const HEADING: &str = "rank,peer,bytes,after";

/// One transfer in a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Rank that sends, from 0.
    pub rank: u32,
    /// Rank that receives, from 0.
    pub peer: u32,
    /// Payload in bytes; headers come on top.
    pub bytes: u64,
    /// Steps that must have arrived at `rank` before, by their places in the file.
    pub after: Vec<u32>,
}

/// Reads a file's steps.
///
/// # Errors
/// The first line that is no step, or a file without steps.
pub fn read(text: &str, budget: &Budget) -> Result<Vec<Step>, ImportError> {
    limits::text(text.len(), budget)?;
    let is_heading = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut steps = Vec::new();
    for (place, (number, line)) in numbered(text, &["#"]).enumerate() {
        if place == 0 && is_heading(line) {
            continue;
        }
        let wrong = |what: String| {
            let remedy =
                format!("write whole numbers as in `{HEADING}`, for example `2,3,65536,0 1`");
            ImportError::new(Place::Line(number), what, remedy)
        };
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let ([rank, peer, bytes] | [rank, peer, bytes, _]) = fields.as_slice() else {
            return Err(wrong(format!(
                "there are {} fields in place of 3 or 4",
                fields.len()
            )));
        };
        let whole = |word: &str| {
            word.parse::<u64>()
                .map_err(|_| wrong(format!("`{word}` is no number")))
        };
        let small = |word: &str| {
            let number = u32::try_from(whole(word)?);
            number.map_err(|_| wrong(format!("`{word}` is too large")))
        };
        let after = fields
            .get(3)
            .copied()
            .unwrap_or_default()
            .split_whitespace();
        steps.push(Step {
            rank: small(rank)?,
            peer: small(peer)?,
            bytes: whole(bytes)?,
            after: after.map(small).collect::<Result<_, _>>()?,
        });
    }
    if steps.is_empty() {
        return Err(ImportError::nothing("give at least one step"));
    }
    Ok(steps)
}

/// Writes a file with steps.
pub fn write(steps: impl Iterator<Item = Step>) -> String {
    let mut text = format!("{HEADING}\n");
    for Step {
        rank,
        peer,
        bytes,
        after,
    } in steps
    {
        let after: Vec<String> = after.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "{rank},{peer},{bytes},{}", after.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_are_written() {
        let text = "rank,peer,bytes,after\n0,1,65536,\n# and back\n1,0,7,0\n2,0,1\n";
        let steps = read(text, &Budget::unlimited()).expect("they are steps");
        let ends: Vec<_> = steps
            .iter()
            .map(|of| (of.rank, of.peer, of.bytes))
            .collect();
        assert_eq!(ends, [(0, 1, 65_536), (1, 0, 7), (2, 0, 1)]);
        assert_eq!(steps[1].after, [0]);
        assert_eq!(
            read(&write(steps.iter().cloned()), &Budget::unlimited()),
            Ok(steps)
        );
    }

    #[test]
    fn other_lines_are_refused_by_their_numbers() {
        for (text, line, what) in [
            ("0,1\n", 1, "there are 2 fields"),
            ("rank,peer,bytes\n0,1,4KiB\n", 2, "`4KiB` is no number"),
            ("0,1,1\n0,5000000000,1\n", 2, "too large"),
            ("0,1,1,x\n", 1, "`x` is no number"),
            ("", 1, "nothing in it"),
        ] {
            let error = read(text, &Budget::unlimited()).expect_err(what);
            assert_eq!(error.place, Place::Line(line));
            assert!(error.what.contains(what), "{}", error.what);
        }
    }
}
