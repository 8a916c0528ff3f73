//! Flows that move: a switch reports that packets of a queue pair wait in a long queue, and the NIC
//! gives the queue pair another UDP source port. Switches that hash the port may then send it
//! elsewhere.

use tenter_engine::mix64;
use tenter_fabric::net::{Packet, Reroute};
use tenter_language::units::Instant;

use super::RoceNic;
use super::features::Feature;

impl RoceNic {
    /// Returns the congestion notices received, and the moves to other source ports that followed.
    pub(crate) fn reroutes(&self) -> (u64, u64) {
        let reroutes = self.reroutes.as_ref();
        reroutes.map_or((0, 0), |of| (of.received, of.moves))
    }

    /// Handles a congestion notice. It has no effect if the queue pair has left that source port
    /// since, or has moved too recently.
    #[inline(never)]
    pub(super) fn on_notice(&mut self, packet: &Packet) {
        let Some(rules) = self.reroute.as_ref() else {
            return;
        };
        let (response, hold_down) = (rules.response, rules.hold_down);
        self.gain(Feature::Reroutes);
        let own = self.reroutes.get_or_insert_default();
        own.received += 1;
        let slot = packet.send_slot();
        let is_there = self.send[slot].hash() == Reroute::of(packet).hash;
        let held = own.held.get(&slot).is_some_and(|&until| until > packet.at);
        if is_there && !held {
            let due = packet.at + response;
            own.held.insert(slot, due + hold_down);
            // All moves wait the same response time, so the list stays in order of time.
            own.due.push_back((due, slot));
        }
    }

    /// Moves the queue pair whose move is due at `now` to another source port, any but its present
    /// one.
    pub(super) fn change_port(&mut self, now: Instant) {
        let (Some(rules), Some(own)) = (&self.reroute, &mut self.reroutes) else {
            return;
        };
        let Some((_, slot)) = own.due.pop_front() else {
            return;
        };
        own.moves += 1;
        // The draw depends on host, queue pair and time alone, so it is the same on any number of
        // threads.
        let place = u64::from(self.host.number()) << 32 | u64::from(slot.number());
        let drawn = mix64(now.ps() ^ mix64(place)) >> 32;
        // The first difference is 0, which would keep the port.
        let others = &rules.differences[1..];
        let other = (drawn * others.len() as u64) >> 32;
        self.send[slot].change_hash(others[other as usize]);
    }
}
