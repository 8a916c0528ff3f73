//! How senders slow down when the network is congested: one file per member, listed in
//! [`CongestionControl`].
//!
//! A member is a `Control`: it keeps a few words for each queue pair that it limits, and answers
//! with a rate, a window, or both. Nothing is kept for a queue pair that is not limited. Timers are
//! no events: they are caught up when the queue pair is next touched.

use tenter_config::{Component, Key, KeyTable, Presence, Reader, Shape, Value, Variants, Written};
use tenter_net::Packet;
use tenter_units::Rate;

use crate::notification::NotificationSpec;

mod control;
pub mod dcqcn;
pub mod hpcc;
mod paths;
mod quantities;
pub mod swift;
mod table;
pub mod timely;

pub(crate) use control::{Answers, Control, Feedback, PathFeedback};
pub use dcqcn::Dcqcn;
pub use hpcc::Hpcc;
pub(crate) use quantities::{RATES, SECOND, TICK_MIN, part_of};
pub use swift::Swift;
use table::Table;
pub use timely::Timely;

/// Declares the list of congestion controls, and with it all that asks each of them the same.
macro_rules! members {
    (
        $(#[$about:meta])*
        pub enum $list:ident {
            $($(#[$of_member:meta])* $word:literal => $name:ident,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $list {
            $($(#[$of_member])* $name($name),)+
        }

        impl $list {
            /// The word of each member, as `kind` has it.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// The key that chooses, and the keys of each member.
            pub const VARIANTS: Variants = Variants {
                own: &KeyTable {
                    title: "`endpoint.nic.congestion_control`, written as a mapping",
                    keys: &[Key {
                        name: "kind",
                        shape: || Shape::Choice($list::NAMES),
                        presence: Presence::Required,
                        meaning: "Which congestion control; the other keys belong to it.",
                        origin: "",
                    }],
                },
                members: &[$(($word, &KeyTable {
                    title: concat!(
                        "`endpoint.nic.congestion_control` with `kind: ", $word, "`"
                    ),
                    keys: <$name as Component>::KEYS,
                })),+],
                are_told_apart: false,
            };

            /// The word of this member.
            pub fn word(&self) -> &'static str {
                match self {
                    $($list::$name(_) => $word,)+
                }
            }

            /// The member of a word, with the defaults of all its keys.
            fn of_word(word: &str) -> Option<$list> {
                match word {
                    $($word => Some($list::$name($name::default())),)+
                    _ => None,
                }
            }

            fn read_member(place: usize, reader: &mut dyn Reader) -> Option<$list> {
                let (word, table) = $list::VARIANTS.members[place];
                reader.extend(table);
                match word {
                    $($word => <$name as Component>::read(reader).map($list::$name),)+
                    _ => None,
                }
            }

            fn written_keys(&self) -> Vec<(&'static str, Written)> {
                match self {
                    $($list::$name(control) => Component::written(control),)+
                }
            }

            /// Whether senders slow down; else receivers notify them all the same.
            pub fn reacts(&self) -> bool {
                match self {
                    $($list::$name(control) => control.reacts(),)+
                }
            }

            /// What it needs of acknowledgements.
            pub(crate) fn answers(&self) -> Answers {
                match self {
                    $($list::$name(control) => control.answers(),)+
                }
            }

            /// How receivers notify senders of marked packets, where a member needs it.
            pub fn notification(&self) -> Option<NotificationSpec> {
                match self {
                    $($list::$name(control) => control.notification(),)+
                }
            }

            /// Hops of in-band telemetry for which data packets have room, if they carry any.
            pub fn telemetry_hops(&self) -> Option<u8> {
                match self {
                    $($list::$name(control) => control.telemetry_hops(),)+
                }
            }

            /// Frame bytes that data packets and their answers have for in-band telemetry.
            pub fn telemetry_bytes(&self) -> u32 {
                match self {
                    $($list::$name(control) => control.telemetry_bytes(),)+
                }
            }
        }

        /// The congestion control of one NIC.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $($name(Table<$name>),)+
        }

        /// The same expression for the table of each member.
        macro_rules! on_table {
            ($congestion:expr, $table:ident => $do:expr) => {
                match $congestion {
                    $(Congestion::$name($table) => $do,)+
                }
            };
        }

        impl Congestion {
            /// For a NIC with so many send slots on a line of this rate, whose full packets carry
            /// so many bytes.
            pub(crate) fn new(control: &$list, line: (Rate, u64), slots: usize) -> Congestion {
                match control {
                    $($list::$name(control) => {
                        Congestion::$name(Table::new(*control, line, slots))
                    })+
                }
            }
        }
    };
}

members! {
    /// The congestion control of all NICs of a trial.
    pub enum CongestionControl {
        /// Rates fall with each notification, and rise with time and bytes.
        "dcqcn" => Dcqcn,
        /// Rates follow the round-trip time and its gradient.
        "timely" => Timely,
        /// Windows follow the round-trip time.
        "swift" => Swift,
        /// Windows follow what switches say of their links.
        "hpcc" => Hpcc,
    }
}

impl CongestionControl {
    fn read_keys(reader: &mut dyn Reader) -> Option<CongestionControl> {
        let Some(place) = reader.choice("kind", CongestionControl::NAMES) else {
            let members = CongestionControl::VARIANTS.members.iter();
            let tables: Vec<_> = members.map(|(_, table)| *table).collect();
            reader.guess(&tables, &mut |place, reader| {
                CongestionControl::read_member(place, reader);
            });
            return None;
        };
        CongestionControl::read_member(place, reader)
    }
}

/// A word stands for a mapping in which all other keys have their defaults.
impl Value for CongestionControl {
    type Bounds = ();

    fn shape((): ()) -> Shape {
        let words = Shape::Choice(CongestionControl::NAMES);
        let mapping = Shape::Variants(&CongestionControl::VARIANTS);
        Shape::Either(Box::new(words), Box::new(mapping))
    }

    fn read(reader: &mut dyn Reader, key: &str, (): ()) -> Option<CongestionControl> {
        if !reader.is_mapping(key) {
            let place = reader.choice(key, CongestionControl::NAMES)?;
            let control = CongestionControl::of_word(CongestionControl::NAMES[place])?;
            reader.write(key, control.written());
            return Some(control);
        }
        let mut read = None;
        reader.mapping(key, CongestionControl::VARIANTS.own, &mut |keys| {
            read = CongestionControl::read_keys(keys);
        });
        read
    }

    fn written(&self) -> Written {
        let mut keys = vec![("kind", Written::word(self.word()))];
        keys.extend(self.written_keys());
        Written::mapping(keys)
    }
}

impl Congestion {
    /// When a queue pair may send its next packet, in ps.
    pub(crate) fn ready_at(&self, slot: u32) -> u64 {
        on_table!(self, table => table.ready_at(slot))
    }

    /// Packets that a queue pair may have unacknowledged.
    pub(crate) fn window(&self, slot: u32) -> u32 {
        on_table!(self, table => table.window(slot))
    }

    /// A queue pair has sent a packet whose first bit left at `now`; when it may send the next one,
    /// in ps.
    pub(crate) fn sent(&mut self, slot: u32, frame_bytes: u16, now: u64) -> u64 {
        on_table!(self, table => table.sent(slot, frame_bytes, now))
    }

    /// A congestion notification has arrived for a queue pair.
    pub(crate) fn notified(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.notified(slot, now));
    }

    /// An acknowledgement has arrived for a queue pair.
    pub(crate) fn acknowledged(&mut self, slot: u32, feedback: &Feedback<'_>) {
        on_table!(self, table => table.acknowledged(slot, feedback));
    }

    /// The receiver of a queue pair lacks packets.
    pub(crate) fn lost(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.lost(slot, now));
    }

    /// A data packet of a queue pair leaves.
    #[inline]
    pub(crate) fn leaves(&mut self, slot: u32, packet: &Packet) {
        on_table!(self, table => table.leaves(slot, packet));
    }

    /// The packet of a queue pair that left at `sent` is answered.
    #[inline]
    pub(crate) fn answered(&mut self, slot: u32, sent: u32, answer: PathFeedback) {
        on_table!(self, table => table.answered(slot, sent, answer));
    }

    /// A switch has cut a packet of a queue pair to its header.
    pub(crate) fn trimmed(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.trimmed(slot, now));
    }

    /// The receiver of a queue pair has granted payload bytes.
    pub(crate) fn granted(&mut self, slot: u32, bytes: u64, now: u64) {
        on_table!(self, table => table.granted(slot, bytes, now));
    }

    /// A queue pair has timed out.
    pub(crate) fn timed_out(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.timed_out(slot, now));
    }
}
