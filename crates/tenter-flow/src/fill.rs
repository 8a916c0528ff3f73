//! Progressive filling: the max–min fair rates of some flows beside others that keep theirs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tenter_units::{ById, Instant};

use crate::amounts::{FlowRate, Load};
use crate::flow::{Bottleneck, FlowId};
use crate::limited::Limited;
use crate::links::{LinkId, Links};
use crate::population::{Population, Which};

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

/// Space for filling, kept from one time to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filling {
    rooms: ById<LinkId, Room>,
    /// The links that the flows load.
    pub(crate) touched: Vec<LinkId>,
    /// Their flows, link after link, where not all flows are filled.
    listed: Vec<FlowId>,
    levels: BinaryHeap<Reverse<(FlowRate, LinkId)>>,
    limited: Limited,
    /// The flows of one link.
    on_link: Vec<FlowId>,
}

/// Gives flows their rates.
struct Giving<'a, F> {
    rooms: &'a mut ById<LinkId, Room>,
    links: &'a Links,
    population: &'a mut Population,
    now: Instant,
    changed: F,
}

impl<F: FnMut(FlowId, [FlowRate; 2], Instant)> Giving<'_, F> {
    /// Gives a flow a rate, unless it has one.
    fn give(&mut self, id: FlowId, rate: FlowRate, bottleneck: Bottleneck) {
        let flow = &mut self.population.flows[id];
        if !flow.life.is_waiting() {
            return;
        }
        flow.life.set_waiting(false);
        let (before, rate_before) = (flow.end, flow.rate);
        for (link, weight) in flow.kind.hops(self.links) {
            let room = &mut self.rooms[link];
            room.rest = room.rest.saturating_sub(Load::of(rate, weight).0);
            room.weight -= weight.units();
        }
        self.population
            .set_rate(self.links, id, rate, bottleneck, self.now);
        let end = self.population.flows[id].end;
        if end != before || rate != rate_before {
            (self.changed)(id, [rate_before, rate], end);
        }
    }
}

impl Filling {
    pub(crate) fn add_link(&mut self) {
        self.rooms.push(Room::default());
    }

    /// Gives some flows their rates from `now` on; all others keep theirs. Calls `changed` for each
    /// flow whose rate or end has changed.
    pub(crate) fn fill(
        &mut self,
        links: &Links,
        population: &mut Population,
        which: Which<'_>,
        now: Instant,
        changed: impl FnMut(FlowId, [FlowRate; 2], Instant),
    ) {
        self.make_room(links, population, which);
        if let Which::These(flows) = which {
            self.list(links, population, flows);
        }
        self.limited.list(links, population, which);
        let levels = self.touched.iter();
        let levels = levels.filter_map(|&link| Some(Reverse((self.rooms[link].level()?, link))));
        self.levels.extend(levels);
        let mut giving = Giving {
            rooms: &mut self.rooms,
            links,
            population,
            now,
            changed,
        };
        while let Some(Reverse((level, link))) = self.levels.pop() {
            while let Some((limit, flows)) = self.limited.next_up_to(level) {
                for &id in flows {
                    giving.give(id, limit, Bottleneck::OWN);
                }
            }
            let Some(now) = giving.rooms[link].level() else {
                continue;
            };
            // Levels only rise, so one that has risen takes its place anew.
            if now > level {
                self.levels.push(Reverse((now, link)));
                continue;
            }
            let Room { first, count, .. } = giving.rooms[link];
            let flows = if let Which::These(_) = which {
                &self.listed[first as usize..(first + count) as usize]
            } else {
                let on = giving.population.on(link);
                let waiting = on.filter(|(_, flow)| flow.life.is_waiting());
                self.on_link.clear();
                self.on_link.extend(waiting.map(|(id, _)| id));
                &self.on_link
            };
            for &id in flows {
                giving.give(id, now, Bottleneck::of_link(link));
            }
        }
        self.limited.release();
    }

    /// What the others leave of each link that the flows load.
    fn make_room(&mut self, links: &Links, population: &mut Population, which: Which<'_>) {
        for link in self.touched.drain(..) {
            self.rooms[link].count = 0;
        }
        self.levels.clear();
        for place in 0..which.places(population) {
            let Some(id) = which.at(population, place) else {
                continue;
            };
            let flow = &mut population.flows[id];
            flow.life.set_waiting(true);
            let rate = flow.rate;
            for (link, weight) in flow.kind.hops(links) {
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
                room.rest = room.rest.wrapping_add(Load::of(rate, weight).0);
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
        self.listed.resize(next as usize, FlowId::default());
        for &id in flows {
            for (link, _) in population.flows[id].kind.hops(links) {
                let room = &mut self.rooms[link];
                self.listed[(room.first + room.count) as usize] = id;
                room.count += 1;
            }
        }
    }
}
