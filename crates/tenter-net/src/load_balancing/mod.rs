//! How a switch chooses one of several equal-cost ports: one file per member, listed in
//! [`LoadBalancing`].

mod adaptive;
mod buckets;
mod destination;
mod ecmp;
mod flowlet;
mod quality;
mod queue_aware_spray;
mod random_spray;
mod round_robin_spray;
mod telemetry;
#[cfg(test)]
mod tests;
mod weighted_ecmp;

pub use adaptive::Adaptive;
pub use destination::ByDestination;
pub use ecmp::{Ecmp, FiveTuple, HashFields, HashFunction, HashSeeding};
pub use flowlet::{BUCKETS_MAX, Flowlet};
pub use quality::QualitySpec;
pub use queue_aware_spray::QueueAwareSpray;
pub use random_spray::RandomSpray;
pub use round_robin_spray::RoundRobinSpray;
pub use telemetry::{HOST_NOTICE_CLASS, Moves, Notify, TelemetryAssisted};
pub(crate) use telemetry::{NoticeTarget, TelemetryTable};
pub use weighted_ecmp::WeightedEcmp;

use tenter_config::{Component, Key, KeyTable, Reader, choice, component, joined};
use tenter_topology::{Routing, TreePlace};
use tenter_units::Time;

use crate::packet::{Draw, Packet};
use crate::port::Port;
use crate::scheduled::Spray;
use quality::Quality;

/// Declares the list of load balancers, and with it all that asks each of them the same: its word
/// in a scenario, its keys, how it is read, what it says of itself and what it chooses.
macro_rules! members {
    (
        $(#[$about:meta])*
        pub enum $list:ident {
            $($(#[$of_member:meta])* $word:literal => $name:ident($spec:ty),)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $list {
            $($(#[$of_member])* $name($spec),)+
        }

        impl $list {
            /// The word of each member, as `kind` has it.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The keys of each member beside `kind`, in the order of [`Self::NAMES`].
            pub const TABLES: &'static [KeyTable] = &[$(KeyTable {
                title: concat!("`fabric.load_balancing` with `kind: ", $word, "`"),
                keys: &joined::<{
                    <$spec as Component>::KEYS.len() + order_keys::<$spec>().len()
                }>(&[<$spec as Component>::KEYS, order_keys::<$spec>()]),
            },)+];

            /// Reads the keys of a member, by its place in [`Self::NAMES`].
            pub fn read(place: usize, reader: &mut dyn Reader) -> Option<$list> {
                type Read = fn(&mut dyn Reader) -> Option<$list>;
                let members: &[Read] = &[
                    $(|reader| <$spec as Component>::read(reader).map($list::$name),)+
                ];
                members.get(place).and_then(|read| read(reader))
            }

            /// Whether packets of a flow take different ways at once, so that they may overtake
            /// each other.
            pub fn reorders(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reorders(),)+
                }
            }

            /// Whether its keys decide whether it reorders, or it always does.
            pub fn may_reorder(&self) -> bool {
                match self {
                    $($list::$name(_) => <$spec as Described>::MAY_REORDER,)+
                }
            }

            /// Whether packets may take other ways at once by the queues of this very instant: not
            /// where they must keep their order, nor where a table says how busy ports are.
            pub fn may_spill(&self) -> bool {
                let quality = match self {
                    $($list::$name(spec) => spec.quality(),)+
                };
                self.reorders() && quality.is_none_or(|of| of == QualitySpec::EXACT)
            }

            /// The hash that picks its links, where it is that alone.
            pub fn ecmp(&self) -> Option<&Ecmp> {
                match self {
                    $($list::$name(spec) => spec.ecmp(),)+
                }
            }

            /// Whether the hash of a packet decides its path, or which entry of a table does.
            pub fn follows_hash(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.follows_hash(),)+
                }
            }

            /// Whether the hash of a packet has any part in the choice of its port, be it that
            /// random draws depend on it.
            pub fn reads_hash(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reads_hash(),)+
                }
            }

            /// Whether the seed of the trial has any part in the choice.
            pub fn reads_seed(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reads_seed(),)+
                }
            }

            /// For how long a flow must have sent nothing before it takes another way; `None`
            /// where nothing is waited for.
            pub fn gap(&self) -> Option<Time> {
                match self {
                    $($list::$name(spec) => spec.gap(),)+
                }
            }

            /// By which of its keys it would keep packets in order, said behind a comma; empty
            /// where none does.
            pub fn order_remedy(&self) -> &'static str {
                match self {
                    $($list::$name(spec) => spec.order_remedy(),)+
                }
            }

            /// What it does where switches send notices of long queues.
            fn telemetry(&self) -> Option<&TelemetryAssisted> {
                match self {
                    $($list::$name(spec) => spec.telemetry(),)+
                }
            }

            /// What a switch with so many ports remembers, and what it must know of its ports.
            fn member(&self, ports: usize) -> (Member, Option<QualitySpec>) {
                match self {
                    $($list::$name(spec) => (Member::$name(spec.begin(ports)), spec.quality()),)+
                }
            }
        }

        /// A load balancer at work in one switch, with what it remembers.
        #[derive(Clone, Debug)]
        enum Member {
            $($name(<$spec as Described>::AtWork),)+
            /// Of a spine of a scheduled fabric, which nobody chooses.
            Spine(Box<Spray>),
        }

        impl Member {
            fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
                match self {
                    $(Member::$name(member) => member.choose(packet, view),)+
                    Member::Spine(spray) => spray.choose(packet, view),
                }
            }

            fn fixed(&self, to: (u32, u32), view: &View<'_>) -> Option<usize> {
                match self {
                    $(Member::$name(member) => member.fixed(to, view),)+
                    Member::Spine(spray) => spray.fixed(to, view),
                }
            }
        }
    };
}

members! {
/// Every load balancer there is, with its parameters.
pub enum LoadBalancing {
    /// A hash of the packet's addresses and ports picks the link, for the whole life of a flow.
    "ecmp" => Ecmp(Ecmp),
    /// As ECMP, but a link gets flows in proportion to its rate.
    "weighted-ecmp" => WeightedEcmp(WeightedEcmp),
    /// Any link, for every packet anew.
    "random-spray" => RandomSpray(RandomSpray),
    /// One link after the other, for every packet anew.
    "round-robin-spray" => RoundRobinSpray(RoundRobinSpray),
    /// The shortest of a few queues, for every packet anew.
    "queue-aware-spray" => QueueAwareSpray(QueueAwareSpray),
    /// The link with the shortest queue, for every packet anew.
    "adaptive" => Adaptive(Adaptive),
    /// The link with the shortest queue, for every burst of a flow anew.
    "flowlet" => Flowlet(Flowlet),
    /// A link by the hash, until a switch further on says that it leads to a long queue.
    "telemetry" => Telemetry(TelemetryAssisted),
    /// The same link for all packets to a host.
    "destination" => Destination(ByDestination),
}
}

impl LoadBalancing {
    /// The hash a packet with this 5-tuple carries to every switch.
    pub fn hash(&self, tuple: &FiveTuple) -> u32 {
        self.ecmp().unwrap_or_else(|| Ecmp::usual()).hash(tuple)
    }

    /// Whether the hash takes in the source port; then it is another one for any other port.
    pub fn hashes_source_port(&self) -> bool {
        self.source_port_differences(2)[1] != 0
    }

    /// What the hash of a packet changes by, as an exclusive or, when its source port does: for
    /// each of so many ports. It is the same for all packets, as the hash functions are linear.
    pub fn source_port_differences(&self, ports: u16) -> Vec<u32> {
        let hash = |source_port: u16| {
            self.hash(&FiveTuple {
                source_address: 0,
                destination_address: 0,
                protocol: 0,
                source_port,
                destination_port: 0,
            })
        };
        (0..ports).map(|port| hash(port) ^ hash(0)).collect()
    }

    /// Whether switches send each other notices.
    pub fn sends_notices(&self) -> bool {
        self.telemetry().is_some_and(|of| of.notify == Notify::Leaf)
    }

    /// The class of notices to hosts, where there are any.
    pub fn notice_class(&self) -> Option<u8> {
        self.notifies_hosts().map(|_| HOST_NOTICE_CLASS)
    }

    /// What hosts do about notices of long queues, where they get any.
    pub fn notifies_hosts(&self) -> Option<&TelemetryAssisted> {
        self.telemetry().filter(|of| of.notify == Notify::Host)
    }
}

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
const fn order_keys<T: Described>() -> &'static [Key] {
    if T::MAY_REORDER { Order::KEYS } else { &[] }
}

/// The parameters of a load balancer, which all switches share.
pub(crate) trait Described {
    /// What one switch remembers.
    type AtWork: Balance;

    /// Whether packets of a flow may overtake each other, with some values of its keys at least.
    const MAY_REORDER: bool;

    /// What a switch with so many ports remembers before the first packet.
    fn begin(&self, ports: usize) -> Self::AtWork;

    /// What a switch must know of how busy its ports are; `None`: nothing.
    fn quality(&self) -> Option<QualitySpec> {
        None
    }

    /// Whether packets of a flow take different ways at once, so that they may overtake each other.
    fn reorders(&self) -> bool {
        Self::MAY_REORDER
    }

    /// The hash that picks its links, where it is that alone.
    fn ecmp(&self) -> Option<&Ecmp> {
        None
    }

    /// Whether the hash of a packet decides its path, or which entry of a table does.
    fn follows_hash(&self) -> bool {
        self.ecmp().is_some()
    }

    /// Whether the hash of a packet has any part in the choice, be it that draws depend on it.
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

    /// By which of its keys it would keep packets in order, said behind a comma.
    fn order_remedy(&self) -> &'static str {
        ""
    }

    /// What it does where switches send notices of long queues.
    fn telemetry(&self) -> Option<&TelemetryAssisted> {
        None
    }
}

/// What a load balancer may look at when it chooses.
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
    /// One of `count` by chance.
    pub(crate) fn any_of(&self, packet: &Packet, count: usize) -> usize {
        let draw = packet.draw(self.seed, Draw::Link) >> 32;
        ((draw * count as u64) >> 32) as usize
    }

    /// How busy a port is.
    pub(crate) fn level(&self, port: u16, now: u64) -> u8 {
        self.quality.level(self.ports, port, now)
    }

    /// The least busy candidate; of several any, by chance.
    pub(crate) fn best(&self, packet: &Packet) -> usize {
        self.least(packet, |port| self.level(port, packet.at))
    }

    /// The candidate of the lowest level; of several any, by chance.
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

/// A load balancer at work in one switch.
pub(crate) trait Balance {
    /// The place among the candidates of the port a packet takes. It is asked for packets in the
    /// order in which they arrive.
    fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize;

    /// The place of the port that all packets with this hash to this host take; `None` where the
    /// choice depends on anything else.
    fn fixed(&self, _to: (u32, u32), _view: &View<'_>) -> Option<usize> {
        None
    }
}

/// The load balancer of a switch, with what it remembers.
#[derive(Clone, Debug)]
pub(crate) struct Balancer {
    member: Member,
    quality: Quality,
    /// With more than this waiting at every circuit, in ps, packets take the tree.
    spill: Option<u64>,
}

impl Balancer {
    /// The load balancer of a switch with so many ports.
    pub(crate) fn new(spec: &LoadBalancing, ports: usize) -> Balancer {
        let (member, quality) = spec.member(ports);
        Balancer {
            member,
            quality: Quality::new(quality, ports),
            spill: None,
        }
    }

    /// That of a spine of a scheduled fabric with so many ports, whose destinations go by the first
    /// port that leads there.
    pub(crate) fn of_spine(spray: Spray, ports: usize) -> Balancer {
        Balancer {
            member: Member::Spine(Box::new(spray)),
            quality: Quality::new(None, ports),
            spill: None,
        }
    }

    /// Packets that would wait for more than `limit` ps at every circuit straight to their leaf
    /// take the tree from now on. The load balancer [may spill](LoadBalancing::may_spill).
    pub(crate) fn spill(&mut self, limit: u64, ports: usize) {
        self.quality = Quality::new(Some(QualitySpec::EXACT), ports);
        self.spill = Some(limit);
    }

    /// The port that a packet takes at switch number `index`, which has been brought to the
    /// packet's instant.
    #[expect(
        clippy::inline_always,
        reason = "once a packet and switch; a call costs as much as the choice"
    )]
    #[inline(always)]
    pub(crate) fn port(
        &mut self,
        packet: &Packet,
        (index, seed): (u32, u32),
        ports: &[Port],
        routing: &Routing,
    ) -> u16 {
        let Member::Ecmp(ecmp) = &self.member else {
            return self.port_by_other(packet, (index, seed), ports, routing);
        };
        debug_assert!(
            self.spill.is_none(),
            "what keeps flows in order does not spill"
        );
        let candidates = routing.candidates(index, packet.destination);
        // Of one candidate the place is 0; to ask first would be a branch that cannot be foreseen.
        candidates[ecmp.place(packet.hash, seed, candidates.len() as u32) as usize]
    }

    #[inline(never)]
    fn port_by_other(
        &mut self,
        packet: &Packet,
        (index, seed): (u32, u32),
        ports: &[Port],
        routing: &Routing,
    ) -> u16 {
        let around = (ports, routing);
        let candidates = self.candidates(packet, index, around);
        candidates[self.choose(packet, candidates, seed, around)]
    }

    /// The ports that a packet may take at a switch, which has been brought to its instant.
    fn candidates<'r>(
        &self,
        packet: &Packet,
        index: u32,
        (ports, routing): (&[Port], &'r Routing),
    ) -> &'r [u16] {
        let candidates = routing.candidates(index, packet.destination);
        match self.spill {
            None => candidates,
            Some(limit) => {
                let others = routing.others(index, packet.destination);
                let backlog = |port: &u16| ports[usize::from(*port)].backlog(packet.at);
                let is_full = |port| backlog(port) > limit;
                if others.is_empty() || !candidates.iter().all(is_full) {
                    candidates
                } else {
                    others
                }
            }
        }
    }

    /// Says where the switch stands in the tree, before anything has happened.
    pub(crate) fn stand_at(&mut self, place: TreePlace) {
        if let Member::Destination(forwarding) = &mut self.member {
            forwarding.0 = place;
        }
    }

    /// Whether a choice depends on queues, so that packets must be taken, and departures carried
    /// out, in the order of time.
    #[inline]
    pub(crate) fn reads_queues(&self) -> bool {
        self.quality.is_kept()
    }

    /// Whether it looks at queues as they are at the very instant.
    pub(crate) fn is_exact(&self) -> bool {
        self.quality.is_exact()
    }

    /// When the table of qualities must next be refreshed, if it must.
    pub(crate) fn next_refresh(&self) -> Option<u64> {
        self.quality.next_refresh()
    }

    /// Refreshes the table of qualities by the ports as they are at `now`.
    pub(crate) fn refresh(&mut self, ports: &[Port], now: u64) {
        self.quality.refresh(ports, now);
    }

    /// What it remembers where switches tell each other of long queues.
    #[inline]
    pub(crate) fn telemetry(&mut self) -> Option<&mut TelemetryTable> {
        match &mut self.member {
            Member::Telemetry(table) => Some(table),
            _ => None,
        }
    }

    /// Notices sent to hosts.
    pub(crate) fn host_notices(&self) -> u64 {
        match &self.member {
            Member::Telemetry(table) => table.host_notices(),
            _ => 0,
        }
    }

    /// Notices sent through a port and received through it, and how often flows have moved.
    pub(crate) fn told(&self, port: u16) -> ((u64, u64), u64) {
        match &self.member {
            Member::Telemetry(table) => (table.notices(port), table.moves()),
            Member::Flowlet(table) => ((0, 0), table.moves()),
            _ => ((0, 0), 0),
        }
    }

    /// The level of a port at which a frame would wait so long, in ps.
    pub(crate) fn level_of(&self, backlog: u64) -> u8 {
        self.quality.level_of(backlog)
    }

    /// The place among the candidates of the port that all packets with this hash to this host
    /// take; `None` where the choice depends on anything else.
    pub(crate) fn fixed(
        &self,
        to: (u32, u32),
        candidates: &[u16],
        seed: u32,
        (ports, routing): (&[Port], &Routing),
    ) -> Option<usize> {
        // What spills may have other ways than a single circuit.
        if candidates.len() == 1 && self.spill.is_none() {
            return Some(0);
        }
        let view = View {
            candidates,
            ports,
            seed,
            quality: &self.quality,
            routing,
        };
        self.member.fixed(to, &view)
    }

    /// The place among the candidates (at least one) of the port a packet takes.
    pub(crate) fn choose(
        &mut self,
        packet: &Packet,
        candidates: &[u16],
        seed: u32,
        (ports, routing): (&[Port], &Routing),
    ) -> usize {
        self.quality.watch(packet.at);
        if candidates.len() == 1 {
            return 0;
        }
        let view = View {
            candidates,
            ports,
            seed,
            quality: &self.quality,
            routing,
        };
        self.member.choose(packet, &view)
    }
}
