//! One scenario on several engines: nothing in the records may differ.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tenter_engine::Stream;
use tenter_record::{Control, FlowRow, MemorySink, Progress, SampleRow, Sink, SinkError};
use tenter_scenario::Plan;
use tenter_sim::{Driver, Options, Outcome, Simulation, SimulationError, Watcher, build};
use tenter_units::Time;

use crate::random::RandomScenario;
use crate::reference::ReferenceDriver;

/// A way to run a plan, of which no result may depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The [`ReferenceDriver`].
    Reference,
    /// The engine of every trial.
    Windowed {
        /// Threads to spread the nodes over.
        threads: u16,
        /// The longest window, where it is not the scenario's.
        window_cap: Option<Time>,
    },
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Reference => formatter.write_str("the reference engine"),
            Engine::Windowed {
                threads,
                window_cap,
            } => {
                write!(formatter, "{threads} thread(s)")?;
                match window_cap {
                    None => Ok(()),
                    Some(cap) => write!(formatter, " with windows of at most {cap}"),
                }
            }
        }
    }
}

/// Everything a trial leaves.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Summary, tables and digest.
    pub outcome: Outcome,
    /// The rows it streamed.
    pub rows: BoundedSink,
}

/// Packet-hops after which a [`BoundedSink`] asks a trial to stop, at its next report.
const HOPS_MAX: u64 = 60_000;

/// Keeps all rows in memory and stops a trial that does not want to end: retransmission over a
/// queue of one frame can go on for very long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundedSink(MemorySink);

impl BoundedSink {
    /// The flow rows in the order they came.
    pub fn flows(&self) -> &[FlowRow] {
        &self.0.flows
    }

    /// The sample rows in the order they came.
    pub fn samples(&self) -> &[SampleRow] {
        &self.0.samples
    }
}

impl Sink for BoundedSink {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.0.flows(rows)
    }

    fn samples(&mut self, rows: &[SampleRow]) -> Result<(), SinkError> {
        self.0.samples(rows)
    }

    fn progress(&mut self, progress: &Progress) -> Result<Control, SinkError> {
        self.0.progress(progress)?;
        Ok(if progress.packet_hops > HOPS_MAX {
            Control::Stop
        } else {
            Control::Continue
        })
    }
}

impl Engine {
    /// The engines a random scenario is run on: the reference first, then one, two and three
    /// threads, then windows of a few nanoseconds on one thread and of some hundred on two.
    pub fn all(seed: u64) -> [Engine; 6] {
        let windowed = |threads, window_cap| Engine::Windowed {
            threads,
            window_cap,
        };
        let mut stream = Stream::new(seed, "testkit", "window-cap");
        let mut cap = |least: Time, most: Time| {
            let least = least.ps();
            Some(Time::from_ps(least + stream.below(most.ps() - least)))
        };
        let short = cap(Time::from_ns(1), Time::from_ns(50));
        let long = cap(Time::from_ns(50), Time::from_ns(700));
        [
            Engine::Reference,
            windowed(1, None),
            windowed(2, None),
            windowed(3, None),
            windowed(1, short),
            windowed(2, long),
        ]
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// When the plan cannot be run, or frames are not conserved.
    pub fn run(self, plan: &Plan) -> Result<Trial, SimulationError> {
        match self {
            Engine::Reference => {
                let driver = ReferenceDriver::new(plan)?;
                finish(Simulation::with_driver(driver, plan, 1))
            }
            Engine::Windowed { threads, .. } => {
                finish(Simulation::new(&self.plan(plan), Options { threads })?)
            }
        }
    }

    /// Runs a plan and tells clones of `watcher` of every event.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_watched<W: Watcher + Clone>(
        self,
        plan: &Plan,
        watcher: &W,
    ) -> Result<Trial, SimulationError> {
        match self {
            Engine::Reference => {
                let driver = ReferenceDriver::watched(plan, watcher.clone())?;
                finish(Simulation::with_driver(driver, plan, 1))
            }
            Engine::Windowed { threads, .. } => {
                // As many as a simulation would use of that many.
                let threads = threads.min(plan.topology.switches() as u16);
                let driver = build(&self.plan(plan), threads, |_| watcher.clone())?;
                finish(Simulation::with_driver(driver, plan, threads))
            }
        }
    }

    fn plan(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if let Engine::Windowed {
            window_cap: Some(cap),
            ..
        } = self
        {
            plan.window_cap = Some(cap);
        }
        plan
    }
}

fn finish<D: Driver>(mut simulation: Simulation<D>) -> Result<Trial, SimulationError> {
    let mut rows = BoundedSink::default();
    let outcome = simulation.run(&mut rows)?;
    Ok(Trial { outcome, rows })
}

/// The first thing in which two trials differ; nothing when they are equal.
pub fn difference(a: &Trial, b: &Trial) -> Option<String> {
    let (x, y) = (&a.outcome, &b.outcome);
    row("flows", a.rows.flows(), b.rows.flows())
        .or_else(|| row("collectives", &x.collectives, &y.collectives))
        .or_else(|| row("jobs", &x.jobs, &y.jobs))
        .or_else(|| row("ports", &x.ports, &y.ports))
        .or_else(|| row("samples", a.rows.samples(), b.rows.samples()))
        .or_else(|| row("summary.jobs", &x.summary.jobs, &y.summary.jobs))
        .or_else(|| row("summary.totals", &[&x.summary.totals], &[&y.summary.totals]))
        .or_else(|| {
            row(
                "summary.stopped",
                &[&x.summary.stopped],
                &[&y.summary.stopped],
            )
        })
        .or_else(|| {
            let hops = |outcome: &Outcome| {
                let engine = &outcome.summary.engine;
                (
                    engine.packet_hops,
                    engine.data_packet_hops,
                    engine.simulated_ns.to_bits(),
                )
            };
            row("summary.engine", &[hops(x)], &[hops(y)])
        })
        .or_else(|| row("digest", &[x.digest], &[y.digest]))
}

fn row<T: PartialEq + fmt::Debug>(table: &str, a: &[T], b: &[T]) -> Option<String> {
    let differing = a.iter().zip(b).position(|(a, b)| a != b);
    if let Some(index) = differing {
        let (a, b) = (&a[index], &b[index]);
        return Some(format!(
            "row {index} of {table} is {a:?}\n  here and {b:?}\n  there"
        ));
    }
    let (a, b) = (a.len(), b.len());
    (a != b).then(|| format!("{table} has {a} rows here and {b} there"))
}

/// The trials of one scenario on two engines; they are equal, but say how they were run.
#[derive(Clone, Debug)]
pub struct EqualTrials {
    /// On the reference engine.
    pub reference: Trial,
    /// On the engine of every trial, as it runs by default.
    pub windowed: Trial,
}

/// Runs a random scenario on [all engines](Engine::all).
///
/// # Errors
/// The engine that differs from the reference or fails, how, and the command that runs the scenario
/// again.
pub fn compare(scenario: &RandomScenario) -> Result<EqualTrials, String> {
    let run = |engine: Engine| {
        let trial = catch_unwind(AssertUnwindSafe(|| engine.run(&scenario.plan)));
        match trial {
            Ok(trial) => trial.map_err(|error| failure(scenario, engine, &error.to_string())),
            Err(panic) => Err(failure(scenario, engine, &message(panic.as_ref()))),
        }
    };
    let [reference, windowed, others @ ..] = Engine::all(scenario.seed);
    let compare = |trial: &Trial, engine: Engine| {
        let other = run(engine)?;
        match difference(trial, &other) {
            Some(how) => Err(failure(scenario, engine, &how)),
            None => Ok(other),
        }
    };
    let reference = run(reference)?;
    let windowed = compare(&reference, windowed)?;
    for engine in others {
        compare(&reference, engine)?;
    }
    Ok(EqualTrials {
        reference,
        windowed,
    })
}

fn failure(scenario: &RandomScenario, engine: Engine, how: &str) -> String {
    let again = replay_command(scenario.seed);
    format!("{engine}: {how}\n  again: {again}")
}

/// The line that runs a random scenario again and shows the first event that differs.
pub fn replay_command(seed: u64) -> String {
    format!("cargo run -p tenter-testkit --example replay -- {seed}")
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a message"))
}
