//! A switch that sends congestion signals: what it does with a packet before that is queued.

use crate::topology::Routing;
use tenter_language::units::Instant;

use crate::net::buffer::Buffer;
use crate::net::medium::Medium;
use crate::net::packet::{Packet, PacketKind, SENT_UNIT_PS, SendSlot};
use crate::net::signals::{Cause, Drain, HostPort, Sender, Signal, SignalMode};
use crate::net::switch::queued::{QueuedSwitch, Queueing};

impl<B: Buffer, Q> QueuedSwitch<B, Q>
where
    QueuedSwitch<B, Q>: Queueing,
{
    /// Checks a packet from `input` that is about to be queued at `port`, and signals if needed;
    /// returns true if the packet ends here.
    #[inline(never)]
    pub(super) fn signal<M: Medium>(
        &mut self,
        packet: &Packet,
        input: u16,
        port: u16,
        routing: &Routing,
        medium: &mut M,
    ) -> bool {
        if packet.kind.is_data() {
            self.recall(packet, input, medium);
            self.judge(packet, port, routing, medium);
            false
        } else {
            packet.kind == PacketKind::Signal && self.on_signal(packet, port, medium)
        }
    }

    /// Handles a signal to a host cabled to this switch; returns true if it ends here.
    fn on_signal<M: Medium>(&mut self, packet: &Packet, port: u16, medium: &mut M) -> bool {
        let Some(signals) = &mut self.signals else {
            return false;
        };
        let (Some(host), Some(signal)) = (signals.host(port), Signal::of(packet)) else {
            return false;
        };
        let at = HostPort { port, host };
        signals.remember(&signal, at, packet.at);
        if signals.spec.mode == SignalMode::Nic {
            return false;
        }
        signals.record.converted += 1;
        signals.consumed += 1;
        self.pause_host(&signal, at, packet.at, medium);
        true
    }

    /// Pauses the sender of a packet from `input` if a signal has lately asked the same of another
    /// sender to the same receiver.
    fn recall<M: Medium>(&mut self, packet: &Packet, input: u16, medium: &mut M) {
        let Some(signals) = &mut self.signals else {
            return;
        };
        let Some(host) = signals.host(input) else {
            return;
        };
        let at = HostPort { port: input, host };
        let Some(signal) = signals.recall(packet, at) else {
            return;
        };
        if signals.spec.mode == SignalMode::RemotePfc {
            self.pause_host(&signal, at, packet.at, medium);
        } else {
            let sender = Sender {
                host,
                // The host is at this very port, so no hash has to choose one.
                hash: 0,
                slot: SendSlot::default(),
            };
            self.send_signal(&signal, sender, input, packet.at, medium);
        }
    }

    /// Signals to a packet's sender if the queue that the packet will join is beyond the threshold.
    fn judge<M: Medium>(&mut self, packet: &Packet, port: u16, routing: &Routing, medium: &mut M) {
        let now = packet.at;
        let watching = self.signals.as_ref().filter(|of| of.watches_port(port));
        let Some((threshold, target)) =
            watching.map(|of| (of.spec.threshold_bytes, of.spec.target_bytes))
        else {
            return;
        };
        // The threshold is compared with the present queue, so its port is brought up to date.
        self.advance_port(port, now, medium);
        self.port_changed(port);
        let queue = self.chassis.rules.queue(packet);
        let out = &self.chassis.ports[usize::from(port)];
        let waiting = out.bytes_in(queue);
        if waiting < threshold {
            return;
        }
        // The target is below the threshold, so neither difference is negative.
        let drain = Drain {
            drains: out.time_of(waiting - target),
            step: out.time_of(threshold - target),
        };
        let Some(signals) = &mut self.signals else {
            return;
        };
        let Some((sender, quanta)) = signals.judge(packet, port, queue, drain) else {
            return;
        };
        let candidates = routing.candidates(self.chassis.index, sender.host);
        // A sender at this switch needs no signal through the fabric.
        let own = signals.port_of(sender.host, candidates);
        let signal = Signal {
            receiver: packet.destination,
            class: packet.class(),
            quanta,
            cause: own.map_or(Cause::Signal, |_| Cause::OwnQueue),
            made: (now.ps() / SENT_UNIT_PS) as u32,
        };
        signals.record.own_senders += u64::from(own.is_some());
        let mode = signals.spec.mode;
        match own {
            Some(input) if mode == SignalMode::RemotePfc => {
                let at = HostPort {
                    port: input,
                    host: sender.host,
                };
                self.pause_host(&signal, at, now, medium);
            }
            Some(input) => self.send_signal(&signal, sender, input, now, medium),
            None => {
                let packet = signals.packet(&signal, sender, now);
                let here = self.chassis.here(routing);
                let chosen = self.balancer.choose(&packet, candidates, here);
                self.send_signal(&signal, sender, candidates[chosen], now, medium);
            }
        }
    }

    /// Sends a signal through a port, towards the sender that is to pause.
    fn send_signal<M: Medium>(
        &mut self,
        signal: &Signal,
        sender: Sender,
        port: u16,
        now: Instant,
        medium: &mut M,
    ) {
        if let Some(signals) = &mut self.signals {
            signals.record.sent += 1;
            let packet = signals.packet(signal, sender, now);
            self.offer(&packet, port, port, medium);
        }
    }

    /// Pauses a class for the host at a port, unless the host is paused for as long already.
    fn pause_host<M: Medium>(
        &mut self,
        signal: &Signal,
        at: HostPort,
        now: Instant,
        medium: &mut M,
    ) {
        let port = at.port;
        let frame = signal.pause_frame();
        let queue = self.chassis.rules.queue(&frame);
        let stands = self.buffer.has_paused(port, queue);
        let Some(signals) = &mut self.signals else {
            return;
        };
        if !signals.must_tell(signal, at, stands, now) {
            return;
        }
        self.advance_port(port, now, medium);
        self.chassis.ports[usize::from(port)].send_pause(frame, now, medium);
        self.port_changed(port);
    }
}
