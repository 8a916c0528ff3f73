//! Source flow control in the NIC: a congestion signal pauses the packets to one receiver whose
//! queue is too long, and no others.

use tenter_fabric::net::{EventKind, Medium, Packet, Signal};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::RoceNic;
use super::held::key;
use crate::reactions::Reactions;

impl RoceNic {
    /// Returns the times from a long queue to a pause by a congestion signal.
    pub(crate) fn reactions(&self) -> &Reactions {
        &self.pauses.reactions
    }

    /// Returns the total time up to `now` for which packets to a receiver were paused, over all
    /// classes.
    pub(crate) fn held(&self, receiver: HostId, now: Instant) -> Time {
        let held = self.limits.as_ref().and_then(|own| own.held.as_ref());
        held.map_or(Time::ZERO, |held| held.held(receiver, now))
    }

    /// Applies a congestion signal: queue pairs to its receiver wait until the pause ends.
    #[inline(never)]
    pub(super) fn on_signal<M: Medium>(&mut self, packet: &Packet, medium: &mut M) {
        self.note(EventKind::Obeyed, packet, medium);
        let Some(signal) = Signal::of(packet) else {
            return;
        };
        self.pauses.reactions.note(&signal, packet.at);
        let until = packet.at + self.transmitter.pause_time(u32::from(signal.quanta));
        let Some(limits) = &mut self.limits else {
            return;
        };
        let Some(held) = &mut limits.held else {
            return;
        };
        let until = held.extend(&signal, packet.at, until);
        // One full turn of the round keeps the order of those that stay.
        for _ in 0..self.round.len() {
            let Some(limits) = &mut self.limits else {
                return;
            };
            let Some(slot) = self.round.pop() else {
                return;
            };
            let queue_pair = &mut self.send[slot];
            if key(queue_pair) == (signal.receiver, signal.class) {
                limits.hold(slot, queue_pair, until);
                self.note_wait(slot, packet.at);
            } else {
                self.round.push(slot);
            }
        }
    }
}
