//! Congestion control: how senders slow down while the network is congested. There is one file per
//! member; [`CongestionControl`] lists them.
//!
//! A member implements `Control`: it keeps a few words for each queue pair that it limits, and
//! returns a rate, a window, or both. A queue pair that is not limited has no state. Timers are not
//! events: a queue pair catches up on them when it next sends or receives.

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

/// Declares the list of congestion controls, and the functions that delegate to the chosen one.
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
            /// Returns false if senders ignore notifications. Receivers send them all the same.
            pub fn reacts(&self) -> bool {
                match self {
                    $($list::$name(control) => control.reacts(),)+
                }
            }

            /// Returns the acknowledgements that the control requires from receivers.
            pub(crate) fn answers(&self) -> Answers {
                match self {
                    $($list::$name(control) => control.answers(),)+
                }
            }

            /// Returns how receivers report marked packets, or `None` if the control ignores marks.
            pub fn notification(&self) -> Option<NotificationSpec> {
                match self {
                    $($list::$name(control) => control.notification(),)+
                }
            }

            /// Returns the number of telemetry hops for which data packets reserve room, or `None`
            /// without telemetry.
            pub fn telemetry_hops(&self) -> Option<u8> {
                match self {
                    $($list::$name(control) => control.telemetry_hops(),)+
                }
            }

            /// Returns the frame bytes that telemetry adds to each data packet and to its answer.
            pub fn telemetry_bytes(&self) -> u32 {
                match self {
                    $($list::$name(control) => control.telemetry_bytes(),)+
                }
            }
        }

        /// The congestion control of one NIC, with the state of its limited queue pairs.
        // One enum around the tables, not one in each flow: a NIC has a single control, so each
        // call takes one branch and flows stay as small as their member's state.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $($name(Table<$name>),)+
        }

        /// Evaluates one expression for the table of whichever member is in use.
        macro_rules! on_table {
            ($congestion:expr, $table:ident => $do:expr) => {
                match $congestion {
                    $(Congestion::$name($table) => $do,)+
                }
            };
        }

        impl Congestion {
            /// Creates the state for a NIC with `slots` send queue pairs on a line of rate `line`,
            /// whose full packets carry `payload` bytes.
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
    /// Supplies the longest round trip of the unloaded fabric to a control that needs it, unless
    /// the scenario has set it. `measure` computes it and is called only then.
    pub fn know_round_trip(&mut self, measure: impl FnOnce() -> Time) {
        if let CongestionControl::Hpcc(own) = self {
            own.base_round_trip.get_or_insert_with(measure);
        }
    }
}

impl Congestion {
    /// Returns the earliest instant at which a queue pair may send its next packet.
    pub(crate) fn ready_at(&self, slot: SendSlot) -> Instant {
        on_table!(self, table => table.ready_at(slot))
    }

    /// Returns the most packets that a queue pair may have unacknowledged.
    pub(crate) fn window(&self, slot: SendSlot) -> u32 {
        on_table!(self, table => table.window(slot))
    }

    /// Charges a packet whose first bit left at `now`, and returns the earliest instant for the
    /// next one.
    pub(crate) fn sent(&mut self, slot: SendSlot, frame_bytes: u16, now: Instant) -> Instant {
        on_table!(self, table => table.sent(slot, frame_bytes, now))
    }

    /// Handles a congestion notification for a queue pair.
    pub(crate) fn notified(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.notified(slot, now));
    }

    /// Handles an acknowledgement for a queue pair.
    pub(crate) fn acknowledged(&mut self, slot: SendSlot, feedback: &Feedback<'_>) {
        on_table!(self, table => table.acknowledged(slot, feedback));
    }

    /// Handles a NAK for a queue pair: its receiver lacks packets.
    pub(crate) fn lost(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.lost(slot, now));
    }

    /// Remembers the path of a data packet that leaves now, if the control learns paths.
    #[inline]
    pub(crate) fn leaves(&mut self, slot: SendSlot, packet: &Packet) {
        on_table!(self, table => table.leaves(slot, packet));
    }

    /// Handles the answer to the packet that left at `sent`, in units of
    /// [`tenter_net::SENT_UNIT_PS`].
    #[inline]
    pub(crate) fn answered(&mut self, slot: SendSlot, sent: u32, answer: PathFeedback) {
        on_table!(self, table => table.answered(slot, sent, answer));
    }

    /// Handles a report that a switch trimmed a packet of the queue pair.
    pub(crate) fn trimmed(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.trimmed(slot, now));
    }

    /// Handles a grant of `bytes` payload bytes by the queue pair's receiver.
    pub(crate) fn granted(&mut self, slot: SendSlot, bytes: u64, now: Instant) {
        on_table!(self, table => table.granted(slot, bytes, now));
    }

    /// Handles a retransmission timeout of a queue pair.
    pub(crate) fn timed_out(&mut self, slot: SendSlot, now: Instant) {
        on_table!(self, table => table.timed_out(slot, now));
    }
}
