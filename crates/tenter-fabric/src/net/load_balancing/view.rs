//! Interface of load balancers, and the view of a switch that they read.

use std::sync::Arc;

use crate::topology::{HostId, Routing, SwitchId, TreePlace};
use tenter_language::config::{Component, Key, choice, component};
use tenter_language::units::{Instant, Time};

use crate::net::load_balancing::hash::Ecmp;
use crate::net::load_balancing::quality::{Quality, QualitySpec};
use crate::net::packet::{Draw, Packet};
use crate::net::port::Port;
use crate::net::signals::Headers;

component! {
    /// Demands on NICs of a load balancer by which packets may overtake each other.
    pub struct Order {
        /// Treatment of NICs that need the packets of a queue pair in order: they take an overtaken
        /// packet for lost. `allow` shows the effect.
        in_order_nics: InOrderNics = "refuse";
    }
}

/// Use of NICs that need packets in order, under a load balancer that reorders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InOrderNics {
    /// A scenario with such NICs is refused.
    Refuse,
    /// Such NICs take packets that are overtaken for lost.
    Allow,
}

choice!(InOrderNics {
    "refuse" => Refuse,
    "allow" => Allow,
});

/// Returns the keys of [`Order`] for a load balancer that may reorder packets, none for others.
pub(crate) const fn order_keys<T: Described>() -> &'static [Key] {
    if T::MAY_REORDER { Order::KEYS } else { &[] }
}

/// Facts about a switch's place in the fabric that its load balancer may use.
#[derive(Debug)]
pub(crate) struct SwitchSite {
    /// Number of the switch's ports.
    pub(crate) ports: usize,
    /// Place of the switch in a tree.
    pub(crate) place: TreePlace,
    /// Reader of packets' senders, if hosts are notified of long queues.
    pub(crate) headers: Option<Arc<dyn Headers>>,
    /// True for ports that lead to hosts.
    pub(crate) to_host: Vec<bool>,
    /// Seed that all switches share.
    pub(crate) shared_seed: u32,
}

/// Unit that draws a region for a detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnFor {
    /// Each packet draws a region.
    Packet,
    /// All packets with the same hash have one region.
    Flow,
}

/// Sizes that a switch's tables depend on.
#[derive(Clone, Copy, Debug)]
pub struct TableSizes {
    /// Most lists of equal-cost ports that the switch's packets choose from.
    pub lists: u64,
    /// Number of the switch's ports.
    pub ports: u64,
    /// Number of leaves in the fabric.
    pub leaves: u64,
}

/// Parameters of a load balancer, which all switches share.
pub(crate) trait Described {
    /// State of the load balancer in one switch.
    type AtWork: Balance;

    /// True if packets of a flow may overtake each other, with some values of the keys at least.
    const MAY_REORDER: bool;

    /// Makes the state of a switch at this place before the first packet.
    fn begin(&self, site: &SwitchSite) -> Self::AtWork;

    /// Returns the knowledge of ports that a switch keeps; `None` if it keeps none.
    fn quality(&self) -> Option<QualitySpec> {
        None
    }

    /// Returns true if packets of a flow take different paths at once, and so may overtake each
    /// other.
    fn reorders(&self) -> bool {
        Self::MAY_REORDER
    }

    /// Returns the hash that picks the links, if nothing else does.
    fn ecmp(&self) -> Option<&Ecmp> {
        None
    }

    /// Returns true if a packet's hash decides its path, or its entry in a table.
    fn follows_hash(&self) -> bool {
        self.ecmp().is_some()
    }

    /// Returns true if a packet's hash has any part in the choice, even through draws that depend
    /// on it.
    fn reads_hash(&self) -> bool {
        true
    }

    /// Returns true if the trial's seed has any part in the choice.
    fn reads_seed(&self) -> bool {
        true
    }

    /// Returns what draws the regions of detours, if packets may go by a region that is neither
    /// their source's nor their destination's; `None` if all take shortest paths.
    ///
    /// Only topologies with regions have detours.
    fn detours(&self) -> Option<DrawnFor> {
        None
    }

    /// Returns the time for which a flow must have sent nothing before it takes another path.
    fn gap(&self) -> Option<Time> {
        None
    }

    /// Returns the bytes of a switch's tables, by the sizes that they depend on.
    fn table_bytes(&self, _: &TableSizes) -> u64 {
        0
    }

    /// Returns the keys by which it would keep packets in order, as text that follows a comma.
    fn order_remedy(&self) -> &'static str {
        ""
    }
}

/// The switch at which a packet is, at that instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'a> {
    /// Number of the switch, from which routing tables are found.
    pub(crate) index: SwitchId,
    /// Seed of the switch, by which switches choose differently.
    pub(crate) seed: u32,
    /// All ports of the switch.
    pub(crate) ports: &'a [Port],
    /// Routes, as far as the switch knows which links are down.
    pub(crate) routing: &'a Routing,
}

impl<'a> Here<'a> {
    /// Returns the equal-cost ports on the shortest paths to a host.
    #[inline]
    pub(crate) fn shortest(&self, host: HostId) -> &'a [u16] {
        self.routing.candidates(self.index, host)
    }

    /// Returns the data that a load balancer may read, with the ports it may choose from.
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

/// Destination and hash of a flow, by which its path may be fixed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// Hash of the flow's 5-tuple.
    pub(crate) hash: u32,
    /// Destination of the flow's packets.
    pub(crate) host: HostId,
}

/// Data that a load balancer may read when it chooses.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// Equal-cost ports: on the shortest paths, or on a detour into its region.
    pub(crate) candidates: &'a [u16],
    /// All ports of the switch.
    pub(crate) ports: &'a [Port],
    /// Seed of the switch, by which switches choose differently.
    pub(crate) seed: u32,
    /// Levels of the switch's ports, by how busy they are.
    pub(crate) quality: &'a Quality,
    /// Routes, from which the groups of hosts are found.
    pub(crate) routing: &'a Routing,
}

impl View<'_> {
    /// Draws one of `count` at random for a packet.
    pub(crate) fn any_of(&self, packet: &Packet, count: usize) -> usize {
        let draw = packet.draw(self.seed, Draw::Link) >> 32;
        ((draw * count as u64) >> 32) as usize
    }

    /// Returns the level of a port at `now`: the higher, the busier.
    pub(crate) fn level(&self, port: u16, now: Instant) -> u8 {
        self.quality.level(self.ports, port, now)
    }

    /// Returns the place of the least busy candidate; among several one at random.
    pub(crate) fn best(&self, packet: &Packet) -> usize {
        self.least(packet, |port| self.level(port, packet.at))
    }

    /// Returns the place of the candidate with the lowest level; among several one at random.
    pub(crate) fn least<L: Ord + Copy>(&self, packet: &Packet, level: impl Fn(u16) -> L) -> usize {
        let levels = self.candidates.iter().map(|&port| level(port));
        let (best, equal) = levels.fold((None, 0), |(best, equal), level| match best {
            Some(least) if least < level => (best, equal),
            Some(least) if least == level => (best, equal + 1),
            _ => (Some(level), 1),
        });
        // Drawn even if one is the least: a draw depends on the packet alone, and moves no other.
        let chosen = self.any_of(packet, equal);
        let mut places =
            (0..self.candidates.len()).filter(|&place| Some(level(self.candidates[place])) == best);
        places.nth(chosen).unwrap_or(0)
    }
}

/// Behaviour of a load balancer in one switch.
pub(crate) trait Balance {
    /// Returns the place among the candidates of the port that a packet takes. Calls must follow
    /// the order in which packets arrive.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize;

    /// Returns true if a packet goes by the region drawn for it, to which the ports in `detour`
    /// lead; the candidates are those of the shortest paths. Called once for a packet, at its
    /// source's switch, for members that [have detours](Described::detours).
    fn takes_detour(&mut self, _packet: &Packet, _detour: &[u16], _view: &View<'_>) -> bool {
        true
    }

    /// Returns the place of the port that all packets with this hash to this host take; `None` if
    /// the choice depends on anything else.
    fn fixed(&self, _to: Target, _view: &View<'_>) -> Option<usize> {
        None
    }
}
