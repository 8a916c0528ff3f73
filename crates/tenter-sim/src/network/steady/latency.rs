//! Latencies of the packets that are accepted during a jump.
//!
//! A packet carries its send time in units of 128 ps, and a period need not be a multiple of that.
//! So the same packet may appear a unit slower in one period than in the next. The log has the
//! exact instants for one period, from which each packet's latencies in all periods of the jump
//! follow by arithmetic.

use num_integer::gcd;
use tenter_endpoint::Latencies;
use tenter_fabric::net::{FlowEnd, ReceiveSlot, SENT_UNIT_PS};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Instant, Time};

use super::log::Logged;
use super::numbers::Numbers;

/// Send times of data packets.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// Log entries sorted by receiving queue pair, each in packet order.
    logged: Vec<Logged>,
    /// For each receiving queue pair the index of its first entry, and the total at the end.
    first: Vec<usize>,
}

impl Starts {
    /// Sorts a log, which must have each queue pair's packets in order and without gaps.
    pub(super) fn new(log: &[Logged], numbers: &Numbers) -> Starts {
        let place = |of: &Logged| numbers.place(of.end());
        let mut first = vec![0; numbers.receiving() + 2];
        // Counting sort. The counts are two places ahead, so that `first[place + 1]` can serve as
        // the write position and ends up as the beginning of the next queue pair.
        let known = log.iter().filter_map(place);
        known.for_each(|place| first[place + 2] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut logged = log.to_vec();
        for of in log {
            if let Some(place) = place(of) {
                logged[first[place + 1]] = *of;
                first[place + 1] += 1;
            }
        }
        Starts { logged, first }
    }

    /// Returns a packet's send time, if the log has it.
    #[inline]
    pub(super) fn of(
        &self,
        numbers: &Numbers,
        host: HostId,
        slot: ReceiveSlot,
        sequence: u32,
    ) -> Option<Instant> {
        let place = numbers.place(FlowEnd::Receive(host, slot))?;
        let own = self.logged.get(self.first[place]..self.first[place + 1])?;
        let behind = sequence.wrapping_sub(own.first()?.sequence);
        let found = own.get(behind as usize)?;
        (found.sequence == sequence).then_some(found.at)
    }
}

/// Picoseconds in a latency unit.
pub(super) const UNIT: usize = SENT_UNIT_PS as usize;

/// The unit boundaries that pass from period to period in a jump.
#[derive(Debug)]
pub(super) struct Units {
    /// Number of periods in the jump.
    periods: u64,
    /// Remainder in ps by which a period exceeds whole units.
    rest: u64,
    /// Periods after which the remainders add up to whole units.
    cycle: u64,
    /// For each offset in a unit, the unit boundaries between it and the same event in a later
    /// period, summed over all periods.
    sums: Vec<u64>,
    /// For two offsets, by how many boundaries the first exceeds the second, at least and at most
    /// over all periods; computed when first needed.
    extremes: Vec<Option<(i64, i64)>>,
}

impl Units {
    /// Computes the sums for a jump over `periods` periods.
    pub(super) fn new(period: Time, periods: u64) -> Units {
        let rest = period.ps() % SENT_UNIT_PS;
        let cycle = SENT_UNIT_PS / gcd(rest, SENT_UNIT_PS);
        let (turns, more) = (periods / cycle, periods % cycle);
        let sum = |part: u64| {
            let of_cycle: u64 = (1..=cycle)
                .map(|turn| (part + turn * rest) / SENT_UNIT_PS)
                .sum();
            let of_rest: u64 = (1..=more)
                .map(|turn| (part + turn * rest) / SENT_UNIT_PS)
                .sum();
            // Each cycle starts `ahead` boundaries after the one before it.
            let ahead = cycle * rest / SENT_UNIT_PS;
            let of_ahead = cycle * ahead * (turns * turns.saturating_sub(1) / 2);
            turns * of_cycle + of_ahead + of_rest + more * turns * ahead
        };
        Units {
            periods,
            rest,
            cycle,
            sums: (0..SENT_UNIT_PS).map(sum).collect(),
            extremes: vec![None; UNIT * UNIT],
        }
    }

    /// Returns the latencies of a packet in the jump's periods, given that it was sent at `start`
    /// and accepted at `at` before the jump.
    pub(super) fn latencies(&mut self, at: Instant, start: Instant) -> Latencies {
        let (at, start) = (at.ps(), start.ps());
        let (a, b) = (
            (at % SENT_UNIT_PS) as usize,
            (start % SENT_UNIT_PS) as usize,
        );
        let whole = at / SENT_UNIT_PS - start / SENT_UNIT_PS;
        let (least, most) = self.extremes(a, b);
        Latencies {
            min: whole.wrapping_add_signed(least) as u32,
            max: whole.wrapping_add_signed(most) as u32,
            sum: (whole * self.periods)
                .wrapping_add(self.sums[a])
                .wrapping_sub(self.sums[b]),
        }
    }

    fn extremes(&mut self, a: usize, b: usize) -> (i64, i64) {
        let (cycle, periods, rest) = (self.cycle, self.periods, self.rest);
        *self.extremes[a * UNIT + b].get_or_insert_with(|| {
            let units = |part: usize, turn: u64| (part as u64 + turn * rest) / SENT_UNIT_PS;
            // Both offsets repeat after a cycle, so only one cycle is examined.
            let more = |turn| units(a, turn).cast_signed() - units(b, turn).cast_signed();
            let turns = 1..=cycle.min(periods);
            turns.fold((i64::MAX, i64::MIN), |(least, most), turn| {
                (least.min(more(turn)), most.max(more(turn)))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_of_many_periods_are_those_of_each() {
        for period in [1, 64, 128, 2_674_240, 2_675_960, 83_561] {
            for periods in [1, 2, 63, 64, 127, 128, 129, 1_000] {
                let mut units = Units::new(Time::from_ps(period), periods);
                for (start, at) in [(1_000_000, 3_456_789), (127, 128), (5, 4_000)] {
                    let unit = |instant: u64, turn: u64| (instant + turn * period) / 128;
                    let each = (1..=periods).map(|turn| unit(at, turn) - unit(start, turn));
                    let each: Vec<u64> = each.collect();
                    let all = units.latencies(Instant::from_ps(at), Instant::from_ps(start));
                    assert_eq!(all.sum, each.iter().sum::<u64>());
                    assert_eq!(Some(u64::from(all.min)), each.iter().min().copied());
                    assert_eq!(Some(u64::from(all.max)), each.iter().max().copied());
                }
            }
        }
    }
}
