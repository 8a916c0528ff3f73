//! A scenario run in memory, and its rows by name.

use std::sync::{Arc, Mutex};

use tenter::resolve::{Format, load};
use tenter_fabric::net::Event;
use tenter_results::{CollectiveRow, FlowRow, MemorySink, PortRow, SampleRow};
use tenter_sim::plan::Plan;
use tenter_sim::{Options, Outcome, Watcher};
use tenter_testkit::Engine;

/// What a trial left.
pub(crate) struct Trial {
    pub(crate) outcome: Outcome,
    /// In the order in which the flows ended.
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) samples: Vec<SampleRow>,
}

/// The plan of a scenario with overrides `PATH=VALUE`.
pub(crate) fn plan(scenario: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    match load(scenario, "test.yaml", Format::Yaml, &overrides, None) {
        Ok(loaded) => loaded.plan,
        Err(problems) => panic!("{scenario}\n{overrides:?}\n{}", problems.render()),
    }
}

/// Takes down everything.
#[derive(Clone, Default)]
struct Everything(Arc<Mutex<Vec<Event>>>);

impl Watcher for Everything {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        self.0.lock().expect("no note panics").push(event);
    }
}

/// All that happens to packets in a plan, in the order of time.
pub(crate) fn events(plan: &Plan) -> Vec<Event> {
    let watcher = Everything::default();
    let trial = Engine::all(0)[1].run_watched(plan, &watcher);
    trial.expect("the scenario runs");
    let mut events = watcher.0.lock().expect("no note panics").clone();
    events.sort_by_key(|event| event.at);
    events
}

impl Trial {
    /// Runs a scenario with overrides `PATH=VALUE`.
    pub(crate) fn run(scenario: &str, overrides: &[&str]) -> Trial {
        let plan = plan(scenario, overrides);
        Trial::of_plan(&plan).unwrap_or_else(|error| panic!("{scenario}\n{overrides:?}\n{error}"))
    }

    /// Runs a plan.
    pub(crate) fn of_plan(plan: &Plan) -> Result<Trial, String> {
        let mut sink = MemorySink::default();
        match tenter_sim::run(plan, Options::default(), &mut sink) {
            Ok(outcome) => Ok(Trial {
                outcome,
                flows: sink.flows,
                samples: sink.samples,
            }),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The flow of a trial that has only one.
    pub(crate) fn flow(&self) -> &FlowRow {
        assert_eq!(self.flows.len(), 1, "flows of this trial");
        &self.flows[0]
    }

    /// The flows of one job, by the rank that sends.
    pub(crate) fn flows_of(&self, job: u32) -> Vec<&FlowRow> {
        let mut flows: Vec<&FlowRow> = self.flows.iter().filter(|flow| flow.job == job).collect();
        flows.sort_by_key(|flow| {
            (
                flow.iteration,
                flow.collective,
                flow.src_rank,
                flow.transfer,
            )
        });
        flows
    }

    /// A collective of the first job by its place in the run order.
    pub(crate) fn collective(&self, nth: usize) -> &CollectiveRow {
        &self.outcome.collectives[nth]
    }

    /// Its completion time in ps.
    pub(crate) fn completion(&self, nth: usize) -> u64 {
        let time = self.collective(nth).completion_time;
        time.expect("the collective was completed").ps()
    }

    /// How long the whole simulation took, in ps.
    pub(crate) fn simulated(&self) -> u64 {
        (self.outcome.summary.engine.simulated_ns * 1e3).round() as u64
    }

    /// The first port of a node towards a peer.
    pub(crate) fn port(&self, node: &str, peer: &str) -> &PortRow {
        let mut ports = self.outcome.counts.ports.iter();
        ports
            .find(|port| port.node_name == node && port.peer_name == peer)
            .unwrap_or_else(|| panic!("no port of {node} leads to {peer}"))
    }

    /// Why the first job that was not completed was not.
    pub(crate) fn failure(&self) -> &str {
        let mut failures = self.outcome.jobs.iter().map(|job| &job.failure);
        let first = failures.find_map(Option::as_deref);
        first.expect("a job that was not completed says why")
    }
}
