//! Circuit changes at optical switches, and steering.

use std::ops::RangeInclusive;

use tenter_fabric::topology::{OpticalCabling, OpticalSpec, OpticalTier, Rewiring, TopologySpec};
use tenter_language::config::{Percent, Reader, choice, component};
use tenter_language::units::Time;

use crate::plan::bounds::SIMULATED_MAX;

component! {
    /// Optical circuit switches, when their circuits change, and what that is like.
    pub struct CircuitPlan as "`fabric.circuits`", derive(Clone, Debug, PartialEq, Eq) {
        /// The most ports of an optical switch, an even number.
        radix: u16 = "16", in 2..=4096, from "16 × 16 silicon photonic switches (Bandwidth Steering in HPC Using Silicon Nanophotonics)";
        /// Delay of light through an optical switch, without its fibres.
        delay: Time = "10ns", in Time::ZERO..=Time::from_us(1_000_000), from "2 m of fibre at 1.98·10⁸ m/s";
        /// Time for which the ports whose circuits change are dark.
        reconfiguration: Time = "20us", in Time::from_ns(1)..=SIMULATED_MAX, from "about 20 µs with silicon photonics, a few ms with commercial switches (Bandwidth Steering in HPC Using Silicon Nanophotonics)";
        /// Treatment of frames under way: ports stop beforehand and the frames arrive first
        /// (`drain`), or the light goes at once and frames on the fibre and in its queue are lost
        /// (`lose`).
        on_change: OnChange = "drain";
        /// Time from the change of a circuit until routing knows: after circuits have come up, and
        /// with `on_change: lose` also after they have gone. No longer than `reconfiguration`.
        convergence: Time = "0us", in TIMES;
        /// The leaves that share an optical switch of a `fat-tree`. `straight`: those of the same
        /// number in each pod, over every cable. `rotated`: for each cable of a leaf another choice
        /// of one leaf of each pod.
        cabling: OpticalCabling = "rotated", from "not published; with `straight` it is always the same leaves that can be joined";
        /// A packet that would wait for longer at every circuit to its leaf takes the tree of a
        /// `fat-tree`, where load balancing chooses for each packet and looks at no table.
        spill: Option<Time> = "2us", in TIMES, from "assumed: the direct way first, and the queue of 17 full frames at 100G";
        /// Steering of circuits by the traffic of jobs.
        steering: Option<SteeringPlan> = "none";
        /// Circuits from the beginning that differ from the cables of the tree, or from those that
        /// spread over all pairs of leaves.
        initial: Vec<Rewiring> = "[]";
        /// Changes of circuits at given times; after each change all hosts reach each other.
        changes: Vec<CircuitChange> = "[]";
        check routes_end_before_circuits;
    }
}

/// Any time within the longest simulation.
const TIMES: RangeInclusive<Time> = Time::ZERO..=SIMULATED_MAX;

fn routes_end_before_circuits(circuits: &CircuitPlan, reader: &mut dyn Reader) -> bool {
    let holds = circuits.convergence <= circuits.reconfiguration;
    if !holds {
        let what = "is longer than `reconfiguration`: routes that are no more would lead through new circuits, and in circles";
        let help = format!("give at most {}", circuits.reconfiguration);
        reader.refuse("convergence", what, &help);
    }
    holds
}

impl CircuitPlan {
    /// Derives the optical switches' parameters for a fabric.
    pub fn optical(&self, fabric: &TopologySpec) -> OpticalSpec {
        OpticalSpec {
            tier: match fabric {
                TopologySpec::LeafSpine(_) => OpticalTier::InPlaceOfSpines,
                TopologySpec::SingleSwitch(_)
                | TopologySpec::FatTree(_)
                | TopologySpec::Rail(_)
                | TopologySpec::RailOnly(_)
                | TopologySpec::Dragonfly(_)
                | TopologySpec::DragonflyPlus(_)
                | TopologySpec::SlimFly(_)
                | TopologySpec::Hyperx(_)
                | TopologySpec::Torus(_)
                | TopologySpec::Explicit(_) => OpticalTier::AboveLeaves,
            },
            radix: self.radix,
            delay: self.delay,
            cabling: self.cabling,
        }
    }
}

component! {
    /// How circuits follow what jobs send; there are no other changes then.
    pub struct SteeringPlan as "`fabric.circuits.steering`" {
        /// Origin of the traffic matrix: the description of jobs, whenever one starts or ends, or
        /// the counters of NICs, at fixed intervals.
        demand: SteeringDemand = "jobs", from "traffic estimation or observation (Bandwidth Steering in HPC Using Silicon Nanophotonics)";
        /// The rule for circuits: `estimate` sets them only if the resulting routes are less
        /// loaded, `greedy` always sets the complete heaviest matching of each optical switch.
        controller: SteeringController = "estimate", from "`greedy` is the rule that is published (Bandwidth Steering in HPC Using Silicon Nanophotonics)";
        /// Interval at which counters are read; without effect for `demand: jobs`.
        interval: Time = "1ms", in Time::from_us(1)..=SIMULATED_MAX;
        /// Circuits change where that shortens the time of the busiest link by this share, or
        /// shortens paths by this share while no link's time grows.
        threshold: Percent = "5", in 0..=100, from "assumed: no change for what noise may be";
    }
}

/// The rule by which circuits are chosen for the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeringController {
    /// Sets circuits only if the estimated routes are less loaded; several candidates are compared.
    Estimate,
    /// Sets the complete heaviest matching at each optical switch.
    Greedy,
}

choice!(SteeringController { "estimate" => Estimate, "greedy" => Greedy });

/// The source of the traffic matrix for steering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteeringDemand {
    /// The jobs' description, when one starts or ends.
    Jobs,
    /// The bytes that queue pairs had acknowledged since the last reading.
    Counters,
}

choice!(SteeringDemand { "jobs" => Jobs, "counters" => Counters });

component! {
    /// Circuits that change together.
    pub struct CircuitChange as "`fabric.circuits.changes[]`", derive(Clone, Debug, PartialEq, Eq) {
        /// When the change is announced; it waits while its switch still carries out an earlier
        /// one.
        at: Time, in TIMES;
        /// New circuits, optical switch by optical switch.
        rewirings as "circuits": Vec<Rewiring>;
    }
}

/// Handling of frames that are under way on circuits that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnChange {
    /// Ports stop sending, routing knows at once, and the switch moves when all frames have
    /// arrived. Frames that wait at these ports are routed again.
    Drain,
    /// The light goes at once: frames on the fibre are lost, and so are those that wait or arrive
    /// until routing knows.
    Lose,
}

choice!(OnChange { "drain" => Drain, "lose" => Lose });
