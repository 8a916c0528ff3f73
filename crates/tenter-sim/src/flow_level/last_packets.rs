//! What the last packet of a message waits where switches choose links by chance.
//!
//! Flows that share a link end together. Packets do not: each link of such a way has a queue, as
//! packets come to it by chance, and the last packet of a message lies by chance among those of
//! others.
//!
//! Where a link gets no more than it can carry, n packets that come by chance take longer than n
//! packets by the largest excess of a random walk that comes back to where it began, √n times what
//! exceeds x with a probability of exp(−2x²) (Feller, *An Introduction to Probability Theory*,
//! volume 1, chapter III). Where NICs could send more, by a part of μ, the queue seldom runs empty,
//! and the excess is exponential with a mean of 1 / 2μ (Kingman, *The single server queue in heavy
//! traffic*, 1961). Behind the last packet of a message are as many of others as lie between two of
//! its own, on average.

use tenter_engine::Draws;
use tenter_flow::FlowId;
use tenter_units::{Instant, Time};

use super::driver::FlowDriver;
use super::messages::{Message, PairWay};
use super::sending::burst;
use super::ways::nic;

/// A message on the link that holds it back, at the end of its flow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowd {
    /// How long the link takes for a packet, in ps, and how many it has carried meanwhile.
    packet_ps: f64,
    packets: f64,
    /// Packets of others for each of its own.
    others: f64,
    /// How much more its NIC might send, as a part of what it does.
    excess: f64,
    /// Links on the way between leaves.
    tiers: u64,
}

impl Crowd {
    fn wait(&self, draws: Draws) -> Time {
        let mut queues = 0.0;
        for tier in 1..=self.tiers {
            let draws = draws.of(tier);
            let critical = (self.packets * exponential(draws.at(0)) / 2.0).sqrt();
            let full = exponential(draws.at(1)) / (2.0 * self.excess);
            queues += critical.min(full);
        }
        let behind = exponential(draws.at(0)) * self.others;
        Time::from_ps(((queues - behind).max(0.0) * self.packet_ps) as u64)
    }
}

/// An exponential value with a mean of one, from a uniform one. Its logarithm is linear between
/// powers of two, so that it is the same on all machines.
fn exponential(uniform: u64) -> f64 {
    let halves = uniform.leading_zeros();
    let rest = uniform.checked_shl(halves + 1).unwrap_or(0) >> 12;
    let part = rest as f64 / (1_u64 << 52) as f64;
    // One and a half on average.
    (f64::from(halves) + 1.0 - part) / 1.5
}

impl FlowDriver {
    /// What the last packets wait of messages whose flows end at an instant; empty where no links
    /// are chosen by chance.
    pub(super) fn waits_of_last(&self, flows: &[FlowId], now: Instant) -> Vec<Time> {
        if !self.ways.are_by_chance() {
            return Vec::new();
        }
        let wait = |&flow: &FlowId| self.wait_of_last(flow, now).unwrap_or(Time::ZERO);
        flows.iter().map(wait).collect()
    }

    fn wait_of_last(&self, flow: FlowId, now: Instant) -> Option<Time> {
        let message = self.messages.get(self.messages.of_flow(flow)?);
        let draws = self
            .ways
            .draws(self.messages.way(message.pair)?.way, burst(message))?;
        let crowd = self.crowd(message, flow, now)?;
        Some(crowd.wait(draws))
    }

    /// The message among others; nothing where another link than those that packets choose holds it
    /// back.
    fn crowd(&self, message: &Message, flow: FlowId, now: Instant) -> Option<Crowd> {
        let PairWay { way, from, .. } = self.messages.way(message.pair)?;
        let link = self.fluid.bottleneck(flow)?;
        let mut hops = self.fluid.hops(flow).iter();
        let &(_, part) = hops.find(|(hop, _)| *hop == link)?;
        let wire = self.wire_bytes(message) as f64 / f64::from(message.frames);
        let bits_per_second = self.fluid.capacity(link).bits_per_second();
        let packet_ps = wire * 8e12 / bits_per_second;
        let own = self.fluid.rate(flow).bits_per_second() * part.share();
        let line = self.ways.link(nic(from));
        let used = self.fluid.load(line).bits_per_second();
        Some(Crowd {
            packet_ps,
            packets: (now - message.first_sent).ps() as f64 / packet_ps,
            others: (bits_per_second / own - 1.0).max(0.0),
            excess: (self.fluid.capacity(line).bits_per_second() / used - 1.0).max(0.0),
            tiers: self.ways.way(way).stages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CROWD: Crowd = Crowd {
        packet_ps: 100.0,
        packets: 400.0,
        others: 0.0,
        excess: 0.0,
        tiers: 1,
    };

    fn mean_ps(crowd: Crowd) -> f64 {
        let draws = Draws::new(1, "test", "last packets");
        let waits = (0..20_000).map(|number| crowd.wait(draws.of(number)).ps() as f64);
        waits.sum::<f64>() / 20_000.0
    }

    #[test]
    fn waits_are_those_of_a_random_walk() {
        // √(π / 8) times the root of 400 packets.
        let critical = 0.6267 * 20.0 * 100.0;
        assert!((mean_ps(CROWD) / critical - 1.0).abs() < 0.03);
        let tiers = Crowd { tiers: 4, ..CROWD };
        assert!((mean_ps(tiers) / critical - 4.0).abs() < 0.1);
        // Half of a packet: the queue seldom runs empty.
        let full = Crowd {
            excess: 1.0,
            ..CROWD
        };
        assert!((mean_ps(full) - 50.0).abs() < 3.0);
    }

    #[test]
    fn a_message_of_many_ends_before_others() {
        let many = Crowd {
            others: 1_000.0,
            ..CROWD
        };
        assert!(mean_ps(many) < 20.0);
    }
}
