//! Reader for size distributions: one point on each line.
//!
//! A line has a size in bytes and the share of flows up to that size, with a comma or spaces
//! between them. Shares are percent in files from HPCC's simulation, and fractions in Homa's. Lines
//! with `#`, and a first line that begins with a letter, are comments.

use tenter_language::units::Budget;

use super::matrix::{fields, numbered};
use crate::error::{ImportError, Place};
use crate::limits;

/// Reads size in bytes and cumulative probability (0 to 1) for each point.
///
/// # Errors
/// The first line without two such numbers, or a file without points.
pub fn read(text: &str, budget: &Budget) -> Result<Vec<(u64, f64)>, ImportError> {
    limits::text(text.len(), budget)?;
    let is_named = |line: &str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let mut points = Vec::new();
    for (place, (number, line)) in numbered(text, &["#"]).enumerate() {
        if place == 0 && is_named(line) {
            continue;
        }
        let [size, share] = fields::<2>(number, line, "a size and a cumulative probability")?;
        let wrong = |what: &str, remedy: &str| ImportError::new(Place::Line(number), what, remedy);
        let size = size.parse::<u64>().map_err(|_| {
            let what = format!("`{size}` is no size");
            wrong(&what, "write whole bytes, without a unit")
        })?;
        let share = share.parse::<f64>().ok();
        let share = share.filter(|share| (0.0..=100.0).contains(share));
        let share = share.ok_or_else(|| {
            let remedy = "write a number from 0 to 1, or in the whole file percent";
            wrong("the cumulative probability is none", remedy)
        })?;
        points.push((size, share));
    }
    // Guess: nothing in the file names the unit of shares. The last point is the largest, so the
    // file is in percent if that is above 1.
    if points.last().is_some_and(|(_, last)| *last > 1.0) {
        for (_, share) in &mut points {
            *share /= 100.0;
        }
    }
    if points.is_empty() {
        return Err(ImportError::nothing("give at least one point"));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_out_of_one_or_in_percent() {
        let of_one = read(
            "# Homa\nsize_bytes,cumulative_probability\n50,0\n53,0.25\n99,1\n",
            &Budget::unlimited(),
        );
        assert_eq!(of_one, Ok(vec![(50, 0.0), (53, 0.25), (99, 1.0)]));
        assert_eq!(
            read("0 0\n53 25\n99 100\n", &Budget::unlimited()),
            Ok(vec![(0, 0.0), (53, 0.25), (99, 1.0)])
        );
    }

    #[test]
    fn the_first_bad_line_is_named() {
        let line = |text: &str| read(text, &Budget::unlimited()).expect_err(text).place;
        assert_eq!(line("1,0\n2;1\n"), Place::Line(2));
        assert_eq!(line("1,0\n\n2KB,1\n"), Place::Line(3));
        assert_eq!(line("1,0\n2,101\n"), Place::Line(2));
        assert_eq!(line("1,-1\n"), Place::Line(1));
        assert_eq!(line("1,nan\n"), Place::Line(1));
        assert_eq!(line("size,share\n1,0\nO.5,1\n"), Place::Line(3));
        assert_eq!(line("# nothing\n"), Place::Line(1));
    }
}
