//! The divergence finder: it finds the first event in which two runs differ that should be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use tenter_fabric::net::{Event, EventKind, PacketKind};
use tenter_fabric::topology::{NodeId, Topology};
use tenter_language::units::Time;
use tenter_results::Digest;
use tenter_sim::Watcher;

/// One of the two runs: a function that builds it with the probe as its watcher and runs it to its
/// end. The finder calls it twice. A run that fails on the way is compared as far as it came.
pub type Side<'a> = &'a dyn Fn(&Probe);

/// Length of the time buckets that the first pass compares.
const BUCKET: Time = Time::from_us(1);
/// Most equal events that are shown before the first that differs.
const BEFORE: usize = 8;

/// The first event in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The left side's event; `None` if it has no further one at these nodes in the bucket. If the
    /// right side has one event more, this is the event after it.
    pub left: Option<Event>,
    /// The right side's event, likewise.
    pub right: Option<Event>,
    /// Last events at the same nodes that are equal on both sides, oldest first.
    pub before: Vec<Event>,
    /// Start of the first bucket that differs.
    pub bucket: Time,
    /// Nodes whose events differ in that bucket.
    pub nodes: Vec<NodeId>,
}

/// A watcher that records what the finder needs; clones share their records.
#[derive(Clone, Debug)]
pub struct Probe(Arc<Mutex<Notes>>);

#[derive(Debug)]
enum Notes {
    /// Digest over the events in each bucket and at each node.
    Digests(BTreeMap<(u64, NodeId), Digest>),
    /// All events at `nodes` in one bucket.
    Log {
        bucket: u64,
        nodes: BTreeSet<NodeId>,
        events: Vec<Event>,
    },
}

/// Runs both sides twice, and returns the first event that differs; `None` if there is none.
///
/// The first pass keeps one digest per microsecond and node; the second logs the nodes that differ
/// in the first microsecond that differs. Digests are commutative and logs are sorted, since an
/// engine reports events out of order: it visits node after node, and evaluates a port when it is
/// next touched.
pub fn first_divergence(left: Side<'_>, right: Side<'_>) -> Option<Divergence> {
    let (bucket, nodes) = first_difference(&digests(left), &digests(right))?;
    let (left, right) = (log(left, bucket, &nodes), log(right, bucket, &nodes));
    // If the second pass finds no difference, a run does not repeat itself; `describe` says so.
    let same = left.iter().zip(&right).take_while(|(l, r)| l == r).count();
    Some(Divergence {
        left: left.get(same).copied(),
        right: right.get(same).copied(),
        before: left[same.saturating_sub(BEFORE)..same].to_vec(),
        bucket: BUCKET * bucket,
        nodes: nodes.into_iter().collect(),
    })
}

/// Returns the first bucket with a difference, and the nodes that differ in it.
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

/// Runs one side, and returns the events at `nodes` in `bucket`, ordered by time.
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
    // The side may have kept a clone of the probe, so the notes cannot be moved out.
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

/// Returns all fields of an event as words, its time first, so that sorting by them is sorting by
/// time.
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
    /// Describes the divergence in a few lines.
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
    // A control frame goes no further than the other end of its link, and names no host.
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
