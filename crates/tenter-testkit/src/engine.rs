//! Ways to run a plan; no result may depend on the choice.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tenter_engine::Stream;
use tenter_fabric::net::Event;
use tenter_language::units::Time;
use tenter_results::MemorySink;
use tenter_sim::plan::Plan;
use tenter_sim::{
    AnySimulation, Driver, Options, Outcome, Simulation, SimulationError, Watcher, build,
};

use crate::reference::ReferenceDriver;

/// A way to run a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The [`ReferenceDriver`], with one heap.
    Reference,
    /// The windowed engine, which runs all trials outside these tests.
    Windowed {
        /// Threads that share the nodes.
        threads: u16,
        /// Longest window; `None` takes the scenario's.
        window_cap: Option<Time>,
    },
}

/// Everything that a trial leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Summary, tables and digest as a run returns them.
    pub outcome: Outcome,
    /// Rows that were streamed while the trial ran.
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
    /// Returns the windowed engine on `threads` threads, with the scenario's windows.
    pub const fn windowed(threads: u16) -> Engine {
        Engine::Windowed {
            threads,
            window_cap: None,
        }
    }

    /// Returns the engines that run a random scenario: the reference first, then 1, 2 and 3
    /// threads, then windows up to 50 ns on one thread and from 50 to 700 ns on two. The seed
    /// chooses both windows.
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
        // Below most lookaheads: many windows then end where they otherwise would not.
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

    /// Runs a plan to its end.
    ///
    /// # Errors
    /// Returns a sentence: why the plan cannot be run or the run not be completed, or the message
    /// of a panic.
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

    /// Runs a plan to its end, and passes every event to `watcher`.
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
                // A simulation never uses more threads than there are switches; `build` takes the
                // number as it is.
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

/// A watcher that calls a function for each event. With one type for all watchers, engines are
/// compiled for it only once.
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

/// Turns a panic into an error, too: an assertion that fails on one engine alone is a difference
/// like any other.
fn caught(run: impl FnOnce() -> Result<Trial, SimulationError>) -> Result<Trial, String> {
    // Nothing of a run that has panicked is used afterwards, so it may be left in any state.
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
