//! The interface of a load balancer, and its view of the switch.

use std::sync::Arc;

use tenter_config::{Component, Key, choice, component};
use tenter_topology::{HostId, Routing, SwitchId, TreePlace};
use tenter_units::{Instant, Time};

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
    /// By port: whether a host is there.
    pub(crate) to_host: Vec<bool>,
    /// A seed that all switches share.
    pub(crate) shared_seed: u32,
}

/// What draws a region for a detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnFor {
    /// Each packet.
    Packet,
    /// All packets with the same hash together.
    Flow,
}

/// What the size of a switch's tables depends on.
#[derive(Clone, Copy, Debug)]
pub struct TableSizes {
    /// The most lists of equal-cost ports that its packets choose from.
    pub lists: u64,
    /// Its ports.
    pub ports: u64,
    /// Leaves of the fabric.
    pub leaves: u64,
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

    /// Whether packets may go by a region that is neither their source's nor their destination's,
    /// and what draws it; `None` where all take shortest paths.
    ///
    /// Only topologies with regions have such ways.
    fn detours(&self) -> Option<DrawnFor> {
        None
    }

    /// For how long a flow must have sent nothing before it takes another way.
    fn gap(&self) -> Option<Time> {
        None
    }

    /// The bytes of a switch's tables, by what their number depends on.
    fn table_bytes(&self, _: &TableSizes) -> u64 {
        0
    }

    /// The keys by which it would keep packets in order, as text behind a comma.
    fn order_remedy(&self) -> &'static str {
        ""
    }
}

/// The switch at which a packet is, as it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    /// Its number among the switches.
    pub(crate) index: SwitchId,
    /// Makes switches choose differently.
    pub(crate) seed: u32,
    /// All its ports.
    pub(crate) ports: &'a [Port],
    /// The routes as far as it knows which links are down.
    pub(crate) routing: &'a Routing,
}

impl<'a> Here<'a> {
    /// The equal-cost ports on the shortest paths to a host.
    #[inline]
    pub(crate) fn shortest(&self, host: HostId) -> &'a [u16] {
        self.routing.candidates(self.index, host)
    }

    /// What a load balancer may look at of it.
    #[inline]
    pub(crate) fn view(&self, candidates: &'a [u16], quality: &'a Quality) -> View<'a> {
        View {
            candidates,
            ports: self.ports,
            seed: self.seed,
            quality,
            routing: self.routing,
        }
    }
}

/// Where all packets of a flow go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The hash of their 5-tuple.
    pub(crate) hash: u32,
    /// Their destination.
    pub(crate) host: HostId,
}

/// The data that a load balancer may read when it chooses.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The equal-cost ports: on the shortest paths, or on a detour into its region.
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
    pub(crate) fn level(&self, port: u16, now: Instant) -> u8 {
        self.quality.level(self.ports, port, now)
    }

    /// The least busy candidate; of several a random one.
    pub(crate) fn best(&self, packet: &Packet) -> usize {
        self.least(packet, |port| self.level(port, packet.at))
    }

    /// The candidate of the lowest level; of several a random one.
    pub(crate) fn least<L: Ord + Copy>(&self, packet: &Packet, level: impl Fn(u16) -> L) -> usize {
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

    /// Whether a packet goes by the region drawn for it, to which the ports in `detour` lead; the
    /// candidates are those of the shortest paths. Asked once, at the switch of its source, of
    /// members that [have detours](Described::detours).
    fn takes_detour(&mut self, _packet: &Packet, _detour: &[u16], _view: &View<'_>) -> bool {
        true
    }

    /// The place of the port that all packets with this hash to this host take; `None` where the
    /// choice depends on anything else.
    fn fixed(&self, _to: Target, _view: &View<'_>) -> Option<usize> {
        None
    }
}
