//! Congestion control: how senders slow down while the network is congested. There is one file per
//! member, and one list with a line for each.
//!
//! A member implements `Control`: it keeps a few words for each queue pair or connection that it
//! limits, and answers with a rate, a window, receiver credit, or several of them. Timers are not
//! events: a queue pair catches up on them when it next sends or receives.

use tenter_fabric::net::SendSlot;
use tenter_language::config::variants;
use tenter_language::units::{Instant, Time};

use crate::notification::NotificationSpec;

mod constant;
mod control;
mod credit;
pub mod dcqcn;
mod dctcp;
mod delays;
mod eqds;
mod hpcc;
mod link;
mod list;
mod ndp;
mod nscc;
mod nscc_with_credit;
mod quantities;
mod rccc;
mod signal;
mod smartt;
mod swift;
mod table;
mod timely;

pub use constant::ConstantWindow;
pub(crate) use control::{Answers, Control, Feedback, Trim, Window};
pub(crate) use credit::{CreditRules, QUANTUM_BYTES};
pub use dcqcn::Dcqcn;
pub use dctcp::Dctcp;
pub use eqds::Eqds;
pub use hpcc::{HOPS_MAX, Hpcc};
pub(crate) use link::Link;
use list::controls;
pub use ndp::Ndp;
pub use nscc::Nscc;
pub use nscc_with_credit::NsccWithCredit;
pub(crate) use quantities::{RATES, SECOND, TICK_MIN, part_of};
pub use rccc::Rccc;
pub(crate) use signal::Signal;
use signal::{Line, On, elsewhere};
pub use smartt::Smartt;
pub use swift::Swift;
use table::Table;
pub use timely::Timely;

controls! {
    /// Rates fall with each notification, and rise with time and bytes.
    "dcqcn" => Dcqcn(Dcqcn) on [Roce] needs [Notification, Rate],
    /// Rates follow the round-trip time and its gradient.
    "timely" => Timely(Timely) on [Roce] needs [Delay, Rate],
    /// Windows follow the round-trip time.
    "swift" => Swift(Swift) on [Roce] needs [Delay, Rate],
    /// Windows follow what switches say of their links.
    "hpcc" => Hpcc(Hpcc) on [Roce] needs [Telemetry, Rate],
    /// Windows of senders follow delays and marks: network signal based congestion control.
    "nscc" => Nscc(Nscc) on [UltraEthernet] needs [Mark, Delay, Trim],
    /// Receivers grant credit: receiver credit congestion control.
    "rccc" => Rccc(Rccc) on [UltraEthernet] needs [Grant],
    /// Both: data need a window and credit.
    "nscc+rccc" => NsccWithCredit(NsccWithCredit) on [UltraEthernet] needs [Mark, Delay, Trim, Grant],
    /// Windows fall with marks and rise without.
    "dctcp" => Dctcp(Dctcp) on [Roce, UltraEthernet] needs [Mark],
    /// Windows that never change.
    "constant" => Constant(ConstantWindow) on [UltraEthernet] needs [FirstWindow],
    /// Receivers pull packet by packet, from the first small window on.
    "ndp" => Ndp(Ndp) on [UltraEthernet] needs [Trim, Grant],
    /// Receivers grant credit packet by packet.
    "eqds" => Eqds(Eqds) on [UltraEthernet] needs [Trim, Grant],
    /// Windows follow the round-trip time and marks, acknowledgement by acknowledgement.
    "smartt" => Smartt(Smartt) on [UltraEthernet] needs [Mark, Delay, Trim],
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

    /// Handles a retransmission timeout of a queue pair with this many packets in flight.
    pub(crate) fn timed_out(&mut self, slot: SendSlot, packets: u32, now: Instant) {
        on_table!(self, table => table.timed_out(slot, packets, now));
    }
}

impl UetControl {
    /// Returns true if receivers grant credit.
    pub(crate) fn has_credit(&self) -> bool {
        let line = CONTROLS.iter().find(|line| line.word == self.word());
        line.is_some_and(|line| line.needs.contains(&Signal::Grant))
    }

    /// Returns the wire bytes that a connection may have in flight.
    #[inline]
    pub(crate) fn window(&self, flow: &Flow, link: &Link) -> u64 {
        on_flow!(self, flow, (control, flow) => control.window(flow, link).bytes(link))
    }

    /// Handles an acknowledgement for a connection.
    pub(crate) fn acknowledged(&self, flow: &mut Flow, link: &Link, feedback: &Feedback<'_>) {
        on_flow!(self, flow, (control, flow) => control.acknowledged(flow, link, feedback));
    }

    /// Handles the report that a packet of a connection was trimmed.
    pub(crate) fn trimmed(&self, flow: &mut Flow, link: &Link, trim: &Trim) {
        on_flow!(self, flow, (control, flow) => control.trimmed(flow, link, trim));
    }

    /// Handles a timeout for a packet with `bytes` wire bytes.
    pub(crate) fn timed_out(&self, flow: &mut Flow, link: &Link, bytes: u64) {
        on_flow!(self, flow, (control, flow) => control.timed_out(flow, link, bytes));
    }

    /// Returns the round trip without load and the target for the queueing delay, if the member has
    /// both.
    pub(crate) fn delays(&self, flow: &Flow, link: &Link) -> Option<(Time, Time)> {
        on_flow!(self, flow, (control, flow) => control.delays(flow, link))
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTROLS, On, elsewhere};

    #[test]
    fn controls_run_where_nics_tell_what_they_need() {
        for line in CONTROLS {
            for on in [On::Roce, On::UltraEthernet] {
                let told = line.needs.iter().all(|need| on.tells().contains(need));
                assert_eq!(told, line.on.contains(&on), "{} on {on:?}", line.word);
                let refused = elsewhere(CONTROLS, line.word, on);
                assert_eq!(told, refused.is_none(), "{}", line.word);
            }
        }
        assert_eq!(elsewhere(CONTROLS, "reno", On::Roce), None);
    }
}
