//! The clock of the scheduler: how long it takes an iteration to be, where batches depend on time.
//!
//! Computing is that of the run; what is sent takes its bytes at the rate of the scale-up domain or
//! of a NIC and a latency, without anything in its way.

use tenter_units::Time;

use super::layout::{Inference, Pool};
use super::pass::{Pass, Sink};
use super::sizes::TOKEN;
use crate::graph::{CollectiveName, GraphError};
use crate::transformer::Way;

/// Adds up what a rank does in an iteration.
pub(super) struct Clock<'a> {
    of: &'a Inference,
    pool: &'a Pool,
    /// What the busiest experts compute over the mean.
    load: f64,
    /// In ps.
    sum: u64,
}

impl<'a> Clock<'a> {
    /// At zero, with what the busiest experts of the pool compute over the mean.
    pub(super) fn new(of: &'a Inference, pool: &'a Pool, load: f64) -> Clock<'a> {
        Clock {
            of,
            pool,
            load,
            sum: 0,
        }
    }

    /// What an iteration takes each stage, and then the message of the stage to the next one, or
    /// of tokens to the first one.
    pub(super) fn stages(&self, pass: &Pass<'_>, outputs: u64) -> Vec<[u64; 2]> {
        let timed = |part: &dyn Fn(&mut Clock<'_>) -> Result<(), GraphError>| {
            let mut clock = Clock::new(self.of, self.pool, self.load);
            part(&mut clock).map_or(0, |()| clock.sum)
        };
        // The layers of a kind are alike.
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

    /// What messages take, each of so many bytes, one after the other, among so many neighbours.
    fn messages(&self, neighbours: u32, count: u64, bytes: u64) -> u64 {
        let reach = &self.of.reach;
        let domain = reach.within.filter(|of| {
            let first = self.pool.first_rank;
            let aligned = first.is_multiple_of(neighbours);
            of.npus_per_host.is_multiple_of(neighbours) && aligned
        });
        let each = match domain {
            Some(of) => of.time_of(bytes).saturating_add(of.latency),
            None => self.over_network(bytes),
        };
        each.ps().saturating_mul(count)
    }

    /// What a message takes over the network.
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

    /// That of the rank with the busiest experts.
    fn exchange(&mut self, _layer: u32, _way: Way, bytes: u64) -> Result<(), GraphError> {
        let ep = u64::from(self.pool.ep);
        let others = ((bytes - bytes / ep) as f64 * self.load).round() as u64;
        if bytes > 0 {
            let time = self.messages(self.pool.ep, 1, others);
            self.sum = self.sum.saturating_add(time);
        }
        Ok(())
    }

    /// That of the rank with most.
    fn expert_load(&self, _layer: u32) -> f64 {
        self.load
    }
}
