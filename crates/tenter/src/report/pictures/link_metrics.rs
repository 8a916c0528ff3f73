//! Metrics by which links are coloured.

use tenter_results::PortRow;

/// A metric for the link that a port sends over.
pub(super) struct LinkMetric {
    /// Key that selects the metric's button.
    pub(super) word: &'static str,
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    column: &'static str,
    value: fn(&PortRow) -> f64,
}

impl LinkMetric {
    /// Returns the greatest value among ports whose counter was read; NaN if none was.
    pub(super) fn most(&self, ports: &[&PortRow]) -> f64 {
        // A value above 0 was read, even if other rows of the column were not.
        let read = ports
            .iter()
            .filter(|port| !port.unread.lacks(self.column) || (self.value)(port) > 0.0);
        let most = read.map(|port| (self.value)(port)).reduce(f64::max);
        most.unwrap_or(f64::NAN)
    }

    /// Returns the value with the full colour, if `greatest` is the greatest one.
    pub(super) fn full(&self, greatest: f64) -> f64 {
        if self.unit == "%" { 100.0 } else { greatest }
    }
}

/// Metrics in the order in which pages show their buttons.
pub(super) const METRICS: [LinkMetric; 4] = [
    LinkMetric {
        word: "u",
        name: "Utilisation",
        unit: "%",
        column: "utilisation",
        value: |port| (100.0 * port.utilisation).min(100.0),
    },
    LinkMetric {
        word: "p",
        name: "Paused",
        unit: "ns",
        column: "paused_ns",
        value: |port| port.paused.as_ns(),
    },
    LinkMetric {
        word: "d",
        name: "Dropped",
        unit: "frames",
        column: "dropped_frames",
        value: |port| (port.dropped_frames + port.rx_dropped_frames) as f64,
    },
    LinkMetric {
        word: "q",
        name: "Deepest queue",
        unit: "bytes",
        column: "queue_high_water_bytes",
        value: |port| port.queue_high_water_bytes as f64,
    },
];
