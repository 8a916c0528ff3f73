//! The wire side of a port: frames one after the other, and pause frames between them.

mod steady;

use std::sync::Arc;

use tenter_engine::{Output, Stream, prefetch};
use tenter_topology::{CableEnd, NodeId};
use tenter_units::{Instant, SerialisationTime, Time};

use crate::impairment::{Fate, HOLD_MAX, Impairment, ImpairmentSpec};
use crate::medium::{Event, EventKind, Medium};
use crate::packet::{LostCredit, Packet, PacketKind, Pause, WIRE_OVERHEAD_BYTES};
use crate::scheduled::TakenBack;
use crate::telemetry::{Hop, Telemetry};

/// Puts frames onto a wire, one after the other.
///
/// A frame occupies the wire for its frame bytes and [`WIRE_OVERHEAD_BYTES`], at an exact rate:
/// back to back, the fraction of a picosecond left over from one frame is carried into the next.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Transmitter {
    free_at: Instant,
    output: Output,
    /// From the wire (its first bit, or its last if the other end stores and forwards) to the other
    /// end's event list.
    latency: Time,
    serialisation: SerialisationTime,
    /// Frames and frame bytes: without payload, and data.
    sent: [(u64, u64); 2],
    carried: u32,
    port: u16,
    arrives_whole: bool,
    /// Whether a frame needs more than to be put onto the wire: it may be lost or held back there,
    /// or telemetry is written into it.
    is_special: bool,
    node: NodeId,
    mac: MacControl,
    /// Made at the first fault or repair of the link.
    link_faults: Option<Box<LinkFaults>>,
    /// Where telemetry is written, if any is.
    telemetry: Option<Arc<Telemetry>>,
}

/// When the wire of a link that is down is free.
const DARK: Instant = Instant::NEVER;

/// The faults of a link.
#[derive(Clone, Debug, Default)]
struct LinkFaults {
    /// When the last frame before the link went down had ended.
    ended: Instant,
    /// The rest of the frames that were on the wire whenever it went down.
    cut: Time,
    losses: WireLosses,
    impairment: Option<Impairment>,
    /// Whether the other end is notified of lost frames, for their credit, and the number of those
    /// reported.
    returns_lost_credit: bool,
    lost_credit_returned: u64,
}

/// The frames that were sent over a link and did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireLosses {
    /// Frames, without pause frames.
    pub frames: u64,
    /// Their frame bytes.
    pub bytes: u64,
    /// MAC control frames: pause frames, and notices of load balancers.
    pub pauses: u64,
}

/// Where a link leads and how long it takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// The input of the other end for data.
    pub output: Output,
    /// From the wire to the other end's event list.
    pub latency: Time,
    /// Whether that counts from the end of a frame, because the other end takes frames whole.
    pub arrives_whole: bool,
    /// The input of the other end for MAC control frames.
    pub mac_output: Output,
    /// From the end of a MAC control frame to its effect at the other end.
    pub mac_latency: Time,
}

/// Where MAC control frames go, and how many have gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacControl {
    /// The input of the other end that takes them: apart from data, because they pass no pipeline.
    pub output: Output,
    /// From the end of the frame to its effect at the other end: the cable and the response
    /// time of IEEE 802.1Qbb.
    pub latency: Time,
    /// Pause frames that stopped a class.
    pub xoff_frames: u64,
    /// Pause frames that resumed a class.
    pub xon_frames: u64,
}

impl MacControl {
    /// Pause frames of both kinds.
    pub fn frames(&self) -> u64 {
        self.xoff_frames + self.xon_frames
    }
}

impl Transmitter {
    /// The transmitter of a port, sending to `output`.
    ///
    /// `latency` is the sum of the sender's egress half, the cable and the receiver's ingress half;
    /// with `arrives_whole` it counts from the end of the frame, else (cut-through) from its start.
    pub fn new(
        port: CableEnd,
        output: Output,
        serialisation: SerialisationTime,
        latency: Time,
        arrives_whole: bool,
        mac: MacControl,
    ) -> Transmitter {
        Transmitter {
            free_at: Instant::START,
            serialisation,
            carried: 0,
            output,
            latency,
            arrives_whole,
            is_special: false,
            link_faults: None,
            telemetry: None,
            node: port.node,
            port: port.port,
            sent: [(0, 0); 2],
            mac,
        }
    }

    /// Prefetches the data for sending a frame.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.free_at);
        prefetch(&self.sent[1]);
        prefetch(&self.output);
    }

    /// Prefetches the pointers to the place of its next frame, if it leaves at `now` or later.
    #[inline]
    pub(crate) fn prefetch_way(&self, now: Instant, medium: &impl Medium) {
        medium.prefetch_way(self.output, self.next_arrival(now));
    }

    /// Prefetches the place of its next frame.
    #[inline]
    pub(crate) fn prefetch_room(&self, now: Instant, medium: &impl Medium) {
        medium.prefetch_room(self.output, self.next_arrival(now));
    }

    /// About when its next frame arrives, if it leaves at `now` or later.
    #[inline]
    fn next_arrival(&self, now: Instant) -> Instant {
        self.free_at.max(now).saturating_add(self.latency)
    }

    /// Frames and pause frames that were sent and lost on the wire.
    pub fn losses(&self) -> WireLosses {
        self.link_faults
            .as_ref()
            .map_or(WireLosses::default(), |link_faults| link_faults.losses)
    }

    /// Frames and frame bytes that an impairment holds back.
    pub fn held_back(&self) -> (u64, u64) {
        let impairment = self
            .link_faults
            .as_ref()
            .and_then(|t| t.impairment.as_ref());
        impairment.map_or((0, 0), Impairment::held)
    }

    /// Whether its link is down.
    #[inline]
    pub fn is_dark(&self) -> bool {
        self.free_at == DARK
    }

    /// When the last frame has ended, or will; the link's going down cuts it short.
    pub fn last_end(&self) -> Instant {
        match &self.link_faults {
            Some(link_faults) if self.is_dark() => link_faults.ended,
            _ => self.free_at,
        }
    }

    /// What is left at `now` of frames whose last one ends at `end`: bytes on the wire, preambles
    /// and gaps included, rounded up, and at most `most`.
    pub fn unsent_bytes(&self, end: Instant, now: Instant, most: u64) -> u64 {
        let left = end.saturating_since(now);
        let bits = u128::from(self.bits_per_second()) * u128::from(left.ps());
        u64::try_from(bits.div_ceil(8_000_000_000_000)).map_or(most, |bytes| bytes.min(most))
    }

    /// The part of frames counted as sent that was not on the wire, because it went down meanwhile.
    pub fn cut_short(&self) -> Time {
        self.link_faults
            .as_ref()
            .map_or(Time::ZERO, |link_faults| link_faults.cut)
    }

    /// The link goes down at `now`, and the frames under way on it are lost: this number of the
    /// frames that had been sent, without those that are held back.
    pub fn link_down(&mut self, now: Instant, under_way: WireLosses) {
        let link_faults = self.link_faults.get_or_insert_default();
        let held = link_faults
            .impairment
            .as_mut()
            .map_or((0, 0), Impairment::lose_held);
        link_faults.losses.frames += under_way.frames + held.0;
        link_faults.losses.bytes += under_way.bytes + held.1;
        link_faults.losses.pauses += under_way.pauses;
        if self.free_at != DARK {
            link_faults.cut += self.free_at.saturating_since(now);
        }
        link_faults.ended = self.free_at.min(now);
        self.free_at = DARK;
    }

    /// The link comes up at `now`.
    pub fn link_up(&mut self, now: Instant) {
        self.free_at = now;
        self.carried = 0;
    }

    /// Takes back the frames that the link was given and has not begun to send.
    pub(crate) fn take_back(&mut self, back: &TakenBack) {
        for (sent, back) in self.sent.iter_mut().zip(back.sent) {
            sent.0 -= back.0;
            sent.1 -= back.1;
        }
        if !self.is_dark() {
            self.free_at = back.ended;
        }
    }

    /// Frames that were counted as lost were not.
    pub(crate) fn find_again(&mut self, frames: u64, bytes: u64) {
        if let Some(link_faults) = &mut self.link_faults {
            link_faults.losses.frames -= frames;
            link_faults.losses.bytes -= bytes;
        }
    }

    /// Starts no frame until the link comes up again; a frame that has begun ends, and arrives.
    pub(crate) fn hold(&mut self) {
        self.link_faults.get_or_insert_default().ended = self.free_at;
        self.free_at = DARK;
    }

    /// Counts the frames that were under way on the link when its circuit went down, after it was
    /// held.
    pub(crate) fn lose_under_way(&mut self, under_way: WireLosses) {
        let losses = &mut self.link_faults.get_or_insert_default().losses;
        losses.frames += under_way.frames;
        losses.bytes += under_way.bytes;
        losses.pauses += under_way.pauses;
    }

    /// Leads to another port from now on; nothing may be under way.
    pub(crate) fn lead_to(&mut self, far: &FarEnd) {
        self.output = far.output;
        self.latency = far.latency;
        self.arrives_whole = far.arrives_whole;
        self.mac.output = far.mac_output;
        self.mac.latency = far.mac_latency;
    }

    /// Starts no frame before `at`.
    pub(crate) fn wait_until(&mut self, at: Instant) {
        if self.free_at < at {
            self.free_at = at;
            self.carried = 0;
        }
    }

    /// From `now` on frames take another time, and may have to arrive whole. A frame on the wire
    /// ends as before.
    pub fn set_serialisation(
        &mut self,
        serialisation: SerialisationTime,
        arrives_whole: bool,
        now: Instant,
    ) {
        self.serialisation = serialisation;
        self.arrives_whole = arrives_whole;
        self.carried = 0;
        if !self.is_dark() {
            // A frame that no longer has to arrive whole must not arrive together with the last one
            // that had to, nor with one that was held back behind that.
            self.free_at = self.free_at.max(now) + Time::from_ps(u64::from(HOLD_MAX) + 1);
        }
    }

    /// Impairs the link from now on, by chances drawn from a stream.
    pub fn impair(&mut self, spec: ImpairmentSpec, stream: Stream) {
        self.is_special = true;
        self.link_faults.get_or_insert_default().impairment = Some(Impairment::new(spec, stream));
    }

    /// Notifies the other end of frames that are lost by impairments from now on, so that their
    /// credit is not.
    pub fn return_lost_credit(&mut self) {
        if let Some(link_faults) = &mut self.link_faults {
            link_faults.returns_lost_credit = true;
        }
    }

    /// Number of lost frames reported to the other end.
    pub fn lost_credit_returned(&self) -> u64 {
        self.link_faults
            .as_ref()
            .map_or(0, |link_faults| link_faults.lost_credit_returned)
    }

    /// Writes telemetry into data packets from now on.
    pub fn write_telemetry(&mut self, telemetry: Arc<Telemetry>) {
        self.is_special = true;
        self.telemetry = Some(telemetry);
    }

    /// Writes the telemetry of this link into a packet that is about to be sent at `start`, with
    /// this number of frame bytes left in its queue.
    fn stamp(&self, packet: &Packet, start: Instant, queue_bytes: u64) {
        let Some(telemetry) = &self.telemetry else {
            return;
        };
        if packet.kind.is_data()
            && let Some(name) = packet.record()
        {
            let (frames, bytes) = self.sent();
            let gaps = frames * u64::from(WIRE_OVERHEAD_BYTES);
            let hop = Hop {
                link: u64::from(self.node.number()) << 16 | u64::from(self.port),
                at: start,
                sent_bytes: bytes + gaps,
                queue_bytes,
                rate: self.bits_per_second(),
            };
            telemetry.stamp(name, &hop);
        }
    }

    /// The number of its port.
    #[inline]
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// When the wire is free again.
    #[inline]
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Frames and frame bytes sent so far, without pause frames.
    pub fn sent(&self) -> (u64, u64) {
        let [control, data] = self.sent;
        (control.0 + data.0, control.1 + data.1)
    }

    /// Frames and frame bytes sent so far that carried no payload: acknowledgements and connection
    /// set-up.
    pub fn sent_control(&self) -> (u64, u64) {
        self.sent[0]
    }

    /// Data frames and their frame bytes sent so far.
    #[inline]
    pub fn sent_data(&self) -> (u64, u64) {
        self.sent[1]
    }

    /// Packets that it has sent, pause frames among them.
    pub fn packets(&self) -> u64 {
        self.sent().0 + self.mac.frames()
    }

    /// Its MAC control frames.
    pub fn mac(&self) -> &MacControl {
        &self.mac
    }

    /// Keeps the wire idle for a while after the current frame.
    #[inline]
    pub fn pause_for(&mut self, gap: Time) {
        self.free_at += gap;
    }

    /// How long `quanta` of 512 bit times last on this wire.
    pub fn pause_time(&self, quanta: u32) -> Time {
        self.serialisation.of(64, 0).0 * u64::from(quanta)
    }

    /// The time of a number of bytes, to within a picosecond in 64 bytes.
    pub(crate) fn time_of(&self, bytes: u32) -> Time {
        self.serialisation.of(64, 0).0 * u64::from(bytes) / 64
    }

    /// The rate of the wire.
    pub(crate) fn bits_per_second(&self) -> u64 {
        self.serialisation.bits_per_second()
    }

    /// Sends a frame whose first bit goes out at `start`, which must not be before the wire is
    /// free.
    #[inline]
    pub fn transmit<M: Medium>(&mut self, packet: &Packet, start: Instant, medium: &mut M) {
        self.transmit_from(None, packet, start, medium);
    }

    /// The same with a frame from a queue in which this number of frame bytes is left.
    #[inline]
    pub(crate) fn transmit_queued<M: Medium>(
        &mut self,
        packet: &Packet,
        start: Instant,
        queue_bytes: u64,
        medium: &mut M,
    ) {
        self.transmit_from(Some(queue_bytes), packet, start, medium);
    }

    /// The same with a frame that may be from a queue.
    #[inline]
    fn transmit_from<M: Medium>(
        &mut self,
        queue_bytes: Option<u64>,
        packet: &Packet,
        start: Instant,
        medium: &mut M,
    ) {
        if self.is_special {
            self.transmit_specially(*packet, start, queue_bytes, medium);
        } else {
            let at = self.put(packet, start, medium);
            medium.send(self.output, at, packet);
        }
    }

    /// Sends a frame into which telemetry is written, or over an impaired link.
    ///
    /// It takes the packet itself: without a reference it need not be put together in memory.
    #[inline(never)]
    fn transmit_specially<M: Medium>(
        &mut self,
        packet: Packet,
        start: Instant,
        queue_bytes: Option<u64>,
        medium: &mut M,
    ) {
        if let Some(queue_bytes) = queue_bytes {
            self.stamp(&packet, start, queue_bytes);
        }
        let at = self.put(&packet, start, medium);
        let link_faults = self.link_faults.as_ref();
        if link_faults.is_some_and(|link_faults| link_faults.impairment.is_some()) {
            self.send_impaired(at, &packet, medium);
        } else {
            medium.send(self.output, at, &packet);
        }
    }

    /// Puts a frame onto the wire; when it reaches the other end.
    #[inline]
    fn put<M: Medium>(&mut self, packet: &Packet, start: Instant, medium: &mut M) -> Instant {
        self.occupy(u32::from(packet.frame_bytes) + WIRE_OVERHEAD_BYTES, start);
        // Without a branch: whether data or an acknowledgement comes is unpredictable.
        let sent = &mut self.sent[usize::from(packet.kind.is_data())];
        sent.0 += 1;
        sent.1 += u64::from(packet.frame_bytes);
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
        at
    }

    /// Sends a frame over an impaired link.
    fn send_impaired<M: Medium>(&mut self, at: Instant, packet: &Packet, medium: &mut M) {
        let Some(link_faults) = &mut self.link_faults else {
            return;
        };
        let LinkFaults {
            losses,
            impairment,
            returns_lost_credit,
            lost_credit_returned,
            ..
        } = &mut **link_faults;
        let Some(impairment) = impairment else {
            return;
        };
        match impairment.fate(packet) {
            Fate::Lost => {
                losses.frames += 1;
                losses.bytes += u64::from(packet.frame_bytes);
                if *returns_lost_credit {
                    *lost_credit_returned += 1;
                    let at = self.free_at + self.mac.latency;
                    medium.send(self.mac.output, at, &LostCredit::report_of(packet));
                }
                let lost = Packet { at, ..*packet };
                self.note(EventKind::LostOnWire, at, &lost, medium);
            }
            Fate::Held(behind) => impairment.hold(*packet, self.output, behind),
            Fate::Passes => {
                medium.send(self.output, at, packet);
                impairment.follow(at, |output, at, packet| medium.send(output, at, packet));
            }
        }
    }

    /// Whether a MAC control frame is lost on its way; counted if so. Flow-control packets are
    /// repeated until they arrive, and so are not.
    fn loses_control(&mut self, packet: &Packet) -> bool {
        if packet.kind == PacketKind::FlowControl {
            return false;
        }
        let Some(link_faults) = &mut self.link_faults else {
            return false;
        };
        let impairment = link_faults.impairment.as_mut();
        let lost = impairment.is_some_and(|work| work.fate(packet) == Fate::Lost);
        link_faults.losses.pauses += u64::from(lost);
        lost
    }

    /// Sends a pause frame for a class as soon as the wire is free: before all waiting frames. Zero
    /// quanta resume the class.
    pub fn pause(&mut self, class: u8, quanta: u16, now: Instant, medium: &mut impl Medium) {
        self.send_pause(Packet::pause(class, quanta), now, medium);
    }

    /// The same with a given pause frame.
    pub(crate) fn send_pause(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        if Pause::of(&packet).quanta == 0 {
            self.mac.xon_frames += 1;
        } else {
            self.mac.xoff_frames += 1;
        }
        self.send_control(packet, now, medium);
    }

    /// Sends a MAC control frame or a flow-control packet as soon as the wire is free: before all
    /// waiting frames.
    pub fn send_control(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        if self.is_dark() {
            self.link_faults.get_or_insert_default().losses.pauses += 1;
            return;
        }
        let start = self.free_at.max(now);
        self.occupy(packet.wire_bytes_of_control(), start);
        let at = self.free_at + self.mac.latency;
        let packet = Packet { at, ..packet };
        self.note(EventKind::Sent, start, &packet, medium);
        if self.loses_control(&packet) {
            self.note(EventKind::LostOnWire, at, &packet, medium);
        } else {
            medium.send(self.mac.output, at, &packet);
        }
    }

    #[inline]
    fn occupy(&mut self, wire_bytes: u32, start: Instant) {
        debug_assert!(
            start >= self.free_at,
            "a frame starts before the last one has ended"
        );
        let carried = if start == self.free_at {
            self.carried
        } else {
            0
        };
        let (duration, carried) = self.serialisation.of(wire_bytes, carried);
        self.carried = carried;
        self.free_at = start + duration;
    }

    /// Tells a medium that is watched that something has happened to a packet at this port.
    #[inline]
    pub fn note<M: Medium>(&self, kind: EventKind, at: Instant, packet: &Packet, medium: &mut M) {
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
