//! The rates after a change, solved anew for as few flows as have their rates changed by it.
//!
//! At first those that have begun, and those whose bottleneck has lost or gained a flow, are
//! *open*: they are filled beside all others, which keep their rates. A flow that then has no
//! bottleneck any more is opened too: one with more than others at a link that holds them back, and
//! one whose own bottleneck is no longer full or gives others more. When none is left, every flow
//! has its bottleneck, so these are the rates.

use tenter_units::{ById, Instant};

use crate::amounts::FlowRate;
use crate::fill::Filling;
use crate::flow::{Bottleneck, Flow, FlowId};
use crate::links::{LinkId, Links};
use crate::population::{Population, Which};

/// A repair under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repair {
    pub(crate) filling: Filling,
    open: Vec<FlowId>,
    /// Links that have lost or gained flows, each once.
    changed: Vec<LinkId>,
    has_changed: ById<LinkId, bool>,
}

/// The memory of a list of more flows is given back.
const MANY: usize = 1 << 16;

impl Repair {
    /// Opens a flow.
    pub(crate) fn open(&mut self, population: &mut Population, id: FlowId) {
        let flow = &mut population.flows[id];
        if !flow.life.is_open() {
            flow.life.set_open(true);
            self.open.push(id);
        }
    }

    pub(crate) fn add_link(&mut self) {
        self.filling.add_link();
        self.has_changed.push(false);
    }

    /// A link has lost or gained a flow.
    pub(crate) fn touch(&mut self, link: LinkId) {
        if !std::mem::replace(&mut self.has_changed[link], true) {
            self.changed.push(link);
        }
    }

    /// Opens the flows that links hold back which have lost or gained others.
    pub(crate) fn open_touched(&mut self, population: &mut Population) {
        for link in std::mem::take(&mut self.changed) {
            self.has_changed[link] = false;
            self.open_held_by(population, link);
        }
    }

    /// Opens the flows that a link holds back.
    fn open_held_by(&mut self, population: &mut Population, link: LinkId) {
        // Most links hold nobody back, and have many flows.
        let held = population.held_by(link) as usize;
        open_on(&mut self.open, population, link, held, |flow| {
            flow.bottleneck == Bottleneck::of_link(link)
        });
    }

    /// Opens all flows of a link.
    pub(crate) fn open_all_on(&mut self, population: &mut Population, link: LinkId) {
        open_on(&mut self.open, population, link, usize::MAX, |_| true);
    }

    /// Finds the rates at `now`, and calls `changed` for each flow whose rate or end has changed.
    pub(crate) fn settle(
        &mut self,
        links: &Links,
        population: &mut Population,
        now: Instant,
        mut changed: impl FnMut(FlowId, [FlowRate; 2], Instant),
    ) {
        while !self.open.is_empty() {
            // Solving for all takes no longer than finding out that all must be solved for.
            if self.open.len() * 4 > population.len() {
                self.close(population);
                self.filling
                    .fill(links, population, Which::All, now, &mut changed);
                return;
            }
            let which = Which::These(&self.open);
            self.filling
                .fill(links, population, which, now, &mut changed);
            if !self.open_more(links, population) {
                break;
            }
        }
        self.close(population);
    }

    /// No flow is open any more.
    fn close(&mut self, population: &mut Population) {
        for id in self.open.drain(..) {
            population.flows[id].life.set_open(false);
        }
        if self.open.capacity() > MANY {
            self.open = Vec::new();
        }
    }

    /// Opens all that have lost their bottleneck; whether there are any.
    fn open_more(&mut self, links: &Links, population: &mut Population) -> bool {
        let first = self.open.len();
        for &link in &self.filling.touched {
            let is_full = population.is_full(links, link);
            // The most that anybody has there, and the most that it lets somebody have.
            let mut most = FlowRate::default();
            let mut level = None;
            for (_, flow) in population.on(link) {
                most = most.max(flow.rate);
                if flow.life.is_open() && flow.bottleneck == Bottleneck::of_link(link) {
                    level = level.max(Some(flow.rate));
                }
            }
            let may_stay = |rate: FlowRate, is_held: bool| {
                let is_highest = level.is_none_or(|level| rate <= level);
                is_highest && (!is_held || is_full && rate == most)
            };
            open_on(&mut self.open, population, link, usize::MAX, |flow| {
                let is_held = flow.bottleneck == Bottleneck::of_link(link);
                !may_stay(flow.rate, is_held)
            });
        }
        self.open.len() > first
    }
}

/// Opens some flows of a link, at most so many.
fn open_on(
    open: &mut Vec<FlowId>,
    population: &mut Population,
    link: LinkId,
    most: usize,
    is_concerned: impl Fn(&Flow) -> bool,
) {
    let first = open.len();
    let found = population.on(link);
    let found = found.filter(|(_, flow)| !flow.life.is_open() && is_concerned(flow));
    open.extend(found.map(|(id, _)| id).take(most));
    // A link that a flow passes twice lists it twice.
    let mut kept = first;
    for place in first..open.len() {
        let id = open[place];
        let life = &mut population.flows[id].life;
        if !life.is_open() {
            life.set_open(true);
            open[kept] = id;
            kept += 1;
        }
    }
    open.truncate(kept);
}
