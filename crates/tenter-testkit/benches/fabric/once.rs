//! One run of one case in this process.

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use cap::Cap;
use serde::{Deserialize, Serialize};
use tenter::resolve::{Format, load};
use tenter_results::{Control, FlowRow, Progress, SampleRow, Sink, SinkError};
use tenter_sim::{AnySimulation, Options};

use crate::cases::{Case, Traffic};
use crate::failure::Failure;
use crate::kernel;

/// Counts live bytes; the time it takes is not seen among everything else, as nothing is allocated
/// per packet.
#[global_allocator]
static ALLOCATOR: Cap<std::alloc::System> = Cap::new(std::alloc::System, usize::MAX);

/// What one run took and gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// From the text of the scenario to a network that is ready to run.
    pub(crate) set_up_s: f64,
    /// From there to the summary.
    pub(crate) run_s: f64,
    /// The part of it in which the process had a core; missing where the system does not say, and
    /// on several threads.
    pub(crate) run_on_core_s: Option<f64>,
    /// Packets of any kind, once per link.
    pub(crate) packet_hops: u64,
    /// Those with payload.
    pub(crate) data_packet_hops: u64,
    pub(crate) flows: u64,
    /// Bytes allocated when ready to run.
    pub(crate) idle_bytes: u64,
    /// The most bytes ever allocated.
    pub(crate) peak_bytes: u64,
    pub(crate) digest: String,
}

/// Sets a case up, runs it unless `set_up_only`, and measures both.
pub(crate) fn run(case: &Case, threads: u16, set_up_only: bool) -> Result<Measured, Failure> {
    match case.traffic {
        Traffic::Kernel => Ok(run_kernel(case, set_up_only)),
        Traffic::Permutation | Traffic::AllToAll { .. } | Traffic::Flows => {
            run_model(case, threads, set_up_only)
        }
    }
}

fn run_model(case: &Case, threads: u16, set_up_only: bool) -> Result<Measured, Failure> {
    let text = case.scenario();
    let before = ALLOCATOR.allocated();
    let started = Instant::now();
    let loaded = load(&text, case.name, Format::Yaml, &[], None)
        .map_err(|errors| Failure(errors.render()))?;
    let mut simulation = AnySimulation::new(
        &loaded.plan,
        Options {
            threads,
            clock: Some(nanoseconds),
            alone: false,
        },
    )?;
    drop(loaded);
    let set_up_s = started.elapsed().as_secs_f64();
    let idle_bytes = (ALLOCATOR.allocated() - before) as u64;
    if set_up_only {
        return Ok(Measured::only_set_up(set_up_s, idle_bytes));
    }
    let mut sink = Counting::default();
    let clock = Clock::start();
    let outcome = simulation.run(&mut sink)?;
    let (run_s, run_on_core_s) = clock.stop(threads);
    let summary = &outcome.summary;
    let as_expected = summary.complete
        && summary.totals.retransmitted_frames == 0
        && sink.flows == summary.totals.flows;
    if !as_expected {
        return Err(Failure(format!(
            "{}: not every flow was completed and recorded once without retransmission: {:?}",
            case.name, summary.totals
        )));
    }
    Ok(Measured {
        set_up_s,
        run_s,
        run_on_core_s,
        packet_hops: summary.engine.packet_hops,
        data_packet_hops: summary.engine.data_packet_hops,
        flows: summary.totals.flows,
        idle_bytes,
        peak_bytes: (ALLOCATOR.max_allocated() - before) as u64,
        digest: summary.engine.digest.clone(),
    })
}

fn run_kernel(case: &Case, set_up_only: bool) -> Measured {
    let before = ALLOCATOR.allocated();
    let started = Instant::now();
    let kernel = kernel::Ready::new(case.fabric, case.packets);
    let set_up_s = started.elapsed().as_secs_f64();
    let idle_bytes = (ALLOCATOR.allocated() - before) as u64;
    if set_up_only {
        return Measured::only_set_up(set_up_s, idle_bytes);
    }
    let clock = Clock::start();
    let moved = kernel.run();
    let (run_s, run_on_core_s) = clock.stop(1);
    Measured {
        set_up_s,
        run_s,
        run_on_core_s,
        packet_hops: moved.hops,
        data_packet_hops: moved.hops,
        flows: u64::from(case.fabric.hosts()),
        idle_bytes,
        peak_bytes: (ALLOCATOR.max_allocated() - before) as u64,
        digest: format!("{:016x}", moved.digest),
    }
}

impl Measured {
    fn only_set_up(set_up_s: f64, idle_bytes: u64) -> Measured {
        Measured {
            set_up_s,
            run_s: 0.0,
            run_on_core_s: None,
            packet_hops: 0,
            data_packet_hops: 0,
            flows: 0,
            idle_bytes,
            peak_bytes: ALLOCATOR.max_allocated() as u64,
            digest: String::new(),
        }
    }
}

/// Nanoseconds since it was first asked: what `tenter run` paces its threads by.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Wall time, and the time on a core within it.
struct Clock {
    wall: Instant,
    on_core_ns: Option<u64>,
}

impl Clock {
    fn start() -> Clock {
        Clock {
            wall: Instant::now(),
            on_core_ns: on_core_ns(),
        }
    }

    /// Seconds since the start, and how many of them on a core.
    fn stop(self, threads: u16) -> (f64, Option<f64>) {
        let wall = self.wall.elapsed().as_secs_f64();
        let on_core = self.on_core_ns.zip(on_core_ns());
        let on_core = on_core.filter(|_| threads == 1);
        (wall, on_core.map(|(from, to)| (to - from) as f64 / 1e9))
    }
}

/// How long this thread has had a core (Linux; elsewhere nothing is known).
fn on_core_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Takes all rows as a trial folder would, and keeps their number.
#[derive(Debug, Default)]
struct Counting {
    flows: u64,
}

impl Sink for Counting {
    fn flows(&mut self, rows: &[FlowRow]) -> Result<(), SinkError> {
        self.flows += rows.len() as u64;
        Ok(())
    }

    fn samples(&mut self, _rows: &[SampleRow]) -> Result<(), SinkError> {
        Ok(())
    }

    fn progress(&mut self, _progress: &Progress) -> Result<Control, SinkError> {
        Ok(Control::Continue)
    }
}
