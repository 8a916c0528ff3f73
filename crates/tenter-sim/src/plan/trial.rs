//! The plan: everything a simulation needs, as plain numbers.

use tenter_endpoint::{DmaRates, NicAddress, NicSpec, PlaneChoice, PortChanges};
use tenter_fabric::net::input_queued::InputQueuedSpec;
use tenter_fabric::net::scheduled::ScheduledSpec;
use tenter_fabric::net::{CreditSpec, SignalSpec, Switches, WatchdogSpec};
use tenter_fabric::topology::{CableEnd, HostId, Topology, TopologySpec};
use tenter_language::units::{ById, Time};
use tenter_workload::{Job, JobId, ScaleUp};

use crate::plan::circuits::CircuitPlan;
use crate::plan::delays::Delays;
use crate::plan::devices::Devices;
use crate::plan::faults::FaultPlan;
use crate::plan::fidelity::{Fidelity, PacketBudget};
use crate::plan::impairments::LinkImpairment;
use crate::plan::links::Links;
use crate::plan::lookahead::{Lookahead, Others};
use crate::plan::power::PowerProfile;
use crate::plan::seeds::Seeds;
use crate::plan::steady_state::SteadyState;

/// A trial with all names, units and defaults resolved. The only strings in it label results.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The trial's name; may be empty.
    pub name: String,
    /// A description for readers; may be empty.
    pub description: String,
    /// The level: packets or flows.
    pub fidelity: Fidelity,
    /// The most that packet level may cost, if the level is to be chosen by that; `fidelity` is
    /// [`Fidelity::Flow`] until it is chosen.
    pub packet_budget: Option<PacketBudget>,
    /// At flow level, the largest number of transfers up to which rings that share links are
    /// simulated transfer by transfer.
    pub ring_transfers: u64,
    /// Share, in millionths, by which links may carry more or less than their rate at flow level.
    pub tolerance: u32,
    /// Steady-state handling: whole periods may be jumped over, which changes no result.
    pub steady_state: SteadyState,
    /// The seed for every random stream.
    pub seed: u64,
    /// Seeds for some streams, which a scenario may set separately; otherwise all equal `seed`.
    pub seeds: Seeds,
    /// The parameters from which `topology` was built.
    pub topology_spec: TopologySpec,
    /// The fabric as a graph, with its optical switches' initial circuits.
    pub topology: Topology,
    /// Circuit changes at optical switches; `None` if the fabric has none.
    pub circuits: Option<CircuitPlan>,
    /// The switch models, by tier.
    pub switches: Switches,
    /// Parameters that a scheduled fabric adds; `None` if switches queue at their outputs.
    pub scheduled: Option<ScheduledSpec>,
    /// The credit that frames need before they are sent; `None` without credit-based flow control.
    pub credit: Option<CreditSpec>,
    /// The input queues of switches; `None` if frames wait at outputs.
    pub input_queued: Option<InputQueuedSpec>,
    /// Congestion signals that switches send about long queues; `None` for none. With signals, the
    /// switches have a traffic class for them.
    pub signals: Option<SignalSpec>,
    /// The switches' devices, if the scenario names them; they change no result.
    pub devices: Devices,
    /// Power constants for the fabric's parts, if power is counted; they change no result.
    pub power: Option<PowerProfile>,
    /// The NIC model, one for all hosts.
    pub nic: NicSpec,
    /// The rules by which NICs change source ports, as far as switches must know.
    pub port_changes: PortChanges,
    /// Each NIC's DMA rates, by host; empty without PCIe.
    pub dma: ById<HostId, DmaRates>,
    /// Delays that hosts add to each send.
    pub host_delays: HostDelays,
    /// The scale-up domain that joins a host's NPUs beside their NICs; `None` if there is none.
    pub scale_up: Option<ScaleUp>,
    /// NPUs that share each NIC, which limits the ranks that a job has on one NIC. If there are
    /// several, they belong to one scale-up domain.
    pub npus_per_nic: u32,
    /// Each NIC's addresses, by host.
    pub addresses: ById<HostId, NicAddress>,
    /// The jobs. Names are distinct, and a job has no more ranks on a NIC than the NIC has NPUs.
    /// Gaps are at least 2 µs, and no engine window may be longer than the shortest gap.
    pub jobs: Vec<Job>,
    /// True if each measured job is also run alone, for comparison; this does not change the run
    /// with all jobs.
    pub baseline: bool,
    /// Faults and repairs, with their times.
    pub faults: FaultPlan,
    /// Impairments of frames under way, at most one entry per link direction.
    pub impairments: Vec<LinkImpairment>,
    /// The PFC watchdog in all switches, if they have one.
    pub watchdog: Option<WatchdogSpec>,
    /// Interval at which queues and rates are sampled, at least 1 µs; `None` for never.
    pub sample_interval: Option<Time>,
    /// The ports whose queues are recorded change by change, if any.
    pub queue_changes: Option<QueueChanges>,
    /// The ports at which frames are captured, if any.
    pub capture: Option<CapturePlan>,
    /// True if each operation in an operation graph is recorded.
    pub records_operations: bool,
    /// Time at which the simulation stops in any case; `None` to run until all jobs are done. It
    /// always stops at [`SIMULATED_MAX`](crate::plan::SIMULATED_MAX).
    pub time_limit: Option<Time>,
    /// Time for which background jobs run on after the measured jobs' last arrival, or after the
    /// instant at which it is known that a measured job will never end; no shorter than a window.
    pub background_delay: Time,
    /// Longest window that the engine may use; `None` for as long as the fabric's delays allow.
    pub window_cap: Option<Time>,
    /// The links from the view of flow control, with the headroom behind each.
    pub links: Links,
    /// Bounds for the time in which one node can affect another.
    pub lookahead: Lookahead,
}

/// Delays that hosts add to each send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostDelays {
    /// Delay from the arrival that releases a send, or from the collective's start, to the send.
    pub step: Time,
    /// Delay from the start of a collective to its first sends.
    pub start_up: Time,
}

impl Plan {
    /// Returns the parts that determine link delays.
    pub(crate) fn delays(&self) -> Delays<'_> {
        Delays {
            topology: &self.topology,
            switches: &self.switches,
            nic: &self.nic,
            credit: self.credit.as_ref(),
            seed: self.seed,
        }
    }

    /// Recomputes links and lookahead, after another part of the plan has changed.
    #[must_use]
    pub fn evaluated(mut self) -> Plan {
        self.links = Links::of(&self.topology, &self.switches, &self.nic);
        self.with_lookahead()
    }

    /// Recomputes the lookahead from the rest of the plan.
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

    /// Returns the wait at circuits beyond which leaves send through the tree; `None` if the fabric
    /// has no tree or the load balancer cannot spill.
    pub fn spill(&self) -> Option<Time> {
        let spill = self.circuits.as_ref()?.spill;
        let balancing = &self.switches.usual.load_balancing;
        spill.filter(|_| self.topology.optics.has_tree() && balancing.may_spill())
    }

    /// Returns the number of planes over which a queue pair's packets are distributed.
    pub fn sprayed_planes(&self) -> u16 {
        match self.nic.plane_choice() {
            PlaneChoice::Spray => self.topology.nic_ports,
            PlaneChoice::Hash => 1,
        }
    }

    /// Returns true if data from an NPU at `a` to one at `b` passes their host's scale-up domain
    /// instead of a NIC.
    pub fn is_within_domain(&self, a: HostId, b: HostId) -> bool {
        self.scale_up
            .is_some_and(|domain| domain.joins_nics(self.npus_per_nic, a, b))
    }

    /// Returns the plan with only the `jobs` of these indices running, on the same fabric. The
    /// others keep their places but run nothing, so that names, queue pairs and paths of the
    /// running jobs do not change. A job that waits for one that does not run waits for that one's
    /// predecessor instead, or starts at once. Nothing is sampled or recorded.
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

    /// Returns the first of `jobs` in the chain of predecessors that begins with `job`.
    fn nearest_before(&self, job: JobId, jobs: &[usize]) -> Option<JobId> {
        let next = |job: &JobId| self.jobs[job.index()].after;
        let mut way = std::iter::successors(Some(job), next);
        way.find(|job| jobs.contains(&job.index()))
    }
}

/// Ports whose queues are recorded change by change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueChanges {
    /// Ports of switches, ascending and without duplicates.
    pub ports: Vec<CableEnd>,
    /// Most changes that are recorded at each port.
    pub limit: u64,
    /// Time from which changes are recorded.
    pub from: Time,
    /// Time until which changes are recorded; `None` for the trial's end.
    pub to: Option<Time>,
}

/// Ports at which frames are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// Ports, ascending and without duplicates.
    pub ports: Vec<CableEnd>,
    /// Most frames in all, over all ports.
    pub limit: u64,
    /// Most bytes that are kept from each frame.
    pub snap_bytes: u32,
    /// Time from which frames are captured.
    pub from: Time,
    /// Time until which frames are captured; `None` for the trial's end.
    pub to: Option<Time>,
}
