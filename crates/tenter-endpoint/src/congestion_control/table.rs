//! State that a congestion control keeps for a NIC's limited queue pairs.

use tenter_net::{Packet, SendSlot, WIRE_OVERHEAD_BYTES};
use tenter_units::{ById, Instant, Rate, Time};

use super::SECOND;
use super::control::{Control, Feedback, PathFeedback};
use super::paths::Paths;

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
    /// Line rate in bits per second.
    line: u64,
    /// Payload bytes that a full packet carries.
    payload: u64,
    /// For each queue pair the index of its state in `flows`, or [`UNLIMITED`].
    places: ById<SendSlot, u32>,
    flows: Vec<Limited<C::Flow>>,
    /// Indices in `flows` that may be used again.
    free: Vec<u32>,
    /// For each queue pair the paths of its packets in flight; empty unless the control learns
    /// paths.
    paths: ById<SendSlot, Paths>,
}

impl<C: Control> Table<C> {
    pub(super) fn new(control: C, line: Rate, payload: u64, slots: usize) -> Table<C> {
        let line = line.bits_per_second();
        Table {
            control: control.on_line(line),
            line,
            payload,
            places: vec![UNLIMITED; slots].into(),
            flows: Vec::new(),
            free: Vec::new(),
            paths: vec![Paths::default(); if C::PATHS { slots } else { 0 }].into(),
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
            let flow = self.control.start(self.line, now);
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
            return self.control.line_window(self.line, self.payload);
        }
        let flow = &self.flows[place as usize].flow;
        self.control.window(flow, self.payload)
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
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            limited.hear(control, feedback.now, |flow| {
                control.acknowledged(flow, feedback);
            });
        }
    }

    /// Remembers the path of a data packet that leaves, if the control learns paths.
    #[inline]
    pub(super) fn leaves(&mut self, slot: SendSlot, packet: &Packet) {
        if C::PATHS {
            self.paths[slot].sent(packet.sent, packet.hash);
        }
    }

    /// Passes on the answer to the packet that left at `sent`, if its path is still remembered.
    #[inline]
    pub(super) fn answered(&mut self, slot: SendSlot, sent: u32, answer: PathFeedback) {
        if !C::PATHS {
            return;
        }
        let control = self.control;
        if let Some(hash) = self.paths[slot].answered(sent)
            && let Some(limited) = self.find(slot)
        {
            let answer = PathFeedback { hash, ..answer };
            limited.hear(control, answer.now, |flow| {
                control.path_answered(flow, &answer);
            });
        }
    }

    pub(super) fn trimmed(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            limited.hear(control, now, |flow| control.trimmed(flow, now));
        }
    }

    pub(super) fn granted(&mut self, slot: SendSlot, bytes: u64, now: Instant) {
        let control = self.control;
        // Unlike other events a grant creates the state: receiver credit may come before the first
        // packet, and it is what lets that packet out.
        let (limited, _) = self.find_or_start(slot, now);
        limited.hear(control, now, |flow| control.granted(flow, bytes, now));
    }

    pub(super) fn lost(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            limited.hear(control, now, |flow| control.lost(flow, now));
        }
    }

    pub(super) fn timed_out(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if C::PATHS {
            self.paths[slot].forget();
        }
        if let Some(limited) = self.find(slot) {
            limited.hear(control, now, |flow| control.timed_out(flow, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_net::{Packet, PacketKind, SendSlot};
    use tenter_topology::HostId;
    use tenter_units::{Instant, Rate, Time};

    use super::super::control::{Control, Feedback, PathFeedback};
    use super::super::dcqcn::Dcqcn;
    use super::Table;

    const OTHER: SendSlot = SendSlot::new(0);
    const SLOT: SendSlot = SendSlot::new(1);

    /// A control that goes by what the receiver grants, and counts what it is told.
    #[derive(Clone, Copy, Debug)]
    struct Told;

    #[derive(Clone, Debug, Default)]
    struct Flow {
        granted: u64,
        trimmed: u32,
        timed_out: u32,
        paths: Vec<PathFeedback>,
    }

    impl Control for Told {
        type Flow = Flow;
        const FROM_START: bool = true;
        const PATHS: bool = true;

        fn on_line(self, _: u64) -> Told {
            self
        }

        fn start(&self, _: u64, _: Instant) -> Flow {
            Flow::default()
        }

        fn rate(&self, _: &mut Flow, _: Instant) -> u64 {
            u64::MAX
        }

        fn window(&self, flow: &Flow, payload: u64) -> u32 {
            (flow.granted / payload) as u32
        }

        fn line_window(&self, _: u64, _: u64) -> u32 {
            0
        }

        fn sent(&self, _: &mut Flow, _: u64) {}

        fn notified(&self, _: &mut Flow, _: bool, _: Instant) {}

        fn acknowledged(&self, _: &mut Flow, _: &Feedback<'_>) {}

        fn timed_out(&self, flow: &mut Flow, _: Instant) {
            flow.timed_out += 1;
        }

        fn path_answered(&self, flow: &mut Flow, answer: &PathFeedback) {
            flow.paths.push(*answer);
        }

        fn trimmed(&self, flow: &mut Flow, _: Instant) {
            flow.trimmed += 1;
        }

        fn granted(&self, flow: &mut Flow, bytes: u64, _: Instant) {
            flow.granted += bytes;
        }

        fn is_over(&self, _: &Flow) -> bool {
            false
        }
    }

    fn table() -> Table<Told> {
        Table::new(Told, Rate::from_gbps(400), 4096, 2)
    }

    fn flow(table: &mut Table<Told>) -> Flow {
        table.find(SLOT).expect("it is limited").flow.clone()
    }

    #[test]
    fn what_a_receiver_grants_opens_the_window() {
        let mut table = table();
        assert_eq!(table.window(SLOT), 0);
        table.granted(SLOT, 3 * 4096, Instant::from_ps(5));
        assert_eq!((table.window(SLOT), table.window(OTHER)), (3, 0));
        table.granted(SLOT, 4096, Instant::from_ps(9));
        assert_eq!(table.window(SLOT), 4);
    }

    #[test]
    fn answers_tell_the_path_of_their_packet() {
        let mut table = table();
        let packet = |sent: u32, hash: u32| Packet {
            at: Instant::START,
            queue_pair: 7,
            sequence: 0,
            destination: HostId::new(3),
            hash,
            sent,
            frame_bytes: 4158,
            kind: PacketKind::Middle,
            flags: 0,
        };
        table.sent(SLOT, 4158, Instant::START);
        table.leaves(SLOT, &packet(100, 0xa));
        table.leaves(SLOT, &packet(200, 0xb));
        let marked = PathFeedback {
            now: Instant::from_ps(77),
            round_trip: Time::from_ps(70),
            marked: true,
            ..PathFeedback::default()
        };
        table.answered(SLOT, 200, marked);
        // What has been answered before, and what was never sent, tell nothing.
        table.answered(SLOT, 200, marked);
        table.answered(OTHER, 100, marked);
        assert_eq!(
            flow(&mut table).paths,
            [PathFeedback {
                hash: 0xb,
                ..marked
            }]
        );
        // After a timeout everything is sent again.
        table.timed_out(SLOT, Instant::from_ps(90));
        table.answered(SLOT, 100, marked);
        let flow = flow(&mut table);
        assert_eq!((flow.timed_out, flow.paths.len()), (1, 1));
    }

    /// A packet of 4,158 bytes and 20 between frames takes 33.424 ms at 1 Mb/s. The timer of
    /// NVIDIA's preset raises the rate after 300 us, half of the way to the line.
    #[test]
    fn a_packet_that_waits_leaves_as_soon_as_its_rate_has_filled_the_bucket() {
        let us = |us: u64| Instant::from_ps(us * 1_000_000);
        let line = Rate::from_gbps(400);
        let mut table = Table::new(Dcqcn::default(), line, 4096, 2);
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

    #[test]
    fn trimmed_packets_are_told_of_where_a_queue_pair_is_limited() {
        let mut table = table();
        table.trimmed(SLOT, Instant::from_ps(3));
        assert!(table.find(SLOT).is_none());
        table.sent(SLOT, 4158, Instant::from_ps(5));
        table.trimmed(SLOT, Instant::from_ps(9));
        assert_eq!(flow(&mut table).trimmed, 1);
    }
}
