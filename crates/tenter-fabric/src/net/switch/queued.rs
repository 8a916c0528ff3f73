//! A switch that routes every packet as it arrives and puts it into a queue.
//!
//! Two types make its model: the buffer decides whether a frame may be stored and when its sender
//! pauses, and the queues decide when the frame leaves.

use crate::topology::Routing;
use tenter_language::units::Instant;

use crate::net::buffer::{Buffer, CreditBuffer, Place, SharedBuffer};
use crate::net::departures::Departures;
use crate::net::input_queued::Crossbar;
use crate::net::load_balancing::{Balancer, Target};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{Packet, PacketKind, Pause};
use crate::net::signals::Signals;
use crate::net::switch::parts::Chassis;
use crate::net::transmitter::WireLosses;
use crate::net::visit_counts::VisitCounts;

/// An output-queued switch with a shared buffer.
pub(crate) type OutputQueued = QueuedSwitch<SharedBuffer, Outputs>;
/// A switch in a credit-based fabric: queues at outputs, and an input buffer for each lane.
pub(crate) type CreditSwitch = QueuedSwitch<CreditBuffer, Outputs>;
/// A switch whose frames wait at inputs, in a shared buffer.
pub(crate) type InputQueued = QueuedSwitch<SharedBuffer, Crossbar>;

/// Queues at outputs.
///
/// Ports are lazy while the buffer is not armed. While it is, a departure may have to resume a
/// sender, so departures are carried out in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    /// Ports that may have waiting frames, one bit each.
    pub(crate) active: Vec<u64>,
    /// Departures in the order of time; filled only while the buffer is armed.
    pub(super) departures: Departures,
}

impl Outputs {
    pub(super) fn new(ports: usize) -> Outputs {
        Outputs {
            active: vec![0; ports.div_ceil(64)],
            departures: Departures::new(ports),
        }
    }

    /// Notes that frames wait at a port.
    #[inline]
    pub(super) fn wake(&mut self, number: u16) {
        self.active[usize::from(number) / 64] |= 1 << (number % 64);
    }
}

/// A switch with a buffer `B` and queues `Q`.
#[derive(Clone, Debug)]
pub(crate) struct QueuedSwitch<B, Q> {
    pub(crate) chassis: Chassis,
    pub(crate) balancer: Balancer,
    pub(crate) buffer: B,
    pub(crate) queues: Q,
    /// State of congestion signals; `None` if the switch takes no part in them.
    pub(crate) signals: Option<Box<Signals>>,
    pub(crate) visits: VisitCounts,
}

/// Behaviour that differs between models in which packets are routed as they arrive.
pub(crate) trait Queueing {
    /// Sends a frame from `input` through port `number`, stores it there, or drops it.
    fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M);

    /// Handles a control frame, other than a congestion notice, from a port's link.
    fn on_control<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M);

    /// Starts the waiting frames of one port up to and including `now`, with all that follows.
    fn advance_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M);

    /// Starts the waiting frames of all ports up to and including `until`, if that is exact without
    /// an order among the ports.
    fn bring_to<M: Medium>(&mut self, until: Instant, medium: &mut M);

    /// Notes that a port has changed and may send at another instant.
    fn port_changed(&mut self, number: u16);

    /// Notes that a port's queue was paused or resumed at `now`.
    fn pause_changed(&mut self, number: u16, now: Instant);

    /// Notes that a frame was taken out of its queue without being sent.
    fn frame_taken(&mut self, place: Place);

    /// Notes that a port's link has gone down, so that its waiting frames are lost.
    fn port_emptied(&mut self, number: u16);

    /// Ends a change from outside: sends pending control frames, and finds departures anew.
    fn settle<M: Medium>(&mut self, now: Instant, medium: &mut M);

    /// Sends pending control frames. Each goes out behind the frames that its port starts up to
    /// `now`, whose departures may make further control frames pending.
    fn flush_control<M: Medium>(&mut self, now: Instant, medium: &mut M);
}

impl<B: Buffer, Q> QueuedSwitch<B, Q>
where
    QueuedSwitch<B, Q>: Queueing,
{
    /// Handles a packet that arrives through `input` at `packet.at`. With n ports, inputs from n on
    /// are those of control frames.
    pub(crate) fn arrive<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        let ports = self.chassis.ports.len();
        if usize::from(input) >= ports {
            let port = input - ports as u16;
            if packet.kind == PacketKind::Notice {
                self.on_notice(packet, port, routing, medium);
            } else {
                self.on_control(packet, port, medium);
            }
            return;
        }
        // A load balancer that reads queue lengths must see them at this very instant.
        if self.balancer.is_exact() && !self.buffer.is_armed() {
            self.bring_to(packet.at, medium);
        }
        let changed;
        let packet = if self.chassis.changes_packets {
            changed = self.changed(packet, input, routing);
            &changed
        } else {
            packet
        };
        let port = self.route(packet, input, routing, medium);
        if self.signals.is_some() && self.signal(packet, input, port, routing, medium) {
            return;
        }
        self.offer(packet, input, port, medium);
        if self.balancer.telemetry().is_some() {
            // The queue is judged with the packet in it.
            self.send_notices(packet, input, port, routing, medium);
        }
    }

    /// Returns a packet from `input` as it goes on from here: it may have another class in a new
    /// region, and start or end a detour.
    #[inline(never)]
    fn changed(&mut self, packet: &Packet, input: u16, routing: &Routing) -> Packet {
        let packet = self.chassis.in_own_class(packet, input);
        let here = self.chassis.here(routing);
        self.balancer.detour(&packet, input, here)
    }

    /// Counts a frame that arrives through `input`, and chooses its output port.
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
        self.chassis.count_arrival(packet, input, medium);
        self.port_of(packet, routing)
    }

    /// Chooses a packet's output port; the switch was advanced to the packet's instant.
    #[expect(
        clippy::inline_always,
        reason = "once a packet and switch; a call costs as much as the choice"
    )]
    #[inline(always)]
    pub(super) fn port_of(&mut self, packet: &Packet, routing: &Routing) -> u16 {
        let Some(ecmp) = self.balancer.ecmp() else {
            return self.chosen_port(packet, routing);
        };
        let (index, seed) = (self.chassis.index, self.chassis.rules.seed);
        let candidates = routing.candidates(index, packet.destination);
        // With one candidate the place is 0; a test for that would be an unpredictable branch.
        candidates[ecmp.place(packet.hash, seed, candidates.len() as u32) as usize]
    }

    /// As [`QueuedSwitch::port_of`], for load balancers other than plain ECMP: they need a view of
    /// the switch, which the hot path does not put together.
    #[inline(never)]
    fn chosen_port(&mut self, packet: &Packet, routing: &Routing) -> u16 {
        self.balancer.port(packet, self.chassis.here(routing))
    }

    /// Implements [`Switch::fixed_port`](crate::net::Switch::fixed_port).
    pub(super) fn fixed_port(&self, to: Target, routing: &Routing) -> Option<u16> {
        let here = self.chassis.here(routing);
        let candidates = here.shortest(to.host);
        let place = self.balancer.fixed(to, candidates, here)?;
        candidates.get(place).copied()
    }

    /// Applies a pause frame that came through a port's link.
    pub(crate) fn on_pause<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        let Pause { quanta } = Pause::of(packet);
        let now = packet.at;
        self.chassis.note(EventKind::Obeyed, packet, number, medium);
        self.advance_port(number, now, medium);
        let queue = self.chassis.rules.queue(packet);
        self.chassis.ports[usize::from(number)].obey(queue, quanta, now);
        self.pause_changed(number, now);
    }

    /// Fires the timers that all models have, if due at `now`: the refresh of the load balancer's
    /// view, and repetitions of pauses.
    pub(super) fn fire_common<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        if self.balancer.next_refresh() == Some(now) {
            self.balancer.refresh(&self.chassis.ports, now);
        }
        if self.buffer.next_refresh() == now {
            self.refresh(now, medium);
        }
    }

    /// Repeats the pauses that are due at `now`.
    pub(super) fn refresh<M: Medium>(&mut self, now: Instant, medium: &mut M) {
        self.buffer.refresh(now);
        self.flush_control(now, medium);
    }

    /// Returns the instant of the next refresh or pause repetition; [`Instant::NEVER`] if there is
    /// none.
    pub(super) fn next_common_timer(&self) -> Instant {
        let quality = self.balancer.next_refresh().unwrap_or(Instant::NEVER);
        self.buffer.next_refresh().min(quality)
    }

    /// Implements [`Switch::link_down`](crate::net::Switch::link_down).
    pub(super) fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: Instant,
        medium: &mut M,
    ) {
        // Before the queues are flushed, so that no XON goes into the dead link.
        self.buffer.link_down(number, now);
        if let Some(signals) = &mut self.signals {
            signals.forget(number);
        }
        let mut around = self.chassis.rules.around(&mut self.buffer);
        self.chassis.ports[usize::from(number)].link_down(now, under_way, &mut around, medium);
        self.port_emptied(number);
        self.settle(now, medium);
    }

    /// Implements [`Switch::link_up`](crate::net::Switch::link_up).
    pub(super) fn link_up<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        // Credit becomes pending here, and goes out in `settle` when the port is up.
        self.buffer.link_up(number, now);
        self.chassis.ports[usize::from(number)].link_up(now);
        self.settle(now, medium);
    }
}
