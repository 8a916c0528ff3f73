//! How senders slow down when the network is congested: one file per member, listed in
//! [`CongestionControl`].
//!
//! A member is a `Control`: it keeps a few words for each queue pair that it limits, and answers
//! with a rate, a window, or both. Nothing is kept for a queue pair that is not limited. Timers are
//! no events: they are caught up when the queue pair is next touched.

use tenter_config::variants;
use tenter_net::{Packet, SendSlot};
use tenter_units::{Instant, Rate, Time};

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
pub use hpcc::{HOPS_MAX, Hpcc};
pub(crate) use quantities::{RATES, SECOND, TICK_MIN, part_of};
pub use swift::Swift;
use table::Table;
pub use timely::Timely;

/// Declares the list of congestion controls, and with it all that asks each of them the same.
macro_rules! members {
    (
        $(#[doc = $about:literal])*
        pub enum $list:ident {
            $($(#[doc = $of_member:literal])+ $word:literal => $name:ident,)+
        }
    ) => {
        variants! {
            $(#[doc = $about])*
            pub enum $list as "`endpoint.nic.congestion_control`, written as a mapping",
            derive(Clone, Debug, PartialEq, Eq),
            or word of "`endpoint.nic.congestion_control`" {
                /// Which congestion control; the other keys belong to it.
                kind;
                $($(#[doc = $of_member])+ $word => $name($name),)+
            }
        }

        impl $list {
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
            pub(crate) fn new(
                control: &$list,
                line: Rate,
                payload: u64,
                slots: usize,
            ) -> Congestion {
                match control {
                    $($list::$name(control) => {
                        Congestion::$name(Table::new(*control, line, payload, slots))
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
    /// Takes the longest round trip of the fabric without load, which `measure` finds, where it
    /// needs that and has not been given it.
    pub fn know_round_trip(&mut self, measure: impl FnOnce() -> Time) {
        if let CongestionControl::Hpcc(own) = self {
            own.base_round_trip.get_or_insert_with(measure);
        }
    }
}

impl Congestion {
    /// When a queue pair may send its next packet, in ps.
    pub(crate) fn ready_at(&self, slot: SendSlot) -> Instant {
        on_table!(self, table => table.ready_at(slot))
    }

    /// Packets that a queue pair may have unacknowledged.
    pub(crate) fn window(&self, slot: SendSlot) -> u32 {
        on_table!(self, table => table.window(slot))
    }

    /// A queue pair has sent a packet whose first bit left at `now`; when it may send the next one,
    /// in ps.
    pub(crate) fn sent(&mut self, slot: SendSlot, frame_bytes: u16, now: Instant) -> Instant {
        on_table!(self, table => table.sent(slot, frame_bytes, now))
    }

    /// A congestion notification has arrived for a queue pair.
    pub(crate) fn notified(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.notified(slot, now));
    }

    /// An acknowledgement has arrived for a queue pair.
    pub(crate) fn acknowledged(&mut self, slot: SendSlot, feedback: &Feedback<'_>) {
        on_table!(self, table => table.acknowledged(slot, feedback));
    }

    /// The receiver of a queue pair lacks packets.
    pub(crate) fn lost(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.lost(slot, now));
    }

    /// A data packet of a queue pair leaves.
    #[inline]
    pub(crate) fn leaves(&mut self, slot: SendSlot, packet: &Packet) {
        on_table!(self, table => table.leaves(slot, packet));
    }

    /// The packet of a queue pair that left at `sent` is answered.
    #[inline]
    pub(crate) fn answered(&mut self, slot: SendSlot, sent: u32, answer: PathFeedback) {
        on_table!(self, table => table.answered(slot, sent, answer));
    }

    /// A switch has cut a packet of a queue pair to its header.
    pub(crate) fn trimmed(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.trimmed(slot, now));
    }

    /// The receiver of a queue pair has granted payload bytes.
    pub(crate) fn granted(&mut self, slot: SendSlot, bytes: u64, now: Instant) {
        on_table!(self, table => table.granted(slot, bytes, now));
    }

    /// A queue pair has timed out.
    pub(crate) fn timed_out(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.timed_out(slot, now));
    }
}
