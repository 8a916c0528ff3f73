//! Explains plans, estimates their cost and checks that they can be built, without running them.

use std::sync::Arc;

use crate::explain::{
    Cost, ExplainError, Explanation, FidelityClass, IdleSetting, cost_on, explain_on,
    idle_settings, idle_settings_on, known_error, memory_bytes, packet_hops,
};
use tenter_fabric::topology::Routing;
use tenter_language::units::Budget;
use tenter_results::{NoteCode, NoteRow, Notes};
use tenter_sim::plan::Fidelity;

use crate::budget::{machine_limits, run_budget};
use crate::nccl_notes;
use crate::speed_up::{SpeedUp, speed_ups};
use crate::{Error, Plan};

impl Plan {
    /// Checks what only building shows: that hosts reach each other, that links have a delay. Uses
    /// [`run_budget`](crate::run_budget).
    ///
    /// # Errors
    /// The first part that cannot be built.
    pub fn check(&self) -> Result<(), Error> {
        self.check_within(&run_budget())
    }

    /// Runs [`Plan::check`] within `budget`.
    ///
    /// # Errors
    /// The first part that cannot be built, or would take more than `budget` has.
    pub fn check_within(&self, budget: &Budget) -> Result<(), Error> {
        self.checked(budget).map(drop)
    }

    /// Checks the plan and keeps its routes, so that notes, cost and explanation need not compute
    /// them again.
    ///
    /// # Errors
    /// The first part that cannot be built, or would take more than `budget` has.
    pub fn checked(&self, budget: &Budget) -> Result<Checked<'_>, Error> {
        let routing = tenter_sim::check(self.resolved(), budget).map_err(Error::Unbuildable)?;
        Ok(Checked {
            plan: self,
            routing,
        })
    }

    /// Returns the settings that have no effect on this plan.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, numbers leave every range,
    /// or the search would take more than `budget` has.
    pub fn idle_settings(&self, budget: &Budget) -> Result<Vec<IdleSetting>, Error> {
        let (plan, given) = (self.resolved(), &self.loaded().given);
        Ok(idle_settings(plan, given, budget)?)
    }

    /// Returns the notes that a reader needs before there are any results: warnings, the error of
    /// flow level, the reason for the level, algorithms by default, settings without effect.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn notes(&self) -> Result<Notes, Error> {
        self.notes_within(&run_budget())
    }

    /// Returns [`Plan::notes`] within `budget`.
    ///
    /// # Errors
    /// As [`Plan::notes`], or when it would take more than `budget` has.
    pub fn notes_within(&self, budget: &Budget) -> Result<Notes, Error> {
        Ok(self.notes_with(self.idle_settings(budget)?))
    }

    fn notes_with(&self, idle: Vec<IdleSetting>) -> Notes {
        let warned = self.warnings().problems().iter().map(|problem| {
            let note = NoteRow::new(NoteCode::Scenario, problem.on_one_line());
            note.at(&problem.path)
        });
        let error = (self.resolved().fidelity == Fidelity::Flow)
            .then(|| NoteRow::new(NoteCode::FlowLevelError, error_of_flows(self.resolved())));
        let choice = self.choice();
        let choice = choice.map(|why| NoteRow::new(NoteCode::Fidelity, why));
        let of_level = error.into_iter().chain(choice);
        let of_level = of_level.map(|note| note.at("engine.fidelity"));
        let idle = idle.into_iter();
        let idle = idle.map(|idle| NoteRow::new(NoteCode::NoEffect, idle.note).at(idle.path));
        let chosen = nccl_notes::of(self.loaded()).into_iter();
        warned.chain(of_level).chain(chosen).chain(idle).collect()
    }

    /// Explains the plan and estimates its cost, without running it.
    ///
    /// # Errors
    /// As [`Plan::check`], and when numbers leave every range.
    pub fn explain(&self) -> Result<Explanation, Error> {
        self.explain_within(&run_budget())
    }

    /// Returns [`Plan::explain`] within `budget`.
    ///
    /// # Errors
    /// As [`Plan::explain`], or when it would take more than `budget` has.
    pub fn explain_within(&self, budget: &Budget) -> Result<Explanation, Error> {
        self.checked(budget)?.explain(budget)
    }

    /// Estimates how much faster each number in `threads` would be than one, given a core for each
    /// thread. Each estimate runs the beginning of the trial on one thread, for about two seconds.
    /// The list is empty at flow level, which has one thread.
    ///
    /// # Errors
    /// When the plan cannot be built or run.
    pub fn speed_ups(&self, threads: &[u16]) -> Result<Vec<SpeedUp>, Error> {
        if threads.is_empty() {
            return Ok(Vec::new());
        }
        self.check_memory(false)?;
        speed_ups(self.resolved(), threads)
    }

    /// Estimates the memory that a run takes, in bytes.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn memory_bytes(&self) -> Result<u64, Error> {
        Ok(memory_bytes(self.resolved()).map_err(ExplainError::from)?)
    }

    /// Estimates the packet-hops of a run.
    ///
    /// # Errors
    /// When hosts do not reach each other, a collective cannot be run, or numbers leave every
    /// range.
    pub fn packet_hops(&self) -> Result<f64, Error> {
        self.packet_hops_within(&run_budget())
    }

    /// Returns [`Plan::packet_hops`] within `budget`.
    ///
    /// # Errors
    /// As [`Plan::packet_hops`], or when it would take more than `budget` has.
    pub fn packet_hops_within(&self, budget: &Budget) -> Result<f64, Error> {
        Ok(packet_hops(self.resolved(), budget)?)
    }

    /// Refuses a run that would take more memory than there is: otherwise the system would kill it
    /// halfway, or another process in its place. With `force` it refuses none.
    ///
    /// # Errors
    /// [`Error::Memory`] with the needed and the available bytes.
    pub fn check_memory(&self, force: bool) -> Result<(), Error> {
        let (needed, available) = (self.memory_bytes()?, machine_limits().memory.count());
        if needed > available && !force {
            return Err(Error::Memory { needed, available });
        }
        Ok(())
    }
}

/// A plan that can be built, with its routes.
#[derive(Debug)]
pub struct Checked<'p> {
    plan: &'p Plan,
    routing: Arc<Routing>,
}

impl Checked<'_> {
    /// Returns the same as [`Plan::notes`], on the routes at hand.
    ///
    /// # Errors
    /// When the search for them would take more than `budget` has.
    pub fn notes(&self, budget: &Budget) -> Result<Notes, Error> {
        let (plan, given) = (self.plan.resolved(), &self.plan.loaded().given);
        let idle = idle_settings_on(plan, &self.routing, given, budget)?;
        Ok(self.plan.notes_with(idle))
    }

    /// Returns the cost alone that [`Checked::explain`] reports.
    ///
    /// # Errors
    /// When numbers leave every range, or counting would take more than `budget` has.
    pub fn cost(&self, budget: &Budget) -> Result<Cost, Error> {
        Ok(cost_on(self.plan.resolved(), &self.routing, budget)?)
    }

    /// Returns the same as [`Plan::explain`], on the routes at hand.
    ///
    /// # Errors
    /// When numbers leave every range, or explaining would take more than `budget` has.
    pub fn explain(&self, budget: &Budget) -> Result<Explanation, Error> {
        let (plan, given) = (self.plan.resolved(), &self.plan.loaded().given);
        let mut found = explain_on(plan, &self.routing, given, budget)?;
        let choice = self.plan.choice().map(str::to_owned);
        // First of all a reader must know why there are packets or flows.
        found.notes.splice(0..0, choice);
        Ok(found)
    }
}

/// Words the measured error that flow level has on plans like this one, without a full stop.
fn error_of_flows(plan: &tenter_sim::plan::Plan) -> String {
    match known_error(plan) {
        Some(known) => format!("this trial is at flow level, at which {known}"),
        None => format!(
            "this trial is at flow level, whose error is not measured for trials of this kind ({}): run a smaller one at both levels with `--fidelity both`",
            FidelityClass::of(plan)
        ),
    }
}
