//! The pull pacer: a receiver grants credit at nearly its line rate, one sender after the other.

use std::collections::VecDeque;

use tenter_fabric::net::ReceiveSlot;
use tenter_language::units::{Instant, Time};

use super::oversubscription::Oversubscription;
use super::receiver::Demand;
use crate::congestion_control::{CreditRules, Link, QUANTUM_BYTES};

/// Quanta whose time passes after an empty grant, so that time advances.
const PAUSE_QUANTA: u64 = 1024 / QUANTUM_BYTES;
const WHOLE_PPM: u128 = 1_000_000;

/// The grants that one NIC gives.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    rules: CreditRules,
    line: u64,
    /// Connections whose senders want credit, in the order in which they take turns.
    active: VecDeque<ReceiveSlot>,
    /// Connections whose senders have what they want, and may be granted more unasked.
    idle: VecDeque<ReceiveSlot>,
    /// Instant at which the next grant is due, or [`Instant::NEVER`] while no sender waits for one.
    next: Instant,
    /// Earliest instant at which a grant may follow the last one.
    free: Instant,
    pub(super) oversubscription: Option<Oversubscription>,
}

impl Pacer {
    pub(super) fn new(rules: &CreditRules, link: &Link) -> Pacer {
        let control = rules.least_share_ppm;
        Pacer {
            rules: *rules,
            line: link.line,
            active: VecDeque::new(),
            idle: VecDeque::new(),
            next: Instant::NEVER,
            free: Instant::START,
            oversubscription: control.map(|least| Oversubscription::new(link.round_trip, least)),
        }
    }

    /// Returns the grant for each packet that arrives trimmed, in quanta, if there is such a grant.
    pub(super) fn quanta_per_trim(&self) -> Option<u32> {
        self.rules.quanta_per_trim
    }

    /// Returns the instant at which the next grant is due, or [`Instant::NEVER`].
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Queues a sender that wants credit at `now`.
    pub(super) fn request(&mut self, slot: ReceiveSlot, demand: &mut Demand, now: Instant) {
        if std::mem::replace(&mut demand.is_pulled, true) {
            return;
        }
        self.active.push_back(slot);
        if self.next.is_never() {
            self.next = self.free.max(now);
        }
    }

    /// Takes out the connection whose turn it is, with a flag that is set if its sender wants
    /// credit.
    pub(super) fn turn(&mut self) -> Option<(ReceiveSlot, bool)> {
        let active = self.active.pop_front().map(|slot| (slot, true));
        active.or_else(|| self.idle.pop_front().map(|slot| (slot, false)))
    }

    /// Grants credit to the sender whose turn it is, as demanded or unasked. Returns the number up
    /// to which it is granted now.
    pub(super) fn grant(
        &mut self,
        slot: ReceiveSlot,
        wants: bool,
        demand: &mut Demand,
        now: Instant,
    ) -> u32 {
        let each = self.rules.quanta_per_pull;
        let quanta = if wants { demand.open().min(each) } else { each };
        let number = demand.grant(quanta);
        if wants {
            if demand.open() > 0 {
                self.active.push_back(slot);
            } else {
                demand.is_pulled = false;
                if self.rules.grants_unasked {
                    self.idle.push_back(slot);
                }
            }
        } else {
            let most = (self.rules.most / QUANTUM_BYTES) as u32;
            // A sender that has asked meanwhile is among the active ones. One that has a whole
            // window unasked gets no more.
            if demand.open() == 0 && demand.unasked() < most {
                self.idle.push_back(slot);
            }
        }
        let quanta = if quanta == 0 {
            PAUSE_QUANTA
        } else {
            u64::from(quanta)
        };
        self.free = now + self.time_of(quanta, now);
        let waits = !self.active.is_empty() || !self.idle.is_empty();
        self.next = if waits { self.free } else { Instant::NEVER };
        number
    }

    /// Stops granting: no sender has a turn.
    pub(super) fn rest(&mut self) {
        self.next = Instant::NEVER;
    }

    /// Returns the time that `quanta` take at the present grant rate.
    fn time_of(&mut self, quanta: u64, now: Instant) -> Time {
        let share = self.oversubscription.as_mut().map(|of| of.share(now));
        let share = u128::from(share.unwrap_or(1_000_000));
        let bits = u128::from(quanta * QUANTUM_BYTES * 8);
        // The order of divisions keeps the product within 128 bits.
        let ps = bits * 1_000_000_000_000 * WHOLE_PPM / u128::from(self.line);
        let ps = ps / u128::from(self.rules.rate_ppm) * WHOLE_PPM / share;
        Time::from_ps(ps as u64)
    }
}
