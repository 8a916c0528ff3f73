//! PFC pauses that a variant's trials saw at NICs, and the buffer that switches needed.

use serde::{Deserialize, Serialize};

use tenter_results::Counts;

use crate::studies::read::Ended;

/// Distribution of pauses over the NICs in all trials of a variant, and the buffer that was needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// Name of the cell whose trials these are.
    pub variant: String,
    /// XOFF frames that the least paused NIC received, over all trials.
    pub nic_xoff_min_frames: u64,
    /// XOFF frames for each NIC, averaged over all NICs and trials.
    pub nic_xoff_mean_frames: f64,
    /// XOFF frames that the most paused NIC received, over all trials.
    pub nic_xoff_max_frames: u64,
    /// Jain's index over the NICs' XOFF frames, from the least even trial: 1 if all NICs received
    /// equally many frames, 1/n if a single one among n NICs received all.
    pub nic_xoff_evenness: f64,
    /// Most bytes that one switch held in its buffer pools, over all trials; `None` without pools.
    pub switch_high_water_bytes: Option<u64>,
    /// Switch that held them; empty without pools.
    pub switch: String,
}

/// One trial's pauses, from which [`Pauses`] are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialPauses {
    /// XOFF frames that the least paused NIC received.
    least: u64,
    /// XOFF frames that the most paused NIC received.
    most: u64,
    /// XOFF frames that all NICs received.
    sum: u64,
    nics: u64,
    evenness: f64,
    /// The switch with the fullest pools: high-water mark in bytes, and name.
    held: Option<(u64, String)>,
}

impl TrialPauses {
    /// Counts the pauses from a trial's tables.
    pub fn of(trial: Ended<'_>) -> TrialPauses {
        let counts = trial.held.results.counts;
        let nics = trial.plan.topology.hosts;
        let ports = counts.ports.iter();
        // Hosts have the first node numbers, before all switches.
        let of_nics = ports.filter(|row| (row.node as usize) < nics);
        let frames: Vec<u64> = of_nics.map(|row| row.rx_xoff_frames).collect();
        TrialPauses::counted(&frames, counts)
    }

    /// Counts pauses by each NIC's XOFF `frames`, and takes the fullest switch from `counts`.
    fn counted(frames: &[u64], counts: &Counts) -> TrialPauses {
        let switches = counts.switches.iter();
        let held = switches.filter_map(|row| Some((row.pool_high_water_bytes?, &row.node_name)));
        // Of equally full switches the first counts, whatever the number of threads.
        let fullest = held.reduce(|a, b| if b.0 > a.0 { b } else { a });
        TrialPauses {
            least: frames.iter().copied().min().unwrap_or(0),
            most: frames.iter().copied().max().unwrap_or(0),
            sum: frames.iter().sum(),
            nics: frames.len() as u64,
            evenness: jain(frames),
            held: fullest.map(|(bytes, name)| (bytes, name.clone())),
        }
    }
}

impl Pauses {
    /// Combines a variant's trials; `None` if no NIC was paused in any trial.
    pub(crate) fn of(variant: &str, trials: &[&TrialPauses]) -> Option<Pauses> {
        let most = trials.iter().map(|of| of.most).max();
        let most = most.filter(|&most| most > 0)?;
        let held = trials.iter().filter_map(|of| of.held.as_ref());
        let fullest = held.reduce(|a, b| if b.0 > a.0 { b } else { a });
        let sum: u64 = trials.iter().map(|of| of.sum).sum();
        let nics: u64 = trials.iter().map(|of| of.nics).sum();
        Some(Pauses {
            variant: variant.to_owned(),
            nic_xoff_min_frames: trials.iter().map(|of| of.least).min().unwrap_or(0),
            nic_xoff_mean_frames: sum as f64 / nics as f64,
            nic_xoff_max_frames: most,
            nic_xoff_evenness: trials.iter().map(|of| of.evenness).fold(1.0, f64::min),
            switch_high_water_bytes: fullest.map(|(bytes, _)| *bytes),
            switch: fullest.map_or_else(String::new, |(_, name)| name.clone()),
        })
    }
}

impl Pauses {
    /// Formats the high-water mark in MB with one decimal; a dash if no switch has pools.
    pub fn held(&self) -> String {
        let held = self.switch_high_water_bytes;
        held.map_or_else(
            || "-".to_owned(),
            |bytes| format!("{:.1}", bytes as f64 / 1e6),
        )
    }
}

/// Returns Jain's fairness index for n counts: (Σx)² / (n · Σx²), and 1 if all counts are 0.
fn jain(counts: &[u64]) -> f64 {
    let sum: f64 = counts.iter().map(|&count| count as f64).sum();
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    // Without any pause nothing is uneven, and 0/0 would be no number.
    if squares == 0.0 {
        1.0
    } else {
        sum * sum / (counts.len() as f64 * squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenness_is_one_over_the_number_where_one_has_all() {
        assert!((jain(&[180, 180, 180, 180]) - 1.0).abs() < 1e-12);
        assert!((jain(&[0, 7, 0, 0]) - 0.25).abs() < 1e-12);
        // (1 + 3)² / (2 · 10).
        assert!((jain(&[1, 3]) - 0.8).abs() < 1e-12);
        assert!((jain(&[0, 0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_held_is_known_of_pools_alone() {
        use tenter_results::SwitchRow;

        let of = |pool_high_water_bytes| {
            let counts = Counts {
                switches: vec![SwitchRow {
                    node_name: "leaf0".to_owned(),
                    pool_high_water_bytes,
                    ..SwitchRow::default()
                }],
                ..Counts::default()
            };
            let quiet = TrialPauses::counted(&[0, 0], &counts);
            assert_eq!(Pauses::of("pure", &[&quiet]), None);
            let paused = TrialPauses::counted(&[3, 0], &counts);
            let pauses = Pauses::of("pure", &[&quiet, &paused]).expect("a NIC was paused");
            (pauses.held(), pauses.switch)
        };
        assert_eq!(of(Some(2_500_000)), ("2.5".to_owned(), "leaf0".to_owned()));
        assert_eq!(of(None), ("-".to_owned(), String::new()));
    }
}
