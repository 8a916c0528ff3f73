//! The latencies of packets that a jump accepts.
//!
//! Packets know when they were sent in units of 128 ps, into which a period need not fit: of equal
//! latencies some are a unit longer. So the exact instants are logged for a period, and of each
//! packet of it the latencies in all periods of the jump follow by arithmetic.

use tenter_endpoint::Latencies;
use tenter_net::{ReceiveSlot, SENT_UNIT_PS};
use tenter_topology::HostId;

use super::log::Logged;

/// When data packets were sent, in ps.
#[derive(Debug, Default)]
pub(super) struct Starts(Vec<Logged>);

impl Starts {
    /// Those of a log in any order.
    pub(super) fn new(mut logged: Vec<Logged>) -> Starts {
        logged.sort_unstable();
        Starts(logged)
    }

    /// When a packet was sent, if that is known.
    pub(super) fn of(&self, host: HostId, slot: ReceiveSlot, sequence: u32) -> Option<u64> {
        let key = |of: &Logged| (of.host, of.slot, of.sequence);
        let place = self.0.binary_search_by_key(&(host, slot, sequence), key);
        place.ok().map(|place| self.0[place].at)
    }
}

/// The latencies of a packet that is accepted at `at`, so many periods long once in each.
pub(super) fn of_periods(at: u64, start: u64, period: u64, periods: u64) -> Latencies {
    let cycle = SENT_UNIT_PS / gcd(period % SENT_UNIT_PS, SENT_UNIT_PS);
    let mut all = Latencies {
        min: u32::MAX,
        max: 0,
        sum: 0,
    };
    for turn in 1..=cycle.min(periods) {
        let unit = |instant: u64| ((instant + turn * period) / SENT_UNIT_PS) as u32;
        let latency = unit(at).wrapping_sub(unit(start));
        let count = periods / cycle + u64::from(turn <= periods % cycle);
        all.min = all.min.min(latency);
        all.max = all.max.max(latency);
        all.sum += u64::from(latency) * count;
    }
    all
}

fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_of_many_periods_are_those_of_each() {
        for period in [1, 64, 128, 2_674_240, 2_675_960, 83_561] {
            for (start, at) in [(1_000_000, 3_456_789), (127, 128), (5, 4_000)] {
                for periods in [1, 2, 63, 64, 127, 128, 129, 1_000] {
                    let unit = |instant: u64, turn: u64| (instant + turn * period) / 128;
                    let each = (1..=periods).map(|turn| unit(at, turn) - unit(start, turn));
                    let each: Vec<u64> = each.collect();
                    let all = of_periods(at, start, period, periods);
                    assert_eq!(all.sum, each.iter().sum::<u64>());
                    assert_eq!(Some(u64::from(all.min)), each.iter().min().copied());
                    assert_eq!(Some(u64::from(all.max)), each.iter().max().copied());
                }
            }
        }
    }
}
