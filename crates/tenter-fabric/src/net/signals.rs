//! Congestion signals from a switch to senders whose packets wait in a long queue, routed like any
//! packet.
//!
//! ```text
//!  sender ── source leaf ─── spine ─── last-hop leaf ── receiver
//!     ◀─ pause ─┤◀──────── signal ────────┤ queue of the class ≥ threshold
//!    frame (802.1Qbb): the sender's        │ when a data packet comes for it
//!    class is paused                       ▼ the packet goes on
//! ```
//!
//! With Remote PFC the source leaf turns the signal into a pause frame, which pauses a class at the
//! sender; with source flow control it goes on to the NIC, which pauses traffic to that receiver.
//!
//! Source: *Remote Priority Flow Control (Remote PFC)*, OCP Summit 2021; Le et al., "SFC:
//! Near-Source Congestion Signaling and Flow Control". Decision 0028 records the choices that both
//! leave open.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use crate::topology::HostId;
use tenter_language::config::choice;
use tenter_language::units::{Instant, Time};

use crate::net::buffer::{ControlMessage, PendingControl};
use crate::net::class::CLASSES;
use crate::net::packet::{Packet, PacketKind, SENT_UNIT_PS, SIGNAL_FRAME_BYTES, SendSlot};

/// Longest possible pause, in quanta.
const QUANTA_MAX: u64 = u16::MAX as u64;

/// Part of a sender that a signal pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalMode {
    /// The class at the sender's NIC, by a pause frame from the source leaf.
    RemotePfc,
    /// The NIC's queue pairs to the receiver, in that class.
    Nic,
}

/// Queues whose length is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceOfSignals {
    /// Queues to hosts, at the last hop.
    LastHop,
    /// All queues, those between switches among them.
    Any,
}

choice!(SignalMode { "remote-pfc" => RemotePfc, "nic" => Nic });

choice!(PlaceOfSignals { "last-hop" => LastHop, "any" => Any });

/// A host, and the switch port to which it is cabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPort {
    pub(crate) port: u16,
    pub(crate) host: HostId,
}

/// Times that a queue takes to drain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drain {
    /// Time to drain from the present length to the target.
    pub(crate) drains: Time,
    /// Time to drain from the threshold to the target.
    pub(crate) step: Time,
}

/// Parameters of congestion signals, the same for all switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalSpec {
    /// Part of a sender that a signal pauses.
    pub mode: SignalMode,
    /// Queues whose length is checked.
    pub place: PlaceOfSignals,
    /// Queue length, in frame bytes, from which the sender of a data packet is signalled.
    pub threshold_bytes: u64,
    /// Queue length, in frame bytes, to which the pause lets the queue drain; less than the
    /// threshold.
    pub target_bytes: u64,
    /// Traffic class of signals, which has a strict queue to itself.
    pub class: u8,
    /// Most (receiver, class) pairs that a source leaf remembers; 0 for none.
    pub cache_entries: u32,
    /// True if a sender is signalled again before its pause has passed, once the pause is too short
    /// by the time from threshold to target.
    pub renews: bool,
}

/// Sender of a packet, as real headers would name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Host that has sent the packet.
    pub host: HostId,
    /// Hash of the packet's 5-tuple with source and destination exchanged.
    pub hash: u32,
    /// Queue pair at that host: its send slot.
    pub slot: SendSlot,
}

/// Reads header fields that the model's packets do not carry but real ones do.
pub trait Headers: Debug + Send + Sync {
    /// Returns a data packet's sender.
    fn sender(&self, packet: &Packet) -> Sender;
}

/// Facts about hosts that a switch with signals needs.
#[derive(Clone, Debug)]
pub struct SignalWiring {
    /// Reader for packet headers, which name the sender.
    pub headers: Arc<dyn Headers>,
    /// Duration of 512 bits on each host's link, in ps.
    pub quantum_ps: Arc<[u64]>,
    /// Host at each port; `None` for a port to another switch.
    pub hosts: Vec<Option<HostId>>,
}

/// Cause of a sender's pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A signal from another switch.
    Signal,
    /// A long queue in the switch that the sender is cabled to.
    OwnQueue,
    /// A signal to another sender, remembered by the switch that this sender is cabled to.
    Cache,
}

/// Content shared by a signal and the pause frame made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Host whose packets wait in the long queue.
    pub receiver: HostId,
    /// Traffic class that shall pause, 0 to 7.
    pub class: u8,
    /// Pause time in quanta of the sender's link.
    pub quanta: u16,
    /// Reason for which the sender pauses.
    pub cause: Cause,
    /// Instant at which the queue was found too long, in units of [`SENT_UNIT_PS`]; for the records
    /// only.
    pub made: u32,
}

impl SignalSpec {
    /// Returns the mode's name in a scenario.
    pub fn mode_name(&self) -> &'static str {
        match self.mode {
            SignalMode::RemotePfc => "remote-pfc",
            SignalMode::Nic => "nic",
        }
    }

    /// Returns true if a switch whose ports lead to `hosts` handles signals, beside routing them.
    pub fn concerns(&self, hosts: &[Option<HostId>]) -> bool {
        self.place == PlaceOfSignals::Any || hosts.iter().any(Option::is_some)
    }
}

impl Signal {
    /// Reads a packet's content; `None` unless it is a signal or a pause frame made from one.
    pub fn of(packet: &Packet) -> Option<Signal> {
        let receiver = match packet.kind {
            PacketKind::Signal => HostId::new(packet.queue_pair_field()),
            // Pause frames of PFC name no host; one made from a signal names the receiver of the
            // queue.
            PacketKind::Pause if packet.destination != Packet::NO_HOST => packet.destination,
            _ => return None,
        };
        let (class, cause) = match packet.kind {
            PacketKind::Pause => (packet.class(), packet.queue_pair),
            // A signal has no field for the class to pause, which stands above the quanta instead.
            _ => (
                (packet.sequence >> 16) as u8 & 7,
                u32::from(packet.flags & 3),
            ),
        };
        Some(Signal {
            receiver,
            class,
            quanta: packet.sequence as u16,
            cause: match cause {
                0 => Cause::Signal,
                1 => Cause::OwnQueue,
                _ => Cause::Cache,
            },
            made: packet.sent,
        })
    }

    /// Makes the packet that brings the signal to a sender, in `class`.
    fn packet(&self, sender: Sender, class: u8, now: Instant) -> Packet {
        Packet {
            at: now,
            queue_pair: self.receiver.number(),
            sequence: u32::from(self.quanta) | u32::from(self.class) << 16,
            destination: sender.host,
            hash: sender.hash,
            sent: self.made,
            frame_bytes: SIGNAL_FRAME_BYTES,
            kind: PacketKind::Signal,
            flags: Packet::class_flags(class) | self.cause as u8,
        }
    }

    /// Makes the pause frame that the signal is turned into.
    pub(crate) fn pause_frame(&self) -> Packet {
        Packet {
            queue_pair: self.cause as u32,
            destination: self.receiver,
            sent: self.made,
            ..Packet::pause(self.class, self.quanta)
        }
    }

    /// Returns the time from the finding until `at`, in units of [`SENT_UNIT_PS`].
    pub fn age(&self, at: Instant) -> u32 {
        ((at.ps() / SENT_UNIT_PS) as u32).wrapping_sub(self.made)
    }
}

/// A switch's counters for congestion signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalRecord {
    /// Signals sent to senders at other switches, or to NICs at this one.
    pub sent: u64,
    /// Packets for a queue beyond the threshold whose sender had been signalled before.
    pub suppressed: u64,
    /// Signals from other switches that were turned into pause frames, `covered` ones among them.
    pub converted: u64,
    /// Senders at this switch that it paused, or signalled to, for its own queue.
    pub own_senders: u64,
    /// Senders at this switch that it paused, or signalled to, after a signal to another.
    pub cache_hits: u64,
    /// Signals that were not remembered, because there was no room.
    pub cache_refused: u64,
    /// Pauses without a pause frame: the class was already paused for that time.
    pub covered: u64,
}

/// A switch's state for congestion signals.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    pub(crate) spec: SignalSpec,
    wiring: SignalWiring,
    /// Instant until which a sender is not signalled again, by (port, queue, sender, receiver).
    quiet: BTreeMap<(u16, u8, HostId, HostId), Instant>,
    /// Entry count at which those that have passed are dropped.
    quiet_limit: usize,
    /// Signals that this leaf remembers, by (receiver, class).
    cache: BTreeMap<(HostId, u8), Remembered>,
    /// Instant at which the pause known to a port's host ends, by port, then class.
    paused: Vec<Instant>,
    /// Pause frames that signals have caused, by port, then class.
    frames: Vec<u64>,
    /// The switch's own XON frames that were sent as pauses, by port, then class.
    held: Vec<u64>,
    pub(crate) record: SignalRecord,
    /// Signals that ended here, as pause frames.
    pub(crate) consumed: u64,
}

/// Signals about a receiver and a class, to which senders of this leaf shall not send.
#[derive(Clone, Debug, Default)]
struct Remembered {
    /// Instant at which the longest pause asked for ends.
    until: Instant,
    /// Ports whose senders have been signalled, and until when each pauses.
    told: Vec<(u16, Instant)>,
}

impl Signals {
    pub(crate) fn new(spec: &SignalSpec, wiring: SignalWiring) -> Signals {
        let ports = wiring.hosts.len();
        Signals {
            spec: *spec,
            wiring,
            quiet: BTreeMap::new(),
            quiet_limit: 64,
            cache: BTreeMap::new(),
            paused: vec![Instant::START; ports * CLASSES],
            frames: vec![0; ports * CLASSES],
            held: vec![0; ports * CLASSES],
            record: SignalRecord::default(),
            consumed: 0,
        }
    }

    /// Returns the host at a port; `None` for a port to another switch.
    pub(crate) fn host(&self, port: u16) -> Option<HostId> {
        self.wiring.hosts[usize::from(port)]
    }

    /// Returns the port to a host that is cabled to this switch; `candidates` are the ports to the
    /// host.
    pub(crate) fn port_of(&self, host: HostId, candidates: &[u16]) -> Option<u16> {
        let mut ports = candidates.iter().copied();
        ports.find(|&port| self.host(port) == Some(host))
    }

    /// Returns true if a port's queues are checked.
    pub(crate) fn watches_port(&self, port: u16) -> bool {
        self.spec.place == PlaceOfSignals::Any || self.host(port).is_some()
    }

    /// Returns the pause frames that signals have caused at a port for a class.
    pub(crate) fn frames(&self, port: u16, class: u8) -> u64 {
        self.frames[place(port, class)]
    }

    /// Returns the switch's own XON frames that were sent as pauses, because signals ask for a
    /// longer one.
    pub(crate) fn held(&self, port: u16, class: u8) -> u64 {
        self.held[place(port, class)]
    }

    /// Decides on a signal for a packet that joins a queue beyond the threshold. Returns the sender
    /// and the quanta for which it pauses, or `None` if that sender has been signalled.
    ///
    /// The pause lasts until the announced time has passed at the sender. A signal that leaves when
    /// that time has passed here arrives exactly then, whatever a signal's delay; so that is when
    /// the next one may be sent.
    pub(crate) fn judge(
        &mut self,
        packet: &Packet,
        port: u16,
        queue: usize,
        Drain { drains, step }: Drain,
    ) -> Option<(Sender, u16)> {
        let now = packet.at;
        let sender = self.wiring.headers.sender(packet);
        // A pause frame stops the sender for all receivers alike.
        let receiver = match self.spec.mode {
            SignalMode::RemotePfc => Packet::NO_HOST,
            SignalMode::Nic => packet.destination,
        };
        let key = (port, queue as u8, sender.host, receiver);
        let known = self.quiet.get(&key).copied().filter(|&until| until > now);
        let too_short = |until: Instant| self.spec.renews && now + drains >= until + step;
        if known.is_some_and(|until| !too_short(until)) {
            self.record.suppressed += 1;
            return None;
        }
        // At twice the entries that were left, so that dropping costs each entry little.
        if self.quiet.len() >= self.quiet_limit {
            self.quiet.retain(|_, until| *until > now);
            self.quiet_limit = 64.max(2 * self.quiet.len());
        }
        let quanta = self.quanta(sender.host, drains);
        self.quiet
            .insert(key, now + self.lasts(sender.host, quanta));
        Some((sender, quanta))
    }

    /// Converts a time to quanta on a host's link, rounded up, from 1 to the longest possible
    /// pause.
    fn quanta(&self, host: HostId, time: Time) -> u16 {
        let quanta = time.ps().div_ceil(self.wiring.quantum_ps[host.index()]);
        quanta.clamp(1, QUANTA_MAX) as u16
    }

    fn lasts(&self, host: HostId, quanta: u16) -> Time {
        Time::from_ps(u64::from(quanta) * self.wiring.quantum_ps[host.index()])
    }

    /// Remembers a signal that has come for the host at a port.
    pub(crate) fn remember(&mut self, signal: &Signal, at: HostPort, now: Instant) {
        let HostPort { port, host } = at;
        let until = now + self.lasts(host, signal.quanta);
        let key = (signal.receiver, signal.class);
        let most = self.spec.cache_entries as usize;
        if !self.cache.contains_key(&key) && self.cache.len() >= most {
            self.cache.retain(|_, entry| entry.until > now);
            if self.cache.len() >= most {
                // A cache without entries is meant to remember nothing.
                self.record.cache_refused += u64::from(most > 0);
                return;
            }
        }
        let entry = self.cache.entry(key).or_default();
        // A later signal never shortens a pause.
        entry.until = entry.until.max(until);
        entry.tell(port, until);
    }

    /// Returns the pause for the host at a port that has sent a packet, if another host was
    /// signalled to pause and this one was not.
    pub(crate) fn recall(&mut self, packet: &Packet, at: HostPort) -> Option<Signal> {
        let HostPort { port, host } = at;
        let now = packet.at;
        let entry = self.cache.get_mut(&(packet.destination, packet.class()))?;
        if entry.until <= now || entry.knows(port, now) {
            return None;
        }
        let until = entry.until;
        entry.tell(port, until);
        // Entered as signalled, so that packets which the host had under way cause no second
        // signal.
        self.record.cache_hits += 1;
        Some(Signal {
            receiver: packet.destination,
            class: packet.class(),
            quanta: self.quanta(host, until - now),
            cause: Cause::Cache,
            made: (now.ps() / SENT_UNIT_PS) as u32,
        })
    }

    /// Notes a pause for the host at a port, and returns true if a pause frame must be sent for it.
    /// `stands` is true if the switch's own flow control has already paused the host.
    pub(crate) fn must_tell(
        &mut self,
        signal: &Signal,
        HostPort { port, host }: HostPort,
        stands: bool,
        now: Instant,
    ) -> bool {
        let until = now + self.lasts(host, signal.quanta);
        let place = place(port, signal.class);
        let paused = &mut self.paused[place];
        let longer = until > *paused;
        *paused = until.max(*paused);
        let tells = longer && !stands;
        if tells {
            self.frames[place] += 1;
        } else {
            self.record.covered += 1;
        }
        tells
    }

    /// Lengthens one of the switch's own pause frames to the remaining pause that signals have
    /// asked for.
    pub(crate) fn extend(&mut self, control: &mut PendingControl, class: u8, now: Instant) {
        let (ControlMessage::Pause(quanta), Some(host)) =
            (&mut control.message, self.host(control.port))
        else {
            return;
        };
        let place = place(control.port, class);
        let until = self.paused[place];
        if until > now {
            // An XON would let the host send before the signalled pause is over.
            let left = self.quanta(host, until - now);
            self.held[place] += u64::from(*quanta == 0 && left > 0);
            *quanta = left.max(*quanta);
        }
    }

    /// Forgets the pauses at a port whose link goes down, as the host there forgets them.
    pub(crate) fn forget(&mut self, port: u16) {
        let first = usize::from(port) * CLASSES;
        self.paused[first..first + CLASSES].fill(Instant::START);
    }

    /// Makes the packet that brings a signal to its sender.
    pub(crate) fn packet(&self, signal: &Signal, sender: Sender, now: Instant) -> Packet {
        signal.packet(sender, self.spec.class, now)
    }
}

fn place(port: u16, class: u8) -> usize {
    usize::from(port) * CLASSES + usize::from(class)
}

impl Remembered {
    fn knows(&self, port: u16, now: Instant) -> bool {
        let mut told = self.told.iter();
        told.any(|&(other, until)| other == port && until > now)
    }

    fn tell(&mut self, port: u16, until: Instant) {
        match self.told.iter_mut().find(|(other, _)| *other == port) {
            Some((_, told)) => *told = until.max(*told),
            None => self.told.push((port, until)),
        }
    }
}
