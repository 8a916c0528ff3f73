//! One scenario on several engines, whose records must not differ.

use std::fmt::Debug;

use tenter_sim::Outcome;
use tenter_sim::plan::Plan;

use crate::engine::{Engine, Trial};
use crate::random::RandomScenario;

/// One scenario's trials on two engines. They are equal but for statistics about the run itself.
#[derive(Clone, Debug)]
pub struct EqualTrials {
    /// Trial on the reference engine.
    pub reference: Trial,
    /// Trial on one thread, as trials run by default.
    pub windowed: Trial,
}

/// Runs a random scenario on [all engines](Engine::all).
///
/// # Errors
/// Names the engine that fails or differs from the reference, says how, and gives the command that
/// runs the scenario again.
pub fn compare(scenario: &RandomScenario) -> Result<EqualTrials, String> {
    let again = |how| format!("{how}\n  again: {}", replay_command(scenario.seed));
    compare_plan(&scenario.plan, scenario.seed).map_err(again)
}

/// Runs a plan on [all engines](Engine::all); the seed chooses their windows.
///
/// # Errors
/// Names the engine that fails or differs from the reference, and says how.
pub fn compare_plan(plan: &Plan, seed: u64) -> Result<EqualTrials, String> {
    let [reference, windowed, others @ ..] = Engine::all(seed);
    let run = |engine: Engine| {
        let trial = engine.run(plan);
        trial.map_err(|how| format!("{engine}: {how}"))
    };
    let reference = run(reference)?;
    let run_equal = |engine: Engine| {
        let trial = run(engine)?;
        match difference(&reference, &trial) {
            Some(how) => Err(format!("{engine}: {how}")),
            None => Ok(trial),
        }
    };
    let windowed = run_equal(windowed)?;
    for engine in others {
        run_equal(engine)?;
    }
    Ok(EqualTrials {
        reference,
        windowed,
    })
}

/// Returns the command that runs a random scenario again and shows the first event that differs.
pub fn replay_command(seed: u64) -> String {
    format!("cargo run -p tenter-testkit --example replay -- {seed}")
}

/// Returns the first row in which two trials differ, or their digests; `None` if they are equal.
///
/// Statistics about the run itself, such as the number of windows, are not compared.
pub fn difference(left: &Trial, right: &Trial) -> Option<String> {
    let rows = [left, right].map(|trial| &trial.rows);
    let outcomes = [left, right].map(|trial| &trial.outcome);
    let summaries = outcomes.map(|outcome| &outcome.summary);
    let single = summaries.map(|summary| {
        let engine = &summary.engine;
        let hops = (engine.packet_hops, engine.data_packet_hops);
        let until = engine.simulated_ns;
        (&summary.totals, &summary.stopped, hops, until)
    });
    let tables = [
        row("flows", rows.map(|rows| &rows.flows[..])),
        row(
            "collectives",
            outcomes.map(|outcome| &outcome.collectives[..]),
        ),
        row("jobs", outcomes.map(|outcome| &outcome.jobs[..])),
        row("ports", outcomes.map(|outcome| &outcome.counts.ports[..])),
        row("queues", outcomes.map(|outcome| &outcome.counts.queues[..])),
        row(
            "switches",
            outcomes.map(|outcome| &outcome.counts.switches[..]),
        ),
        row(
            "signals",
            outcomes.map(|outcome| &outcome.counts.signals[..]),
        ),
        row(
            "reactions",
            outcomes.map(|outcome| &outcome.counts.reactions[..]),
        ),
        row(
            "queue changes",
            outcomes.map(|outcome| &outcome.counts.queue_changes[..]),
        ),
        row(
            "operations",
            outcomes.map(|outcome| &outcome.counts.operations[..]),
        ),
        row(
            "rank times",
            outcomes.map(|outcome| &outcome.counts.rank_times[..]),
        ),
        row(
            "critical paths",
            outcomes.map(|outcome| &outcome.counts.critical_path[..]),
        ),
        of_models(outcomes),
        row("samples", rows.map(|rows| &rows.samples[..])),
        row(
            "jobs of the summary",
            summaries.map(|summary| &summary.jobs[..]),
        ),
        row("totals", [&single[..1], &single[1..]]),
        row(
            "progress",
            rows.map(|rows| std::slice::from_ref(&rows.progress)),
        ),
        row(
            "digest",
            outcomes.map(|outcome| std::slice::from_ref(&outcome.digest)),
        ),
    ];
    // The digest comes last: a row that differs says more.
    tables.into_iter().flatten().next()
}

/// Returns the first row about training or inference in which two trials differ.
fn of_models(outcomes: [&Outcome; 2]) -> Option<String> {
    let summaries = outcomes.map(|outcome| &outcome.summary);
    let tables = [
        row(
            "ranks of trainings",
            outcomes.map(|outcome| &outcome.counts.training_ranks[..]),
        ),
        row(
            "steps of trainings",
            summaries.map(|summary| &summary.training_steps[..]),
        ),
        row(
            "inferences",
            summaries.map(|summary| &summary.inference[..]),
        ),
        row(
            "pools of inferences",
            summaries.map(|summary| &summary.inference_pools[..]),
        ),
        row(
            "requests",
            outcomes.map(|outcome| &outcome.counts.requests[..]),
        ),
    ];
    tables.into_iter().flatten().next()
}

/// Returns the first row in which two tables differ.
fn row<T: PartialEq + Debug>(table: &str, [left, right]: [&[T]; 2]) -> Option<String> {
    let rows = left.len().max(right.len());
    let differs = |&index: &usize| left.get(index) != right.get(index);
    let index = (0..rows).find(differs)?;
    let (left, right) = (show(left.get(index)), show(right.get(index)));
    Some(format!(
        "{table}, row {index}:\n  left:  {left}\n  right: {right}"
    ))
}

fn show<T: Debug>(row: Option<&T>) -> String {
    row.map_or_else(|| "no such row".to_owned(), |row| format!("{row:?}"))
}

#[cfg(test)]
mod tests {
    use super::difference;
    use crate::{Engine, random_scenario};

    #[test]
    fn a_difference_names_table_and_row() {
        let plan = random_scenario(1).plan;
        let trial = Engine::Reference.run(&plan).expect("the scenario runs");
        assert_eq!(difference(&trial, &trial), None);

        let mut other = trial.clone();
        other.outcome.counts.ports[1].tx_bytes += 1;
        let found = difference(&trial, &other).expect("a port differs");
        assert!(
            found.starts_with("ports, row 1:\n  left:  PortRow"),
            "{found}"
        );

        let mut other = trial.clone();
        let last = other.rows.flows.len() - 1;
        other.rows.flows.pop();
        let found = difference(&trial, &other).expect("a row is missing");
        assert!(found.starts_with(&format!("flows, row {last}:")), "{found}");
        assert!(found.ends_with("right: no such row"), "{found}");
    }
}
