//! Readers for communication matrices: comma-separated values, Matrix Market, and send traces.
//!
//! | ending | content |
//! |---|---|
//! | `.csv` | a row of bytes for each source, or one send per line below a header |
//! | `.mtx` | Matrix Market, coordinate or array, integer or real, general or symmetric |
//! | `.txt` | one send per line: rank, peer, bytes, tag |
//!
//! Source for Matrix Market: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange
//! Formats: Initial Design" (NIST, 1996). A line of awk makes the third form from `dumpi2ascii`'s
//! text; the page on the matrix pattern shows it.

use std::fmt::Write as _;

use tenter_language::units::Budget;

use crate::error::{ImportError, Place};
use crate::limits;

/// Most ranks in a matrix. A dense matrix meets [`SENDS_MAX`] first, above 4,096 ranks.
const RANKS_MAX: u64 = 1 << 20;
/// Most sends in a file. Sends between the same two ranks are added up later, so each counts here.
const SENDS_MAX: usize = 1 << 24;

/// A communication matrix as sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sends {
    /// Rank count; in a list of sends, one more than the highest rank.
    pub ranks: u32,
    /// Source, destination and bytes for each send, in file order, without empty sends and those
    /// from a rank to itself.
    pub sends: Vec<(u32, u32, u64)>,
}

type Read<T> = Result<T, ImportError>;

/// Reads a matrix; `name`'s ending tells its format.
///
/// # Errors
/// The first line that violates the format, or a name with another ending.
pub fn read(name: &str, text: &str, budget: &Budget) -> Read<Sends> {
    limits::text(text.len(), budget)?;
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "csv" => read_csv(text),
        "mtx" => read_matrix_market(text),
        "txt" => read_trace(text),
        _ => Err(error(
            1,
            "the format is not known by the ending of the name".to_owned(),
            "name it `.csv`, `.mtx` or `.txt` for what it is",
        )),
    }
}

/// Writes sends as one word in a scenario: `0 1 65536; 1 0 128`.
pub fn to_word(sends: impl Iterator<Item = (u32, u32, u64)>) -> String {
    let mut word = String::new();
    for (src, dst, bytes) in sends {
        let separator = if word.is_empty() { "" } else { "; " };
        let _ = write!(word, "{separator}{src} {dst} {bytes}");
    }
    word
}

impl Sends {
    fn add(&mut self, line: usize, [src, dst]: [u32; 2], bytes: u64) -> Read<()> {
        // Ranks that send and receive nothing count as ranks all the same.
        self.ranks = self.ranks.max(src + 1).max(dst + 1);
        if bytes > 0 && src != dst {
            if self.sends.len() == SENDS_MAX {
                let what = format!("there are more than {SENDS_MAX} sends");
                return Err(error(line, what, "add those between the same ranks up"));
            }
            self.sends.push((src, dst, bytes));
        }
        Ok(())
    }
}

/// Reads comma-separated values: a square of numbers, or a list of sends below a header.
fn read_csv(text: &str) -> Read<Sends> {
    let mut lines = numbered(text, &["#"]).peekable();
    let Some((_, first)) = lines.peek() else {
        return Err(empty());
    };
    let mut found = Sends::default();
    // Numbers never begin with a letter, so a letter marks the header of a list of sends.
    if first.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let names: Vec<String> = first
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        if names != ["source", "destination", "bytes"] {
            let what = "the first line does not say `source,destination,bytes`".to_owned();
            return Err(error(
                lines.next().map_or(1, |(line, _)| line),
                what,
                SQUARE,
            ));
        }
        for (line, text) in lines.skip(1) {
            let [src, dst, bytes] = fields::<3>(line, text, "source, destination and bytes")?;
            let ends = [rank(line, src, 0)?, rank(line, dst, 0)?];
            found.add(line, ends, whole(line, bytes)?)?;
        }
        return Ok(found);
    }
    let columns = first.split(',').count();
    let mut last = 1;
    for (src, (line, text)) in (0..).zip(lines) {
        let row: Vec<&str> = text.split(',').map(str::trim).collect();
        if src as usize >= columns {
            let what = format!("there are more rows than the {columns} columns");
            return Err(error(line, what, SQUARE));
        }
        if row.len() != columns {
            let what = format!(
                "row {src} has {} numbers, and the first has {columns}",
                row.len()
            );
            return Err(error(line, what, SQUARE));
        }
        for (dst, bytes) in (0..).zip(row) {
            found.add(line, [src, dst], whole(line, bytes)?)?;
        }
        last = line;
        found.ranks = columns as u32;
        if src as usize + 1 == columns {
            // A file with as many rows as columns is complete; 0 marks that no row is missing.
            last = 0;
        }
    }
    if last > 0 {
        let what = format!("there are fewer rows than the {columns} columns");
        return Err(error(last, what, SQUARE));
    }
    Ok(found)
}

const SQUARE: &str = "give a row of bytes for each source, with a number for each destination, or \
                      `source,destination,bytes` in the first line and a send in each other";

/// Reads a Matrix Market file. Rows are sources, columns are destinations.
fn read_matrix_market(text: &str) -> Read<Sends> {
    let header = text.lines().next().unwrap_or_default();
    let words: Vec<String> = header
        .split_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        let what = "it does not begin as a Matrix Market file".to_owned();
        let remedy = "begin with `%%MatrixMarket matrix coordinate integer general`";
        return Err(error(1, what, remedy));
    };
    let known = ["coordinate", "array"].contains(&layout)
        && ["integer", "real"].contains(&field)
        && ["general", "symmetric"].contains(&symmetry);
    if !known {
        let what = format!("a matrix that is `{layout} {field} {symmetry}` has no bytes for pairs");
        let remedy = "use `coordinate` or `array`, `integer` or `real`, `general` or `symmetric`";
        return Err(error(1, what, remedy));
    }
    let mut lines = numbered(text, &["%"]);
    let Some((line, sizes)) = lines.next() else {
        let what = "the line with the size of the matrix is missing".to_owned();
        return Err(error(1, what, "write rows, columns and entries"));
    };
    let symmetric = symmetry == "symmetric";
    if layout == "array" {
        let [rows, columns] = fields::<2>(line, sizes, "rows and columns")?;
        let ranks = square(line, rows, columns)?;
        return read_array(lines, line, ranks, symmetric);
    }
    let [rows, columns, entries] = fields::<3>(line, sizes, "rows, columns and entries")?;
    let ranks = square(line, rows, columns)?;
    let entries = whole(line, entries)?;
    let (mut found, mut count, mut last) = (Sends::default(), 0, line);
    for (line, text) in lines {
        let [src, dst, bytes] = fields::<3>(line, text, "row, column and bytes")?;
        // Matrix Market counts rows and columns from 1.
        let ends @ [src, dst] = [rank(line, src, 1)?, rank(line, dst, 1)?];
        if src.max(dst) >= ranks {
            let what = format!("entry ({}, {}) is outside of the matrix", src + 1, dst + 1);
            return Err(error(line, what, "rows and columns count from 1"));
        }
        let bytes = number(line, bytes)?;
        found.add(line, ends, bytes)?;
        // Files of symmetric matrices have the lower triangle only; each entry stands for its
        // mirror too.
        if symmetric && src != dst {
            found.add(line, [dst, src], bytes)?;
        }
        (count, last) = (count + 1, line);
    }
    // The declared count shows when a file has been cut.
    if count != entries {
        let what = format!("there are {count} entries, and the size says {entries}");
        return Err(error(last, what, "correct the one or the other"));
    }
    found.ranks = ranks;
    Ok(found)
}

/// Reads numbers column by column; a symmetric matrix has those on and below its diagonal.
fn read_array<'t>(
    lines: impl Iterator<Item = (usize, &'t str)>,
    mut last: usize,
    ranks: u32,
    symmetric: bool,
) -> Read<Sends> {
    let mut found = Sends::default();
    let places = (0..ranks).flat_map(|dst| {
        let first = if symmetric { dst } else { 0 };
        (first..ranks).map(move |src| (src, dst))
    });
    let mut places = places.peekable();
    for (line, text) in lines {
        let Some((src, dst)) = places.next() else {
            let what = "there are more numbers than places in the matrix".to_owned();
            return Err(error(line, what, "correct the size, or leave them out"));
        };
        let bytes = number(line, text)?;
        found.add(line, [src, dst], bytes)?;
        // The file has one half of a symmetric matrix; a number on the diagonal has no other half.
        if symmetric && src != dst {
            found.add(line, [dst, src], bytes)?;
        }
        last = line;
    }
    if let Some((src, dst)) = places.next() {
        let what = format!("entry ({}, {}) is missing", src + 1, dst + 1);
        return Err(error(last, what, "give a number for each place"));
    }
    found.ranks = ranks;
    Ok(found)
}

/// Reads a trace with one send per line.
fn read_trace(text: &str) -> Read<Sends> {
    let mut found = Sends::default();
    for (line, text) in numbered(text, &["#"]) {
        let [src, dst, bytes, tag] = fields::<4>(line, text, "rank, peer, bytes and tag")?;
        // The tag only proves the form of the line: a matrix adds up bytes, whatever their tags.
        if tag.parse::<i64>().is_err() {
            let what = format!("the tag `{tag}` is no number");
            return Err(error(line, what, "write rank, peer, bytes and tag"));
        }
        let ends = [rank(line, src, 0)?, rank(line, dst, 0)?];
        found.add(line, ends, whole(line, bytes)?)?;
    }
    if found.ranks == 0 {
        return Err(empty());
    }
    Ok(found)
}

/// Iterates over the lines that are neither blank nor comments, with their numbers from 1.
pub(super) fn numbered<'t>(
    text: &'t str,
    comments: &'t [&'t str],
) -> impl Iterator<Item = (usize, &'t str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines
        .filter(|(_, line)| !line.is_empty() && !comments.iter().any(|mark| line.starts_with(mark)))
}

/// Splits a line into exactly `N` words with commas or spaces between them. `names` lists the words
/// for the error.
pub(super) fn fields<'t, const N: usize>(
    line: usize,
    text: &'t str,
    names: &str,
) -> Read<[&'t str; N]> {
    let words = text.split(|c: char| c == ',' || c.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let count = words.len();
    words.try_into().map_err(|_| {
        let what = match count {
            1 => format!("has 1 field, not {names}"),
            _ => format!("has {count} fields, not {names}"),
        };
        error(line, what, "write them with commas or spaces between them")
    })
}

/// Reads a rank. The lowest number in the file is `first`: 0, or 1 in Matrix Market.
fn rank(line: usize, word: &str, first: u32) -> Read<u32> {
    let found = word.parse::<u64>().ok();
    let found = found.and_then(|number| number.checked_sub(u64::from(first)));
    let found = found.filter(|number| *number < RANKS_MAX);
    found.map(|rank| rank as u32).ok_or_else(|| {
        let what = format!("`{word}` is no rank");
        let most = RANKS_MAX - 1 + u64::from(first);
        error(line, what, &format!("ranks go from {first} to {most}"))
    })
}

/// Reads bytes as a whole number.
fn whole(line: usize, word: &str) -> Read<u64> {
    let found = word.parse::<u64>().ok().filter(|bytes| *bytes <= 1 << 50);
    found.ok_or_else(|| {
        let what = format!("`{word}` is no number of bytes");
        error(line, what, "write a whole number of bytes, 2^50 at most")
    })
}

/// Reads bytes as a number that may have a decimal point or an exponent, and rounds it.
fn number(line: usize, word: &str) -> Read<u64> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return whole(line, word);
    }
    let found = word.parse::<f64>().ok();
    let found = found.filter(|bytes| (0.0..=(1_u64 << 50) as f64).contains(bytes));
    found.map(|bytes| bytes.round() as u64).ok_or_else(|| {
        let what = format!("`{word}` is no number of bytes");
        error(line, what, "write a number from 0 to 2^50")
    })
}

/// Reads row and column counts, which must agree.
fn square(line: usize, rows: &str, columns: &str) -> Read<u32> {
    let sizes = [rows, columns].map(|word| word.parse::<u64>().ok());
    match sizes {
        [Some(rows), Some(columns)] if rows == columns && (1..=RANKS_MAX).contains(&rows) => {
            Ok(rows as u32)
        }
        _ => {
            let what = format!("a matrix of {rows} rows and {columns} columns is not one of ranks");
            let remedy = format!("give as many rows as columns, {RANKS_MAX} at most");
            Err(error(line, what, &remedy))
        }
    }
}

fn empty() -> ImportError {
    ImportError::nothing("give at least one send")
}

fn error(line: usize, what: String, remedy: &str) -> ImportError {
    ImportError::new(Place::Line(line), what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sends(name: &str, text: &str) -> (u32, Vec<(u32, u32, u64)>) {
        let found = read(name, text, &Budget::unlimited())
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        (found.ranks, found.sends)
    }

    #[test]
    fn every_format_says_the_same() {
        let expected = (3, vec![(0, 1, 10), (0, 2, 20), (2, 0, 5)]);
        let dense = "# a comment\n0, 10, 20\n0,0,0\n\n5,0,7\n";
        assert_eq!(sends("a.csv", dense), expected);
        let listed = "source,destination,bytes\n0,1,10\n0,2,20\n2,0,5\n1,1,9\n";
        assert_eq!(sends("a.CSV", listed), expected);
        let market = "%%MatrixMarket matrix coordinate integer general\n% comment\n3 3 3\n1 2 10\n1 3 20\n3 1 5\n";
        assert_eq!(sends("a.mtx", market), expected);
        let array =
            "%%MatrixMarket matrix array real general\n3 3\n0\n0\n5.2\n10\n0\n0\n2e1\n0\n0\n";
        let (ranks, mut found) = sends("a.mtx", array);
        found.sort_unstable();
        assert_eq!((ranks, found), expected);
        let trace = "# rank peer bytes tag\n0 1 4 77\n0 1 6 78\n0,2,20,0\n2 0 5 -1\n";
        let mut all = expected.1;
        all.splice(0..1, [(0, 1, 4), (0, 1, 6)]);
        assert_eq!(sends("a.txt", trace), (3, all));
    }

    #[test]
    fn symmetric_matrices_have_both_halves() {
        let market = "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 10\n3 3 4\n";
        assert_eq!(sends("a.mtx", market), (3, vec![(1, 0, 10), (0, 1, 10)]));
        let array = "%%MatrixMarket matrix array integer symmetric\n2 2\n0\n7\n0\n";
        assert_eq!(sends("a.mtx", array), (2, vec![(1, 0, 7), (0, 1, 7)]));
    }

    #[test]
    fn words_of_scenarios_hold_the_same() {
        let found = read("a.csv", "0,10\n3,0\n", &Budget::unlimited()).unwrap();
        let word = to_word(found.sends.iter().copied());
        assert_eq!(word, "0 1 10; 1 0 3");
    }

    fn refused(cases: &[(&str, &str, usize, &str)]) {
        for &(name, text, line, what) in cases {
            let error = read(name, text, &Budget::unlimited()).expect_err(what);
            assert_eq!(error.place, Place::Line(line), "{error:?}");
            assert!(error.what.contains(what), "{error:?}");
            assert!(!error.remedy.is_empty());
        }
    }

    #[test]
    fn mistakes_name_their_line() {
        refused(&[
            ("a.dat", "x", 1, "not known by the ending"),
            ("a.csv", "", 1, "nothing in it"),
            ("a.csv", "0,1\n2\n", 2, "row 1 has 1 numbers"),
            (
                "a.csv",
                "0,1\n2,0\n0,0\n",
                3,
                "more rows than the 2 columns",
            ),
            (
                "a.csv",
                "0,1,2\n\n2,0,1\n",
                3,
                "fewer rows than the 3 columns",
            ),
            ("a.csv", "0,1\n2,-3\n", 2, "`-3` is no number of bytes"),
            (
                "a.csv",
                "source,destination,bytes\n0,1\n",
                2,
                "has 2 fields, not source",
            ),
            (
                "a.csv",
                "Source, destination, bytes\n0,x,1\n",
                2,
                "`x` is no rank",
            ),
            ("a.mtx", "3 3 1\n", 1, "does not begin as"),
        ]);
    }

    #[test]
    fn mistakes_in_matrix_market_files_name_their_line() {
        let header = "%%MatrixMarket matrix coordinate integer general\n";
        refused(&[
            (
                "a.mtx",
                "%%MatrixMarket matrix coordinate complex general\n",
                1,
                "complex",
            ),
            ("a.mtx", header, 1, "size of the matrix is missing"),
            (
                "a.mtx",
                &format!("{header}2 3 1\n1 2 3\n"),
                2,
                "2 rows and 3 columns",
            ),
            (
                "a.mtx",
                &format!("{header}2 2 1\n1 3 3\n"),
                3,
                "outside of the matrix",
            ),
            (
                "a.mtx",
                &format!("{header}2 2 1\n0 1 3\n"),
                3,
                "`0` is no rank",
            ),
            (
                "a.mtx",
                &format!("{header}2 2 5\n1 2 3\n"),
                3,
                "the size says 5",
            ),
            (
                "a.mtx",
                "%%MatrixMarket matrix array integer general\n2 2\n0\n1\n",
                4,
                "missing",
            ),
            (
                "a.csv",
                "destination,source,bytes\n0,1,1\n",
                1,
                "does not say",
            ),
            ("a.txt", "0 1 5\n", 1, "has 3 fields, not rank, peer"),
            ("a.txt", "0 1 5 tag\n", 1, "the tag `tag`"),
        ]);
    }
}
