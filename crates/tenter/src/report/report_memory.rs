//! Estimates the memory that a report on trials takes.

use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use tenter_formats::guarded;
use tenter_results::{FlowRow, Row, SampleRow};

use crate::report::own_file::{open_own, own_length};
use crate::report::trial_files::{SUMMARY_FILE, table_file};

/// Memory that the program itself takes, in bytes.
const PROCESS: u64 = 15_000_000;
/// Bytes per flow: its data for the timeline and for chains, in a list that has just doubled its
/// capacity.
const FLOW: u64 = 225;
/// Bytes per port sample, in such a list as well.
const SAMPLE: u64 = 120;
/// Bytes per summary byte: its text, and the rows parsed from it.
const SUMMARY_BYTE: u64 = 3;

/// Estimates the peak memory for a report on the trials in `folders`, in bytes. A file that cannot
/// be read counts as 0; reading it will give the reason.
pub fn report_memory_bytes<P: AsRef<Path>>(folders: &[P]) -> u64 {
    let folder = |folder: &P| {
        let folder = folder.as_ref();
        let summary = own_length(&folder.join(SUMMARY_FILE));
        let parts = [
            (rows::<FlowRow>(folder), FLOW),
            (rows::<SampleRow>(folder), SAMPLE),
            (summary, SUMMARY_BYTE),
        ];
        let parts = parts.map(|(count, each)| count.saturating_mul(each));
        parts.into_iter().fold(0, u64::saturating_add)
    };
    folders
        .iter()
        .map(folder)
        // Counts come from footers, which may claim anything, so sums must not wrap.
        .fold(PROCESS, u64::saturating_add)
}

/// Returns the number of rows in a table, from its footer.
fn rows<R: Row>(folder: &Path) -> u64 {
    let file = open_own(&table_file::<R>(folder)).ok();
    let reader = file.and_then(|file| guarded(|| SerializedFileReader::new(file)).ok());
    let rows = reader.map(|reader| reader.metadata().file_metadata().num_rows());
    rows.map_or(0, |rows| u64::try_from(rows).unwrap_or(0))
}
