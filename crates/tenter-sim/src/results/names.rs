//! Names to which rows refer by number.

use crate::plan::Plan;
use tenter_results::Names;

/// Collects the plan's job and node names, for tables that show them beside numbers.
pub fn names(plan: &Plan) -> Names {
    Names {
        jobs: plan.jobs.iter().map(|job| job.name.clone()).collect(),
        nodes: plan
            .topology
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
    }
}
