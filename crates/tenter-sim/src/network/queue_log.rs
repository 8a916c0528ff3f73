//! Records queues change by change, at the ports that a scenario names.
//!
//! A port reports its frames in time order, so a queue's length is the sum of the frames that were
//! queued and have not left. A frame that finds its queue empty and the wire free is never queued.

use std::collections::BTreeMap;

use crate::plan::QueueChanges;
use tenter_fabric::net::{Event, EventKind};
use tenter_fabric::topology::CableEnd;
use tenter_language::units::Instant;
use tenter_results::QueueChangeRow;

use super::watch::{PortChanges, Watcher};

/// The queue changes that one partition records.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueLog {
    ports: BTreeMap<CableEnd, PortLog>,
    limit: u64,
    /// First and last instant at which changes are kept.
    span: (Instant, Instant),
}

/// One port's log of its queues.
#[derive(Clone, Debug, Default)]
struct PortLog {
    /// Waiting frame bytes in each class's queue.
    waiting: [u64; tenter_fabric::net::CLASSES],
    rows: Vec<QueueChangeRow>,
    /// Set once the queues at the beginning of the span are among the rows.
    has_begun: bool,
    /// Changes that were dropped beyond the limit.
    omitted: u64,
}

impl QueueLog {
    pub(crate) fn new(plan: &QueueChanges) -> QueueLog {
        let ports = plan.ports.iter();
        QueueLog {
            ports: ports.map(|&place| (place, PortLog::default())).collect(),
            limit: plan.limit,
            span: (
                Instant::at(plan.from),
                plan.to.map_or(Instant::NEVER, Instant::at),
            ),
        }
    }
}

impl PortLog {
    /// Records the queues at the beginning of the span.
    fn begin(&mut self, place: CableEnd, at: Instant) {
        for (class, &queue_bytes) in (0..).zip(&self.waiting) {
            if queue_bytes > 0 {
                self.rows.push(QueueChangeRow {
                    time: at.since_start(),
                    node: place.node.number(),
                    port: place.port,
                    class,
                    queue_bytes,
                });
            }
        }
    }
}

impl Watcher for QueueLog {
    const WATCHED: bool = true;

    fn note(&mut self, event: Event) {
        let place = event.place();
        let Some(port) = self.ports.get_mut(&place) else {
            return;
        };
        if event.packet.kind.is_mac_control() {
            return;
        }
        let frame = u64::from(event.packet.frame_bytes);
        // The first event within the span finds the queues as they were at its beginning.
        if event.at >= self.span.0 && !std::mem::replace(&mut port.has_begun, true) {
            port.begin(place, self.span.0);
        }
        let waiting = &mut port.waiting[usize::from(event.packet.class())];
        match event.kind {
            EventKind::Queued => *waiting += frame,
            // A frame that was not queued passes, or is lost, while nothing waits.
            EventKind::Sent | EventKind::Lost | EventKind::Rerouted if *waiting > 0 => {
                *waiting -= frame;
            }
            _ => return,
        }
        if event.at < self.span.0 || event.at > self.span.1 {
            return;
        }
        if port.rows.len() as u64 >= self.limit {
            port.omitted += 1;
            return;
        }
        port.rows.push(QueueChangeRow {
            time: event.at.since_start(),
            node: event.node.number(),
            port: event.port,
            class: u16::from(event.packet.class()),
            queue_bytes: *waiting,
        });
    }

    fn queue_changes(&self) -> Vec<PortChanges<'_>> {
        let ports = self.ports.iter();
        ports
            .map(|(&place, port)| PortChanges {
                place,
                rows: &port.rows,
                omitted: port.omitted,
            })
            .collect()
    }
}
