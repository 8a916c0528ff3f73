//! A switch that routes every packet as it arrives and puts it into a queue.
//!
//! Two things make its model: the buffer, which says whether a frame may be stored and what its
//! sender is told, and the queues, which say when it leaves.

use tenter_topology::Routing;
use tenter_units::Instant;

use crate::buffer::{Buffer, CreditBuffer, Place, SharedBuffer};
use crate::departures::Departures;
use crate::input_queued::Crossbar;
use crate::load_balancing::{Balancer, Target};
use crate::medium::{EventKind, Medium};
use crate::packet::{Packet, PacketKind, Pause};
use crate::signals::Signals;
use crate::switch::parts::Chassis;
use crate::transmitter::WireLosses;
use crate::visit_counts::VisitCounts;

/// An output-queued switch with a shared buffer.
pub(crate) type OutputQueued = QueuedSwitch<SharedBuffer, Outputs>;
/// A switch of a fabric that sends by credit: queues at outputs, and a buffer for each input.
pub(crate) type CreditSwitch = QueuedSwitch<CreditBuffer, Outputs>;
/// A switch whose frames wait at inputs.
pub(crate) type InputQueued = QueuedSwitch<SharedBuffer, Crossbar>;

/// Queues at outputs.
///
/// Unless the buffer is armed, ports are lazy. While it is, a departure may have to resume a
/// sender, so departures are carried out in the order of time.
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    /// Ports whose queues may hold something, one bit each.
    pub(crate) active: Vec<u64>,
    /// Filled only while the buffer is armed.
    pub(super) departures: Departures,
}

impl Outputs {
    pub(super) fn new(ports: usize) -> Outputs {
        Outputs {
            active: vec![0; ports.div_ceil(64)],
            departures: Departures::new(ports),
        }
    }

    /// Something waits at a port.
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
    /// What it has to do with signals to senders, if anything.
    pub(crate) signals: Option<Box<Signals>>,
    pub(crate) visits: VisitCounts,
}

/// What differs between models in which packets are routed as they arrive.
pub(crate) trait Queueing {
    /// Sends a frame that came through `input` through port `number`, stores it there, or drops it.
    fn offer<M: Medium>(&mut self, packet: &Packet, input: u16, number: u16, medium: &mut M);

    /// Takes a control frame that is no notice, from the other end of a port's link.
    fn on_control<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M);

    /// Starts the waiting frames of one port up to and including `now`, with all that follows.
    fn advance_port<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M);

    /// The same for all ports, where that is exact.
    fn bring_to<M: Medium>(&mut self, until: Instant, medium: &mut M);

    /// A port has changed: it may send at another time.
    fn port_changed(&mut self, number: u16);

    /// A queue of a port has been paused or resumed at `now`.
    fn pause_changed(&mut self, number: u16, now: Instant);

    /// A frame has been taken out of its queue, not to be sent.
    fn frame_taken(&mut self, place: Place);

    /// The link of a port has gone down: what waited there is lost.
    fn port_emptied(&mut self, number: u16);

    /// Ends a change from outside: sends what has become due, and looks anew when ports send.
    fn settle<M: Medium>(&mut self, now: Instant, medium: &mut M);

    /// Sends pending control frames. Each goes out behind what its own port starts at or before
    /// `now`, which may make room and so more control frames pending.
    fn flush_control<M: Medium>(&mut self, now: Instant, medium: &mut M);
}

impl<B: Buffer, Q> QueuedSwitch<B, Q>
where
    QueuedSwitch<B, Q>: Queueing,
{
    /// Takes a packet that arrives through `input` at `packet.at`. Inputs from the number of ports
    /// on are those of control frames.
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
            self.send_notices(packet, input, port, routing, medium);
        }
    }

    /// A packet that arrives through `input` as it goes on from here: where it enters a region it
    /// may have another class, and detours start and end.
    #[inline(never)]
    fn changed(&mut self, packet: &Packet, input: u16, routing: &Routing) -> Packet {
        let packet = self.chassis.in_own_class(packet, input);
        let here = self.chassis.here(routing);
        self.balancer.detour(&packet, input, here)
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
        self.chassis.count_arrival(packet, input, medium);
        self.port_of(packet, routing)
    }

    /// The port that a packet leaves by. The switch has been brought to the packet's instant.
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

    /// The same of a load balancer that chooses, apart: what it looks at is put together for it.
    #[inline(never)]
    fn chosen_port(&mut self, packet: &Packet, routing: &Routing) -> u16 {
        self.balancer.port(packet, self.chassis.here(routing))
    }

    /// As [`Switch::fixed_port`](crate::Switch::fixed_port).
    pub(super) fn fixed_port(&self, to: Target, routing: &Routing) -> Option<u16> {
        let here = self.chassis.here(routing);
        let candidates = here.shortest(to.host);
        let place = self.balancer.fixed(to, candidates, here)?;
        candidates.get(place).copied()
    }

    /// A pause frame from the other end of a port's link takes effect.
    pub(crate) fn on_pause<M: Medium>(&mut self, packet: &Packet, number: u16, medium: &mut M) {
        let Pause { quanta } = Pause::of(packet);
        let now = packet.at;
        self.chassis.note(EventKind::Obeyed, packet, number, medium);
        self.advance_port(number, now, medium);
        let queue = self.chassis.rules.queue(packet);
        self.chassis.ports[usize::from(number)].obey(queue, quanta, now);
        self.pause_changed(number, now);
    }

    /// Does what is due of timers that all models have at `now`: refreshes what the load balancer
    /// knows, and repeats pauses.
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

    /// When a pause must next be repeated, or the load balancer refreshed; [`Instant::NEVER`] if
    /// neither.
    pub(super) fn next_common_timer(&self) -> Instant {
        let quality = self.balancer.next_refresh().unwrap_or(Instant::NEVER);
        self.buffer.next_refresh().min(quality)
    }

    /// As [`Switch::link_down`](crate::Switch::link_down).
    pub(super) fn link_down<M: Medium>(
        &mut self,
        number: u16,
        under_way: WireLosses,
        now: Instant,
        medium: &mut M,
    ) {
        self.buffer.link_down(number, now);
        if let Some(signals) = &mut self.signals {
            signals.forget(number);
        }
        let mut around = self.chassis.rules.around(&mut self.buffer);
        self.chassis.ports[usize::from(number)].link_down(now, under_way, &mut around, medium);
        self.port_emptied(number);
        self.settle(now, medium);
    }

    /// As [`Switch::link_up`](crate::Switch::link_up).
    pub(super) fn link_up<M: Medium>(&mut self, number: u16, now: Instant, medium: &mut M) {
        self.buffer.link_up(number, now);
        self.chassis.ports[usize::from(number)].link_up(now);
        self.settle(now, medium);
    }
}
