//! Load balancing: the choice among equal-cost ports, one file per member, listed in
//! [`LoadBalancing`].

mod adaptive;
mod balancer;
mod buckets;
mod destination;
mod detours;
mod ecmp;
mod flowlet;
mod hash;
mod linux_hash;
mod quality;
mod queue_aware_spray;
mod random_spray;
mod round_robin_spray;
mod telemetry;
#[cfg(test)]
mod tests;
mod ugal;
mod valiant;
pub(crate) mod view;
mod weighted_ecmp;

pub use adaptive::Adaptive;
pub(crate) use balancer::Balancer;
pub use destination::ByDestination;
pub use flowlet::{BUCKETS_MAX, Flowlet};
pub use hash::{Ecmp, FiveTuple, HashFields, HashFunction, HashSeeding};
pub use linux_hash::LINUX_HASH_SEED;
pub use quality::QualitySpec;
pub use queue_aware_spray::QueueAwareSpray;
pub use random_spray::RandomSpray;
pub(crate) use round_robin_spray::RoundRobinSpray;
pub(crate) use telemetry::HOST_NOTICE_CLASS;
pub use telemetry::{Moves, Notify, TelemetryAssisted};
pub(crate) use telemetry::{NoticeTarget, SeenQueue};
pub(crate) use ugal::Ugal;
pub use valiant::Valiant;
pub use view::{DrawnFor, InOrderNics, Order, TableSizes};
pub(crate) use view::{Here, SwitchSite, Target};
pub(crate) use weighted_ecmp::WeightedEcmp;

use tenter_language::config::Presence::Default;
use tenter_language::config::{Component, Key, KeyTable, Reader, Shape, Variants, Written};
use tenter_language::config::{joined, key};
use tenter_language::units::Time;

use crate::net::packet::Packet;
use crate::net::scheduled::spray::Spray;
use view::{Balance, Described, View, order_keys};

/// Declares the list of load balancers, and with it the functions that all have: the word in a
/// scenario, the keys, the reader, the properties and the choice.
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
            /// Word of each member, as in `kind`.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// Keys of each member, with the key `kind` that chooses among them.
            pub const VARIANTS: Variants = Variants {
                own: &KeyTable {
                    title: "`fabric.load_balancing`",
                    keys: &[KIND],
                },
                members: &[$(($word, &KeyTable {
                    title: concat!("`fabric.load_balancing` with `kind: ", $word, "`"),
                    keys: &joined::<{
                        <$spec as Component>::KEYS.len() + order_keys::<$spec>().len()
                    }>(&[<$spec as Component>::KEYS, order_keys::<$spec>()]),
                }),)+],
                are_told_apart: false,
            };

            /// Returns the member's word, as in `kind`.
            pub const fn word(&self) -> &'static str {
                match self {
                    $($list::$name(_) => $word,)+
                }
            }

            /// Returns the member's word, and its keys as they are written in a scenario.
            pub fn written(&self) -> Vec<(&'static str, Written)> {
                let (word, keys) = match self {
                    $($list::$name(spec) => ($word, Component::written(spec)),)+
                };
                [vec![("kind", Written::word(word))], keys].concat()
            }

            /// Reads the keys of the member at `place` in [`Self::NAMES`].
            pub fn read(place: usize, reader: &mut dyn Reader) -> Option<$list> {
                type Read = fn(&mut dyn Reader) -> Option<$list>;
                let members: &[Read] = &[
                    $(|reader| <$spec as Component>::read(reader).map($list::$name),)+
                ];
                members.get(place).and_then(|read| read(reader))
            }

            /// Returns true if packets of a flow take different paths at once, so that they may
            /// overtake each other.
            pub fn reorders(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reorders(),)+
                }
            }

            /// Returns true if the member reorders packets for some values of its keys, or always.
            pub fn may_reorder(&self) -> bool {
                match self {
                    $($list::$name(_) => <$spec as Described>::MAY_REORDER,)+
                }
            }

            /// Returns true if packets may leave for other ports at once, by the queues of this
            /// very instant. They may not if they must keep their order, or if the levels of ports
            /// come from a table.
            pub fn may_spill(&self) -> bool {
                let quality = match self {
                    $($list::$name(spec) => spec.quality(),)+
                };
                self.reorders() && quality.is_none_or(|of| of == QualitySpec::EXACT)
            }

            /// Returns true if the member chooses by the queues of links.
            pub fn reads_queues(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.quality().is_some(),)+
                }
            }

            /// Returns the hash that picks the member's links, if nothing else does.
            pub fn ecmp(&self) -> Option<&Ecmp> {
                match self {
                    $($list::$name(spec) => spec.ecmp(),)+
                }
            }

            /// Returns true if a packet's hash decides its path, or its entry in a table.
            pub fn follows_hash(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.follows_hash(),)+
                }
            }

            /// Returns true if a packet's hash has any part in the choice of its port, even through
            /// random draws that depend on it.
            pub fn reads_hash(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reads_hash(),)+
                }
            }

            /// Returns true if the trial's seed has any part in the choice.
            pub fn reads_seed(&self) -> bool {
                match self {
                    $($list::$name(spec) => spec.reads_seed(),)+
                }
            }

            /// Returns the time for which a flow must have sent nothing before it takes another
            /// path; `None` if it needs no such gap.
            pub fn gap(&self) -> Option<Time> {
                match self {
                    $($list::$name(spec) => spec.gap(),)+
                }
            }

            /// Returns what draws the regions of detours, if packets may go by a region that is
            /// neither their source's nor their destination's.
            pub fn detours(&self) -> Option<DrawnFor> {
                match self {
                    $($list::$name(spec) => spec.detours(),)+
                }
            }

            /// Returns the bytes of a switch's tables, by the sizes that they depend on.
            pub fn table_bytes(&self, sizes: &TableSizes) -> u64 {
                match self {
                    $($list::$name(spec) => spec.table_bytes(sizes),)+
                }
            }

            /// Returns the keys by which the member would keep packets in order, as text that
            /// follows a comma; empty if there are none.
            pub fn order_remedy(&self) -> &'static str {
                match self {
                    $($list::$name(spec) => spec.order_remedy(),)+
                }
            }

            /// Makes the member's state in one switch, and returns the knowledge of ports that it
            /// needs.
            pub(super) fn member(&self, site: &SwitchSite) -> (Member, Option<QualitySpec>) {
                match self {
                    $($list::$name(spec) => (Member::$name(spec.begin(site)), spec.quality()),)+
                }
            }
        }

        /// A load balancer in one switch, with its state.
        #[derive(Clone, Debug)]
        pub(super) enum Member {
            $($name(<$spec as Described>::AtWork),)+
            /// The spray of a scheduled fabric's spine, which a scenario cannot select.
            Spine(Box<Spray>),
        }

        impl Member {
            pub(super) fn takes_detour(
                &mut self,
                packet: &Packet,
                detour: &[u16],
                view: &View<'_>,
            ) -> bool {
                match self {
                    $(Member::$name(member) => member.takes_detour(packet, detour, view),)+
                    Member::Spine(_) => false,
                }
            }

            pub(super) fn choose(&mut self, packet: &Packet, view: &View<'_>) -> usize {
                match self {
                    $(Member::$name(member) => member.choose(packet, view),)+
                    Member::Spine(spray) => spray.choose(packet, view),
                }
            }

            pub(super) fn fixed(&self, to: Target, view: &View<'_>) -> Option<usize> {
                match self {
                    $(Member::$name(member) => member.fixed(to, view),)+
                    Member::Spine(spray) => spray.fixed(to, view),
                }
            }
        }
    };
}

members! {
/// Every load balancer, with its parameters.
pub enum LoadBalancing {
    /// A hash of the packet's addresses and ports picks the link, for the whole life of a flow.
    "ecmp" => Ecmp(Ecmp),
    /// As ECMP, but a link gets flows in proportion to its rate.
    "weighted-ecmp" => WeightedEcmp(WeightedEcmp),
    /// A random link, for every packet anew.
    "random-spray" => RandomSpray(RandomSpray),
    /// One link after the other, for every packet anew.
    "round-robin-spray" => RoundRobinSpray(RoundRobinSpray),
    /// The shortest of a few queues, for every packet anew.
    "queue-aware-spray" => QueueAwareSpray(QueueAwareSpray),
    /// The link with the shortest queue, for every packet anew.
    "adaptive" => Adaptive(Adaptive),
    /// The link with the shortest queue, for every burst of a flow anew.
    "flowlet" => Flowlet(Flowlet),
    /// A link by the hash, until a switch further on reports that it leads to a long queue.
    "telemetry" => Telemetry(TelemetryAssisted),
    /// One link for all packets to a host.
    "destination" => Destination(ByDestination),
    /// A region drawn by chance, and from there the shortest path: for topologies with regions.
    "valiant" => Valiant(Valiant),
    /// The shortest path, or a detour as Valiant's where that has the shorter queue for its length.
    "ugal" => Ugal(Ugal),
}
}

/// The key that chooses the member.
const KIND: Key = key(
    "kind",
    || Shape::Choice(LoadBalancing::NAMES),
    Default("ecmp"),
    "Which load balancer; the further keys depend on it. With `switching: {kind: credit-based}` one that is not named is `destination`",
);

impl LoadBalancing {
    /// Returns the hash that a packet with this 5-tuple carries to every switch.
    pub fn hash(&self, tuple: &FiveTuple) -> u32 {
        self.ecmp().unwrap_or_else(|| Ecmp::usual()).hash(tuple)
    }

    /// Returns true if the hash includes the source port, so that another port changes the hash.
    pub fn hashes_source_port(&self) -> bool {
        self.source_port_differences(2)[1] != 0
    }

    /// Returns the changes of a packet's hash by other source ports, as exclusive ors, for each of
    /// `ports` ports. A change is the same for all packets, as the hash functions are linear.
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

    /// Returns true if all packets with one hash take the same ports for ever.
    pub fn keeps_ways(&self) -> bool {
        let is_steady = !self.reorders() && !self.reads_queues();
        is_steady && self.gap().is_none() && self.detours().is_none() && self.telemetry().is_none()
    }

    /// Returns the parameters of a member whose switches send notices of long queues.
    fn telemetry(&self) -> Option<&TelemetryAssisted> {
        if let LoadBalancing::Telemetry(spec) = self {
            Some(spec)
        } else {
            None
        }
    }

    /// Returns true if switches send each other notices.
    pub fn sends_notices(&self) -> bool {
        self.telemetry().is_some_and(|of| of.notify == Notify::Leaf)
    }

    /// Returns the traffic class of notices to hosts, if there are any.
    pub fn notice_class(&self) -> Option<u8> {
        self.notifies_hosts().map(|_| HOST_NOTICE_CLASS)
    }

    /// Returns the parameters by which hosts react to notices of long queues, if they get any.
    pub fn notifies_hosts(&self) -> Option<&TelemetryAssisted> {
        self.telemetry().filter(|of| of.notify == Notify::Host)
    }
}
