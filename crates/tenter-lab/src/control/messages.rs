//! What a coordinator and an agent say to each other.

use serde::{Deserialize, Serialize};
use tenter_sim::real_time::{HostCounts, HostRecords, PortCounts};

use crate::data_path_kind::DataPathKind;

/// The version of all this; both ends have the same.
pub(crate) const PROTOCOL_VERSION: u8 = 2;

/// A file that a scenario names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScenarioFile {
    /// Its name, as the scenario has it.
    pub(crate) name: String,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

/// What an agent needs for a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// The scenario, every default filled in.
    pub(crate) scenario: String,
    /// The files that it names.
    pub(crate) files: Vec<ScenarioFile>,
    /// The host of it that the agent is.
    pub(crate) host: u32,
    /// The IPv4 addresses of all hosts, in their order.
    pub(crate) addresses: Vec<u32>,
    /// What tells this trial's packets from those of others.
    pub(crate) trial: u64,
    /// What the agent's clock shows when the trial begins, in ns.
    pub(crate) epoch_ns: u64,
    /// How long the trial may take.
    pub(crate) time_limit_ns: u64,
    /// Whether hosts hand runs of packets to the kernel as one, which cuts it.
    pub(crate) segmentation: bool,
    /// How data gets from host to host.
    pub(crate) data_path: DataPathKind,
}

/// What the host at one end of a queue pair must know of the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// The host.
    pub(crate) to: u32,
    /// Whether it receives by the queue pair.
    pub(crate) receives: bool,
    /// The number of its slot.
    pub(crate) slot: u32,
    /// What the device at the other end says, in its own form.
    pub(crate) bytes: Vec<u8>,
}

/// From the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Answer with the same number: the coordinator is there, and what does your clock show?
    Ping(u64),
    /// Make ready for a trial.
    Open(Box<Opening>),
    /// Connect with what the peers have offered.
    Connect(Vec<Offer>),
    /// Make ready for a collective of a job.
    Prepare {
        /// The job.
        job: u16,
        /// The collective, counted over all iterations.
        turn: u32,
    },
    /// Start it at a time of the trial, in ps.
    Start {
        /// The job.
        job: u16,
        /// When.
        at_ps: u64,
    },
    /// End the trial and report.
    Close,
}

/// What an agent reports at the end of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    /// What its NIC has counted.
    pub(crate) counts: HostCounts,
    /// Its interface, as the operating system counts it.
    pub(crate) interface: Option<PortCounts>,
    /// Further counters of the interface, by their names.
    pub(crate) interface_counters: Vec<(String, u64)>,
    /// Payload bytes that arrived and were what was sent.
    pub(crate) verified_bytes: u64,
    /// Packets whose payload was not.
    pub(crate) corrupt_packets: u64,
    /// Datagrams that were no packets of this trial.
    pub(crate) refused_packets: u64,
    /// Hosts to which it has given up sending, with the time in ps.
    pub(crate) given_up: Vec<(u32, u64)>,
    /// Processor time that the trial took, in ns.
    pub(crate) cpu_ns: u64,
    /// The longest that it was late with what was due, in ns.
    pub(crate) latest_ns: u64,
}

/// From an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromAgent {
    /// The answer to a ping, with what its clock shows, in ns.
    Pong(u64, u64),
    /// What its peers must know before it is ready for a trial.
    Offers(Vec<Offer>),
    /// It is ready for a trial.
    Opened,
    /// It is ready for a collective.
    Prepared {
        /// The job.
        job: u16,
        /// The collective.
        turn: u32,
    },
    /// A collective is done here.
    Done {
        /// The job.
        job: u16,
        /// The collective.
        turn: u32,
        /// When the last of it arrived here, in ps; 0 where nothing was to arrive.
        at_ps: u64,
    },
    /// What has been recorded since the last time.
    Records(HostRecords),
    /// A queue pair has given up sending to a host.
    GaveUp(u32),
    /// The trial has ended here.
    Closed(Box<AgentReport>),
    /// Something cannot be done: a sentence.
    Failed(String),
}
