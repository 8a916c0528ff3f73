//! A port's wire side: frames one after the other, and control frames between them.

mod steady;

use std::sync::Arc;

use crate::topology::{CableEnd, NodeId};
use tenter_engine::{Output, Stream, prefetch};
use tenter_language::units::{Instant, SerialisationTime, Time};

use crate::net::impairment::{Fate, HOLD_MAX, Impairment, ImpairmentSpec};
use crate::net::medium::{Event, EventKind, Medium};
use crate::net::packet::{LostCredit, Packet, PacketKind, Pause, WIRE_OVERHEAD_BYTES};
use crate::net::scheduled::TakenBack;
use crate::net::telemetry::{Hop, Telemetry};

/// Puts frames onto a wire, one after the other.
///
/// A frame occupies the wire for its frame bytes and [`WIRE_OVERHEAD_BYTES`], at an exact rate:
/// back to back, the fraction of a picosecond left over from one frame is carried into the next.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Transmitter {
    /// Instant at which the wire is free again; [`DARK`] while the link is down or held.
    free_at: Instant,
    output: Output,
    /// Delay from the wire to the other end's event list, counted as `arrives_whole` says.
    latency: Time,
    serialisation: SerialisationTime,
    /// Frames and frame bytes sent: without payload, and data.
    sent: [(u64, u64); 2],
    /// Fraction of a picosecond left over from the last frame, as `serialisation` counts it.
    carried: u32,
    port: u16,
    /// True if the latency counts from a frame's last bit, false (cut-through) from its first.
    arrives_whole: bool,
    /// True if a frame needs more than the wire: an impairment may lose or hold it, or telemetry is
    /// written into it.
    is_special: bool,
    node: NodeId,
    mac: MacControl,
    /// Allocated at the first fault or impairment of the link.
    link_faults: Option<Box<LinkFaults>>,
    /// Records that telemetry is written into, if the link writes any.
    telemetry: Option<Arc<Telemetry>>,
}

/// `free_at` while the link is down or held.
const DARK: Instant = Instant::NEVER;

/// A link's faults and impairment.
#[derive(Clone, Debug, Default)]
struct LinkFaults {
    /// Instant at which the last frame ended before the link went down.
    ended: Instant,
    /// Time that frames cut off by link failures still needed, summed over all failures.
    cut: Time,
    /// Frames lost on the wire so far.
    losses: WireLosses,
    impairment: Option<Impairment>,
    /// True if lost frames are reported to the other end, which then returns their credit.
    returns_lost_credit: bool,
    /// Lost frames that were reported so far.
    lost_credit_returned: u64,
}

/// Frames that were sent over a link and did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireLosses {
    /// Lost frames, without MAC control frames.
    pub frames: u64,
    /// Frame bytes lost on the wire.
    pub bytes: u64,
    /// Lost MAC control frames: pause frames, and load balancers' notices.
    pub pauses: u64,
}

/// A link's other end, and the delays to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Input at the other end for data.
    pub output: Output,
    /// Delay from the wire to the other end's event list.
    pub latency: Time,
    /// True if `latency` counts from a frame's end, because the other end takes frames whole.
    pub arrives_whole: bool,
    /// Input at the other end for MAC control frames.
    pub mac_output: Output,
    /// Delay from a MAC control frame's end to its effect at the other end.
    pub mac_latency: Time,
}

/// A link's MAC control: its input at the other end, its delay, and its pause frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacControl {
    /// Input at the other end for control frames, apart from data: they pass no pipeline (decision
    /// 0005).
    pub output: Output,
    /// Delay from a frame's end to its effect at the other end: the cable and the response time of
    /// IEEE 802.1Qbb.
    pub latency: Time,
    /// XOFF frames sent, which pause a class.
    pub xoff_frames: u64,
    /// XON frames sent, which resume a class.
    pub xon_frames: u64,
}

impl MacControl {
    /// Returns how many pause frames were sent, XOFF and XON together.
    pub fn frames(&self) -> u64 {
        self.xoff_frames + self.xon_frames
    }
}

impl Transmitter {
    /// Makes a port's transmitter, sending to `output`.
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

    /// Prefetches the fields that sending a frame needs.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.free_at);
        prefetch(&self.sent[1]);
        prefetch(&self.output);
    }

    /// Prefetches the pointers to its next frame's place, if that leaves at `now` or later.
    #[inline]
    pub(crate) fn prefetch_way(&self, now: Instant, medium: &impl Medium) {
        medium.prefetch_way(self.output, self.next_arrival(now));
    }

    /// Prefetches its next frame's place, if that leaves at `now` or later.
    #[inline]
    pub(crate) fn prefetch_room(&self, now: Instant, medium: &impl Medium) {
        medium.prefetch_room(self.output, self.next_arrival(now));
    }

    /// Estimates its next frame's arrival, if that leaves at `now` or later.
    #[inline]
    fn next_arrival(&self, now: Instant) -> Instant {
        self.free_at.max(now).saturating_add(self.latency)
    }

    /// Returns the frames that were sent and lost on the wire.
    pub fn losses(&self) -> WireLosses {
        self.link_faults
            .as_ref()
            .map_or(WireLosses::default(), |link_faults| link_faults.losses)
    }

    /// Returns the frames and frame bytes that an impairment holds back at the moment.
    pub fn held_back(&self) -> (u64, u64) {
        let impairment = self
            .link_faults
            .as_ref()
            .and_then(|t| t.impairment.as_ref());
        impairment.map_or((0, 0), Impairment::held)
    }

    /// Returns true if the link is down or held.
    #[inline]
    pub fn is_dark(&self) -> bool {
        self.free_at == DARK
    }

    /// Returns when the last frame ended or will end; a link failure cuts that frame short.
    pub fn last_end(&self) -> Instant {
        match &self.link_faults {
            Some(link_faults) if self.is_dark() => link_faults.ended,
            _ => self.free_at,
        }
    }

    /// Returns the bytes left at `now` if the last frame ends at `end`, preambles and gaps
    /// included, rounded up, and `most` at most.
    pub fn unsent_bytes(&self, end: Instant, now: Instant, most: u64) -> u64 {
        let left = end.saturating_since(now);
        let bits = u128::from(self.bits_per_second()) * u128::from(left.ps());
        // 8 bits a byte times 10^12 ps a second.
        u64::try_from(bits.div_ceil(8_000_000_000_000)).map_or(most, |bytes| bytes.min(most))
    }

    /// Returns the wire time that link failures have cut off frames counted as sent.
    pub fn cut_short(&self) -> Time {
        self.link_faults
            .as_ref()
            .map_or(Time::ZERO, |link_faults| link_faults.cut)
    }

    /// Handles a link that goes down at `now`. The frames `under_way` are lost, as are those that
    /// an impairment holds back, which `under_way` does not include.
    pub fn link_down(&mut self, now: Instant, under_way: WireLosses) {
        let link_faults = self.link_faults.get_or_insert_default();
        let held = link_faults
            .impairment
            .as_mut()
            .map_or((0, 0), Impairment::lose_held);
        link_faults.losses.frames += under_way.frames + held.0;
        link_faults.losses.bytes += under_way.bytes + held.1;
        link_faults.losses.pauses += under_way.pauses;
        // A held link is dark already, and its last frame was left to end.
        if self.free_at != DARK {
            link_faults.cut += self.free_at.saturating_since(now);
        }
        link_faults.ended = self.free_at.min(now);
        self.free_at = DARK;
    }

    /// Handles a link that comes up at `now`.
    pub fn link_up(&mut self, now: Instant) {
        self.free_at = now;
        self.carried = 0;
    }

    /// Uncounts the frames that the link was given and had not begun to send.
    pub(crate) fn take_back(&mut self, back: &TakenBack) {
        for (sent, back) in self.sent.iter_mut().zip(back.sent) {
            sent.0 -= back.0;
            sent.1 -= back.1;
        }
        if !self.is_dark() {
            self.free_at = back.ended;
        }
    }

    /// Uncounts frames that were counted as lost although they had not begun to be sent.
    pub(crate) fn find_again(&mut self, frames: u64, bytes: u64) {
        if let Some(link_faults) = &mut self.link_faults {
            link_faults.losses.frames -= frames;
            link_faults.losses.bytes -= bytes;
        }
    }

    /// Starts no frame until the link comes up again; a frame that has begun ends, and arrives.
    pub(crate) fn hold(&mut self) {
        // Unlike a failure, this does not cut the frame on the wire short.
        self.link_faults.get_or_insert_default().ended = self.free_at;
        self.free_at = DARK;
    }

    /// Counts the frames that were under way when a held link's circuit went down.
    pub(crate) fn lose_under_way(&mut self, under_way: WireLosses) {
        let losses = &mut self.link_faults.get_or_insert_default().losses;
        losses.frames += under_way.frames;
        losses.bytes += under_way.bytes;
        losses.pauses += under_way.pauses;
    }

    /// Leads to another port from now on; nothing may be under way on the link.
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

    /// Changes the rate from `now` on, and with it whether frames must arrive whole. A frame on the
    /// wire ends as before.
    pub fn set_serialisation(
        &mut self,
        serialisation: SerialisationTime,
        arrives_whole: bool,
        now: Instant,
    ) {
        self.serialisation = serialisation;
        self.arrives_whole = arrives_whole;
        // A fraction left over at the old rate is void at the new one.
        self.carried = 0;
        if !self.is_dark() {
            // The next frame, if it need not arrive whole any more, must not arrive together with
            // the last one that had to, nor with a frame that an impairment holds behind that one.
            self.free_at = self.free_at.max(now) + Time::from_ps(u64::from(HOLD_MAX) + 1);
        }
    }

    /// Impairs the link from now on; `stream` draws which frames are affected.
    pub fn impair(&mut self, spec: ImpairmentSpec, stream: Stream) {
        self.is_special = true;
        self.link_faults.get_or_insert_default().impairment = Some(Impairment::new(spec, stream));
    }

    /// Reports frames lost by the link's impairment to the other end from now on, so that their
    /// credit returns. Must follow [`Transmitter::impair`]: on a link without impairment it does
    /// nothing.
    pub fn return_lost_credit(&mut self) {
        if let Some(link_faults) = &mut self.link_faults {
            link_faults.returns_lost_credit = true;
        }
    }

    /// Returns how many lost frames were reported to the other end.
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

    /// Writes this link's telemetry into a packet that starts at `start` and leaves `queue_bytes`
    /// in its queue.
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

    #[inline]
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the instant at which the wire is free again; [`Instant::NEVER`] on a dark link.
    #[inline]
    pub fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Returns the frames and frame bytes sent so far, without MAC control frames.
    pub fn sent(&self) -> (u64, u64) {
        let [control, data] = self.sent;
        (control.0 + data.0, control.1 + data.1)
    }

    /// Returns the frames and frame bytes sent so far without payload: acknowledgements and
    /// connection set-up.
    pub fn sent_control(&self) -> (u64, u64) {
        self.sent[0]
    }

    /// Returns the data frames sent so far, and their frame bytes.
    #[inline]
    pub fn sent_data(&self) -> (u64, u64) {
        self.sent[1]
    }

    /// Returns how many packets were sent, pause frames among them.
    pub fn packets(&self) -> u64 {
        self.sent().0 + self.mac.frames()
    }

    /// Returns the link's MAC control, with the pause frames sent.
    pub fn mac(&self) -> &MacControl {
        &self.mac
    }

    /// Keeps the wire idle for `gap` after the current frame.
    #[inline]
    pub fn pause_for(&mut self, gap: Time) {
        self.free_at += gap;
    }

    /// Returns how long `quanta` quanta (512 bit times each) last on this wire.
    pub fn pause_time(&self, quanta: u32) -> Time {
        self.serialisation.of(64, 0).0 * u64::from(quanta)
    }

    /// Returns the time that `bytes` take on the wire, exact to a picosecond in 64 bytes.
    pub(crate) fn time_of(&self, bytes: u32) -> Time {
        self.serialisation.of(64, 0).0 * u64::from(bytes) / 64
    }

    pub(crate) fn bits_per_second(&self) -> u64 {
        self.serialisation.bits_per_second()
    }

    /// Sends a frame whose first bit goes out at `start`. The wire must be free then.
    #[inline]
    pub fn transmit<M: Medium>(&mut self, packet: &Packet, start: Instant, medium: &mut M) {
        self.transmit_from(None, packet, start, medium);
    }

    /// As [`Transmitter::transmit`], for a frame that leaves `queue_bytes` in its queue.
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

    /// Sends a frame, which may come from a queue that keeps `queue_bytes`.
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

    /// Sends a frame that telemetry is written into, or over an impaired link.
    ///
    /// It takes the packet by value: a reference would force the packet into memory.
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

    /// Puts a frame onto the wire, and returns its arrival at the other end.
    #[inline]
    fn put<M: Medium>(&mut self, packet: &Packet, start: Instant, medium: &mut M) -> Instant {
        self.occupy(u32::from(packet.frame_bytes) + WIRE_OVERHEAD_BYTES, start);
        // Indexed rather than branched: data and acknowledgements come in no predictable order.
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

    /// Sends a frame over an impaired link, which may lose it or hold it behind later ones.
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
                    // At the time of a flow-control packet that followed the frame at once.
                    let at = self.free_at + self.mac.latency;
                    medium.send(self.mac.output, at, &LostCredit::report_of(packet));
                }
                let lost = Packet { at, ..*packet };
                self.note(EventKind::LostOnWire, at, &lost, medium);
            }
            // It follows later frames, with the output that it had.
            Fate::Held(behind) => impairment.hold(*packet, self.output, behind),
            Fate::Passes => {
                medium.send(self.output, at, packet);
                impairment.follow(at, |output, at, packet| medium.send(output, at, packet));
            }
        }
    }

    /// Returns true if an impairment loses a MAC control frame, and counts it. Flow-control packets
    /// are never lost here: the standard repeats them, so the next one makes up for a loss.
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

    /// Sends a pause frame for a class as soon as the wire is free, before all waiting frames. Zero
    /// `quanta` resume the class.
    pub fn pause(&mut self, class: u8, quanta: u16, now: Instant, medium: &mut impl Medium) {
        self.send_pause(Packet::pause(class, quanta), now, medium);
    }

    /// Sends and counts a given pause frame as soon as the wire is free.
    pub(crate) fn send_pause(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        if Pause::of(&packet).quanta == 0 {
            self.mac.xon_frames += 1;
        } else {
            self.mac.xoff_frames += 1;
        }
        self.send_control(packet, now, medium);
    }

    /// Sends a MAC control frame or a flow-control packet as soon as the wire is free, before all
    /// waiting frames.
    pub fn send_control(&mut self, packet: Packet, now: Instant, medium: &mut impl Medium) {
        if self.is_dark() {
            // No queue holds control frames until the link is up.
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
        // Only frames back to back share a picosecond.
        let carried = if start == self.free_at {
            self.carried
        } else {
            0
        };
        let (duration, carried) = self.serialisation.of(wire_bytes, carried);
        self.carried = carried;
        self.free_at = start + duration;
    }

    /// Reports a packet's event at this port, if the run is watched.
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
