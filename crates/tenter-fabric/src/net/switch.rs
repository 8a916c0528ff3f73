//! Switches: each routes a frame, chooses a port, asks its buffer for room, and queues it.
//!
//! Each model is a type over shared parts: ports with what belongs to them (`parts`), a load
//! balancer, a buffer. [`Switch`] stands for all of them (decision 0047).

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

use crate::topology::{HostId, NodeId, Routing};
pub use model::SwitchModel;
pub(crate) use parts::Chassis;
pub use parts::{Headrooms, SwitchParts};
use queued::{CreditSwitch, InputQueued};
pub(crate) use queued::{OutputQueued, QueuedSwitch, Queueing};
use tenter_engine::EventList;
use tenter_language::units::{Instant, SerialisationTime, Time};

use crate::net::arrivals_by_port::ArrivalsByPort;
use crate::net::buffer::{Buffer, PausesBy, Place, PoolRecord, PriorityGroupRecord, SharedBuffer};
use crate::net::credit::LaneBuffer;
use crate::net::load_balancing::{Balancer, Target};
use crate::net::medium::Medium;
use crate::net::packet::{Packet, REROUTE_FRAME_BYTES, SIGNAL_FRAME_BYTES};
use crate::net::port::Port;
use crate::net::scheduled::spray::Spray;
use crate::net::scheduled::{LeafRecord, VoqLeaf};
use crate::net::signals::{SignalRecord, Signals};
use crate::net::transmitter::{FarEnd, WireLosses};
use crate::net::visit_counts::VisitCounts;
use crate::net::watchdog::WatchdogSpec;

/// A switch, whatever its model.
#[derive(Clone, Debug)]
pub struct Switch {
    kind: Kind,
}

/// The type behind each model.
#[derive(Clone, Debug)]
enum Kind {
    /// Also a spine in a scheduled fabric, which differs by its load balancer alone.
    OutputQueued(Box<OutputQueued>),
    Credit(Box<CreditSwitch>),
    InputQueued(Box<InputQueued>),
    Leaf(Box<VoqLeaf>),
}

/// Does `$do` with the switch, whatever its model.
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

/// Does `$do` with the switch, unless it is a leaf, for which the result is `$leaf`.
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
    /// Makes a switch from its parts, by the given model.
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

    /// Returns the shared buffer; `None` in a credit-based fabric, which has input buffers.
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

    /// Returns a leaf's counters in a scheduled fabric; `None` for any other switch.
    pub fn leaf_record(&self) -> Option<LeafRecord> {
        match &self.kind {
            Kind::Leaf(switch) => Some(switch.leaf.record()),
            _ => None,
        }
    }

    /// Returns, for each input port, the frame bytes that came through it and wait in a class: at
    /// output ports or, in a scheduled fabric's leaf, in virtual output queues.
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

    /// Returns the switch's node in the topology.
    pub fn node(&self) -> NodeId {
        self.chassis().node
    }

    /// Returns the ports by number.
    pub fn ports(&self) -> &[Port] {
        &self.chassis().ports
    }

    /// Returns the traffic class by queue number.
    pub fn classes(&self) -> &[u8] {
        &self.chassis().class_of
    }

    /// Returns the frames and frame bytes that arrived through a port, without control frames.
    pub fn received(&self, port: u16) -> (u64, u64) {
        self.chassis().received[usize::from(port)]
    }

    /// Returns true if a queue's class is lossless by PFC.
    pub fn is_lossless(&self, queue: usize) -> bool {
        let buffer = self.shared_buffer();
        buffer.is_some_and(|buffer| buffer.is_lossless(queue))
    }

    /// Returns the classes that a pause for a queue names at a port, one bit each: the classes that
    /// the packets have at the link's other end.
    pub fn classes_of_sender(&self, port: u16, queue: usize) -> u8 {
        self.chassis().classes_of_sender(port, queue)
    }

    /// Returns the queue here for packets that wait in `queue` beyond a port's link. It differs
    /// from `queue` where packets change their class on the way in.
    pub fn queue_behind(&self, port: u16, queue: u8) -> u8 {
        self.chassis().queue_behind(port, queue)
    }

    /// Returns the quantity that pauses a class's senders.
    pub fn pauses_by(&self, queue: usize) -> PausesBy {
        let buffer = self.shared_buffer();
        buffer.map_or(PausesBy::Groups, |buffer| buffer.pauses_by(queue))
    }

    /// Returns true if two classes take space from the same pool in a shared buffer.
    pub fn shares_pool(&self, queue: usize, other: usize) -> bool {
        let buffer = self.shared_buffer();
        buffer.is_some_and(|buffer| buffer.shares_pool(queue, other))
    }

    /// Returns the output queues on whose behalf the sender at `port` is paused, by output port.
    ///
    /// The flag is true if that queue alone is enough to keep the sender paused, whatever the
    /// others do: such queues form the edges of a PFC deadlock.
    pub fn full_queues(&self, port: u16, queue: usize) -> impl Iterator<Item = (u16, bool)> {
        let buffer = self.shared_buffer().into_iter();
        buffer.flat_map(move |buffer| buffer.full_queues(port, queue))
    }

    /// Returns a lane's input buffer at a port; `None` outside credit-based fabrics.
    pub fn input_buffer(&self, port: u16, queue: usize) -> Option<&LaneBuffer> {
        match &self.kind {
            Kind::Credit(switch) => Some(switch.buffer.input(port, queue)),
            _ => None,
        }
    }

    /// Returns the fill and the pauses of a port's priority group up to `now`.
    pub fn ingress(&self, port: u16, queue: usize, now: Instant) -> PriorityGroupRecord {
        let buffer = self.shared_buffer();
        buffer.map_or_else(PriorityGroupRecord::default, |buffer| {
            buffer.ingress(port, queue, now)
        })
    }

    /// Returns each pool's fill. A credit-based fabric has one unlimited pool, always empty.
    pub fn pools(&self) -> impl Iterator<Item = PoolRecord> {
        let shared = self.shared_buffer();
        let without_end = shared.is_none().then(PoolRecord::default);
        let shared = shared.into_iter().flat_map(SharedBuffer::pools);
        shared.chain(without_end)
    }

    /// Returns true if the switch has a sender paused. With link credit it is always true, since
    /// any sender may be without credit.
    pub fn is_pausing(&self) -> bool {
        of_any!(&self.kind, switch => switch.buffer.is_armed())
    }

    /// Returns the port that all packets with this hash take to a host; `None` if the load balancer
    /// may choose another one for each packet.
    pub fn fixed_port(&self, hash: u32, host: HostId, routing: &Routing) -> Option<u16> {
        let to = Target { hash, host };
        of_queued!(&self.kind, switch => switch.fixed_port(to, routing), None)
    }

    /// Returns true if no other frame from `input` must leave before a queue's frames from `input`
    /// to `output`. It is false only in an input-queued switch, for frames behind the first one of
    /// their channel.
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

    /// Returns the frame bytes that a port has sent before `now`, without control frames.
    ///
    /// Of the frames on the wire, `under_way` bytes at most, only the part that has left counts. A
    /// cell in a scheduled fabric counts from its start.
    pub fn sent_bytes(&self, port: u16, now: Instant, under_way: u64) -> u64 {
        let transmitter = self.ports()[usize::from(port)].transmitter();
        let (_, handed) = transmitter.sent();
        if let Kind::Leaf(switch) = &self.kind {
            // Cells ahead were handed to the link and counted, but have not begun.
            return handed - bytes_ahead(switch, port, now);
        }
        let end = transmitter.last_end();
        handed.saturating_sub(transmitter.unsent_bytes(end, now, under_way))
    }

    /// Returns the frame bytes that wait at a port at `now`, a sync point up to which the switch
    /// was advanced.
    ///
    /// A leaf in a scheduled fabric hands cells to its links before they are due; such cells count
    /// as waiting until they start.
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

    /// Returns the most frame bytes that waited at a port since the last call, up to `now`.
    pub fn read_off_high_water(&mut self, port: u16, now: Instant) -> u64 {
        let waiting = self.waiting_bytes(port, now);
        self.chassis_mut().ports[usize::from(port)].read_off_high_water(waiting)
    }

    /// Ends the trial at `now`: frames that have not started by then count as not sent.
    pub fn stop_sending(&mut self, now: Instant) {
        if let Kind::Leaf(switch) = &mut self.kind {
            switch.stop_sending(now);
        }
    }

    /// Returns how often visits took each way.
    pub fn visit_counts(&self) -> VisitCounts {
        match &self.kind {
            Kind::OutputQueued(switch) => switch.visit_counts(),
            Kind::Credit(switch) => switch.visits,
            Kind::InputQueued(switch) => switch.visits,
            Kind::Leaf(_) => VisitCounts::default(),
        }
    }

    /// Returns the counters for congestion signals; `None` for a switch that takes no part in them.
    pub fn signal_record(&self) -> Option<SignalRecord> {
        self.signals().map(|signals| signals.record)
    }

    /// Returns the pause frames that signals have caused at a port for a class.
    pub fn signalled_pauses(&self, port: u16, class: u8) -> u64 {
        self.signals()
            .map_or(0, |signals| signals.frames(port, class))
    }

    /// Returns the switch's own XON frames that went out as pauses, because signals ask for a
    /// longer one.
    pub fn held_pauses(&self, port: u16, class: u8) -> u64 {
        self.signals()
            .map_or(0, |signals| signals.held(port, class))
    }

    /// Returns the frames and frame bytes that began here, and those that ended here: congestion
    /// signals, and notices to hosts.
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

    /// Returns how many congestion notices were sent to hosts.
    pub fn host_notices(&self) -> u64 {
        self.balancer().map_or(0, Balancer::host_notices)
    }

    /// Returns the congestion notices sent through a port, and those received through it.
    pub fn notices(&self, port: u16) -> (u64, u64) {
        self.balancer()
            .map_or((0, 0), |balancer| balancer.told(port).0)
    }

    /// Returns how often flows were moved to another link after congestion notices.
    pub fn moves(&self) -> u64 {
        self.balancer().map_or(0, |balancer| balancer.told(0).1)
    }

    /// Takes the switch through a window until `end`, with all `arrivals` in it; returns when its
    /// next event is due.
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

    /// Handles a packet that arrives through `input` at `packet.at`, up to which the switch was
    /// advanced. With n ports, inputs from n on take control frames.
    pub fn arrive<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        of_any!(&mut self.kind, switch => switch.arrive(packet, input, routing, medium));
    }

    /// Sends a frame from `input` through port `number`, stores it there, or drops it. Does nothing
    /// in a scheduled fabric's leaf, which chooses ports itself.
    pub fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M) {
        of_queued!(&mut self.kind, switch => switch.offer(packet, input, number, medium), ());
    }

    /// Fires all timers due at `now`, for an engine with explicit timers: refreshes the load
    /// balancer's port levels, repeats pauses, and serves the model's own timers.
    pub fn fire<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.fire_common(now, medium),
            Kind::Credit(switch) => switch.fire_common(now, medium),
            Kind::InputQueued(switch) => switch.fire(now, medium),
            Kind::Leaf(switch) => switch.fire(now, medium),
        }
    }

    /// Returns when the next timer is due, if any: a pause to repeat, a view to refresh, or the
    /// model's own. Departures are no timers.
    pub fn next_timer(&self) -> Option<Instant> {
        let next = match &self.kind {
            Kind::OutputQueued(switch) => switch.next_common_timer(),
            Kind::Credit(switch) => switch.next_common_timer(),
            Kind::InputQueued(switch) => switch.next_timer(),
            Kind::Leaf(switch) => switch.next_timer(),
        };
        (!next.is_never()).then_some(next)
    }

    /// Advances the switch until just before `end`; returns when its next event is due.
    pub fn advance_to(&mut self, end: Instant, medium: &mut impl Medium) -> Option<Instant> {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.advance_to(end, medium),
            Kind::Credit(switch) => switch.advance_to(end, medium),
            Kind::InputQueued(switch) => switch.advance_to(end, medium),
            Kind::Leaf(switch) => switch.advance_to(end, medium),
        }
    }

    /// Starts one port's waiting frames up to and including `now`, with all that follows, for an
    /// engine with explicit departures.
    pub fn advance_port<M: Medium>(&mut self, port: u16, now: Instant, medium: &mut M) {
        of_any!(&mut self.kind, switch => switch.advance_port(port, now, medium));
    }

    /// Handles a port's link that goes down at `now`, up to which the switch was advanced. The
    /// frames `under_way` are lost.
    pub fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: Instant,
        medium: &mut M,
    ) {
        of_any!(&mut self.kind, switch => switch.link_down(number, under_way, now, medium));
    }

    /// Handles a port's link that comes up at `now`; its other end knows no pause.
    pub fn link_up<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        of_any!(&mut self.kind, switch => switch.link_up(number, now, medium));
    }

    /// Changes a port's line rate from `now` on; frames may now have to arrive whole.
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
            // Input buffers do not go by the line rate.
            Kind::Credit(switch) => switch.settle(now, medium),
            Kind::InputQueued(switch) => {
                switch.buffer.set_quantum(number, quantum_ps);
                switch.settle(now, medium);
            }
            Kind::Leaf(switch) => switch.change(number, now, medium, |_, _, _| {}),
        }
    }

    /// Lets the PFC watchdog check all lossless queues at `now`, up to which the switch was
    /// advanced; returns true if it acted. Only output-queued switches have one.
    pub fn watch<M: Medium>(&mut self, spec: &WatchdogSpec, now: Instant, medium: &mut M) -> bool {
        match &mut self.kind {
            Kind::OutputQueued(switch) => switch.watch(spec, now, medium),
            Kind::Credit(_) | Kind::InputQueued(_) | Kind::Leaf(_) => false,
        }
    }

    /// Holds a port, whose circuit will change: it starts no more frames. The switch was advanced
    /// to the present.
    pub fn hold(&mut self, number: u16) {
        self.chassis_mut().ports[usize::from(number)].hold();
    }

    /// Routes anew the frames that wait at a [held](Switch::hold) port. They stay there if no other
    /// path leads to their hosts.
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

    /// Ends the light at `now` at a held port; the frames `under_way` are lost.
    pub fn darken(&mut self, number: u16, under_way: WireLosses, now: Instant) {
        self.chassis_mut().ports[usize::from(number)].darken(now, under_way);
    }

    /// Joins a dark port with another peer, `far`, from `now` on. The peer is sent the pauses in
    /// force first, and frames start `guard` later, when the peer's own pauses have taken effect.
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

/// Rejects circuits: no plan gives them to such switches.
fn no_circuits() {
    debug_assert!(false, "a switch of this model has no circuits");
}

/// Out of line, because sampling asks every port of every switch and few have cells ahead.
#[inline(never)]
fn bytes_ahead(switch: &VoqLeaf, port: u16, now: Instant) -> u64 {
    switch.leaf.ahead(port).bytes(now)
}
