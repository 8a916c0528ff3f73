//! Progressive filling: the max–min fair rates of some flows beside others that keep theirs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_units::ById;

use crate::amounts::{FlowRate, Load};
use crate::links::{LinkId, Links};
use crate::population::{Bottleneck, FlowId, Population};

/// What is left of a link while it is filled.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    rest: u128,
    /// The sum of the weights of flows without a rate.
    weight: u128,
    /// Where its flows are listed.
    first: u32,
    count: u32,
}

impl Room {
    /// The rate that all flows without one may have; `None` where there are none.
    fn level(&self) -> Option<FlowRate> {
        // Most fit into 64 bits, whose division is faster.
        let narrow = (u64::try_from(self.rest), u64::try_from(self.weight));
        let level = if let (Ok(rest), Ok(weight)) = narrow {
            rest.checked_div(weight)?
        } else {
            let level = self.rest.checked_div(self.weight)?;
            u64::try_from(level).unwrap_or(u64::MAX - 1)
        };
        Some(FlowRate::of_units(level))
    }
}

/// A rate that a flow has been given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) flow: FlowId,
    pub(crate) rate: FlowRate,
    pub(crate) bottleneck: Bottleneck,
}

/// Space for filling, kept from one time to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filling {
    rooms: ById<LinkId, Room>,
    /// The links that the flows load.
    pub(crate) touched: Vec<LinkId>,
    /// Their flows, link after link.
    listed: Vec<u32>,
    levels: BinaryHeap<Reverse<(FlowRate, LinkId)>>,
    limits: Vec<(FlowRate, u32)>,
    /// The rates, flow after flow.
    pub(crate) given: Vec<Given>,
}

/// A flow without a rate.
const OPEN: FlowRate = FlowRate::UNLIMITED;

impl Filling {
    pub(crate) fn add_link(&mut self) {
        self.rooms.push(Room::default());
    }

    /// Finds the rates of some flows, each listed once; all others keep theirs.
    pub(crate) fn fill(&mut self, links: &Links, population: &Population, flows: &[FlowId]) {
        self.make_room(links, population, flows);
        self.list(links, population, flows);
        let mut limits = std::mem::take(&mut self.limits);
        limits.sort_unstable();
        let mut limited = limits.iter().copied().peekable();
        while let Some(Reverse((level, link))) = self.levels.pop() {
            while let Some((limit, place)) = limited.next_if(|(limit, _)| *limit <= level) {
                self.give(links, population, place, limit, Bottleneck::Own);
            }
            let Some(now) = self.rooms[link].level() else {
                continue;
            };
            // Levels only rise, so one that has risen takes its place anew.
            if now > level {
                self.levels.push(Reverse((now, link)));
                continue;
            }
            let Room { first, count, .. } = self.rooms[link];
            for at in first..first + count {
                let place = self.listed[at as usize];
                self.give(links, population, place, now, Bottleneck::Link(link));
            }
        }
        limits.clear();
        self.limits = limits;
        debug_assert!(self.given.iter().all(|given| given.rate != OPEN));
    }

    /// What the others leave of each link that the flows load.
    fn make_room(&mut self, links: &Links, population: &Population, flows: &[FlowId]) {
        for link in self.touched.drain(..) {
            self.rooms[link].count = 0;
        }
        self.given.clear();
        self.levels.clear();
        self.limits.clear();
        for (place, &id) in (0..).zip(flows) {
            let flow = &population.flows[id];
            self.given.push(Given {
                flow: id,
                rate: OPEN,
                bottleneck: Bottleneck::Unknown,
            });
            if flow.spec.limit < FlowRate::UNLIMITED {
                self.limits.push((flow.spec.limit, place));
            }
            for (link, weight) in flow.spec.hops(links) {
                let room = &mut self.rooms[link];
                if room.count == 0 {
                    self.touched.push(link);
                    let free = links.capacities[link].0;
                    let taken = population.load(link).0;
                    // Others may have more than a link has left when its capacity has fallen.
                    *room = Room {
                        rest: free.wrapping_sub(taken),
                        ..Room::default()
                    };
                }
                room.count += 1;
                room.rest = room.rest.wrapping_add(Load::of(flow.rate, weight).0);
                room.weight += weight.units();
            }
        }
        for &link in &self.touched {
            let room = &mut self.rooms[link];
            if room.rest > u128::MAX / 2 {
                room.rest = 0;
            }
        }
    }

    /// Lists the flows of each link.
    fn list(&mut self, links: &Links, population: &Population, flows: &[FlowId]) {
        let mut next = 0;
        for &link in &self.touched {
            let room = &mut self.rooms[link];
            room.first = next;
            next += room.count;
            room.count = 0;
        }
        self.listed.clear();
        self.listed.resize(next as usize, 0);
        for (place, &id) in (0..).zip(flows) {
            for (link, _) in population.flows[id].spec.hops(links) {
                let room = &mut self.rooms[link];
                self.listed[(room.first + room.count) as usize] = place;
                room.count += 1;
            }
        }
        for &link in &self.touched {
            if let Some(level) = self.rooms[link].level() {
                self.levels.push(Reverse((level, link)));
            }
        }
    }

    /// Gives a flow a rate, unless it has one.
    fn give(
        &mut self,
        links: &Links,
        population: &Population,
        place: u32,
        rate: FlowRate,
        bottleneck: Bottleneck,
    ) {
        let given = &mut self.given[place as usize];
        if given.rate != OPEN {
            return;
        }
        given.rate = rate;
        given.bottleneck = bottleneck;
        for (link, weight) in population.flows[given.flow].spec.hops(links) {
            let room = &mut self.rooms[link];
            room.rest = room.rest.saturating_sub(Load::of(rate, weight).0);
            room.weight -= weight.units();
        }
    }
}
