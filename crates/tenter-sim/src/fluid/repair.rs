//! Rates after a change, computed only for the flows whose rates it affects.
//!
//! One pass goes from the lowest rate up, as in progressive filling: all open flows rise together,
//! and the next link that fills gives its level to the open flows on it. A flow that has a rate
//! keeps it until the pass reaches a link that is inconsistent with it: the link could give more to
//! the flows that it holds, or has to give less, or the flow has more than the link can give. What
//! happens below a level depends on nothing above it, so rates behind the pass are final. The cost
//! of a change is proportional to the links of the flows whose rates it changes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tenter_language::units::Instant;

use crate::fluid::amounts::{FlowRate, Load, Weight};
use crate::fluid::flow::FlowId;
use crate::fluid::holders::Holders;
use crate::fluid::links::{Kind, LinkId, Links, NOTHING};
use crate::fluid::opened::Opened;
use crate::fluid::population::Population;
use crate::fluid::shares::{Shares, weighed};

/// Repair state. Its memory is kept from one repair to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    pub(crate) shares: Shares,
    pub(crate) holders: Holders,
    /// Flows by their limit, lowest first: the open ones, and some that have closed since.
    limited: BTreeMap<(FlowRate, LinkId), Vec<FlowId>>,
    /// Flows that the present pass has opened, by link.
    opened: Opened,
    /// Scratch lists: the open flows on a link, the flows that have more than it can give, and the
    /// kinds and links of flows that it holds.
    open: Vec<FlowId>,
    over: Vec<(Reverse<FlowRate>, FlowId)>,
    kinds: Vec<Kind>,
    hops: Vec<(LinkId, Weight)>,
    /// Number of flows that were opened or shifted to another level, since the start.
    pub(crate) refilled: u64,
    /// Replaces [`VISITS`], since no case is known that reaches that many.
    #[cfg(test)]
    pub(crate) most_visits: Option<u16>,
    /// Number of passes that found all rates anew.
    #[cfg(test)]
    pub(crate) anew: u64,
}

/// Capacity, in flows, from which a scratch list returns its memory.
const MANY: usize = 1 << 16;

/// Held flows whose links are looked up together.
const BATCH: usize = 64;

/// Visits of a link in one pass after which all rates are found anew. Links might pass on what
/// rounding leaves without end; no case is known.
const VISITS: u16 = 32;

fn units(rate: FlowRate, weight: Weight) -> i128 {
    Load::of(rate, weight).0.cast_signed()
}

impl Repair {
    pub(crate) fn add_link(&mut self, capacity: Load) {
        self.shares.add_link(capacity);
        self.holders.add_link();
        self.opened.add_link();
    }

    pub(crate) fn set_capacity(&mut self, link: LinkId, [before, after]: [Load; 2]) {
        self.shares.set_capacity(link, [before, after]);
    }

    /// Removes a flow and returns its rate to its links.
    pub(crate) fn withdraw(&mut self, links: &Links, population: &mut Population, id: FlowId) {
        let flow = population.flows[id];
        if flow.bottleneck == NOTHING {
            return;
        }
        for (link, weight) in flow.kind.hops(links) {
            let share = self.shares.touch(link);
            share.spare += units(flow.rate, weight);
            if link == flow.bottleneck {
                share.held -= weight.units() as u64;
            }
        }
        self.holders.release(&mut population.flows, id);
    }

    /// Finds the rates at `now`, including those for the flows in `begun`. Calls `changed` for each
    /// flow whose rate differs.
    pub(crate) fn settle(
        &mut self,
        links: &Links,
        population: &mut Population,
        begun: &[FlowId],
        now: Instant,
        changed: impl FnMut(FlowId, [FlowRate; 2]),
    ) {
        let mut pass = Pass {
            repair: self,
            links,
            population,
            now,
            changed,
            are_all_open: false,
        };
        for &id in begun {
            pass.open(id);
        }
        while let Some((level, link)) = pass.repair.shares.next() {
            // A limit below the link's level binds first. The link then stays in the queue, since
            // the flows that close may change its level.
            if !pass.close_limited(level) {
                pass.repair.shares.take(link);
                pass.visit(link);
            }
        }
        self.limited.clear();
        self.shares.close();
        self.opened.clear();
        self.holders.find_ends(&population.flows);
        if self.open.capacity() > MANY {
            self.open = Vec::new();
        }
        if self.over.capacity() > MANY {
            self.over = Vec::new();
        }
    }
}

/// One pass from the lowest level up.
struct Pass<'a, F> {
    repair: &'a mut Repair,
    links: &'a Links,
    population: &'a mut Population,
    now: Instant,
    changed: F,
    /// Set once all flows were opened together: each link is then visited once.
    are_all_open: bool,
}

impl<F: FnMut(FlowId, [FlowRate; 2])> Pass<'_, F> {
    /// Opens a flow: its rate is unknown until it closes.
    fn open(&mut self, id: FlowId) {
        let flow = &mut self.population.flows[id];
        if flow.life.is_open() {
            return;
        }
        flow.life.set_open(true);
        self.repair.refilled += 1;
        let Repair { shares, opened, .. } = &mut *self.repair;
        shares.open += 1;
        flow.kind.each_hop(self.links, |link, weight| {
            opened.add(link, id);
            let share = shares.touch(link);
            share.spare += units(flow.rate, weight);
            share.open += weight.units() as u64;
            if link == flow.bottleneck {
                share.held -= weight.units() as u64;
            }
        });
        if let Some(limit) = self.links.limit(flow.kind.terms) {
            let rate = self.links.terms(flow.kind.terms).limit;
            let limited = self.repair.limited.entry((rate, limit));
            limited.or_default().push(id);
        }
    }

    /// Closes an open flow with its bottleneck's rate.
    fn close(&mut self, id: FlowId, rate: FlowRate, holder: LinkId) {
        let flow = &mut self.population.flows[id];
        if !flow.life.is_open() {
            return;
        }
        flow.life.set_open(false);
        let shares = &mut self.repair.shares;
        shares.open -= 1;
        flow.kind.each_hop(self.links, |link, weight| {
            // No `touch`: a flow closes at the lowest level of its links, so the levels of the
            // others can only rise, and their keys in the queue stay lower bounds.
            let share = shares.of_mut(link);
            share.spare -= units(rate, weight);
            share.open -= weight.units() as u64;
            if link == holder {
                share.held += weight.units() as u64;
            } else {
                share.most = share.most.max(rate);
            }
        });
        let before = std::mem::replace(&mut flow.rate, rate);
        if flow.bottleneck != holder {
            let flows = &mut self.population.flows;
            self.repair.holders.hold(flows, id, holder, self.now);
        }
        if before != rate {
            (self.changed)(id, [before, rate]);
        }
    }

    /// Closes the flows with the lowest limit if it is not above `level`. Returns true if it has
    /// closed any group.
    fn close_limited(&mut self, level: FlowRate) -> bool {
        let Some(lowest) = self.repair.limited.first_entry() else {
            return false;
        };
        let (rate, limit) = *lowest.key();
        if rate > level {
            return false;
        }
        let flows = lowest.remove();
        self.repair.holders.set_rate(limit, rate, self.now);
        for id in flows {
            self.close(id, rate, limit);
        }
        true
    }

    /// Handles a link when the pass has reached the level up to which nothing changes at it.
    fn visit(&mut self, link: LinkId) {
        #[cfg(not(test))]
        let most_visits = VISITS;
        #[cfg(test)]
        let most_visits = self.repair.most_visits.unwrap_or(VISITS);
        if self.repair.shares.visit(link) == most_visits && !self.are_all_open {
            self.open_all();
            self.repair.shares.touch(link);
            return;
        }
        let share = *self.repair.shares.of(link);
        if share.has_more() {
            let level = share.joint();
            self.open_blocked(link, level);
            // Shifting in place is cheaper than opening the flows and closing them again.
            self.shift(link, level);
            return;
        }
        let has_less = share.has_less();
        // Flows that the link holds already have its level; open ones then join them at it.
        let level = if share.held > 0 && !has_less {
            share.level
        } else {
            share.joint()
        };
        self.repair.open.clear();
        if share.open > 0 || share.most > level {
            self.list(link, level);
            // Once these flows are open, the link's level is higher, and the link is visited again.
            if !self.repair.over.is_empty() {
                self.open_over(link);
                return;
            }
        }
        if has_less {
            self.shift(link, level);
        } else if share.held == 0 {
            self.set_level(link, level);
        }
        let open = std::mem::take(&mut self.repair.open);
        for &id in &open {
            self.close(id, level, link);
        }
        self.repair.open = open;
    }

    /// Opens all flows, so that the pass finds all rates anew.
    fn open_all(&mut self) {
        self.are_all_open = true;
        #[cfg(test)]
        {
            self.repair.anew += 1;
        }
        let all: Vec<FlowId> = self.population.alive().map(|(id, _)| id).collect();
        for id in all {
            self.open(id);
        }
    }

    fn set_level(&mut self, link: LinkId, level: FlowRate) {
        self.repair.shares.of_mut(link).level = level;
        self.repair.holders.set_rate(link, level, self.now);
    }

    /// Opens the flows that `link` holds and that cannot rise to `level`, since another bottleneck
    /// or their limit is known to lie below. Links that fill up on the way are found later in the
    /// pass. Once all flows have been opened together, every flow that the link holds opens.
    fn open_blocked(&mut self, link: LinkId, level: FlowRate) {
        let held = self.repair.holders.take(link);
        for &id in &held {
            let kind = self.population.flows[id].kind;
            let shares = &self.repair.shares;
            let mut hops = kind.hops(self.links);
            let is_blocked = |hop: LinkId| {
                let share = shares.of(hop);
                share.held > 0 && share.level < level && hop != link
            };
            if self.are_all_open
                || self.links.terms(kind.terms).limit < level
                || hops.any(|(hop, _)| is_blocked(hop))
            {
                self.open(id);
            }
        }
        self.repair.holders.put(link, held);
    }

    /// Lists the kinds of the flows in `held`, which `link` holds, and their other links. In large
    /// trials each flow is a cache miss; loops as short as these wait for many at once.
    fn gather(&mut self, held: &[FlowId], link: LinkId) {
        let Repair { kinds, hops, .. } = &mut *self.repair;
        let flows = held.iter().map(|id| &self.population.flows[*id]);
        kinds.clear();
        // An open flow is still in the heap, but has returned its rate already.
        kinds.extend(
            flows
                .filter(|flow| !flow.life.is_open())
                .map(|flow| flow.kind),
        );
        hops.clear();
        for kind in &*kinds {
            kind.each_hop(self.links, |hop, weight| {
                if hop != link {
                    hops.push((hop, weight));
                }
            });
        }
    }

    /// Lists the open flows on a link, and the flows that have more than `level`. Lowers the link's
    /// `most` to the highest rate of the others, unless `most` shows that no flow has more than
    /// `level`: then only the flows that this pass opened are read.
    fn list(&mut self, link: LinkId, level: FlowRate) {
        let most = self.repair.shares.of(link).most;
        let Repair {
            open, over, opened, ..
        } = &mut *self.repair;
        over.clear();
        if most <= level
            && let Some(opened) = opened.on(link)
        {
            let flows = &self.population.flows;
            open.extend(opened.filter(|id| flows[*id].life.is_open()));
            return;
        }
        let mut most = FlowRate::default();
        // `for_each` runs plain loops; `for` would ask at each step which of the lists is next.
        self.population.on(link).for_each(|(id, flow)| {
            // Whether the link holds a flow cannot be predicted: a choice between two values costs
            // less than a branch.
            let is_held = flow.bottleneck == link;
            let rate = [flow.rate, FlowRate::default()][usize::from(is_held)];
            if flow.life.is_open() {
                open.push(id);
            } else if rate > level {
                over.push((Reverse(rate), id));
            } else {
                most = most.max(rate);
            }
        });
        self.repair.shares.of_mut(link).most = most;
    }

    /// Opens the flows that have more than the link can give, the highest first, until it can give
    /// what the next one has.
    fn open_over(&mut self, link: LinkId) {
        let mut over = std::mem::take(&mut self.repair.over);
        over.sort_unstable();
        for &(Reverse(rate), id) in &over {
            let share = self.repair.shares.touch(link);
            if rate <= share.joint() {
                share.most = rate;
                break;
            }
            self.open(id);
        }
        self.repair.over = over;
        self.repair.shares.touch(link);
    }

    /// Changes a link's level, and the rates that its held flows have.
    fn shift(&mut self, link: LinkId, level: FlowRate) {
        let share = self.repair.shares.touch(link);
        let before = share.level;
        share.spare += weighed(before, share.held) - weighed(level, share.held);
        self.set_level(link, level);
        let held = self.repair.holders.take(link);
        for some in held.chunks(BATCH) {
            self.gather(some, link);
            self.repair.refilled += self.repair.kinds.len() as u64;
            let Repair { hops, shares, .. } = &mut *self.repair;
            for &(hop, weight) in &*hops {
                let share = shares.of_mut(hop);
                share.spare += units(before, weight) - units(level, weight);
                // The link's own flows are not counted in its `most`: they all have its level.
                share.most = share.most.max(level);
                if !share.is_calm() {
                    shares.touch(hop);
                }
            }
            for &id in some {
                let flow = &mut self.population.flows[id];
                if !flow.life.is_open() {
                    flow.rate = level;
                    (self.changed)(id, [before, level]);
                }
            }
        }
        self.repair.holders.put(link, held);
    }
}
