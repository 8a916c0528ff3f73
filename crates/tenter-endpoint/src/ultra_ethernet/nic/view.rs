//! Read access to an Ultra Ethernet NIC, as documented at [`Nic`](crate::Nic).

use tenter_fabric::net::{PauseRecord, ReceiveSlot, SendSlot};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::UltraEthernetNic;
use crate::nic::counters::NicCounters;
use crate::nic::error::QueuePairError;
use crate::nic::marks::Marks;
use crate::receive::Delivery;
use crate::send::{Connection, WorkRequest};

impl UltraEthernetNic {
    pub(crate) fn last_end(&self) -> Instant {
        self.transmitter.last_end()
    }

    pub(crate) fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        let peer = self.send[slot].as_ref().map(|sender| sender.peer);
        let peer = peer.unwrap_or_default();
        (peer.destination, peer.slot)
    }

    pub(crate) fn is_lossless(&self, class: u8) -> bool {
        self.classes.lossless & (1 << class) != 0
    }

    pub(crate) fn paused_until(&self, class: u8) -> Instant {
        self.pauses.until(class)
    }

    pub(crate) fn paused(&self, class: u8, now: Instant) -> (PauseRecord, Time) {
        self.pauses.record(class, now)
    }

    pub(crate) fn first_xoff(&self) -> Option<Instant> {
        self.pauses.first
    }

    pub(crate) fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        self.receive[slot].in_part()
    }

    pub(crate) fn counters(&self) -> NicCounters {
        self.counters
    }

    pub(crate) fn is_open(&self, slot: SendSlot) -> bool {
        self.send[slot].is_some()
    }

    pub(crate) fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        self.marks.take(slot)
    }

    pub(crate) fn next_delivery(&mut self) -> Option<Delivery> {
        self.delivered.pop_front()
    }

    pub(crate) fn errors(&self) -> &[QueuePairError] {
        &self.errors
    }

    pub(crate) fn acknowledged(&self) -> impl Iterator<Item = (HostId, u32)> + '_ {
        self.send.iter().map(|sender| {
            let sender = sender.as_ref();
            sender.map_or((HostId::new(0), 0), |sender| {
                (sender.peer.destination, sender.acknowledged())
            })
        })
    }

    pub(crate) fn unfinished(&self, slot: SendSlot) -> impl Iterator<Item = WorkRequest> + '_ {
        let sender = self.send[slot].iter();
        sender.flat_map(|sender| sender.requests.unfinished())
    }

    pub(crate) fn unfinished_count(&self, slot: SendSlot) -> usize {
        self.send[slot]
            .as_ref()
            .map_or(0, |sender| sender.requests.count())
    }

    pub(crate) fn delivered(&self, slot: ReceiveSlot) -> u32 {
        self.receive[slot].books.delivered()
    }

    pub(crate) fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        let slots = first.index()..first.index() + count;
        self.marks.forget(slots.clone());
        for receiver in &mut self.receive.as_mut_slice()[slots] {
            receiver.books.reset_delivered();
        }
    }

    pub(crate) fn has_given_up(&self, slot: SendSlot) -> bool {
        let sender = self.send[slot].as_ref();
        sender.is_some_and(|sender| sender.connection == Connection::Failed)
    }

    pub(crate) fn goes_on(&self, slot: SendSlot, _link_is_up: bool) -> bool {
        let sender = self.send[slot].as_ref();
        sender.is_some_and(|sender| sender.connection == Connection::Ready && sender.is_busy())
    }
}
