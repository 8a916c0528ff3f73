//! Tables that stay readable if the process that writes them is killed.
//!
//! A Parquet file needs its footer, which is written last. A checkpoint writes the footer for the
//! rows so far into a file beside the table. Recovery cuts the table to that length and appends the
//! footer.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::writer::SerializedFileWriter;
use tenter_results::{FlowRow, Row, SampleRow};

use crate::report::claim::take_folder;
use crate::report::own_file::{open_own_with, read_own};
use crate::report::table_groups::TableGroups;
use crate::report::trial_files::{footer_file, table_file};
use crate::report::whole_file::{remove, write_own};
use crate::report::{ParquetTable, TrialError};

impl<R: Row + Clone> ParquetTable<R> {
    /// Writes the rows so far, and the footer for this length into the file beside the table.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn checkpoint(&mut self) -> Result<(), TrialError> {
        let path = self.path().to_owned();
        let Some(writer) = self.write_all_waiting()? else {
            return Ok(());
        };
        let footer = footer(writer).map_err(TrialError::parquet("write", &path))?;
        write_own(&footer_file(&path), |file| file.write_all(&footer))
    }
}

/// Returns the file's length so far in 8 bytes (little-endian), followed by the footer for that
/// length.
fn footer(writer: &mut SerializedFileWriter<File>) -> Result<Vec<u8>, ParquetError> {
    // The length below counts bytes in the file, so none may be left in the writer's buffer.
    writer.flush()?;
    let groups = writer.flushed_row_groups().to_vec();
    let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let created_by = concat!("tenter ", env!("CARGO_PKG_VERSION")).to_owned();
    let schema = Arc::new(writer.schema_descr().clone());
    let file = FileMetaData::new(1, rows, Some(created_by), None, schema, None);
    let metadata = ParquetMetaData::new(file, groups);
    let mut bytes = (writer.bytes_written() as u64).to_le_bytes().to_vec();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish()?;
    Ok(bytes)
}

/// Repairs flow and sample tables after their process was killed, up to the last checkpoint.
///
/// # Errors
/// If the folder is in use, or a file cannot be written.
pub(crate) fn recover_tables(folder: &Path) -> Result<(), TrialError> {
    let _lock = take_folder(folder)?;
    // A table that has its own footer was finished before the kill; its checkpoint is obsolete.
    let is_whole = [
        TableGroups::open::<FlowRow>(folder).is_ok(),
        TableGroups::open::<SampleRow>(folder).is_ok(),
    ];
    let files = [
        table_file::<FlowRow>(folder),
        table_file::<SampleRow>(folder),
    ];
    for (table, is_whole) in files.into_iter().zip(is_whole) {
        if !is_whole {
            recover(&table)?;
        }
        // Last, so that an interrupted recovery can be repeated.
        remove(&footer_file(&table))?;
    }
    Ok(())
}

fn recover(table: &Path) -> Result<(), TrialError> {
    let Ok(beside) = read_own(&footer_file(table)) else {
        return Ok(());
    };
    let Some((length, footer)) = beside.split_first_chunk::<8>() else {
        return Ok(());
    };
    let length = u64::from_le_bytes(*length);
    let append = || -> std::io::Result<()> {
        let mut file = open_own_with(File::options().append(true), table)?;
        if file.metadata()?.len() < length {
            // The system had not yet written all of the rows, so the footer does not fit.
            return Ok(());
        }
        // What follows the checkpoint may be half a row group.
        file.set_len(length)?;
        file.write_all(footer)?;
        file.sync_all()
    };
    append().map_err(TrialError::io("write", table))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::read_rows;

    #[test]
    fn a_table_that_was_cut_has_the_rows_until_its_checkpoint() {
        let folder = std::env::temp_dir().join(format!("tenter-checkpoint-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the test");
        let row = |chunk| FlowRow {
            chunk,
            ..FlowRow::default()
        };
        let path = table_file::<FlowRow>(&folder);
        let mut table = ParquetTable::create(&path, Arc::default()).expect("a table");
        table.append(&[row(1), row(2)]).expect("rows");
        table.checkpoint().expect("a checkpoint");
        table.append(&[row(3)]).expect("a row");
        table.checkpoint().expect("a checkpoint");
        table.append(&[row(4)]).expect("a row");
        // As a killed process leaves it: without the row behind, and with half a footer.
        let bytes = fs::read(&path).expect("the file");
        let beside = fs::read(footer_file(&path)).expect("the footer");
        drop(table);
        fs::write(&path, [bytes.as_slice(), b"half"].concat()).expect("a write");
        fs::write(footer_file(&path), beside).expect("a write");
        assert!(read_rows::<FlowRow>(&folder).is_err());
        recover_tables(&folder).expect("it is recovered");
        let rows: Vec<FlowRow> = read_rows(&folder).expect("it can be read");
        let chunks: Vec<u32> = rows.iter().map(|row| row.chunk).collect();
        assert_eq!(chunks, [1, 2, 3]);
        assert!(!footer_file(&path).exists());
        fs::remove_dir_all(folder).expect("the folder of the test");
    }
}
