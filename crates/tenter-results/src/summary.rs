//! `summary.json`: a trial's results at a glance.

use serde::{Deserialize, Deserializer, Serialize};
use tenter_language::units::Time;

use crate::column::{Cell, Kind, Value, rows};
use crate::flow_sizes::FlowSizeRow;
use crate::inference::{InferencePoolRow, InferenceRow};
use crate::interference::InterferenceRow;
use crate::notes::Notes;
use crate::operations::CriticalShareRow;
use crate::power::PowerRow;
use crate::rows::{CollectiveRow, JobRow};
use crate::training::TrainingStepRow;

/// A trial's results: jobs, totals, notes, and the engine's run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Tenter version that ran the trial.
    pub tenter_version: String,
    /// Scenario name; may be empty.
    pub scenario: String,
    /// Seed for all random streams.
    pub seed: u64,
    /// True if every job completed.
    pub complete: bool,
    /// Reason why the trial ended early; `None` if it did not.
    pub stopped: Option<String>,
    /// Cause for an early end; also missing in trials from earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StopKind>,
    /// Jobs in the scenario's order.
    pub jobs: Vec<JobSummary>,
    /// Slowdown that jobs cause each other, if the run measured it.
    #[serde(default)]
    pub interference: Vec<InterferenceRow>,
    /// Flow workloads' completion times: for each such job all flows, then flows by size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow_sizes: Vec<FlowSizeRow>,
    /// Operation graphs' critical paths, if operations are recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical_shares: Vec<CriticalShareRow>,
    /// Training steps, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub training_steps: Vec<TrainingStepRow>,
    /// Inferences, if there are any: an iteration's requests together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inference: Vec<InferenceRow>,
    /// Pools of these inferences, one row for each iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inference_pools: Vec<InferencePoolRow>,
    /// Sums over the whole fabric.
    pub totals: Totals,
    /// The fabric's power, if the scenario has a power profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerRow>,
    /// Notes that belong to the numbers.
    #[serde(flatten)]
    pub notes: Notes,
    /// Statistics on the engine's run.
    pub engine: EngineStats,
}

impl Summary {
    /// Returns the measured jobs in the scenario's order, without background load.
    pub fn measured_jobs(&self) -> impl Iterator<Item = &JobSummary> + Clone {
        self.jobs.iter().filter(|job| !job.job.background)
    }

    /// Returns the measured job with the longest completion time, the last among equal ones; `None`
    /// if none completed.
    pub fn longest_job(&self) -> Option<&JobSummary> {
        let done = self.measured_jobs().filter(|job| job.job.jct.is_some());
        done.max_by_key(|job| job.job.jct)
    }

    /// Returns collectives' measured iterations in run order, each with its measured job.
    /// Collectives that the trial's end cut off are among them.
    pub fn measured_collectives(&self) -> impl Iterator<Item = (&JobSummary, &CollectiveRow)> {
        self.measured_jobs().flat_map(|job| {
            let rows = job.collectives.iter().filter(|row| !row.warm_up);
            rows.map(move |row| (job, row))
        })
    }

    /// Returns the measured collective whose share of its ideal time is lowest, the first among
    /// equal ones; `None` if no collective has an ideal time.
    pub fn lowest_ideal(&self) -> Option<(&JobSummary, &CollectiveRow)> {
        // Rows without a share are filtered out below.
        let share = |row: &CollectiveRow| row.percent_of_ideal.unwrap_or(f64::INFINITY);
        let rated = |(_, row): &(&JobSummary, &CollectiveRow)| row.percent_of_ideal.is_some();
        let rated = self.measured_collectives().filter(rated);
        rated.min_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)))
    }
}

/// A job with its collectives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSummary {
    /// The job row's columns, beside `collectives` in the same object.
    #[serde(flatten)]
    pub job: JobRow,
    /// Collectives in run order, one row per iteration.
    pub collectives: Vec<CollectiveRow>,
}

rows! {
    /// Sums over the whole fabric.
    pub struct Totals in "totals" {
        /// Flows (data chunks on queue pairs) completed, arrived and acknowledged: the rows of
        /// `flows`. Flows that were cut off, and continuous streams, are in neither.
        flows: u64 => "flows", "flows";
        /// Data frames the NICs sent, retransmitted ones included; like the three that follow also
        /// those of flows without a row.
        tx_frames: u64 => "tx_frames", "frames";
        /// Bytes of the data frames sent.
        tx_bytes: u64 => "tx_bytes", "bytes";
        /// Data frames the NICs accepted.
        rx_frames: u64 => "rx_frames", "frames";
        /// Bytes of the data frames accepted.
        rx_bytes: u64 => "rx_bytes", "bytes";
        /// Frames of any kind dropped in the fabric.
        dropped_frames: u64 => "dropped_frames", "frames";
        /// Bytes of the frames dropped.
        dropped_bytes: u64 => "dropped_bytes", "bytes";
        /// Frames of any kind but pause frames lost on links: they went down or were impaired.
        lost_frames: u64 => "lost_frames", "frames";
        /// Frames lost in switches because the link they were to take was down.
        unsent_frames: u64 => "unsent_frames", "frames";
        /// Queues that the PFC watchdog found stuck, counted each time.
        watchdog_storms: u64 => "watchdog_storms", "storms";
        /// Frames dropped by the PFC watchdog.
        watchdog_dropped_frames: u64 => "watchdog_dropped_frames", "frames";
        /// Data frames sent again after a NAK, a report of trimming or a timeout.
        retransmitted_frames: u64 => "retransmitted_frames", "frames";
        /// Acknowledgements the receivers sent; none at flow level.
        acknowledgement_frames: u64 => "acknowledgement_frames", "frames";
        /// Grants of credit (PULL) the receivers sent.
        grant_frames: u64 => "grant_frames", "frames";
        /// Negative acknowledgements the receivers sent.
        nak_frames: u64 => "nak_frames", "frames";
        /// Retransmission timeouts the senders had: with `RoCEv2` one for a queue pair, after which
        /// many frames may be sent again; with Ultra Ethernet one for each packet, which may be
        /// acknowledged while it waits for its turn and is not sent again then.
        timeouts: u64 => "timeouts", "timeouts";
        /// Frames dropped in the fabric although their class is lossless.
        lossless_dropped_frames: u64 => "lossless_dropped_frames", "frames";
        /// Frames dropped by the receive buffers of NICs.
        nic_dropped_frames: u64 => "nic_dropped_frames", "frames";
        /// Data frames whose payload switches have cut off for want of room.
        trimmed_frames: u64 => "trimmed_frames", "frames";
        /// The bytes that were cut off.
        trimmed_bytes: u64 => "trimmed_bytes", "bytes";
        /// Frames marked with congestion experienced, once for each switch that marks them.
        marked_frames: u64 => "marked_frames", "frames";
        /// Data frames that arrived at NICs with a mark, those discarded included.
        rx_marked_frames: u64 => "rx_marked_frames", "frames";
        /// Share of the data frames that had a mark when they arrived at NICs, those discarded
        /// included; 0 where none arrived.
        rx_marked: f64 => "rx_marked_percent", "%";
        /// Congestion notifications (CNPs) the receivers sent.
        cnp_frames: u64 => "cnp_frames", "frames";
        /// Data frames that the receivers gave up for lost, where nothing is sent again.
        given_up_frames: u64 => "given_up_frames", "frames";
        /// Data frames the NICs accepted before one that had been sent earlier.
        out_of_order_frames: u64 => "out_of_order_frames", "frames";
        /// Notices of long queues that switches sent to other switches or to hosts.
        notice_frames: u64 => "notice_frames", "frames";
        /// How often such notices made a switch move a flow to another link, or a NIC give it
        /// another source port.
        flow_moves: u64 => "flow_moves", "";
        /// Signals of long queues that switches sent to senders.
        signal_frames: u64 => "signal_frames", "frames";
        /// Pause frames that switches sent to hosts because of such signals, or of long queues of
        /// their own.
        signal_xoff_frames: u64 => "signal_xoff_frames", "frames";
        /// Bytes of all frames on all links, preamble and inter-frame gap included.
        wire_bytes: u64 => "wire_bytes", "bytes";
        /// Of them, those of frames without payload: acknowledgements, NAKs, congestion
        /// notifications and connection set-up.
        control_wire: f64 => "control_wire_percent", "%";
        /// Of them, those of pause frames and of notices between switches.
        pause_wire: f64 => "pause_wire_percent", "%";
        /// Pause frames that stopped a class.
        xoff_frames: u64 => "xoff_frames", "frames";
        /// Pause frames that let a class go on.
        xon_frames: u64 => "xon_frames", "frames";
        /// Time for which leaves stopped NICs, summed over NICs and classes.
        nic_paused: Time => "nic_paused_ns", "ns";
        /// Time for which the other ends stopped ports of switches, summed over ports and classes.
        switch_paused: Time => "switch_paused_ns", "ns";
        /// The port that was stopped longest, summed over its classes, as `NODE:PORT`, and the
        /// first of several; missing when none was.
        most_paused_port: Option<String> => "most_paused_port", "";
        /// Time for which that port was stopped; 0 when none was.
        most_paused: Time => "most_paused_ns", "ns";
    }
    undigested {
        /// Data frames that the receivers discarded because one before them was missing. Every data
        /// frame that was sent was accepted, discarded, discarded as a duplicate, trimmed, dropped,
        /// lost or not sent on in the fabric, or dropped by a NIC, unless it was under way at the
        /// end.
        discarded_frames: u64 => "discarded_frames", "frames";
        /// Data frames that the receivers discarded because they had accepted them before, or given
        /// them up.
        duplicate_frames: u64 => "duplicate_frames", "frames";
    }
}

impl Totals {
    /// Computes the share that marked frames have among all that arrived, by the counts so far.
    pub fn take_share_of_marks(&mut self) {
        let arrived = self.rx_frames + self.discarded_frames + self.duplicate_frames;
        if arrived > 0 {
            self.rx_marked = 100.0 * self.rx_marked_frames as f64 / arrived as f64;
        }
    }
}

rows! {
    /// How the engine ran: work done, time taken, and the digest that any other run of the same
    /// scenario must reproduce.
    pub struct EngineStats in "engine" {
        /// Driver of the trial: `windowed` or `central` with packets, `flow` at flow level; `lab`
        /// where hosts of a lab were measured.
        engine: EngineKind => "engine", "";
        /// Data and control packets carried, counted once per link.
        packet_hops: u64 => "packet_hops", "packets";
        /// Data packets carried, counted once per link.
        data_packet_hops: u64 => "data_packet_hops", "packets";
        /// Wall time of the simulation proper.
        wall_s: f64 => "wall_s", "s";
        /// Wall time of building network and schedule.
        set_up_s: f64 => "set_up_s", "s";
        /// Peak resident memory of the process; missing where the system does not say.
        peak_rss_bytes: Option<u64> => "peak_rss_bytes", "bytes";
        /// Threads the nodes were spread over.
        threads: u32 => "threads", "";
        /// Digest of all flow completion times and counters, in hexadecimal.
        digest: String => "digest", "";
        /// Windows in which at least one node was visited.
        windows: u64 => "windows", "windows";
        /// Visits of a node within a window.
        node_visits: u64 => "node_visits", "visits";
        /// Packets of any kind, of those in `packet_hops`, that were jumped over: see
        /// `engine.steady_state`.
        jumped_packet_hops: u64 => "jumped_packet_hops", "packets";
        /// Periods of steady states that were jumped over.
        jumped_periods: u64 => "jumped_periods", "periods";
        /// Jumps over periods of steady states.
        jumps: u64 => "jumps", "jumps";
        /// Simulated time that was jumped over.
        jumped_ns: f64 => "jumped_ns", "ns";
        /// Length of a window of simulated time.
        window_ps: u64 => "window_ps", "ps";
        /// Simulated time: from 0 to the last event (the end of a frame or of a flow, a queue pair
        /// that gives up), or to where the trial was stopped.
        simulated_ns: f64 => "simulated_ns", "ns";
    }
}

/// Cause for an early end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// The user stopped the trial.
    User,
    /// The scenario's time limit, or the longest simulation there is.
    TimeLimit,
    /// Frames that wait for each other in a cycle.
    Deadlock,
    /// A lab lost a host or link.
    Lab,
}

/// A trial's early end, with its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Cause by which the trial ended.
    pub by: StopKind,
    /// Reason and time, a sentence without its full stop.
    pub why: String,
}

/// Driver that carried the trial's nodes through time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Node by node, in windows no longer than the smallest lookahead.
    #[default]
    Windowed,
    /// One global event queue, for fabrics whose lookahead is too short for windows.
    Central,
    /// Flows at max–min fair rates, without packets.
    Flow,
    /// Lab hosts in real time, without simulation.
    Lab,
}

impl Value for EngineKind {
    const KIND: Kind = Kind::Text;
    fn cell(&self) -> Cell<'_> {
        Cell::Text(match self {
            EngineKind::Windowed => "windowed",
            EngineKind::Central => "central",
            EngineKind::Flow => "flow",
            EngineKind::Lab => "lab",
        })
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        EngineKind::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let collective = CollectiveRow {
            index: 2,
            collective: "all-to-all".to_owned(),
            size_bytes: 16 << 20,
            start: Time::from_ps(1),
            completion_time: Some(Time::from_ps(312_345_679)),
            tx_frames: 5,
            rx_frames: 7,
            ..CollectiveRow::default()
        };
        Summary {
            scenario: "quickstart".to_owned(),
            seed: u64::MAX,
            jobs: vec![JobSummary {
                job: JobRow {
                    name: "training".to_owned(),
                    ..JobRow::default()
                },
                collectives: vec![collective],
            }],
            engine: EngineStats {
                engine: EngineKind::Central,
                ..EngineStats::default()
            },
            ..Summary::default()
        }
    }

    #[test]
    fn json_carries_the_column_names() {
        let json = serde_json::to_value(summary()).expect("a summary is plain data");
        let row = &json["jobs"][0]["collectives"][0];
        assert_eq!(json["jobs"][0]["job_name"], "training");
        assert_eq!(row["collective"], "all-to-all");
        assert_eq!(row["completion_time_ns"], 312_345.679);
        assert_eq!(row["frames_delta"], -2);
        assert_eq!(row["busbw_gbytes_per_s"], serde_json::Value::Null);
        assert_eq!(row.get("job_name"), None);
        assert_eq!(json["engine"]["engine"], "central");
    }

    #[test]
    fn what_ended_a_trial_is_a_kind_of_its_own() {
        let mut stopped = summary();
        for (by, name) in [
            (StopKind::User, "user"),
            (StopKind::TimeLimit, "time-limit"),
            (StopKind::Deadlock, "deadlock"),
        ] {
            stopped.stopped_by = Some(by);
            let json = serde_json::to_value(&stopped).expect("a summary is plain data");
            assert_eq!(json["stopped_by"], name);
        }
        // A summary of an earlier version has none.
        let json = serde_json::to_value(summary()).expect("a summary is plain data");
        assert_eq!(json.get("stopped_by"), None);
    }

    #[test]
    fn json_round_trip_is_exact() {
        let text = serde_json::to_string(&summary()).expect("a summary is plain data");
        assert_eq!(
            serde_json::from_str::<Summary>(&text).expect("own output"),
            summary()
        );
    }
}
