//! A switch that signals to senders: what it does about a packet before that is queued.

use tenter_topology::Routing;

use crate::medium::Medium;
use crate::packet::{Packet, PacketKind, REROUTE_FRAME_BYTES, SENT_UNIT_PS, SIGNAL_FRAME_BYTES};
use crate::signals::{
    Cause, Sender, Signal, SignalMode, SignalRecord, SignalSpec, SignalWiring, Signals,
};
use crate::switch::Switch;

impl Switch {
    /// Signals to senders, or passes signals on to the hosts that are cabled to it, before anything
    /// has happened.
    pub fn signal_to_senders(&mut self, spec: &SignalSpec, wiring: SignalWiring) {
        self.signals = Some(Box::new(Signals::new(spec, wiring)));
    }

    /// What it has counted of signals, if it has to do with any.
    pub fn signal_record(&self) -> Option<SignalRecord> {
        self.signals.as_ref().map(|signals| signals.record)
    }

    /// Pause frames that went out through a port for a class because of signals.
    pub fn signalled_pauses(&self, port: u16, class: u8) -> u64 {
        let signals = self.signals.as_ref();
        signals.map_or(0, |signals| signals.frames(port, class))
    }

    /// Frames of the switch's own flow control that were to let a class go on, and were sent as
    /// pauses because signals ask for a longer one.
    pub fn held_pauses(&self, port: u16, class: u8) -> u64 {
        let signals = self.signals.as_ref();
        signals.map_or(0, |signals| signals.held(port, class))
    }

    /// Frames that began here, and those that ended here, with their frame bytes: signals, and
    /// notices to senders.
    pub fn made_and_consumed(&self) -> [(u64, u64); 2] {
        let signals = self.signals.as_ref();
        let (made, consumed) =
            signals.map_or((0, 0), |signals| (signals.record.sent, signals.consumed));
        let bytes = |frames: u64, each: u16| (frames, frames * u64::from(each));
        let notices = bytes(self.host_notices(), REROUTE_FRAME_BYTES);
        let made = bytes(made, SIGNAL_FRAME_BYTES);
        let made = (made.0 + notices.0, made.1 + notices.1);
        [made, bytes(consumed, SIGNAL_FRAME_BYTES)]
    }

    /// Looks at a packet that came through `input` and is about to be queued at `port`; whether it
    /// ends here.
    #[inline(never)]
    pub(super) fn signal<M: Medium>(
        &mut self,
        packet: &Packet,
        (input, port): (u16, u16),
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

    /// Takes a signal that goes to a host cabled to this switch; whether it ends here.
    fn on_signal<M: Medium>(&mut self, packet: &Packet, port: u16, medium: &mut M) -> bool {
        let Some(signals) = &mut self.signals else {
            return false;
        };
        let (Some(host), Some(signal)) = (signals.host(port), Signal::of(packet)) else {
            return false;
        };
        signals.remember(&signal, (port, host), packet.at);
        if signals.spec.mode == SignalMode::Nic {
            return false;
        }
        signals.record.converted += 1;
        signals.consumed += 1;
        self.pause_host(&signal, (port, host), packet.at, medium);
        true
    }

    /// Pauses the sender of a packet that came through `input` if another sender has been paused
    /// for the same receiver.
    fn recall<M: Medium>(&mut self, packet: &Packet, input: u16, medium: &mut M) {
        let Some(signals) = &mut self.signals else {
            return;
        };
        let Some(host) = signals.host(input) else {
            return;
        };
        let Some(signal) = signals.recall(packet, (input, host)) else {
            return;
        };
        if signals.spec.mode == SignalMode::RemotePfc {
            self.pause_host(&signal, (input, host), packet.at, medium);
        } else {
            let sender = Sender {
                host,
                hash: 0,
                slot: 0,
            };
            self.send_signal(&signal, sender, input, packet.at, medium);
        }
    }

    /// Tells the sender of a packet if the queue that it comes for is too long.
    fn judge<M: Medium>(&mut self, packet: &Packet, port: u16, routing: &Routing, medium: &mut M) {
        let now = packet.at;
        let watching = self.signals.as_ref().filter(|of| of.watches_port(port));
        let Some((threshold, target)) =
            watching.map(|of| (of.spec.threshold_bytes, of.spec.target_bytes))
        else {
            return;
        };
        self.advance_port(port, now, medium);
        if self.buffer.is_armed() {
            self.enter_departure(port);
        }
        let queue = self.rules.queue(packet);
        let out = &self.ports[usize::from(port)];
        let waiting = out.bytes_in(queue);
        if waiting < threshold {
            return;
        }
        let drains = (
            out.time_of(waiting - target),
            out.time_of(threshold - target),
        );
        let Some(signals) = &mut self.signals else {
            return;
        };
        let Some((sender, quanta)) = signals.judge(packet, (port, queue), drains) else {
            return;
        };
        let candidates = routing.candidates(self.index, sender.host);
        let own = signals.port_of(sender.host, candidates);
        let signal = Signal {
            receiver: packet.destination,
            class: packet.class(),
            quanta,
            cause: own.map_or(Cause::Signal, |_| Cause::OwnQueue),
            made: (now / SENT_UNIT_PS) as u32,
        };
        signals.record.own_senders += u64::from(own.is_some());
        let mode = signals.spec.mode;
        match own {
            Some(input) if mode == SignalMode::RemotePfc => {
                self.pause_host(&signal, (input, sender.host), now, medium);
            }
            Some(input) => self.send_signal(&signal, sender, input, now, medium),
            None => {
                let packet = signals.packet(&signal, sender, now);
                let seed = self.rules.seed;
                let around = (&self.ports[..], routing);
                let chosen = self.balancer.choose(&packet, candidates, seed, around);
                self.send_signal(&signal, sender, candidates[chosen], now, medium);
            }
        }
    }

    /// Sends a signal through a port.
    fn send_signal<M: Medium>(
        &mut self,
        signal: &Signal,
        sender: Sender,
        port: u16,
        now: u64,
        medium: &mut M,
    ) {
        if let Some(signals) = &mut self.signals {
            signals.record.sent += 1;
            let packet = signals.packet(signal, sender, now);
            self.offer(&packet, port, port, medium);
        }
    }

    /// Pauses a class of the host at a port, unless it stands still as long already.
    fn pause_host<M: Medium>(
        &mut self,
        signal: &Signal,
        (port, host): (u16, u32),
        now: u64,
        medium: &mut M,
    ) {
        let frame = signal.pause_frame();
        let queue = self.rules.queue(&frame);
        let stands = self.buffer.ingress(port, queue, now).is_paused;
        let Some(signals) = &mut self.signals else {
            return;
        };
        if !signals.must_tell(signal, (port, host), (stands, now)) {
            return;
        }
        self.advance_port(port, now, medium);
        self.ports[usize::from(port)].send_pause(frame, now, medium);
        if self.buffer.is_armed() {
            self.enter_departure(port);
        }
    }
}
