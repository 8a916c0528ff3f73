//! A plan: a scenario in which every number stands.

use std::sync::Arc;

use tenter_explain::{
    ExplainError, Explanation, IdleSetting, idle_settings, memory_bytes, packet_hops,
};
use tenter_record::Names;
use tenter_scenario::{Diagnostics, Loaded};

use crate::Error;
use crate::identity::names;

/// A scenario that holds, with every default filled in; a clone shares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    loaded: Arc<Loaded>,
}

impl Plan {
    /// The plan of a scenario that was loaded.
    pub fn new(loaded: Loaded) -> Plan {
        Plan {
            loaded: Arc::new(loaded),
        }
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

    /// What is odd about the scenario but stops nobody.
    pub fn warnings(&self) -> &Diagnostics {
        &self.loaded.warnings
    }

    /// Checks what only building shows: that hosts reach each other, that links take time.
    ///
    /// # Errors
    /// The first of what cannot be built.
    pub fn check(&self) -> Result<(), Error> {
        tenter_sim::check(self.resolved()).map_err(Error::Unbuildable)
    }

    /// Settings of the scenario that have no effect.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn idle_settings(&self) -> Result<Vec<IdleSetting>, Error> {
        Ok(idle_settings(self.resolved(), &self.loaded.given)?)
    }

    /// What the plan means and what running it costs, without running it.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn explain(&self) -> Result<Explanation, Error> {
        Ok(tenter_explain::explain(
            self.resolved(),
            &self.loaded.given,
        )?)
    }

    /// The memory that a run is expected to take, in bytes.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn memory_bytes(&self) -> Result<u64, Error> {
        Ok(memory_bytes(self.resolved()).map_err(ExplainError::from)?)
    }

    /// The packet-hops that a run is expected to have.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn packet_hops(&self) -> Result<f64, Error> {
        Ok(packet_hops(self.resolved())?)
    }
}
