//! Frames captured at the ports that a scenario names.
//!
//! What a port sends is noted when it is sent; what it receives is what the port at the other end
//! of its cable sends, later by the delay of the cable.

use std::collections::BTreeMap;

use tenter_net::{Event, EventKind, PacketKind};
use tenter_plan::CapturePlan;
use tenter_topology::{CableEnd, Topology};
use tenter_units::Time;

use super::watch::{Captured, Seen, Watcher};

/// What one part of a network captures.
#[derive(Clone, Debug)]
pub(crate) struct CaptureLog {
    plan: CapturePlan,
    /// By the port that sends: where its frames are seen.
    taps: BTreeMap<(u32, u16), Vec<Tap>>,
    /// The frames kept so far, at most twice the limit, in no particular order.
    frames: Vec<Seen>,
    omitted: u64,
    flow_control: u64,
}

/// A port at which frames of a port are seen.
#[derive(Clone, Copy, Debug)]
struct Tap {
    /// The index of the port among those of the plan.
    port: u32,
    is_outbound: bool,
    /// From the port that sends to this one, in ps.
    delay: u64,
}

impl CaptureLog {
    pub(crate) fn new(plan: &CapturePlan, topology: &Topology) -> CaptureLog {
        let mut taps: BTreeMap<(u32, u16), Vec<Tap>> = BTreeMap::new();
        for (index, &(node, port)) in (0..).zip(&plan.ports) {
            taps.entry((node, port)).or_default().push(Tap {
                port: index,
                is_outbound: true,
                delay: 0,
            });
            if topology.optics.place(CableEnd { node, port }).is_some() {
                continue;
            }
            let peer = topology.neighbour(node, port);
            taps.entry((peer.node, peer.port)).or_default().push(Tap {
                port: index,
                is_outbound: false,
                delay: topology.cable(node, port).delay.ps(),
            });
        }
        CaptureLog {
            plan: plan.clone(),
            taps,
            frames: Vec::new(),
            omitted: 0,
            flow_control: 0,
        }
    }

    fn keep(&mut self, event: &Event) {
        let Some(taps) = self.taps.get(&(event.node, event.port)) else {
            return;
        };
        let to = self.plan.to.map_or(u64::MAX, Time::ps);
        let span = self.plan.from.ps()..=to;
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
        if self.frames.len() > limit.saturating_mul(2) {
            self.omitted += keep_first(&mut self.frames, limit);
        }
    }

    /// A frame does not come to the other end.
    fn lose(&mut self, event: &Event) {
        let Some(taps) = self.taps.get(&(event.node, event.port)) else {
            return;
        };
        for tap in taps.iter().filter(|tap| !tap.is_outbound) {
            let is_lost = |seen: &Seen| {
                (seen.port, seen.is_outbound) == (tap.port, false) && seen.packet == event.packet
            };
            if let Some(index) = self.frames.iter().rposition(is_lost) {
                self.frames.remove(index);
            }
        }
    }
}

/// Keeps the first frames, in the order of time; returns how many are left out.
pub(crate) fn keep_first(frames: &mut Vec<Seen>, limit: usize) -> u64 {
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
            frames: &self.frames,
            omitted: self.omitted,
            flow_control: self.flow_control,
        })
    }
}
