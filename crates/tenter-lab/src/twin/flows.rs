//! Deviations flow by flow, where [`super::compare`] has those by collective.

use std::collections::BTreeMap;

use tenter_language::units::Time;
use tenter_results::{FlowRow, median_time};

/// Distribution over the flows: simulated completion time against measured, in percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSpread {
    /// Flows that both trials have.
    pub flows: usize,
    /// Median deviation, negative if the simulation is faster.
    pub median_percent: f64,
    /// Percentile 90 of the deviations' absolute values.
    pub p90_percent: f64,
    /// Deviation with the greatest absolute value, with its sign.
    pub worst_percent: f64,
    /// Frames sent again, measured and simulated.
    pub retransmitted: (u64, u64),
    /// Frames that arrived marked, measured and simulated.
    pub marked: (u64, u64),
}

type Key = (u32, u32, u32, u16);

/// Returns each flow's median completion time over its iterations, by job, collective, transfer and
/// queue pair.
fn medians(rows: &[FlowRow]) -> BTreeMap<Key, Time> {
    let mut times: BTreeMap<Key, Vec<Time>> = BTreeMap::new();
    for row in rows {
        let key = (row.job, row.collective, row.transfer, row.queue_pair);
        times.entry(key).or_default().push(row.fct());
    }
    let times = times.into_iter();
    times
        .filter_map(|(key, times)| Some((key, median_time(times)?)))
        .collect()
}

/// Compares a measured trial with a simulated one, flow by flow.
pub(super) fn spread(measured: &[FlowRow], simulated: &[FlowRow]) -> FlowSpread {
    let (measured_times, simulated_times) = (medians(measured), medians(simulated));
    let mut deviations: Vec<f64> = measured_times
        .iter()
        .filter_map(|(key, measured)| {
            let simulated = simulated_times.get(key)?;
            Some(100.0 * (simulated.as_ns() / measured.as_ns().max(1.0) - 1.0))
        })
        .collect();
    let sum = |rows: &[FlowRow], of: fn(&FlowRow) -> u64| rows.iter().map(of).sum::<u64>();
    let both = |of: fn(&FlowRow) -> u64| (sum(measured, of), sum(simulated, of));
    let mut found = FlowSpread {
        flows: deviations.len(),
        retransmitted: both(|row| row.retransmitted_frames),
        marked: both(|row| row.rx_marked_frames),
        ..FlowSpread::default()
    };
    if deviations.is_empty() {
        return found;
    }
    // Sorted twice: with signs for the median, by size for the others.
    deviations.sort_unstable_by(f64::total_cmp);
    found.median_percent = deviations[deviations.len() / 2];
    deviations.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    found.p90_percent = deviations[(deviations.len() - 1) * 9 / 10].abs();
    found.worst_percent = deviations[deviations.len() - 1];
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_compared_with_themselves() {
        let row = |transfer, us| FlowRow {
            transfer,
            received: Time::from_us(us),
            ..FlowRow::default()
        };
        let measured = [row(0, 100), row(1, 200), row(2, 50)];
        let simulated = [row(1, 210), row(0, 80)];
        let found = spread(&measured, &simulated);
        assert_eq!(found.flows, 2);
        assert!((found.worst_percent + 20.0).abs() < 1e-9);
        assert!((found.p90_percent - 5.0).abs() < 1e-9);
    }
}
