//! Database pod: many-to-many between machines in racks, some of which carry most of the load.
//!
//! Origin: rack-level matrices from production data centres, such as those in A. Roy and others,
//! "Inside the Social Network's (Datacenter) Network" (SIGCOMM 2015), whose databases talk mostly
//! to other racks. The matrix itself is not published. Rack loads follow a Zipf distribution, a
//! rack sends and receives in proportion to its load, and nothing is sent within racks. Numbers and
//! sizes are assumed.

use tenter_engine::Draws;
use tenter_language::config::component;
use tenter_language::units::{Bytes, Time};

use super::limits::{COMPUTE, COUNT_MAX, SIZES};
use super::{CommunicationMatrix, PatternError};
use crate::collective::{CollectiveMember, Factor};

pub(super) static MEMBER: CollectiveMember = CollectiveMember {
    collective: "pattern",
    algorithm: "database-pod",
    summary: "many-to-many between racks with loads by a Zipf distribution",
    model_page: "docs/models/pattern-database-pod.md",
    ranks_max: u32::MAX,
    busbw: Factor::One,
};

/// Weight that the rack with the greatest load has; the n-th rack has 1/n of it.
const WEIGHT: u64 = 1 << 32;

component! {
    /// Racks of databases that exchange transfers, with loads by a Zipf distribution.
    pub struct DatabasePod as "`jobs[].pattern` with `kind: database-pod`" {
        /// Computing time of all ranks before each step.
        compute: Time = "0ns", in COMPUTE, from "assumed";
        /// Ranks of a rack, which follow each other; the last one may be smaller.
        rack: u32 = "16", in 1..=COUNT_MAX, from "assumed";
        /// Transfers that a rank sends in a step, on average over all racks.
        transfers: u32 = "32", in 1..=COUNT_MAX, from "assumed";
        /// Payload of each transfer.
        transfer_bytes as "transfer": u64 as Bytes = "64KiB", in SIZES, from "assumed";
    }
}

/// Returns each rack's weight: W, W/2, W/3 and so on in a random order.
fn weights(draws: Draws, racks: u32) -> Vec<u64> {
    let mut order: Vec<u64> = (0..u64::from(racks)).collect();
    let draws = draws.of(u64::MAX);
    order.sort_by_key(|&rack| (draws.at(rack), rack));
    let mut weights = vec![0; racks as usize];
    for (place, rack) in (1..).zip(order) {
        weights[rack as usize] = WEIGHT / place;
    }
    weights
}

impl DatabasePod {
    pub(super) fn phases(
        &self,
        draws: Draws,
        ranks: u32,
    ) -> Result<Vec<CommunicationMatrix>, PatternError> {
        let racks = ranks.div_ceil(self.rack.max(1));
        if racks < 2 {
            return Err(PatternError::OneRack {
                ranks,
                rack: self.rack,
            });
        }
        let weights = weights(draws, racks);
        let sum: u64 = weights.iter().sum();
        // End of each rack's share on the line of all weights.
        let ends: Vec<u64> = weights
            .iter()
            .scan(0, |end, weight| {
                *end += weight;
                Some(*end)
            })
            .collect();
        let mut sends = Vec::new();
        for src in 0..ranks {
            let home = src / self.rack;
            let own = draws.of(u64::from(src));
            let count = self.sent_by(weights[home as usize], sum, racks);
            for number in 0..count {
                let draw = own.of(number);
                // Choose among all racks except the own one, each as likely as its weight: cut the
                // own share out of the line.
                let own_weight = weights[home as usize];
                let mut along = draw.below(0, sum - own_weight);
                if along >= ends[home as usize] - own_weight {
                    along += own_weight;
                }
                let rack = ends.partition_point(|&end| end <= along) as u32;
                let first = rack * self.rack;
                let size = self.rack.min(ranks - first);
                let dst = first + draw.below(1, u64::from(size)) as u32;
                sends.push((src, dst, self.transfer_bytes));
            }
        }
        Ok(vec![CommunicationMatrix::of(ranks, sends)])
    }

    /// Returns the transfers that a rank sends if its rack has `weight` out of `sum`.
    fn sent_by(&self, weight: u64, sum: u64, racks: u32) -> u64 {
        let mean = u128::from(self.transfers) * u128::from(racks);
        ((mean * u128::from(weight) / u128::from(sum)) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn racks_send_and_receive_by_their_loads() {
        let pod = DatabasePod::default();
        let draws = Draws::new(1, "pod", "test");
        let matrix = pod.phases(draws, 256).unwrap().swap_remove(0);
        let weights = weights(draws, 16);
        let sum: u64 = weights.iter().sum();
        let between = matrix.between(16, |rank| rank / 16);
        let mut total = 0;
        for (rack, &weight) in weights.iter().enumerate() {
            // Nothing stays within a rack, and what leaves it is the closed form: 32 · 16 racks in
            // proportion to weights, for each of 16 ranks.
            assert_eq!(between[rack * 16 + rack], 0);
            let sent: u64 = between[rack * 16..(rack + 1) * 16].iter().sum();
            let each = (512 * u128::from(weight) / u128::from(sum)) as u64;
            assert_eq!(sent, 16 * each.max(1) * (64 << 10));
            total += sent;
        }
        assert_eq!(matrix.total(), total);
        // The rack of the greatest load receives most.
        let received = |rack: usize| (0..16).map(|from| between[from * 16 + rack]).sum::<u64>();
        let hottest = (0..16).max_by_key(|&rack| weights[rack]);
        assert_eq!(hottest, (0..16).max_by_key(|&rack| received(rack)));
    }

    #[test]
    fn a_single_rack_is_refused() {
        let pod = DatabasePod::default();
        let draws = Draws::new(1, "pod", "test");
        assert_eq!(
            pod.phases(draws, 16).unwrap_err().to_string(),
            "database-pod: 16 ranks fill a single `rack` of 16, and racks send to each other; give \
             more ranks or smaller racks"
        );
        assert!(pod.phases(draws, 17).is_ok());
    }
}
