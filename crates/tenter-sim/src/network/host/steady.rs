//! The host's part in the search for steady states.

use std::cmp::Reverse;

use tenter_endpoint::NicSpec;
use tenter_fabric::net::Visitor;

use super::{Host, Timer};

impl Host {
    /// Visits the host's state. The state of its ranks changes only when a transfer ends, which the
    /// partition's records show, or when a timer fires. At the end of a whole step the ranks must
    /// wait for nothing.
    pub(crate) fn steady(&mut self, spec: &NicSpec, visitor: &mut impl Visitor) {
        let Host {
            nic,
            timers,
            not_started,
            waiting,
            // Drawn from only when collectives start, which no jump passes.
            start_skew: _,
            open_loops,
            operations,
            scale_up,
        } = self;
        let is_start = |timer: &Timer| matches!(timer, Timer::Start(_));
        let only_starts = timers.iter().all(|Reverse((_, timer))| is_start(timer));
        let none_waits = waiting.is_empty() && open_loops.is_empty();
        if !only_starts || !none_waits || operations.all().next().is_some() {
            visitor.refuse_steps();
        }
        if !scale_up.is_empty() {
            visitor.refuse();
        }
        visitor.exact(timers.len() as u64);
        for Reverse((at, timer)) in timers.iter() {
            visitor.deadline(*at);
            visitor.exact(timer.code());
        }
        // Their start times are among the timers.
        visitor.exact(not_started.len() as u64);
        nic.steady(spec, visitor);
    }
}

impl Timer {
    /// Returns a number that is unique for each timer.
    fn code(self) -> u64 {
        let (kind, number, of) = match self {
            Timer::Start(number) => (0, number, 0),
            Timer::Release(number, of) => (1, number, of),
            Timer::Carried(number) => (2, number, 0),
            Timer::Confirmed(number) => (3, number, 0),
            Timer::Arrive(number) => (4, number, 0),
            Timer::Operation(number, of) => (5, number, of),
        };
        kind << 48 | u64::from(number) << 32 | u64::from(of)
    }
}
