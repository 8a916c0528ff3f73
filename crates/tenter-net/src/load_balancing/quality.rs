//! What a switch knows of how busy its ports are: a level for each, as load-balancing hardware
//! keeps it.

use tenter_units::Time;

use crate::port::Port;

/// So many levels there are.
const LEVELS: u64 = 8;
const NEVER: u64 = u64::MAX;

/// How a switch judges its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QualitySpec {
    /// How often the levels are refreshed; zero when they are exact at every instant.
    pub refresh: Time,
    /// A port is one level busier for each such time that a frame would have to wait at it; there
    /// are eight levels.
    pub step: Time,
}

impl QualitySpec {
    /// For who looks at the queues themselves, as they are at every instant.
    pub(crate) const EXACT: QualitySpec = QualitySpec {
        refresh: Time::ZERO,
        step: Time::from_ps(1),
    };
}

/// The levels of the ports of one switch.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// Zero: exact; `NEVER`: not kept at all.
    refresh: u64,
    step: u64,
    levels: Vec<u8>,
    /// The next refresh; `NEVER` while all ports are idle, which the levels then say already.
    next: u64,
}

impl Quality {
    pub(crate) fn new(spec: Option<QualitySpec>, ports: usize) -> Quality {
        Quality {
            refresh: spec.map_or(NEVER, |spec| spec.refresh.ps()),
            step: spec.map_or(1, |spec| spec.step.ps()),
            levels: vec![0; if spec.is_some() { ports } else { 0 }],
            next: NEVER,
        }
    }

    /// Whether there are levels.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.refresh != NEVER
    }

    /// Whether levels are those of the very instant.
    pub(crate) fn is_exact(&self) -> bool {
        self.refresh == 0
    }

    /// When the levels must next be refreshed, if they must.
    pub(crate) fn next_refresh(&self) -> Option<u64> {
        (self.next != NEVER).then_some(self.next)
    }

    /// A packet comes in at `now`: ports are no longer idle. Timers come after arrivals, so a
    /// refresh at this very instant sees it.
    pub(crate) fn watch(&mut self, now: u64) {
        if self.is_kept() && !self.is_exact() && self.next == NEVER {
            self.next = now.div_ceil(self.refresh) * self.refresh;
        }
    }

    /// Takes the levels of all ports, which have been brought to `now`.
    pub(crate) fn refresh(&mut self, ports: &[Port], now: u64) {
        let mut idle = true;
        for (level, port) in self.levels.iter_mut().zip(ports) {
            let backlog = port.backlog(now);
            idle &= port.is_idle(now);
            *level = level_of(backlog, self.step);
        }
        self.next = if idle { NEVER } else { now + self.refresh };
    }

    /// The level of a port at which a frame would wait so long, in ps.
    pub(crate) fn level_of(&self, backlog: u64) -> u8 {
        level_of(backlog, self.step)
    }

    /// The level of a port: 0 for one that is idle or nearly so.
    #[inline]
    pub(crate) fn level(&self, ports: &[Port], port: u16, now: u64) -> u8 {
        if self.is_exact() {
            level_of(ports[usize::from(port)].backlog(now), self.step)
        } else {
            self.levels[usize::from(port)]
        }
    }
}

fn level_of(backlog: u64, step: u64) -> u8 {
    (backlog / step).min(LEVELS - 1) as u8
}
