//! The state of a `RoCEv2` NIC, and its construction.

use std::collections::VecDeque;
use std::sync::Arc;

use tenter_engine::Ring;
use tenter_fabric::net::{EventKind, Medium, Packet, ReceiveSlot, SendSlot, Transmitter};
use tenter_fabric::topology::HostId;
use tenter_language::units::{ById, Instant, Rate};

use super::dma_reads::DmaReads;
use super::features::{Feature, Features};
use super::in_band::InBand;
use super::lanes::NicLanes;
use super::limits::Limits;
use super::reroutes::Reroutes;
use super::storm::Storm;
use crate::entropy::EntropyKind;
use crate::message::MessageCut;
use crate::nic::build::NicBuild;
use crate::nic::classes::NicClasses;
use crate::nic::counters::NicCounters;
use crate::nic::error::QueuePairError;
use crate::nic::marks::MarkBook;
use crate::nic::port::NicPort;
use crate::pauses::Pauses;
use crate::pcie::{Dma, DmaRates};
use crate::receive::{Delivery, ReceiveQueuePair};
use crate::receive_buffer::{Drain, ReceiveBuffer};
use crate::send::{Requests, SendQueuePair};
use crate::source_ports::{Entropy, RerouteSpec};
use crate::timers::Timers;

/// A `RoCEv2` NIC with one port.
#[derive(Clone, Debug)]
pub struct RoceNic {
    pub(super) host: HostId,
    pub(super) cut: MessageCut,
    pub(super) transmitter: Transmitter,
    /// Instants at which the last message ended, and the gap after it.
    pub(super) message_end: (Instant, Instant),
    /// Waiting acknowledgements and connection set-up, which leave before data.
    pub(super) control: Ring<Packet>,
    pub(super) send: ById<SendSlot, SendQueuePair>,
    /// Work requests of all send queue pairs.
    pub(super) requests: Requests,
    pub(super) receive: ById<ReceiveSlot, ReceiveQueuePair>,
    /// Queue pairs that may send, in the order in which they are served.
    pub(super) round: Ring<SendSlot>,
    /// Queue pair that sent last, and the frame bytes of its turn so far, if turns are limited in
    /// bytes.
    pub(super) turn: Option<(SendSlot, u64)>,
    /// Retransmission timers, at most one per send queue pair. Timers are stale for queue pairs
    /// that wait for nothing.
    pub(super) timeouts: Timers,
    /// Work requests and connection requests without acknowledgement. While there are none, no
    /// retransmission timer fires.
    pub(super) pending: u32,
    /// Data frames sent up to the start of the last visit.
    pub(super) sent_before: u64,
    pub(super) errors: Vec<QueuePairError>,
    pub(super) classes: NicClasses,
    pub(super) pauses: Box<Pauses>,
    pub(super) receive_buffer: Option<Box<ReceiveBuffer>>,
    pub(super) marks: MarkBook,
    /// State for congestion control, notifications, retransmissions and classes, if the NIC needs
    /// any.
    pub(super) limits: Option<Box<Limits>>,
    /// Both ends of the lanes, in a fabric that sends by credit.
    pub(super) lanes: Option<Box<NicLanes>>,
    /// The current pause storm, if there is one.
    pub(super) storm: Option<Box<Storm>>,
    /// Features that take frames off the fast path.
    pub(super) features: Features,
    /// Source ports per packet if they are drawn at random. Kinds that learn or take turns are in
    /// `limits`.
    pub(super) entropy: Option<Arc<Entropy>>,
    /// Rules for congestion notices, if switches send any.
    pub(super) reroute: Option<Arc<RerouteSpec>>,
    /// Moves of flows, created with the first congestion notice.
    pub(super) reroutes: Option<Box<Reroutes>>,
    /// Transfers that the packet just served has completed beside the one that was returned.
    pub(super) delivered: VecDeque<Delivery>,
    pub(super) counters: NicCounters,
}

impl NicBuild<'_> {
    /// Returns DMA in one direction if it falls behind the wire.
    fn slow_dma(&self, rate: impl Fn(&DmaRates) -> Rate) -> Option<Dma> {
        let rate = rate(self.dma.as_ref()?);
        let telemetry = self.spec.telemetry_bytes();
        let pcie = self.spec.pcie.as_ref()?;
        Dma::new(pcie, rate, self.line, self.spec.mtu_bytes, telemetry)
    }

    /// Returns the receive buffer if the receive side may fall behind the wire.
    fn receive_buffer(&self) -> Option<Box<ReceiveBuffer>> {
        let spec = self.spec.receive_buffer.as_ref()?;
        let drain = match spec.drain_rate {
            Some(rate) => Drain::Frames(rate.serialisation(0)),
            None => Drain::Dma(self.slow_dma(|rates| rates.write)?),
        };
        let quantum_ps = self.transmitter.pause_time(1);
        Some(Box::new(ReceiveBuffer::new(spec, drain, quantum_ps)))
    }

    /// Returns the limits on queue pairs beyond the wire, if there are any.
    fn limits(&self) -> Option<Box<Limits>> {
        let reads = self.slow_dma(|rates| rates.read).map(DmaReads::new);
        let is_mixed = self.classes.is_mixed();
        let entropy = self.port_changes.entropy.as_ref();
        // Ports drawn at random need no state: packets compute theirs from a hash.
        let chosen = entropy.filter(|entropy| entropy.kind() != EntropyKind::Random);
        let needed = Limits::are_needed(self.spec) || self.applies_signals || chosen.is_some();
        if !needed && !is_mixed && reads.is_none() {
            return None;
        }
        let mut limits = Limits::new(
            self.spec,
            self.line,
            self.round_trip,
            self.send_slots,
            self.planes,
        );
        limits.reads = reads;
        limits.held = self.applies_signals.then(Box::default);
        if let Some(entropy) = chosen {
            limits.choose_ports(entropy.clone(), self.send_slots);
        }
        let telemetry = self.telemetry.clone();
        limits.in_band = telemetry.map(|telemetry| Box::new(InBand::new(telemetry)));
        Some(Box::new(limits))
    }
}

impl RoceNic {
    /// Creates a NIC in its initial state.
    pub(crate) fn new(build: NicBuild<'_>) -> RoceNic {
        let (receive_buffer, limits) = (build.receive_buffer(), build.limits());
        let spec = build.spec;
        let entropy = build.port_changes.entropy.clone();
        let mut transmitter = build.transmitter;
        let lanes = build.credit.map(|(credit, classes)| {
            // A frame lost on the link has used credit that its receiver cannot return by itself.
            transmitter.return_lost_credit();
            Box::new(NicLanes::new(&credit, classes, spec.longest_frame_bytes()))
        });
        RoceNic {
            features: Features::of([
                (Feature::Credit, lanes.is_some()),
                (Feature::ReceiveBuffer, receive_buffer.is_some()),
                (Feature::Telemetry, build.telemetry.is_some()),
            ]),
            host: build.host,
            classes: build.classes,
            pauses: Box::new(Pauses::new(spec.resume_delay)),
            receive_buffer,
            limits,
            marks: MarkBook::default(),
            lanes,
            storm: None,
            entropy: entropy.filter(|entropy| entropy.kind() == EntropyKind::Random),
            reroute: build.port_changes.reroute.clone(),
            reroutes: None,
            delivered: VecDeque::new(),
            cut: spec.cut(),
            transmitter,
            message_end: (Instant::START, Instant::START),
            control: Ring::default(),
            send: vec![SendQueuePair::default(); build.send_slots].into(),
            requests: Requests::new(build.send_slots),
            receive: vec![ReceiveQueuePair::default(); build.receive_slots].into(),
            round: Ring::default(),
            turn: None,
            timeouts: Timers::new(),
            pending: 0,
            sent_before: 0,
            errors: Vec::new(),
            counters: NicCounters::default(),
        }
    }

    /// Takes frames off the fast path from now on.
    pub(super) fn gain(&mut self, feature: Feature) {
        self.features.add(feature);
    }

    /// Returns the host that the NIC belongs to.
    pub(crate) fn host(&self) -> HostId {
        self.host
    }

    /// Turns to another port: swaps the per-port state with that in `port`.
    pub(crate) fn swap_port(&mut self, port: &mut NicPort) {
        std::mem::swap(&mut self.transmitter, &mut port.transmitter);
        std::mem::swap(&mut self.pauses, &mut port.pauses);
        std::mem::swap(&mut self.message_end, &mut port.message_end);
    }

    /// Sets the instant at which the first of the other ports is free.
    pub(crate) fn note_other_ports(&mut self, others_free_at: Instant) {
        if let Some(limits) = &mut self.limits {
            limits.other_ports_free_at = others_free_at;
        }
    }

    /// Returns the transmitter at the NIC's port.
    pub(crate) fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Reports an event of a packet to the capture, at the packet's own time.
    #[inline]
    pub(super) fn note<M: Medium>(&self, kind: EventKind, packet: &Packet, medium: &mut M) {
        self.transmitter.note(kind, packet.at, packet, medium);
    }
}
