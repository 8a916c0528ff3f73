//! A leaf in a scheduled fabric: arrivals, departures and timers, in the order of time.

mod prefetch;

use std::collections::VecDeque;
use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;

use crate::topology::{HostId, Routing};
use tenter_engine::{EventList, Output};
use tenter_language::units::{Instant, Time};

use crate::net::buffer::{Admission, Buffer, QueuedFrame, SharedBuffer, Storage, Unlimited};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{Cell, CreditMessage, Packet, PacketKind, Pause};
use crate::net::port::{Port, PortEnv};
use crate::net::scheduled::ahead::Ahead;
use crate::net::scheduled::credit::CreditScheduler;
use crate::net::scheduled::earliest::Earliest;
use crate::net::scheduled::reassembly::Assembly;
use crate::net::scheduled::slots::Slots;
use crate::net::scheduled::spec::{HostPlace, ScheduledSpec};
use crate::net::scheduled::spray::Spray;
use crate::net::scheduled::voq::Voq;
use crate::net::switch::Chassis;
use crate::net::transmitter::WireLosses;

/// Control link from a leaf to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Input of the other leaf for messages from this one.
    pub output: Output,
    /// Delay of every message, no longer than the fastest path of a cell.
    pub latency: Time,
}

/// Connections of a leaf with the rest of the fabric.
#[derive(Clone, Debug)]
pub struct LeafWiring {
    /// Number of the leaf among all leaves.
    pub number: u16,
    /// Control links to all leaves; `None` to the leaf itself.
    pub peers: Vec<Option<Peer>>,
    /// Leaf and port of every host.
    pub places: Arc<[HostPlace]>,
    /// True if cells may be lost on their way, so that packets may have to be given up.
    pub may_lose: bool,
    /// Seed of the trial and name of the leaf, for its random stream.
    pub name: (u64, String),
}

/// A number of frames, with their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCount {
    /// Number of frames that were counted.
    pub frames: u64,
    /// Frame bytes of the counted frames.
    pub bytes: u64,
}

impl FrameCount {
    /// Counts a packet as one frame.
    #[inline]
    pub fn count(&mut self, packet: &Packet) {
        self.frames += 1;
        self.bytes += u64::from(packet.frame_bytes);
    }
}

impl AddAssign for FrameCount {
    fn add_assign(&mut self, other: FrameCount) {
        self.frames += other.frames;
        self.bytes += other.bytes;
    }
}

impl fmt::Display for FrameCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames of {} bytes", self.frames, self.bytes)
    }
}

/// Counters of a leaf in a scheduled fabric, in frame bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafRecord {
    /// Frames that came from hosts and were not dropped.
    pub accepted: FrameCount,
    /// Accepted frames that wait for credit.
    pub waiting: FrameCount,
    /// Accepted frames that were sent to other leaves.
    pub sent: FrameCount,
    /// Frames that came whole from other leaves.
    pub assembled: FrameCount,
    /// Frames that were announced and are not whole, or wait for one that is not.
    pub assembling: FrameCount,
    /// Frames that were given up because a cell did not come.
    pub given_up: FrameCount,
    /// Frames that went to ports of hosts, from this leaf or another.
    pub delivered: FrameCount,
    /// Most frame bytes that ever waited in one virtual output queue.
    pub voq_high_water_bytes: u64,
    /// Most frame bytes that ever waited in all virtual output queues together.
    pub voqs_high_water_bytes: u64,
    /// Requests and credits sent to other leaves.
    pub control_messages: u64,
    /// Credits granted by this leaf's ports.
    pub credits: u64,
    /// Most packets from one virtual output queue that were ever on their way at once.
    pub reorder_high_water: u64,
}

/// Destination and class of a virtual output queue.
#[derive(Clone, Copy, Debug)]
struct VoqKey {
    host: HostId,
    /// Queue number of the class.
    class: usize,
}

/// Leaf and class that packets come from.
#[derive(Clone, Copy, Debug)]
struct Source {
    leaf: u16,
    /// Queue number of the class.
    class: usize,
}

/// A request or a credit, for a virtual output queue.
#[derive(Clone, Copy, Debug)]
struct Message {
    kind: PacketKind,
    of: VoqKey,
    bytes: u32,
}

/// State of a leaf beside the parts of any switch.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    spec: ScheduledSpec,
    wiring: LeafWiring,
    classes: usize,
    /// Virtual output queues, by host, then class.
    voqs: Vec<Voq>,
    /// Credit schedulers by port; `None` at ports into the fabric.
    credits: Vec<Option<CreditScheduler>>,
    /// Host at each port; [`Packet::NO_HOST`] at ports into the fabric.
    hosts: Vec<HostId>,
    /// Packets from other leaves, by source leaf, then port of a host, then class.
    assemblies: Vec<Assembly>,
    /// Memory for the packets in virtual output queues and assemblies.
    slots: Slots,
    /// Number of ports up to the last one with a host.
    host_ports: usize,
    /// By port: cells that a link into the fabric has not begun to send.
    aheads: Vec<Ahead>,
    spray: Spray,
    /// Next departure at each host port.
    departures: Earliest,
    /// Next credit due at each host port.
    dues: Earliest,
    /// Packets to be given up, as (instant, assembly, number), if cells may be lost. All have the
    /// same timeout, so they are in the order of time.
    deadlines: VecDeque<(Instant, u32, u32)>,
    /// Frame bytes that wait in all virtual output queues together.
    voq_bytes: u64,
    record: LeafRecord,
}

impl Leaf {
    pub(crate) fn new(
        spec: &ScheduledSpec,
        wiring: LeafWiring,
        ports: &[Port],
        classes: usize,
    ) -> Leaf {
        let leaves = wiring.peers.len();
        let own = HostId::new(0).run(wiring.places.len() as u32);
        let own = own.zip(wiring.places.iter());
        let own = own.filter(|(_, at)| at.leaf == wiring.number);
        let mut credits = vec![None; ports.len()];
        let mut hosts = vec![Packet::NO_HOST; ports.len()];
        let mut host_ports = 0;
        // The other ports lead into the fabric: they have neither credits nor a host.
        for (host, place) in own {
            let port = usize::from(place.port);
            let rate = ports[port].bits_per_second();
            credits[port] = Some(CreditScheduler::new(spec, rate, leaves, classes));
            hosts[port] = host;
            host_ports = host_ports.max(port + 1);
        }
        let (seed, name) = &wiring.name;
        Leaf {
            spec: spec.clone(),
            classes,
            // One virtual output queue for each host of the fabric and class.
            voqs: vec![Voq::default(); wiring.places.len() * classes],
            credits,
            hosts,
            aheads: vec![Ahead::default(); ports.len()],
            // One reassembly for each sending leaf, own host port and class.
            assemblies: vec![Assembly::default(); leaves * host_ports * classes],
            slots: Slots::default(),
            spray: Spray::new(spec.spray, leaves, *seed, name),
            departures: Earliest::new(host_ports),
            dues: Earliest::new(host_ports),
            deadlines: VecDeque::new(),
            voq_bytes: 0,
            record: LeafRecord::default(),
            host_ports,
            wiring,
        }
    }

    /// Returns the instant of the leaf's next timer: a credit, or a packet to be given up.
    pub(crate) fn next_timer(&self) -> Instant {
        let deadline = self
            .deadlines
            .front()
            .map_or(Instant::NEVER, |deadline| deadline.0);
        self.dues.first().0.min(deadline)
    }

    pub(crate) fn record(&self) -> LeafRecord {
        let mut record = self.record;
        let slots = &self.slots;
        let waiting = self.voqs.iter().flat_map(|voq| voq.waiting(slots));
        waiting.for_each(|packet| record.waiting.count(packet));
        let assembling = self.assemblies.iter();
        let assembling = assembling.flat_map(|assembly| assembly.waiting(slots));
        assembling.for_each(|packet| record.assembling.count(packet));
        let granted = self.credits.iter().flatten().map(CreditScheduler::granted);
        record.credits = granted.sum();
        record
    }

    /// Returns the packets that wait in the virtual output queues of a class.
    pub(crate) fn waiting_in(&self, class: usize) -> impl Iterator<Item = &Packet> {
        let voqs = self.voqs.iter().skip(class).step_by(self.classes);
        voqs.flat_map(|voq| voq.waiting(&self.slots))
    }

    /// Returns the cells that a link has been given and has not begun to send.
    pub(crate) fn ahead(&self, port: u16) -> &Ahead {
        &self.aheads[usize::from(port)]
    }

    /// As [`Leaf::ahead`], for changes.
    pub(crate) fn ahead_mut(&mut self, port: u16) -> &mut Ahead {
        &mut self.aheads[usize::from(port)]
    }

    /// Returns the number of a virtual output queue.
    #[inline]
    fn voq(&self, of: VoqKey) -> usize {
        of.host.index() * self.classes + of.class
    }

    fn is_host_port(&self, port: u16) -> bool {
        let host = self.hosts.get(usize::from(port));
        host.is_some_and(|&host| host != Packet::NO_HOST)
    }
}

/// Arrivals in a block, the unit of prefetching. Parts that lead to other memory are prefetched two
/// blocks ahead, that memory one block ahead, and places to which packets go from there at the
/// start of their own block.
const BLOCK: usize = 16;

/// A leaf of a scheduled fabric.
///
/// The leaf's buffer is for packets in virtual output queues. Packets at host ports have credit,
/// and room without limit.
#[derive(Clone, Debug)]
pub(crate) struct VoqLeaf {
    pub(crate) chassis: Chassis,
    pub(crate) buffer: SharedBuffer,
    pub(crate) leaf: Leaf,
}

impl VoqLeaf {
    pub(crate) fn new(
        chassis: Chassis,
        buffer: SharedBuffer,
        spec: &ScheduledSpec,
        wiring: LeafWiring,
    ) -> VoqLeaf {
        let leaf = Leaf::new(spec, wiring, &chassis.ports, chassis.class_of.len());
        VoqLeaf {
            chassis,
            buffer,
            leaf,
        }
    }

    /// Returns the instant of the next departure or timer.
    fn next_event(&self) -> Instant {
        self.leaf.departures.first().0.min(self.next_timer())
    }

    /// Returns the instant of the next timer; departures are no timers.
    pub(crate) fn next_timer(&self) -> Instant {
        self.leaf.next_timer().min(self.buffer.next_refresh())
    }

    /// Advances the leaf until just before `end`, with all `arrivals`; returns the instant of its
    /// next event.
    pub(crate) fn visit<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        routing: &Routing,
        medium: &mut M,
    ) -> Option<Instant> {
        let all = arrivals.len();
        let (mut served, mut prefetched) = (0, 0);
        let is_large = self.leaf.is_large();
        let mut next = (all > 0).then(|| arrivals.get(0));
        loop {
            if is_large && served == prefetched && served < all {
                self.prefetch_ahead(arrivals, served, routing, medium);
                prefetched += BLOCK;
            }
            let (departure, port) = self.leaf.departures.first();
            let own = self.next_event();
            let arrival = next.map_or(Instant::NEVER, |(packet, _)| packet.at);
            let now = own.min(arrival);
            if now >= end {
                return (!own.is_never()).then_some(own);
            }
            // At one instant: departures, then arrivals, then timers (decision 0002).
            match next {
                _ if departure == now => self.advance_port(port as u16, now, medium),
                Some((packet, input)) if arrival == now => {
                    self.arrive(packet, input, routing, medium);
                    served += 1;
                    next = (served < all).then(|| arrivals.get(served));
                }
                _ => self.fire(now, medium),
            }
        }
    }

    /// Implements [`Switch::advance_to`](crate::net::Switch::advance_to).
    pub(crate) fn advance_to<M: Medium>(
        &mut self,
        end: Instant,
        medium: &mut M,
    ) -> Option<Instant> {
        loop {
            let (departure, port) = self.leaf.departures.first();
            let now = self.next_event();
            if now >= end {
                return (!now.is_never()).then_some(now);
            }
            if departure == now {
                self.advance_port(port as u16, now, medium);
            } else {
                self.fire(now, medium);
            }
        }
    }

    /// Handles a packet that arrives through any input. With n ports, inputs from n on are those of
    /// pause frames, and inputs from 2n on those of control links.
    pub(crate) fn arrive<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        let ports = self.chassis.ports.len() as u16;
        if input >= 2 * ports {
            self.take_control(packet, input - 2 * ports, routing, medium);
        } else if input >= ports {
            self.on_pause(packet, input - ports, medium);
        } else {
            self.chassis.count_arrival(packet, input, medium);
            if self.leaf.is_host_port(input) {
                self.take_from_host(packet, input, routing, medium);
            } else {
                self.take_cell(packet, medium);
            }
        }
    }

    /// Stores a host's packet in its virtual output queue, and pauses the host if that is due; a
    /// packet without room is dropped.
    fn take_from_host<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        let class = self.chassis.rules.queue(packet);
        let of = VoqKey {
            host: packet.destination,
            class,
        };
        let number = self.leaf.voq(of);
        let frame = u64::from(packet.frame_bytes);
        let before = self.leaf.voqs[number].bytes();
        // A virtual output queue is at no port of this leaf: the input stands for one.
        let waiting = QueuedFrame {
            input,
            output: input,
            queue: class,
            bytes: frame,
            others: before,
        };
        let admission = self.buffer.admission(&waiting);
        if admission == Admission::Refused {
            self.chassis.ports[usize::from(input)].drop_frame(class, packet, packet.at, medium);
            return;
        }
        self.buffer.charge(admission, waiting, packet.at);
        self.chassis.note(EventKind::Queued, packet, input, medium);
        let leaf = &mut self.leaf;
        leaf.record.accepted.count(packet);
        leaf.voqs[number].push(packet, input, &mut leaf.slots);
        leaf.voq_bytes += frame;
        let record = &mut leaf.record;
        record.voq_high_water_bytes = record.voq_high_water_bytes.max(before + frame);
        record.voqs_high_water_bytes = record.voqs_high_water_bytes.max(leaf.voq_bytes);
        self.flush_control(packet.at, medium);
        self.request(of, packet.at, medium);
        self.serve(of, routing, packet.at, medium);
    }

    /// Requests the bytes that a queue has no credit for, from the scheduler of its port.
    fn request<M: Medium>(&mut self, of: VoqKey, now: Instant, medium: &mut M) {
        let leaf = &mut self.leaf;
        let number = leaf.voq(of);
        let Some(bytes) = leaf.voqs[number].request() else {
            return;
        };
        let place = leaf.wiring.places[of.host.index()];
        // Within a leaf requests take no time.
        if place.leaf == leaf.wiring.number {
            let from = Source {
                leaf: place.leaf,
                class: of.class,
            };
            self.on_request(place.port, from, bytes, now);
        } else {
            let kind = PacketKind::CreditRequest;
            self.send_message(place.leaf, Message { kind, of, bytes }, now, medium);
        }
    }

    /// Sends a message over a control link.
    fn send_message<M: Medium>(
        &mut self,
        to: u16,
        Message { kind, of, bytes }: Message,
        now: Instant,
        medium: &mut M,
    ) {
        let class = self.chassis.class_of[of.class];
        let message = CreditMessage {
            host: of.host,
            bytes,
        };
        let message = message.packet(kind, class, now);
        self.leaf.record.control_messages += 1;
        self.send_to_leaf(to, &message, now, medium);
    }

    fn send_to_leaf<M: Medium>(&self, to: u16, packet: &Packet, now: Instant, medium: &mut M) {
        let peer = self.leaf.wiring.peers[usize::from(to)];
        let peer = peer.expect("a leaf tells itself nothing");
        medium.send(peer.output, now + peer.latency, packet);
    }

    /// Sends the packets in a virtual output queue that have credit.
    fn serve<M: Medium>(&mut self, of: VoqKey, routing: &Routing, now: Instant, medium: &mut M) {
        while let Some((packet, number)) = self.take_out(of, now) {
            let place = self.leaf.wiring.places[of.host.index()];
            if place.leaf == self.leaf.wiring.number {
                self.deliver(&packet, place.port, now, medium);
            } else {
                // The announcement comes before any cell, which also takes its time on a wire.
                self.send_to_leaf(place.leaf, &packet, now, medium);
                self.send_cells(&packet, place.leaf, number, routing, medium);
            }
        }
        self.flush_control(now, medium);
    }

    /// Takes the next packet with credit out of its queue and the buffer; returns it with its
    /// number.
    fn take_out(&mut self, of: VoqKey, now: Instant) -> Option<(Packet, u32)> {
        let leaf = &mut self.leaf;
        let number = leaf.voq(of);
        let voq = &mut leaf.voqs[number];
        let (mut packet, number) = voq.pop(&mut leaf.slots)?;
        let left = QueuedFrame {
            input: packet.stored_from(),
            output: packet.stored_from(),
            queue: of.class,
            bytes: u64::from(packet.frame_bytes),
            others: voq.bytes(),
        };
        leaf.voq_bytes -= left.bytes;
        self.buffer.release(left, now);
        packet.at = now;
        Some((packet, number))
    }

    /// Cuts a packet and sends its cells to the leaf `to`, over all links that are up and lead
    /// there.
    fn send_cells<M: Medium>(
        &mut self,
        packet: &Packet,
        to: u16,
        number: u32,
        routing: &Routing,
        medium: &mut M,
    ) {
        let leaf = &mut self.leaf;
        leaf.record.sent.count(packet);
        let now = packet.at;
        let candidates = routing.candidates(self.chassis.index, packet.destination);
        // Ports of the fabric mark these cells as others mark data: that indicates congestion.
        let marks = leaf.spec.indication.map_or(0, |_| Packet::ECN_CAPABLE);
        for place in 0..leaf.spec.cells(packet.frame_bytes) {
            let cell = Cell {
                leaf: leaf.wiring.number,
                number,
            };
            let mut cell = cell.part_of(packet);
            cell.frame_bytes = leaf.spec.cell_frame_bytes(packet.frame_bytes, place);
            cell.flags |= marks;
            let mut number = usize::from(candidates[0]);
            // If no link is up, the cell is lost at the last one that was tried.
            for _ in 0..candidates.len() {
                let chosen = leaf.spray.next(usize::from(to), candidates.len());
                number = usize::from(candidates[chosen]);
                if !self.chassis.ports[number].transmitter().is_dark() {
                    break;
                }
            }
            let port = &mut self.chassis.ports[number];
            // The leaf's own link has no queue: the cells ahead on it stand for one.
            let indication = leaf.spec.indication;
            if indication.is_some_and(|of| port.bytes_ahead(now) > of.threshold_bytes) {
                cell.flags |= Packet::CONGESTION_EXPERIENCED;
            }
            port.send_on(&cell, now, &mut leaf.aheads[number], medium);
        }
    }

    /// Handles a message from another leaf: a request, a credit, or the announcement of a packet.
    fn take_control<M: Medium>(
        &mut self,
        message: &Packet,
        from: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        let class = self.chassis.rules.queue(message);
        let host = message.destination;
        let of = VoqKey { host, class };
        let from = Source { leaf: from, class };
        match message.kind {
            PacketKind::CreditRequest => {
                let port = self.leaf.wiring.places[host.index()].port;
                let bytes = CreditMessage::of(message).bytes;
                self.on_request(port, from, bytes, message.at);
            }
            PacketKind::Credit => {
                let leaf = &mut self.leaf;
                let number = leaf.voq(of);
                leaf.voqs[number].credit(CreditMessage::of(message).bytes);
                self.serve(of, routing, message.at, medium);
            }
            _ => self.announce(message, from),
        }
    }

    fn on_request(&mut self, port: u16, from: Source, bytes: u32, now: Instant) {
        if let Some(credits) = &mut self.leaf.credits[usize::from(port)] {
            credits.ask(from.leaf, from.class, bytes);
        }
        self.plan_credit(port, now);
    }

    /// Plans the next credit of a port, by its queue, its requests and its pauses.
    fn plan_credit(&mut self, number: u16, now: Instant) {
        let leaf = &mut self.leaf;
        let port = &self.chassis.ports[usize::from(number)];
        let Some(credits) = &leaf.credits[usize::from(number)] else {
            return;
        };
        let due = if port.queue_bytes() >= leaf.spec.egress_buffer_bytes {
            Instant::NEVER
        } else {
            if leaf.is_large() {
                credits.prefetch_next();
            }
            credits.due(now, |class| port.paused_until(class))
        };
        leaf.dues.set(usize::from(number), due);
    }

    fn assembly(&self, port: u16, from: Source) -> usize {
        let place = usize::from(from.leaf) * self.leaf.host_ports + usize::from(port);
        place * self.leaf.classes + from.class
    }

    /// Notes a packet that another leaf has sent.
    fn announce(&mut self, packet: &Packet, from: Source) {
        let port = self.leaf.wiring.places[packet.destination.index()].port;
        let place = self.assembly(port, from);
        let leaf = &mut self.leaf;
        let cells = leaf.spec.cells(packet.frame_bytes);
        let number = leaf.assemblies[place].announce(packet, cells, &mut leaf.slots);
        let depth = leaf.assemblies[place].len() as u64;
        leaf.record.reorder_high_water = leaf.record.reorder_high_water.max(depth);
        if leaf.wiring.may_lose {
            let deadline = packet.at + leaf.spec.reassembly_timeout;
            // With one timeout for all, deadlines come in the order of time.
            leaf.deadlines.push_back((deadline, place as u32, number));
        }
    }

    /// Handles a cell that came out of the fabric.
    fn take_cell<M: Medium>(&mut self, cell: &Packet, medium: &mut M) {
        let HostPlace { leaf, port } = self.leaf.wiring.places[cell.destination.index()];
        let class = self.chassis.rules.queue(cell);
        // After a link failure a cell on a detour may come to a leaf that it should only pass: it
        // is lost, like a cell whose packet has been given up.
        if leaf != self.leaf.wiring.number {
            return;
        }
        if self.leaf.spec.indication.is_some()
            && cell.has(Packet::CONGESTION_EXPERIENCED)
            && let Some(credits) = &mut self.leaf.credits[usize::from(port)]
        {
            credits.slow_down(cell.at);
        }
        let Cell { leaf, number } = Cell::of(cell);
        let from = Source { leaf, class };
        let place = self.assembly(port, from);
        let leaf = &mut self.leaf;
        if leaf.assemblies[place].take(number, &mut leaf.slots) {
            self.release(place, port, cell.at, medium);
        }
    }

    /// Delivers the packets of an assembly that are whole and in order.
    fn release<M: Medium>(&mut self, place: usize, port: u16, now: Instant, medium: &mut M) {
        loop {
            let leaf = &mut self.leaf;
            let Some(mut packet) = leaf.assemblies[place].pop(&mut leaf.slots) else {
                return;
            };
            self.leaf.record.assembled.count(&packet);
            packet.at = now;
            self.deliver(&packet, port, now, medium);
        }
    }

    /// Sends a packet to its host, or lets it wait at the host's port.
    fn deliver<M: Medium>(&mut self, packet: &Packet, number: u16, now: Instant, medium: &mut M) {
        self.leaf.record.delivered.count(packet);
        let class = self.chassis.rules.queue(packet);
        self.bring_port(number, now, medium);
        let port = &mut self.chassis.ports[usize::from(number)];
        if port.is_free(class, now) {
            port.pass(packet, now, medium);
        } else if port.is_closed(class) {
            port.lose(packet, now, medium);
        } else {
            // It has credit, so no buffer is charged.
            port.store(packet, number, class, &self.chassis.rules, medium);
        }
        self.look_at_port(number, now);
    }

    /// Starts the waiting frames of a host port up to and including `now`; links into the fabric
    /// have none.
    pub(crate) fn advance_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        if self.leaf.is_host_port(number) {
            self.bring_port(number, now, medium);
            self.look_at_port(number, now);
        }
    }

    /// As [`VoqLeaf::advance_port`], for a caller that goes on to change the port and plans anew
    /// then.
    fn bring_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        let mut unlimited = Unlimited;
        let mut around = self.chassis.rules.around(&mut unlimited);
        self.chassis.ports[usize::from(number)].advance(now, &mut around, medium);
    }

    /// Plans the next departure and the next credit of a host port that has changed.
    fn look_at_port(&mut self, number: u16, now: Instant) {
        let departure = self.chassis.ports[usize::from(number)].next_departure();
        let departure = departure.unwrap_or(Instant::NEVER);
        self.leaf.departures.set(usize::from(number), departure);
        self.plan_credit(number, now);
    }

    /// Applies a pause frame from a host.
    fn on_pause<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        self.chassis.note(EventKind::Obeyed, packet, number, medium);
        if self.leaf.is_host_port(number) {
            self.bring_port(number, packet.at, medium);
        }
        let class = self.chassis.rules.queue(packet);
        self.chassis.ports[usize::from(number)].obey(class, Pause::of(packet).quanta, packet.at);
        if self.leaf.is_host_port(number) {
            self.look_at_port(number, packet.at);
        }
    }

    /// Does the first thing that is due at `now`: repeats pauses, grants a credit, or gives up a
    /// packet. Callers come back while anything is due.
    pub(crate) fn fire<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        if self.buffer.next_refresh() == now {
            self.buffer.refresh(now);
            self.flush_control(now, medium);
        } else if self.leaf.dues.first().0 == now {
            let port = self.leaf.dues.first().1 as u16;
            self.grant(port, now, medium);
        } else {
            self.give_up(now, medium);
        }
    }

    /// Grants the credit that is due at a port.
    fn grant<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        let leaf = &mut self.leaf;
        let port = &self.chassis.ports[usize::from(number)];
        let granted = leaf.credits[usize::from(number)]
            .as_mut()
            .and_then(|credits| credits.grant(now, |class| port.paused_until(class)));
        self.plan_credit(number, now);
        let Some((to, class)) = granted else {
            return;
        };
        let bytes = self.leaf.spec.credit_bytes;
        let of = VoqKey {
            host: self.leaf.hosts[usize::from(number)],
            class,
        };
        if to != self.leaf.wiring.number {
            let kind = PacketKind::Credit;
            self.send_message(to, Message { kind, of, bytes }, now, medium);
            return;
        }
        let voq = self.leaf.voq(of);
        // Within a leaf a credit takes no time, and packets are not cut.
        self.leaf.voqs[voq].credit(bytes);
        while let Some((packet, _)) = self.take_out(of, now) {
            self.deliver(&packet, number, now, medium);
        }
        self.flush_control(now, medium);
    }

    /// Gives up the packet whose timeout has passed, if it misses cells.
    fn give_up<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        let Some((_, place, number)) = self.leaf.deadlines.pop_front() else {
            return;
        };
        let leaf = &mut self.leaf;
        let Some(packet) = leaf.assemblies[place as usize].give_up(number, &mut leaf.slots) else {
            return;
        };
        leaf.record.given_up.count(&packet);
        let port = leaf.wiring.places[packet.destination.index()].port;
        self.release(place as usize, port, now, medium);
    }

    /// Sends the pending pause frames.
    pub(crate) fn flush_control<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        while self.buffer.has_pending() {
            for control in self.buffer.take_all_pending() {
                self.advance_port(control.port, now, medium);
                let class = self.chassis.class_of[usize::from(control.queue)];
                let port = &mut self.chassis.ports[usize::from(control.port)];
                port.send_pending(class, control, now, medium);
                if self.leaf.is_host_port(control.port) {
                    self.look_at_port(control.port, now);
                }
            }
        }
    }

    /// Changes a port from outside at `now`, by `change`, and plans what follows from it.
    pub(crate) fn change<M: Medium>(
        &mut self,
        number: u16,
        now: Instant,
        medium: &mut M,
        change: impl FnOnce(&mut Port, &mut PortEnv<'_, Unlimited>, &mut M),
    ) {
        let mut unlimited = Unlimited;
        let mut around = self.chassis.rules.around(&mut unlimited);
        let port = &mut self.chassis.ports[usize::from(number)];
        change(port, &mut around, medium);
        let rate = port.bits_per_second();
        if let Some(credits) = &mut self.leaf.credits[usize::from(number)] {
            credits.set_rate(rate);
            self.look_at_port(number, now);
        }
        self.flush_control(now, medium);
    }

    /// Implements [`Switch::link_down`](crate::net::Switch::link_down).
    pub(crate) fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: Instant,
        medium: &mut M,
    ) {
        self.buffer.link_down(number, now);
        let end = self.chassis.ports[usize::from(number)]
            .transmitter()
            .free_at();
        let back = self.leaf.ahead_mut(number).take_back(now, end);
        self.change(number, now, medium, |port, around, medium| {
            // The cells ahead count as sent, so they are among the losses under way: they are taken
            // off the count of sent frames before the failure, and off its losses afterwards.
            port.transmitter_mut().take_back(&back);
            port.link_down(now, under_way, around, medium);
            port.unsend(&back);
        });
    }

    /// Implements [`Switch::link_up`](crate::net::Switch::link_up).
    pub(crate) fn link_up<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        self.buffer.link_up(number, now);
        self.change(number, now, medium, |port, _, _| port.link_up(now));
    }

    /// Implements [`Switch::stop_sending`](crate::net::Switch::stop_sending).
    pub(crate) fn stop_sending(&mut self, now: Instant) {
        for (number, port) in (0..).zip(&mut self.chassis.ports) {
            let wire = port.transmitter_mut();
            let back = self.leaf.ahead_mut(number).take_back(now, wire.free_at());
            wire.take_back(&back);
        }
    }
}
