//! A job's `workload`: flows with a size distribution, or one of the other kinds.

use std::str::FromStr;
use std::sync::LazyLock;

use tenter_language::config::{
    Chance, Idle, Reader, Shape, Value, Written, choice, component, parsed, variants,
};
use tenter_language::units::{Bytes, Time};

use super::flow_files::{FlowReading, FlowTableSpec, HtsimSpec, Ns3Spec};
use super::hosts::HostList;
use super::limits::{SIMULATED_MAX, SIZES, SLOTS_MAX};
use super::operations::{GoalSpec, GraphSpec, OperationTiming};
use super::pattern::PatternSpec;
use super::recordings::{AicbSpec, FlightRecorderSpec, KinetoSpec, NcclLogSpec, PytorchEtSpec};
use super::traces::{ChakraSpec, SimaiSpec};
use crate::flow_workload::{
    Between, DISTRIBUTIONS, DistributionError, GapLaw, NamedDistribution, Point, SizeDistribution,
};
use crate::inference::InferenceSpec;
use crate::training::TrainingSpec;

variants! {
    /// Work of a job that is neither a collective nor a pattern.
    pub enum WorkloadKind as "`jobs[].workload`", derive(Clone, Debug, PartialEq) {
        /// Flows, a graph of operations in one of the formats in which others write it, or the
        /// training or inference of a model.
        kind = "flows";
        /// Flows with sizes by a distribution.
        "flows" => Flows(WorkloadSpec),
        /// A graph of operations that `tenter import` has made.
        "graph" => Graph(GraphSpec),
        /// A graph of operations in the format of GOAL.
        "goal" => Goal(GoalSpec),
        /// Execution traces of Chakra, one file for each rank.
        "chakra" => Chakra(ChakraSpec),
        /// A workload of `SimAI`, AICB and ASTRA-sim 1.
        "simai" => Simai(SimaiSpec),
        /// A table of AICB.
        "aicb" => Aicb(AicbSpec),
        /// Traces of Kineto, the profiler of `PyTorch`.
        "kineto" => Kineto(KinetoSpec),
        /// Execution traces of `PyTorch` on the host.
        "pytorch-et" => PytorchEt(PytorchEtSpec),
        /// Dumps of the flight recorder of `PyTorch`.
        "flight-recorder" => FlightRecorder(FlightRecorderSpec),
        /// Logs of NCCL.
        "nccl-log" => NcclLog(NcclLogSpec),
        /// A table of flows with their starts.
        "flow-table" => FlowTable(FlowTableSpec),
        /// A connection matrix of htsim.
        "htsim" => Htsim(HtsimSpec),
        /// A list of flows of ns-3.
        "ns3" => Ns3(Ns3Spec),
        /// Steps of the training of a model.
        "training" => Training(TrainingSpec),
        /// Requests to a model that answers them.
        "inference" => Inference(InferenceSpec),
    }
}

impl WorkloadKind {
    /// Returns the flow specification, if this is a flow workload.
    pub fn flows(&self) -> Option<&WorkloadSpec> {
        match self {
            WorkloadKind::Flows(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns the path of the graph's file; `None` for kinds without a file.
    pub fn file(&self) -> Option<&str> {
        match self {
            WorkloadKind::Flows(_) | WorkloadKind::Training(_) | WorkloadKind::Inference(_) => None,
            WorkloadKind::Graph(spec) => Some(&spec.file),
            WorkloadKind::Goal(spec) => Some(&spec.file),
            WorkloadKind::Chakra(spec) => Some(&spec.file),
            WorkloadKind::Simai(spec) => Some(&spec.file),
            WorkloadKind::Aicb(spec) => Some(&spec.file),
            WorkloadKind::Kineto(spec) => Some(&spec.file),
            WorkloadKind::PytorchEt(spec) => Some(&spec.file),
            WorkloadKind::FlightRecorder(spec) => Some(&spec.file),
            WorkloadKind::NcclLog(spec) => Some(&spec.file),
            WorkloadKind::FlowTable(spec) => Some(&spec.file),
            WorkloadKind::Htsim(spec) => Some(&spec.file),
            WorkloadKind::Ns3(spec) => Some(&spec.file),
        }
    }

    /// Returns the training specification, if this is a training.
    pub fn training(&self) -> Option<&TrainingSpec> {
        match self {
            WorkloadKind::Training(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns the operations' timing; `None` for flow workloads, which have no operations.
    pub fn timing(&self) -> Option<OperationTiming> {
        match self {
            WorkloadKind::Flows(_) => None,
            WorkloadKind::Graph(spec) => Some(spec.timing),
            WorkloadKind::Goal(spec) => Some(spec.timing),
            WorkloadKind::Chakra(spec) => Some(spec.reading.timing),
            WorkloadKind::Simai(spec) => Some(spec.timing),
            WorkloadKind::Aicb(spec) => Some(spec.calls.timing),
            WorkloadKind::Kineto(spec) => Some(spec.calls.timing),
            WorkloadKind::PytorchEt(spec) => Some(spec.calls.timing),
            WorkloadKind::FlightRecorder(spec) => Some(spec.calls.timing),
            WorkloadKind::NcclLog(spec) => Some(spec.calls.timing),
            WorkloadKind::FlowTable(spec) => Some(spec.reading.timing()),
            WorkloadKind::Htsim(spec) => Some(spec.reading.timing()),
            WorkloadKind::Ns3(spec) => Some(spec.reading.timing()),
            WorkloadKind::Training(_) | WorkloadKind::Inference(_) => {
                // Messages of models are done once acknowledged, and kernels start at once.
                Some(FlowReading::default().timing())
            }
        }
    }
}

component! {
    /// Flows with sizes by a distribution.
    pub struct WorkloadSpec as "`jobs[].workload` with `kind: flows`", derive(Clone, Debug, PartialEq) {
        either "sizes", "points";
        either "pairs", "pattern";
        idle idle;
        /// The distribution that flow sizes are drawn from, by its name, or the size of every flow.
        sizes: Option<FlowSizes> = absent "this or `points`";
        /// A distribution of your own by points of its cumulative distribution, both numbers
        /// ascending; or a file of them, a size in bytes and a probability on each line.
        points: Option<Points> = absent "this or `sizes`";
        /// Sizes that flows have: those of the points alone, or all between them, along a line;
        /// only with `points`.
        between: Between = "steps";
        /// When flows start. In a closed loop each starts when the one before it is acknowledged;
        /// in an open loop each sender starts flows at intervals of this distribution, to any of
        /// its receivers, or to each as often as the pattern says.
        arrivals: ArrivalKind = "closed-loop";
        /// Offered load: the share of the senders' rate that all flows take in RoCEv2 frames, with
        /// headers, preamble and gap, but without the additions of a congestion control. With a
        /// pattern it is the share at the NIC of the rank that sends or receives most, and the
        /// others have less in proportion; with `senders: alike` it is that of each sender, and
        /// receivers may get more than their NICs take.
        load: Option<Chance> = absent "required in an open loop";
        /// In an open loop, flows that start at the same time, each from another sender, to one of
        /// the receivers.
        fan_in: Option<u32> = "none", in 1..=SLOTS_MAX;
        /// Standard deviation of the logarithm of the times; only with `log-normal`.
        sigma: Sigma = "1";
        /// The pairs of sender and receiver.
        pairs: Option<Vec<PairSpec>> = absent "this or `pattern`";
        /// How often each pair sends in an open loop: in proportion to the bytes of the first step
        /// of an application, written as in `jobs[].pattern` without the keys of steps (`steps`,
        /// `compute`, `compute_spread`, `regrid`). The ranks are those of the job.
        pattern: Option<PatternSpec> = absent "this or `pairs`";
        /// QPs from each rank to each of its receivers in the pattern; flows take them in turn.
        /// Only with `pattern`.
        parallel: u32 = "8", in 1..=SLOTS_MAX;
        /// Share of each rank of the pattern in the load: in proportion to its bytes, or the same
        /// for all senders; only with `pattern`.
        senders: Senders = "by-bytes";
        /// Flows in all. In a closed loop each QP of each pair starts its share of them, in an open
        /// one each sender.
        flows: Option<u32> = "none", in 1..=FLOWS_MAX;
        /// Time from the start of the job after which no flow starts; flows under way are
        /// completed.
        duration: Option<Time> = "none", in Time::from_ps(1)..=SIMULATED_MAX;
        check holds;
    }
}

component! {
    /// A pair of sender and receiver.
    pub struct PairSpec as "`jobs[].workload.pairs[]`", derive(Clone, Debug, PartialEq, Eq) {
        /// The host that sends; of several, each.
        from: HostList;
        /// The host that receives; of several, each from each, but none from itself.
        to: HostList;
        /// QPs from each to each: in a closed loop each has one flow under way at a time, in an
        /// open one flows take them in turn.
        parallel: Option<u32> = absent "`1`, or `8` in an open loop", in 1..=SLOTS_MAX;
    }
}

component! {
    /// A point of a cumulative distribution.
    pub struct PointSpec as "`jobs[].workload.points[]`", derive(Clone, Copy, Debug, PartialEq, Eq) {
        /// A size of flows, in payload bytes.
        size: Bytes, in Bytes::new(0)..=*SIZES.end();
        /// Share of flows that are no larger.
        cumulative: Chance;
    }
}

/// Most flows in a job. Flow numbers have 32 bits, and the next number of each slot must fit as
/// well.
const FLOWS_MAX: u32 = u32::MAX - SLOTS_MAX;

/// Rule by which flows start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalKind {
    /// Closed loop: each starts when the previous one is acknowledged.
    ClosedLoop,
    /// Open loop with exponentially distributed gaps.
    Poisson,
    /// Open loop with log-normally distributed gaps.
    LogNormal,
}

choice!(ArrivalKind {
    "closed-loop" => ClosedLoop,
    "poisson" => Poisson,
    "log-normal" => LogNormal,
});

/// Load that each rank in a pattern sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Senders {
    /// In proportion to the bytes in its row.
    ByBytes,
    /// Equal load for all ranks that send.
    Alike,
}

choice!(Senders {
    "by-bytes" => ByBytes,
    "alike" => Alike,
});

choice!(Between {
    "steps" => Steps,
    "lines" => Lines,
});

/// Standard deviation of the gaps' logarithm, 0.01 to 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sigma(pub f64);

impl FromStr for Sigma {
    type Err = ();

    fn from_str(word: &str) -> Result<Sigma, ()> {
        let sigma = word.parse().map_err(|_| ())?;
        (0.01..=4.0)
            .contains(&sigma)
            .then_some(Sigma(sigma))
            .ok_or(())
    }
}

impl std::fmt::Display for Sigma {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

parsed!(Sigma {
    "decimal, 0.01 to 4",
    "cannot be",
    "give a number from 0.01 to 4"
});

/// Flow sizes that are given without points.
#[derive(Clone, Copy, Debug)]
pub enum FlowSizes {
    /// Drawn from a published distribution.
    Named(&'static NamedDistribution),
    /// A fixed size for all flows.
    Fixed(Bytes),
}

/// Named distributions are equal if their names are.
impl PartialEq for FlowSizes {
    fn eq(&self, other: &FlowSizes) -> bool {
        match (self, other) {
            (FlowSizes::Named(one), FlowSizes::Named(other)) => one.name == other.name,
            (FlowSizes::Fixed(one), FlowSizes::Fixed(other)) => one == other,
            _ => false,
        }
    }
}

/// Names of the published distributions, as an error message lists them.
static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| DISTRIBUTIONS.iter().map(|of| of.name).collect());

impl Value for FlowSizes {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let names = Shape::Choice(&NAMES);
        Shape::Either(Box::new(names), Box::new(Bytes::shape(SIZES)))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<FlowSizes> {
        let begins_with_digit = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        match reader.peek(key) {
            // No distribution's name begins with a digit, so this is a size or a slip in one.
            Some(Written::Word(word) | Written::Text(word)) if begins_with_digit(&word) => {
                Bytes::read(reader, key, SIZES).map(FlowSizes::Fixed)
            }
            _ => {
                let place = reader.choice(key, &NAMES)?;
                Some(FlowSizes::Named(&DISTRIBUTIONS[place]))
            }
        }
    }

    fn written(&self) -> Written {
        match self {
            FlowSizes::Named(distribution) => Written::word(distribution.name),
            FlowSizes::Fixed(size) => size.written(),
        }
    }
}

/// Points in a cumulative distribution. A scenario may give a file name instead, which is replaced
/// by the file's points before this is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points(pub Vec<PointSpec>);

impl Value for Points {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let list = Vec::<PointSpec>::shape(());
        Shape::Either(Box::new(Shape::Text), Box::new(list))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<Points> {
        Vec::read(reader, key, ()).map(Points)
    }

    fn written(&self) -> Written {
        self.0.written()
    }
}

/// Lists keys without effect beside the others.
fn idle(spec: &WorkloadSpec) -> Vec<Idle> {
    let mut idle = Vec::new();
    if spec.points.is_none() {
        let remedy = "leave it out: the distributions of the program say it themselves";
        idle.extend(Idle::all(
            &["between"],
            "has no effect without `points`",
            remedy,
        ));
    }
    let of_others: &[&str] = match spec.arrivals {
        ArrivalKind::ClosedLoop => &["load", "sigma", "fan_in"],
        ArrivalKind::Poisson => &["sigma"],
        ArrivalKind::LogNormal => &[],
    };
    let what = "has no effect with these `arrivals`";
    let remedy = "leave it out, or give other `arrivals`";
    idle.extend(Idle::all(of_others, what, remedy));
    if let Some(pattern) = &spec.pattern {
        let what = "has no effect in a workload of flows";
        let remedy = "leave it out: flows arrive by themselves, as in the first step";
        idle.extend(Idle::all(pattern.keys_of_steps(), what, remedy));
    } else {
        let what = "has no effect beside `pairs`";
        idle.extend(Idle::all(&["parallel"], what, "write it into each pair"));
        let remedy = "leave it out: senders of pairs are all alike";
        idle.extend(Idle::all(&["senders"], what, remedy));
    }
    idle
}

/// Runs all checks, so that the user sees all errors at once.
fn holds(spec: &WorkloadSpec, reader: &mut dyn Reader) -> bool {
    let sizes = check_sizes(spec, reader);
    let arrivals = check_arrivals(spec, reader);
    let ways = check_ways(spec, reader);
    let ends = spec.flows.is_some() || spec.duration.is_some();
    if !ends {
        let remedy = "add `duration: 1ms`, or how many `flows` there are";
        reader.refuse_all("never ends", remedy);
    }
    sizes && arrivals && ways && ends
}

fn check_sizes(spec: &WorkloadSpec, reader: &mut dyn Reader) -> bool {
    match spec.distribution() {
        Some(Ok(_)) => true,
        Some(Err(error)) => {
            let text = error.to_string();
            // Errors end with "; " and a remedy.
            let (what, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
            reader.refuse("points", &format!("make no distribution: {what}"), remedy);
            false
        }
        None => {
            let remedy = "add `sizes: facebook-hadoop-homa`, for example";
            reader.refuse_all("lacks `sizes` or `points`", remedy);
            false
        }
    }
}

fn check_arrivals(spec: &WorkloadSpec, reader: &mut dyn Reader) -> bool {
    if !spec.is_open() {
        return true;
    }
    let Some(load) = spec.load else {
        let remedy = "add `load: 0.6`, for example";
        reader.refuse_all("lacks `load`, which an open loop needs", remedy);
        return false;
    };
    // At a load of 0 no flow would ever start.
    let is_some = load.probability() > 0;
    if !is_some {
        reader.refuse("load", "is nothing", "give a share above 0");
    }
    is_some
}

fn check_ways(spec: &WorkloadSpec, reader: &mut dyn Reader) -> bool {
    match (&spec.pairs, &spec.pattern) {
        (None, None) => {
            let remedy = "add `pairs: [{from: 0, to: 1}]`, for example";
            reader.refuse_all("lacks `pairs` or `pattern`", remedy);
        }
        (Some(pairs), _) if pairs.is_empty() => {
            let remedy = "list at least one, for example `{from: 0, to: 1}`";
            reader.refuse("pairs", "is empty: no host sends", remedy);
        }
        (None, Some(_)) if !spec.is_open() => {
            let remedy = "add `arrivals: poisson` and `load: 0.6`, for example; an application in a closed loop is a `pattern` of the job itself";
            reader.refuse("pattern", "is for an open loop", remedy);
        }
        (None, Some(_)) if spec.fan_in.is_some() => {
            let remedy = "leave one of them out: an incast has each of its receivers as often";
            reader.refuse_all("has a `fan_in` and a `pattern`", remedy);
        }
        _ => return true,
    }
    false
}

impl WorkloadSpec {
    /// Returns true if flows start independently of earlier ones.
    pub fn is_open(&self) -> bool {
        self.arrivals != ArrivalKind::ClosedLoop
    }

    /// Returns the distribution of gaps between two arrivals in an open loop.
    pub fn gaps(&self) -> GapLaw {
        match self.arrivals {
            // A closed loop has no gaps; callers ask only in an open one.
            ArrivalKind::ClosedLoop | ArrivalKind::Poisson => GapLaw::Exponential,
            ArrivalKind::LogNormal => GapLaw::LogNormal {
                sigma: self.sigma.0,
            },
        }
    }

    /// Returns the size distribution; `None` if neither `sizes` nor `points` is given.
    pub fn distribution(&self) -> Option<Result<SizeDistribution, DistributionError>> {
        if let Some(points) = &self.points {
            let point = |of: &PointSpec| Point {
                size_bytes: of.size.count(),
                up_to: of.cumulative.probability(),
            };
            let points = points.0.iter().map(point).collect();
            return Some(SizeDistribution::new(points, self.between));
        }
        Some(match self.sizes? {
            FlowSizes::Named(distribution) => distribution.distribution(),
            FlowSizes::Fixed(size) => Ok(SizeDistribution::fixed(size.count())),
        })
    }

    /// Returns the default QP count for pairs that state none.
    pub fn usual_parallel(&self) -> u32 {
        if self.is_open() { 8 } else { 1 }
    }
}
