//! One flow.

use tenter_units::id;

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

/// Whether a place has a flow, how many flows it had before, and where that flow is in a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life(u32);

impl Life {
    const ALIVE: u32 = 1;
    const OPEN: u32 = 1 << 1;
    const GENERATION: u32 = 1 << 2;

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

    pub(crate) fn generation(self) -> u32 {
        self.0 / Life::GENERATION
    }
}

/// A flow with its rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    /// Where the link or limit that holds it back will be when it has sent everything (`held`);
    /// what it has to send while nothing holds it.
    pub(crate) mark: Amount,
    pub(crate) kind: Kind,
    pub(crate) rate: FlowRate,
    /// The link or limit that holds it back; [`NOTHING`](crate::links::NOTHING) until it has its
    /// first rate.
    pub(crate) bottleneck: LinkId,
    /// Its place among those that its bottleneck holds back.
    pub(crate) place: u32,
    pub(crate) life: Life,
}

// There may be many millions, and a repair reads all of one.
const _: () = assert!(size_of::<Flow>() == 64);
