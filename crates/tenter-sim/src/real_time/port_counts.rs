//! Counters read from real ports, and the rows of ports, classes and switches that they fill.
//!
//! A counter that was not read is absent here, and missing in the rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_results::{PortRow, QueueRow, Row, SwitchRow, Unread};

/// Counters that a port or one of its classes may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Frames sent, without pause frames.
    TxFrames,
    /// Bytes in the frames sent, from destination address to FCS.
    TxBytes,
    /// Frames received, without pause frames.
    RxFrames,
    /// Bytes in the frames received.
    RxBytes,
    /// Frames dropped at the output.
    DroppedFrames,
    /// Bytes in the frames dropped at the output.
    DroppedBytes,
    /// Frames dropped at the input.
    RxDroppedFrames,
    /// Frames marked with congestion experienced.
    MarkedFrames,
    /// Highest queue length in bytes.
    QueueHighWaterBytes,
    /// Highest use of headroom in bytes.
    HeadroomHighWaterBytes,
    /// Pause frames sent to the port's peer.
    TxPauseFrames,
    /// Pause frames received from the port's peer.
    RxPauseFrames,
}

impl Counter {
    /// Returns true for a high-water mark: subtracting its values at two instants makes no sense.
    pub fn is_high_water(self) -> bool {
        matches!(
            self,
            Counter::QueueHighWaterBytes | Counter::HeadroomHighWaterBytes
        )
    }
}

/// Counters that were read, with their values.
pub type Counters = BTreeMap<Counter, u64>;

/// Counters that a port had over a trial, as far as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounts {
    /// Index of the node, in the topology's order.
    pub node: u32,
    /// Index of the port at its node.
    pub port: u16,
    /// Counters for the whole port.
    pub own: Counters,
    /// Counters for each class, 0 to 7.
    pub classes: BTreeMap<u8, Counters>,
}

impl PortCounts {
    /// Returns a counter for the whole port, if it was read: the port's own, or the sum over
    /// classes.
    pub fn count(&self, counter: Counter) -> Option<u64> {
        self.own
            .get(&counter)
            .copied()
            .or_else(|| self.of_classes(counter))
    }

    /// Returns the sum over classes. Two classes need not have had their high-water marks at the
    /// same time, so these give a value only if at most one class has any.
    fn of_classes(&self, counter: Counter) -> Option<u64> {
        let mut counts = self.classes.values().filter_map(|of| of.get(&counter));
        let first = *counts.next()?;
        if counter.is_high_water() {
            // `find` consumes up to the first class with a mark; all classes behind it must have
            // none.
            let mut marks = [first].into_iter().chain(counts.copied());
            let mark = marks.find(|&bytes| bytes > 0).unwrap_or(0);
            return marks.all(|bytes| bytes == 0).then_some(mark);
        }
        Some(counts.fold(first, |sum, count| sum.saturating_add(*count)))
    }
}

/// A counter, its column, and its field in a row.
type Field<R> = (Counter, &'static str, fn(&mut R) -> &mut u64);

const OF_PORTS: [Field<PortRow>; 11] = [
    (Counter::TxFrames, "tx_frames", |row| &mut row.tx_frames),
    (Counter::TxBytes, "tx_bytes", |row| &mut row.tx_bytes),
    (Counter::RxFrames, "rx_frames", |row| &mut row.rx_frames),
    (Counter::RxBytes, "rx_bytes", |row| &mut row.rx_bytes),
    (Counter::DroppedFrames, "dropped_frames", |row| {
        &mut row.dropped_frames
    }),
    (Counter::DroppedBytes, "dropped_bytes", |row| {
        &mut row.dropped_bytes
    }),
    (Counter::RxDroppedFrames, "rx_dropped_frames", |row| {
        &mut row.rx_dropped_frames
    }),
    (Counter::MarkedFrames, "marked_frames", |row| {
        &mut row.marked_frames
    }),
    (
        Counter::QueueHighWaterBytes,
        "queue_high_water_bytes",
        |row| &mut row.queue_high_water_bytes,
    ),
    (Counter::TxPauseFrames, "tx_xoff_frames", |row| {
        &mut row.tx_xoff_frames
    }),
    (Counter::RxPauseFrames, "rx_xoff_frames", |row| {
        &mut row.rx_xoff_frames
    }),
];

const OF_CLASSES: [Field<QueueRow>; 7] = [
    (Counter::DroppedFrames, "dropped_frames", |row| {
        &mut row.dropped_frames
    }),
    (Counter::DroppedBytes, "dropped_bytes", |row| {
        &mut row.dropped_bytes
    }),
    (Counter::MarkedFrames, "marked_frames", |row| {
        &mut row.marked_frames
    }),
    (
        Counter::QueueHighWaterBytes,
        "queue_high_water_bytes",
        |row| &mut row.queue_high_water_bytes,
    ),
    (
        Counter::HeadroomHighWaterBytes,
        "headroom_high_water_bytes",
        |row| &mut row.headroom_high_water_bytes,
    ),
    (Counter::TxPauseFrames, "tx_xoff_frames", |row| {
        &mut row.tx_xoff_frames
    }),
    (Counter::RxPauseFrames, "rx_xoff_frames", |row| {
        &mut row.rx_xoff_frames
    }),
];

/// Returns all columns that may be unread.
fn all<R: Row>() -> Unread {
    let columns = R::COLUMNS.iter().filter(|column| column.may_be_unread);
    Unread::all(columns.map(|column| column.name))
}

/// Returns the bytes that frames take on the wire, with preamble and gap.
pub(super) fn on_wire(frames: u64, bytes: u64) -> u64 {
    bytes + frames * u64::from(WIRE_OVERHEAD_BYTES)
}

/// Clears a port's row and fills it with the counters that were read.
pub(super) fn fill_port(row: &mut PortRow, counts: Option<&PortCounts>) {
    row.unread = all::<PortRow>();
    row.tx_data_wire_bytes = 0;
    let read = |counter| counts.and_then(|counts| counts.count(counter));
    for (counter, column, field) in OF_PORTS {
        let count = read(counter);
        *field(row) = count.unwrap_or(0);
        if count.is_some() {
            row.unread.remove(column);
        }
    }
    // Both columns follow from frames and bytes, so they are known only if both are.
    if let (Some(frames), Some(bytes)) = (read(Counter::TxFrames), read(Counter::TxBytes)) {
        row.tx_data_wire_bytes = on_wire(frames, bytes);
        row.unread.remove("tx_data_wire_bytes");
        row.unread.remove("utilisation");
    }
}

/// Returns the rows of a port's classes. A class has one only if it counted more than passing
/// frames.
pub(super) fn class_rows(port: &PortRow, counts: &PortCounts) -> Vec<QueueRow> {
    let of = counts.classes.iter().map(|(&class, counters)| {
        let mut row = QueueRow {
            node: port.node,
            node_name: port.node_name.clone(),
            port: port.port,
            peer_name: port.peer_name.clone(),
            class: u16::from(class),
            unread: all::<QueueRow>(),
            ..QueueRow::default()
        };
        let mut happened = 0;
        for (counter, column, field) in OF_CLASSES {
            if let Some(&count) = counters.get(&counter) {
                *field(&mut row) = count;
                row.unread.remove(column);
                // Frames sent and received are not among these counters.
                happened |= count;
            }
        }
        (happened > 0).then_some(row)
    });
    of.flatten().collect()
}

/// A column that switches and ports share, with its field in both.
type Sum = (
    &'static str,
    fn(&PortRow) -> u64,
    fn(&mut SwitchRow) -> &mut u64,
);

/// Clears a switch's row and fills it with the sums over its ports.
pub(super) fn fill_switch(row: &mut SwitchRow, ports: &[PortRow]) {
    let sums: [Sum; 3] = [
        (
            "dropped_frames",
            |port| port.dropped_frames,
            |row| &mut row.dropped_frames,
        ),
        (
            "dropped_bytes",
            |port| port.dropped_bytes,
            |row| &mut row.dropped_bytes,
        ),
        (
            "marked_frames",
            |port| port.marked_frames,
            |row| &mut row.marked_frames,
        ),
    ];
    row.unread = all::<SwitchRow>();
    // The counters that are read belong to interfaces, which know no pools.
    row.pool_high_water_bytes = None;
    row.fullest_pool = None;
    row.fullest_pool_percent = None;
    let own = || ports.iter().filter(|port| port.node == row.node);
    let known: Vec<_> = sums
        .into_iter()
        // A sum in which one port is missing would be too low without saying so.
        .filter(|(column, ..)| own().all(|port| !port.unread.lacks(column)))
        .map(|(column, of_port, field)| (column, own().map(of_port).sum(), field))
        .collect();
    for (column, sum, field) in known {
        *field(row) = sum;
        row.unread.remove(column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> PortCounts {
        let class = |marks: u64, pauses: u64| {
            Counters::from([
                (Counter::QueueHighWaterBytes, marks),
                (Counter::RxPauseFrames, pauses),
            ])
        };
        PortCounts {
            own: Counters::from([(Counter::TxFrames, 10), (Counter::TxBytes, 10_000)]),
            classes: BTreeMap::from([(0, class(0, 0)), (3, class(5_000, 7)), (4, class(0, 2))]),
            ..PortCounts::default()
        }
    }

    #[test]
    fn what_was_not_read_is_missing_and_the_rest_is_there() {
        let mut row = PortRow::default();
        fill_port(&mut row, Some(&counts()));
        assert_eq!((row.tx_frames, row.rx_xoff_frames), (10, 9));
        assert_eq!(row.queue_high_water_bytes, 5_000);
        assert_eq!(row.tx_data_wire_bytes, 10_200);
        for column in ["rx_frames", "dropped_frames", "rx_xon_frames", "paused_ns"] {
            assert!(row.unread.lacks(column), "{column}");
        }
        assert!(!row.unread.lacks("tx_frames") && !row.unread.lacks("utilisation"));
        let classes = class_rows(&row, &counts());
        assert_eq!(classes.len(), 2, "nothing happened in class 0");
        assert_eq!((classes[0].class, classes[0].rx_xoff_frames), (3, 7));
        assert!(classes[0].unread.lacks("marked_frames"));
        let mut nothing = PortRow::default();
        fill_port(&mut nothing, None);
        assert!(nothing.unread.lacks("tx_frames") && nothing.unread.lacks("utilisation"));
    }

    #[test]
    fn high_water_marks_of_two_classes_do_not_add_up() {
        let mut counts = counts();
        let other = counts.classes.entry(4).or_default();
        other.insert(Counter::QueueHighWaterBytes, 1);
        assert_eq!(counts.count(Counter::QueueHighWaterBytes), None);
        assert_eq!(counts.count(Counter::MarkedFrames), None);
    }

    #[test]
    fn a_switch_sums_up_only_what_all_its_ports_have() {
        let port = |number: u16, drops: Option<u64>| {
            let mut row = PortRow {
                node: 5,
                port: number,
                ..PortRow::default()
            };
            let own = drops.map(|drops| (Counter::DroppedFrames, drops));
            let counts = PortCounts {
                own: own.into_iter().collect(),
                ..PortCounts::default()
            };
            fill_port(&mut row, Some(&counts));
            row
        };
        let mut row = SwitchRow {
            node: 5,
            ..SwitchRow::default()
        };
        fill_switch(&mut row, &[port(0, Some(3)), port(1, Some(4))]);
        assert_eq!(row.dropped_frames, 7);
        assert!(!row.unread.lacks("dropped_frames") && row.unread.lacks("marked_frames"));
        fill_switch(&mut row, &[port(0, Some(3)), port(1, None)]);
        assert!(row.unread.lacks("dropped_frames"));
    }
}
