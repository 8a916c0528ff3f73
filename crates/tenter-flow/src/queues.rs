//! Links that take all that comes and let it wait: first in, first out.
//!
//! Such a link holds no flow back. What comes in faster than it sends waits, and the last of a flow
//! leaves once all that came before it has; what comes later does not slow it down. Between changes
//! of what comes in, what waits grows or falls in a straight line (a fluid queue, as in Kleinrock,
//! *Queueing Systems*, volume 2, section 2.7).
//!
//! What comes in may be told ahead, as it takes some time from where it is sent, and what waited a
//! short time ago may be asked.

use tenter_units::{ById, Instant, Time};

use crate::amounts::{BYTE, FlowRate, Load, Weight};
use crate::links::LinkId;

/// What comes to a link is more or less from an instant on.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    more: i128,
}

/// A link, and what waits for it.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// What it sends.
    rate: Load,
    /// What it was at an instant.
    state: State,
    /// Changes after that, in order, no two at the same instant.
    changes: Vec<Change>,
}

/// A queue at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// What comes to it.
    load: i128,
    /// What waits, in loads times picoseconds.
    waits: u128,
    since: Instant,
}

impl State {
    /// Goes on to an instant.
    fn pass(&mut self, rate: Load, at: Instant) {
        let time = u128::from(at.saturating_since(self.since).ps());
        let beyond = self.load - i128::try_from(rate.0).unwrap_or(i128::MAX);
        let more = beyond.unsigned_abs().saturating_mul(time);
        self.waits = if beyond > 0 {
            self.waits.saturating_add(more)
        } else {
            self.waits.saturating_sub(more)
        };
        self.since = self.since.max(at);
    }
}

impl Queue {
    /// What it is just before an instant.
    fn before(&self, at: Instant) -> State {
        let mut state = self.state;
        for change in self.changes.iter().take_while(|change| change.at < at) {
            state.pass(self.rate, change.at);
            state.load += change.more;
        }
        state.pass(self.rate, at);
        state
    }

    /// Forgets what was before an instant.
    fn forget(&mut self, before: Instant) {
        let past = self.changes.partition_point(|change| change.at < before);
        if past > 0 {
            let last = self.changes[past - 1];
            self.state = self.before(last.at);
            self.state.load += last.more;
            self.changes.drain(..past);
        }
    }

    fn add(&mut self, change: Change) {
        let place = self.changes.partition_point(|of| of.at < change.at);
        match self.changes.get_mut(place) {
            Some(same) if same.at == change.at => same.more += change.more,
            _ => self.changes.insert(place, change),
        }
    }
}

/// What waits at a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How long the link takes for it, and so how long waits what comes behind it.
    pub time: Time,
    /// How much it is.
    pub bytes: u64,
}

/// Queues of links.
///
/// ```
/// use tenter_flow::{FlowRate, LinkId, Queues, Weight};
/// use tenter_units::{Instant, Rate, Time};
///
/// let line = |gbps| FlowRate::of_line(Rate::from_gbps(gbps));
/// let mut queues = Queues::remembering(Time::from_us(10));
/// let link = LinkId::new(0);
/// queues.set_rate(link, line(400));
/// let (start, end) = (Instant::START, Instant::at(Time::from_us(1)));
/// for _ in 0..3 {
///     queues.change(link, Weight::WHOLE, start, [FlowRate::default(), line(400)]);
/// }
/// // Three microseconds of it came within one.
/// let waiting = queues.waiting(link, end);
/// assert_eq!((waiting.time, waiting.bytes), (Time::from_us(2), 100_000));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Queues {
    all: ById<LinkId, Queue>,
    memory: Time,
}

impl Queues {
    /// Queues that can be asked about so long ago.
    pub fn remembering(memory: Time) -> Queues {
        Queues {
            all: ById::default(),
            memory,
        }
    }

    /// Lets them be asked about so long ago from now on.
    pub fn remember(&mut self, memory: Time) {
        self.memory = self.memory.max(memory);
    }

    /// Gives a link the rate at which it sends.
    pub fn set_rate(&mut self, link: LinkId, rate: FlowRate) {
        if self.all.len() <= link.index() {
            self.all.resize(link.index() + 1, Queue::default());
        }
        self.all[link].rate = Load::of_capacity(rate);
    }

    fn of(&self, link: LinkId) -> Option<&Queue> {
        (link.index() < self.all.len()).then(|| &self.all[link])
    }

    /// Forgets all that waits and comes.
    pub fn clear(&mut self) {
        for queue in &mut self.all {
            (queue.state.load, queue.state.waits) = (0, 0);
            queue.changes.clear();
        }
    }

    /// A flow of which a link carries a part comes at another rate from an instant on.
    pub fn change(
        &mut self,
        link: LinkId,
        part: Weight,
        at: Instant,
        [before, after]: [FlowRate; 2],
    ) {
        let load = |rate| i128::try_from(Load::of(rate, part).0).unwrap_or(i128::MAX);
        let more = load(after) - load(before);
        self.all[link].add(Change { at, more });
    }

    /// Forgets of a link what nobody will ask any more, now that it is `now`.
    pub fn pass(&mut self, link: LinkId, now: Instant) {
        let asked = now.saturating_sub(self.memory);
        if link.index() < self.all.len() {
            self.all[link].forget(asked);
        }
    }

    /// What waits at a link just before an instant.
    pub fn waiting(&self, link: LinkId, at: Instant) -> Waiting {
        let Some(queue) = self.of(link) else {
            return Waiting::default();
        };
        let waits = queue.before(at).waits;
        let narrow = |of: Option<u128>| of.map_or(0, |of| u64::try_from(of).unwrap_or(u64::MAX));
        Waiting {
            time: Time::from_ps(narrow(waits.checked_div(queue.rate.0))),
            bytes: narrow(Some(waits / (BYTE * Weight::WHOLE.units()))),
        }
    }

    /// What comes to a link just before an instant, as a part of what it sends.
    pub fn load(&self, link: LinkId, at: Instant) -> f64 {
        self.of(link).map_or(0.0, |queue| {
            queue.before(at).load as f64 / queue.rate.0.max(1) as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_units::Rate;

    const LINK: LinkId = LinkId::new(0);

    fn line(gbps: u64) -> FlowRate {
        FlowRate::of_line(Rate::from_gbps(gbps))
    }

    fn us(us: u64) -> Instant {
        Instant::at(Time::from_us(us))
    }

    fn queue() -> Queues {
        let mut queues = Queues::remembering(Time::from_us(5));
        queues.set_rate(LINK, line(100));
        queues
    }

    #[test]
    fn what_comes_last_waits_for_all_before_it() {
        let mut queues = queue();
        let none = FlowRate::default();
        queues.change(LINK, Weight::WHOLE, us(0), [none, line(100)]);
        queues.change(LINK, Weight::of(1, 2), us(2), [none, line(100)]);
        queues.change(LINK, Weight::WHOLE, us(4), [line(100), none]);
        assert_eq!(queues.waiting(LINK, us(2)).time, Time::ZERO);
        assert_eq!(queues.waiting(LINK, us(4)).time, Time::from_us(1));
        assert!((queues.load(LINK, us(4)) - 1.5).abs() < 1e-9);
        assert_eq!(queues.waiting(LINK, us(5)).time, Time::from_ns(500));
        assert_eq!(queues.waiting(LINK, us(9)).time, Time::ZERO);
    }

    #[test]
    fn what_is_forgotten_changes_nothing() {
        let mut queues = queue();
        let rates = [20, 300, 0, 70, 150, 90, 10, 400, 0];
        for (place, pair) in rates.windows(2).enumerate() {
            let pair = [pair[0], pair[1]].map(line);
            queues.change(LINK, Weight::WHOLE, us(3 * place as u64 + 1), pair);
        }
        let mut passed = queues.clone();
        for now in 0..40 {
            passed.pass(LINK, us(now));
            let asked = us(now).max(us(4)) - Time::from_us(4);
            assert_eq!(
                passed.waiting(LINK, asked),
                queues.waiting(LINK, asked),
                "{now}"
            );
            assert!((passed.load(LINK, asked) - queues.load(LINK, asked)).abs() < 1e-12);
        }
    }
}
