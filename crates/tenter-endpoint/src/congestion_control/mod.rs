//! How senders slow down when the network is congested.
//!
//! A member is a `Control`: it keeps a few words for each queue pair that it limits, and answers
//! with a rate, a window, or both. Nothing is kept for a queue pair that is not limited. Timers are
//! no events: they are caught up when the queue pair is next touched.

use std::ops::RangeInclusive;

use tenter_net::{Hop, WIRE_OVERHEAD_BYTES};
use tenter_units::{Rate, Time};

pub mod dcqcn;
pub mod hpcc;
pub mod swift;
pub mod timely;

pub use dcqcn::Dcqcn;
pub use hpcc::Hpcc;
pub use swift::Swift;
pub use timely::Timely;

/// No timer and no threshold is longer.
const SECOND: Time = Time::from_us(1_000_000);
/// Timers are no finer: a million steps a second are caught up one by one.
const TICK_MIN: Time = Time::from_ns(100);
/// Rates of increase, and least rates.
const RATES: RangeInclusive<Rate> = Rate::from_bits_per_second(1_000)..=Rate::from_gbps(100_000);

/// The congestion control of all NICs of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// Rates fall with each notification, and rise with time and bytes.
    Dcqcn(Dcqcn),
    /// Rates follow the round-trip time and its gradient.
    Timely(Timely),
    /// Windows follow the round-trip time.
    Swift(Swift),
    /// Windows follow what switches say of their links.
    Hpcc(Hpcc),
}

impl CongestionControl {
    /// Hops of in-band telemetry for which data packets have room, if they carry any.
    pub fn telemetry_hops(&self) -> Option<u8> {
        match self {
            CongestionControl::Hpcc(hpcc) => Some(hpcc.hops),
            _ => None,
        }
    }

    /// Frame bytes that data packets and their answers have for in-band telemetry.
    pub fn telemetry_bytes(&self) -> u32 {
        match self {
            CongestionControl::Hpcc(hpcc) => hpcc.header_bytes(),
            _ => 0,
        }
    }
}

/// What an acknowledgement says about the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Feedback<'a> {
    /// When it arrived, in ps.
    pub(crate) now: u64,
    /// From the first bit of the packet that asked for it to its arrival, in ps.
    pub(crate) round_trip: u64,
    /// Packets it acknowledges that were not before.
    pub(crate) packets: u32,
    /// The packet that the receiver expects next, and the one that is sent next.
    pub(crate) sequence: u32,
    pub(crate) next_sequence: u32,
    /// What switches have written into the packet that it answers.
    pub(crate) hops: &'a [Hop],
}

/// One congestion control: its parameters, which all NICs of a rate share.
pub(crate) trait Control: Copy {
    /// What is kept for a queue pair that is limited.
    type Flow: Clone + std::fmt::Debug;
    /// Whether a queue pair is limited from its first packet; else from its first notification.
    const FROM_START: bool;

    /// With what depends on the line rate, in bits per second.
    fn on_line(self, line: u64) -> Self;

    /// A queue pair begins to be limited at `now`.
    fn start(&self, line: u64, now: u64) -> Self::Flow;

    /// The rate at which a packet is sent whose first bit leaves at `now`, in bits per second;
    /// `u64::MAX` for that of the line.
    fn rate(&self, flow: &mut Self::Flow, now: u64) -> u64;

    /// Packets that may be unacknowledged, where a full one carries so many bytes.
    fn window(&self, _: &Self::Flow, _payload: u64) -> u32 {
        u32::MAX
    }

    /// The same for a queue pair that is not limited.
    fn line_window(&self, _line: u64, _payload: u64) -> u32 {
        u32::MAX
    }

    /// A packet has been sent.
    fn sent(&self, flow: &mut Self::Flow, frame_bytes: u64);

    /// A congestion notification has arrived: the first one, or a later one.
    fn notified(&self, flow: &mut Self::Flow, first: bool, now: u64);

    /// An acknowledgement has arrived.
    fn acknowledged(&self, flow: &mut Self::Flow, feedback: &Feedback<'_>);

    /// The receiver lacks packets.
    fn lost(&self, _: &mut Self::Flow, _: u64) {}

    /// Whether the queue pair is no longer limited.
    fn is_over(&self, flow: &Self::Flow) -> bool;
}

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
    fn new(control: C, (line, payload): (Rate, u64), slots: usize) -> Table<C> {
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

    fn ready_at(&self, slot: u32) -> u64 {
        let place = self.places[slot as usize];
        if place == UNLIMITED {
            return 0;
        }
        self.flows[place as usize].next_at
    }

    fn window(&self, slot: u32) -> u32 {
        let place = self.places[slot as usize];
        if place == UNLIMITED {
            return self.control.line_window(self.line, self.payload);
        }
        let flow = &self.flows[place as usize].flow;
        self.control.window(flow, self.payload)
    }

    fn sent(&mut self, slot: u32, frame_bytes: u16, now: u64) -> u64 {
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

    fn notified(&mut self, slot: u32, now: u64) {
        let control = self.control;
        let (limited, first) = self.find_or_start(slot, now);
        control.notified(&mut limited.flow, first, now);
    }

    fn acknowledged(&mut self, slot: u32, feedback: &Feedback<'_>) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.acknowledged(&mut limited.flow, feedback);
        }
    }

    fn lost(&mut self, slot: u32, now: u64) {
        let control = self.control;
        if let Some(limited) = self.find(slot) {
            control.lost(&mut limited.flow, now);
        }
    }
}

/// How long so many wire bytes take at a rate, in ps.
fn gap(wire_bytes: u64, rate: u64) -> u64 {
    wire_bytes * 8_000_000_000_000 / rate.max(1)
}

/// `value` times `part` over `whole`, rounded down.
pub(crate) fn part_of(value: u64, part: u64, whole: u64) -> u64 {
    (u128::from(value) * u128::from(part) / u128::from(whole)) as u64
}

/// The congestion control of one NIC.
#[derive(Clone, Debug)]
pub(crate) enum Congestion {
    Dcqcn(Table<Dcqcn>),
    Timely(Table<Timely>),
    Swift(Table<Swift>),
    Hpcc(Table<Hpcc>),
}

/// The same expression for the table of each member.
macro_rules! on_table {
    ($congestion:expr, $table:ident => $do:expr) => {
        match $congestion {
            Congestion::Dcqcn($table) => $do,
            Congestion::Timely($table) => $do,
            Congestion::Swift($table) => $do,
            Congestion::Hpcc($table) => $do,
        }
    };
}

impl Congestion {
    /// For a NIC with so many send slots on a line of this rate, whose full packets carry so many
    /// bytes.
    pub(crate) fn new(control: &CongestionControl, line: (Rate, u64), slots: usize) -> Congestion {
        match control {
            CongestionControl::Dcqcn(control) => {
                Congestion::Dcqcn(Table::new(*control, line, slots))
            }
            CongestionControl::Timely(control) => {
                Congestion::Timely(Table::new(*control, line, slots))
            }
            CongestionControl::Swift(control) => {
                Congestion::Swift(Table::new(*control, line, slots))
            }
            CongestionControl::Hpcc(control) => Congestion::Hpcc(Table::new(*control, line, slots)),
        }
    }

    /// When a queue pair may send its next packet, in ps.
    pub(crate) fn ready_at(&self, slot: u32) -> u64 {
        on_table!(self, table => table.ready_at(slot))
    }

    /// Packets that a queue pair may have unacknowledged.
    pub(crate) fn window(&self, slot: u32) -> u32 {
        on_table!(self, table => table.window(slot))
    }

    /// A queue pair has sent a packet whose first bit left at `now`; when it may send the next one,
    /// in ps.
    pub(crate) fn sent(&mut self, slot: u32, frame_bytes: u16, now: u64) -> u64 {
        on_table!(self, table => table.sent(slot, frame_bytes, now))
    }

    /// A congestion notification has arrived for a queue pair.
    pub(crate) fn notified(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.notified(slot, now));
    }

    /// An acknowledgement has arrived for a queue pair.
    pub(crate) fn acknowledged(&mut self, slot: u32, feedback: &Feedback<'_>) {
        on_table!(self, table => table.acknowledged(slot, feedback));
    }

    /// The receiver of a queue pair lacks packets.
    pub(crate) fn lost(&mut self, slot: u32, now: u64) {
        on_table!(self, table => table.lost(slot, now));
    }
}
