//! The sections `observe`, `limits` and `engine`: what is recorded, when to stop, how it is run.

use std::ops::RangeInclusive;

use tenter_config::{Reader, component, default_of, word_or};
use tenter_plan::{SIMULATED_MAX, WINDOW_MAX};
use tenter_units::Time;

component! {
    /// What is recorded beside the results.
    pub struct Observe as "`observe`", derive(Clone, Debug, PartialEq) {
        /// Whether queues and rates are sampled over time.
        samples: bool = "true";
        /// How often; `auto` is a 500th of what the jobs take if nothing ever waits, or of the time
        /// limit where that is shorter, rounded up to two digits; 100us where neither is known.
        sample_interval: Sampling = "auto", in Time::from_us(1)..=Time::from_us(1_000_000_000);
        /// Whether each job under test is also run alone on the same fabric, for its slowdown
        /// beside the others.
        baseline: bool = "false";
        /// Ports of switches, each as `NODE:PORT`, whose queues are recorded change by change, in
        /// `queue_changes.parquet`; the run is slower for it.
        queue_changes: Vec<String> = "[]", in 200;
        /// Changes of each port that are recorded; a warning says what was left out.
        queue_changes_limit: u64 = "1000000", in 1..=100_000_000;
        /// Changes are recorded from then on.
        queue_changes_from: Time = "0ns", in Time::ZERO..=SIMULATED_MAX;
        /// And until then.
        queue_changes_to: Option<Time> = "none", in Time::from_ns(1)..=SIMULATED_MAX + Time::from_ns(1);
        check changes_end_after_they_begin;
    }
}

/// Samples, and no changes of queues.
impl Default for Observe {
    fn default() -> Observe {
        default_of()
    }
}

fn changes_end_after_they_begin(observe: &Observe, reader: &mut dyn Reader) -> bool {
    let from = observe.queue_changes_from;
    let to = observe.queue_changes_to.filter(|to| *to <= from);
    if to.is_some() {
        let help = format!("give more than {from}");
        reader.refuse(
            "queue_changes_to",
            "is no later than `queue_changes_from`",
            &help,
        );
    }
    to.is_none()
}

/// What a scenario says of the time between samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Whatever suits the length of the run.
    Auto,
    /// This.
    Every(Time),
}

word_or!(Sampling { "auto" => Auto, Every(Time) });

component! {
    /// When to stop.
    pub struct Limits as "`limits`" {
        /// Simulated time at which the trial stops, whether it is done or not; at `8640000s` (100
        /// days) every trial does.
        time: Option<Time> = "none", in TIMES;
        /// How long background jobs run on when the last of the others has ended; that is news from
        /// everywhere, as the barrier of a `gap` is.
        background: Time = "10us", in WINDOW_MAX..=SIMULATED_MAX;
    }
}

component! {
    /// How the simulation is run; changes no result.
    pub struct Engine as "`engine`" {
        /// The longest window; `none` is as long as the delays of the fabric allow, which is
        /// fastest.
        window: Option<Time> = "none", in TIMES;
    }
}

const TIMES: RangeInclusive<Time> = Time::from_ns(1)..=SIMULATED_MAX;
