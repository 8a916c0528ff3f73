//! A job in its written form.

use tenter_language::config::{Idle, Reader, choice, component, word_or};
use tenter_language::units::{Time, is_visible};

use super::collective::CollectiveSpec;
use super::flows::FlowSpec;
use super::hosts::Ranks;
use super::limits::{JOBS_MAX, SEQUENCE_MAX, TIMES, too_soon};
use super::pattern::PatternSpec;
use super::start::Start;
use super::workload::WorkloadKind;
use crate::QueuePairScope;
use crate::placement::Placement;

component! {
    /// A job: where its ranks run, what they run, and when.
    pub struct JobSpec as "`jobs[]`", derive(Clone, Debug, PartialEq) {
        either "collectives", "flows";
        idle idle;
        /// Name of the job in every table; no two jobs share one.
        name: Option<String> = absent "`job0`, `job1`, …", in 64;
        /// Number of equal jobs that this stands for; with more than one their names end with `-1`,
        /// `-2`, …, and where `ranks` lists no hosts each has hosts of its own, as with
        /// `free_hosts`.
        copies: u32 = "1", in 1..=JOBS_MAX;
        /// Flows with sizes by a distribution, a number at a time between two hosts in a closed
        /// loop, or arriving at random in an open one; a graph of operations from a file; steps of
        /// the training of a model; or requests to one. The ranks of flows are the hosts that their
        /// pairs name, or those of the job if there is a pattern; a graph has as many as its file,
        /// and a training or an inference as many as its parallelism says.
        workload: Option<WorkloadKind> = absent "this or `collectives`";
        /// The hosts of the ranks: rank r on host r, or on the r-th host of a list of names,
        /// numbers and stretches (`[host3, 7, 16-23]`). With `npus_per_nic` NPUs behind each host,
        /// that number of ranks follow each other there, and a list may name a host that often.
        ranks: Ranks = "all";
        /// The hosts that `all` and a count take, in their order: the first ones, any at random,
        /// groups of hosts or whole leaves at random, or one below each leaf in turn.
        placement: PlacementPolicy = "packed";
        /// Hosts of a group, or NPUs where several share a NIC, counted from the first; ranks fill
        /// one group after the other.
        group_size: Option<u32> = absent "`8` with `random-groups`", in 1..=u32::MAX, from "usual servers";
        /// With `true`, `all` and a count mean hosts (or NPUs, where several share a NIC) that no
        /// job listed before this one uses; otherwise jobs may share hosts, and then share their
        /// ports.
        free_hosts: bool = "false";
        /// `true` makes the job load for the others: it is not measured, repeats its list as long
        /// as any other job runs, and ends then.
        background: bool = "false";
        /// Steps of a parallel application: computing, then messages between neighbours and sums
        /// over ranks.
        pattern: Option<PatternSpec> = absent "this or `collectives`";
        /// The collectives of the job, one after the other with a barrier in between.
        collectives: Option<Vec<CollectiveSpec>> = absent "this, `flows`, `workload` or `pattern`";
        /// Streams of a background job between hosts that never end, as a traffic generator sends
        /// them; its ranks are these hosts.
        flows: Option<Vec<FlowSpec>> = absent "this or `collectives`";
        /// How often the whole list is run and measured.
        iterations: u32 = "1", in 1..=1_000_000;
        /// How often the list is run before that without being measured.
        warm_up: u32 = "0", in 0..=1_000_000;
        /// When the job starts: a time, or `{after: JOB, delay: 10us}`, a time after the end of
        /// another job. The job first computes, if it does, and then runs its first collective.
        start: Start = "0ns";
        /// From the last arrival of one collective to the start of the next, 2us or more: a barrier
        /// takes effect in the whole network, no sooner than after the longest window of the
        /// engine.
        gap: Time = "10us", in TIMES, unless too_soon_after_a_collective, from "the order of a kernel launch with a host synchronisation";
        /// QPs per rank pair (or per chunk and hop); a transfer is split evenly over them.
        queue_pairs: u16 = "1", in 1..=4096;
        /// The class of its data packets; `nic` is that of the sender's `dscp`. Acknowledgements
        /// have the class of the NIC that sends them.
        class: JobClass = "nic", in 0..=7;
        /// Scope of a QP: the QPs of a rank pair carry all its transfers (of one ring or tree,
        /// where an algorithm has two), or each data chunk has its own on each hop; in a graph of
        /// operations without collectives, each message.
        queue_pair_scope: QueuePairScope = "rank-pair";
        check holds;
    }
}

/// Policy by which a job gets hosts, unless it lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlacementPolicy {
    /// First hosts in the fabric's order.
    Packed,
    /// Hosts drawn at random, one by one.
    Random,
    /// Whole host groups drawn at random.
    RandomGroups,
    /// Whole leaves drawn at random.
    RandomLeaves,
    /// One host below each leaf in turn.
    RoundRobin,
}

choice!(PlacementPolicy {
    "packed" => Packed,
    "random" => Random,
    "random-groups" => RandomGroups,
    "random-leaves" => RandomLeaves,
    "round-robin" => RoundRobin,
});

/// Traffic class for a job's data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobClass {
    /// Class that the sender's NIC sets by its `dscp`.
    Nic,
    /// This class for all packets, 0 to 7.
    Class(u8),
}

word_or!(JobClass { "nic" => Nic, Class(u8) });

/// Default group size for `random-groups`: the NPUs in a usual server.
const GROUP_SIZE: u32 = 8;

/// Keys that choose the ranks' hosts.
const RANKS: [&str; 4] = ["ranks", "placement", "group_size", "free_hosts"];
/// Keys that a flow workload states itself, or cannot use.
const NOT_OF_FLOWS: [&str; 9] = [
    "gap",
    "iterations",
    "warm_up",
    "queue_pairs",
    "queue_pair_scope",
    "background",
    "collectives",
    "flows",
    "pattern",
];

/// Keys that an operation graph cannot use.
const NOT_OF_OPERATIONS: [&str; 3] = ["collectives", "flows", "pattern"];

/// Lists keys without effect beside what the job runs.
fn idle(job: &JobSpec) -> Vec<Idle> {
    // Keys that the work replaces come first, and with them their reason.
    let mut idle = beside_work(job);
    if job.background {
        let what = "has no effect in the background";
        let repeated = "leave it out: the list is repeated for as long as other jobs run";
        idle.extend(Idle::all(&["iterations", "warm_up"], what, repeated));
        // Equal steps in the background are one step, repeated.
        let one_step = job.pattern.as_ref().is_some_and(|of| !of.has_steps(true));
        if one_step {
            let repeated = "leave it out: the step is repeated for as long as other jobs run";
            idle.extend(Idle::all(&["pattern.steps"], what, repeated));
        }
    }
    if matches!(job.ranks, Ranks::Hosts(_)) {
        let what = "chooses hosts, and `ranks` lists them";
        let remedy = "leave it out, or give `ranks` as a count";
        // All but `ranks` itself.
        idle.extend(Idle::all(&RANKS[1..], what, remedy));
    } else if job.placement != PlacementPolicy::RandomGroups {
        let remedy = "leave it out, or give `placement: random-groups`";
        idle.extend(Idle::all(
            &["group_size"],
            "has no effect without groups",
            remedy,
        ));
    }
    if job.copies > 1 {
        // Copies are written out as jobs with `free_hosts` before jobs are read.
        let what = "is as good as `true` beside `copies`";
        idle.extend(Idle::all(&["free_hosts"], what, "leave it out"));
    }
    // A key may be idle for several reasons; the user needs one.
    let mut reasons: Vec<Idle> = Vec::new();
    for key in idle {
        if reasons.iter().all(|known| known.key != key.key) {
            reasons.push(key);
        }
    }
    reasons
}

/// Lists the keys that the job's workload, pattern or streams replace.
fn beside_work(job: &JobSpec) -> Vec<Idle> {
    // What a job runs is decided in this order; the first kind that is given replaces the others.
    if job.workload.as_ref().is_some_and(|of| of.flows().is_none()) {
        let what = "has no effect beside a graph of operations";
        let remedy = "leave it out: the workload says by itself who sends what to whom";
        return Idle::all(&NOT_OF_OPERATIONS, what, remedy);
    }
    if let Some(workload) = job.workload.as_ref().and_then(WorkloadKind::flows) {
        let what = "has no effect beside `workload`";
        let remedy = "leave it out: a workload of flows says by itself who sends what to whom";
        let mut idle = Idle::all(&NOT_OF_FLOWS, what, remedy);
        if workload.pattern.is_none() {
            idle.extend(Idle::all(&RANKS, what, remedy));
        }
        return idle;
    }
    if job.pattern.is_some() {
        let keys = ["iterations", "collectives", "flows"];
        let remedy = "leave it out: a pattern says by itself what is sent, and in how many `steps`";
        return Idle::all(&keys, "has no effect beside `pattern`", remedy);
    }
    if job.flows.is_some() {
        let what = "has no effect on `flows`";
        let remedy = "leave it out: `flows` name their hosts, and never end";
        let mut idle = Idle::all(&RANKS, what, remedy);
        idle.extend(Idle::all(&["gap"], what, remedy));
        return idle;
    }
    Vec::new()
}

/// Refuses a gap shorter than [`GAP_MIN`](super::limits::GAP_MIN).
fn too_soon_after_a_collective(gap: Time) -> Option<(String, String)> {
    too_soon("a barrier", gap)
}

/// Checks the name, and that the job has something to run.
fn holds(job: &JobSpec, reader: &mut dyn Reader) -> bool {
    // By now copies have been written out as separate jobs, so the key must not appear in each.
    reader.leave_out("copies");
    let has_name = job
        .name
        .as_ref()
        // Blank names could not be told apart in tables.
        .is_none_or(|name| !name.trim().is_empty() && is_visible(name));
    if !has_name {
        let remedy = "give it letters or digits, or leave `name` out";
        reader.refuse("name", "must be a visible name", remedy);
    }
    let has_work = job.workload.is_some() || job.pattern.is_some();
    (has_work || check_work(job, reader)) && has_name
}

/// Checks a job that has neither a workload nor a pattern.
fn check_work(job: &JobSpec, reader: &mut dyn Reader) -> bool {
    let (key, what, remedy) = match (&job.collectives, &job.flows) {
        (None, None) => {
            let remedy = "add `collectives: [{collective: all-to-all, size: 16MiB}]`, for example";
            let what = "lacks `collectives`, `flows`, `workload` or `pattern`";
            reader.refuse_all(what, remedy);
            return false;
        }
        (None, Some(flows)) if flows.is_empty() => (
            "flows",
            "is empty: this job has nothing to send".to_owned(),
            "list at least one, for example `{from: 0, to: 1}`",
        ),
        // A measured job must end, and streams never do.
        (None, Some(_)) if !job.background => (
            "flows",
            "never end, so they cannot be judged".to_owned(),
            "make the job `background: true`, beside one under test",
        ),
        (None, Some(_)) => return true,
        (Some(collectives), _) if collectives.is_empty() => (
            "collectives",
            "is empty: this job has nothing to run".to_owned(),
            "list at least one, for example `{collective: all-to-all, size: 16MiB}`",
        ),
        (Some(collectives), _) => {
            let count: usize = collectives.iter().map(CollectiveSpec::count).sum();
            if count <= SEQUENCE_MAX as usize {
                return check_drawn(job.background, collectives, reader);
            }
            (
                "collectives",
                format!("makes more than {SEQUENCE_MAX} collectives"),
                "give fewer sizes, or use `iterations`",
            )
        }
    };
    reader.refuse(key, &what, remedy);
    false
}

/// Refuses drawn sizes in a measured job, whose tables say what each collective took at its size.
/// For background load it does not matter which sizes are drawn.
fn check_drawn(background: bool, collectives: &[CollectiveSpec], reader: &mut dyn Reader) -> bool {
    let drawn = collectives.iter().position(CollectiveSpec::draws_sizes);
    let Some(index) = drawn.filter(|_| !background) else {
        return true;
    };
    let path = format!("collectives[{index}].sizes");
    let remedy = "give `size`, a list of sizes or a range, or make the job `background: true`";
    reader.refuse(&path, "draws sizes for a job under test", remedy);
    false
}

impl JobSpec {
    /// Returns the policy by which hosts are chosen, with its group size.
    pub fn placement(&self) -> Placement {
        match self.placement {
            PlacementPolicy::Packed => Placement::Packed,
            PlacementPolicy::Random => Placement::Random,
            PlacementPolicy::RandomGroups => {
                Placement::RandomGroups(self.group_size.unwrap_or(GROUP_SIZE))
            }
            PlacementPolicy::RandomLeaves => Placement::RandomLeaves,
            PlacementPolicy::RoundRobin => Placement::RoundRobin,
        }
    }

    /// Returns true if a reader can tell the job's hosts from the scenario alone: they are listed,
    /// or the first ones.
    pub fn names_hosts(&self) -> bool {
        let flows = self.workload.as_ref().and_then(WorkloadKind::flows);
        let by_workload = flows.is_some_and(|of| of.pattern.is_none());
        let listed = by_workload || self.flows.is_some() || matches!(self.ranks, Ranks::Hosts(_));
        listed || (self.placement == PlacementPolicy::Packed && !self.free_hosts)
    }
}
