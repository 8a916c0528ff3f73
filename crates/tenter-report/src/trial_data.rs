//! A whole trial in memory, as reports and comparisons need it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_explain::UnloadedTimes;
use tenter_record::{CircuitRow, FlowRow, PortRow, QueueRow, SampleRow, Summary, SwitchRow};
use tenter_units::LEDGER_FILE;

use crate::column_scan::{scan, scan_with};
use crate::own_file::{has_own, read_own_text};
use crate::read::rows_if_any;
use crate::trial_files::{CONFIG_FILE, MANIFEST_FILE, SUMMARY_FILE};
use crate::trial_operations::{OperationsOf, read_operations};
use crate::{
    ANSWERS_FILE, Manifest, SEEDS_FILE, SWEEP_FILE, TrialError, read_manifest, read_rows,
    read_summary,
};

/// A data chunk on a queue pair, as far as reports use it. Times are in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Index of the job.
    pub job: u32,
    /// Index of the collective in the job's run order.
    pub collective: u32,
    /// Iteration of the collective.
    pub iteration: u32,
    /// Index of the data chunk within the collective's buffer.
    pub chunk: u32,
    /// Step of the algorithm.
    pub step: u32,
    /// Index of the queue pair among those of the rank pair.
    pub queue_pair: u32,
    /// Rank that sends.
    pub src_rank: u32,
    /// Rank that receives.
    pub dst_rank: u32,
    /// Node index of the sending NIC.
    pub src_host: u32,
    /// Node index of the receiving NIC.
    pub dst_host: u32,
    /// Payload in bytes.
    pub payload_bytes: f64,
    /// When it was posted.
    pub posted: f64,
    /// When its first frame began to leave the NIC.
    pub first_sent: f64,
    /// When its last byte had arrived.
    pub received: f64,
    /// When its acknowledgement reached the sender.
    pub acknowledged: f64,
    /// Frames sent less frames accepted.
    pub frames_delta: f64,
    /// Frames retransmitted.
    pub retransmitted_frames: f64,
    /// How long it was held by its rate.
    pub held_by_rate: f64,
    /// The part of it before its first frame.
    pub held_before_first: f64,
}

/// A port at one sampling instant, as far as reports use it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortSample {
    /// The instant in ns.
    pub time: f64,
    /// Node index.
    pub node: u32,
    /// Port number on the node.
    pub port: u16,
    /// Bytes waiting.
    pub queue_bytes: f64,
    /// The most bytes that waited since the sample before.
    pub queue_high_water_bytes: f64,
    /// Frame bytes sent since the sample before.
    pub tx_bytes: f64,
    /// Whether any class was paused.
    pub paused: bool,
}

/// Everything a trial folder holds.
#[derive(Clone, Debug)]
pub struct TrialData {
    /// The folder.
    pub path: PathBuf,
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `summary.json`.
    pub summary: Summary,
    /// The text of `config.yaml`.
    pub config: String,
    /// The chunks in the order of `flows.parquet`.
    pub chunks: Vec<Chunk>,
    /// `ports.parquet`.
    pub ports: Vec<PortRow>,
    /// `queues.parquet`.
    pub queues: Vec<QueueRow>,
    /// `switches.parquet`.
    pub switches: Vec<SwitchRow>,
    /// The samples in the order of `samples.parquet`.
    pub samples: Vec<PortSample>,
    /// `circuits.parquet`; empty if the fabric has no optical circuit switches.
    pub circuits: Vec<CircuitRow>,
    /// What is drawn of `operations.parquet`; empty without graphs of operations, and before
    /// [`with_operations`](TrialData::with_operations).
    pub operations: Vec<OperationsOf>,
    /// How long chunks take alone in the network of the trial, where its plan is known.
    pub unloaded: Option<Arc<UnloadedTimes>>,
}

impl TrialData {
    /// Reads a trial folder.
    ///
    /// # Errors
    /// When it is not a trial folder, the trial was killed before it could finish, or a file is
    /// damaged.
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

    /// Reads what reports draw of `operations.parquet`, too.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn with_operations(mut self) -> Result<TrialData, TrialError> {
        self.operations = read_operations(&self.path)?;
        Ok(self)
    }

    /// A trial in which nothing happened.
    #[cfg(test)]
    pub(crate) fn empty() -> TrialData {
        TrialData {
            path: PathBuf::new(),
            manifest: Manifest::begin(crate::RunIdentity::default()),
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

    /// The name of the trial: the last part of its folder's name.
    pub fn name(&self) -> String {
        let path = self.path.canonicalize();
        let path = path.as_ref().unwrap_or(&self.path);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

/// The error for a folder without a finished trial.
///
/// # Errors
/// When the folder does not exist, holds trials of several seeds, no trial, or an unfinished one.
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
        Err(TrialError::Io { .. }) => Err(unusable(&no_manifest(folder))),
        Err(damaged) => Err(damaged),
    }
}

/// Why a folder without a manifest is of no use, and the remedy.
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
