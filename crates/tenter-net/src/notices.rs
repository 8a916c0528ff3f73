//! Notices of long queues between switches, for load balancers that use them.
//!
//! A notice is a MAC control frame: it goes out through the port that a packet came through, before
//! all frames that wait there, and takes effect when a pause frame would. A notice to a host is a
//! packet, routed like any other, in a class of its own.

use std::sync::Arc;

use tenter_topology::Routing;

use crate::load_balancing::{NoticeTarget, TelemetryTable};
use crate::medium::{EventKind, Medium};
use crate::packet::Packet;
use crate::signals::Headers;
use crate::switch::Switch;

impl Switch {
    /// Notifies the switch from which a packet came through `input`, or this one if a host sent it,
    /// that the packet's queue at a port is long, if a notice is due.
    #[inline(never)]
    pub(crate) fn tell<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, port): (u16, u16),
        routing: &Routing,
        medium: &mut M,
    ) {
        let queue = self.rules.queue(packet);
        let queue_bytes = self.ports[usize::from(port)].bytes_in(queue);
        let xoffs = self.buffer.xoffs(input);
        let here = (self.index, routing);
        let Some(table) = self.balancer.telemetry() else {
            return;
        };
        match table.tells(packet, (input, port), (queue_bytes, xoffs), here) {
            NoticeTarget::Nobody => {}
            NoticeTarget::Before => self.send_notice(packet, (input, port), medium),
            NoticeTarget::Host => self.tell_host(packet, routing, medium),
            NoticeTarget::Itself => {
                table.ask(
                    packet,
                    port,
                    routing.candidates(self.index, packet.destination),
                );
            }
        }
    }

    /// Notifies the NIC that has sent a packet of the queue in which it waits.
    fn tell_host<M: Medium>(&mut self, packet: &Packet, routing: &Routing, medium: &mut M) {
        let table = self.balancer.telemetry();
        let Some(notice) = table.and_then(|table| table.host_notice(packet)) else {
            return;
        };
        let candidates = routing.candidates(self.index, notice.destination);
        let around = (&self.ports[..], routing);
        let seed = self.rules.seed;
        let chosen = self.balancer.choose(&notice, candidates, seed, around);
        let port = candidates[chosen];
        self.offer(&notice, port, port, medium);
    }

    /// Lets it notify hosts of long queues, if its load balancer does, before the first event.
    pub fn notify_hosts(&mut self, headers: Arc<dyn Headers>) {
        if let Some(table) = self.balancer.telemetry() {
            table.read_headers(headers);
        }
    }

    /// Notices of long queues that it has sent to hosts.
    pub fn host_notices(&self) -> u64 {
        self.balancer.host_notices()
    }

    fn send_notice<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, port): (u16, u16),
        medium: &mut M,
    ) {
        let now = packet.at;
        let backlog = self.ports[usize::from(port)].backlog(now);
        let notice = TelemetryTable::notice(packet, self.balancer.level_of(backlog).max(1));
        self.advance_port(input, now, medium);
        self.ports[usize::from(input)].send_control(notice, now, medium);
        if self.buffer.is_armed() {
            self.enter_departure(input);
        }
    }

    /// Receives a notice through a port.
    #[inline(never)]
    pub(crate) fn hear<M: Medium>(
        &mut self,
        notice: &Packet,
        port: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        self.note(EventKind::Obeyed, notice, port, medium);
        let candidates = routing.candidates(self.index, notice.destination);
        if let Some(table) = self.balancer.telemetry() {
            table.hear(notice, port, candidates, routing);
        }
    }

    /// Notices of long queues sent through a port, and received through it.
    pub fn notices(&self, port: u16) -> (u64, u64) {
        self.balancer.told(port).0
    }

    /// Number of times that flows have been moved to another link because of notices.
    pub fn moves(&self) -> u64 {
        self.balancer.told(0).1
    }
}
