//! A flow and its state.

use tenter_language::units::id;

use crate::fluid::amounts::{Amount, FlowRate, Weight};
use crate::fluid::links::{Kind, LinkId, Links, RouteId};

id! {
    /// Flow index. It is reused after the flow has ended.
    pub struct FlowId(u32);
}

/// A flow's links and limits, and the amount that it has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSpec {
    /// First link (the NIC's), with the part that the flow's rate loads it with.
    pub from: (LinkId, Weight),
    /// Links between the first and the last.
    pub route: RouteId,
    /// Last link, which always carries the whole flow.
    pub to: LinkId,
    /// Highest rate at which the sender sends.
    pub limit: FlowRate,
    /// Amount to send over these links.
    pub amount: Amount,
}

impl FlowSpec {
    /// Iterates over all links that the flow loads, from the first to the last.
    pub(crate) fn hops<'l>(
        &self,
        links: &'l Links,
    ) -> impl Iterator<Item = (LinkId, Weight)> + use<'l> {
        let last = (self.to, Weight::WHOLE);
        let between = links.hops(self.route).iter().copied();
        std::iter::once(self.from).chain(between).chain([last])
    }
}

/// A flow slot's state in one word: whether it holds a flow, whether that flow is open in a repair,
/// and a generation that counts the flows it has held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life(u32);

impl Life {
    // The low two bits are flags, and the others count generations.
    const ALIVE: u32 = 1;
    const OPEN: u32 = 1 << 1;
    const GENERATION: u32 = 1 << 2;

    /// A slot with its first flow.
    pub(crate) const FIRST: Life = Life(Life::ALIVE);

    /// Returns the state with the slot's next flow, or `None` if the generation would overflow. The
    /// slot is then never used again, since old list entries would seem to name the new flow.
    pub(crate) fn next(self) -> Option<Life> {
        let before = self.0 & !(Life::GENERATION - 1);
        let next = before.checked_add(Life::GENERATION)?;
        Some(Life(next | Life::ALIVE))
    }

    /// Returns the state without a flow; the generation stays.
    pub(crate) fn over(self) -> Life {
        Life(self.0 & !(Life::GENERATION - 1))
    }

    pub(crate) fn is_alive(self) -> bool {
        self.0 & Life::ALIVE != 0
    }

    /// Returns true while the repair is looking for the flow's rate.
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
    /// Value that the bottleneck's counter reaches when the flow has sent everything (see `held`).
    /// Until the flow has a bottleneck, the amount to send.
    pub(crate) mark: Amount,
    pub(crate) kind: Kind,
    pub(crate) rate: FlowRate,
    /// Link or limit that holds the flow back; [`NOTHING`](crate::fluid::links::NOTHING) until the
    /// flow has its first rate.
    pub(crate) bottleneck: LinkId,
    /// Index in its bottleneck's heap.
    pub(crate) place: u32,
    pub(crate) life: Life,
}

// A trial may have many millions of flows, and a repair reads all fields of each: one cache line.
const _: () = assert!(size_of::<Flow>() == 64);
