//! The sections `observe`, `limits` and `engine`: recordings, the trial's end, simulator settings.

use std::ops::RangeInclusive;

use tenter_language::config::{Reader, Share, choice, component, default_of, word_or};
use tenter_language::units::{Bytes, Time};
use tenter_sim::plan::{
    AskedFidelity, Fidelity, PacketBudget, SIMULATED_MAX, SteadyState, WINDOW_MAX,
};
use tenter_workload::Job;

component! {
    /// Recordings beside the results.
    pub struct Observe as "`observe`", derive(Clone, Debug, PartialEq) {
        /// `true` samples queues and rates over time.
        samples: bool = "true";
        /// Interval between samples; `auto` is a 500th of the time that the jobs take without
        /// waiting, or of the time limit if that is shorter, rounded up to two digits; 100us if
        /// neither is known.
        sample_interval: Sampling = "auto", in Time::from_us(1)..=Time::from_us(1_000_000_000);
        /// `true` also runs each measured job alone on the same fabric, for its slowdown beside the
        /// others.
        baseline: bool = "false";
        /// Record of the operations of graphs one by one, with critical path and exposed
        /// communication, in `operations.parquet`, `critical_path.parquet` and
        /// `rank_times.parquet`; `auto`: where there are at most 1,000,000 of them in all.
        operations: Recording = "auto";
        /// Ports of switches, each as `NODE:PORT`, whose queues are recorded change by change, in
        /// `queue_changes.parquet`; the run is slower for it.
        queue_changes: Vec<String> = "[]", in 200;
        /// Changes of each port that are recorded; a warning tells how many were left out.
        queue_changes_limit: u64 = "1000000", in 1..=100_000_000;
        /// Changes are recorded from then on.
        queue_changes_from: Time = "0ns", in Time::ZERO..=SIMULATED_MAX;
        /// Changes are recorded until then.
        queue_changes_to: Option<Time> = "none", in Time::from_ns(1)..=SIMULATED_MAX + Time::from_ns(1);
        /// Ports, each as `NODE:PORT` or by the name of a NIC, whose frames are captured in both
        /// directions, in `capture.pcapng`; the run is slower for it.
        capture: Vec<String> = "[]", in 200;
        /// Frames that are captured in all; a warning tells how many were left out.
        capture_limit: u64 = "100000", in 1..=2_000_000;
        /// Bytes that are kept of each captured frame, by default all; more than the headers are
        /// zeros.
        capture_bytes: Bytes = "9216B", in Bytes::new(64)..=Bytes::new(65_535);
        /// Frames are captured from then on.
        capture_from: Time = "0ns", in Time::ZERO..=SIMULATED_MAX;
        /// Frames are captured until then.
        capture_to: Option<Time> = "none", in Time::from_ns(1)..=SIMULATED_MAX + Time::from_ns(1);
        check recordings_end_after_they_begin;
    }
}

/// Samples only, without queue changes or captured frames.
impl Default for Observe {
    fn default() -> Observe {
        default_of()
    }
}

fn recordings_end_after_they_begin(observe: &Observe, reader: &mut dyn Reader) -> bool {
    let changes = (observe.queue_changes_from, observe.queue_changes_to);
    let capture = (observe.capture_from, observe.capture_to);
    let spans = [("queue_changes", changes), ("capture", capture)];
    let mut in_order = true;
    for (key, (from, to)) in spans {
        if to.is_some_and(|to| to <= from) {
            let what = format!("is no later than `{key}_from`");
            let help = format!("give more than {from}");
            reader.refuse(&format!("{key}_to"), &what, &help);
            in_order = false;
        }
    }
    in_order
}

/// Choice whether operations are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Recorded unless there are too many.
    Auto,
    /// Recorded if there are any.
    On,
    /// Not recorded in any case.
    Off,
}

choice!(Recording {
    "auto" => Auto,
    "true" => On,
    "false" => Off,
});

/// Operation count up to which `auto` records them.
const OPERATIONS_RECORDED: u64 = 1_000_000;

impl Observe {
    /// Returns true if these jobs' operations are recorded.
    pub(crate) fn records_operations(&self, jobs: &[Job]) -> bool {
        let of_job = |job: &Job| {
            let graphs = job
                .sequence
                .iter()
                .filter_map(|run| run.traffic.operations());
            let once: u64 = graphs.map(|of| of.graph.operations()).sum();
            once.saturating_mul(u64::from(job.iterations) + u64::from(job.warm_up))
        };
        let operations = jobs.iter().map(of_job).fold(0, u64::saturating_add);
        match self.operations {
            // Without operations the tables would be empty.
            Recording::Auto => (1..=OPERATIONS_RECORDED).contains(&operations),
            Recording::On => operations > 0,
            Recording::Off => false,
        }
    }
}

/// Choice for the sampling interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// An interval that suits the run's length.
    Auto,
    /// An interval that the scenario gives.
    Every(Time),
}

word_or!(Sampling { "auto" => Auto, Every(Time) });

component! {
    /// Limits that end the trial.
    pub struct Limits as "`limits`" {
        /// Simulated time at which the trial stops, whether it is done or not; at `8640000s` (100
        /// days) every trial does.
        time: Option<Time> = "none", in TIMES;
        /// Time for which background jobs run on after the last of the others has ended; no less
        /// than the 2us that the end of a job takes to reach the whole network.
        background: Time = "10us", in WINDOW_MAX..=SIMULATED_MAX;
    }
}

component! {
    /// Settings of the simulator.
    pub struct Engine as "`engine`" {
        /// Units that move through the fabric: packets one by one, or flows at max–min fair rates,
        /// which takes less time and is less exact; `auto` is packets where these are estimated to
        /// cost no more than `packets_time` and `packets_memory` allow, else flows.
        fidelity: AskedFidelity = "packet";
        /// With `fidelity: auto`: the longest wall time of packets, estimated for one thread.
        packets_time: Time = "600s", in TIMES;
        /// With `fidelity: auto`: the most memory of packets, as estimated.
        packets_memory: Bytes = "8GB", in MEMORY;
        /// At flow level, in a trial of rings that share links: the most transfers of the largest
        /// collectives of all jobs that are simulated one by one. Where they have more, all are run
        /// as a whole, each rank at its share of its links: with all that are in step with it, and
        /// with the others in the mean.
        ring_transfers: u64 = "1000000", in 0..=u64::MAX >> 1;
        /// At flow level: the part of its rate by which a link may carry more or less than it can.
        /// Rates are the max–min fair ones of links that are so much faster or slower; among
        /// thousands of unequal flows `0.001` takes a fraction of the time.
        tolerance: Share = "0";
        /// Treatment of a steady state, in which all transfers are long under way and the network
        /// comes back to the same state again and again: it is simulated, or whole periods of it
        /// are jumped over. The choice changes no result; a note says where nothing can be jumped
        /// over.
        steady_state: SteadyState = "simulate";
        /// The longest window; `none` is as long as the delays of the fabric allow, which is
        /// fastest. It changes no result.
        window: Option<Time> = "none", in TIMES;
    }
}

const TIMES: RangeInclusive<Time> = Time::from_ns(1)..=SIMULATED_MAX;
const MEMORY: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 50);

impl Engine {
    /// Returns the simulation level; flows for `auto`, until the packet level's cost is known.
    pub(crate) fn fidelity(self) -> Fidelity {
        match self.fidelity {
            AskedFidelity::Packet => Fidelity::Packet,
            AskedFidelity::Flow | AskedFidelity::Auto => Fidelity::Flow,
        }
    }

    /// Returns the packet level's cost limits if `fidelity: auto` chooses by them.
    pub(crate) fn packet_budget(self) -> Option<PacketBudget> {
        (self.fidelity == AskedFidelity::Auto).then_some(PacketBudget {
            wall_time: self.packets_time,
            memory: self.packets_memory,
        })
    }
}
