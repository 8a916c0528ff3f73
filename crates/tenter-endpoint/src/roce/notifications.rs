//! Congestion notifications from receivers of marked packets to their senders.

use tenter_fabric::net::{CNP_FRAME_BYTES, Packet, PacketKind};

use super::RoceNic;
use crate::nic::context::Directory;
use crate::notification::LimitedBy;

impl RoceNic {
    /// Counts a marked packet, and notifies its sender unless it was notified less than an interval
    /// ago.
    #[inline(never)]
    pub(super) fn on_mark(&mut self, packet: &Packet, directory: &impl Directory) {
        self.counters.marked_packets += 1;
        let path = self.reply_path(packet.receive_slot(), directory);
        let marked = self.marks.count(packet.receive_slot(), self.receive.len());
        let Some(limits) = &mut self.limits else {
            return;
        };
        let Some(notification) = limits.notification else {
            return;
        };
        let next = match notification.limited_by {
            LimitedBy::QueuePair => &mut marked.next_notification,
            LimitedBy::Address => limits
                .notify_next
                .entry(Some(path.destination))
                .or_default(),
            // The whole port has one instant, under the key that no address has.
            LimitedBy::Port => limits.notify_next.entry(None).or_default(),
        };
        if packet.at < *next {
            return;
        }
        *next = packet.at + notification.interval;
        marked.since_delivery.notifications += 1;
        self.counters.np_cnp_sent += 1;
        // The mark waits for the next acknowledgement or NAK, so no frame is made here.
        if notification.in_acknowledgements {
            marked.echoes = true;
            return;
        }
        let cnp = path.packet(PacketKind::Cnp, CNP_FRAME_BYTES);
        limits.notifications.push(cnp);
    }
}
