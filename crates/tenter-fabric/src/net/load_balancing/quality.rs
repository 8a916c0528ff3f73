//! Quality levels of a switch's ports: one for each port by its backlog, as load-balancing hardware
//! keeps it.

use tenter_language::config::component;
use tenter_language::units::{Instant, Time};

use crate::net::port::Port;

/// Number of levels, as eight quality bands in hardware.
const LEVELS: u64 = 8;
/// Interval between refreshes that stands for levels which are not kept.
const NOT_KEPT: Time = Time::MAX;

/// Shortest interval between refreshes, unless levels are exact: a switch reads all its ports each
/// time.
const REFRESH_MIN: Time = Time::from_ns(10);
/// Longest interval between refreshes: a run lasts until the last one.
const REFRESH_MAX: Time = Time::from_us(100);
/// Longest step from level to level.
const STEP_MAX: Time = Time::from_us(1_000_000);

component! {
    /// How a switch judges its ports.
    pub struct QualitySpec {
        /// Interval at which a switch takes the levels of its ports; `0ns` means at every packet,
        /// which is slower to simulate.
        refresh: Time = "500ns", in Time::ZERO..=REFRESH_MAX, unless too_often,
            from "assumed: switch chips do it in hardware at intervals from a quarter of a microsecond on";
        /// A port is one level busier, of eight, for each such time that a frame would wait at it.
        step: Time = "250ns", in Time::from_ps(1)..=STEP_MAX,
            from "eight quality bands as in dynamic load balancing; their width is assumed, three frames of 4 KiB at 400G";
    }
}

fn too_often(refresh: Time) -> Option<(String, String)> {
    let exact = refresh == Time::ZERO;
    (!exact && refresh < REFRESH_MIN).then(|| {
        let remedy = format!("write `0ns` for exact levels, or at least `{REFRESH_MIN}`");
        ("is too short to simulate".to_owned(), remedy)
    })
}

impl QualitySpec {
    /// Parameters for members that read the queues themselves, at every instant.
    pub(crate) const EXACT: QualitySpec = QualitySpec {
        refresh: Time::ZERO,
        step: Time::from_ps(1),
    };
}

/// Levels of the ports of one switch.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// Interval between refreshes: zero for exact levels, [`NOT_KEPT`] for none.
    refresh: Time,
    /// Wait that makes a port one level busier.
    step: Time,
    levels: Vec<u8>,
    /// Instant of the next refresh; [`Instant::NEVER`] while all ports are idle, which the levels
    /// show already.
    next: Instant,
}

impl Quality {
    pub(crate) fn new(spec: Option<QualitySpec>, ports: usize) -> Quality {
        Quality {
            refresh: spec.map_or(NOT_KEPT, |spec| spec.refresh),
            step: spec.map_or(Time::from_ps(1), |spec| spec.step),
            levels: vec![0; if spec.is_some() { ports } else { 0 }],
            next: Instant::NEVER,
        }
    }

    /// Returns true if there are levels.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.refresh != NOT_KEPT
    }

    /// Returns true if levels are those of the very instant.
    pub(crate) fn is_exact(&self) -> bool {
        self.refresh.is_zero()
    }

    /// Returns the instant of the next refresh, if one is due.
    pub(crate) fn next_refresh(&self) -> Option<Instant> {
        (!self.next.is_never()).then_some(self.next)
    }

    /// Notes a packet that comes in at `now`: ports are no longer idle. Timers come after arrivals,
    /// so a refresh at this very instant sees it.
    pub(crate) fn watch(&mut self, now: Instant) {
        if self.is_kept() && !self.is_exact() && self.next.is_never() {
            // At multiples of the interval, whenever it begins: idle times shift no refresh.
            self.next = now.next_multiple_of(self.refresh);
        }
    }

    /// Takes the levels of all ports, which have been advanced to `now`.
    pub(crate) fn refresh(&mut self, ports: &[Port], now: Instant) {
        let mut idle = true;
        for (level, port) in self.levels.iter_mut().zip(ports) {
            let backlog = port.backlog(now);
            // A dark port counts as idle, or its waiting frames would keep the timer alive.
            idle &= port.is_idle(now);
            *level = level_of(backlog, self.step);
        }
        self.next = if idle {
            // An idle switch needs no timer, so a run can come to rest.
            Instant::NEVER
        } else {
            now + self.refresh
        };
    }

    /// Returns the level of a port at which a frame would wait for `backlog`.
    pub(crate) fn level_of(&self, backlog: Time) -> u8 {
        level_of(backlog, self.step)
    }

    /// Returns the level of a port at `now`: 0 for one that is idle or nearly so.
    #[inline]
    pub(crate) fn level(&self, ports: &[Port], port: u16, now: Instant) -> u8 {
        if self.is_exact() {
            level_of(ports[usize::from(port)].backlog(now), self.step)
        } else {
            self.levels[usize::from(port)]
        }
    }
}

fn level_of(backlog: Time, step: Time) -> u8 {
    (backlog / step).min(LEVELS - 1) as u8
}
