//! The queue pairs of a NIC that a congestion control limits.

use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_units::Rate;

use super::control::{Control, Feedback};

/// In place of a flow's number.
const UNLIMITED: u32 = u32::MAX;

/// A queue pair that is limited.
#[derive(Clone, Debug)]
struct Limited<F> {
    /// Its next packet may leave then, in ps.
    next_at: u64,
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
    places: Vec<u32>,
    flows: Vec<Limited<C::Flow>>,
    free: Vec<u32>,
}

impl<C: Control> Table<C> {
    pub(super) fn new(control: C, (line, payload): (Rate, u64), slots: usize) -> Table<C> {
        let line = line.bits_per_second();
        Table {
            control: control.on_line(line),
            line,
            payload,
            places: vec![UNLIMITED; slots],
            flows: Vec::new(),
            free: Vec::new(),
        }
    }

    fn find(&mut self, slot: u32) -> Option<&mut Limited<C::Flow>> {
        let place = self.places[slot as usize];
        (place != UNLIMITED).then(|| &mut self.flows[place as usize])
    }

    /// The flow of a slot, made if there is none; whether it was.
    fn find_or_start(&mut self, slot: u32, now: u64) -> (&mut Limited<C::Flow>, bool) {
        let mut place = self.places[slot as usize];
        let first = place == UNLIMITED;
        if first {
            let flow = self.control.start(self.line, now);
            let limited = Limited { next_at: 0, flow };
            if let Some(free) = self.free.pop() {
                place = free;
                self.flows[place as usize] = limited;
            } else {
                place = self.flows.len() as u32;
                self.flows.push(limited);
            }
            self.places[slot as usize] = place;
        }
        (&mut self.flows[place as usize], first)
    }

    pub(super) fn ready_at(&self, slot: u32) -> u64 {
        let place = self.places[slot as usize];
        if place == UNLIMITED {
            return 0;
        }
        self.flows[place as usize].next_at
    }

    pub(super) fn window(&self, slot: u32) -> u32 {
        let place = self.places[slot as usize];
        if place == UNLIMITED {
            return self.control.line_window(self.line, self.payload);
        }
        let flow = &self.flows[place as usize].flow;
        self.control.window(flow, self.payload)
    }

    pub(super) fn sent(&mut self, slot: u32, frame_bytes: u16, now: u64) -> u64 {
        let control = self.control;
        let limited = if C::FROM_START {
            self.find_or_start(slot, now).0
        } else if let Some(limited) = self.find(slot) {
            limited
        } else {
            return 0;
        };
        let rate = control.rate(&mut limited.flow, now);
        let wire_bytes = u64::from(frame_bytes) + u64::from(WIRE_OVERHEAD_BYTES);
        let next_at = now + gap(wire_bytes, rate);
        limited.next_at = next_at;
        if control.is_over(&limited.flow) {
            let place = std::mem::replace(&mut self.places[slot as usize], UNLIMITED);
            self.free.push(place);
        } else {
            control.sent(&mut limited.flow, u64::from(frame_bytes));
        }
        next_at
    }

    pub(super) fn notified(&mut self, slot: u32, now: u64) {
        let control = self.control;
        let (limited, first) = self.find_or_start(slot, now);
        control.notified(&mut limited.flow, first, now);
    }

    pub(super) fn acknowledged(&mut self, slot: u32, feedback: &Feedback<'_>) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.acknowledged(&mut limited.flow, feedback);
        }
    }

    pub(super) fn lost(&mut self, slot: u32, now: u64) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.lost(&mut limited.flow, now);
        }
    }

    pub(super) fn timed_out(&mut self, slot: u32, now: u64) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.timed_out(&mut limited.flow, now);
        }
    }
}

/// How long so many wire bytes take at a rate, in ps.
fn gap(wire_bytes: u64, rate: u64) -> u64 {
    wire_bytes * 8_000_000_000_000 / rate.max(1)
}
