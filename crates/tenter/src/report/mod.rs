//! Trials on disk and on screen: trial folders, and the tables that people read.
//!
//! A [`TrialFolder`] receives rows while a trial runs and is finished with its summary;
//! [`read_summary`], [`read_manifest`] and [`read_rows`] read a folder. A [`TrialReport`] turns a
//! summary into text, [`explanation_text`] an explanation. Nothing here prints.

mod answers;
mod asked;
mod capture;
mod chain;
mod check;
mod checkpoint;
mod checksum;
mod circuits;
mod claim;
mod column_scan;
mod compare;
mod compare_tables;
mod csv;
mod deviations;
mod drawings;
mod error;
mod explanation;
mod folder_tables;
mod free_table;
mod manifest;
mod measured;
mod memory;
mod nccl_tests;
mod numbers;
mod own_file;
mod paired_compare;
mod pairing;
mod parquet_table;
mod pictures;
#[cfg(test)]
mod planted;
mod quantity;
mod read;
mod records;
mod report_memory;
mod seed_folder;
mod seeds;
mod span;
mod sweep_numbers;
mod table;
mod table_groups;
mod text_table;
mod time_unit;
mod trace;
mod trace_events;
mod trace_operations;
mod tree;
mod trial_data;
mod trial_files;
mod trial_folder;
mod trial_operations;
mod trial_tables;
mod utc;
mod whole_file;

pub(crate) use answers::SWEEP_FILE;
pub use answers::{ANSWERS_FILE, read_answers};
pub use asked::{
    AskedFolder, AskedRecords, AskedTrial, NamedAnswer, answer_columns, answer_csv, answer_rows,
    answer_table,
};
pub use chain::{Cause, Chain, Known, Link};
pub use check::{Soundness, check_files};
pub(crate) use checkpoint::recover_tables;
pub use checksum::FileSum;
pub use claim::{claim_free_folder, take_folder};
pub use compare::{NamedSummary, comparison_groups, comparison_rows, mixed_levels, remarks};
pub use compare_tables::comparison_table;
pub use csv::{csv, csv_field};
pub use deviations::{Beside, add_measured, deviation_table};
pub use drawings::{Drawn, DrawnLine, study_drawings};
pub use error::TrialError;
pub use explanation::{cost_text, explanation_text};
pub use folder_tables::FolderTables;
pub(crate) use free_table::{FreeColumn, FreeTable};
pub use manifest::{Machine, Manifest, RunIdentity, peak_rss_bytes};
pub use measured::{Measured, MeasuredRow, collective_of_program};
pub use memory::available_memory_bytes;
pub use nccl_tests::{BenchDevice, BenchReport, BenchRow, BenchStep};
pub use numbers::{band_text, binary_size, duration_s, grouped, has_lower_end, si};
pub use own_file::{OWN_FILE_REMEDY, below, has_own, open_own};
pub use paired_compare::{NamedRecord, paired_rows, paired_sections, paired_table};
pub use parquet_table::ParquetTable;
pub(crate) use parquet_table::{DIGEST_NOTE, SEED_NOTE};
pub use pictures::{
    HeldUp, Picture, PictureGroup, held_up, measured_group, pictures, pictures_together,
    recorded_picture,
};
pub use quantity::axis_numbers;
pub(crate) use read::finished_trial;
pub use read::{read_counts, read_manifest, read_notes, read_rows, read_summary};
pub use records::{SeedsFolder, read_seeds, read_sweep, seeds_record};
pub use report_memory::report_memory_bytes;
pub(crate) use seed_folder::{clear_seeds, seed_folder};
pub use seed_folder::{seed_folders, takes_seeds};
pub use seeds::seed_table;
pub(crate) use seeds::{SEEDS_FILE, seed_rows, write_seed_rows};
pub use span::Span;
pub use sweep_numbers::{BestVariant, ShownCell, ShownReading, shown_reading};
pub use table::{
    CaptionedTable, Fact, Format, Section, Tile, TrialReport, facts, printed_time, sections, tiles,
};
pub use table_groups::TableGroups;
pub use text_table::{Align, TextColumn, TextTable};
pub use trace::{TraceLimits, write_trace};
pub use trial_data::{Chunk, PortSample, TrialData, check_is_trial};
pub use trial_files::{CONFIG_FILE, MANIFEST_FILE, TRACE_FILE, links_in};
pub(crate) use trial_folder::remove_trial;
pub use trial_folder::{TrialFolder, replace_counts};
pub use trial_operations::{OperationsOf, Recorded, Spans};
pub use trial_tables::TrialTable;
pub(crate) use whole_file::write_shared;
pub use whole_file::{is_written, write_whole, write_whole_with};
