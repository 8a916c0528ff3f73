//! Losses that a connection detects by itself: SLEEK, by overtaking packets and by probes.

use tenter_fabric::net::{Packet, PacketKind};
use tenter_language::units::{Instant, Time};

use super::{Rules, Sender};
use crate::send::Connection;

impl Sender {
    /// Detects packets that too many others have overtaken, if the connection uses SLEEK. `ahead`
    /// counts the packets that arrived beyond a missing one.
    pub(super) fn look_for_losses(
        &mut self,
        rules: &Rules,
        ahead: u32,
        is_probe: bool,
        now: Instant,
    ) {
        let Some(mut sleek) = self.sleek.take() else {
            return;
        };
        let window = self.window(rules).unwrap_or(u64::MAX);
        let most = rules.link.max_window(rules.link.round_trip);
        let payload = rules.link.payload;
        let sent = self.next.wrapping_sub(self.acknowledged);
        let answered = is_probe.then(|| now.saturating_since(sleek.probed));
        let delays = self.delays(rules);
        // A probe that met no queue arrived after all packets sent before it: whatever is missing
        // is lost.
        if let Some(round_trip) = answered
            && round_trip.saturating_sub(delays.0) < delays.1
        {
            sleek.begin(sent);
        }
        sleek.follow(self.acknowledged);
        // 1.5 windows, at least five packets and at most the largest window, counted in packets.
        let threshold = (window.saturating_mul(3) / 2).min(most).max(5 * payload) / payload;
        if u64::from(ahead) >= threshold && !sleek.recovers() && self.lost.is_empty() {
            sleek.begin(sent);
        }
        let reach = (window / payload).min(u64::from(u32::MAX)) as u32;
        for place in sleek.holes(reach) {
            let number = self.acknowledged.wrapping_add(place);
            if self.lose(number).is_some() {
                sleek.repeated(place);
            }
        }
        let is_busy = self.next != self.posted || !self.records.is_empty();
        let waits = is_busy && self.connection == Connection::Ready;
        // With nothing left to send there will be no later packets to show losses, so ask soon.
        let wait = if self.backlog == 0 {
            delays.0 + delays.1
        } else {
            delays.0 * 3
        };
        sleek.probe_at = if waits { now + wait } else { Instant::NEVER };
        self.sleek = Some(sleek);
    }

    /// Returns the round trip without load, and the queueing delay that counts as high.
    fn delays(&self, rules: &Rules) -> (Time, Time) {
        let flow = self.flow.as_ref();
        let own = flow.and_then(|flow| rules.control.delays(flow, &rules.link));
        own.unwrap_or((rules.link.round_trip, rules.link.round_trip))
    }

    /// Returns the instant at which the next probe is due, or [`Instant::NEVER`].
    pub(in crate::ultra_ethernet) fn probe_at(&self) -> Instant {
        let sleek = self.sleek.as_ref();
        sleek.map_or(Instant::NEVER, |sleek| sleek.probe_at)
    }

    /// Cancels the probe that is due next.
    pub(in crate::ultra_ethernet) fn forget_probe(&mut self) {
        if let Some(sleek) = &mut self.sleek {
            sleek.probe_at = Instant::NEVER;
        }
    }

    /// Makes a probe, which asks what has arrived, or returns `None` if nothing is in flight.
    pub(in crate::ultra_ethernet) fn probe(
        &mut self,
        rules: &Rules,
        now: Instant,
    ) -> Option<Packet> {
        let round_trip = self.delays(rules).0;
        let sleek = self.sleek.as_mut()?;
        sleek.probed = now;
        sleek.probe_at = now + round_trip * 5;
        if self.records.is_empty() {
            sleek.probe_at = Instant::NEVER;
            return None;
        }
        let entropy = self.entropy.next(0, &mut self.random).value;
        let target = self.pull_target(rules, 1);
        let last = self.next.wrapping_sub(1);
        Some(Packet {
            sequence: last,
            ..self.packet(PacketKind::Probe, entropy, target, rules)
        })
    }
}
