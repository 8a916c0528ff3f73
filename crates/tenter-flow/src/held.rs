//! The flows that a link or a limit holds back, and when the first of them ends.
//!
//! All have the same rate, so none overtakes another: each has sent everything when the sum of what
//! one of them has sent reaches a *mark*, which does not change when the rate does. A change of the
//! rate of a thousand flows is one change here.

use tenter_units::{ById, Instant, Time};

use crate::amounts::{Amount, FlowRate};
use crate::flow::{Flow, FlowId};

/// The flows that have the rate of one link or limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// What a flow would have sent that had been here from the start, at `since`.
    sent: Amount,
    since: Instant,
    rate: FlowRate,
    /// A binary heap by marks. Each flow knows its place.
    pub(crate) flows: Vec<FlowId>,
}

/// The memory of a list of more flows is given back when it is empty.
const MANY: usize = 1 << 10;

impl Held {
    /// What a flow has sent that has been here from the start.
    fn sent_at(&self, now: Instant) -> Amount {
        self.sent.plus(self.rate, now.saturating_since(self.since))
    }

    /// Gives all of them another rate.
    pub(crate) fn set_rate(&mut self, rate: FlowRate, now: Instant) {
        self.sent = self.sent_at(now);
        self.since = now;
        self.rate = rate;
    }

    /// What is left of one of them.
    pub(crate) fn left(&self, flow: &Flow, now: Instant) -> Amount {
        flow.mark.less(self.sent_at(now))
    }

    /// When the first of them ends, or never.
    pub(crate) fn next_end(&self, flows: &ById<FlowId, Flow>) -> Instant {
        let Some(&first) = self.flows.first() else {
            return Instant::NEVER;
        };
        let time = flows[first].mark.less(self.sent).time_at(self.rate);
        time.map_or(Instant::NEVER, |time| self.since.saturating_add(time))
    }

    /// Takes a flow in of which so much is left.
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

    /// Takes a flow out.
    pub(crate) fn remove(&mut self, flows: &mut ById<FlowId, Flow>, id: FlowId) {
        let place = flows[id].place as usize;
        self.flows.swap_remove(place);
        if place < self.flows.len() {
            self.rise(flows, place);
            self.sink(flows, flows[self.flows[place]].place as usize);
        } else if self.flows.is_empty() && self.flows.capacity() > MANY {
            self.flows = Vec::new();
        }
    }

    /// The flows that have sent everything at an instant.
    pub(crate) fn ending(&self, flows: &ById<FlowId, Flow>, at: Instant, all: &mut Vec<FlowId>) {
        let sent = self.sent_at(at);
        let has_ended = |id: FlowId| {
            let left = flows[id].mark.less(sent);
            left.time_at(self.rate).is_some_and(Time::is_zero)
        };
        // Those that have not are above no others that have.
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

    /// Moves the flow at a place up to where none above it ends later.
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

    /// Moves the flow at a place down to where none below it ends sooner.
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
