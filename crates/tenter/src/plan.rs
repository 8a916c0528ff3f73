//! Plans: scenarios in which every number stands.

use std::sync::Arc;

use crate::explain::ExplainError;
use crate::resolve::{Diagnostics, Loaded};
use tenter_language::units::Budget;
use tenter_results::Names;

use crate::level;
use tenter_sim::names;

/// A valid scenario with every default filled in; clones share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    loaded: Arc<Loaded>,
    /// Reason for packet or flow level, if the program chose it.
    choice: Option<Arc<str>>,
}

impl Plan {
    /// Makes the plan for a loaded scenario, and chooses its level if `engine.fidelity` is `auto`.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or the choice would take
    /// more than `budget` has.
    pub fn new(mut loaded: Loaded, budget: &Budget) -> Result<Plan, ExplainError> {
        let choice = level::choose(&mut loaded.plan, budget)?;
        Ok(Plan {
            loaded: Arc::new(loaded),
            choice: choice.map(Arc::from),
        })
    }

    /// Reason for packet or flow level, as a sentence, if `engine.fidelity` is `auto`.
    pub fn choice(&self) -> Option<&str> {
        self.choice.as_deref()
    }

    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Everything from which the simulation is built.
    pub fn resolved(&self) -> &tenter_sim::plan::Plan {
        &self.loaded.plan
    }

    /// Scenario name; may be empty.
    pub fn name(&self) -> &str {
        &self.loaded.plan.name
    }

    /// Job and node names, to which rows refer by index.
    pub fn names(&self) -> Names {
        names(self.resolved())
    }

    /// Seed from which every random stream derives.
    pub fn seed(&self) -> u64 {
        self.loaded.plan.seed
    }

    /// The scenario as YAML with its settings applied and every default filled in.
    pub fn to_yaml(&self) -> &str {
        &self.loaded.effective
    }

    /// Names and bytes of the files that [`Plan::to_yaml`] names: lists that are too long for it,
    /// and operation graphs.
    pub fn files_beside(&self) -> Vec<(String, Vec<u8>)> {
        self.loaded.beside()
    }

    /// Warnings: what is odd about the scenario but does not stop it.
    pub fn warnings(&self) -> &Diagnostics {
        &self.loaded.warnings
    }
}
