//! Losses that a connection notices by itself, by packets that overtake others and by probes.

use tenter_net::{Packet, PacketKind};
use tenter_units::{Instant, Time};

use super::{Rules, Sender};
use crate::send::Connection;
use crate::ultra_ethernet::congestion::Window;

impl Sender {
    /// Finds packets that have been overtaken by too many, where that is how losses are noticed.
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
        let window = self.window.as_ref().map_or(u64::MAX, Window::bytes);
        let most = rules.link.max_window(rules.link.round_trip);
        let payload = rules.link.payload;
        let sent = self.next.wrapping_sub(self.acknowledged);
        let answered = is_probe.then(|| now.saturating_since(sleek.probed));
        let delays = self.delays(rules);
        if let Some(round_trip) = answered
            && round_trip.saturating_sub(delays.0) < delays.1
        {
            sleek.begin(sent);
        }
        sleek.follow(self.acknowledged);
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
        let wait = if self.backlog == 0 {
            delays.0 + delays.1
        } else {
            delays.0 * 3
        };
        sleek.probe_at = if waits { now + wait } else { Instant::NEVER };
        self.sleek = Some(sleek);
    }

    /// The round trip without load, and the delay that counts as high.
    fn delays(&self, rules: &Rules) -> (Time, Time) {
        let own = self.window.as_ref().zip(rules.window.as_ref());
        let own = own.and_then(|(window, rules)| window.delays(rules));
        own.unwrap_or((rules.link.round_trip, rules.link.round_trip))
    }

    /// When a probe is due.
    pub(in crate::ultra_ethernet) fn probe_at(&self) -> Instant {
        let sleek = self.sleek.as_ref();
        sleek.map_or(Instant::NEVER, |sleek| sleek.probe_at)
    }

    /// No probe is due any more.
    pub(in crate::ultra_ethernet) fn forget_probe(&mut self) {
        if let Some(sleek) = &mut self.sleek {
            sleek.probe_at = Instant::NEVER;
        }
    }

    /// A probe, which asks what has arrived.
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
