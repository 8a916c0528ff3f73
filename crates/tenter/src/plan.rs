//! A plan: a scenario in which every number stands.

use std::sync::Arc;

use tenter_explain::ExplainError;
use tenter_record::Names;
use tenter_scenario::{Diagnostics, Loaded};
use tenter_units::Budget;

use crate::level;
use tenter_sim::names;

/// A scenario that holds, with every default filled in; a clone shares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    loaded: Arc<Loaded>,
    /// Why it is simulated with packets or with flows, if that was chosen for it.
    choice: Option<Arc<str>>,
}

impl Plan {
    /// The plan of a scenario that was loaded; its level is chosen where that is asked for.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or seeing that would take
    /// more than the budget has.
    pub fn new(mut loaded: Loaded, budget: &Budget) -> Result<Plan, ExplainError> {
        let choice = level::choose(&mut loaded.plan, budget)?;
        Ok(Plan {
            loaded: Arc::new(loaded),
            choice: choice.map(Arc::from),
        })
    }

    /// Why it is simulated with packets or with flows, if `engine.fidelity` is `auto`.
    pub fn choice(&self) -> Option<&str> {
        self.choice.as_deref()
    }

    pub(crate) fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Everything the simulation is built from.
    pub fn resolved(&self) -> &tenter_plan::Plan {
        &self.loaded.plan
    }

    /// Name of the scenario; may be empty.
    pub fn name(&self) -> &str {
        &self.loaded.plan.name
    }

    /// The names that rows refer to by index: of jobs and of nodes.
    pub fn names(&self) -> Names {
        names(self.resolved())
    }

    /// Seed of every random stream.
    pub fn seed(&self) -> u64 {
        self.loaded.plan.seed
    }

    /// The scenario as YAML with its settings applied and every default filled in.
    pub fn to_yaml(&self) -> &str {
        &self.loaded.effective
    }

    /// The names and bytes of files that [`Plan::to_yaml`] names: lists that are too long for it,
    /// and graphs of operations.
    pub fn files_beside(&self) -> Vec<(String, Vec<u8>)> {
        self.loaded.beside()
    }

    /// What is odd about the scenario but stops nobody.
    pub fn warnings(&self) -> &Diagnostics {
        &self.loaded.warnings
    }
}
