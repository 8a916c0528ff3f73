//! Signals from a switch to senders whose packets wait in a long queue, routed like any packet.
//!
//! ```text
//!  sender ── source leaf ─── spine ─── last-hop leaf ── receiver
//!     ◀─ pause ─┤◀──────── signal ────────┤ queue of the class ≥ threshold
//!    frame (802.1Qbb): the sender's        │ when a data packet comes for it
//!    class is paused                       ▼ the packet goes on
//! ```
//!
//! With Remote PFC the source leaf turns the signal into a pause frame, which pauses a class of the
//! sender; with source flow control it goes on to the NIC, which pauses traffic to that receiver.
//!
//! Source: *Remote Priority Flow Control (Remote PFC)*, OCP Summit 2021; Le et al., "SFC:
//! Near-Source Congestion Signaling and Flow Control". The decision page records the choices that
//! both leave open.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use tenter_config::choice;
use tenter_topology::HostId;
use tenter_units::{Instant, Time};

use crate::buffer::{ControlMessage, PendingControl};
use crate::class::CLASSES;
use crate::packet::{Packet, PacketKind, SENT_UNIT_PS, SIGNAL_FRAME_BYTES, SendSlot};

/// The longest possible pause, in quanta.
const QUANTA_MAX: u64 = u16::MAX as u64;

/// The part that applies a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalMode {
    /// The class of the sender's NIC, by a pause frame of the source leaf.
    RemotePfc,
    /// The NIC's queue pairs to the receiver, in that class.
    Nic,
}

/// The queues that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceOfSignals {
    /// Those in front of hosts.
    LastHop,
    /// All of them.
    Any,
}

choice!(SignalMode { "remote-pfc" => RemotePfc, "nic" => Nic });

choice!(PlaceOfSignals { "last-hop" => LastHop, "any" => Any });

/// A host, and the port of a switch at which it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPort {
    pub(crate) port: u16,
    pub(crate) host: HostId,
}

/// How long a queue takes to become shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drain {
    /// Down to the target.
    pub(crate) drains: Time,
    /// From the threshold down to the target.
    pub(crate) step: Time,
}

/// The parameters of signals to senders, the same for all switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalSpec {
    /// The part that applies a signal.
    pub mode: SignalMode,
    /// The queues that are checked.
    pub place: PlaceOfSignals,
    /// A signal is sent when a data packet comes for a queue of at least this number of frame
    /// bytes.
    pub threshold_bytes: u64,
    /// The pause lets the queue drain down to this; less than the threshold.
    pub target_bytes: u64,
    /// The class of signals, which has a strict queue to itself.
    pub class: u8,
    /// Number of pairs of receiver and class that a source leaf remembers; 0 for none.
    pub cache_entries: u32,
    /// Whether a sender is signalled again before its pause has passed, when that has become too
    /// short by the time that the queue takes from threshold to target.
    pub renews: bool,
}

/// The sender of a packet, as in its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The host.
    pub host: HostId,
    /// The hash of the 5-tuple with source and destination exchanged.
    pub hash: u32,
    /// The queue pair there: its send slot.
    pub slot: SendSlot,
}

/// Reads the header fields that packets of the model do not carry but real ones do.
pub trait Headers: Debug + Send + Sync {
    /// The sender of a data packet.
    fn sender(&self, packet: &Packet) -> Sender;
}

/// The hosts, as far as a switch needs them.
#[derive(Clone, Debug)]
pub struct SignalWiring {
    /// Reads the headers of packets.
    pub headers: Arc<dyn Headers>,
    /// For each host how long 512 bits last on its link, in ps.
    pub quantum_ps: Arc<[u64]>,
    /// For each port the host that it leads to, if it leads to one.
    pub hosts: Vec<Option<HostId>>,
}

/// The cause of a sender's pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A signal of another switch.
    Signal,
    /// The switch it is cabled to, whose own queue is long.
    OwnQueue,
    /// The memory of the switch it is cabled to of a signal to another sender.
    Cache,
}

/// The content of a signal, and of the pause frame made of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The host whose packets wait.
    pub receiver: HostId,
    /// The class that shall pause.
    pub class: u8,
    /// The pause in quanta of the sender's link.
    pub quanta: u16,
    /// The cause of the pause.
    pub cause: Cause,
    /// When that was found, in units of [`SENT_UNIT_PS`]; only for the records.
    pub made: u32,
}

impl SignalSpec {
    /// The name of the mode in a scenario.
    pub fn mode_name(&self) -> &'static str {
        match self.mode {
            SignalMode::RemotePfc => "remote-pfc",
            SignalMode::Nic => "nic",
        }
    }

    /// Whether a switch whose ports lead to these hosts handles signals, beside routing them.
    pub fn concerns(&self, hosts: &[Option<HostId>]) -> bool {
        self.place == PlaceOfSignals::Any || hosts.iter().any(Option::is_some)
    }
}

impl Signal {
    /// The content of a packet, if it is a signal or a pause frame that was made of one.
    pub fn of(packet: &Packet) -> Option<Signal> {
        let receiver = match packet.kind {
            PacketKind::Signal => HostId::new(packet.queue_pair_field()),
            PacketKind::Pause if packet.destination != Packet::NO_HOST => packet.destination,
            _ => return None,
        };
        let (class, cause) = match packet.kind {
            PacketKind::Pause => (packet.class(), packet.queue_pair),
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

    /// The packet that brings it to a sender, in a class of its own.
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

    /// The pause frame it is turned into.
    pub(crate) fn pause_frame(&self) -> Packet {
        Packet {
            queue_pair: self.cause as u32,
            destination: self.receiver,
            sent: self.made,
            ..Packet::pause(self.class, self.quanta)
        }
    }

    /// The time from the finding until `at`, in units of [`SENT_UNIT_PS`].
    pub fn age(&self, at: Instant) -> u32 {
        ((at.ps() / SENT_UNIT_PS) as u32).wrapping_sub(self.made)
    }
}

/// The counters of a switch for signals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalRecord {
    /// Signals it sent to senders at other switches, or to their NICs.
    pub sent: u64,
    /// Packets for a queue above the threshold whose sender had been signalled before.
    pub suppressed: u64,
    /// Signals of other switches that it turned into pause frames, or that were covered.
    pub converted: u64,
    /// Senders of its own that it paused, or signalled to, for a queue of its own.
    pub own_senders: u64,
    /// Senders of its own that it paused, or signalled to, because of a signal to another.
    pub cache_hits: u64,
    /// Signals that it could not remember: there was no room.
    pub cache_refused: u64,
    /// Pauses without a frame: the class was already paused for that time.
    pub covered: u64,
}

/// The state of a switch for signals.
#[derive(Clone, Debug)]
pub(crate) struct Signals {
    pub(crate) spec: SignalSpec,
    wiring: SignalWiring,
    /// The time until which a sender is not signalled again, by (port, queue, sender, receiver).
    quiet: BTreeMap<(u16, u8, HostId, HostId), Instant>,
    /// At this number of entries, those that have passed are dropped.
    quiet_limit: usize,
    cache: BTreeMap<(HostId, u8), Remembered>,
    /// By port, then class: the end of the pause of which the host there knows.
    paused: Vec<Instant>,
    /// By port, then class: pause frames sent for it.
    frames: Vec<u64>,
    /// By port, then class: frames of the switch's own flow control that would have resumed the
    /// class, and were sent as pauses.
    held: Vec<u64>,
    pub(crate) record: SignalRecord,
    /// Signals that ended here: as pause frames.
    pub(crate) consumed: u64,
}

/// A receiver and a class that senders of a leaf shall not send to.
#[derive(Clone, Debug, Default)]
struct Remembered {
    until: Instant,
    /// Ports whose senders have been signalled, and the end of their pauses.
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

    /// The host at a port.
    pub(crate) fn host(&self, port: u16) -> Option<HostId> {
        self.wiring.hosts[usize::from(port)]
    }

    /// The port of a host that is cabled to this switch.
    pub(crate) fn port_of(&self, host: HostId, candidates: &[u16]) -> Option<u16> {
        let mut ports = candidates.iter().copied();
        ports.find(|&port| self.host(port) == Some(host))
    }

    /// Whether the queues of a port are checked.
    pub(crate) fn watches_port(&self, port: u16) -> bool {
        self.spec.place == PlaceOfSignals::Any || self.host(port).is_some()
    }

    /// Pause frames that were sent through a port for a class because of signals.
    pub(crate) fn frames(&self, port: u16, class: u8) -> u64 {
        self.frames[place(port, class)]
    }

    /// Frames of the switch's own flow control that were to resume a class and were sent as pauses,
    /// because signals ask for a longer one.
    pub(crate) fn held(&self, port: u16, class: u8) -> u64 {
        self.held[place(port, class)]
    }

    /// The sender to signal when a packet comes for a queue, and the quanta to pause, unless that
    /// sender has been signalled.
    ///
    /// The pause lasts until the announced time has passed at the sender. A signal that leaves when
    /// that time has passed here arrives exactly then, whatever the delay of a signal; so that is
    /// when the next may be sent.
    pub(crate) fn judge(
        &mut self,
        packet: &Packet,
        port: u16,
        queue: usize,
        Drain { drains, step }: Drain,
    ) -> Option<(Sender, u16)> {
        let now = packet.at;
        let sender = self.wiring.headers.sender(packet);
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
        if self.quiet.len() >= self.quiet_limit {
            self.quiet.retain(|_, until| *until > now);
            self.quiet_limit = 64.max(2 * self.quiet.len());
        }
        let quanta = self.quanta(sender.host, drains);
        self.quiet
            .insert(key, now + self.lasts(sender.host, quanta));
        Some((sender, quanta))
    }

    /// A time in quanta of a host's link.
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
                self.record.cache_refused += u64::from(most > 0);
                return;
            }
        }
        let entry = self.cache.entry(key).or_default();
        entry.until = entry.until.max(until);
        entry.tell(port, until);
    }

    /// The pause of a host at a port that has sent a packet, if another was signalled to pause and
    /// it was not.
    pub(crate) fn recall(&mut self, packet: &Packet, at: HostPort) -> Option<Signal> {
        let HostPort { port, host } = at;
        let now = packet.at;
        let entry = self.cache.get_mut(&(packet.destination, packet.class()))?;
        if entry.until <= now || entry.knows(port, now) {
            return None;
        }
        let until = entry.until;
        entry.tell(port, until);
        self.record.cache_hits += 1;
        Some(Signal {
            receiver: packet.destination,
            class: packet.class(),
            quanta: self.quanta(host, until - now),
            cause: Cause::Cache,
            made: (now.ps() / SENT_UNIT_PS) as u32,
        })
    }

    /// Whether a frame must be sent for the pause of a host at a port, which the switch's own flow
    /// control may already have paused for that time.
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

    /// Makes a pause frame of the switch's own flow control at least as long as the rest of the
    /// pause that signals have asked for.
    pub(crate) fn extend(&mut self, control: &mut PendingControl, class: u8, now: Instant) {
        let (ControlMessage::Pause(quanta), Some(host)) =
            (&mut control.message, self.host(control.port))
        else {
            return;
        };
        let place = place(control.port, class);
        let until = self.paused[place];
        if until > now {
            let left = self.quanta(host, until - now);
            self.held[place] += u64::from(*quanta == 0 && left > 0);
            *quanta = left.max(*quanta);
        }
    }

    /// The link of a port goes down: the host there forgets its pauses.
    pub(crate) fn forget(&mut self, port: u16) {
        let first = usize::from(port) * CLASSES;
        self.paused[first..first + CLASSES].fill(Instant::START);
    }

    /// The packet that brings a signal to its sender.
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
