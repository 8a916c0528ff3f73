//! How senders slow down when the network is congested: one file per member, listed in
//! [`CongestionControl`].
//!
//! A member is a `Control`: it keeps a few words for each queue pair that it limits, and answers
//! with a rate, a window, or both. Nothing is kept for a queue pair that is not limited. Timers are
//! no events: they are caught up when the queue pair is next touched.

use std::ops::RangeInclusive;

use tenter_config::{Component, KeyTable, Reader};
use tenter_units::{Rate, Time};

use crate::spec::NotificationSpec;

mod control;
pub mod dcqcn;
pub mod hpcc;
pub mod swift;
mod table;
pub mod timely;

pub(crate) use control::{Control, Feedback};
pub use dcqcn::Dcqcn;
pub use hpcc::Hpcc;
pub use swift::Swift;
use table::Table;
pub use timely::Timely;

/// No timer and no threshold is longer.
const SECOND: Time = Time::from_us(1_000_000);
/// Timers are no finer: a million steps a second are caught up one by one.
const TICK_MIN: Time = Time::from_ns(100);
/// Rates of increase, and least rates.
const RATES: RangeInclusive<Rate> = Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000);

/// Declares the list of congestion controls, and with it all that asks each of them the same. The
/// first one has keys that depend on each other, and is read by the scenario; the others are
/// [`Component`]s.
macro_rules! members {
    (
        $(#[$about:meta])*
        pub enum $list:ident {
            $(#[$of_first:meta])* $first_word:literal => $first:ident,
            $($(#[$of_member:meta])* $word:literal => $name:ident,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $list {
            $(#[$of_first])* $first($first),
            $($(#[$of_member])* $name($name),)+
        }

        impl $list {
            /// The word of each member, as `kind` has it.
            pub const NAMES: &'static [&'static str] = &[$first_word, $($word),+];

            /// The keys beside `kind` of all members but the first, in the order of
            /// [`Self::NAMES`].
            pub const TABLES: &'static [KeyTable] = &[$(KeyTable {
                title: concat!("`endpoint.nic.congestion_control` with `kind: ", $word, "`"),
                keys: <$name as Component>::KEYS,
            },)+];

            /// Reads the keys of a member but the first, by its place in [`Self::TABLES`].
            pub fn read(place: usize, reader: &mut dyn Reader) -> Option<$list> {
                type Read = fn(&mut dyn Reader) -> Option<$list>;
                let members: &[Read] =
                    &[$(|reader| <$name as Component>::read(reader).map($list::$name),)+];
                members.get(place).and_then(|read| read(reader))
            }

            /// How receivers tell of marked packets, where a member but the first needs to hear of
            /// them.
            pub fn notification(&self) -> Option<NotificationSpec> {
                match self {
                    $list::$first(control) => control.notification(),
                    $($list::$name(control) => control.notification(),)+
                }
            }

            /// Hops of in-band telemetry for which data packets have room, if they carry any.
            pub fn telemetry_hops(&self) -> Option<u8> {
                match self {
                    $list::$first(control) => control.telemetry_hops(),
                    $($list::$name(control) => control.telemetry_hops(),)+
                }
            }

            /// Frame bytes that data packets and their answers have for in-band telemetry.
            pub fn telemetry_bytes(&self) -> u32 {
                match self {
                    $list::$first(control) => control.telemetry_bytes(),
                    $($list::$name(control) => control.telemetry_bytes(),)+
                }
            }
        }

        /// The congestion control of one NIC.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $first(Table<$first>),
            $($name(Table<$name>),)+
        }

        /// The same expression for the table of each member.
        macro_rules! on_table {
            ($congestion:expr, $table:ident => $do:expr) => {
                match $congestion {
                    Congestion::$first($table) => $do,
                    $(Congestion::$name($table) => $do,)+
                }
            };
        }

        impl Congestion {
            /// For a NIC with so many send slots on a line of this rate, whose full packets carry
            /// so many bytes.
            pub(crate) fn new(control: &$list, line: (Rate, u64), slots: usize) -> Congestion {
                match control {
                    $list::$first(control) => {
                        Congestion::$first(Table::new(*control, line, slots))
                    }
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

/// `value` times `part` over `whole`, rounded down.
pub(crate) fn part_of(value: u64, part: u64, whole: u64) -> u64 {
    (u128::from(value) * u128::from(part) / u128::from(whole)) as u64
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

    /// A queue pair has timed out.
    pub(crate) fn timed_out(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.timed_out(slot, now));
    }
}
