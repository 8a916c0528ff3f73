//! A NIC with one port per plane.
//!
//! ```text
//!   spray   one NIC that turns to the          hash   a NIC for each port,
//!           port by which a frame leaves:             with the queue pairs of its plane
//!           the next free one
//!                                                     ┌─────┐
//!           ┌─────┐ ╌╌▶ port 0                        └─────┘ ──▶ port 0
//!           │ NIC │ ──▶ port 1                        ┌─────┐
//!           └─────┘ ╌╌▶ port 2                        └─────┘ ──▶ port 1
//! ```
//!
//! If planes are chosen by hash, a queue pair has the same plane at both ends: its data arrives at
//! that plane's port, and the answers leave by it.

use tenter_fabric::net::{
    Medium, Packet, PauseRecord, ReceiveSlot, SendSlot, Transmitter, WireLosses,
};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Rate, Time};

use super::build::NicBuild;
use super::context::{Directory, RxContext};
use super::counters::NicCounters;
use super::error::QueuePairError;
use super::marks::Marks;
use super::port::{Frames, NicPort, Sprayed};
use super::{MultiPlaneNic, Nic};
use crate::pauses::Pauses;
use crate::receive::Delivery;
use crate::send::{SendPeer, WorkRequest};
use crate::spec::{NicSpec, PlaneChoice};

impl Nic {
    /// Turns a spraying NIC to a port: swaps the port's state into the NIC, where a NIC with one
    /// port has it. The transports need no code for several ports, therefore.
    fn turn_to(&mut self, port: usize, sprayed: &mut Sprayed) {
        let before = std::mem::replace(&mut sprayed.current, port);
        if before != port {
            self.swap_port(&mut sprayed.ports[before]);
            self.swap_port(&mut sprayed.ports[port]);
        }
        // The other ports' state lies still until the NIC turns to them, so one reading holds until
        // then.
        let others_free_at = sprayed.others_free_at(port);
        match self {
            Nic::Roce(nic) => nic.note_other_ports(others_free_at),
            Nic::UltraEthernet(nic) => nic.note_other_ports(others_free_at),
            Nic::MultiPlane(_) => {}
        }
    }

    fn swap_port(&mut self, port: &mut NicPort) {
        match self {
            Nic::Roce(nic) => nic.swap_port(port),
            Nic::UltraEthernet(nic) => nic.swap_port(port),
            Nic::MultiPlane(_) => {}
        }
    }

    /// Returns the earliest instant for the next frame by a port that a spraying NIC has not turned
    /// to.
    fn next_departure_by(&self, port: &NicPort, now: Instant) -> Option<Instant> {
        match self {
            Nic::Roce(nic) => nic.next_departure_by(port.wire(), now),
            Nic::UltraEthernet(nic) => nic.next_departure_by(port.wire(), now),
            Nic::MultiPlane(_) => None,
        }
    }
}

/// Adds up two NICs' counters.
fn sum(counts: NicCounters, more: NicCounters) -> NicCounters {
    NicCounters {
        received_frames: counts.received_frames + more.received_frames,
        received_bytes: counts.received_bytes + more.received_bytes,
        data_packets: counts.data_packets + more.data_packets,
        data_bytes: counts.data_bytes + more.data_bytes,
        out_of_sequence: counts.out_of_sequence + more.out_of_sequence,
        out_of_order: counts.out_of_order + more.out_of_order,
        given_up: counts.given_up + more.given_up,
        duplicate_request: counts.duplicate_request + more.duplicate_request,
        retransmitted_packets: counts.retransmitted_packets + more.retransmitted_packets,
        marked_packets: counts.marked_packets + more.marked_packets,
        trimmed_packets: counts.trimmed_packets + more.trimmed_packets,
        acknowledgements_sent: counts.acknowledgements_sent + more.acknowledgements_sent,
        grants_sent: counts.grants_sent + more.grants_sent,
        nak_sent: counts.nak_sent + more.nak_sent,
        packet_seq_err: counts.packet_seq_err + more.packet_seq_err,
        local_ack_timeout_err: counts.local_ack_timeout_err + more.local_ack_timeout_err,
        np_cnp_sent: counts.np_cnp_sent + more.np_cnp_sent,
        rp_cnp_handled: counts.rp_cnp_handled + more.rp_cnp_handled,
    }
}

impl MultiPlaneNic {
    /// Creates a NIC in its initial state.
    pub(super) fn new(mut build: NicBuild<'_>) -> MultiPlaneNic {
        let further = std::mem::take(&mut build.further_ports);
        let count = 1 + further.len();
        let homes = vec![0; build.send_slots].into();
        if build.spec.plane_choice() == PlaneChoice::Hash {
            let first = build.transmitter.clone();
            // Each port is a NIC with a line of its own, at its share of the rate, and a writer of
            // records of its own: two writers with one number would overwrite each other's records.
            let line = build.line.bits_per_second() / count as u64;
            let of_port = |(port, transmitter): (u32, Transmitter)| {
                Nic::new(NicBuild {
                    transmitter,
                    writer: HostId::new(build.host.number() * count as u32 + port),
                    line: Rate::from_bits_per_second(line),
                    ..build.clone()
                })
            };
            let transmitters = std::iter::once(first).chain(further);
            return MultiPlaneNic {
                nics: (0..).zip(transmitters).map(of_port).collect(),
                homes,
                sprayed: None,
            };
        }
        let first = build.transmitter.clone();
        build.planes = count as u16;
        let ports = (0..).zip(std::iter::once(first).chain(further));
        let pauses = Pauses::new(build.spec.resume_delay);
        let ports =
            ports.map(|(plane, transmitter)| NicPort::new(plane, transmitter, pauses.clone()));
        MultiPlaneNic {
            sprayed: Some(Sprayed {
                ports: ports.collect(),
                current: 0,
                last: count - 1,
                received: vec![(0, 0); count],
            }),
            nics: vec![Nic::new(build)],
            homes,
        }
    }

    /// Returns the NIC that owns a send queue pair.
    fn of(&self, slot: SendSlot) -> &Nic {
        &self.nics[usize::from(self.homes[slot])]
    }

    fn of_mut(&mut self, slot: SendSlot) -> &mut Nic {
        &mut self.nics[usize::from(self.homes[slot])]
    }

    /// Returns the NIC for a port, turned to that port if it sprays.
    fn at(&mut self, port: u16) -> &mut Nic {
        let port = usize::from(port);
        match &mut self.sprayed {
            None => &mut self.nics[port],
            Some(sprayed) => {
                if sprayed.current != port {
                    self.nics[0].turn_to(port, sprayed);
                }
                &mut self.nics[0]
            }
        }
    }

    /// Returns the NIC that has the port's state, or the bare port state if a spraying NIC has
    /// turned elsewhere. Readers need not turn it, then.
    fn port(&self, port: u16) -> Result<&Nic, &NicPort> {
        let port = usize::from(port);
        match &self.sprayed {
            None => Ok(&self.nics[port]),
            Some(sprayed) if sprayed.current == port => Ok(&self.nics[0]),
            Some(sprayed) => Err(&sprayed.ports[port]),
        }
    }

    pub(super) fn ports(&self) -> u16 {
        let sprayed = self.sprayed.as_ref();
        sprayed.map_or(self.nics.len(), |sprayed| sprayed.ports.len()) as u16
    }

    pub(super) fn host(&self) -> HostId {
        self.nics[0].host()
    }

    pub(super) fn transmitter(&self, port: u16) -> &Transmitter {
        match self.port(port) {
            Ok(nic) => nic.transmitter(0),
            Err(port) => &port.transmitter,
        }
    }

    pub(super) fn transmitter_mut(&mut self, port: u16) -> &mut Transmitter {
        self.at(port).transmitter_mut(0)
    }

    /// Opens a send queue pair. If planes are chosen by hash, its packets' hash decides its plane.
    pub(super) fn open(
        &mut self,
        spec: &NicSpec,
        slot: SendSlot,
        peer: SendPeer,
        class: u8,
        now: Instant,
    ) {
        let plane = spec.plane_of(peer.hash, self.nics.len() as u16);
        self.homes[slot] = plane.unwrap_or(0) as u8;
        self.of_mut(slot).open(spec, slot, peer, class, now);
    }

    pub(super) fn post(&mut self, spec: &NicSpec, slot: SendSlot, request: WorkRequest) {
        self.of_mut(slot).post(spec, slot, request);
    }

    /// Returns the earliest instant for the next frame by a port.
    fn departure_by(&self, port: u16, now: Instant) -> Option<Instant> {
        match self.port(port) {
            Ok(nic) => nic.next_departure(now),
            Err(port) => self.nics[0].next_departure_by(port, now),
        }
    }

    pub(super) fn next_departure(&self, now: Instant) -> Option<Instant> {
        let ports = 0..self.ports();
        ports.filter_map(|port| self.departure_by(port, now)).min()
    }

    /// Sends one frame by the first port that can send, counted from the one after the last used.
    /// Without spraying that is simply the lowest port: each port has its own queue pairs.
    pub(super) fn depart(&mut self, spec: &NicSpec, now: Instant, medium: &mut impl Medium) {
        let ports = self.ports();
        let last = self.sprayed.as_ref().map_or(ports - 1, |of| of.last as u16);
        let mut turns = (1..=ports).map(|step| (last + step) % ports);
        let may_send = |port: &u16| self.departure_by(*port, now).is_some_and(|at| at <= now);
        let Some(port) = turns.find(may_send) else {
            return;
        };
        if let Some(sprayed) = &mut self.sprayed {
            sprayed.last = usize::from(port);
            self.nics[0].turn_to(usize::from(port), sprayed);
        }
        self.at(port).depart(spec, now, medium);
    }

    pub(super) fn arrive<M: Medium, D: Directory>(
        &mut self,
        packet: &Packet,
        input: u16,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        // Inputs for MAC control frames come after those for routed packets, in the same order of
        // ports.
        let port = input % self.ports();
        // The NIC's own counters add up all ports; only a spraying NIC has to tell them apart here.
        if let Some(sprayed) = &mut self.sprayed
            && !packet.kind.is_mac_control()
        {
            let received = &mut sprayed.received[usize::from(port)];
            received.0 += 1;
            received.1 += u64::from(packet.frame_bytes);
        }
        self.at(port).arrive(packet, 0, cx)
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.nics.iter().filter_map(Nic::next_timer).min()
    }

    pub(super) fn fire<M: Medium, D: Directory>(
        &mut self,
        now: Instant,
        cx: &mut RxContext<'_, M, D>,
    ) -> Option<Delivery> {
        // At equal times the lowest plane comes first, so that the order depends on content alone.
        let is_due = |nic: &&mut Nic| nic.next_timer().is_some_and(|at| at <= now);
        let nic = self.nics.iter_mut().find(is_due)?;
        nic.fire(now, cx)
    }

    pub(super) fn link_down(&mut self, port: u16, under_way: WireLosses, now: Instant) {
        self.at(port).link_down(0, under_way, now);
    }

    pub(super) fn link_up(
        &mut self,
        port: u16,
        spec: &NicSpec,
        now: Instant,
        medium: &mut impl Medium,
    ) {
        self.at(port).link_up(0, spec, now, medium);
    }

    pub(super) fn receiver_of(&self, slot: SendSlot) -> (HostId, ReceiveSlot) {
        self.of(slot).receiver_of(slot)
    }

    pub(super) fn port_end(&self, port: u16) -> Instant {
        match self.port(port) {
            Ok(nic) => nic.last_end(),
            Err(port) => port.last_end(),
        }
    }

    pub(super) fn last_end(&self) -> Instant {
        let ends = (0..self.ports()).map(|port| self.port_end(port));
        ends.fold(Instant::START, Instant::max)
    }

    pub(super) fn is_lossless(&self, class: u8) -> bool {
        self.nics[0].is_lossless(class)
    }

    pub(super) fn paused_until(&self, port: u16, class: u8) -> Instant {
        match self.port(port) {
            Ok(nic) => nic.paused_until(0, class),
            Err(port) => port.pauses.until(class),
        }
    }

    pub(super) fn paused(&self, port: u16, class: u8, now: Instant) -> (PauseRecord, Time) {
        match self.port(port) {
            Ok(nic) => nic.paused(0, class, now),
            Err(port) => port.pauses.record(class, now),
        }
    }

    pub(super) fn first_xoff(&self, port: u16) -> Option<Instant> {
        match self.port(port) {
            Ok(nic) => nic.first_xoff(0),
            Err(port) => port.pauses.first,
        }
    }

    /// Returns the frames that arrived at a port, and their frame bytes.
    pub(super) fn received(&self, port: u16) -> Frames {
        match &self.sprayed {
            None => self.nics[usize::from(port)].received(0),
            Some(sprayed) => sprayed.received[usize::from(port)],
        }
    }

    pub(super) fn received_in_part(&self, slot: ReceiveSlot) -> u64 {
        let nics = self.nics.iter();
        // Summed over planes: every NIC has all receive queue pairs and counts on those of its
        // plane.
        nics.map(|nic| nic.received_in_part(slot)).sum()
    }

    pub(super) fn counters(&self) -> NicCounters {
        let nics = self.nics.iter();
        nics.map(Nic::counters).fold(NicCounters::default(), sum)
    }

    pub(super) fn is_open(&self, slot: SendSlot) -> bool {
        self.of(slot).is_open(slot)
    }

    pub(super) fn take_marks(&mut self, slot: ReceiveSlot) -> Marks {
        let taken = self.nics.iter_mut().map(|nic| nic.take_marks(slot));
        taken.fold(Marks::default(), |sum, of| Marks {
            frames: sum.frames + of.frames,
            notifications: sum.notifications + of.notifications,
        })
    }

    pub(super) fn next_delivery(&mut self) -> Option<Delivery> {
        self.nics.iter_mut().find_map(Nic::next_delivery)
    }

    pub(super) fn errors(&self) -> impl Iterator<Item = &QueuePairError> {
        self.nics.iter().flat_map(Nic::errors)
    }

    pub(super) fn acknowledged(&self) -> impl Iterator<Item = (HostId, u32)> + '_ {
        let of_nics: Vec<_> = self.nics.iter().map(Nic::acknowledged).collect();
        let homes = self.homes.iter().enumerate();
        homes.map(move |(slot, &home)| of_nics[usize::from(home)][slot])
    }

    pub(super) fn unfinished(&self, slot: SendSlot) -> impl Iterator<Item = WorkRequest> + '_ {
        self.of(slot).unfinished(slot).into_iter()
    }

    pub(super) fn unfinished_count(&self, slot: SendSlot) -> usize {
        self.of(slot).unfinished_count(slot)
    }

    pub(super) fn delivered(&self, slot: ReceiveSlot) -> u32 {
        self.nics.iter().map(|nic| nic.delivered(slot)).sum()
    }

    pub(super) fn reset_delivered(&mut self, first: ReceiveSlot, count: usize) {
        for nic in &mut self.nics {
            nic.reset_delivered(first, count);
        }
    }

    pub(super) fn has_given_up(&self, slot: SendSlot) -> bool {
        self.of(slot).has_given_up(slot)
    }

    pub(super) fn goes_on(&self, slot: SendSlot, is_up: &dyn Fn(u16) -> bool) -> bool {
        let up = match &self.sprayed {
            None => is_up(self.homes[slot].into()),
            Some(_) => (0..self.ports()).any(is_up),
        };
        self.of(slot).goes_on(slot, &|_| up)
    }
}
