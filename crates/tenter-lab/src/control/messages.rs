//! Messages between coordinator and agents.

use serde::{Deserialize, Serialize};
use tenter_sim::real_time::{HostCounts, HostRecords, PortCounts};

use crate::data_path_kind::DataPathKind;

/// Version for all messages in this file; both ends must have the same.
pub(crate) const PROTOCOL_VERSION: u8 = 2;

/// A file that the scenario refers to, such as a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScenarioFile {
    /// Name as the scenario writes it.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// Everything that an agent needs to take part in a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opening {
    /// The scenario as YAML, with every default filled in.
    pub(crate) scenario: String,
    /// Files that the scenario refers to: the agent opens none by itself.
    pub(crate) files: Vec<ScenarioFile>,
    /// Index of the agent's host in the scenario.
    pub(crate) host: u32,
    /// All hosts' IPv4 addresses, in host order.
    pub(crate) addresses: Vec<u32>,
    /// Random number from which the trial's QP numbers, sequence numbers and payloads follow;
    /// packets from other trials do not match.
    pub(crate) trial: u64,
    /// The agent's clock when the trial starts, in ns.
    pub(crate) epoch_ns: u64,
    /// Time limit for the trial, in ns.
    pub(crate) time_limit_ns: u64,
    /// True if the agent hands packets to the kernel in runs, as one datagram that the kernel cuts.
    pub(crate) segmentation: bool,
    pub(crate) data_path: DataPathKind,
}

/// The connection data that one end of a queue pair sends to the other before a trial by RDMA.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// Host at the other end, to which the coordinator forwards this offer.
    pub(crate) to: u32,
    /// True if host `to` receives by the queue pair, false if it sends.
    pub(crate) receives: bool,
    /// QP index at host `to`.
    pub(crate) slot: u32,
    /// The offering device's data, in its own encoding.
    pub(crate) bytes: Vec<u8>,
}

/// Messages that an agent receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Asks for a [`FromAgent::Pong`] with the same number. Pings measure the agent's clock, and
    /// keep it from taking the coordinator for lost.
    Ping(u64),
    /// Opens a trial, which ends any earlier one.
    Open(Box<Opening>),
    /// Passes on the offers that the agent's peers have made to it.
    Connect(Vec<Offer>),
    /// Asks a job's ranks here to make ready for a collective.
    Prepare {
        /// Index of the job in the scenario.
        job: u16,
        /// Index of the collective, counted over all iterations.
        turn: u32,
    },
    /// Starts the collective that was prepared.
    Start {
        /// Index of the job in the scenario.
        job: u16,
        /// Start in ps since the start of the trial.
        at_ps: u64,
    },
    /// Ends the trial, and asks for the agent's report.
    Close,
}

/// An agent's report at the end of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    /// Counters of the simulation's NIC.
    pub(crate) counts: HostCounts,
    /// Counters that the operating system keeps for the interface; `None` if they cannot be read.
    pub(crate) interface: Option<PortCounts>,
    /// Counters that driver and RDMA device keep and that have grown, by name.
    pub(crate) interface_counters: Vec<(String, u64)>,
    /// Payload bytes that arrived as they were sent.
    pub(crate) verified_bytes: u64,
    /// Packets with a wrong payload.
    pub(crate) corrupt_packets: u64,
    /// Datagrams that do not belong to this trial.
    pub(crate) refused_packets: u64,
    /// Hosts to which sending was given up, each with the instant in ps.
    pub(crate) given_up: Vec<(u32, u64)>,
    /// Processor time that the agent's thread took for the trial, in ns.
    pub(crate) cpu_ns: u64,
    /// Longest delay, in ns, with which the host did something that was due; it grows if the agent
    /// lacks processor time.
    pub(crate) latest_ns: u64,
}

/// Messages that an agent sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FromAgent {
    /// Answers [`Order::Ping`] with its number and the agent's clock in ns.
    Pong(u64, u64),
    /// Asks the coordinator to pass on offers; [`FromAgent::Opened`] follows once peers are
    /// connected.
    Offers(Vec<Offer>),
    /// The agent is ready for the trial.
    Opened,
    /// The ranks here are ready for a collective.
    Prepared {
        /// Index of the job in the scenario.
        job: u16,
        /// Index of the collective, counted over all iterations.
        turn: u32,
    },
    /// A collective is complete here.
    Done {
        /// Index of the job in the scenario.
        job: u16,
        /// Index of the collective, counted over all iterations.
        turn: u32,
        /// Last arrival here by the agent's clock, in ps since the start of the trial; 0 if nothing
        /// was to arrive.
        at_ps: u64,
    },
    /// Flow halves recorded since the previous message.
    Records(HostRecords),
    /// A queue pair has given up sending to the host with this index.
    GaveUp(u32),
    /// The trial has ended here.
    Closed(Box<AgentReport>),
    /// The agent cannot go on; the text is a sentence that says why.
    Failed(String),
}
