//! The topology part in the `fabric` section, and errors that show when the graph is built.

use tenter_fabric::topology::{Cabling, RoutingError, Topology, TopologyError, TopologySpec};
use tenter_language::notation::decode::split_remedy;

use crate::resolve::findings::Findings;

/// Builds the fabric's graph; notes an error at the key that caused it.
pub(crate) fn build(spec: &TopologySpec, findings: Findings<'_>) -> Option<Topology> {
    let problems = findings.problems;
    let error = match spec.build(findings.budget) {
        Ok(topology) => return Some(topology),
        Err(error) => error,
    };
    let text = error.to_string();
    let (message, help) = split_remedy(&text);
    problems.push(
        problems.place(&blamed(spec, &error)),
        message.to_owned(),
        help,
    );
    None
}

/// Returns the path to the key that caused an error.
fn blamed(spec: &TopologySpec, error: &TopologyError) -> String {
    let part = match (error, spec) {
        (TopologyError::UnknownNode { link, .. }, _) => return format!("fabric.links[{link}]"),
        (TopologyError::Route { index, .. }, _) => return format!("fabric.routes[{index}]"),
        (TopologyError::Parameter { parameter, .. }, _) => parameter,
        // A loop takes several routes; the first stands for all of them.
        (TopologyError::Routing(RoutingError::Loop { .. }), _) => "routes[0]",
        (TopologyError::OverBudget { .. } | TopologyError::Routing(_), _) => "kind",
        (_, TopologySpec::Explicit(_)) => "links",
        (_, TopologySpec::LeafSpine(spec)) if spec.cabling == Cabling::Regular => "overrides",
        (_, TopologySpec::LeafSpine(_)) => "cabling",
        (_, TopologySpec::Rail(spec)) if spec.cabling != Cabling::Regular => "cabling",
        _ => "kind",
    };
    format!("fabric.{part}")
}
