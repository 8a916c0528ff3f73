//! The scheduler's clock: predicts how long iterations take, if batches depend on time.
//!
//! Computing takes the same time as in the run. A message takes a latency, and its bytes at the
//! rate of the scale-up domain or a NIC, with nothing in its way.

use tenter_language::units::Time;

use super::layout::{Inference, Pool};
use super::pass::{Pass, Sink};
use super::sizes::TOKEN;
use crate::collective::Direction;
use crate::graph::{CollectiveName, GraphError};

/// Adds up the time that a rank needs for its part in an iteration.
pub(super) struct Clock<'a> {
    of: &'a Inference,
    pool: &'a Pool,
    /// Computing at the busiest experts relative to the mean.
    load: f64,
    /// Time so far, in ps.
    sum: u64,
}

impl<'a> Clock<'a> {
    /// Starts at zero. `load` is the computing at the pool's busiest experts relative to the mean.
    pub(super) fn new(of: &'a Inference, pool: &'a Pool, load: f64) -> Clock<'a> {
        Clock {
            of,
            pool,
            load,
            sum: 0,
        }
    }

    /// Predicts for each stage the time that an iteration occupies it, and the time of its message:
    /// activations to the next stage, or from the last stage tokens to the first, in ps.
    pub(super) fn stages(&self, pass: &Pass<'_>, outputs: u64) -> Vec<[u64; 2]> {
        let timed = |part: &dyn Fn(&mut Clock<'_>) -> Result<(), GraphError>| {
            let mut clock = Clock::new(self.of, self.pool, self.load);
            // A clock never fails; the sink's error type is there for graphs.
            part(&mut clock).map_or(0, |()| clock.sum)
        };
        // Layers of one kind take equal time, so one of each kind is timed.
        let [dense, with_experts] = [0, self.of.model.dense_layers]
            .map(|layer| timed(&|clock: &mut Clock<'_>| pass.layer(layer, clock)));
        let stages = self.pool.size().pp;
        let one = |stage: u32| {
            let ends = timed(&|clock: &mut Clock<'_>| {
                pass.begin(stage, clock)?;
                pass.end(stage, clock)
            });
            let layers = self.of.layers(self.pool, stage);
            let kinds = self.of.kinds_of_layers(layers).map(u64::from);
            let layers = kinds[0].saturating_mul(dense);
            let layers = layers.saturating_add(kinds[1].saturating_mul(with_experts));
            let bytes = if stage + 1 < stages {
                pass.sizes().activations
            } else {
                TOKEN * outputs
            };
            let sent = match stages {
                1 => 0,
                _ => self.over_network(bytes.max(TOKEN)).ps(),
            };
            [ends.saturating_add(layers), sent]
        };
        (0..stages).map(one).collect()
    }

    /// Returns the time for `count` messages one after the other, each with `bytes`, among
    /// `neighbours` neighbouring ranks, in ps. They use the scale-up domain if it holds whole
    /// groups.
    fn messages(&self, neighbours: u32, count: u64, bytes: u64) -> u64 {
        let reach = &self.of.reach;
        let domain = reach.within.filter(|of| {
            let first = self.pool.first_rank;
            // Groups of neighbours from an aligned rank on never straddle two hosts.
            let aligned = first.is_multiple_of(neighbours);
            of.npus_per_host.is_multiple_of(neighbours) && aligned
        });
        let each = match domain {
            Some(of) => of.time_of(bytes, None).saturating_add(of.latency),
            None => self.over_network(bytes),
        };
        each.ps().saturating_mul(count)
    }

    /// Returns the time for a message over the NIC, `assumed_latency` included.
    pub(super) fn over_network(&self, bytes: u64) -> Time {
        let bits = 8 * u128::from(bytes);
        let sent = self.of.reach.network.time_of_bits(bits);
        sent.saturating_add(self.of.spec.assumed_latency)
    }
}

impl Sink for Clock<'_> {
    fn compute(&mut self, seconds: f64) {
        self.sum = self.sum.saturating_add((seconds * 1e12).round() as u64);
    }

    fn tensor(&mut self, name: CollectiveName, bytes: u64) -> Result<(), GraphError> {
        let ranks = self.pool.grid.size.tp;
        let ways = match name {
            // A ring all-reduce is a reduce-scatter and an all-gather.
            CollectiveName::AllReduce => 2,
            _ => 1,
        };
        let steps = ways * u64::from(ranks - 1);
        let part = bytes.div_ceil(u64::from(ranks));
        if bytes > 0 {
            self.sum = self.sum.saturating_add(self.messages(ranks, steps, part));
        }
        Ok(())
    }

    /// Adds the time at the rank with the busiest experts.
    fn exchange(&mut self, _layer: u32, _way: Direction, bytes: u64) -> Result<(), GraphError> {
        let ep = u64::from(self.pool.ep);
        // All but the rank's own part crosses the network, as one message.
        let others = ((bytes - bytes / ep) as f64 * self.load).round() as u64;
        if bytes > 0 {
            let time = self.messages(self.pool.ep, 1, others);
            self.sum = self.sum.saturating_add(time);
        }
        Ok(())
    }

    /// Returns the load at the rank with the busiest experts, for all layers.
    fn expert_load(&self, _layer: u32) -> f64 {
        self.load
    }
}
