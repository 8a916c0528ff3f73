//! Timers at an Ultra Ethernet NIC: grants, probes and retransmissions.

use tenter_fabric::net::{Packet, PacketKind, SendSlot};
use tenter_language::units::{Instant, Time};

use super::UltraEthernetNic;
use crate::nic::error::QueuePairError;
use crate::send::Connection;
use crate::ultra_ethernet::sender::Expiry;

impl UltraEthernetNic {
    /// Returns the next timer's instant, or `None` if no timer is set.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        let pull = self
            .pacer
            .as_ref()
            .map_or(Instant::NEVER, |pacer| pacer.next());
        let timeout = if self.pending > 0 {
            self.timeouts.next_at().min(self.probes.next_at())
        } else {
            Instant::NEVER
        };
        let next = pull.min(timeout);
        (!next.is_never()).then_some(next)
    }

    /// Fires one timer: grants before probes, probes before retransmissions.
    pub(crate) fn fire(&mut self, now: Instant) {
        if self.pacer.as_ref().is_some_and(|pacer| pacer.next() <= now) {
            self.pull(now);
        } else if self.probes.next_at() <= now {
            self.probe(now);
        } else {
            self.time_out(now);
        }
    }

    /// Grants credit to the sender whose turn it is.
    fn pull(&mut self, now: Instant) {
        let Some(pacer) = &mut self.pacer else {
            return;
        };
        let Some((slot, wants)) = pacer.turn() else {
            pacer.rest();
            return;
        };
        let number = pacer.grant(slot, wants, &mut self.receive[slot].demand, now);
        self.counters.grants_sent += 1;
        let pull = Packet {
            sequence: number,
            ..self.answer(slot, PacketKind::Pull)
        };
        self.push_control(pull);
    }

    /// Sends a probe if the first probe timer is due for its connection, and sets it anew.
    fn probe(&mut self, now: Instant) {
        let Some(slot) = self.probes.pop() else {
            return;
        };
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        // The connection may have received acknowledgements since, which move its probe.
        let due = sender.probe_at();
        let packet = if due <= now {
            sender.probe(&self.rules, now)
        } else {
            None
        };
        let next = sender.probe_at();
        if !next.is_never() {
            // A timer must always move on, even if the round trip is zero.
            self.probes.push(next.max(now + Time::LEAST), slot);
        }
        if let Some(packet) = packet {
            self.push_control(packet);
        }
    }

    /// Fires the first retransmission timer.
    fn time_out(&mut self, now: Instant) {
        let Some(slot) = self.timeouts.pop() else {
            return;
        };
        let Some(sender) = &mut self.send[slot] else {
            return;
        };
        let is_up = !self.transmitter.is_dark();
        match sender.expire(&self.rules, is_up, now) {
            Expiry::Idle => sender.timer_armed = false,
            Expiry::Later(due) => self.timeouts.push(due, slot),
            Expiry::GivesUp => self.fail(slot, now),
            Expiry::Asks { next } => {
                self.timeouts.push(next, slot);
                self.ask(slot);
            }
            Expiry::Repeats { next, asks } => {
                self.counters.local_ack_timeout_err += 1;
                self.timeouts.push(next, slot);
                if asks {
                    self.ask(slot);
                }
                self.join_round(slot, now);
            }
        }
    }

    /// Sends a request for credit.
    fn ask(&mut self, slot: SendSlot) {
        let active = self.round.len() as u64;
        if let Some(sender) = &mut self.send[slot] {
            let packet = sender.request(&self.rules, active);
            self.push_control(packet);
        }
    }

    /// Gives up a connection: it sends no more, and the trial reports it.
    fn fail(&mut self, slot: SendSlot, now: Instant) {
        if let Some(sender) = &mut self.send[slot] {
            sender.connection = Connection::Failed;
            sender.timer_armed = false;
            sender.forget_probe();
            self.errors.push(QueuePairError {
                slot,
                at: now,
                destination: sender.peer.destination,
            });
        }
    }
}
