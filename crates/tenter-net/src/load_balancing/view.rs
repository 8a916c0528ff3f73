//! The interface of a load balancer, and its view of the switch.

use std::sync::Arc;

use tenter_config::{Component, Key, choice, component};
use tenter_topology::{Routing, TreePlace};
use tenter_units::Time;

use crate::load_balancing::hash::Ecmp;
use crate::load_balancing::quality::{Quality, QualitySpec};
use crate::packet::{Draw, Packet};
use crate::port::Port;
use crate::signals::Headers;

component! {
    /// What a load balancer by which packets may overtake each other asks of NICs.
    pub struct Order {
        /// Whether NICs may be used that need the packets of a queue pair in order: they take an
        /// overtaken packet for lost. `allow` shows the effect.
        in_order_nics: InOrderNics = "refuse";
    }
}

/// Whether NICs may be used that need packets in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InOrderNics {
    /// They are refused.
    Refuse,
    /// They may, and take packets that are overtaken for lost.
    Allow,
}

choice!(InOrderNics {
    "refuse" => Refuse,
    "allow" => Allow,
});

/// The keys of [`Order`], for a load balancer that needs them.
pub(crate) const fn order_keys<T: Described>() -> &'static [Key] {
    if T::MAY_REORDER { Order::KEYS } else { &[] }
}

/// Where a switch is, as far as its load balancer may go by it.
#[derive(Debug)]
pub(crate) struct SwitchSite {
    /// How many ports it has.
    pub(crate) ports: usize,
    /// Where it stands in a tree.
    pub(crate) place: TreePlace,
    /// Reads who sent a packet, where hosts are told of long queues.
    pub(crate) headers: Option<Arc<dyn Headers>>,
}

/// The parameters of a load balancer, which all switches share.
pub(crate) trait Described {
    /// The memory of one switch.
    type AtWork: Balance;

    /// Whether packets of a flow may overtake each other, with some values of its keys at least.
    const MAY_REORDER: bool;

    /// The memory of a switch at this place before the first packet.
    fn begin(&self, site: &SwitchSite) -> Self::AtWork;

    /// The knowledge of its ports that a switch keeps; `None`: none.
    fn quality(&self) -> Option<QualitySpec> {
        None
    }

    /// Whether packets of a flow take different ways at once, so that they may overtake each other.
    fn reorders(&self) -> bool {
        Self::MAY_REORDER
    }

    /// The hash that picks its links, if that alone does.
    fn ecmp(&self) -> Option<&Ecmp> {
        None
    }

    /// Whether the hash of a packet decides its path, or which entry of a table does.
    fn follows_hash(&self) -> bool {
        self.ecmp().is_some()
    }

    /// Whether the hash of a packet has any part in the choice, even through draws that depend on
    /// it.
    fn reads_hash(&self) -> bool {
        true
    }

    /// Whether the seed of the trial has any part in the choice.
    fn reads_seed(&self) -> bool {
        true
    }

    /// For how long a flow must have sent nothing before it takes another way.
    fn gap(&self) -> Option<Time> {
        None
    }

    /// The keys by which it would keep packets in order, as text behind a comma.
    fn order_remedy(&self) -> &'static str {
        ""
    }
}

/// The data that a load balancer may read when it chooses.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The equal-cost ports, at least two.
    pub(crate) candidates: &'a [u16],
    /// All ports of the switch.
    pub(crate) ports: &'a [Port],
    /// Makes switches choose differently.
    pub(crate) seed: u32,
    /// How busy ports are.
    pub(crate) quality: &'a Quality,
    /// Where hosts are.
    pub(crate) routing: &'a Routing,
}

impl View<'_> {
    /// One of `count` at random.
    pub(crate) fn any_of(&self, packet: &Packet, count: usize) -> usize {
        let draw = packet.draw(self.seed, Draw::Link) >> 32;
        ((draw * count as u64) >> 32) as usize
    }

    /// How busy a port is.
    pub(crate) fn level(&self, port: u16, now: u64) -> u8 {
        self.quality.level(self.ports, port, now)
    }

    /// The least busy candidate; of several a random one.
    pub(crate) fn best(&self, packet: &Packet) -> usize {
        self.least(packet, |port| self.level(port, packet.at))
    }

    /// The candidate of the lowest level; of several a random one.
    pub(crate) fn least(&self, packet: &Packet, level: impl Fn(u16) -> u8) -> usize {
        let levels = self.candidates.iter().map(|&port| level(port));
        let (best, equal) = levels.fold((None, 0), |(best, equal), level| match best {
            Some(least) if least < level => (best, equal),
            Some(least) if least == level => (best, equal + 1),
            _ => (Some(level), 1),
        });
        let chosen = self.any_of(packet, equal);
        let mut places =
            (0..self.candidates.len()).filter(|&place| Some(level(self.candidates[place])) == best);
        places.nth(chosen).unwrap_or(0)
    }
}

/// A load balancer in one switch.
pub(crate) trait Balance {
    /// The place among the candidates of the port of a packet. Callers ask for packets in the order
    /// in which they arrive.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize;

    /// The place of the port that all packets with this hash to this host take; `None` where the
    /// choice depends on anything else.
    fn fixed(&self, _to: (u32, u32), _view: &View<'_>) -> Option<usize> {
        None
    }
}
