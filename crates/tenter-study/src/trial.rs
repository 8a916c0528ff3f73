//! What a study keeps of a trial.

use tenter_explain::{Bill, bill};
use tenter_plan::Plan;
use tenter_record::{Counts, FlowRow, Held, JobRow, Names, PortRow, Results, Summary};
use tenter_sim::Outcome;
use tenter_topology::{NodeId, Topology};
use tenter_units::Time;

use crate::leaf::{Leaf, leaves};
use crate::power;
use crate::seeds::shared_uplinks;
use crate::throughput::Throughput;

/// One trial of a variant, with what its readings need.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// The seed it was run with.
    pub seed: u64,
    /// What it says about itself.
    pub summary: Summary,
    /// What ports, queues and switches have counted.
    pub counts: Counts,
    /// Its flows, if the study [asks for them](crate::Study::needs_flows).
    pub flows: Vec<FlowRow>,
    /// The names that rows refer to by index.
    pub(crate) names: Names,
    /// Of each flow the index of its job and its completion time, as the study asks for flows.
    pub(crate) completion_times: Vec<(u32, Time)>,
    /// What those flows carried, and when, as the study asks for flows.
    pub(crate) throughput: Throughput,
    pub(crate) leaves: Vec<Leaf>,
    /// The switches of the highest tier.
    pub(crate) top_switches: Vec<NodeId>,
    /// How many uplinks jobs under test share with background jobs, where a hash decides that.
    pub(crate) shared_uplinks: Option<u64>,
    /// What its fabric consists of.
    pub(crate) bill: Option<Bill>,
    /// What its power follows from, where the scenario has a profile.
    pub(crate) power: Option<power::Basis>,
}

impl Trial {
    /// What a run of a plan has left, its flows included if the study
    /// [asks for them](crate::Study::needs_flows).
    pub fn new(plan: &Plan, outcome: Outcome, flows: Vec<FlowRow>) -> Trial {
        Trial::of(plan, outcome.summary, outcome.counts, flows)
    }

    /// The same of a trial that was run before.
    pub fn of(plan: &Plan, summary: Summary, counts: Counts, flows: Vec<FlowRow>) -> Trial {
        Trial {
            seed: plan.seed,
            throughput: Throughput::of(&flows, &summary),
            names: tenter_sim::names(plan),
            summary,
            counts,
            completion_times: flows.iter().map(|flow| (flow.job, flow.fct())).collect(),
            flows,
            leaves: leaves(&plan.topology),
            top_switches: top_switches(&plan.topology),
            shared_uplinks: shared_uplinks(plan),
            bill: Some(bill(plan)),
            power: power::Basis::of(plan),
        }
    }

    /// What it has left, as queries see it.
    pub(crate) fn held(&self) -> Held<'_> {
        Held {
            results: Results {
                summary: &self.summary,
                counts: &self.counts,
                flows: &self.flows,
                samples: &[],
            },
            names: &self.names,
        }
    }

    /// How many NICs there are; they are the first nodes.
    pub(crate) fn hosts(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.hosts.len()).sum()
    }

    /// The ports of the NICs.
    pub(crate) fn nics(&self) -> impl Iterator<Item = &PortRow> {
        let hosts = self.hosts();
        let ports = self.counts.ports.iter();
        ports.filter(move |row| (row.node as usize) < hosts)
    }
}

/// Whether a job is the one of that name; for none, whether it is under test.
pub(crate) fn is_meant(job: &JobRow, name: Option<&str>) -> bool {
    name.map_or(!job.background, |name| job.name == name)
}

/// The switches of the highest tier.
fn top_switches(topology: &Topology) -> Vec<NodeId> {
    let tier = |node: &NodeId| topology.tier(*node);
    let highest = topology.switch_nodes().filter_map(|node| tier(&node)).max();
    let switches = topology.switch_nodes();
    switches.filter(|node| tier(node) == highest).collect()
}
