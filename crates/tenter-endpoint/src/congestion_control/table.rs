//! The queue pairs of a NIC that a congestion control limits.

use tenter_net::{Packet, SendSlot, WIRE_OVERHEAD_BYTES};
use tenter_units::{ById, Instant, Rate, Time};

use super::control::{Control, Feedback, PathFeedback};
use super::paths::Paths;

/// In place of a flow's number.
const UNLIMITED: u32 = u32::MAX;

/// A queue pair that is limited.
#[derive(Clone, Debug)]
struct Limited<F> {
    /// Its next packet may leave then.
    next_at: Instant,
    flow: F,
}

/// The limited queue pairs of one NIC.
#[derive(Clone, Debug)]
pub(crate) struct Table<C: Control> {
    control: C,
    line: u64,
    /// Bytes that a full packet carries.
    payload: u64,
    /// For each send slot the number of its flow.
    places: ById<SendSlot, u32>,
    flows: Vec<Limited<C::Flow>>,
    free: Vec<u32>,
    /// For each send slot the paths of its packets; empty unless the control is told of them.
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

    /// The flow of a slot, made if there is none; whether it was.
    fn find_or_start(&mut self, slot: SendSlot, now: Instant) -> (&mut Limited<C::Flow>, bool) {
        let mut place = self.places[slot];
        let first = place == UNLIMITED;
        if first {
            let flow = self.control.start(self.line, now);
            let limited = Limited {
                next_at: Instant::START,
                flow,
            };
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
        let rate = control.rate(&mut limited.flow, now);
        let wire_bytes = u64::from(frame_bytes) + u64::from(WIRE_OVERHEAD_BYTES);
        let next_at = now + gap(wire_bytes, rate);
        limited.next_at = next_at;
        if control.is_over(&limited.flow) {
            let place = std::mem::replace(&mut self.places[slot], UNLIMITED);
            self.free.push(place);
        } else {
            control.sent(&mut limited.flow, u64::from(frame_bytes));
        }
        next_at
    }

    pub(super) fn notified(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        let (limited, first) = self.find_or_start(slot, now);
        control.notified(&mut limited.flow, first, now);
    }

    pub(super) fn acknowledged(&mut self, slot: SendSlot, feedback: &Feedback<'_>) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.acknowledged(&mut limited.flow, feedback);
        }
    }

    /// A data packet leaves, whose path the control may be told of.
    #[inline]
    pub(super) fn leaves(&mut self, slot: SendSlot, packet: &Packet) {
        if C::PATHS {
            self.paths[slot].sent(packet.sent, packet.hash);
        }
    }

    /// The packet that left at `sent` is answered.
    #[inline]
    pub(super) fn answered(&mut self, slot: SendSlot, sent: u32, answer: PathFeedback) {
        if !C::PATHS {
            return;
        }
        let control = self.control;
        if let Some(hash) = self.paths[slot].answered(sent)
            && let Some(limited) = self.find(slot)
        {
            control.path_answered(&mut limited.flow, &PathFeedback { hash, ..answer });
        }
    }

    pub(super) fn trimmed(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.trimmed(&mut limited.flow, now);
        }
    }

    pub(super) fn granted(&mut self, slot: SendSlot, bytes: u64, now: Instant) {
        let control = self.control;
        let (limited, _) = self.find_or_start(slot, now);
        control.granted(&mut limited.flow, bytes, now);
    }

    pub(super) fn lost(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.lost(&mut limited.flow, now);
        }
    }

    pub(super) fn timed_out(&mut self, slot: SendSlot, now: Instant) {
        let control = self.control;
        if C::PATHS {
            self.paths[slot].forget();
        }
        if let Some(limited) = self.find(slot) {
            control.timed_out(&mut limited.flow, now);
        }
    }
}

/// How long so many wire bytes take at a rate.
fn gap(wire_bytes: u64, rate: u64) -> Time {
    Time::from_ps(wire_bytes * 8_000_000_000_000 / rate.max(1))
}

#[cfg(test)]
mod tests {
    use tenter_net::{Packet, PacketKind, SendSlot};
    use tenter_topology::HostId;
    use tenter_units::{Instant, Rate, Time};

    use super::super::control::{Control, Feedback, PathFeedback};
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
