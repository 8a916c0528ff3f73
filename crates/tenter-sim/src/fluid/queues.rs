//! Links as first-in, first-out queues that accept everything.
//!
//! Such a link holds no flow back. Traffic beyond its rate waits, and the last byte of a flow
//! leaves after everything that arrived before it; later arrivals do not slow it down. Between two
//! changes of the arrival rate the backlog grows or shrinks linearly (a fluid queue, as in
//! Kleinrock, *Queueing Systems*, volume 2, section 2.7).
//!
//! Changes may be announced ahead of time, since traffic takes a while from its sender to the link.
//! The backlog of a short time ago may be queried.

use tenter_language::units::{ById, Instant, Time};

use crate::fluid::amounts::{BYTE, FlowRate, Load, Weight};
use crate::fluid::links::LinkId;

/// A change in the arrival rate at a link.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Instant,
    more: i128,
    /// The queue's state right after the change; valid if the change is [known](Queue::known).
    after: State,
}

/// A link and its backlog.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// Rate at which the link sends.
    rate: Load,
    /// State after the forgotten changes.
    state: State,
    /// Changes in time order, no two at one instant. The first `forgotten` changes are obsolete.
    changes: Vec<Change>,
    /// Number of obsolete changes, which come first in the list.
    forgotten: usize,
    /// Number of changes from the first whose state is valid, at least `forgotten`. Queries and
    /// changes both move forward in time, so few states are computed twice.
    known: usize,
}

/// A queue's state at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Arrival rate, as a load.
    load: i128,
    /// Backlog, in load units times picoseconds.
    waits: u128,
    since: Instant,
}

impl State {
    /// Advances the state to `at`, with no change in between.
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

    /// Returns the state for one among `links` equal links which had this one together, rounded
    /// towards zero.
    fn part(self, links: u64) -> State {
        State {
            load: self.load / i128::from(links),
            waits: self.waits / u128::from(links),
            ..self
        }
    }
}

impl Change {
    /// Returns the change at one among `links` equal links.
    fn part(self, links: u64) -> Change {
        Change {
            more: self.more / i128::from(links),
            ..self
        }
    }
}

impl Queue {
    /// Returns the index of the first change that is not before `at`.
    fn place(&self, at: Instant) -> usize {
        let changes = &self.changes[self.forgotten..];
        self.forgotten + changes.partition_point(|change| change.at < at)
    }

    /// Returns the state after the first `place` changes, and computes those that are missing.
    fn after(&mut self, place: usize) -> State {
        while self.known < place {
            let mut state = self.known_after(self.known);
            let change = &mut self.changes[self.known];
            state.pass(self.rate, change.at);
            state.load += change.more;
            change.after = state;
            self.known += 1;
        }
        self.known_after(place)
    }

    /// Returns the state after the first `place` changes, which are all known.
    fn known_after(&self, place: usize) -> State {
        match place {
            place if place == self.forgotten => self.state,
            place => self.changes[place - 1].after,
        }
    }

    /// Returns the state just before `at`.
    fn before(&mut self, at: Instant) -> State {
        let mut state = self.after(self.place(at));
        state.pass(self.rate, at);
        state
    }

    /// Drops the changes before an instant.
    fn forget(&mut self, before: Instant) {
        let past = self.place(before);
        if past == self.forgotten {
            return;
        }
        self.state = self.after(past);
        self.forgotten = past;
        // Draining at every call would move the whole list each time; at half it costs a constant
        // per change.
        if 2 * self.forgotten >= self.changes.len() {
            self.changes.drain(..self.forgotten);
            self.known -= self.forgotten;
            self.forgotten = 0;
        }
    }

    fn add(&mut self, at: Instant, more: i128) {
        let place = self.place(at);
        // States from here on were computed without this change.
        self.known = self.known.min(place);
        match self.changes.get_mut(place) {
            Some(same) if same.at == at => same.more += more,
            _ => {
                let after = State::default();
                self.changes.insert(place, Change { at, more, after });
            }
        }
    }

    /// Returns the queue for one among `links` equal links which had this one together.
    fn part(&self, links: u64) -> Queue {
        let changes = self.changes[self.forgotten..].iter();
        Queue {
            rate: Load(self.rate.0 / u128::from(links)),
            state: self.state.part(links),
            changes: changes.map(|change| change.part(links)).collect(),
            forgotten: 0,
            known: 0,
        }
    }
}

/// Backlog that a link has at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Time that the link needs to send it: the wait for a byte that arrives now.
    pub time: Time,
    /// Size of the backlog in bytes.
    pub bytes: u64,
}

/// Queues of links.
///
/// ```
/// use tenter_sim::fluid::{FlowRate, LinkId, Queues, Weight};
/// use tenter_language::units::{Instant, Rate, Time};
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
    /// Creates queues that can be queried up to `memory` in the past.
    pub fn remembering(memory: Time) -> Queues {
        Queues {
            all: ById::default(),
            memory,
        }
    }

    /// Extends the time for which the past can be queried.
    pub(crate) fn remember(&mut self, memory: Time) {
        self.memory = self.memory.max(memory);
    }

    /// Sets the rate at which a link sends.
    pub fn set_rate(&mut self, link: LinkId, rate: FlowRate) {
        let queue = self.with_room(link);
        let rate = Load::of_capacity(rate);
        if queue.rate != rate {
            queue.rate = rate;
            // All states after the forgotten changes were computed with the old rate.
            queue.known = queue.forgotten;
        }
    }

    /// Returns the link's queue, which is created if it is missing.
    fn with_room(&mut self, link: LinkId) -> &mut Queue {
        if self.all.len() <= link.index() {
            self.all.resize(link.index() + 1, Queue::default());
        }
        &mut self.all[link]
    }

    fn of(&mut self, link: LinkId) -> Option<&mut Queue> {
        (link.index() < self.all.len()).then(|| &mut self.all[link])
    }

    /// Splits a bundle's queue evenly among its links.
    pub(crate) fn divide(&mut self, together: LinkId, links: &[LinkId]) {
        let Some(queue) = self.of(together) else {
            return;
        };
        let part = queue.part(links.len().max(1) as u64);
        *queue = Queue::default();
        for &link in links {
            let own = self.with_room(link);
            debug_assert!(own.changes.is_empty(), "{link:?} has a queue");
            *own = part.clone();
        }
    }

    /// Changes a flow's rate at `at`. The link carries `part` of the flow.
    pub fn change(
        &mut self,
        link: LinkId,
        part: Weight,
        at: Instant,
        [before, after]: [FlowRate; 2],
    ) {
        let load = |rate| i128::try_from(Load::of(rate, part).0).unwrap_or(i128::MAX);
        let more = load(after) - load(before);
        if more == 0 {
            return;
        }
        self.all[link].add(at, more);
    }

    /// Drops a link's changes that no query can reach any more at `now`.
    pub(crate) fn pass(&mut self, link: LinkId, now: Instant) {
        let asked = now.saturating_sub(self.memory);
        if let Some(queue) = self.of(link) {
            queue.forget(asked);
        }
    }

    /// Returns a link's backlog just before `at`.
    pub fn waiting(&mut self, link: LinkId, at: Instant) -> Waiting {
        let Some(queue) = self.of(link) else {
            return Waiting::default();
        };
        let waits = queue.before(at).waits;
        // Most queries find an empty queue, and need no division of 128 bits.
        if waits == 0 {
            return Waiting::default();
        }
        let narrow = |of: Option<u128>| of.map_or(0, |of| u64::try_from(of).unwrap_or(u64::MAX));
        Waiting {
            time: Time::from_ps(narrow(waits.checked_div(queue.rate.0))),
            bytes: narrow(Some(waits / (BYTE * Weight::WHOLE.units()))),
        }
    }

    /// Returns the arrival rate just before `at`, divided by the service rate.
    pub(crate) fn load(&mut self, link: LinkId, at: Instant) -> f64 {
        self.of(link).map_or(0.0, |queue| {
            queue.before(at).load as f64 / queue.rate.0.max(1) as f64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};
    use tenter_language::units::Rate;

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

    /// Returns arrival rate and backlog at an instant, computed from all changes since the start.
    fn by_all(changes: &[(Instant, i128)], rate: Load, at: Instant) -> (i128, u128) {
        let mut sorted = changes.to_vec();
        sorted.sort_by_key(|change| change.0);
        let mut state = State::default();
        for (when, more) in sorted.into_iter().take_while(|change| change.0 < at) {
            state.pass(rate, when);
            state.load += more;
        }
        state.pass(rate, at);
        (state.load, state.waits)
    }

    proptest! {
        #[test]
        fn each_question_is_answered_by_all_changes(
            steps in vec((0_u64..4, 0_u64..3, 0_u64..13, -40_i128..60), 1..200),
        ) {
            let mut queue = Queue { rate: Load(100), ..Queue::default() };
            let mut all = Vec::new();
            let mut now = 8;
            for (sooner, ahead, asked, more) in steps {
                now += sooner;
                let at = us(now + ahead);
                queue.add(at, more);
                all.push((at, more));
                queue.forget(us(now - 8));
                // A question may be ahead of changes that are yet to be told.
                let asked = us(now + asked - 8);
                let found = queue.before(asked);
                let expected = by_all(&all, queue.rate, asked);
                prop_assert_eq!((found.load, found.waits), expected);
            }
        }
    }

    #[test]
    fn links_have_their_parts_of_what_they_had_together() {
        let mut queues = queue();
        for (at, rates) in [(1, [0, 300]), (2, [300, 150]), (10, [150, 0])] {
            queues.change(LINK, Weight::WHOLE, us(at), rates.map(line));
        }
        // Two changes are forgotten, and one is still to come.
        queues.pass(LINK, us(8));
        let asked = [us(9), us(11)];
        let whole = asked.map(|at| queues.waiting(LINK, at));
        let links = [LinkId::new(1), LinkId::new(2)];
        queues.divide(LINK, &links);
        for link in links {
            let parts = asked.map(|at| queues.waiting(link, at));
            for (part, whole) in parts.into_iter().zip(whole) {
                assert_eq!((part.time, 2 * part.bytes), (whole.time, whole.bytes));
                assert!(!part.time.is_zero());
            }
        }
        assert_eq!(queues.waiting(LINK, us(9)), Waiting::default());
    }
}
