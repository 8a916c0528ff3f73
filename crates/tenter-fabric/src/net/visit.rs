//! A switch's visit in a window: port after port where that is exact, else in time order (decision
//! 0016).
//!
//! A switch's ports are independent except for the shared buffer. A visit first adds up its
//! arrivals. If all would find room beside the buffer's content at the start, even without any
//! departure, no frame is refused and no sender is paused in this visit, in any order; so each port
//! may go through its whole window before the next one begins. Only a pool's highest fill depends
//! on the order between ports. It is computed from a journal, and only if it may be a new
//! high-water mark.

use crate::topology::Routing;
use tenter_engine::EventList;
use tenter_language::units::Instant;

use crate::net::arrivals_by_port::ArrivalsByPort;
use crate::net::buffer::Buffer;
use crate::net::class::CLASSES;
use crate::net::medium::Medium;
use crate::net::packet::Packet;
use crate::net::port::Port;
use crate::net::switch::{OutputQueued, Queueing};
use crate::net::visit_counts::VisitCounts;

impl OutputQueued {
    /// Returns how often visits took each way, with the journal's statistics.
    pub(crate) fn visit_counts(&self) -> VisitCounts {
        let journals = self.buffer.journal_counts();
        VisitCounts {
            journals: journals.opened,
            journals_in_order: journals.in_order,
            slots_in_order: journals.slots_in_order,
            slots_by_port: journals.slots_by_port,
            late_releases: journals.late_releases,
            ..self.visits
        }
    }

    /// Implements [`Switch::visit`](crate::net::Switch::visit).
    #[inline]
    pub(crate) fn visit<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        routing: &Routing,
        turns: &mut ArrivalsByPort,
        medium: &mut M,
    ) -> Option<Instant> {
        if self.buffer.is_armed()
            || self.balancer.reads_queues()
            || self.chassis.changes_packets
            || self.signals.is_some()
        // Each of these needs all events of the switch in the order of time.
        {
            self.visits.in_time_order += 1;
            self.prefetch_frames();
            for (packet, input) in arrivals.iter() {
                self.bring_before(packet.at, medium);
                self.arrive(packet, input, routing, medium);
            }
            return self.advance_to(end, medium);
        }
        if self.route_all(arrivals, end, routing, turns, medium) {
            self.visits.by_port += 1;
            self.serve_ports(arrivals, end, turns, medium)
        } else {
            self.visits.in_order += 1;
            self.prefetch_frames();
            self.serve_in_order(arrivals, end, turns, medium)
        }
    }

    /// Finds each arrival's output port; returns true if all are certain to be stored without
    /// pausing any sender.
    #[inline(never)]
    fn route_all<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        routing: &Routing,
        turns: &mut ArrivalsByPort,
        medium: &mut M,
    ) -> bool {
        let ports = self.chassis.ports.len();
        // Without shared memory ports have nothing to do with each other.
        if !self.buffer.is_shared() {
            turns.begin(
                ports,
                // Arrivals are routed in the order of time, so the load balancer may remember its
                // choices.
                arrivals.iter().map(|(packet, input)| {
                    if usize::from(input) >= ports {
                        // A pause frame belongs to the port whose link it came through.
                        return input - ports as u16;
                    }
                    self.route(packet, input, routing, medium)
                }),
            );
            return true;
        }
        let (mut arriving, mut queues) = (0, 0);
        turns.begin(
            ports,
            arrivals.iter().map(|(packet, input)| {
                if usize::from(input) >= ports {
                    return input - ports as u16;
                }
                let port = self.route(packet, input, routing, medium);
                arriving += u64::from(packet.frame_bytes);
                queues |= 1 << self.chassis.rules.queue(packet);
                port
            }),
        );
        let certain = self.buffer.all_fit(arriving, &self.buffer.bounds(queues))
            || self.all_fit_exactly(arrivals, turns, arriving);
        if certain {
            self.buffer.open_journal_if_peak(arriving, queues, end);
        }
        certain
    }

    /// As [`SharedBuffer::all_fit`](crate::net::buffer::SharedBuffer::all_fit), with present fills,
    /// in the queues and priority groups that these very arrivals join.
    #[inline(never)]
    fn all_fit_exactly(
        &mut self,
        arrivals: &EventList<Packet>,
        turns: &ArrivalsByPort,
        arriving: u64,
    ) -> bool {
        let ports = &self.chassis.ports;
        self.buffer.tighten_bounds(ports.len(), |queue| {
            let waiting = ports.iter().map(|port| port.bytes_in(queue));
            waiting.max().unwrap_or(0)
        });
        let mut fullest = [None; CLASSES];
        for (place, (packet, input)) in arrivals.iter().enumerate() {
            if usize::from(input) >= self.chassis.ports.len() {
                continue;
            }
            let queue = self.chassis.rules.queue(packet);
            let waiting = self.chassis.ports[usize::from(turns.port(place))].bytes_in(queue);
            let fill = self.buffer.fill(input, queue, waiting);
            // A bound may be too high and never too low: the assertion guards all places that raise
            // a fill.
            debug_assert!(
                Some(fill) <= self.buffer.bounds(1 << queue)[queue],
                "a queue or priority group is fuller than its bound"
            );
            fullest[queue] = fullest[queue].max(Some(fill));
        }
        self.buffer.all_fit(arriving, &fullest)
    }

    /// Serves port after port; returns when the next departure is due.
    #[inline(never)]
    fn serve_ports<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        turns: &mut ArrivalsByPort,
        medium: &mut M,
    ) -> Option<Instant> {
        turns.link();
        let mut next = Instant::NEVER;
        let mut around = self.chassis.rules.around(&mut self.buffer);
        let mut busy = turns.take_busy(&mut self.queues.active);
        // No port before the first ones prefetches for them.
        for &number in busy.iter().take(STEPS[2]) {
            self.chassis.ports[usize::from(number)].prefetch_frames();
        }
        for place in 0..busy.len() {
            prefetch_ports(&self.chassis.ports, &busy[place..], end, medium);
            let number = usize::from(busy[place]);
            let port = &mut self.chassis.ports[number];
            let first = turns.take_first(number);
            port.serve(arrivals, first, turns, end, &mut around, medium);
            if let Some(departure) = port.next_departure() {
                // `take_busy` has cleared the bits: ports with frames left become active again.
                self.queues.active[number / 64] |= 1 << (number % 64);
                next = next.min(departure);
            }
        }
        busy.clear();
        turns.keep(busy);
        self.buffer.close_journal();
        (!next.is_never()).then_some(next)
    }

    /// Serves arrival after arrival, from a state in which no sender is paused.
    fn serve_in_order<M: Medium>(
        &mut self,
        arrivals: &EventList<Packet>,
        end: Instant,
        turns: &ArrivalsByPort,
        medium: &mut M,
    ) -> Option<Instant> {
        let ports = self.chassis.ports.len() as u16;
        for (place, (packet, input)) in arrivals.iter().enumerate() {
            self.bring_before(packet.at, medium);
            if input >= ports {
                self.on_pause(packet, input - ports, medium);
            } else {
                self.offer(packet, input, turns.port(place), medium);
            }
        }
        self.advance_to(end, medium)
    }
}

/// Ports by which prefetches run ahead, in steps that lead to each other.
const STEPS: [usize; 3] = [6, 4, 2];

/// Prefetches data for the next busy ports; the first one is about to be served.
///
/// Near the end the last port is prefetched again, which costs less than a test.
#[inline]
fn prefetch_ports<M: Medium>(ports: &[Port], busy: &[u16], end: Instant, medium: &M) {
    let last = busy.len() - 1;
    let port = |ahead: usize| &ports[usize::from(busy[ahead.min(last)])];
    let [first, second, third] = STEPS.map(port);
    if medium.is_large() {
        first.prefetch();
        second.prefetch_queues();
        second.transmitter().prefetch_way(end, medium);
        third.transmitter().prefetch_room(end, medium);
        third.prefetch_room();
    }
    third.prefetch_frames();
}

#[cfg(test)]
mod tests;
