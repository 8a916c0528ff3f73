//! Captures frames at the ports that a scenario names.
//!
//! A sent frame is recorded when it is sent. A received frame is one that the port at the cable's
//! other end sends, recorded the cable's delay later.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::plan::CapturePlan;
use tenter_fabric::net::{Event, EventKind, Packet, PacketKind};
use tenter_fabric::topology::{CableEnd, Topology};
use tenter_language::units::{Instant, Time};

use super::watch::{Captured, Seen, Watcher};

/// The frames that one partition captures.
#[derive(Clone, Debug)]
pub(crate) struct CaptureLog {
    plan: CapturePlan,
    /// For each sending port the captured ports at which its frames are seen.
    taps: BTreeMap<CableEnd, Vec<Tap>>,
    /// Frames kept so far, at most twice the limit.
    frames: Frames,
    /// Frames that were dropped beyond the limit.
    omitted: u64,
    /// Flow-control packets seen: they are not frames, and cannot be captured.
    flow_control: u64,
}

/// A captured port at which a sending port's frames are seen.
#[derive(Clone, Copy, Debug)]
struct Tap {
    /// The captured port's index in the plan.
    port: u32,
    /// True at the sending port, false at the other end of its cable.
    is_outbound: bool,
    /// Delay from the sending port to this one.
    delay: Time,
}

impl CaptureLog {
    pub(crate) fn new(plan: &CapturePlan, topology: &Topology) -> CaptureLog {
        let mut taps: BTreeMap<CableEnd, Vec<Tap>> = BTreeMap::new();
        for (index, &end) in (0..).zip(&plan.ports) {
            taps.entry(end).or_default().push(Tap {
                port: index,
                is_outbound: true,
                delay: Time::ZERO,
            });
            // Behind an optical switch the peer changes with the circuit, so only the port's own
            // frames are captured.
            if topology.optics.place(end).is_some() {
                continue;
            }
            let peer = topology.neighbour(end.node, end.port);
            taps.entry(peer).or_default().push(Tap {
                port: index,
                is_outbound: false,
                delay: topology.cable(end.node, end.port).delay,
            });
        }
        CaptureLog {
            plan: plan.clone(),
            taps,
            frames: Frames::default(),
            omitted: 0,
            flow_control: 0,
        }
    }

    /// Records a sent frame at all its taps.
    fn keep(&mut self, event: &Event) {
        let Some(taps) = self.taps.get(&event.place()) else {
            return;
        };
        let to = self.plan.to.map_or(Instant::NEVER, Instant::at);
        let span = Instant::at(self.plan.from)..=to;
        for tap in taps {
            let at = event.at + tap.delay;
            if !span.contains(&at) {
                continue;
            }
            if event.packet.kind == PacketKind::FlowControl {
                self.flow_control += 1;
                continue;
            }
            self.frames.push(Seen {
                at,
                port: tap.port,
                is_outbound: tap.is_outbound,
                packet: event.packet,
            });
        }
        let limit = usize::try_from(self.plan.limit).unwrap_or(usize::MAX);
        // Sorting only when the list has doubled keeps the cost per frame low.
        if self.frames.list.len() > limit.saturating_mul(2) {
            self.omitted += self.frames.keep_first(limit);
        }
    }

    /// Removes a frame from the receiving taps, because it was lost on the wire.
    fn lose(&mut self, event: &Event) {
        let Some(taps) = self.taps.get(&event.place()) else {
            return;
        };
        // At the sending port the frame was seen, lost or not.
        for tap in taps.iter().filter(|tap| !tap.is_outbound) {
            self.frames.remove(tap.port, &event.packet);
        }
    }
}

/// Captured frames in no particular order. Received frames can be found again, in case they turn
/// out to be lost.
#[derive(Clone, Debug, Default)]
struct Frames {
    list: Vec<Seen>,
    /// Indices in `list` at which received frames lie, by captured port and packet.
    received: HashMap<(u32, Packet), Vec<usize>>,
}

impl Frames {
    fn push(&mut self, seen: Seen) {
        if !seen.is_outbound {
            let places = self.received.entry((seen.port, seen.packet)).or_default();
            places.push(self.list.len());
        }
        self.list.push(seen);
    }

    /// Removes the last received frame with this packet at a port.
    fn remove(&mut self, port: u32, packet: &Packet) {
        let Entry::Occupied(mut known) = self.received.entry((port, *packet)) else {
            return;
        };
        let place = known.get_mut().pop();
        if known.get().is_empty() {
            known.remove();
        }
        let Some(place) = place else {
            return;
        };
        self.list.swap_remove(place);
        // The last one is in its place now.
        let (last, moved) = (self.list.len(), self.list.get(place));
        let known = moved.filter(|moved| !moved.is_outbound);
        let known = known.and_then(|of| self.received.get_mut(&(of.port, of.packet)));
        if let Some(own) = known.and_then(|places| places.iter_mut().find(|of| **of == last)) {
            *own = place;
        }
    }

    /// Keeps the `limit` earliest frames; returns how many others there were.
    fn keep_first(&mut self, limit: usize) -> u64 {
        let omitted = keep_first(&mut self.list, limit);
        self.received.clear();
        for seen in std::mem::take(&mut self.list) {
            self.push(seen);
        }
        omitted
    }
}

/// Sorts the frames by time and keeps the first `limit`; returns how many others there were.
pub(crate) fn keep_first(frames: &mut Vec<Seen>, limit: usize) -> u64 {
    // By content alone, because frames from several partitions are merged by the same key.
    frames.sort_unstable_by_key(|seen| {
        (
            seen.at,
            seen.port,
            seen.is_outbound,
            seen.packet.kind,
            seen.packet.flags,
        )
    });
    let omitted = frames.len().saturating_sub(limit);
    frames.truncate(limit);
    omitted as u64
}

impl Watcher for CaptureLog {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        match event.kind {
            EventKind::Sent => self.keep(&event),
            EventKind::LostOnWire => self.lose(&event),
            _ => {}
        }
    }

    fn captured(&self) -> Option<Captured<'_>> {
        Some(Captured {
            plan: &self.plan,
            frames: &self.frames.list,
            omitted: self.omitted,
            flow_control: self.flow_control,
        })
    }
}

#[cfg(test)]
mod tests {
    use tenter_fabric::topology::HostId;

    use super::*;

    fn seen(at: Instant, is_outbound: bool) -> Seen {
        let packet = Packet {
            at,
            queue_pair: 0,
            sequence: 0,
            destination: HostId::new(0),
            hash: 0,
            sent: 0,
            frame_bytes: 64,
            kind: PacketKind::Ack,
            flags: 0,
        };
        Seen {
            at,
            port: 7,
            is_outbound,
            packet,
        }
    }

    #[test]
    fn lost_frames_are_found_wherever_they_are() {
        let mut frames = Frames::default();
        for at in 0..1_000 {
            frames.push(seen(Instant::from_ps(at), false));
            frames.push(seen(Instant::from_ps(at), true));
        }
        // Those that are lost come out of order, and one of them is not there.
        for at in (0..1_000).rev().step_by(2).chain((0..1_000).step_by(6)) {
            frames.remove(7, &seen(Instant::from_ps(at), false).packet);
        }
        frames.remove(8, &seen(Instant::from_ps(1), false).packet);
        assert_eq!(frames.keep_first(700), 1_333 - 700);
        let received = frames.list.iter().filter(|seen| !seen.is_outbound);
        let received: Vec<u64> = received.map(|seen| seen.at.ps()).collect();
        let expected = (0..1_000).filter(|at| at % 2 == 0 && at % 6 != 0);
        let expected: Vec<u64> = expected.take(received.len()).collect();
        assert_eq!(received, expected);
        let places: usize = frames.received.values().map(Vec::len).sum();
        assert_eq!(places, received.len());
    }
}
