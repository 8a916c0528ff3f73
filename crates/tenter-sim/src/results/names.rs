//! The names that rows refer to by index.

use tenter_plan::Plan;
use tenter_record::Names;

/// The names that tables have beside numbers.
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
