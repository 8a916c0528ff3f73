//! What is found while a scenario is put together.

use tenter_notation::decode::Read;
use tenter_notation::diagnostics::Problems;
use tenter_topology::Topology;
use tenter_units::Budget;

/// Where problems are noted, and warnings, and what putting it together may take.
#[derive(Clone, Copy)]
pub(crate) struct Findings<'a> {
    /// There is no plan with any of these.
    pub(crate) problems: &'a Problems,
    /// What is allowed, but hardly meant.
    pub(crate) warnings: &'a Problems,
    /// What the request may take.
    pub(crate) budget: &'a Budget,
}

/// The problems and warnings that one scenario has so far.
pub(crate) struct Found<'b> {
    pub(crate) problems: Problems,
    pub(crate) warnings: Problems,
    budget: &'b Budget,
}

impl<'b> Found<'b> {
    /// Nothing, within a budget.
    pub(crate) fn within(budget: &'b Budget) -> Found<'b> {
        Found {
            problems: Problems::default(),
            warnings: Problems::default(),
            budget,
        }
    }

    /// Where more is noted.
    pub(crate) fn findings(&self) -> Findings<'_> {
        Findings {
            problems: &self.problems,
            warnings: &self.warnings,
            budget: self.budget,
        }
    }
}

/// Units of work of a cable in each part of a scenario that goes over all of them.
const CABLE_UNITS: u64 = 20;

impl Findings<'_> {
    /// Counts the work of going over all cables of a fabric, and notes it where there is no time
    /// left for it.
    pub(crate) fn go_over(self, topology: &Topology) -> Read<()> {
        let nodes = topology.nodes.len() + topology.cables.len();
        let Err(over) = self.budget.work(nodes as u64 * CABLE_UNITS) else {
            return Some(());
        };
        let message = format!("the fabric is too large for this check: {}", over.what);
        self.problems.note("fabric.kind", message, over.remedy());
        None
    }
}
