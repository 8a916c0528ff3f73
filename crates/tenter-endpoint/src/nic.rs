//! A NIC: one of those that there are, by its transport, or with a port on each of several planes.
//!
//! In `nic/` is what NICs of all transports have: classes, counters, marks, and what they are built
//! from and served with.

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

use tenter_net::{
    LaneBuffer, LaneCredit, Medium, Packet, PauseRecord, ReceiveSlot, SendSlot, Transmitter,
    Visitor, WireLosses,
};
use tenter_topology::HostId;
use tenter_units::{ById, Instant, Time};

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

/// A NIC of any transport, with one port or several.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a NIC for RoCE is in its host: behind a pointer it would cost each packet a miss"
)]
pub enum Nic {
    /// For `RoCEv2`.
    Roce(RoceNic),
    /// For Ultra Ethernet.
    UltraEthernet(Box<UltraEthernetNic>),
    /// With a port on each of several planes.
    MultiPlane(Box<MultiPlaneNic>),
}

/// A NIC with a port on each of several planes.
#[derive(Clone, Debug)]
pub struct MultiPlaneNic {
    /// One that sends by all ports, or one for each port.
    nics: Vec<Nic>,
    /// By send slot: which of them has it.
    homes: ById<SendSlot, u8>,
    /// The ports, where one NIC sends by all of them.
    sprayed: Option<Sprayed>,
}

/// Does the same for a NIC of any transport, but what it does with one of several ports.
macro_rules! at_port {
    ($nic:expr, $each:ident => $do:expr, $several:ident => $do_at:expr) => {
        match $nic {
            Nic::Roce($each) => $do,
            Nic::UltraEthernet($each) => $do,
            Nic::MultiPlane($several) => $do_at,
        }
    };
}

/// Does the same for any NIC.
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
    /// A NIC before anything has happened.
    pub fn new(build: NicBuild<'_>) -> Nic {
        if !build.further_ports.is_empty() {
            return Nic::MultiPlane(Box::new(MultiPlaneNic::new(build)));
        }
        match build.ultra_ethernet {
            None => Nic::Roce(RoceNic::new(build)),
            Some(_) => Nic::UltraEthernet(Box::new(UltraEthernetNic::new(build))),
        }
    }

    /// The NIC, if it is one for `RoCEv2`.
    #[inline]
    fn roce(&self) -> Option<&RoceNic> {
        match self {
            Nic::Roce(nic) => Some(nic),
            Nic::UltraEthernet(_) | Nic::MultiPlane(_) => None,
        }
    }

    /// The host it belongs to.
    #[inline]
    pub fn host(&self) -> HostId {
        of_any!(self, nic => nic.host())
    }

    /// How many ports it has.
    pub fn ports(&self) -> u16 {
        at_port!(self, _nic => 1, nic => nic.ports())
    }

    /// The transmitter of a port.
    #[inline]
    pub fn transmitter(&self, port: u16) -> &Transmitter {
        at_port!(self, nic => nic.transmitter(), nic => nic.transmitter(port))
    }

    /// The transmitter of a port, to change at an edge.
    pub fn transmitter_mut(&mut self, port: u16) -> &mut Transmitter {
        at_port!(self, nic => nic.transmitter_mut(), nic => nic.transmitter_mut(port))
    }

    /// Gives a send slot its peer and the class of its data, one of
    /// [`NicClasses::all_data`](classes::NicClasses::all_data); with connection set-up the request
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

    /// Posts a work request to an open send slot.
    pub fn post(&mut self, spec: &NicSpec, slot: SendSlot, request: WorkRequest) {
        match self {
            Nic::Roce(nic) => nic.post(spec, slot, request),
            Nic::UltraEthernet(nic) => nic.post(slot, request),
            Nic::MultiPlane(nic) => nic.post(spec, slot, request),
        }
    }

    /// Prefetches what every visit needs.
    #[inline]
    pub fn prefetch(&self) {
        at_port!(self, nic => nic.prefetch(), _nic => ());
    }

    /// Prefetches what the next visit will need for packets that have arrived.
    #[inline]
    pub fn prefetch_for<'p>(&self, arrivals: impl Iterator<Item = &'p Packet>) {
        at_port!(self, nic => nic.prefetch_for(arrivals), _nic => ());
    }

    /// A visit begins.
    #[inline]
    pub fn note_visit(&mut self) {
        if let Nic::Roce(nic) = self {
            nic.note_visit();
        }
    }

    /// When the next frame can leave, given that it is `now`; `None` when there is nothing to send.
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

    /// Takes a packet that has come through an input of its node, of which it has one for each port
    /// and behind these one for MAC control frames; returns the transfer it completes, if any, and
    /// puts the work requests it acknowledges into `done`.
    #[inline]
    pub fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        input: u16,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        at_port!(self, nic => nic.arrive(packet, cx), nic => nic.arrive(packet, input, cx))
    }

    /// When the next timer fires.
    pub fn next_timer(&self) -> Option<Instant> {
        of_any!(self, nic => nic.next_timer())
    }

    /// Fires the one timer that is due at `now` and first in order. Returns the transfer that this
    /// completes, and puts the work requests it acknowledges into `done`.
    pub fn fire<M: Medium, D: Directory>(
        &mut self,
        now: Instant,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        match self {
            Nic::Roce(nic) => nic.fire(now, cx),
            Nic::UltraEthernet(nic) => {
                nic.fire(now);
                None
            }
            Nic::MultiPlane(nic) => nic.fire(now, cx),
        }
    }

    /// The link of a port goes down at `now`; what was under way from here is lost. Nothing is sent
    /// by it until it comes up, and timeouts of what had been sent go on.
    pub fn link_down(&mut self, port: u16, under_way: WireLosses, now: Instant) {
        at_port!(
            self,
            nic => nic.link_down(under_way, now),
            nic => nic.link_down(port, under_way, now)
        );
    }

    /// The link of a port comes up at `now`: the leaf, which knows of no pause, is told again.
    pub fn link_up(&mut self, port: u16, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        match self {
            Nic::Roce(nic) => nic.link_up(spec, now, medium),
            Nic::UltraEthernet(nic) => nic.link_up(now),
            Nic::MultiPlane(nic) => nic.link_up(port, spec, now, medium),
        }
    }

    /// Begins to pause the leaf at `now` in every lossless class, again and again. Plans have no
    /// such faults with other transports than `RoCEv2`, or with several planes.
    pub fn begin_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Nic::Roce(nic) = self {
            nic.begin_storm(now, medium);
        }
    }

    /// Ends the storm: the leaf may go on, unless the receive buffer keeps it waiting.
    pub fn end_storm(&mut self, now: Instant, medium: &mut impl Medium) {
        if let Nic::Roce(nic) = self {
            nic.end_storm(now, medium);
        }
    }

    /// Its credit in a class, in a fabric that sends by credit.
    pub fn credit(&self, class: u8) -> Option<&LaneCredit> {
        self.roce()?.credit(class)
    }

    /// Its input buffer of a class, in a fabric that sends by credit.
    pub fn input_buffer(&self, class: u8) -> Option<&LaneBuffer> {
        self.roce()?.input_buffer(class)
    }

    /// Notices of long queues that it has received, and how often flows have taken other ways.
    pub fn reroutes(&self) -> (u64, u64) {
        self.roce().map_or((0, 0), RoceNic::reroutes)
    }

    /// How fast it was told of long queues.
    pub fn reactions(&self) -> Option<&Reactions> {
        self.roce().map(RoceNic::reactions)
    }

    /// How long what goes to a host stood still up to `now`, over all classes.
    pub fn held(&self, receiver: HostId, now: Instant) -> Time {
        self.roce()
            .map_or(Time::ZERO, |nic| nic.held(receiver, now))
    }

    /// Goes through its state. A NIC of another transport than `RoCEv2`, or with
    /// several ports, is never in a steady state.
    pub fn steady(&mut self, spec: &NicSpec, visitor: &mut impl Visitor) {
        match self {
            Nic::Roce(nic) => nic.steady(spec, visitor),
            Nic::UltraEthernet(_) | Nic::MultiPlane(_) => visitor.refuse(),
        }
    }

    /// Payload bytes of the message whose first packet, `sequence`, a send slot has just sent. Of
    /// one that is sent again it counts as full, unless the slot is still at it. For `RoCEv2`; 0
    /// with other transports.
    pub fn message_bytes(&self, slot: SendSlot, sequence: u32) -> u64 {
        self.roce()
            .map_or(0, |nic| nic.message_bytes(slot, sequence))
    }

    /// The sequence number after the last packet that a send slot has sent, for `RoCEv2`; 0 with
    /// other transports.
    pub fn next_sequence(&self, slot: SendSlot) -> u32 {
        self.roce().map_or(0, |nic| nic.next_sequence(slot))
    }

    /// The sequence number that a receive slot expects next, for `RoCEv2`; 0 with other transports.
    pub fn expected_sequence(&self, slot: ReceiveSlot) -> u32 {
        self.roce().map_or(0, |nic| nic.expected_sequence(slot))
    }

    /// The next sequence number of each send slot.
    pub fn next_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce().into_iter().flat_map(RoceNic::next_sequences)
    }

    /// The sequence number that each receive slot expects.
    pub fn expected_sequences(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce()
            .into_iter()
            .flat_map(RoceNic::expected_sequences)
    }

    /// The host and the receive slot there to which a send slot sends.
    pub fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        of_any!(self, nic => nic.receiver_of(slot))
    }

    /// The fewest packets that a queue pair which may send has left of its request, and the most.
    pub fn left_to_send(&self) -> Option<(u32, u32)> {
        self.roce()?.left_to_send()
    }

    /// How many packets each receive slot has accepted of the transfer that it receives.
    pub fn accepted(&self) -> impl Iterator<Item = u32> + '_ {
        self.roce().into_iter().flat_map(RoceNic::accepted)
    }

    /// Sets the timers of timeouts anew after a jump to `now` over whole steps.
    pub fn set_timeouts(&mut self, spec: &NicSpec, now: Instant) {
        if let Nic::Roce(nic) = self {
            nic.set_timeouts(spec, now);
        }
    }

    /// Sets the latencies of what a receive slot has accepted of the transfer that it receives.
    pub fn set_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        if let Nic::Roce(nic) = self {
            nic.set_latencies(slot, latencies);
        }
    }

    /// Adds the latencies of packets that a jump has accepted on a receive slot.
    pub fn add_latencies(&mut self, slot: ReceiveSlot, latencies: Latencies) {
        if let Nic::Roce(nic) = self {
            nic.add_latencies(slot, latencies);
        }
    }

    /// When the last frame so far has left; [`Instant::START`] when there was none.
    pub fn last_end(&self) -> Instant {
        of_any!(self, nic => nic.last_end())
    }

    /// When the last frame so far has left by a port; [`Instant::START`] when there was none.
    pub fn port_end(&self, port: u16) -> Instant {
        at_port!(self, nic => nic.last_end(), nic => nic.port_end(port))
    }

    /// What its receive buffer has been through, and the frames and bytes that wait in it.
    pub fn receive_buffer(&self) -> Option<(ReceiveBufferCounters, (u64, u64))> {
        self.roce()?.receive_buffer()
    }

    /// Whether pause frames can stop a class.
    pub fn is_lossless(&self, class: u8) -> bool {
        of_any!(self, nic => nic.is_lossless(class))
    }

    /// How long it has told the leaf to pause a class up to `now`.
    pub fn pausing(&self, class: u8, now: Instant) -> Time {
        self.roce()
            .map_or(Time::ZERO, |nic| nic.pausing(class, now))
    }

    /// Pause frames sent that stopped a class, and that let it go on.
    pub fn pauses_sent(&self, class: u8) -> (u64, u64) {
        self.roce().map_or((0, 0), |nic| nic.pauses_sent(class))
    }

    /// Until when the leaf at a port has paused a class.
    pub fn paused_until(&self, port: u16, class: u8) -> Instant {
        at_port!(self, nic => nic.paused_until(class), nic => nic.paused_until(port, class))
    }

    /// Pause frames that came to a port for a class, and how long they have stopped it up to `now`.
    pub fn paused(&self, port: u16, class: u8, now: Instant) -> (PauseRecord, Time) {
        at_port!(self, nic => nic.paused(class, now), nic => nic.paused(port, class, now))
    }

    /// When the first pause frame came to a port that stopped a class.
    pub fn first_xoff(&self, port: u16) -> Option<Instant> {
        at_port!(self, nic => nic.first_xoff(), nic => nic.first_xoff(port))
    }

    /// Frames that have arrived at a port, MAC control frames left out, and their frame bytes.
    pub fn received(&self, port: u16) -> (u64, u64) {
        let of_one = |counters: NicCounters| (counters.received_frames, counters.received_bytes);
        at_port!(self, nic => of_one(nic.counters()), nic => nic.received(port))
    }

    /// Frame bytes accepted of transfers that a receive slot has not taken whole: of the one that
    /// it takes now, and what has arrived beyond a missing packet.
    pub fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        of_any!(self, nic => nic.received_in_part(slot))
    }

    /// What it has counted.
    pub fn counters(&self) -> NicCounters {
        of_any!(self, nic => nic.counters())
    }

    /// Whether a send slot has been opened.
    pub fn is_open(&self, slot: SendSlot) -> bool {
        of_any!(self, nic => nic.is_open(slot))
    }

    /// Takes out the marks that came on a receive slot since this was last asked.
    #[inline]
    pub fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        of_any!(self, nic => nic.take_marks(slot))
    }

    /// The next of the transfers that the packet just served has delivered beside the one that was
    /// returned.
    pub fn next_delivery(&mut self) -> Option<Delivery> {
        of_any!(self, nic => nic.next_delivery())
    }

    /// Queue pairs that have given up so far.
    pub fn errors(&self) -> Vec<&QueuePairError> {
        at_port!(self, nic => nic.errors().iter().collect(), nic => nic.errors().collect())
    }

    /// For each send slot the host that its data goes to, and how many packets of it have been
    /// acknowledged, modulo 2³².
    pub fn acknowledged(&self) -> Vec<(HostId, u32)> {
        of_any!(self, nic => nic.acknowledged().collect())
    }

    /// Work requests of a send slot that are not acknowledged, oldest first.
    pub fn unfinished(&self, slot: SendSlot) -> Vec<WorkRequest> {
        of_any!(self, nic => nic.unfinished(slot).collect())
    }

    /// How many work requests of a send slot are not acknowledged.
    pub fn unfinished_count(&self, slot: SendSlot) -> usize {
        of_any!(self, nic => nic.unfinished_count(slot))
    }

    /// Transfers delivered through a receive slot since the count was last reset.
    pub fn delivered(&self, slot: ReceiveSlot) -> u32 {
        of_any!(self, nic => nic.delivered(slot))
    }

    /// Starts the count of delivered transfers anew for so many receive slots in a row.
    pub fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        of_any!(self, nic => nic.reset_delivered(first, count));
    }

    /// Whether a send slot has given up.
    pub fn has_given_up(&self, slot: SendSlot) -> bool {
        of_any!(self, nic => nic.has_given_up(slot))
    }

    /// Whether a send slot will do anything without being asked: send, or repeat what is overdue.
    /// What has been sent is repeated, and given up in the end, even while the link is down;
    /// `is_up` says of each port whether its link is up.
    pub fn goes_on(&self, slot: SendSlot, is_up: &dyn Fn(u16) -> bool) -> bool {
        at_port!(self, nic => nic.goes_on(slot, is_up(0)), nic => nic.goes_on(slot, is_up))
    }
}
