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
    /// What the queue is from then on, where that is [known](Queue::known).
    after: State,
}

/// A link, and what waits for it.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// What it sends.
    rate: Load,
    /// What it was at an instant.
    state: State,
    /// Changes after that, in order, no two at the same instant; behind some that are forgotten.
    changes: Vec<Change>,
    /// How many of the list are forgotten.
    forgotten: usize,
    /// How many of the list have a state, no fewer than are forgotten: questions and changes both
    /// go on with time, so few states are found twice.
    known: usize,
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

    /// That of one of several links alike, rounded towards zero.
    fn part(self, links: u64) -> State {
        State {
            load: self.load / i128::from(links),
            waits: self.waits / u128::from(links),
            ..self
        }
    }
}

impl Change {
    /// That of one of several links alike.
    fn part(self, links: u64) -> Change {
        Change {
            more: self.more / i128::from(links),
            ..self
        }
    }
}

impl Queue {
    /// Where the changes end that are before an instant.
    fn place(&self, at: Instant) -> usize {
        let changes = &self.changes[self.forgotten..];
        self.forgotten + changes.partition_point(|change| change.at < at)
    }

    /// What it is after so many changes.
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

    /// The same where all of these are known.
    fn known_after(&self, place: usize) -> State {
        match place {
            place if place == self.forgotten => self.state,
            place => self.changes[place - 1].after,
        }
    }

    /// What it is just before an instant.
    fn before(&mut self, at: Instant) -> State {
        let mut state = self.after(self.place(at));
        state.pass(self.rate, at);
        state
    }

    /// Forgets what was before an instant.
    fn forget(&mut self, before: Instant) {
        let past = self.place(before);
        if past == self.forgotten {
            return;
        }
        self.state = self.after(past);
        self.forgotten = past;
        // To move the others each time would take as long as there are many.
        if 2 * self.forgotten >= self.changes.len() {
            self.changes.drain(..self.forgotten);
            self.known -= self.forgotten;
            self.forgotten = 0;
        }
    }

    fn add(&mut self, at: Instant, more: i128) {
        let place = self.place(at);
        self.known = self.known.min(place);
        match self.changes.get_mut(place) {
            Some(same) if same.at == at => same.more += more,
            _ => {
                let after = State::default();
                self.changes.insert(place, Change { at, more, after });
            }
        }
    }

    /// That of one of several links alike which had this one together.
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
        let queue = self.with_room(link);
        let rate = Load::of_capacity(rate);
        if queue.rate != rate {
            queue.rate = rate;
            queue.known = queue.forgotten;
        }
    }

    /// The queue of a link, which has one from now on.
    fn with_room(&mut self, link: LinkId) -> &mut Queue {
        if self.all.len() <= link.index() {
            self.all.resize(link.index() + 1, Queue::default());
        }
        &mut self.all[link]
    }

    fn of(&mut self, link: LinkId) -> Option<&mut Queue> {
        (link.index() < self.all.len()).then(|| &mut self.all[link])
    }

    /// Lets each of several links alike have its part of what they had together until now.
    pub fn divide(&mut self, together: LinkId, links: &[LinkId]) {
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
        if more == 0 {
            return;
        }
        self.all[link].add(at, more);
    }

    /// Forgets of a link what nobody will ask any more, now that it is `now`.
    pub fn pass(&mut self, link: LinkId, now: Instant) {
        let asked = now.saturating_sub(self.memory);
        if let Some(queue) = self.of(link) {
            queue.forget(asked);
        }
    }

    /// What waits at a link just before an instant.
    pub fn waiting(&mut self, link: LinkId, at: Instant) -> Waiting {
        let Some(queue) = self.of(link) else {
            return Waiting::default();
        };
        let waits = queue.before(at).waits;
        // Most find nothing that waits, and need no divisions of 128 bits.
        if waits == 0 {
            return Waiting::default();
        }
        let narrow = |of: Option<u128>| of.map_or(0, |of| u64::try_from(of).unwrap_or(u64::MAX));
        Waiting {
            time: Time::from_ps(narrow(waits.checked_div(queue.rate.0))),
            bytes: narrow(Some(waits / (BYTE * Weight::WHOLE.units()))),
        }
    }

    /// What comes to a link just before an instant, as a part of what it sends.
    pub fn load(&mut self, link: LinkId, at: Instant) -> f64 {
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

    /// What comes and what waits at an instant by all changes, from the start.
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
