//! The sending side of a port: a transmitter, and the output queue before it.

use tenter_engine::{Output, Ring};
use tenter_units::{SerialisationTime, Time};

use crate::medium::{Event, EventKind, Medium};
use crate::packet::{Packet, WIRE_OVERHEAD_BYTES};

/// About as many frames as leave a port in one window; two share a cache line.
const TOUCHED_FRAMES: usize = 8;

/// What went through the sending side of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames whose first bit went onto the wire.
    pub sent_frames: u64,
    /// Their frame bytes.
    pub sent_bytes: u64,
    /// Frames dropped because the queue was full.
    pub dropped_frames: u64,
    /// Their frame bytes.
    pub dropped_bytes: u64,
    /// The most frame bytes that ever waited.
    pub queue_high_water_bytes: u64,
}

/// Puts frames onto a wire, one after the other.
///
/// A frame occupies the wire for its frame bytes and [`WIRE_OVERHEAD_BYTES`], at an exact rate:
/// back to back, the fraction of a picosecond left over from one frame is carried into the next.
#[derive(Clone, Debug)]
pub struct Transmitter {
    free_at: u64,
    serialisation: SerialisationTime,
    carried: u32,
    output: Output,
    /// From the wire (its first bit, or its last if the other end stores and forwards) to the other
    /// end's agenda.
    latency: u64,
    arrives_whole: bool,
    node: u32,
    port: u16,
    sent_frames: u64,
    sent_bytes: u64,
    control_frames: u64,
    control_bytes: u64,
}

impl Transmitter {
    /// The transmitter of `port` of `node`, sending to `output`.
    ///
    /// `latency` is the sum of the sender's egress half, the cable and the receiver's ingress half;
    /// with `arrives_whole` it counts from the end of the frame, else (cut-through) from its start.
    pub fn new(
        (node, port): (u32, u16),
        output: Output,
        serialisation: SerialisationTime,
        latency: Time,
        arrives_whole: bool,
    ) -> Transmitter {
        Transmitter {
            free_at: 0,
            serialisation,
            carried: 0,
            output,
            latency: latency.ps(),
            arrives_whole,
            node,
            port,
            sent_frames: 0,
            sent_bytes: 0,
            control_frames: 0,
            control_bytes: 0,
        }
    }

    /// When the wire is free again, in ps.
    #[inline]
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Frames and frame bytes sent so far.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent_frames, self.sent_bytes)
    }

    /// Frames and frame bytes sent so far that carried no payload: acknowledgements and connection
    /// set-up.
    pub fn sent_control(&self) -> (u64, u64) {
        (self.control_frames, self.control_bytes)
    }

    /// Keeps the wire idle for a while after the current frame.
    #[inline]
    pub fn pause_for(&mut self, gap: u64) {
        self.free_at += gap;
    }

    /// Sends a frame whose first bit goes out at `start`, which must not be before the wire is
    /// free.
    #[inline]
    pub fn transmit(&mut self, mut packet: Packet, start: u64, medium: &mut impl Medium) {
        debug_assert!(
            start >= self.free_at,
            "a frame starts before the last one has ended"
        );
        let carried = if start == self.free_at {
            self.carried
        } else {
            0
        };
        let wire_bytes = u32::from(packet.frame_bytes) + WIRE_OVERHEAD_BYTES;
        let (duration, carried) = self.serialisation.of(wire_bytes, carried);
        self.carried = carried;
        self.free_at = start + duration.ps();
        self.sent_frames += 1;
        self.sent_bytes += u64::from(packet.frame_bytes);
        if !packet.kind.is_data() {
            self.control_frames += 1;
            self.control_bytes += u64::from(packet.frame_bytes);
        }
        let from = if self.arrives_whole {
            self.free_at
        } else {
            start
        };
        packet.at = from + self.latency;
        self.note(EventKind::Sent, start, &packet, medium);
        medium.send(self.output, packet);
    }

    #[inline]
    fn note<M: Medium>(&self, kind: EventKind, at: u64, packet: &Packet, medium: &mut M) {
        if M::WATCHED {
            medium.note(Event {
                at,
                node: self.node,
                port: self.port,
                kind,
                packet: *packet,
            });
        }
    }
}

/// An output port of a switch: one FIFO with tail drop in front of a transmitter.
///
/// A frame leaves the queue when its first bit goes onto the wire.
#[derive(Clone, Debug)]
pub struct Port {
    transmitter: Transmitter,
    queue: Ring<Packet>,
    queue_bytes: u64,
    capacity_bytes: u64,
    dropped_frames: u64,
    dropped_bytes: u64,
    queue_high_water_bytes: u64,
}

impl Port {
    /// A port whose queue holds `capacity_bytes` of frames (`None`: any number).
    pub fn new(transmitter: Transmitter, capacity_bytes: Option<u64>) -> Port {
        Port {
            transmitter,
            queue: Ring::default(),
            queue_bytes: 0,
            capacity_bytes: capacity_bytes.unwrap_or(u64::MAX),
            dropped_frames: 0,
            dropped_bytes: 0,
            queue_high_water_bytes: 0,
        }
    }

    /// Takes a frame at `now`: sends it at once, queues it, or drops it. The port is brought to
    /// `now` first.
    #[inline]
    pub fn offer(&mut self, packet: Packet, now: u64, medium: &mut impl Medium) {
        if !self.queue.is_empty() {
            self.advance(now, medium);
        }
        if self.transmitter.free_at <= now && self.queue.is_empty() {
            self.transmitter.transmit(packet, now, medium);
        } else {
            self.enqueue(packet, now, medium);
        }
    }

    fn enqueue(&mut self, packet: Packet, now: u64, medium: &mut impl Medium) {
        let bytes = self.queue_bytes + u64::from(packet.frame_bytes);
        if bytes > self.capacity_bytes {
            self.dropped_frames += 1;
            self.dropped_bytes += u64::from(packet.frame_bytes);
            self.transmitter
                .note(EventKind::Dropped, now, &packet, medium);
            return;
        }
        self.queue_bytes = bytes;
        self.queue_high_water_bytes = self.queue_high_water_bytes.max(bytes);
        self.transmitter
            .note(EventKind::Queued, now, &packet, medium);
        self.queue.push(packet);
    }

    /// Starts every waiting frame whose turn comes at or before `until`.
    #[inline]
    pub fn advance(&mut self, until: u64, medium: &mut impl Medium) {
        while self.transmitter.free_at <= until {
            let Some(packet) = self.queue.pop() else {
                return;
            };
            self.queue_bytes -= u64::from(packet.frame_bytes);
            let start = self.transmitter.free_at;
            self.transmitter.transmit(packet, start, medium);
        }
    }

    /// Its transmitter.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Reads one word of the frames that will leave next, so that a deep queue is in the cache when
    /// they do.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        let first = self.queue.iter().take(TOUCHED_FRAMES).step_by(2);
        first.fold(0, |seen, packet| seen ^ packet.at)
    }

    /// When the next waiting frame starts; `None` when none waits.
    #[inline]
    pub fn next_departure(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.transmitter.free_at)
    }

    /// Frame bytes that wait, at the instant the port was last brought to.
    pub fn queue_bytes(&self) -> u64 {
        self.queue_bytes
    }

    /// The frames that wait, in order.
    pub fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.queue.iter()
    }

    /// What went through so far.
    pub fn counters(&self) -> PortCounters {
        let (sent_frames, sent_bytes) = self.transmitter.sent();
        PortCounters {
            sent_frames,
            sent_bytes,
            dropped_frames: self.dropped_frames,
            dropped_bytes: self.dropped_bytes,
            queue_high_water_bytes: self.queue_high_water_bytes,
        }
    }
}
