//! The divergence finder: where two runs that should be equal first differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use tenter_net::{Event, EventKind, PacketKind};
use tenter_record::Digest;
use tenter_sim::Watcher;
use tenter_topology::{NodeId, Topology};
use tenter_units::Time;

/// One of the two runs: builds it with the probe as its watcher and runs it to its end. It is
/// called twice. A run that fails on the way is compared as far as it came.
pub type Side<'a> = &'a dyn Fn(&Probe);

/// Time is compared in stretches of this length.
const BUCKET: Time = Time::from_us(1);
/// So many events before the first that differs are kept.
const BEFORE: usize = 8;

/// The first event that is not the same in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The event on the left side, or what comes next there when the right side has one more.
    pub left: Option<Event>,
    /// The event on the right side, or what comes next there when the left side has one more.
    pub right: Option<Event>,
    /// What happened last at the same nodes on both sides, oldest first.
    pub before: Vec<Event>,
    /// When the microsecond begins in which the runs differ first.
    pub bucket: Time,
    /// The nodes that differ in it.
    pub nodes: Vec<NodeId>,
}

/// A watcher that takes down what the finder wants to know; clones write into the same notes.
#[derive(Clone, Debug)]
pub struct Probe(Arc<Mutex<Notes>>);

#[derive(Debug)]
enum Notes {
    /// A digest for each bucket and node in which something happened.
    Digests(BTreeMap<(u64, NodeId), Digest>),
    /// All that happened at some nodes in one bucket.
    Log {
        bucket: u64,
        nodes: BTreeSet<NodeId>,
        events: Vec<Event>,
    },
}

/// Runs both sides and finds the first event that differs; nothing when there is none.
///
/// The first pass keeps one digest per microsecond and node; the second logs the nodes that differ
/// in the first microsecond that differs. Digests are commutative and logs are sorted: an engine
/// that serves node after node, and evaluates a port when it is next touched, tells of events in
/// another order than that of time.
pub fn first_divergence(left: Side<'_>, right: Side<'_>) -> Option<Divergence> {
    let (bucket, nodes) = first_difference(&digests(left), &digests(right))?;
    let (left, right) = (log(left, bucket, &nodes), log(right, bucket, &nodes));
    let same = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
    Some(Divergence {
        left: left.get(same).copied(),
        right: right.get(same).copied(),
        before: left[same.saturating_sub(BEFORE)..same].to_vec(),
        bucket: BUCKET * bucket,
        nodes: nodes.into_iter().collect(),
    })
}

/// The first bucket with a difference, and the nodes that differ in it.
fn first_difference(left: &Digests, right: &Digests) -> Option<(u64, BTreeSet<NodeId>)> {
    let keys: BTreeSet<(u64, NodeId)> = left.keys().chain(right.keys()).copied().collect();
    let mut differing = keys
        .into_iter()
        .filter(|key| left.get(key) != right.get(key))
        .peekable();
    let &(first, _) = differing.peek()?;
    let nodes = differing.take_while(|(bucket, _)| *bucket == first);
    Some((first, nodes.map(|(_, node)| node).collect()))
}

type Digests = BTreeMap<(u64, NodeId), Digest>;

fn digests(side: Side<'_>) -> Digests {
    match observe(side, Notes::Digests(BTreeMap::new())) {
        Notes::Digests(digests) => digests,
        Notes::Log { .. } => BTreeMap::new(),
    }
}

/// The events of some nodes in one bucket, in the order of time.
fn log(side: Side<'_>, bucket: u64, nodes: &BTreeSet<NodeId>) -> Vec<Event> {
    let empty = Notes::Log {
        bucket,
        nodes: nodes.clone(),
        events: Vec::new(),
    };
    let mut events = match observe(side, empty) {
        Notes::Log { events, .. } => events,
        Notes::Digests(_) => Vec::new(),
    };
    events.sort_unstable_by_key(words);
    events
}

fn observe(side: Side<'_>, empty: Notes) -> Notes {
    let probe = Probe(Arc::new(Mutex::new(empty)));
    side(&probe);
    let mut notes = probe.0.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *notes, Notes::Digests(BTreeMap::new()))
}

impl Watcher for Probe {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        let now = event.at.ps() / BUCKET.ps();
        // A run that panicked is compared as far as it came.
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *notes {
            Notes::Digests(digests) => {
                let digest = digests.entry((now, event.node)).or_default();
                digest.add(&words(&event));
            }
            Notes::Log {
                bucket,
                nodes,
                events,
            } => {
                if now == *bucket && nodes.contains(&event.node) {
                    events.push(event);
                }
            }
        }
    }
}

/// All that is known of an event, its time first.
fn words(event: &Event) -> [u64; 9] {
    let Event {
        at,
        node,
        port,
        kind,
        packet,
    } = event;
    [
        at.ps(),
        u64::from(node.number()) << 32 | u64::from(*port),
        *kind as u64,
        packet.at.ps(),
        u64::from(packet.queue_pair) << 32 | u64::from(packet.sequence),
        u64::from(packet.destination.number()) << 32 | u64::from(packet.hash),
        u64::from(packet.sent),
        u64::from(packet.frame_bytes),
        u64::from(packet.kind as u8) << 8 | u64::from(packet.flags),
    ]
}

impl Divergence {
    /// A few lines for people.
    pub fn describe(&self, topology: &Topology) -> String {
        let mut text = String::new();
        for event in &self.before {
            let _ = writeln!(text, "  both:  {}", describe(event, topology));
        }
        if self.left.is_none() && self.right.is_none() {
            let names: Vec<&str> = self.nodes.iter().map(|&node| topology.name(node)).collect();
            let _ = writeln!(
                text,
                "  The runs differed in the microsecond from {} at {}, but not when they were run again:\n  \
                 one of them does not repeat itself.",
                self.bucket,
                names.join(", ")
            );
            return text;
        }
        for (side, event) in [("left: ", &self.left), ("right:", &self.right)] {
            let event = event.as_ref().map_or_else(
                || format!("nothing more in the microsecond from {}", self.bucket),
                |event| describe(event, topology),
            );
            let _ = writeln!(text, "  {side} {event}");
        }
        text
    }
}

fn describe(event: &Event, topology: &Topology) -> String {
    let packet = &event.packet;
    let what = match event.kind {
        EventKind::Arrived => "arrived",
        EventKind::Queued => "queued",
        EventKind::Sent => "sent",
        EventKind::Lost => "is lost",
        EventKind::Rerouted => "routed anew",
        EventKind::Dropped => "dropped",
        EventKind::Trimmed => "trimmed",
        EventKind::Accepted => "accepted",
        EventKind::Discarded => "discarded",
        EventKind::Obeyed => "obeyed",
        EventKind::LostOnWire => "is lost on the wire",
    };
    let kind = match packet.kind {
        PacketKind::First | PacketKind::Middle | PacketKind::Last | PacketKind::Only => "data",
        PacketKind::Ack => "acknowledgement",
        PacketKind::Nak => "NAK",
        PacketKind::ConnectRequest => "connection request",
        PacketKind::ConnectReply => "connection reply",
        PacketKind::Pause => "pause",
        PacketKind::Cnp => "notification",
        PacketKind::SelectiveNak => "selective NAK",
        PacketKind::EndOfData => "end of data",
        PacketKind::Trimmed => "trimmed data",
        PacketKind::RequestToSend => "request to send",
        PacketKind::Probe => "probe",
        PacketKind::SelectiveAck => "selective acknowledgement",
        PacketKind::TrimNak => "report of trimmed data",
        PacketKind::Pull => "grant of quanta",
        PacketKind::Signal => "signal",
        PacketKind::Reroute => "notice to a sender of hash",
        PacketKind::CreditRequest => "request for credit",
        PacketKind::Credit => "credit",
        PacketKind::Notice => "notice of level",
        PacketKind::FlowControl => "flow-control packet",
        PacketKind::LostCredit => "word of a lost frame of blocks",
        PacketKind::ScaleUp => "end of a transfer within a host",
    };
    // A pause frame goes no further than the other end of its link.
    let destination = topology.nodes.get(packet.destination.index());
    let destination = destination.map_or("the other end", |node| node.name.as_str());
    let mut text = format!(
        "{} {} {what}: {kind} {} of queue pair {} for {destination}, {} bytes, hash {:08x}, flags {}",
        event.at.since_start(),
        topology.port_name(event.node, event.port),
        packet.sequence,
        packet.queue_pair,
        packet.frame_bytes,
        packet.hash,
        packet.flags,
    );
    if event.kind == EventKind::Sent {
        let _ = write!(text, ", arrives at {}", packet.at.since_start());
    }
    text
}
