//! A whole trial in memory, for reports and comparisons.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::explain::UnloadedTimes;
use tenter_language::units::LEDGER_FILE;
use tenter_results::{CircuitRow, FlowRow, PortRow, QueueRow, SampleRow, Summary, SwitchRow};

use crate::report::column_scan::{scan, scan_with};
use crate::report::own_file::{has_own, read_own_text};
use crate::report::read::rows_if_any;
use crate::report::trial_files::{CONFIG_FILE, MANIFEST_FILE, SUMMARY_FILE};
use crate::report::trial_operations::{OperationsOf, read_operations};
use crate::report::{
    ANSWERS_FILE, Manifest, SEEDS_FILE, SWEEP_FILE, TrialError, read_manifest, read_rows,
    read_summary,
};

/// A chunk on a queue pair: the columns in a flow's row that reports use. Times are in ns since the
/// simulation began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Job index in the trial.
    pub job: u32,
    /// Collective index in the job's run order.
    pub collective: u32,
    /// Iteration of the collective, counted from 0.
    pub iteration: u32,
    /// Chunk index within the collective's buffer.
    pub chunk: u32,
    /// Step in the algorithm, from 0.
    pub step: u32,
    /// Queue pair index among those that the rank pair has.
    pub queue_pair: u32,
    /// Rank that sends the chunk.
    pub src_rank: u32,
    /// Rank that receives the chunk.
    pub dst_rank: u32,
    /// Node index of the sending NIC.
    pub src_host: u32,
    /// Node index of the receiving NIC.
    pub dst_host: u32,
    /// Payload in bytes, without headers.
    pub payload_bytes: f64,
    /// Time when the rank posted it.
    pub posted: f64,
    /// Time at which the first frame started to leave the NIC.
    pub first_sent: f64,
    /// Time at which the last byte arrived.
    pub received: f64,
    /// Time at which the acknowledgement reached the sender.
    pub acknowledged: f64,
    /// Frames sent minus frames accepted.
    pub frames_delta: f64,
    /// Frames that were sent again.
    pub retransmitted_frames: f64,
    /// Time held by the rate, in total; 0 in trials by earlier versions.
    pub held_by_rate: f64,
    /// Time held by the rate before the first frame; part of `held_by_rate`.
    pub held_before_first: f64,
}

/// A port at one sampling instant: the columns in a sample's row that reports use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortSample {
    /// Sampling instant, in ns since the simulation began.
    pub time: f64,
    /// Node index in all tables.
    pub node: u32,
    /// Port number at its node.
    pub port: u16,
    /// Bytes that wait at the instant.
    pub queue_bytes: f64,
    /// Most bytes that waited since the previous sample.
    pub queue_high_water_bytes: f64,
    /// Frame bytes sent since the previous sample.
    pub tx_bytes: f64,
    /// True if any class is paused at the instant.
    pub paused: bool,
}

/// Content of a trial folder, in memory.
#[derive(Clone, Debug)]
pub struct TrialData {
    /// Path to the trial folder.
    pub path: PathBuf,
    /// Program, machine and completion, from `manifest.json`.
    pub manifest: Manifest,
    /// Results, from `summary.json`.
    pub summary: Summary,
    /// Effective configuration: the text in `config.yaml`.
    pub config: String,
    /// Chunks in the order in which they ended, as in `flows.parquet`.
    pub chunks: Vec<Chunk>,
    /// Port counters, from `ports.parquet`.
    pub ports: Vec<PortRow>,
    /// Queue counters, from `queues.parquet`.
    pub queues: Vec<QueueRow>,
    /// Switch counters, from `switches.parquet`.
    pub switches: Vec<SwitchRow>,
    /// Samples in time order, as in `samples.parquet`.
    pub samples: Vec<PortSample>,
    /// Circuit changes, from `circuits.parquet`; empty if the fabric has no optical circuit
    /// switches.
    pub circuits: Vec<CircuitRow>,
    /// Operations that are drawn; empty without operation graphs, and before
    /// [`with_operations`](TrialData::with_operations).
    pub operations: Vec<OperationsOf>,
    /// Chunks' times without other traffic; `None` until the caller resolves the trial's plan.
    pub unloaded: Option<Arc<UnloadedTimes>>,
}

impl TrialData {
    /// Reads a trial folder, without operations.
    ///
    /// # Errors
    /// If it is no trial folder, the trial was killed before it could finish, or a file is damaged.
    pub fn read(folder: &Path) -> Result<TrialData, TrialError> {
        check_is_trial(folder)?;
        let config = folder.join(CONFIG_FILE);
        Ok(TrialData {
            path: folder.to_owned(),
            manifest: read_manifest(folder)?,
            summary: read_summary(folder)?,
            config: read_own_text(&config).map_err(TrialError::io("read", &config))?,
            chunks: read_chunks(folder)?,
            ports: read_rows(folder)?,
            queues: read_rows(folder)?,
            switches: read_rows(folder)?,
            samples: read_samples(folder)?,
            circuits: rows_if_any(folder)?,
            operations: Vec::new(),
            unloaded: None,
        })
    }

    /// Reads the rows that reports draw from `operations.parquet`.
    ///
    /// # Errors
    /// If the file is damaged.
    pub(crate) fn with_operations(mut self) -> Result<TrialData, TrialError> {
        self.operations = read_operations(&self.path)?;
        Ok(self)
    }

    /// Returns a trial without any content.
    #[cfg(test)]
    pub(crate) fn empty() -> TrialData {
        TrialData {
            path: PathBuf::new(),
            manifest: Manifest::begin(crate::report::RunIdentity::default()),
            summary: Summary::default(),
            config: String::new(),
            chunks: Vec::new(),
            ports: Vec::new(),
            queues: Vec::new(),
            switches: Vec::new(),
            samples: Vec::new(),
            circuits: Vec::new(),
            operations: Vec::new(),
            unloaded: None,
        }
    }

    /// Returns the trial's name, which is its folder's name.
    pub fn name(&self) -> String {
        let path = self.path.canonicalize();
        let path = path.as_ref().unwrap_or(&self.path);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// Checks that a folder holds a finished trial.
///
/// # Errors
/// If the folder does not exist, or holds several seeds' trials, no trial, or an unfinished one.
pub fn check_is_trial(folder: &Path) -> Result<(), TrialError> {
    let unusable = |reason: &str| TrialError::Unusable {
        path: folder.to_owned(),
        reason: reason.to_owned(),
    };
    if !folder.is_dir() {
        return Err(unusable(
            "there is no such folder; name the folder that `tenter run` printed after `trial`",
        ));
    }
    if has_own(&folder.join(SEEDS_FILE)) {
        return Err(unusable(
            "it holds the trials of several seeds; name one of the folders `seed-…` in it",
        ));
    }
    match read_manifest(folder) {
        Ok(_) if has_own(&folder.join(SUMMARY_FILE)) => Ok(()),
        Ok(_) => Err(unusable(
            "the trial is still running, or was killed before it could finish; run it again",
        )),
        // Err(unusable => No manifest: the message says what the folder may be instead.
        Err(TrialError::Io { .. }) => Err(unusable(&no_manifest(folder))),
        Err(damaged) => Err(damaged),
    }
}

/// Explains why a folder without a manifest cannot be used, with a remedy.
fn no_manifest(folder: &Path) -> String {
    let files = [
        SWEEP_FILE,
        ANSWERS_FILE,
        SEEDS_FILE,
        MANIFEST_FILE,
        LEDGER_FILE,
    ];
    let has_any = |path: &PathBuf| files.iter().any(|file| path.join(file).is_file());
    let within = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut within: Vec<PathBuf> = within.map(|entry| entry.path()).filter(has_any).collect();
    within.sort_unstable();
    match within.first() {
        Some(first) => format!(
            "it is no trial folder (no manifest.json), but holds {} of results; name one of them, for instance {}",
            match within.len() {
                1 => "a folder".to_owned(),
                count => format!("{count} folders"),
            },
            first.display()
        ),
        None if folder.join(LEDGER_FILE).is_file() => "it has the ledger of a sweep and no results, because the sweep is still running or was killed; run the same `tenter sweep` to its end".to_owned(),
        None => "it is no trial folder (no manifest.json); name the folder that `tenter run` printed after `trial`".to_owned(),
    }
}

fn read_chunks(folder: &Path) -> Result<Vec<Chunk>, TrialError> {
    const COLUMNS: [&str; 19] = [
        "job",
        "collective_index",
        "iteration",
        "chunk",
        "step",
        "queue_pair",
        "src_rank",
        "dst_rank",
        "src_host",
        "dst_host",
        "payload_bytes",
        "posted_ns",
        "first_sent_ns",
        "received_ns",
        "acknowledged_ns",
        "frames_delta",
        "retransmitted_frames",
        "held_by_rate_ns",
        "held_before_first_ns",
    ];
    let mut chunks = Vec::new();
    // The last two columns came later than the others.
    scan_with::<FlowRow, 19>(folder, COLUMNS, &COLUMNS[17..], |row| {
        let index = |column: usize| row[column] as u32;
        chunks.push(Chunk {
            job: index(0),
            collective: index(1),
            iteration: index(2),
            chunk: index(3),
            step: index(4),
            queue_pair: index(5),
            src_rank: index(6),
            dst_rank: index(7),
            src_host: index(8),
            dst_host: index(9),
            payload_bytes: row[10],
            posted: row[11],
            first_sent: row[12],
            received: row[13],
            acknowledged: row[14],
            frames_delta: row[15],
            retransmitted_frames: row[16],
            held_by_rate: row[17],
            held_before_first: row[18],
        });
    })?;
    Ok(chunks)
}

fn read_samples(folder: &Path) -> Result<Vec<PortSample>, TrialError> {
    const COLUMNS: [&str; 7] = [
        "time_ns",
        "node",
        "port",
        "queue_bytes",
        "queue_high_water_bytes",
        "tx_bytes",
        "paused_classes",
    ];
    let mut samples = Vec::new();
    scan::<SampleRow, 7>(folder, COLUMNS, |row| {
        samples.push(PortSample {
            time: row[0],
            node: row[1] as u32,
            port: row[2] as u16,
            queue_bytes: row[3],
            queue_high_water_bytes: row[4],
            tx_bytes: row[5],
            paused: row[6] > 0.0,
        });
    })?;
    Ok(samples)
}
