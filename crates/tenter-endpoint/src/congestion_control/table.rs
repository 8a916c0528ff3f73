//! State that a congestion control keeps for a NIC's limited queue pairs.

use tenter_fabric::net::{SendSlot, WIRE_OVERHEAD_BYTES};
use tenter_language::units::{ById, Instant, Time};

use super::{Control, Feedback, Link, SECOND};

/// Stands for a flow index while a queue pair is not limited.
const UNLIMITED: u32 = u32::MAX;

/// A limited queue pair: a token bucket that fills at the current rate. A packet that leaves
/// empties it by its wire length, and the next one may leave once it is full again.
#[derive(Clone, Debug)]
struct Limited<F> {
    /// Bits missing in the bucket at `since`, in units of 1/[`PARTS_OF_A_BIT`] bit.
    missing: u64,
    /// Instant up to which `missing` is accounted for.
    since: Instant,
    /// Instant at which the bucket is full and the next packet may leave, unless a notification or
    /// acknowledgement changes the rate first.
    next_at: Instant,
    flow: F,
}

/// Parts per bit. At one bit per second the bucket gains exactly one part per picosecond, so rates
/// in bits per second times picoseconds need no division and lose nothing to rounding.
const PARTS_OF_A_BIT: u64 = SECOND.ps();

impl<F: Clone> Limited<F> {
    /// Charges a packet that leaves at `now`; the flow's timers must be caught up to `now`.
    fn empty<C: Control<Flow = F>>(&mut self, control: C, wire_bytes: u64, now: Instant) {
        self.missing = wire_bytes * 8 * PARTS_OF_A_BIT;
        self.since = now;
        self.next_at = self.full_at(control);
    }

    /// Applies an event at `now` that may change the rate. A packet that waits gains at the old
    /// rate up to `now` and at the new rate from then on.
    fn hear<C: Control<Flow = F>>(&mut self, control: C, now: Instant, news: impl FnOnce(&mut F)) {
        let waits = C::RETIMES && self.next_at > now;
        if waits {
            self.fill(control, now);
        }
        news(&mut self.flow);
        if waits {
            self.next_at = self.full_at(control);
        }
    }

    /// Fills the bucket up to `now`, rate by rate as timers changed it meanwhile.
    fn fill<C: Control<Flow = F>>(&mut self, control: C, now: Instant) {
        let mut caught_up = self.since;
        loop {
            let rate = control.rate(&mut self.flow, caught_up);
            let change = control.next_change(&self.flow);
            // A timer may be due before `since`, because it acts after the event at its instant;
            // the interval is then empty.
            let until = change.min(now).max(self.since);
            let filled = u128::from(rate) * u128::from((until - self.since).ps());
            self.missing = u128::from(self.missing).saturating_sub(filled) as u64;
            self.since = until;
            if change >= now {
                return;
            }
            // Timers act strictly after their instant, so catch up to one picosecond after it.
            caught_up = change + Time::LEAST;
        }
    }

    /// Returns the instant at which the bucket is full, timers included.
    fn full_at<C: Control<Flow = F>>(&mut self, control: C) -> Instant {
        let at = |limited: &mut Limited<F>| {
            let rate = control.rate(&mut limited.flow, limited.since);
            limited.since + Time::from_ps(limited.missing / rate.max(1))
        };
        let mut full_at = at(self);
        let mut change = control.next_change(&self.flow);
        if full_at <= change {
            return full_at;
        }
        // Timers will change the rate before that. Run them on a copy: a notification may yet come
        // first, and the state of the flow itself must not be ahead of time.
        let mut ahead = self.clone();
        while full_at > change {
            ahead.fill(control, change + Time::LEAST);
            full_at = at(&mut ahead);
            change = control.next_change(&ahead.flow);
        }
        full_at
    }
}

/// Limited queue pairs of one NIC.
#[derive(Clone, Debug)]
pub(crate) struct Table<C: Control> {
    control: C,
    link: Link,
    /// For each queue pair the index of its state in `flows`, or [`UNLIMITED`].
    places: ById<SendSlot, u32>,
    flows: Vec<Limited<C::Flow>>,
    /// Indices in `flows` that may be used again.
    free: Vec<u32>,
}

impl<C: Control> Table<C> {
    pub(super) fn new(control: C, link: &Link, slots: usize) -> Table<C> {
        Table {
            control: control.on_link(link),
            link: *link,
            places: vec![UNLIMITED; slots].into(),
            flows: Vec::new(),
            free: Vec::new(),
        }
    }

    fn find(&mut self, slot: SendSlot) -> Option<&mut Limited<C::Flow>> {
        let place = self.places[slot];
        (place != UNLIMITED).then(|| &mut self.flows[place as usize])
    }

    /// Returns the state of a queue pair, created if there is none, and whether it was created.
    fn find_or_start(&mut self, slot: SendSlot, now: Instant) -> (&mut Limited<C::Flow>, bool) {
        let mut place = self.places[slot];
        let first = place == UNLIMITED;
        if first {
            let flow = self.control.start(&self.link, now);
            let limited = Limited {
                missing: 0,
                since: now,
                next_at: Instant::START,
                flow,
            };
            // States of queue pairs that are no longer limited are used again, so the table grows
            // to the most at once.
            if let Some(free) = self.free.pop() {
                place = free;
                self.flows[place as usize] = limited;
            } else {
                place = self.flows.len() as u32;
                self.flows.push(limited);
            }
            self.places[slot] = place;
        }
        (&mut self.flows[place as usize], first)
    }

    pub(super) fn ready_at(&self, slot: SendSlot) -> Instant {
        let place = self.places[slot];
        if place == UNLIMITED {
            return Instant::START;
        }
        self.flows[place as usize].next_at
    }

    pub(super) fn window(&self, slot: SendSlot) -> u32 {
        let place = self.places[slot];
        if place == UNLIMITED {
            return self.control.line_window(&self.link).packets(&self.link);
        }
        let flow = &self.flows[place as usize].flow;
        self.control.window(flow, &self.link).packets(&self.link)
    }

    pub(super) fn sent(&mut self, slot: SendSlot, frame_bytes: u16, now: Instant) -> Instant {
        let control = self.control;
        let limited = if C::FROM_START {
            self.find_or_start(slot, now).0
        } else if let Some(limited) = self.find(slot) {
            limited
        } else {
            return Instant::START;
        };
        // This catches up on timers, which `empty` and the check below rely on.
        let rate = control.rate(&mut limited.flow, now);
        let wire_bytes = u64::from(frame_bytes) + u64::from(WIRE_OVERHEAD_BYTES);
        if control.is_over(&limited.flow) {
            // The limit ends with this packet, which still spaces the next one at the rate it was
            // sent at.
            let place = std::mem::replace(&mut self.places[slot], UNLIMITED);
            self.free.push(place);
            return now + Time::from_ps(wire_bytes * 8 * PARTS_OF_A_BIT / rate.max(1));
        }
        let frame_bytes = u64::from(frame_bytes);
        if C::RETIMES {
            // This packet may complete the byte counter and raise the rate at which the next one
            // waits, so count it first.
            control.sent(&mut limited.flow, frame_bytes);
            limited.empty(control, wire_bytes, now);
        } else {
            // The next packet waits at the rate that applied while this one left.
            limited.empty(control, wire_bytes, now);
            control.sent(&mut limited.flow, frame_bytes);
        }
        limited.next_at
    }

    pub(super) fn notified(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        let (limited, first) = self.find_or_start(slot, now);
        limited.hear(control, now, |flow| control.notified(flow, first, now));
    }

    pub(super) fn acknowledged(&mut self, slot: SendSlot, feedback: &Feedback<'_>) {
        self.tell(slot, feedback.now, |control, flow, link| {
            control.acknowledged(flow, link, feedback);
        });
    }

    pub(super) fn lost(&mut self, slot: SendSlot, now: Instant) {
        self.tell(slot, now, |control, flow, link| {
            control.lost(flow, link, now);
        });
    }

    pub(super) fn timed_out(&mut self, slot: SendSlot, packets: u32, now: Instant) {
        self.tell(slot, now, |control, flow, link| {
            control.timed_out(flow, link, u64::from(packets) * link.full);
        });
    }

    /// Passes an event to the control if the queue pair is limited.
    fn tell(&mut self, slot: SendSlot, now: Instant, news: impl FnOnce(&C, &mut C::Flow, &Link)) {
        let (control, place) = (self.control, self.places[slot]);
        if place != UNLIMITED {
            let limited = &mut self.flows[place as usize];
            limited.hear(control, now, |flow| news(&control, flow, &self.link));
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::net::SendSlot;
    use tenter_language::units::{Instant, Rate, Time};

    use super::super::dcqcn::Dcqcn;
    use super::super::link::Link;
    use super::Table;

    const SLOT: SendSlot = SendSlot::new(1);

    /// A packet of 4,158 bytes and 20 between frames takes 33.424 ms at 1 Mb/s. The timer of
    /// NVIDIA's preset raises the rate after 300 us, half of the way to the line.
    #[test]
    fn a_packet_that_waits_leaves_as_soon_as_its_rate_has_filled_the_bucket() {
        let us = |us: u64| Instant::from_ps(us * 1_000_000);
        let line = Rate::from_gbps(400);
        let link = Link::of_gbps(400);
        let mut table = Table::new(Dcqcn::default(), &link, 2);
        table.notified(SLOT, Instant::START);
        table.find(SLOT).expect("it is limited").flow = table.control.cut_to(1_000_000, line);
        let bits = 4_178 * 8;
        // 300 bits by then, the rest at 200 Gb/s.
        let full_at = us(300) + Time::from_ps((bits - 300) * 5);
        let ready_at = table.sent(SLOT, 4158, Instant::START);
        assert!(
            ready_at.saturating_since(full_at) < Time::from_ns(1),
            "{ready_at:?}"
        );
        // Notified meanwhile, it is cut again at the end of the next 4 us, and the timer restarts.
        table.notified(SLOT, us(9));
        let full_at = us(312) + Time::from_ps((bits - 312) * 5);
        let ready_at = table.ready_at(SLOT);
        assert!(
            ready_at.saturating_since(full_at) < Time::from_ns(1),
            "{ready_at:?}"
        );
    }
}
