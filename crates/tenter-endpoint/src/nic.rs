//! The NIC: one enum over the transports, and over NICs with one port per plane.
//!
//! `nic/` holds the parts that all NICs share: classes, counters, marks, and the values that a NIC
//! is built from and served with.

pub(crate) mod build;
pub(crate) mod classes;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod error;
pub(crate) mod held_by_rate;
pub(crate) mod marks;
mod multi_plane;
pub(crate) mod port;
pub(crate) mod run;

use tenter_fabric::net::{
    LaneBuffer, LaneCredit, Medium, Packet, PauseRecord, ReceiveSlot, SendSlot, Transmitter,
    Visitor, WireLosses,
};
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Instant, Time};

use crate::reactions::Reactions;
use crate::receive::{Delivery, Latencies};
use crate::receive_buffer::ReceiveBufferCounters;
use crate::roce::RoceNic;
use crate::send::{SendPeer, WorkRequest};
use crate::spec::NicSpec;
use crate::ultra_ethernet::UltraEthernetNic;
use build::NicBuild;
use context::{Directory, RxContext};
use counters::NicCounters;
use error::QueuePairError;
use marks::Marks;
use port::Sprayed;

/// A NIC with either transport and one or several ports.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a NIC for RoCE is in its host: behind a pointer it would cost each packet a miss"
)]
pub enum Nic {
    /// RDMA over Converged Ethernet, version 2.
    Roce(RoceNic),
    /// Connections over Ultra Ethernet's transport.
    UltraEthernet(Box<UltraEthernetNic>),
    /// One port per plane, with either transport.
    MultiPlane(Box<MultiPlaneNic>),
}

/// A NIC with one port per plane.
#[derive(Clone, Debug)]
pub struct MultiPlaneNic {
    /// A single NIC that sends by all ports (spray), or one NIC per port (hash).
    nics: Vec<Nic>,
    /// Index in `nics` for each send queue pair: the NIC that owns it.
    homes: ById<SendSlot, u8>,
    /// Per-port state, if a single NIC sends by all ports.
    sprayed: Option<Sprayed>,
}

/// Evaluates `$do` for a NIC with one port, or `$do_at` for a NIC with several.
macro_rules! at_port {
    ($nic:expr, $each:ident => $do:expr, $several:ident => $do_at:expr) => {
        match $nic {
            Nic::Roce($each) => $do,
            Nic::UltraEthernet($each) => $do,
            Nic::MultiPlane($several) => $do_at,
        }
    };
}

/// Evaluates the same expression for any NIC.
macro_rules! of_any {
    ($nic:expr, $each:ident => $do:expr) => {
        match $nic {
            Nic::Roce($each) => $do,
            Nic::UltraEthernet($each) => $do,
            Nic::MultiPlane($each) => $do,
        }
    };
}

impl Nic {
    /// Creates a NIC in its initial state.
    pub fn new(build: NicBuild<'_>) -> Nic {
        if !build.further_ports.is_empty() {
            return Nic::MultiPlane(Box::new(MultiPlaneNic::new(build)));
        }
        match build.ultra_ethernet {
            None => Nic::Roce(RoceNic::new(build)),
            Some(_) => Nic::UltraEthernet(Box::new(UltraEthernetNic::new(build))),
        }
    }

    /// Returns the NIC if it has a single port and the transport `RoCEv2`.
    #[inline]
    fn roce(&self) -> Option<&RoceNic> {
        match self {
            Nic::Roce(nic) => Some(nic),
            Nic::UltraEthernet(_) | Nic::MultiPlane(_) => None,
        }
    }

    /// Returns the host that the NIC belongs to.
    #[inline]
    pub fn host(&self) -> HostId {
        of_any!(self, nic => nic.host())
    }

    /// Returns the port count: 1, or one per plane.
    pub fn ports(&self) -> u16 {
        at_port!(self, _nic => 1, nic => nic.ports())
    }

    /// Returns the transmitter at a port.
    #[inline]
    pub fn transmitter(&self, port: u16) -> &Transmitter {
        at_port!(self, nic => nic.transmitter(), nic => nic.transmitter(port))
    }

    /// Returns the transmitter at a port for changes at a sync point.
    pub fn transmitter_mut(&mut self, port: u16) -> &mut Transmitter {
        at_port!(self, nic => nic.transmitter_mut(), nic => nic.transmitter_mut(port))
    }

    /// Opens a send queue pair to `peer`. `class` is the class for its data, taken from
    /// [`NicClasses::all_data`](classes::NicClasses::all_data). With connection set-up, the request
    /// goes out now.
    pub fn open(
        &mut self,
        spec: &NicSpec,
        slot: SendSlot,
        peer: SendPeer,
        class: u8,
        now: Instant,
    ) {
        match self {
            Nic::Roce(nic) => nic.open(spec, slot, peer, class, now),
            Nic::UltraEthernet(nic) => nic.open(slot, peer, class),
            Nic::MultiPlane(nic) => nic.open(spec, slot, peer, class, now),
        }
    }

    /// Posts a work request to an open send queue pair.
    pub fn post(&mut self, spec: &NicSpec, slot: SendSlot, request: WorkRequest) {
        match self {
            Nic::Roce(nic) => nic.post(spec, slot, request),
            Nic::UltraEthernet(nic) => nic.post(slot, request),
            Nic::MultiPlane(nic) => nic.post(spec, slot, request),
        }
    }

    /// Prefetches the memory that each visit touches.
    #[inline]
    pub fn prefetch(&self) {
        at_port!(self, nic => nic.prefetch(), _nic => ());
    }

    /// Prefetches the queue pairs that the next visit will touch for these arrivals.
    #[inline]
    pub fn prefetch_for<'p>(&self, arrivals: impl Iterator<Item = &'p Packet>) {
        at_port!(self, nic => nic.prefetch_for(arrivals), _nic => ());
    }

    /// Notes that a visit begins.
    #[inline]
    pub fn note_visit(&mut self) {
        if let Nic::Roce(nic) = self {
            nic.note_visit();
        }
    }

    /// Returns the earliest instant, not before `now`, at which the next frame can leave, or `None`
    /// if there is nothing to send.
    pub fn next_departure(&self, now: Instant) -> Option<Instant> {
        of_any!(self, nic => nic.next_departure(now))
    }

    /// Sends one frame, whose first bit leaves at `now`.
    pub fn depart(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        match self {
            Nic::Roce(nic) => nic.depart(spec, now, medium),
            Nic::UltraEthernet(nic) => nic.depart(now, medium),
            Nic::MultiPlane(nic) => nic.depart(spec, now, medium),
        }
    }

    /// Handles a packet that arrives at `input`. A node has one input per port for routed packets
    /// and after those one per port for MAC control frames. Returns the transfer that the packet
    /// completes, if any, and appends acknowledged work requests to the context's `done`.
    #[inline]
    pub fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        input: u16,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        at_port!(self, nic => nic.arrive(packet, cx), nic => nic.arrive(packet, input, cx))
    }

    /// Returns the next timer's instant, or `None` if no timer is set.
    pub fn next_timer(&self) -> Option<Instant> {
        of_any!(self, nic => nic.next_timer())
    }

    /// Fires one timer: the first in order among those due at `now`. Returns the transfer that it
    /// completes, if any, and appends acknowledged work requests to the context's `done`.
    pub fn fire<M: Medium, D: Directory>(
        &mut self,
        now: Instant,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        match self {
            Nic::Roce(nic) => nic.fire(now, cx),
            Nic::UltraEthernet(nic) => {
                // Its timers only make packets to send: none completes a transfer.
                nic.fire(now);
                None
            }
            Nic::MultiPlane(nic) => nic.fire(now, cx),
        }
    }

    /// Takes the link at `port` down at `now`; `under_way` are the losses on the wire. The NIC
    /// sends nothing by this port until the link comes up, while timeouts for packets already sent
    /// keep running.
    pub fn link_down(&mut self, port: u16, under_way: WireLosses, now: Instant) {
        at_port!(
            self,
            nic => nic.link_down(under_way, now),
            nic => nic.link_down(port, under_way, now)
        );
    }

    /// Brings the link at `port` up at `now`. The leaf has forgotten all pauses by then, so the NIC
    /// repeats those that still hold.
    pub fn link_up(&mut self, port: u16, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        match self {
            Nic::Roce(nic) => nic.link_up(spec, now, medium),
            Nic::UltraEthernet(nic) => nic.link_up(now),
            Nic::MultiPlane(nic) => nic.link_up(port, spec, now, medium),
        }
    }

    /// Starts a pause storm at `now`: the NIC pauses every lossless class at its leaf, again and
    /// again. Plans allow storms only for `RoCEv2` NICs with one port.
    pub fn begin_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Nic::Roce(nic) = self {
            nic.begin_storm(now, medium);
        }
    }

    /// Ends the pause storm: the leaf may resume unless the receive buffer still pauses it.
    pub fn end_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Nic::Roce(nic) = self {
            nic.end_storm(now, medium);
        }
    }

    /// Returns the NIC's link credit for sending in `class`, in a fabric that sends by credit.
    pub fn credit(&self, class: u8) -> Option<&LaneCredit> {
        self.roce()?.credit(class)
    }

    /// Returns the NIC's input buffer for `class`, in a fabric that sends by credit.
    pub fn input_buffer(&self, class: u8) -> Option<&LaneBuffer> {
        self.roce()?.input_buffer(class)
    }

    /// Returns the congestion notices received, and the moves to other source ports that followed.
    pub fn reroutes(&self) -> (u64, u64) {
        self.roce().map_or((0, 0), RoceNic::reroutes)
    }

    /// Returns the times from a long queue to the sender's pause by a congestion signal, for
    /// `RoCEv2`.
    pub fn reactions(&self) -> Option<&Reactions> {
        self.roce().map(RoceNic::reactions)
    }

    /// Returns the total time up to `now` for which congestion signals paused packets to
    /// `receiver`, over all classes.
    pub fn held(&self, receiver: HostId, now: Instant) -> Time {
        self.roce()
            .map_or(Time::ZERO, |nic| nic.held(receiver, now))
    }

    /// Passes its state to `visitor`. NICs with another transport or several ports have no such
    /// pass, so they refuse.
    pub fn steady(&mut self, spec: &NicSpec, visitor: &mut impl Visitor) {
        match self {
            Nic::Roce(nic) => nic.steady(spec, visitor),
            Nic::UltraEthernet(_) | Nic::MultiPlane(_) => visitor.refuse(),
        }
    }

    /// Returns the payload bytes in the message that a send queue pair has just begun with packet
    /// `sequence`. A retransmitted message counts as full unless it is the one being sent. Returns
    /// 0 for other transports than `RoCEv2`.
    pub fn message_bytes(&self, slot: SendSlot, sequence: u32) -> u64 {
        self.roce()
            .map_or(0, |nic| nic.message_bytes(slot, sequence))
    }

    /// Returns the PSN after the last packet that a send queue pair has sent; 0 for transports
    /// other than `RoCEv2`.
    pub fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.roce().map_or(0, |nic| nic.next_sequence(slot))
    }

    /// Returns the PSN that a receive queue pair expects next; 0 for transports other than
    /// `RoCEv2`.
    pub fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.roce().map_or(0, |nic| nic.expected_sequence(slot))
    }

    /// Returns each send queue pair's next PSN; nothing for other transports than `RoCEv2`.
    pub fn next_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce().into_iter().flat_map(RoceNic::next_sequences)
    }

    /// Returns the PSN that each receive queue pair expects next; nothing for transports other than
    /// `RoCEv2`.
    pub fn expected_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce()
            .into_iter()
            .flat_map(RoceNic::expected_sequences)
    }

    /// Returns the host, and the receive queue pair there, to which a send queue pair sends.
    pub fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        of_any!(self, nic => nic.receiver_of(slot))
    }

    /// Returns the least and the greatest packet count that a queue pair with something to send has
    /// left in its current request.
    pub fn left_to_send(&self) -> Option<(u32, u32)> {
        self.roce()?.left_to_send()
    }

    /// Returns, per receive queue pair, the packets accepted for its current transfer.
    pub fn accepted(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce().into_iter().flat_map(RoceNic::accepted)
    }

    /// Sets retransmission timers anew after a jump to `now` over whole collective steps.
    pub fn set_timeouts(&mut self, spec: &NicSpec, now: Instant) {
        if let Nic::Roce(nic) = self {
            nic.set_timeouts(spec, now);
        }
    }

    /// Replaces the latencies recorded for a receive queue pair's current transfer.
    pub fn set_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        if let Nic::Roce(nic) = self {
            nic.set_latencies(slot, latencies);
        }
    }

    /// Adds the latencies for packets that a receive queue pair accepted within a jump.
    pub fn add_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        if let Nic::Roce(nic) = self {
            nic.add_latencies(slot, latencies);
        }
    }

    /// Returns the instant at which the last frame by any port ended, or [`Instant::START`].
    pub fn last_end(&self) -> Instant {
        of_any!(self, nic => nic.last_end())
    }

    /// Returns the instant at which the last frame by this port ended, or [`Instant::START`].
    pub fn port_end(&self, port: u16) -> Instant {
        at_port!(self, nic => nic.last_end(), nic => nic.port_end(port))
    }

    /// Returns the receive buffer's counters, and its present fill as frames and bytes.
    pub fn receive_buffer(&self) -> Option<(ReceiveBufferCounters, (u64, u64))> {
        self.roce()?.receive_buffer()
    }

    /// Returns true if pause frames can stop `class`.
    pub fn is_lossless(&self, class: u8) -> bool {
        of_any!(self, nic => nic.is_lossless(class))
    }

    /// Returns the total time up to `now` for which the receive buffer has paused `class` at the
    /// leaf. Pause storms are not counted.
    pub fn pausing(&self, class: u8, now: Instant) -> Time {
        self.roce()
            .map_or(Time::ZERO, |nic| nic.pausing(class, now))
    }

    /// Returns the XOFF and XON frames sent for `class`.
    pub fn pauses_sent(&self, class: u8) -> (u64, u64) {
        self.roce().map_or((0, 0), |nic| nic.pauses_sent(class))
    }

    /// Returns the instant until which the leaf at a port pauses `class`; in the past if it does
    /// not.
    pub fn paused_until(&self, port: u16, class: u8) -> Instant {
        at_port!(self, nic => nic.paused_until(class), nic => nic.paused_until(port, class))
    }

    /// Returns the pause frames received at a port for `class`, and the total time up to `now` for
    /// which they paused it.
    pub fn paused(&self, port: u16, class: u8, now: Instant) -> (PauseRecord, Time) {
        at_port!(self, nic => nic.paused(class, now), nic => nic.paused(port, class, now))
    }

    /// Returns the instant at which a port's first XOFF frame arrived.
    pub fn first_xoff(&self, port: u16) -> Option<Instant> {
        at_port!(self, nic => nic.first_xoff(), nic => nic.first_xoff(port))
    }

    /// Returns the frames that arrived at a port, MAC control frames excluded, and their frame
    /// bytes.
    pub fn received(&self, port: u16) -> (u64, u64) {
        let of_one = |counters: NicCounters| (counters.received_frames, counters.received_bytes);
        at_port!(self, nic => of_one(nic.counters()), nic => nic.received(port))
    }

    /// Returns the frame bytes that a receive queue pair has accepted for incomplete transfers: the
    /// current one, and arrivals beyond a missing packet.
    pub fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        of_any!(self, nic => nic.received_in_part(slot))
    }

    /// Returns the counters, summed over ports.
    pub fn counters(&self) -> NicCounters {
        of_any!(self, nic => nic.counters())
    }

    /// Returns true if the send queue pair has been opened.
    pub fn is_open(&self, slot: SendSlot) -> bool {
        of_any!(self, nic => nic.is_open(slot))
    }

    /// Takes out the marks that a receive queue pair has counted since the last call.
    #[inline]
    pub fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        of_any!(self, nic => nic.take_marks(slot))
    }

    /// Takes out a transfer that the packet served last has completed beside the returned one, or
    /// `None` after the last.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        of_any!(self, nic => nic.next_delivery())
    }

    /// Returns the queue pairs that have given up.
    pub fn errors(&self) -> Vec<&QueuePairError> {
        at_port!(self, nic => nic.errors().iter().collect(), nic => nic.errors().collect())
    }

    /// Returns, per send queue pair, the destination host and the acknowledged packet count, modulo
    /// 2³².
    pub fn acknowledged(&self) -> Vec<(HostId, u32)> {
        of_any!(self, nic => nic.acknowledged().collect())
    }

    /// Returns a send queue pair's unacknowledged work requests, oldest first.
    pub fn unfinished(&self, slot: SendSlot) -> Vec<WorkRequest> {
        of_any!(self, nic => nic.unfinished(slot).collect())
    }

    /// Returns the number of unacknowledged work requests on a send queue pair.
    pub fn unfinished_count(&self, slot: SendSlot) -> usize {
        of_any!(self, nic => nic.unfinished_count(slot))
    }

    /// Returns the transfers delivered through a receive queue pair since the last reset.
    pub fn delivered(&self, slot: ReceiveSlot) -> u32 {
        of_any!(self, nic => nic.delivered(slot))
    }

    /// Resets the delivery count for `count` receive queue pairs from `first` on.
    pub fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        of_any!(self, nic => nic.reset_delivered(first, count));
    }

    /// Returns true if the send queue pair has given up.
    pub fn has_given_up(&self, slot: SendSlot) -> bool {
        of_any!(self, nic => nic.has_given_up(slot))
    }

    /// Returns true if a send queue pair will act without further input: send, or retransmit after
    /// a timeout. Packets sent before are retransmitted, and in the end given up, even while the
    /// link is down; `is_up` returns a port's link state.
    pub fn goes_on(&self, slot: SendSlot, is_up: &dyn Fn(u16) -> bool) -> bool {
        at_port!(self, nic => nic.goes_on(slot, is_up(0)), nic => nic.goes_on(slot, is_up))
    }
}
