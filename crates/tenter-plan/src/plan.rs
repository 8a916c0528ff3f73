//! The plan: everything a simulation needs, as plain numbers.

use tenter_endpoint::{DmaRates, NicAddress, NicSpec, PlaneChoice, PortChanges};
use tenter_net::input_queued::InputQueuedSpec;
use tenter_net::scheduled::ScheduledSpec;
use tenter_net::{CreditSpec, SignalSpec, Switches, WatchdogSpec};
use tenter_topology::{CableEnd, HostId, Topology, TopologySpec};
use tenter_units::{ById, Time};
use tenter_workload::{Job, JobId, ScaleUp};

use crate::circuits::CircuitPlan;
use crate::delays::Delays;
use crate::devices::Devices;
use crate::faults::FaultPlan;
use crate::fidelity::{Fidelity, PacketBudget};
use crate::impairments::LinkImpairment;
use crate::links::Links;
use crate::lookahead::{Lookahead, Others};
use crate::power::PowerProfile;
use crate::seeds::Seeds;
use crate::steady_state::SteadyState;

/// A trial with all names, units and defaults resolved; no strings but those that label results.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the trial is called; empty when it has no name.
    pub name: String,
    /// What it is about; may be empty.
    pub description: String,
    /// Whether packets are simulated, or flows.
    pub fidelity: Fidelity,
    /// What packets may cost, if the level is to be chosen by that; it is [`Fidelity::Flow`] until
    /// it is.
    pub packet_budget: Option<PacketBudget>,
    /// At flow level: the most transfers of rings that share links that are simulated one by one.
    pub ring_transfers: u64,
    /// Whether whole periods of a steady state are jumped over; changes no result.
    pub steady_state: SteadyState,
    /// Seed of every random stream.
    pub seed: u64,
    /// The seeds of some streams, which a scenario may set apart; otherwise all are the seed.
    pub seeds: Seeds,
    /// The numbers the topology was built from.
    pub topology_spec: TopologySpec,
    /// The fabric as a graph, with the circuits of its optical switches to begin with.
    pub topology: Topology,
    /// When the circuits of its optical switches change; `None` where it has none.
    pub circuits: Option<CircuitPlan>,
    /// The models of the switches.
    pub switches: Switches,
    /// What is different in a scheduled fabric; `None` where switches queue at their outputs.
    pub scheduled: Option<ScheduledSpec>,
    /// What frames need before they are sent, in a fabric that sends by credit.
    pub credit: Option<CreditSpec>,
    /// How frames wait at the inputs of switches; `None` where they wait at outputs.
    pub input_queued: Option<InputQueuedSpec>,
    /// What senders are told of long queues, if anything; the switches then have its class.
    pub signals: Option<SignalSpec>,
    /// The devices of the switches, where the scenario names them; changes no result.
    pub devices: Devices,
    /// What the parts of the fabric draw, if that is counted; changes no result.
    pub power: Option<PowerProfile>,
    /// The model of all NICs.
    pub nic: NicSpec,
    /// How NICs change source ports, as the switches see it.
    pub port_changes: PortChanges,
    /// The DMA rates of each NIC, in the order of the hosts; empty without PCIe.
    pub dma: ById<HostId, DmaRates>,
    /// What hosts add to each send.
    pub host_delays: HostDelays,
    /// What connects the NPUs of a host beside their NICs; `None`: nothing does.
    pub scale_up: Option<ScaleUp>,
    /// NPUs that share each NIC: ranks of a job that one NIC carries at most. Where there are
    /// several, they are of one scale-up domain.
    pub npus_per_nic: u32,
    /// The addresses of each NIC, in the order of the hosts.
    pub addresses: ById<HostId, NicAddress>,
    /// The jobs, with names all different and, within a job, no more ranks on a NIC than it has
    /// NPUs. Gaps are at least 2 us, and the engine's window must not be longer than the shortest
    /// of them.
    pub jobs: Vec<Job>,
    /// Whether each job under test is also run alone, to compare; changes no result of the run of
    /// all.
    pub baseline: bool,
    /// What breaks and is mended, and when.
    pub faults: FaultPlan,
    /// What is done to frames on their way, at most one entry for each direction of a link.
    pub impairments: Vec<LinkImpairment>,
    /// The PFC watchdog of all switches, if they have one.
    pub watchdog: Option<WatchdogSpec>,
    /// How often queues and rates are sampled; `None` for never. At least 1 us.
    pub sample_interval: Option<Time>,
    /// The ports whose queues are recorded change by change, if any.
    pub queue_changes: Option<QueueChanges>,
    /// The ports at which frames are captured, if any.
    pub capture: Option<CapturePlan>,
    /// Whether operations of graphs are recorded one by one.
    pub records_operations: bool,
    /// When the simulation stops whether it is done or not; `None` for when all jobs are. It stops
    /// at [`SIMULATED_MAX`](crate::SIMULATED_MAX) in any case.
    pub time_limit: Option<Time>,
    /// How long background jobs run on after the last arrival of the jobs under test, or after the
    /// instant at which it is known that one of these will never end; no shorter than a window.
    pub background_delay: Time,
    /// The longest window the engine may use; `None` for as long as the fabric's delays allow.
    pub window_cap: Option<Time>,
    /// The links in the terms of flow control, with the headroom behind each.
    pub links: Links,
    /// How soon one node can affect another.
    pub lookahead: Lookahead,
}

/// What hosts add to each send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostDelays {
    /// From the arrival that releases a send, or the start of the collective, to the send.
    pub step: Time,
    /// From the start of a collective to its first sends.
    pub start_up: Time,
}

impl Plan {
    /// What decides how long links take.
    pub fn delays(&self) -> Delays<'_> {
        Delays {
            topology: &self.topology,
            switches: &self.switches,
            nic: &self.nic,
            credit: self.credit.as_ref(),
            seed: self.seed,
        }
    }

    /// The same plan with links and lookahead as the rest of it has them: for a plan of which
    /// something else was changed.
    #[must_use]
    pub fn evaluated(mut self) -> Plan {
        self.links = Links::of(&self.topology, &self.switches, &self.nic);
        self.with_lookahead()
    }

    /// The same plan with the lookahead of the rest of it.
    #[must_use]
    pub fn with_lookahead(mut self) -> Plan {
        let others = Others {
            scheduled: self.scheduled.as_ref(),
            scale_up: self.scale_up,
            signals: self.signals.is_some(),
        };
        self.lookahead = Lookahead::of(&self.delays(), &others);
        self
    }

    /// From which wait at circuits on leaves send through the tree, where there is one and the load
    /// balancer may.
    pub fn spill(&self) -> Option<Time> {
        let spill = self.circuits.as_ref()?.spill;
        let balancing = &self.switches.usual.load_balancing;
        spill.filter(|_| self.topology.optics.has_tree() && balancing.may_spill())
    }

    /// The planes that the packets of one queue pair take.
    pub fn sprayed_planes(&self) -> u16 {
        match self.nic.plane_choice() {
            PlaneChoice::Spray => self.topology.nic_ports,
            PlaneChoice::Hash => 1,
        }
    }

    /// Whether what one NIC's NPU sends to another's passes the scale-up domain of their host, and
    /// no NIC.
    pub fn is_within_domain(&self, a: HostId, b: HostId) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }

    /// The same with some of the jobs only, on the same fabric: the others have their places and
    /// run nothing, so that names, queue pairs and paths of those that run stay what they are. One
    /// that waits for a job that does not run waits for what that waits for, or starts at once.
    /// Nothing is sampled.
    #[must_use]
    pub fn with_jobs(&self, jobs: &[usize]) -> Plan {
        let mut plan = self.clone();
        for (index, job) in plan.jobs.iter_mut().enumerate() {
            if !jobs.contains(&index) {
                job.sequence.clear();
            }
            if let Some(before) = job.after {
                job.after = self.nearest_before(before, jobs);
                if job.after.is_none() {
                    job.start = Time::ZERO;
                }
            }
        }
        plan.sample_interval = None;
        plan.queue_changes = None;
        plan.capture = None;
        plan.records_operations = false;
        plan
    }

    /// The first of some jobs on the way from a job to the one it waits for, and so on.
    fn nearest_before(&self, job: JobId, jobs: &[usize]) -> Option<JobId> {
        let next = |job: &JobId| self.jobs[job.index()].after;
        let mut way = std::iter::successors(Some(job), next);
        way.find(|job| jobs.contains(&job.index()))
    }
}

/// What is recorded of queues change by change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueChanges {
    /// Ports of switches, ascending and none twice.
    pub ports: Vec<CableEnd>,
    /// So many changes of each.
    pub limit: u64,
    /// From when on changes are recorded.
    pub from: Time,
    /// Until when; without it, to the end.
    pub to: Option<Time>,
}

/// What is captured of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// Ports, ascending and none twice.
    pub ports: Vec<CableEnd>,
    /// So many frames in all.
    pub limit: u64,
    /// So many bytes of each.
    pub snap_bytes: u32,
    /// From when on frames are captured.
    pub from: Time,
    /// Until when; without it, to the end.
    pub to: Option<Time>,
}
