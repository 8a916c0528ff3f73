//! One flow.

use tenter_units::{Instant, id};

use crate::amounts::{Amount, FlowRate, Weight};
use crate::links::{Kind, LinkId, Links, RouteId};

id! {
    /// A flow; the number of one that has ended is given to another.
    pub struct FlowId(u32);
}

/// What a flow loads, and how much it has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// The link that it enters by, and how much of that it takes for what it sends.
    pub from: (LinkId, Weight),
    /// The links between.
    pub route: RouteId,
    /// The link that it leaves by.
    pub to: LinkId,
    /// The most that it sends at.
    pub limit: FlowRate,
    /// What it has to send.
    pub amount: Amount,
}

impl FlowSpec {
    /// All links that it loads.
    pub(crate) fn hops<'l>(
        &self,
        links: &'l Links,
    ) -> impl Iterator<Item = (LinkId, Weight)> + use<'l> {
        let last = (self.to, Weight::WHOLE);
        let between = links.hops(self.route).iter().copied();
        std::iter::once(self.from).chain(between).chain([last])
    }
}

/// What holds a flow back: a link that is full, or its own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bottleneck(u32);

impl Bottleneck {
    /// Its own limit.
    pub(crate) const OWN: Bottleneck = Bottleneck(u32::MAX);
    /// Nothing yet: it has no rate.
    pub(crate) const UNKNOWN: Bottleneck = Bottleneck(u32::MAX - 1);

    pub(crate) const fn of_link(link: LinkId) -> Bottleneck {
        Bottleneck(link.number())
    }

    pub(crate) fn link(self) -> Option<LinkId> {
        let is_link = self != Bottleneck::OWN && self != Bottleneck::UNKNOWN;
        is_link.then(|| LinkId::new(self.0))
    }
}

/// Whether a place has a flow, how many flows it had before, and where that flow is in a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life(u32);

impl Life {
    const ALIVE: u32 = 1;
    const OPEN: u32 = 1 << 1;
    const WAITING: u32 = 1 << 2;
    const GENERATION: u32 = 1 << 3;

    /// That of the first flow of a place.
    pub(crate) const FIRST: Life = Life(Life::ALIVE);

    /// That of the next flow of the place; `None` where it has had as many as can be told apart.
    pub(crate) fn next(self) -> Option<Life> {
        let before = self.0 & !(Life::GENERATION - 1);
        let next = before.checked_add(Life::GENERATION)?;
        Some(Life(next | Life::ALIVE))
    }

    /// The same without a flow.
    pub(crate) fn over(self) -> Life {
        Life(self.0 & !(Life::GENERATION - 1))
    }

    pub(crate) fn is_alive(self) -> bool {
        self.0 & Life::ALIVE != 0
    }

    /// Whether it is among those that are solved for.
    pub(crate) fn is_open(self) -> bool {
        self.0 & Life::OPEN != 0
    }

    pub(crate) fn set_open(&mut self, is_open: bool) {
        self.0 = (self.0 & !Life::OPEN) | (u32::from(is_open) * Life::OPEN);
    }

    /// Whether it has no rate yet, of those that are filled.
    pub(crate) fn is_waiting(self) -> bool {
        self.0 & Life::WAITING != 0
    }

    pub(crate) fn set_waiting(&mut self, is_waiting: bool) {
        self.0 = (self.0 & !Life::WAITING) | (u32::from(is_waiting) * Life::WAITING);
    }

    pub(crate) fn generation(self) -> u32 {
        self.0 / Life::GENERATION
    }
}

/// A flow with its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// What was left when its rate last changed, and when that was.
    pub(crate) left: Amount,
    pub(crate) since: Instant,
    pub(crate) rate: FlowRate,
    /// When it ends at this rate.
    pub(crate) end: Instant,
    pub(crate) kind: Kind,
    pub(crate) bottleneck: Bottleneck,
    pub(crate) life: Life,
}

// There may be many millions, and a repair reads all of one.
const _: () = assert!(size_of::<Flow>() == 64);
