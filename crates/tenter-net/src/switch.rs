//! A switch: route, choose, admit, queue, pause.

mod circuit;
mod credit;
mod input_queued;
mod model;
mod signals;
mod wire;

use model::Model;
pub use model::SwitchModel;
use tenter_topology::{Routing, TreePlace};
use tenter_units::{SerialisationTime, Time};

use crate::buffer::{Admission, PausesBy, PoolRecord, PriorityGroupRecord, SharedBuffer};
use crate::departures::Departures;
use crate::input_queued::Crossbar;
use crate::load_balancing::Balancer;
use crate::medium::{Event, EventKind, Medium};
use crate::packet::{Packet, PacketKind};
use crate::port::{Port, PortEnv, PortRules};
use crate::scheduled::spray::Spray;
use crate::scheduled::{AtWork, Leaf, LeafRecord};
use crate::signals::Signals;
use crate::spec::SwitchSpec;
use crate::transmitter::{Transmitter, WireLosses};
use crate::visit_counts::VisitCounts;
use crate::watchdog::WatchdogSpec;

/// The headroom of a switch in bytes, for each port the one of each class.
pub type Headrooms = Vec<u64>;

/// An output-queued switch with a shared buffer.
///
/// While no sender is paused its ports are lazy. While one is, a departure may have to let it go
/// on, so departures are carried out in the order of time (`merge`).
#[derive(Clone, Debug)]
pub struct Switch {
    node: u32,
    /// Its number among the switches.
    pub(crate) index: u32,
    pub(crate) balancer: Balancer,
    pub(crate) ports: Vec<Port>,
    /// Frames and frame bytes that arrived, per port, without pause frames.
    received: Vec<(u64, u64)>,
    /// Ports whose queues may hold something.
    pub(crate) active: Vec<u64>,
    pub(crate) buffer: SharedBuffer,
    pub(crate) rules: PortRules,
    class_of: Vec<u8>,
    /// Filled only while senders are paused.
    departures: Departures,
    pub(crate) visits: VisitCounts,
    /// What it has of its model alone.
    pub(crate) model: Model,
    /// What it has to do with signals to senders, if anything.
    pub(crate) signals: Option<Box<Signals>>,
}

impl Switch {
    /// The switch at `node` of the topology, number `index` among the switches, with the
    /// transmitters of its ports in order, after one of the models.
    pub fn new(
        (node, index, seed): (u32, u32, u32),
        spec: &SwitchSpec,
        transmitters: Vec<Transmitter>,
        headrooms: &Headrooms,
        model: SwitchModel<'_>,
    ) -> Switch {
        let quantum_ps = transmitters.iter().map(|wire| wire.pause_time(1));
        let quantum_ps = quantum_ps.collect();
        let queues = spec.classes.len();
        let rules = PortRules::new(&spec.classes, seed);
        let ports = transmitters.into_iter();
        let ports = ports.map(|wire| Port::new(wire, queues, rules.marking_late));
        let mut ports: Vec<Port> = ports.collect();
        let mut buffer = SharedBuffer::new(&spec.classes, &spec.pool_bytes, headrooms, quantum_ps);
        buffer.share(&spec.sharing, ports.len());
        if let SwitchModel::Credit(credit) = model {
            buffer.divide(credit, ports.len());
            for port in &mut ports {
                port.send_by_credit(credit);
            }
        }
        let balancer = if let SwitchModel::Spine { spec, seed, name } = model {
            let spray = Spray::new(spec.spray, ports.len(), (seed, name));
            Balancer::of_spine(spray, ports.len())
        } else {
            Balancer::new(&spec.load_balancing, ports.len())
        };
        Switch {
            node,
            index,
            balancer,
            model: Model::new(model, &ports, queues),
            received: vec![(0, 0); ports.len()],
            active: vec![0; ports.len().div_ceil(64)],
            departures: Departures::new(ports.len()),
            visits: VisitCounts::default(),
            ports,
            buffer,
            rules,
            class_of: spec.classes.iter().map(|class| class.class).collect(),
            signals: None,
        }
    }

    /// Packets that would wait for more than so long at every circuit straight to their leaf take
    /// the tree. Its load balancer must be one that may.
    pub fn spill(&mut self, limit: Time) {
        self.balancer.spill(limit.ps(), self.ports.len());
    }

    /// Says where it stands in the tree, before anything has happened: routing by destination goes
    /// by it.
    pub fn stand_at(&mut self, place: TreePlace) {
        self.balancer.stand_at(place);
    }

    /// What it has counted as a leaf of a scheduled fabric, if it is one.
    pub fn leaf_record(&self) -> Option<LeafRecord> {
        self.model.leaf().map(Leaf::record)
    }

    /// Frame bytes that wait in a class, at output ports or, in a leaf of a scheduled fabric, in
    /// virtual output queues: for each port those that came through it.
    pub fn waiting_by_port(&self, queue: usize) -> Vec<u64> {
        let mut bytes = vec![0; self.ports.len()];
        let mut note = |frame: &Packet| {
            bytes[usize::from(frame.stored_from())] += u64::from(frame.frame_bytes);
        };
        match self.model.leaf() {
            Some(leaf) => leaf.waiting_in(queue).for_each(&mut note),
            None => self
                .ports
                .iter()
                .for_each(|port| port.waiting_in(queue).for_each(&mut note)),
        }
        bytes
    }

    /// The parts a leaf of a scheduled fabric works with; `None` for any other switch.
    #[inline]
    pub(crate) fn at_work(&mut self) -> Option<AtWork<'_>> {
        let leaf = self.model.leaf_mut()?;
        Some(AtWork {
            leaf,
            ports: &mut self.ports,
            buffer: &mut self.buffer,
            rules: &self.rules,
            class_of: &self.class_of,
            received: &mut self.received,
            index: self.index,
        })
    }

    /// The node of the topology it is.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// Its ports, in order.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The class of each of its queues.
    pub fn classes(&self) -> &[u8] {
        &self.class_of
    }

    /// Whether the class of a queue is lossless.
    pub fn is_lossless(&self, queue: usize) -> bool {
        self.buffer.is_lossless(queue)
    }

    /// What senders of a class are paused for.
    pub fn pauses_by(&self, queue: usize) -> PausesBy {
        self.buffer.pauses_by(queue)
    }

    /// Whether queues of two classes take space from the same pool.
    pub fn shares_pool(&self, queue: usize, other: usize) -> bool {
        self.buffer.shares_pool(queue, other)
    }

    /// The output ports for whose queues the sender of a class at a port is paused; with each
    /// whether that lasts as long as this queue does not send, whatever else leaves.
    pub fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        self.buffer.full_queues(port, queue)
    }

    /// Says which ports lead to hosts, before anything has happened: it may be that only these are
    /// paused.
    pub fn lead_to_hosts(&mut self, to_host: Vec<bool>) {
        self.buffer.lead_to_hosts(to_host);
    }

    /// Frames and frame bytes that arrived through a port, without pause frames.
    pub fn received(&self, port: u16) -> (u64, u64) {
        self.received[usize::from(port)]
    }

    /// What the priority group of a port and a queue has been through up to `now`.
    pub fn ingress(&self, port: u16, queue: usize, now: u64) -> PriorityGroupRecord {
        self.buffer.ingress(port, queue, now)
    }

    /// What each pool of the shared buffer has been through.
    pub fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        self.buffer.pools()
    }

    /// Whether it has told a sender to pause and has not let it go on.
    pub fn is_pausing(&self) -> bool {
        self.buffer.is_armed()
    }

    /// Prefetches the frames that wait where frames do, for a visit in the order of time.
    #[inline]
    pub(crate) fn prefetch_frames(&self) {
        for (index, &word) in self.active.iter().enumerate() {
            let mut ports = word;
            while ports != 0 {
                self.ports[index * 64 + ports.trailing_zeros() as usize].prefetch_frames();
                ports &= ports - 1;
            }
        }
    }

    /// Takes a packet that arrives through `input` at `packet.at`. Inputs from the number of ports
    /// on are those of MAC control frames.
    pub fn arrive<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        if let Some(mut leaf) = self.at_work() {
            leaf.arrive(packet, input, routing, medium);
        } else if usize::from(input) >= self.ports.len() {
            let port = input - self.ports.len() as u16;
            match packet.kind {
                PacketKind::Notice => self.hear(packet, port, routing, medium),
                PacketKind::FlowControl | PacketKind::LostCredit => {
                    self.on_credit(packet, port, medium);
                }
                _ => self.obey(packet, port, medium),
            }
        } else {
            if self.balancer.is_exact() && !self.buffer.is_armed() {
                self.bring_to(packet.at, medium);
            }
            let port = self.route(packet, input, routing, medium);
            if self.signals.is_some() && self.signal(packet, (input, port), routing, medium) {
                return;
            }
            self.offer(packet, input, port, medium);
            if self.balancer.telemetry().is_some() {
                self.tell(packet, (input, port), routing, medium);
            }
        }
    }

    /// Counts a frame that arrives through `input`, and chooses the port it leaves by.
    #[expect(
        clippy::inline_always,
        reason = "once a packet; a call costs a quarter of it"
    )]
    #[inline(always)]
    pub(crate) fn route<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) -> u16 {
        let received = &mut self.received[usize::from(input)];
        received.0 += 1;
        received.1 += u64::from(packet.frame_bytes);
        self.note(EventKind::Arrived, packet, input, medium);
        let own = (self.index, self.rules.seed);
        self.balancer.port(packet, own, &self.ports, routing)
    }

    /// The port that all packets with this hash take to a host; `None` where the load balancer may
    /// choose another for each.
    pub fn fixed_port(&self, hash: u32, host: u32, routing: &Routing) -> Option<u16> {
        let candidates = routing.candidates(self.index, host);
        let seed = self.rules.seed;
        let place = self
            .balancer
            .fixed((hash, host), candidates, seed, (&self.ports, routing))?;
        candidates.get(place).copied()
    }

    pub(crate) fn note<M: Medium>(
        &self,
        kind: EventKind,
        packet: &Packet,
        input: u16,
        medium: &mut M,
    ) {
        if M::WATCHED {
            medium.note(Event {
                at: packet.at,
                node: self.node,
                port: input,
                kind,
                packet: *packet,
            });
        }
    }

    /// Sends a frame that came through `input` through port `number`, stores it there, or drops it.
    #[inline]
    pub fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        match self.model {
            Model::OutputQueued | Model::Leaf(_) => {
                self.offer_to_output(packet, input, number, medium);
            }
            Model::Credit => self.offer_by_credit(packet, (input, number), medium),
            Model::InputQueued(_) => self.offer_to_crossbar(packet, (input, number), medium),
        }
    }

    #[expect(clippy::inline_always, reason = "once a packet; a part of `offer`")]
    #[inline(always)]
    fn offer_to_output<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        number: u16,
        medium: &mut M,
    ) {
        let now = packet.at;
        let queue = self.rules.queue(packet);
        let port = &mut self.ports[usize::from(number)];
        let mut around = PortEnv {
            rules: &self.rules,
            buffer: &mut self.buffer,
        };
        port.advance(now, &mut around, medium);
        if port.is_free(queue, now) {
            port.pass(packet, now, medium);
        } else if port.is_closed(queue) {
            port.lose(packet, now, medium);
        } else if let Some(limit) = self.buffer.private_limit(queue) {
            port.store_within(limit, (packet, input, queue), &self.rules, medium);
            self.active[usize::from(number) / 64] |= 1 << (number % 64);
        } else {
            self.store_shared(packet, (input, number, queue), medium);
        }
        if self.buffer.is_armed() {
            self.enter_departure(number);
        }
    }

    /// Stores a frame that must wait in the shared buffer, or drops it.
    fn store_shared<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, number, queue): (u16, u16, usize),
        medium: &mut M,
    ) {
        let now = packet.at;
        let port = &self.ports[usize::from(number)];
        let frame = port.queued_frame(input, queue, packet);
        let mut admission = self.buffer.admission(&frame);
        // What has not been carried out yet can only have made room.
        if !self.buffer.is_armed()
            && (admission != Admission::Stored || self.buffer.needs_exact(&frame))
        {
            self.bring_to(now, medium);
            admission = self.buffer.admission(&frame);
        }
        let port = &mut self.ports[usize::from(number)];
        if admission == Admission::Refused {
            port.drop_frame(queue, packet, now, medium);
            return;
        }
        port.store((packet, input, queue), &self.rules, medium);
        if self.model.crossbar().is_some() {
            // Before control frames go out, each behind what its port sends: not behind this frame.
            port.leave_to_crossbar(queue);
        }
        self.active[usize::from(number) / 64] |= 1 << (number % 64);
        self.buffer.charge(admission, frame, now);
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
    }

    /// Obeys a pause frame from the other end of a port's link.
    pub(crate) fn obey<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        debug_assert_eq!(packet.kind, PacketKind::Pause);
        let now = packet.at;
        self.note(EventKind::Obeyed, packet, number, medium);
        self.advance_port(number, now, medium);
        let queue = self.rules.queue(packet);
        self.ports[usize::from(number)].obey(queue, packet.sequence, now);
        self.wake_crossbar(now);
        if self.buffer.is_armed() {
            self.enter_departure(number);
        }
    }

    /// Sends pending control frames. Each goes out behind what its own port starts at or before
    /// `now`, which may make room and so more control frames pending.
    fn flush_control<M: Medium>(&mut self, now: u64, medium: &mut M) {
        // Where senders go by credit, all departures are there at all times.
        let fresh = self.departures.is_empty() && !self.buffer.grants_credit();
        while let Some(mut control) = self.buffer.take_pending() {
            let port = &mut self.ports[usize::from(control.port)];
            let mut around = PortEnv {
                rules: &self.rules,
                buffer: &mut self.buffer,
            };
            port.advance(now, &mut around, medium);
            let class = self.class_of[usize::from(control.queue)];
            if let Some(signals) = &mut self.signals {
                signals.extend(&mut control, class, now);
            }
            port.send_pending(class, control, now, medium);
            self.departures.enter(control.port, port);
        }
        if !self.buffer.is_armed() {
            self.departures.clear();
        } else if fresh {
            for number in 0..self.ports.len() as u16 {
                self.enter_departure(number);
            }
        }
    }

    pub(crate) fn enter_departure(&mut self, number: u16) {
        self.departures
            .enter(number, &self.ports[usize::from(number)]);
    }

    /// Starts all waiting frames whose turn comes at or before `until`, port after port: exact
    /// while no sender is paused.
    #[inline]
    fn bring_to<M: Medium>(&mut self, until: u64, medium: &mut M) {
        let mut around = PortEnv {
            rules: &self.rules,
            buffer: &mut self.buffer,
        };
        for (index, word) in self.active.iter_mut().enumerate() {
            let mut ports = *word;
            while ports != 0 {
                let bit = ports & ports.wrapping_neg();
                ports ^= bit;
                let port = &mut self.ports[index * 64 + bit.trailing_zeros() as usize];
                port.advance(until, &mut around, medium);
                if !port.has_waiting() {
                    *word &= !bit;
                }
            }
        }
    }

    /// Does what comes before an arrival at `now` in the order of time: departures up to and
    /// including that instant, repetitions of pauses before it, and refreshes of what the load
    /// balancer knows.
    pub(crate) fn bring_before<M: Medium>(&mut self, now: u64, medium: &mut M) {
        self.refresh_quality_before(now, medium);
        if self.buffer.is_armed() {
            self.merge(now, now, medium);
        }
    }

    /// Refreshes what the load balancer knows of the ports as often as it must be before `end`.
    fn refresh_quality_before<M: Medium>(&mut self, end: u64, medium: &mut M) {
        while let Some(at) = self.balancer.next_refresh().filter(|at| *at < end) {
            self.merge(at, at, medium);
            if !self.buffer.is_armed() {
                self.bring_to(at, medium);
            }
            self.balancer.refresh(&self.ports, at);
        }
    }

    /// While senders are paused: carries out, in the order of time, departures up to and including
    /// `until` and repetitions of pauses before `refresh_before`.
    fn merge<M: Medium>(&mut self, until: u64, refresh_before: u64, medium: &mut M) {
        while self.buffer.is_armed() {
            let refresh = self.buffer.next_refresh();
            match self.departures.next(&self.ports) {
                Some((at, number)) if at <= until && at <= refresh => {
                    self.departures.pop();
                    self.depart(number, at, medium);
                }
                _ if refresh < refresh_before => self.refresh(refresh, medium),
                _ => return,
            }
        }
    }

    /// Starts the waiting frames of one port up to and including `now`, with all that follows from
    /// it.
    fn depart<M: Medium>(&mut self, number: u16, now: u64, medium: &mut M) {
        self.advance_port(number, now, medium);
        if self.buffer.is_armed() {
            self.enter_departure(number);
        }
    }

    /// Does what is due at `now`, for an engine with explicit timers: refreshes what the load
    /// balancer knows, and repeats pauses.
    pub fn fire<M: Medium>(&mut self, now: u64, medium: &mut M) {
        if let Some(mut leaf) = self.at_work() {
            leaf.fire(now, medium);
            return;
        }
        if self.balancer.next_refresh() == Some(now) {
            self.balancer.refresh(&self.ports, now);
        }
        if self.buffer.next_refresh() == now {
            self.refresh(now, medium);
        }
        let crossbar = self.model.crossbar();
        if crossbar.is_some_and(|of| of.next() == now) {
            self.match_inputs(now, medium);
        }
    }

    /// Repeats the pauses that are due at `now`.
    fn refresh<M: Medium>(&mut self, now: u64, medium: &mut M) {
        self.buffer.refresh(now);
        self.flush_control(now, medium);
    }

    /// The link of a port goes down at `now`, up to which everything has been done; what was under
    /// way from here is lost.
    pub fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: u64,
        medium: &mut M,
    ) {
        self.buffer.forget_pauses(number, now);
        if let Some(signals) = &mut self.signals {
            signals.forget(number);
        }
        if let Some(mut leaf) = self.at_work() {
            let end = leaf.ports[usize::from(number)].transmitter().free_at();
            let back = leaf.leaf.ahead_mut(number).take_back(now, end);
            leaf.change(number, now, medium, |port, around, medium| {
                port.transmitter_mut().take_back(&back);
                port.link_down(now, under_way, around, medium);
                port.unsend(&back);
            });
            return;
        }
        let mut around = PortEnv {
            rules: &self.rules,
            buffer: &mut self.buffer,
        };
        self.ports[usize::from(number)].link_down(now, under_way, &mut around, medium);
        if let Some(crossbar) = self.model.crossbar_mut() {
            crossbar.clear(number);
        }
        self.settle(now, medium);
    }

    /// The link of a port comes up at `now`. The other end knows of no pause.
    pub fn link_up<M: Medium>(&mut self, number: u16, now: u64, medium: &mut M) {
        self.buffer.forget_pauses(number, now);
        self.buffer.renew_credit(number);
        if let Some(mut leaf) = self.at_work() {
            leaf.change(number, now, medium, |port, _, _| port.link_up(now));
            return;
        }
        self.ports[usize::from(number)].link_up(now);
        self.settle(now, medium);
    }

    /// Frames of a port take another time on the wire from `now` on, and may have to arrive whole.
    pub fn set_serialisation<M: Medium>(
        &mut self,
        number: u16,
        (serialisation, arrives_whole): (SerialisationTime, bool),
        now: u64,
        medium: &mut M,
    ) {
        if let Some(mut leaf) = self.at_work() {
            leaf.change(number, now, medium, |port, _, _| {
                let wire = port.transmitter_mut();
                wire.set_serialisation(serialisation, arrives_whole, now);
            });
            return;
        }
        let transmitter = self.ports[usize::from(number)].transmitter_mut();
        transmitter.set_serialisation(serialisation, arrives_whole, now);
        self.settle(now, medium);
    }

    /// Ends a change from outside: sends what has become due, and looks anew when ports send.
    fn settle<M: Medium>(&mut self, now: u64, medium: &mut M) {
        self.wake_crossbar(now);
        self.flush_control(now, medium);
        if self.buffer.is_armed() {
            for number in 0..self.ports.len() as u16 {
                self.enter_departure(number);
            }
        }
    }

    /// Lets the PFC watchdog look at all lossless queues at `now`, up to which everything has been
    /// done; whether it did anything.
    pub fn watch<M: Medium>(&mut self, spec: &WatchdogSpec, now: u64, medium: &mut M) -> bool {
        let mut acted = false;
        for number in 0..self.ports.len() {
            for queue in 0..self.class_of.len() {
                if !self.buffer.is_lossless(queue) {
                    continue;
                }
                let mut around = PortEnv {
                    rules: &self.rules,
                    buffer: &mut self.buffer,
                };
                let port = &mut self.ports[number];
                acted |= spec.look(port, queue, now, &mut around, medium);
            }
        }
        if acted {
            self.settle(now, medium);
        }
        acted
    }

    /// When a pause must next be repeated, or the load balancer refreshed, if any must.
    pub fn next_timer(&self) -> Option<u64> {
        let pause = self.buffer.next_refresh();
        let quality = self.balancer.next_refresh().unwrap_or(u64::MAX);
        let of_leaf = self.model.leaf().map_or(u64::MAX, Leaf::next_timer);
        let of_crossbar = self.model.crossbar().map_or(u64::MAX, Crossbar::next);
        let next = pause.min(quality).min(of_leaf).min(of_crossbar);
        (next != u64::MAX).then_some(next)
    }

    /// Does everything that happens before `end`; returns when something next happens of its own.
    #[inline]
    pub fn advance_to(&mut self, end: u64, medium: &mut impl Medium) -> Option<u64> {
        if self.model.crossbar().is_some() {
            self.fire_before(end, medium);
            return self.next_timer();
        }
        self.refresh_quality_before(end, medium);
        self.merge(end - 1, end, medium);
        if !self.buffer.is_armed() {
            self.bring_to(end - 1, medium);
        }
        self.next_event()
    }

    /// When something next happens of its own.
    fn next_event(&self) -> Option<u64> {
        let mut next = self.next_timer();
        for (index, &word) in self.active.iter().enumerate() {
            let mut ports = word;
            while ports != 0 {
                let number = index * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                if let Some(departure) = self.ports[number].next_departure() {
                    next = Some(next.map_or(departure, |next| next.min(departure)));
                }
            }
        }
        next
    }

    /// Starts the waiting frames of one port up to and including `now` (for an engine with explicit
    /// departures, and for a port that is to change), with all that follows from it.
    pub fn advance_port<M: Medium>(&mut self, port: u16, now: u64, medium: &mut M) {
        if let Some(mut leaf) = self.at_work() {
            leaf.advance_port(port, now, medium);
            return;
        }
        let mut around = PortEnv {
            rules: &self.rules,
            buffer: &mut self.buffer,
        };
        self.ports[usize::from(port)].advance(now, &mut around, medium);
        if self.buffer.has_pending() {
            self.flush_control(now, medium);
        }
    }
}
