//! Detects a measurement file's format.

use super::rows::Measured;
use super::{nccl_tests, own_table, perftest};

impl Measured {
    /// Reads a file: text or JSON from nccl-tests, JSON from perftest, or a CSV table with column
    /// names. A table with several operations yields one value for each.
    ///
    /// # Errors
    /// A sentence with the line, if there is no row with results, or one that makes no sense.
    pub fn parse(name: &str, text: &str) -> Result<Vec<Measured>, String> {
        // Spreadsheets begin CSV files with a byte-order mark.
        let text = text.trim_start_matches('\u{feff}');
        let mut all = if perftest::is_perftest(text) {
            vec![perftest::parse(text)?]
        } else if own_table::is_table(text) {
            own_table::parse(text)?
        } else {
            vec![nccl_tests::parse(text)?]
        };
        for measured in &mut all {
            name.clone_into(&mut measured.name);
            measured.keep_each_size_once();
        }
        if all.iter().all(|measured| measured.rows.is_empty()) {
            return Err("there is no row of results in it: give the output of a program of nccl-tests or what it wrote for -J, the JSON of perftest (--out_json), or a table with a line of names such as `size_bytes,time_us`".to_owned());
        }
        Ok(all)
    }
}
