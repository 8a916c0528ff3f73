//! A switch: route, choose, admit, queue, pause.
//!
//! Each model has a type of its own over shared parts: ports and what belongs to them (`parts`),
//! the load balancer, a buffer. [`Switch`] is any of them.

mod circuit;
mod credit;
mod input_queued;
mod model;
mod output_queued;
mod outputs;
mod parts;
mod queued;
mod region_classes;
mod signals;
mod steady;

pub use model::SwitchModel;
pub(crate) use parts::Chassis;
pub use parts::{Headrooms, SwitchParts};
use queued::{CreditSwitch, InputQueued};
pub(crate) use queued::{OutputQueued, QueuedSwitch, Queueing};
use tenter_engine::EventList;
use tenter_topology::{HostId, NodeId, Routing};
use tenter_units::{Instant, SerialisationTime, Time};

use crate::arrivals_by_port::ArrivalsByPort;
use crate::buffer::{Buffer, PausesBy, Place, PoolRecord, PriorityGroupRecord, SharedBuffer};
use crate::credit::LaneBuffer;
use crate::load_balancing::{Balancer, Target};
use crate::medium::Medium;
use crate::packet::{Packet, REROUTE_FRAME_BYTES, SIGNAL_FRAME_BYTES};
use crate::port::Port;
use crate::scheduled::spray::Spray;
use crate::scheduled::{LeafRecord, VoqLeaf};
use crate::signals::{SignalRecord, Signals};
use crate::transmitter::{FarEnd, WireLosses};
use crate::visit_counts::VisitCounts;
use crate::watchdog::WatchdogSpec;

/// A switch after one of the models.
#[derive(Clone, Debug)]
pub struct Switch {
    kind: Kind,
}

/// A switch of each model.
#[derive(Clone, Debug)]
enum Kind {
    /// Also a spine of a scheduled fabric, which differs in its load balancer.
    OutputQueued(Box<OutputQueued>),
    Credit(Box<CreditSwitch>),
    InputQueued(Box<InputQueued>),
    Leaf(Box<VoqLeaf>),
}

/// Does the same for a switch of any model.
macro_rules! of_any {
    ($switch:expr, $each:ident => $do:expr) => {
        match $switch {
            Kind::OutputQueued($each) => $do,
            Kind::Credit($each) => $do,
            Kind::InputQueued($each) => $do,
            Kind::Leaf($each) => $do,
        }
    };
}

/// Does the same for a switch of any model but a leaf, for which `$leaf` is the outcome.
macro_rules! of_queued {
    ($switch:expr, $each:ident => $do:expr, $leaf:expr) => {
        match $switch {
            Kind::OutputQueued($each) => $do,
            Kind::Credit($each) => $do,
            Kind::InputQueued($each) => $do,
            Kind::Leaf(_) => $leaf,
        }
    };
}

impl Switch {
    /// A switch of these parts after one of the models.
    pub fn new(parts: SwitchParts<'_>, model: SwitchModel<'_>) -> Switch {
        let ports = parts.transmitters.len();
        let kind = match model {
            SwitchModel::OutputQueued => {
                let balancer = parts.balancer();
                Kind::OutputQueued(Box::new(OutputQueued::new(parts, balancer)))
            }
            SwitchModel::Spine { spec, seed, name } => {
                let spray = Spray::new(spec.spray, ports, seed, name);
                let balancer = Balancer::of_spine(spray, ports);
                Kind::OutputQueued(Box::new(OutputQueued::new(parts, balancer)))
            }
            SwitchModel::Credit(spec) => Kind::Credit(Box::new(CreditSwitch::new(parts, spec))),
            SwitchModel::InputQueued(spec) => {
                Kind::InputQueued(Box::new(InputQueued::new(parts, *spec)))
            }
            SwitchModel::Leaf(spec, wiring) => {
                let buffer = output_queued::shared_buffer(&parts);
                let chassis = Chassis::new(parts, None);
                Kind::Leaf(Box::new(VoqLeaf::new(chassis, buffer, spec, wiring)))
            }
        };
        Switch { kind }
    }

    #[inline]
    fn chassis(&self) -> &Chassis {
        of_any!(&self.kind, switch => &switch.chassis)
    }

    #[inline]
    fn chassis_mut(&mut self) -> &mut Chassis {
        of_any!(&mut self.kind, switch => &mut switch.chassis)
    }

    /// The buffer that frames share; none where senders go by credit.
    fn shared_buffer(&self) -> Option<&SharedBuffer> {
        match &self.kind {
            Kind::OutputQueued(switch) => Some(&switch.buffer),
            Kind::InputQueued(switch) => Some(&switch.buffer),
            Kind::Leaf(switch) => Some(&switch.buffer),
            Kind::Credit(_) => None,
        }
    }

    fn balancer(&self) -> Option<&Balancer> {
        of_queued!(&self.kind, switch => Some(&switch.balancer), None)
    }

    fn signals(&self) -> Option<&Signals> {
        of_queued!(&self.kind, switch => switch.signals.as_deref(), None)
    }

    /// What it has counted as a leaf of a scheduled fabric, if it is one.
    pub fn leaf_record(&self) -> Option<LeafRecord> {
        match &self.kind {
            Kind::Leaf(switch) => Some(switch.leaf.record()),
            _ => None,
        }
    }

    /// Frame bytes that wait in a class, at output ports or, in a leaf of a scheduled fabric, in
    /// virtual output queues: for each port those that came through it.
    pub fn waiting_by_port(&self, queue: usize) -> Vec<u64> {
        let mut bytes = vec![0; self.ports().len()];
        let mut note = |frame: &Packet| {
            bytes[usize::from(frame.stored_from())] += u64::from(frame.frame_bytes);
        };
        if let Kind::Leaf(switch) = &self.kind {
            switch.leaf.waiting_in(queue).for_each(&mut note);
        } else {
            let ports = self.ports().iter();
            ports.for_each(|port| port.waiting_in(queue).for_each(&mut note));
        }
        bytes
    }

    /// The node of the topology it is.
    pub fn node(&self) -> NodeId {
        self.chassis().node
    }

    /// Its ports, in order.
    pub fn ports(&self) -> &[Port] {
        &self.chassis().ports
    }

    /// The class of each of its queues.
    pub fn classes(&self) -> &[u8] {
        &self.chassis().class_of
    }

    /// Frames and frame bytes that arrived through a port, without pause frames.
    pub fn received(&self, port: u16) -> (u64, u64) {
        self.chassis().received[usize::from(port)]
    }

    /// Whether the class of a queue is lossless by pauses.
    pub fn is_lossless(&self, queue: usize) -> bool {
        let buffer = self.shared_buffer();
        buffer.is_some_and(|buffer| buffer.is_lossless(queue))
    }

    /// The classes that a pause for a queue names at a port, one bit each: those in which the other
    /// end of the link has the packets that join the queue.
    pub fn classes_of_sender(&self, port: u16, queue: usize) -> u8 {
        self.chassis().classes_of_sender(port, queue)
    }

    /// The queue here that packets join which wait in a queue at the other end of a port's link:
    /// another one where they change their class on the way in.
    pub fn queue_behind(&self, port: u16, queue: u8) -> u8 {
        self.chassis().queue_behind(port, queue)
    }

    /// What senders of a class are paused for.
    pub fn pauses_by(&self, queue: usize) -> PausesBy {
        let buffer = self.shared_buffer();
        buffer.map_or(PausesBy::Groups, |buffer| buffer.pauses_by(queue))
    }

    /// Whether queues of two classes take space from the same pool.
    pub fn shares_pool(&self, queue: usize, other: usize) -> bool {
        let buffer = self.shared_buffer();
        buffer.is_some_and(|buffer| buffer.shares_pool(queue, other))
    }

    /// The output ports for whose queues the sender of a class at a port is paused; with each
    /// whether that lasts as long as this queue does not send, whatever else leaves.
    pub fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        let buffer = self.shared_buffer().into_iter();
        buffer.flat_map(move |buffer| buffer.full_queues(port, queue))
    }

    /// The input buffer of a port and a queue, where senders go by credit.
    pub fn input_buffer(&self, port: u16, queue: usize) -> Option<&LaneBuffer> {
        match &self.kind {
            Kind::Credit(switch) => Some(switch.buffer.input(port, queue)),
            _ => None,
        }
    }

    /// What the priority group of a port and a queue has been through up to `now`.
    pub fn ingress(&self, port: u16, queue: usize, now: Instant) -> PriorityGroupRecord {
        let buffer = self.shared_buffer();
        buffer.map_or_else(PriorityGroupRecord::default, |buffer| {
            buffer.ingress(port, queue, now)
        })
    }

    /// What each pool of the shared buffer has been through. Where senders go by credit there is
    /// one without end, from which nothing is taken.
    pub fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        let shared = self.shared_buffer();
        let without_end = shared.is_none().then(PoolRecord::default);
        let shared = shared.into_iter().flat_map(SharedBuffer::pools);
        shared.chain(without_end)
    }

    /// Whether it has told a sender to pause and has not let it go on; always where senders go by
    /// credit, for any may have none.
    pub fn is_pausing(&self) -> bool {
        of_any!(&self.kind, switch => switch.buffer.is_armed())
    }

    /// The port that all packets with this hash take to a host; `None` where the load balancer may
    /// choose another for each.
    pub fn fixed_port(&self, hash: u32, host: HostId, routing: &Routing) -> Option<u16> {
        let to = Target { hash, host };
        of_queued!(&self.kind, switch => switch.fixed_port(to, routing), None)
    }

    /// Whether a frame of a queue that came through `input` could be the next to leave through an
    /// output, as far as other frames of that input are concerned: it does not stand behind one
    /// that must leave first.
    pub fn may_come_next(&self, input: u16, output: u16, queue: usize) -> bool {
        let place = Place {
            input,
            output,
            queue,
        };
        match &self.kind {
            Kind::InputQueued(switch) => switch.may_come_next(place),
            _ => true,
        }
    }

    /// Frame bytes that a port has sent before `now`, without pause frames; of the frames that are
    /// on the wire, at most `under_way` bytes, the part that has been sent. A cell of a scheduled
    /// fabric counts from its beginning.
    pub fn sent_bytes(&self, port: u16, now: Instant, under_way: u64) -> u64 {
        let transmitter = self.ports()[usize::from(port)].transmitter();
        let (_, handed) = transmitter.sent();
        if let Kind::Leaf(switch) = &self.kind {
            return handed - bytes_ahead(switch, port, now);
        }
        let end = transmitter.last_end();
        handed.saturating_sub(transmitter.unsent_bytes(end, now, under_way))
    }

    /// Frame bytes that wait at a port at `now`, a sync point to which it has been brought.
    ///
    /// Most ports send a frame when its turn comes. A leaf of a scheduled fabric hands cells to its
    /// links into the fabric beforehand; those count as waiting until they begin to be sent.
    pub fn waiting_bytes(&self, port: u16, now: Instant) -> u64 {
        self.ports()[usize::from(port)].queue_bytes() + self.ahead_bytes(port, now)
    }

    #[inline]
    fn ahead_bytes(&self, port: u16, now: Instant) -> u64 {
        match &self.kind {
            Kind::Leaf(switch) => bytes_ahead(switch, port, now),
            _ => 0,
        }
    }

    /// The most frame bytes that waited at a port since this was last asked, up to `now`.
    pub fn read_off_high_water(&mut self, port: u16, now: Instant) -> u64 {
        let waiting = self.waiting_bytes(port, now);
        self.chassis_mut().ports[usize::from(port)].read_off_high_water(waiting)
    }

    /// The trial ends at `now`: what has not begun to be sent by then was not sent.
    pub fn stop_sending(&mut self, now: Instant) {
        if let Kind::Leaf(switch) = &mut self.kind {
            switch.stop_sending(now);
        }
    }

    /// How often visits went which way.
    pub fn visit_counts(&self) -> VisitCounts {
        match &self.kind {
            Kind::OutputQueued(switch) => switch.visit_counts(),
            Kind::Credit(switch) => switch.visits,
            Kind::InputQueued(switch) => switch.visits,
            Kind::Leaf(_) => VisitCounts::default(),
        }
    }

    /// What it has counted of signals, if it has to do with any.
    pub fn signal_record(&self) -> Option<SignalRecord> {
        self.signals().map(|signals| signals.record)
    }

    /// Pause frames that went out through a port for a class because of signals.
    pub fn signalled_pauses(&self, port: u16, class: u8) -> u64 {
        self.signals()
            .map_or(0, |signals| signals.frames(port, class))
    }

    /// Frames of the switch's own flow control that were to let a class go on, and were sent as
    /// pauses because signals ask for a longer one.
    pub fn held_pauses(&self, port: u16, class: u8) -> u64 {
        self.signals()
            .map_or(0, |signals| signals.held(port, class))
    }

    /// Frames that began here, and those that ended here, with their frame bytes: signals, and
    /// notices to senders.
    pub fn made_and_consumed(&self) -> [(u64, u64); 2] {
        let counted = self.signals();
        let (made, consumed) =
            counted.map_or((0, 0), |signals| (signals.record.sent, signals.consumed));
        let bytes = |frames: u64, each: u16| (frames, frames * u64::from(each));
        let notices = bytes(self.host_notices(), REROUTE_FRAME_BYTES);
        let made = bytes(made, SIGNAL_FRAME_BYTES);
        let made = (made.0 + notices.0, made.1 + notices.1);
        [made, bytes(consumed, SIGNAL_FRAME_BYTES)]
    }

    /// Notices of long queues that it has sent to hosts.
    pub fn host_notices(&self) -> u64 {
        self.balancer().map_or(0, Balancer::host_notices)
    }

    /// Notices of long queues sent through a port, and received through it.
    pub fn notices(&self, port: u16) -> (u64, u64) {
        self.balancer()
            .map_or((0, 0), |balancer| balancer.told(port).0)
    }

    /// How often flows have been moved to another link because of notices.
    pub fn moves(&self) -> u64 {
        self.balancer().map_or(0, |balancer| balancer.told(0).1)
    }

    /// Does everything that happens before `end`, with all that arrives until then; returns when
    /// something next happens of its own.
    #[inline]
    pub fn visit<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        routing: &Routing,
        turns: &mut ArrivalsByPort,
        medium: &mut M,
    ) -> Option<Instant> {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.visit(arrivals, end, routing, turns, medium),
            Kind::Credit(switch) => switch.visit(arrivals, end, routing, medium),
            Kind::InputQueued(switch) => switch.visit(arrivals, end, routing, medium),
            Kind::Leaf(switch) => switch.visit(arrivals, end, routing, medium),
        }
    }

    /// Takes a packet that arrives through `input` at `packet.at`, to which the switch has been
    /// brought. Inputs from the number of ports on are those of control frames.
    pub fn arrive<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        of_any!(&mut self.kind, switch => switch.arrive(packet, input, routing, medium));
    }

    /// Sends a frame that came through `input` through port `number`, stores it there, or drops it.
    /// To a leaf of a scheduled fabric, whose frames find their ports themselves, it does nothing.
    pub fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        of_queued!(&mut self.kind, switch => switch.offer(packet, input, number, medium), ());
    }

    /// Does what is due at `now`, for an engine with explicit timers: refreshes what the load
    /// balancer knows, repeats pauses, and what its model has timers for.
    pub fn fire<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.fire_common(now, medium),
            Kind::Credit(switch) => switch.fire_common(now, medium),
            Kind::InputQueued(switch) => switch.fire(now, medium),
            Kind::Leaf(switch) => switch.fire(now, medium),
        }
    }

    /// When a pause must next be repeated, the load balancer refreshed, or something else done that
    /// is no departure, if anything must.
    pub fn next_timer(&self) -> Option<Instant> {
        let next = match &self.kind {
            Kind::OutputQueued(switch) => switch.next_common_timer(),
            Kind::Credit(switch) => switch.next_common_timer(),
            Kind::InputQueued(switch) => switch.next_timer(),
            Kind::Leaf(switch) => switch.next_timer(),
        };
        (!next.is_never()).then_some(next)
    }

    /// Does everything that happens before `end`; returns when something next happens of its own.
    pub fn advance_to(&mut self, end: Instant, medium: &mut impl Medium) -> Option<Instant> {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.advance_to(end, medium),
            Kind::Credit(switch) => switch.advance_to(end, medium),
            Kind::InputQueued(switch) => switch.advance_to(end, medium),
            Kind::Leaf(switch) => switch.advance_to(end, medium),
        }
    }

    /// Starts the waiting frames of one port up to and including `now` (for an engine with explicit
    /// departures), with all that follows from it.
    pub fn advance_port<M: Medium>(&mut self, port: u16, now: Instant, medium: &mut M) {
        of_any!(&mut self.kind, switch => switch.advance_port(port, now, medium));
    }

    /// The link of a port goes down at `now`, up to which everything has been done; what was under
    /// way from here is lost.
    pub fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: Instant,
        medium: &mut M,
    ) {
        of_any!(&mut self.kind, switch => switch.link_down(number, under_way, now, medium));
    }

    /// The link of a port comes up at `now`. The other end knows of no pause.
    pub fn link_up<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        of_any!(&mut self.kind, switch => switch.link_up(number, now, medium));
    }

    /// Frames of a port take another time on the wire from `now` on, and may have to arrive whole.
    pub fn set_serialisation<M: Medium>(
        &mut self,
        number: u16,
        serialisation: SerialisationTime,
        arrives_whole: bool,
        now: Instant,
        medium: &mut M,
    ) {
        let wire = self.chassis_mut().ports[usize::from(number)].transmitter_mut();
        wire.set_serialisation(serialisation, arrives_whole, now);
        let quantum_ps = wire.pause_time(1).ps();
        match &mut self.kind {
            Kind::OutputQueued(switch) => {
                switch.buffer.set_quantum(number, quantum_ps);
                switch.settle(now, medium);
            }
            Kind::Credit(switch) => switch.settle(now, medium),
            Kind::InputQueued(switch) => {
                switch.buffer.set_quantum(number, quantum_ps);
                switch.settle(now, medium);
            }
            Kind::Leaf(switch) => switch.change(number, now, medium, |_, _, _| {}),
        }
    }

    /// Lets the PFC watchdog look at all lossless queues at `now`, up to which everything has been
    /// done; whether it did anything. Other models than output queues have none.
    pub fn watch<M: Medium>(&mut self, spec: &WatchdogSpec, now: Instant, medium: &mut M) -> bool {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.watch(spec, now, medium),
            Kind::Credit(_) | Kind::InputQueued(_) | Kind::Leaf(_) => false,
        }
    }

    /// A port, whose link is a circuit that is to change, starts no frame any more, up to `now`
    /// everything having been done.
    pub fn hold(&mut self, number: u16) {
        self.chassis_mut().ports[usize::from(number)].hold();
    }

    /// Routes anew what waits at a port that is [held](Switch::hold). Frames stay where they are if
    /// no other way leads to their hosts.
    pub fn reroute<M: Medium>(
        &mut self,
        number: u16,
        routing: &Routing,
        now: Instant,
        medium: &mut M,
    ) {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.reroute(number, routing, now, medium),
            Kind::InputQueued(switch) => switch.reroute(number, routing, now, medium),
            Kind::Credit(_) | Kind::Leaf(_) => no_circuits(),
        }
    }

    /// The light of a port that is held goes at `now`; what was still under way from here is lost.
    pub fn darken(&mut self, number: u16, under_way: WireLosses, now: Instant) {
        self.chassis_mut().ports[usize::from(number)].darken(now, under_way);
    }

    /// A dark port leads elsewhere from `now` on. Pauses that last are said first, and frames
    /// follow `guard` later, when those of the other end have acted.
    pub fn join<M: Medium>(
        &mut self,
        number: u16,
        far: &FarEnd,
        guard: Time,
        now: Instant,
        medium: &mut M,
    ) {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.join(number, far, guard, now, medium),
            Kind::InputQueued(switch) => switch.join(number, far, guard, now, medium),
            Kind::Credit(_) | Kind::Leaf(_) => no_circuits(),
        }
    }
}

/// Plans with circuits have no switches of these models.
fn no_circuits() {
    debug_assert!(false, "a switch of this model has no circuits");
}

/// Out of line: sampling asks every port of every switch, and few are leaves with cells ahead.
#[inline(never)]
fn bytes_ahead(switch: &VoqLeaf, port: u16, now: Instant) -> u64 {
    switch.leaf.ahead(port).bytes(now)
}
