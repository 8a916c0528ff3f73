//! The ways to run a plan, of which no result may depend.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tenter_engine::Stream;
use tenter_net::Event;
use tenter_plan::Plan;
use tenter_record::MemorySink;
use tenter_sim::{
    AnySimulation, Driver, Options, Outcome, Simulation, SimulationError, Watcher, build,
};
use tenter_units::Time;

use crate::reference::ReferenceDriver;

/// A way to run a plan.
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

/// Everything a trial leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Summary, tables and digest.
    pub outcome: Outcome,
    /// The rows it streamed.
    pub rows: MemorySink,
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Engine::Windowed {
            threads,
            window_cap,
        } = self
        else {
            return formatter.write_str("the reference engine");
        };
        let plural = if *threads == 1 { "" } else { "s" };
        write!(formatter, "{threads} thread{plural}")?;
        match window_cap {
            None => Ok(()),
            Some(cap) => write!(formatter, " with windows of at most {cap}"),
        }
    }
}

impl Engine {
    /// That of every trial, on so many threads.
    pub const fn windowed(threads: u16) -> Engine {
        Engine::Windowed {
            threads,
            window_cap: None,
        }
    }

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
    /// Why the plan cannot be run or the run not be finished, or what the simulator panicked with.
    pub fn run(self, plan: &Plan) -> Result<Trial, String> {
        caught(|| match self {
            Engine::Reference => {
                let driver = ReferenceDriver::new(plan)?;
                finish(Simulation::with_driver(driver, plan, 1))
            }
            Engine::Windowed { threads, .. } => {
                let options = Options {
                    threads,
                    clock: None,
                    alone: false,
                };
                let simulation = Simulation::new(&self.plan(plan), options)?;
                let mut simulation = AnySimulation::Plain(simulation);
                in_memory(|rows| simulation.run(rows))
            }
        })
    }

    /// Runs a plan and tells `watcher` of every event.
    ///
    /// # Errors
    /// As [`Engine::run`].
    pub fn run_watched<W: Watcher + Clone + 'static>(
        self,
        plan: &Plan,
        watcher: &W,
    ) -> Result<Trial, String> {
        let mut watcher = watcher.clone();
        self.run_told(plan, &Told::new(move |event| watcher.note(event)))
    }

    fn run_told(self, plan: &Plan, watcher: &Told) -> Result<Trial, String> {
        caught(|| match self {
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
        })
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

/// Calls a function for each event: one kind of watcher for all, so that engines are compiled once.
#[derive(Clone)]
struct Told(Arc<Mutex<dyn FnMut(Event) + Send>>);

impl Told {
    fn new(note: impl FnMut(Event) + Send + 'static) -> Told {
        Told(Arc::new(Mutex::new(note)))
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Told")
    }
}

impl Watcher for Told {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        let mut note = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        note(event);
    }
}

fn finish<D: Driver>(mut simulation: Simulation<D>) -> Result<Trial, SimulationError> {
    in_memory(|rows| simulation.run(rows))
}

fn in_memory(
    run: impl FnOnce(&mut MemorySink) -> Result<Outcome, SimulationError>,
) -> Result<Trial, SimulationError> {
    let mut rows = MemorySink::default();
    let outcome = run(&mut rows)?;
    Ok(Trial { outcome, rows })
}

/// Turns every way to fail into a sentence: an assertion that fails in one engine alone is a
/// difference like any other.
fn caught(run: impl FnOnce() -> Result<Trial, SimulationError>) -> Result<Trial, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panicked: {}", message(panic.as_ref()))),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}
