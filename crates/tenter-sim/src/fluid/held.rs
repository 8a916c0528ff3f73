//! The flows that one link or limit holds back, and the instant at which the first of them ends.
//!
//! All have the same rate, so none overtakes another. The link counts what one such flow has sent
//! since the start; a flow has sent everything when that counter reaches the flow's *mark*, which
//! does not change with the rate. A new rate for a thousand flows is therefore one change here.

use tenter_language::units::{ById, Instant, Time};

use crate::fluid::amounts::{Amount, FlowRate};
use crate::fluid::flow::{Flow, FlowId};

/// Flows that have the rate that one link or limit gives them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// Counter at `since`: what a flow would have sent that had been held here from the start.
    sent: Amount,
    since: Instant,
    rate: FlowRate,
    /// Binary heap by marks, lowest first. Each flow knows its index.
    pub(crate) flows: Vec<FlowId>,
    /// Set while the instant of the first end waits to be found again.
    pub(crate) is_changed: bool,
}

/// Capacity, in flows, from which an emptied heap returns its memory.
const MANY: usize = 1 << 10;

impl Held {
    /// Returns the counter at `now`.
    fn sent_at(&self, now: Instant) -> Amount {
        self.sent.plus(self.rate, now.saturating_since(self.since))
    }

    /// Sets the rate for all flows here.
    pub(crate) fn set_rate(&mut self, rate: FlowRate, now: Instant) {
        self.sent = self.sent_at(now);
        self.since = now;
        self.rate = rate;
    }

    /// Returns the amount that a flow here still has to send.
    pub(crate) fn left(&self, flow: &Flow, now: Instant) -> Amount {
        flow.mark.less(self.sent_at(now))
    }

    /// Returns the instant at which the first flow ends, or never.
    pub(crate) fn next_end(&self, flows: &ById<FlowId, Flow>) -> Instant {
        let Some(&first) = self.flows.first() else {
            return Instant::NEVER;
        };
        let time = flows[first].mark.less(self.sent).time_at(self.rate);
        time.map_or(Instant::NEVER, |time| self.since.saturating_add(time))
    }

    /// Adds a flow that has `left` still to send.
    pub(crate) fn add(
        &mut self,
        flows: &mut ById<FlowId, Flow>,
        id: FlowId,
        left: Amount,
        now: Instant,
    ) {
        flows[id].mark = self.sent_at(now).and(left);
        self.flows.push(id);
        self.rise(flows, self.flows.len() - 1);
    }

    pub(crate) fn remove(&mut self, flows: &mut ById<FlowId, Flow>, id: FlowId) {
        let place = flows[id].place as usize;
        self.flows.swap_remove(place);
        if place < self.flows.len() {
            // The heap's last flow moved to this index. It may be lighter than its new parent or
            // heavier than its new children; at most one of the two calls moves it.
            self.rise(flows, place);
            self.sink(flows, flows[self.flows[place]].place as usize);
        } else if self.flows.is_empty() && self.flows.capacity() > MANY {
            self.flows = Vec::new();
        }
    }

    /// Appends the flows that have sent everything at `at`.
    pub(crate) fn ending(&self, flows: &ById<FlowId, Flow>, at: Instant, all: &mut Vec<FlowId>) {
        let sent = self.sent_at(at);
        let has_ended = |id: FlowId| {
            let left = flows[id].mark.less(sent);
            left.time_at(self.rate).is_some_and(Time::is_zero)
        };
        // Only the subtree of ended flows at the top of the heap is walked: no flow below an
        // unended one has ended.
        let first = all.len();
        let mut next = first;
        all.extend(self.flows.first().filter(|id| has_ended(**id)));
        while let Some(&id) = all.get(next) {
            let below = 2 * flows[id].place as usize + 1;
            let both = self.flows.iter().skip(below).take(2);
            all.extend(both.filter(|id| has_ended(**id)));
            next += 1;
        }
    }

    /// Moves a flow up the heap until no flow above it ends later.
    fn rise(&mut self, flows: &mut ById<FlowId, Flow>, mut place: usize) {
        let id = self.flows[place];
        let mark = flows[id].mark;
        while let Some(above) = place.checked_sub(1).map(|below| below / 2) {
            let other = self.flows[above];
            if flows[other].mark <= mark {
                break;
            }
            self.put(flows, other, place);
            place = above;
        }
        self.put(flows, id, place);
    }

    /// Moves a flow down the heap until no flow below it ends sooner.
    fn sink(&mut self, flows: &mut ById<FlowId, Flow>, mut place: usize) {
        let id = self.flows[place];
        let mark = flows[id].mark;
        loop {
            let below = 2 * place + 1;
            let both = self.flows.iter().copied().skip(below).take(2);
            let marks = both.zip(below..).map(|(id, at)| (flows[id].mark, at, id));
            let Some((least, at, other)) = marks.min_by_key(|(mark, at, _)| (*mark, *at)) else {
                break;
            };
            if mark <= least {
                break;
            }
            self.put(flows, other, place);
            place = at;
        }
        self.put(flows, id, place);
    }

    fn put(&mut self, flows: &mut ById<FlowId, Flow>, id: FlowId, place: usize) {
        self.flows[place] = id;
        flows[id].place = place as u32;
    }
}
