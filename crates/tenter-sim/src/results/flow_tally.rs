//! A flow workload's statistics by flow size. Single flows are forgotten once they are over.

use std::collections::BTreeMap;

use tenter_language::units::Time;
use tenter_results::{FlowSizeRow, Histogram};
use tenter_workload::flow_workload::SizeDistribution;

use crate::network::Remembered;

use super::ideal_ratio::millionths;

/// One job's flow statistics, by size.
#[derive(Debug)]
pub(crate) struct FlowTally {
    buckets: Vec<Bucket>,
    /// For each flow that is delivered but not in the table, the receiver half's index, by flow
    /// number.
    pub(crate) places: BTreeMap<u32, u32>,
    /// Unloaded times by path and size.
    pub(crate) remembered: Remembered,
}

/// Flows within a size range.
#[derive(Debug, Default)]
struct Bucket {
    /// Number that the tenth has, 0 to 9.
    number: u32,
    /// Smallest flow size in bytes.
    from: u64,
    /// Largest flow size in bytes.
    to: u64,
    /// The flows' payload together, in bytes.
    payload: u64,
    /// Completion times of flows, in ps.
    times: Histogram,
    /// Slowdowns of flows, in millionths.
    slowdowns: Histogram,
}

impl FlowTally {
    /// Makes a bucket for each tenth of the size distribution; tenths without any size are left
    /// out.
    pub(crate) fn new(distribution: &SizeDistribution) -> FlowTally {
        let mut buckets: Vec<Bucket> = Vec::new();
        for number in 0..10 {
            // Quantiles are in thousandths; the last bucket ends at the largest size, whatever its
            // quantile.
            let to = if number == 9 {
                distribution.largest()
            } else {
                distribution.quantile(100 * (number + 1))
            };
            let from = buckets.last().map_or(1, |last| last.to + 1);
            if to >= from {
                buckets.push(Bucket {
                    number,
                    from,
                    to,
                    ..Bucket::default()
                });
            }
        }
        FlowTally {
            buckets,
            places: BTreeMap::new(),
            remembered: Remembered::default(),
        }
    }

    /// Adds a flow that took `fct`; `alone` is its unloaded time, if known.
    pub(crate) fn add(&mut self, payload: u64, fct: Time, alone: Option<Time>) {
        let index = self.buckets.partition_point(|bucket| bucket.to < payload);
        if let Some(bucket) = self.buckets.get_mut(index) {
            bucket.payload += payload;
            bucket.times.add(u128::from(fct.ps()));
            if let Some(alone) = alone.filter(|alone| !alone.is_zero()) {
                bucket.slowdowns.add(millionths(fct, alone));
            }
        }
    }

    /// Returns the flow count over all sizes.
    pub(crate) fn flows(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.times.count()).sum()
    }

    /// Returns the flows' payload in bytes.
    pub(crate) fn payload(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.payload).sum()
    }

    /// Returns all flows' completion times, in ps.
    pub(crate) fn times(&self) -> Histogram {
        let mut all = Histogram::default();
        for bucket in &self.buckets {
            all.merge(&bucket.times);
        }
        all
    }

    fn slowdowns(&self) -> Histogram {
        let mut all = Histogram::default();
        for bucket in &self.buckets {
            all.merge(&bucket.slowdowns);
        }
        all
    }

    /// Makes a row for all flows, then one for each tenth that has sizes.
    pub(crate) fn rows(&self, job: u32, name: &str) -> Vec<FlowSizeRow> {
        // The number of this bucket is never shown: the row of all sizes has none.
        let all = Bucket {
            number: 0,
            from: self.buckets.first().map_or(0, |bucket| bucket.from),
            to: self.buckets.last().map_or(0, |bucket| bucket.to),
            payload: self.payload(),
            times: self.times(),
            slowdowns: self.slowdowns(),
        };
        let row = |bucket: &Bucket, number: Option<u32>| {
            let time = |ps: u128| Time::from_ps(ps as u64);
            let slowdown = |millionths: Option<u128>| millionths.map(|of| of as f64 / 1e6);
            let slow = |per_myriad| slowdown(bucket.slowdowns.at(per_myriad));
            let at = |per_myriad| bucket.times.at(per_myriad).map(time);
            FlowSizeRow {
                job,
                job_name: name.to_owned(),
                bucket: number,
                from: bucket.from,
                to: bucket.to,
                flows: bucket.times.count(),
                payload: bucket.payload,
                fct_mean: bucket.times.mean().map(|ps| Time::from_ps(ps as u64)),
                fct_p50: at(5_000),
                fct_p99: at(9_900),
                fct_p999: at(9_990),
                fct_p9999: at(9_999),
                fct_max: bucket.times.greatest().map(time),
                slowdown_mean: bucket.slowdowns.mean().map(|mean| mean / 1e6),
                slowdown_p50: slow(5_000),
                slowdown_p99: slow(9_900),
                slowdown_p999: slow(9_990),
                slowdown_p9999: slow(9_999),
                slowdown_max: slowdown(bucket.slowdowns.greatest()),
            }
        };
        let tenths = self.buckets.iter();
        let tenths = tenths.map(|bucket| row(bucket, Some(bucket.number)));
        std::iter::once(row(&all, None)).chain(tenths).collect()
    }
}

#[cfg(test)]
mod tests {
    use tenter_workload::flow_workload::{Between, Point};

    use super::*;

    #[test]
    fn a_tenth_without_sizes_of_its_own_has_no_row() {
        // Seven tenths of the flows have 100 bytes, the others 1,000 or 5,000.
        let points = [(100, 0.7), (1_000, 0.9), (5_000, 1.0)];
        let points = points.map(|(size, up_to)| Point::new(size, up_to));
        let distribution =
            SizeDistribution::new(points.to_vec(), Between::Steps).expect("a distribution");
        let mut tally = FlowTally::new(&distribution);
        for (payload, ns) in [(100, 10), (100, 30), (1_000, 20), (5_000, 90)] {
            tally.add(payload, Time::from_ns(ns), Some(Time::from_ns(5)));
        }
        let rows = tally.rows(3, "web");
        let of = |row: &FlowSizeRow| (row.bucket, row.from, row.to, row.flows, row.payload);
        let all: Vec<_> = rows.iter().map(of).collect();
        assert_eq!(
            all,
            [
                (None, 1, 5_000, 4, 6_200),
                (Some(0), 1, 100, 2, 200),
                (Some(7), 101, 1_000, 1, 1_000),
                (Some(9), 1_001, 5_000, 1, 5_000),
            ]
        );
        assert_eq!(rows[0].fct_max, Some(Time::from_ns(90)));
        assert_eq!(rows[1].fct_mean, Some(Time::from_ns(20)));
        assert_eq!(
            (rows[1].slowdown_mean, rows[2].slowdown_max),
            (Some(4.0), Some(4.0))
        );
        assert_eq!((tally.flows(), tally.payload()), (4, 6_200));
    }
}
