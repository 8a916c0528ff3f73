//! The wire side of a port: frames one after the other, and pause frames between them.

use tenter_engine::Output;
use tenter_units::{SerialisationTime, Time};

use crate::medium::{Event, EventKind, Medium};
use crate::packet::{PAUSE_FRAME_BYTES, Packet, PacketKind, WIRE_OVERHEAD_BYTES};

/// Puts frames onto a wire, one after the other.
///
/// A frame occupies the wire for its frame bytes and [`WIRE_OVERHEAD_BYTES`], at an exact rate:
/// back to back, the fraction of a picosecond left over from one frame is carried into the next.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Transmitter {
    free_at: u64,
    output: Output,
    /// From the wire (its first bit, or its last if the other end stores and forwards) to the other
    /// end's agenda.
    latency: u64,
    serialisation: SerialisationTime,
    sent_frames: u64,
    sent_bytes: u64,
    carried: u32,
    port: u16,
    arrives_whole: bool,
    node: u32,
    control_frames: u64,
    control_bytes: u64,
    mac: MacControl,
}

/// Where MAC control frames go, and how many have gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacControl {
    /// The input of the other end that takes them: apart from data, for they pass no pipeline.
    pub output: Output,
    /// From the end of the frame to the instant from which the other end obeys, in ps: the cable
    /// and the response time of IEEE 802.1Qbb.
    pub latency: u64,
    /// Pause frames that stopped a class.
    pub xoff_frames: u64,
    /// Pause frames that let a class go on.
    pub xon_frames: u64,
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
        (latency, arrives_whole): (Time, bool),
        mac: MacControl,
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
            mac,
        }
    }

    /// When the wire is free again, in ps.
    #[inline]
    pub fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Frames and frame bytes sent so far, without pause frames.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent_frames, self.sent_bytes)
    }

    /// Frames and frame bytes sent so far that carried no payload: acknowledgements and connection
    /// set-up.
    pub fn sent_control(&self) -> (u64, u64) {
        (self.control_frames, self.control_bytes)
    }

    /// Its MAC control frames.
    pub fn mac(&self) -> &MacControl {
        &self.mac
    }

    /// Keeps the wire idle for a while after the current frame.
    #[inline]
    pub fn pause_for(&mut self, gap: u64) {
        self.free_at += gap;
    }

    /// How long `quanta` of 512 bit times last on this wire, in ps.
    pub fn pause_time(&self, quanta: u32) -> u64 {
        self.serialisation.of(64, 0).0.ps() * u64::from(quanta)
    }

    /// How long so many bytes take, in ps, to within a picosecond in 64 bytes.
    pub(crate) fn time_of(&self, bytes: u32) -> u64 {
        self.serialisation.of(64, 0).0.ps() * u64::from(bytes) / 64
    }

    /// The rate of the wire.
    pub(crate) fn bits_per_second(&self) -> u64 {
        self.serialisation.bits_per_second()
    }

    /// Sends a frame whose first bit goes out at `start`, which must not be before the wire is
    /// free.
    #[inline]
    pub fn transmit<M: Medium>(&mut self, packet: &Packet, start: u64, medium: &mut M) {
        self.occupy(packet.frame_bytes, start);
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
        let at = from + self.latency;
        if M::WATCHED {
            let packet = Packet { at, ..*packet };
            self.note(EventKind::Sent, start, &packet, medium);
        }
        medium.send(self.output, at, packet);
    }

    /// Sends a pause frame for a class as soon as the wire is free: before everything that waits.
    /// Zero quanta let the class go on.
    pub fn pause(&mut self, class: u8, quanta: u16, now: u64, medium: &mut impl Medium) {
        let start = self.free_at.max(now);
        self.occupy(PAUSE_FRAME_BYTES, start);
        let packet = Packet {
            at: self.free_at + self.mac.latency,
            queue_pair: 0,
            sequence: u32::from(quanta),
            destination: u32::MAX,
            hash: 0,
            sent: 0,
            frame_bytes: PAUSE_FRAME_BYTES,
            kind: PacketKind::Pause,
            flags: Packet::class_flags(class),
        };
        if quanta == 0 {
            self.mac.xon_frames += 1;
        } else {
            self.mac.xoff_frames += 1;
        }
        self.note(EventKind::Sent, start, &packet, medium);
        medium.send(self.mac.output, packet.at, &packet);
    }

    #[inline]
    fn occupy(&mut self, frame_bytes: u16, start: u64) {
        debug_assert!(
            start >= self.free_at,
            "a frame starts before the last one has ended"
        );
        let carried = if start == self.free_at {
            self.carried
        } else {
            0
        };
        let wire_bytes = u32::from(frame_bytes) + WIRE_OVERHEAD_BYTES;
        let (duration, carried) = self.serialisation.of(wire_bytes, carried);
        self.carried = carried;
        self.free_at = start + duration.ps();
    }

    #[inline]
    pub(crate) fn note<M: Medium>(
        &self,
        kind: EventKind,
        at: u64,
        packet: &Packet,
        medium: &mut M,
    ) {
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
