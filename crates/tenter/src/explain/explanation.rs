//! The complete explanation for a plan.

use serde::Serialize;
use tenter_fabric::topology::Routing;
use tenter_language::units::Budget;
use tenter_sim::plan::Plan;

use crate::explain::bill::{Bill, bill};
use crate::explain::buffers::{SwitchFacts, TierSwitchFacts, switch_facts, tier_facts};
use crate::explain::circuits::{CircuitFacts, circuit_facts};
use crate::explain::congestion::{RecoveryFacts, recovery_facts};
use crate::explain::cost::{Cost, cost_on};
use crate::explain::credit::{CreditFacts, credit_facts};
use crate::explain::entropy::{EntropyFacts, entropy_facts};
use crate::explain::error::ExplainError;
use crate::explain::fabric::{FabricFacts, fabric_facts};
use crate::explain::host_memory::{PcieFacts, pcie_facts};
use crate::explain::ideal::{JobFacts, job_facts};
use crate::explain::idle::idle_settings_on;
use crate::explain::paths::{PathClass, longest_detour, path_classes};
use crate::explain::scheduled::{ScheduledFacts, scheduled_facts};

/// Everything that Tenter knows about a plan without running it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Scenario name, as its `name` key has it.
    pub scenario: String,
    /// Seed for all random streams.
    pub seed: u64,
    /// The fabric's tiers and links.
    pub fabric: FabricFacts,
    /// Path classes between hosts, the shortest first.
    pub paths: Vec<PathClass>,
    /// Switches on the longest detour: a shortest path into a region and the path on from there.
    /// Missing unless load balancing sends packets on detours, which `paths` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_detour: Option<u32>,
    /// Switch model in tiers without their own.
    pub switch: SwitchFacts,
    /// Switch models in tiers that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tier_switches: Vec<TierSwitchFacts>,
    /// Memory, credits and speed-up in a scheduled fabric; missing in any other.
    pub scheduled: Option<ScheduledFacts>,
    /// Lanes, input buffers and round trips in a credit-based fabric; missing in any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<CreditFacts>,
    /// Optical circuit switches, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circuits: Option<CircuitFacts>,
    /// PCIe between NICs and host memory, if it is modelled.
    pub pcie: Option<PcieFacts>,
    /// Recovery from one notification, if rates follow notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryFacts>,
    /// Source ports, if NICs change them from packet to packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<EntropyFacts>,
    /// Ideal times for each job's collectives, without any waiting.
    pub jobs: Vec<JobFacts>,
    /// Packet-hops, memory and time that a run takes.
    pub cost: Cost,
    /// Parts to buy for the fabric.
    pub bill: Bill,
    /// Settings without effect, a sentence each.
    pub notes: Vec<String>,
}

/// Explains a plan. `given` has the keys that its scenario sets itself, as `Loaded::given` lists
/// them.
///
/// # Errors
/// Hosts that cannot reach each other, or a collective that cannot be run.
pub fn explain(
    plan: &Plan,
    given: &[String],
    budget: &Budget,
) -> Result<Explanation, ExplainError> {
    explain_on(
        plan,
        &Routing::build(&plan.topology, budget)?,
        given,
        budget,
    )
}

/// Explains a plan over routes that were built for its fabric.
///
/// # Errors
/// A collective that cannot be run, or an explanation beyond the budget.
pub fn explain_on(
    plan: &Plan,
    routing: &Routing,
    given: &[String],
    budget: &Budget,
) -> Result<Explanation, ExplainError> {
    let jobs = plan.jobs.iter().map(|job| job_facts(plan, routing, job));
    Ok(Explanation {
        scenario: plan.name.clone(),
        seed: plan.seed,
        fabric: fabric_facts(plan),
        paths: path_classes(plan, routing),
        longest_detour: longest_detour(plan, routing),
        switch: switch_facts(plan),
        tier_switches: tier_facts(plan),
        scheduled: scheduled_facts(plan, routing),
        credit: credit_facts(plan),
        circuits: circuit_facts(plan),
        pcie: pcie_facts(plan),
        recovery: recovery_facts(plan),
        entropy: entropy_facts(plan),
        jobs: jobs.collect::<Result<_, _>>()?,
        cost: cost_on(plan, routing, budget)?,
        bill: bill(plan),
        notes: idle_settings_on(plan, routing, given, budget)?
            .into_iter()
            .map(|idle| idle.note)
            .collect(),
    })
}
