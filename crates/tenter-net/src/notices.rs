//! Notices of long queues between switches, for load balancers that use them.
//!
//! A notice is a MAC control frame: it goes out through the port that a packet came through, before
//! all frames that wait there, and takes effect when a pause frame would. A notice to a host is a
//! packet, routed like any other, in a class of its own.

use tenter_topology::Routing;

use crate::buffer::Buffer;
use crate::load_balancing::{NoticeTarget, SeenQueue};
use crate::medium::{EventKind, Medium};
use crate::packet::{Notice, Packet};
use crate::switch::{QueuedSwitch, Queueing};

impl<B: Buffer, Q> QueuedSwitch<B, Q>
where
    QueuedSwitch<B, Q>: Queueing,
{
    /// Notifies the switch from which a packet came through `input`, or this one if a host sent it,
    /// that the packet's queue at a port is long, if a notice is due.
    #[inline(never)]
    pub(crate) fn send_notices<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        port: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        let queue = self.chassis.rules.queue(packet);
        let queue_bytes = self.chassis.ports[usize::from(port)].bytes_in(queue);
        let xoffs = self.buffer.xoffs(input);
        let seen = SeenQueue {
            input,
            port,
            queue_bytes,
            xoffs,
        };
        let Some(table) = self.balancer.telemetry() else {
            return;
        };
        match table.tells(packet, seen, self.chassis.index, routing) {
            NoticeTarget::Nobody => {}
            NoticeTarget::Before => self.send_notice(packet, input, port, medium),
            NoticeTarget::Host => self.notify_host(packet, routing, medium),
            NoticeTarget::Itself => {
                table.ask(
                    packet,
                    port,
                    routing.candidates(self.chassis.index, packet.destination),
                );
            }
        }
    }

    /// Notifies the NIC that has sent a packet of the queue in which it waits.
    fn notify_host<M: Medium>(&mut self, packet: &Packet, routing: &Routing, medium: &mut M) {
        let table = self.balancer.telemetry();
        let Some(notice) = table.and_then(|table| table.host_notice(packet)) else {
            return;
        };
        let here = self.chassis.here(routing);
        let candidates = here.shortest(notice.destination);
        let chosen = self.balancer.choose(&notice, candidates, here);
        let port = candidates[chosen];
        self.offer(&notice, port, port, medium);
    }

    fn send_notice<M: Medium>(&mut self, packet: &Packet, input: u16, port: u16, medium: &mut M) {
        let now = packet.at;
        let backlog = self.chassis.ports[usize::from(port)].backlog(now);
        let notice = Notice::about(packet, self.balancer.level_of(backlog).max(1));
        self.advance_port(input, now, medium);
        self.chassis.ports[usize::from(input)].send_control(notice, now, medium);
        self.port_changed(input);
    }

    /// Receives a notice through a port.
    #[inline(never)]
    pub(crate) fn on_notice<M: Medium>(
        &mut self,
        notice: &Packet,
        port: u16,
        routing: &Routing,
        medium: &mut M,
    ) {
        self.chassis.note(EventKind::Obeyed, notice, port, medium);
        let candidates = routing.candidates(self.chassis.index, notice.destination);
        if let Some(table) = self.balancer.telemetry() {
            table.hear(notice, port, candidates, routing);
        }
    }
}
