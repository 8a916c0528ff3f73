//! Measured sizes, whatever their file's format.

use std::collections::HashSet;

/// Measured time and bandwidth at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRow {
    /// Size in bytes, as nccl-tests counts it.
    pub size_bytes: u64,
    /// Mean time in µs; `None` where only a message rate was measured.
    pub time_us: Option<f64>,
    /// Bus bandwidth in 10⁹ bytes per second; `None` where it was not measured.
    pub busbw: Option<f64>,
}

/// Measurements for one operation, size by size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// File name, under which tables show the measurement.
    pub name: String,
    /// Operation, by its name in scenarios, if the file names it.
    pub collective: Option<String>,
    /// True if the operation reduces; `None` if the file does not show it.
    pub reduces: Option<bool>,
    /// Bus bandwidth over algorithm bandwidth at the largest size, by which operations and rank
    /// counts can be told apart.
    pub factor: Option<f64>,
    /// Rank count, if the file states it.
    pub ranks: Option<u32>,
    /// Sizes in file order, each once.
    pub rows: Vec<MeasuredRow>,
    /// Notes on what was not read, or raises doubts.
    pub notes: Vec<String>,
}

/// Operations that combine data from several ranks.
const REDUCING: [&str; 3] = ["all-reduce", "reduce-scatter", "reduce"];

impl Measured {
    /// True if the file may be a measurement of `collective`, as far as it shows.
    pub(crate) fn may_be_of(&self, collective: &str) -> bool {
        match (&self.collective, self.reduces) {
            (Some(named), _) => named == collective,
            (None, Some(reduces)) => reduces == REDUCING.contains(&collective),
            (None, None) => true,
        }
    }

    /// Keeps the first row for each size.
    pub(super) fn keep_each_size_once(&mut self) {
        let mut seen = HashSet::new();
        let before = self.rows.len();
        self.rows.retain(|row| seen.insert(row.size_bytes));
        let again = before - self.rows.len();
        if again > 0 {
            self.notes.push(format!(
                "{again} rows have a size that occurs before, and are left out"
            ));
        }
    }

    /// Adds a note that `rows` rows are left out, if any, and why.
    pub(super) fn note_left_out(&mut self, rows: usize, why: &str) {
        if rows > 0 {
            self.notes.push(format!("{rows} rows {why}"));
        }
    }
}

/// Makes a row, or `None` if nothing was measured at its size.
///
/// # Errors
/// A sentence, if the numbers make no sense.
pub(super) fn checked(
    size_bytes: u64,
    time_us: Option<f64>,
    busbw: Option<f64>,
) -> Result<Option<MeasuredRow>, String> {
    let is_sound = |value: f64| value.is_finite() && value >= 0.0;
    if !time_us.is_none_or(|time| is_sound(time) && time <= 1e15) || !busbw.is_none_or(is_sound) {
        let show = |value: Option<f64>| value.map_or("none".to_owned(), |value| value.to_string());
        return Err(format!(
            "a time of {} µs and a bandwidth of {} GB/s for {size_bytes} bytes make no sense",
            show(time_us),
            show(busbw)
        ));
    }
    // nccl-tests also runs sizes that are too small to be divided among the ranks, with nothing to
    // send.
    let is_measured = size_bytes > 0 && time_us != Some(0.0) && (time_us, busbw) != (None, None);
    Ok(is_measured.then_some(MeasuredRow {
        size_bytes,
        time_us,
        busbw,
    }))
}
