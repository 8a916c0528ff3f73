//! Congestion notices, for load balancers that use them.
//!
//! A notice to a switch is a MAC control frame: it goes out through the port that a packet came
//! through, before all waiting frames, and takes effect when a pause frame would (decision 0023). A
//! notice to a host is a packet in its own class, routed like any other.

use crate::topology::Routing;

use crate::net::buffer::Buffer;
use crate::net::load_balancing::{NoticeTarget, SeenQueue};
use crate::net::medium::{EventKind, Medium};
use crate::net::packet::{Notice, Packet};
use crate::net::switch::{QueuedSwitch, Queueing};

impl<B: Buffer, Q> QueuedSwitch<B, Q>
where
    QueuedSwitch<B, Q>: Queueing,
{
    /// Sends a notice that a packet's queue at `port` is long, if one is due: to the switch from
    /// which the packet came through `input`, to the host that sent it, or to this switch itself.
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
            // The link that the flow would leave is this switch's own, so no frame needs to be
            // sent.
            NoticeTarget::Itself => {
                table.ask(
                    packet,
                    port,
                    routing.candidates(self.chassis.index, packet.destination),
                );
            }
        }
    }

    /// Notifies the NIC that has sent a packet about the queue in which the packet waits.
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
        // Level 0 would call the queue empty, and a notice is about a long one.
        let notice = Notice::about(packet, self.balancer.level_of(backlog).max(1));
        // The frame goes out behind those that this port has started by now.
        self.advance_port(input, now, medium);
        self.chassis.ports[usize::from(input)].send_control(notice, now, medium);
        self.port_changed(input);
    }

    /// Applies a notice that has come through a port.
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
