//! The kinds of topology that a scenario can name, one file each.

mod dragonfly;
mod dragonfly_plus;
mod explicit;
mod fat_tree;
mod grid;
mod groups;
mod hyperx;
mod leaf_spine;
mod rail;
mod rail_only;
mod single_switch;
mod slim_fly;
mod torus;

pub use dragonfly::Dragonfly;
pub use dragonfly_plus::DragonflyPlus;
pub use explicit::{Explicit, ExplicitKind, ExplicitLink, ExplicitNode, ExplicitRoute};
pub use fat_tree::{CoreTier, FatTree, Taper};
pub use hyperx::{GridPaths, Hyperx};
pub use leaf_spine::{LeafSpine, LinkOverride};
pub use rail::Rail;
pub use rail_only::RailOnly;
pub use single_switch::SingleSwitch;
pub use slim_fly::SlimFly;
pub use torus::Torus;

use std::ops::RangeInclusive;

use tenter_language::config::{variants, word_or};
use tenter_language::units::{Budget, Rate, Time};

use crate::topology::wiring::HOSTS_MAX;
use crate::topology::{Size, Topology, TopologyError};

variants! {
    /// A topology as a person describes it.
    pub enum TopologySpec as "`fabric`", derive(Clone, Debug, PartialEq) {
        /// The topology; the further keys depend on it.
        kind;
        /// All hosts on one switch.
        "single-switch" => SingleSwitch(SingleSwitch),
        /// Two tiers, every leaf to every spine.
        "leaf-spine" => LeafSpine(LeafSpine),
        /// Two or three tiers of any oversubscription.
        "fat-tree" => FatTree(FatTree),
        /// Two tiers, NIC `i` of every server on a leaf of rail `i`.
        "rail" => Rail(Rail),
        /// A network for each NIC of a server, and nothing between these.
        "rail-only" => RailOnly(RailOnly),
        /// Groups of routers, each two of them cabled to each other.
        "dragonfly" => Dragonfly(Dragonfly),
        /// Groups of leaves and spines, the spines cabled to those of all other groups.
        "dragonfly-plus" => DragonflyPlus(DragonflyPlus),
        /// Routers of which each two are at most two cables apart.
        "slim-fly" => SlimFly(SlimFly),
        /// Switches with coordinates, each cabled to all that differ in one of them alone.
        "hyperx" => Hyperx(Hyperx),
        /// Switches with coordinates, each cabled to the next ones in every dimension.
        "torus" => Torus(Torus),
        /// A list of nodes and a list of links.
        "explicit" => Explicit(Explicit),
    }
}

/// Rule that puts hosts on leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cabling {
    /// Hosts fill leaf after leaf, in number order.
    #[default]
    Regular,
    /// Explicit leaf for each host, by host number.
    Leaves(Vec<u32>),
}

word_or!(Cabling { "regular" => Regular, Leaves(Vec<u32>) });

/// Valid line rates. Slower links would make a frame take seconds, and faster ones do not exist.
pub(crate) const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// Valid propagation delays. One second corresponds to 200,000 km of fibre.
pub(crate) const DELAYS: RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);
/// Valid counts for hosts, switches, cables or ports.
pub(crate) const COUNTS: RangeInclusive<u32> = 1..=HOSTS_MAX;

impl TopologySpec {
    /// Computes the fabric's size from counts alone, without building it.
    ///
    /// # Errors
    /// The first error in a parameter, or counts that are too large to simulate, with a remedy.
    pub fn size(&self) -> Result<Size, TopologyError> {
        match self {
            TopologySpec::SingleSwitch(spec) => spec.size(),
            TopologySpec::LeafSpine(spec) => spec.size(),
            TopologySpec::FatTree(spec) => spec.size(),
            TopologySpec::Rail(spec) => spec.size(),
            TopologySpec::RailOnly(spec) => spec.size(),
            TopologySpec::Dragonfly(spec) => spec.size(),
            TopologySpec::DragonflyPlus(spec) => spec.size(),
            TopologySpec::SlimFly(spec) => spec.size(),
            TopologySpec::Hyperx(spec) => spec.size(),
            TopologySpec::Torus(spec) => spec.size(),
            TopologySpec::Explicit(spec) => spec.size(),
        }
    }

    /// Wires the fabric and checks it. The budget gives the memory first.
    ///
    /// # Errors
    /// The first error in the description, with the parameter or node at fault and a remedy.
    pub fn build(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        self.size()?.take(budget)?;
        match self {
            TopologySpec::SingleSwitch(spec) => spec.wire(budget),
            TopologySpec::LeafSpine(spec) => spec.wire(budget),
            TopologySpec::FatTree(spec) => spec.wire(budget),
            TopologySpec::Rail(spec) => spec.wire(budget),
            TopologySpec::RailOnly(spec) => spec.wire(budget),
            TopologySpec::Dragonfly(spec) => spec.wire(budget),
            TopologySpec::DragonflyPlus(spec) => spec.wire(budget),
            TopologySpec::SlimFly(spec) => spec.wire(budget),
            TopologySpec::Hyperx(spec) => spec.wire(budget),
            TopologySpec::Torus(spec) => spec.wire(budget),
            TopologySpec::Explicit(spec) => spec.wire(budget),
        }
    }
}

/// Refuses a zero count, and names its parameter.
fn check_counts(counts: &[(&str, u32)]) -> Result<(), TopologyError> {
    match counts.iter().find(|(_, count)| *count == 0) {
        None => Ok(()),
        Some((parameter, _)) => Err(TopologyError::ZeroCount {
            parameter: (*parameter).to_owned(),
        }),
    }
}

/// Refuses a zero rate, and names its parameter.
fn check_rates(rates: &[(&str, Rate)]) -> Result<(), TopologyError> {
    match rates.iter().find(|(_, rate)| rate.bits_per_second() == 0) {
        None => Ok(()),
        Some((parameter, _)) => Err(TopologyError::ZeroRate {
            parameter: (*parameter).to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests;
