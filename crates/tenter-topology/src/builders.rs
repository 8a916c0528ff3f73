//! The kinds of topology a scenario can name, one file each.

mod explicit;
mod fat_tree;
mod leaf_spine;
mod rail;
mod single_switch;

pub use explicit::{Explicit, ExplicitLink, ExplicitNode, ExplicitRoute};
pub use fat_tree::{CoreTier, FatTree};
pub use leaf_spine::{LeafSpine, LinkOverride};
pub use rail::Rail;
pub use single_switch::SingleSwitch;

use tenter_units::Rate;

use crate::{Topology, TopologyError};

/// A topology as a person describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum TopologySpec {
    /// All hosts on one switch.
    SingleSwitch(SingleSwitch),
    /// Two tiers, every leaf to every spine.
    LeafSpine(LeafSpine),
    /// Two or three tiers of any oversubscription.
    FatTree(FatTree),
    /// Two tiers, NIC `i` of every server on a leaf of rail `i`.
    Rail(Rail),
    /// A list of nodes and a list of links.
    Explicit(Explicit),
}

impl TopologySpec {
    /// The name of each kind as scenarios write it, in the order of the enum.
    pub const NAMES: [&'static str; 5] = [
        "single-switch",
        "leaf-spine",
        "fat-tree",
        "rail",
        "explicit",
    ];

    /// The name of this kind as scenarios write it.
    pub fn name(&self) -> &'static str {
        let place = match self {
            TopologySpec::SingleSwitch(_) => 0,
            TopologySpec::LeafSpine(_) => 1,
            TopologySpec::FatTree(_) => 2,
            TopologySpec::Rail(_) => 3,
            TopologySpec::Explicit(_) => 4,
        };
        TopologySpec::NAMES[place]
    }

    /// Wires the fabric and checks it.
    ///
    /// # Errors
    /// The first thing that is wrong with the description, with the parameter or node and the
    /// remedy.
    pub fn build(&self) -> Result<Topology, TopologyError> {
        match self {
            TopologySpec::SingleSwitch(spec) => spec.build(),
            TopologySpec::LeafSpine(spec) => spec.build(),
            TopologySpec::FatTree(spec) => spec.build(),
            TopologySpec::Rail(spec) => spec.build(),
            TopologySpec::Explicit(spec) => spec.build(),
        }
    }
}

/// Refuses counts of zero, by parameter name.
fn check_counts(counts: &[(&str, u32)]) -> Result<(), TopologyError> {
    match counts.iter().find(|(_, count)| *count == 0) {
        None => Ok(()),
        Some((parameter, _)) => Err(TopologyError::ZeroCount {
            parameter: (*parameter).to_owned(),
        }),
    }
}

/// Refuses rates of zero, by parameter name.
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
