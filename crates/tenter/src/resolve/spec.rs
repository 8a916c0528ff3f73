//! Scenarios as typed values: each section is a component with its keys as fields.
//!
//! [`Scenario::new`] creates a [`Scenario`], and so do [`load_typed`](crate::resolve::load_typed)
//! from a text and serde; [`read_document`] reads every other component. The values are those that
//! were written, before the sections are checked against each other.

use tenter_language::config::{Component, Written};
use tenter_language::notation::decode::Section;
use tenter_language::notation::diagnostics::Problems;
use tenter_language::notation::emit;
use tenter_language::notation::tree::Node;

use crate::resolve::device_defaults;
use crate::resolve::document::read_document;
use crate::resolve::load::Format;

pub use crate::resolve::addresses::{AddressOverride, Addresses, Pool as AddressPool, Prefix};
pub use crate::resolve::classes::{Alpha, Class, Kept, Lossless, Marking, Strict, Trigger};
pub use crate::resolve::endpoint::Endpoint;
pub use crate::resolve::fabric::{Fabric, FabricParts};
pub use crate::resolve::faults::{
    Course, Degraded, Event, Faults, Flap, LinkDown, PauseStorm, Random, SlowLink, SlowSwitch,
    SwitchDown, Which,
};
pub use crate::resolve::host::Host;
pub use crate::resolve::impairments::{Action, Impairment, Opcode, Rule, Sequences};
pub use crate::resolve::links::Cable;
pub use crate::resolve::load_balancing::Balancing;
pub use crate::resolve::nic_impairments::{NicImpairment, PeakShare};
pub use crate::resolve::observe::{Engine, Limits, Observe, Recording, Sampling};
pub use crate::resolve::power::{OwnPower, Power, ProfileName as PowerProfileName};
pub use crate::resolve::profiles::ProfileName;
pub use crate::resolve::scenario::{Scenario, ScenarioParts};
pub use crate::resolve::seeds::SeedKeys;
pub use crate::resolve::source_flow_control::{Repeat, SourceFlowControl};
pub use crate::resolve::switch::{Buffer, Capacity, FlowControl, Pool, Switch, SwitchKeys, Tier};
pub use crate::resolve::switching::{InputKeys, QueueKind, Switching};

pub use tenter_endpoint::{
    AckPolicy, Interleave, LimitedBy, NicSpec, PathMtu, Pcie, ReceiveBufferSpec, SourcePorts,
    congestion_control, loss_recovery,
};
pub use tenter_fabric::net::headroom::PauseResponse;
pub use tenter_fabric::net::scheduled::ScheduledSpec;
pub use tenter_fabric::net::{
    CreditSpec, EcnSpec, Forwarding, Level, MarkAt, PlaceOfSignals, PoolScope, SignalMode,
    WatchdogSpec, load_balancing,
};
pub use tenter_fabric::topology::{
    Cabling, CoreTier, Explicit, ExplicitKind, ExplicitLink, ExplicitNode, ExplicitRoute, FatTree,
    LeafSpine, LinkOverride, OpticalCabling, Rail, Rewiring, SingleSwitch, Taper, TopologySpec,
};
pub use tenter_language::config::{Chance, Percent, Share, WordOr};
pub use tenter_sim::plan::{
    CircuitChange, CircuitPlan, OnChange, PowerConstants, SteeringController, SteeringDemand,
    SteeringPlan,
};
pub use tenter_workload::graph::Algorithms;
pub use tenter_workload::spec::{
    AfterJob, AicbSpec, ArrivalKind, CallReading, ChakraSpec, CollectiveSpec, ComputeScale,
    Dependencies, DrawnSizes, FlightRecorderSpec, FlowReading, FlowSizes, FlowSpec, FlowTableSpec,
    Gaps, GoalSpec, GraphSpec, HostList, HostRef, HtsimSpec, JobClass, JobSpec, KinetoSpec,
    NcclLogSpec, Ns3Spec, OperationTiming, Origin, PairSpec, PatternSpec, PlacementPolicy,
    PointSpec, Points, PytorchEtSpec, Ranks, Senders, Sigma, SimaiSpec, SizeRange, Sizes, SizesBy,
    Start, StartUnit, TraceReading, Waits, WorkloadKind, WorkloadSpec,
};
pub use tenter_workload::{Groups, QueuePairScope, ScaleUp, collective, pattern};

/// Creates a job that runs collectives in sequence; all other keys have their defaults.
pub fn job(name: impl Into<String>, collectives: Vec<CollectiveSpec>) -> JobSpec {
    const LEAST: &str = "collectives: [{collective: all-to-all, size: 1B}]";
    let least = read_document::<JobSpec>(LEAST, "job", Format::Yaml);
    JobSpec {
        name: Some(name.into()),
        collectives: Some(collectives),
        ..least.expect("one collective is enough of a job")
    }
}

impl Scenario {
    /// Writes the scenario as YAML.
    pub fn to_yaml(&self) -> String {
        emit::yaml(&mut self.tree())
    }

    /// Writes the scenario as TOML, with a line for each section. Seeds from 2^63 on exceed the
    /// integers that every TOML reader must accept; Tenter accepts them.
    pub fn to_toml(&self) -> String {
        emit::toml(&self.tree())
    }

    /// Returns the scenario as the tree that a reader takes.
    pub(crate) fn tree(&self) -> Node {
        Node::written(Written::mapping(self.written()))
    }
}

impl Switch {
    /// Returns a device's switches with all its constants; `None` for an unknown name.
    pub fn of_device(name: &str) -> Option<Switch> {
        let switch = Node::mapping([("profile", Node::plain(name))]);
        let mut root = Node::mapping([("fabric", Node::mapping([("switch", switch)]))]);
        device_defaults::fill_in(&mut root);
        let problems = Problems::default();
        let fabric = root.entry_mut("fabric")?.clone();
        let mut fabric = Section::root(fabric, &Fabric::TABLE, &problems);
        fabric.value("switch").filter(|_| problems.is_empty())
    }
}
