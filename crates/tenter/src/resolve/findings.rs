//! Problems and warnings that come up while a scenario is put together, and the budget for the
//! work.

use tenter_fabric::topology::Topology;
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::Problems;
use tenter_language::units::Budget;

/// Receivers for problems and warnings, and the budget.
#[derive(Clone, Copy)]
pub(crate) struct Findings<'a> {
    /// Any problem rules out a plan.
    pub(crate) problems: &'a Problems,
    /// Combinations that are allowed but hardly meant.
    pub(crate) warnings: &'a Problems,
    /// Memory and processor time that the request may take.
    pub(crate) budget: &'a Budget,
}

/// Owner of a scenario's problems and warnings.
pub(crate) struct Found<'b> {
    pub(crate) problems: Problems,
    pub(crate) warnings: Problems,
    budget: &'b Budget,
}

impl<'b> Found<'b> {
    /// Starts without findings, within `budget`.
    pub(crate) fn within(budget: &'b Budget) -> Found<'b> {
        Found {
            problems: Problems::default(),
            warnings: Problems::default(),
            budget,
        }
    }

    /// Returns the receivers for further findings.
    pub(crate) fn findings(&self) -> Findings<'_> {
        Findings {
            problems: &self.problems,
            warnings: &self.warnings,
            budget: self.budget,
        }
    }
}

/// Work units for each node and cable in one pass over a fabric.
const CABLE_UNITS: u64 = 20;

impl Findings<'_> {
    /// Takes the work for one pass over the fabric from the budget; notes a problem and returns
    /// `None` if too little is left.
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
