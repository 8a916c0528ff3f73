//! The wait of a message's last packet where switches choose links by chance.
//!
//! Flows that share a link end together. Packets end one by one: packets that reach a link by
//! chance build a queue there, and a message's last packet lies by chance among the packets of
//! other messages.
//!
//! If n packets each take one of k links by chance, the count on one link is a random walk that
//! returns to its mean. The link idles until the walk reaches its largest excess, and ends later by
//! that much. The excess x of a walk with variance v = 1 − 1/k exceeds a value with probability
//! exp(−2x (x + μn) / vn), by the reflection principle (Feller, *An Introduction to Probability
//! Theory*, volume 1, chapter III). μ is the rate that NICs could send beyond the link's rate, as a
//! part of it: with a large μ the queue seldom runs empty. The data that other messages send behind
//! the last packet is exponential; its mean is the distance between two packets of the message.
//!
//! The model takes the walk at each tier to be that of the link which holds the message back,
//! whatever the tier's load, and the walks of two messages to be independent.

use std::f64::consts::LN_2;

use crate::fluid::{FlowId, Weight};
use tenter_engine::Draws;
use tenter_fabric::topology::HostId;
use tenter_language::units::Time;

use super::driver::FlowDriver;
use super::messages::{Message, PairWay};
use super::queues::Fullest;
use super::ways::nic;

/// A message among others on its bottleneck link, when its flow ends.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowd {
    /// Time that the link needs for one packet, in ps.
    packet_ps: f64,
    /// Packets that the link carries while it carries the message.
    packets: f64,
    /// Other messages' packets for each packet of this one.
    others: f64,
    /// Rate that the NIC could send in addition, as a fraction of its present rate.
    excess: f64,
}

impl Crowd {
    /// Draws the wait behind walks with the given variances, one for each tier.
    fn wait(&self, walks: &[f64], draws: Draws) -> Time {
        let drift = self.excess;
        let excess = |(tier, variance): (u64, &f64)| {
            let drawn = variance * exponential(draws.of(tier).at(0));
            let root = (drift * drift + 2.0 * drawn / self.packets).sqrt();
            (drawn / (drift + root)).min(self.packets)
        };
        let queues: f64 = (1..).zip(walks).map(excess).sum();
        let behind = exponential(draws.at(0)) * self.others;
        Time::from_ps(((queues - behind).max(0.0) * self.packet_ps) as u64)
    }
}

/// Turns a uniform value into an exponential one with mean 1. The logarithm is interpolated between
/// powers of two, so that it is the same on all machines.
fn exponential(uniform: u64) -> f64 {
    /// Curvature that keeps the interpolated logarithm within a hundredth.
    const BEND: f64 = 0.344;
    let halves = uniform.leading_zeros();
    let rest = uniform.checked_shl(halves + 1).unwrap_or(0) >> 12;
    let part = rest as f64 / (1_u64 << 52) as f64;
    let logarithm = part + BEND * part * (1.0 - part);
    (f64::from(halves) + 1.0 - logarithm) * LN_2
}

impl FlowDriver {
    /// Returns the last packet's wait for each flow that ends at an instant. The list is empty if
    /// no switch chooses links by chance.
    pub(super) fn waits_of_last(&self, flows: &[FlowId]) -> Vec<Time> {
        if !self.ways.are_by_chance() {
            return Vec::new();
        }
        let wait = |&flow: &FlowId| self.wait_of_last(flow).unwrap_or(Time::ZERO);
        flows.iter().map(wait).collect()
    }

    fn wait_of_last(&self, flow: FlowId) -> Option<Time> {
        let message = self.messages.get(self.messages.of_flow(flow)?);
        let PairWay { way, from, .. } = self.messages.way(message.pair)?;
        let (walks, draws) = self.ways.walks(way, message.burst())?;
        let crowd = self.crowd(message, from, flow)?;
        Some(crowd.wait(walks, draws))
    }

    /// Returns the last packet's wait at the message's fullest link, if only its NIC has held it
    /// back.
    pub(super) fn wait_on(&self, message: &Message, link: Fullest) -> Option<Time> {
        let PairWay { way, .. } = self.messages.way(message.pair)?;
        let (walks, draws) = self.ways.walks(way, message.burst())?;
        let Fullest {
            link,
            part,
            load,
            rate,
        } = link;
        let sends = self.fluid.capacity(link).bits_per_second();
        let own = rate.bits_per_second() * part.share();
        // Both are divisors below.
        let is_sent = own > 0.0 && load > 0.0;
        let excess = (load - 1.0).abs();
        is_sent.then(|| {
            let crowd = self.among(message, part, own / (load * sends), sends, excess);
            crowd.wait(walks, draws)
        })
    }

    /// Describes a message if a link carries `part` of it, and it makes up a fraction `share` of
    /// the link's traffic. `sends` is the link's rate in bits per second.
    fn among(&self, message: &Message, part: Weight, share: f64, sends: f64, excess: f64) -> Crowd {
        let frames = f64::from(message.frames);
        Crowd {
            packet_ps: self.wire_bytes(message) as f64 / frames * 8e12 / sends,
            packets: frames * part.share() / share,
            others: (1.0 / share - 1.0).max(0.0),
            excess,
        }
    }

    /// Describes a message on its bottleneck. Returns `None` if that is not a link which packets
    /// choose.
    fn crowd(&self, message: &Message, from: HostId, flow: FlowId) -> Option<Crowd> {
        let link = self.fluid.bottleneck(flow)?;
        let mut hops = self.fluid.hops(flow).iter();
        let &(_, part) = hops.find(|(hop, _)| *hop == link)?;
        // The link is full, so its load stands for its rate. Its capacity may have changed at this
        // very instant.
        let full = self.fluid.load(link).bits_per_second();
        let own = self.fluid.rate(flow).bits_per_second() * part.share();
        let line = self.ways.link(nic(from));
        let used = self.fluid.load(line).bits_per_second();
        let is_sent = own > 0.0 && used > 0.0;
        let excess = (self.fluid.capacity(line).bits_per_second() / used - 1.0).max(0.0);
        is_sent.then(|| self.among(message, part, own / full, full, excess))
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
    };
    const DRAWS: u64 = 20_000;

    fn mean_ps(crowd: Crowd, walks: &[f64]) -> f64 {
        let draws = Draws::new(1, "test", "last packets");
        let waits = (0..DRAWS).map(|number| crowd.wait(walks, draws.of(number)).ps() as f64);
        waits.sum::<f64>() / DRAWS as f64
    }

    #[test]
    fn waits_are_those_of_a_random_walk() {
        // √(π / 8) times the root of 400 packets.
        let critical = 0.6267 * 20.0 * 100.0;
        assert!((mean_ps(CROWD, &[1.0]) / critical - 1.0).abs() < 0.03);
        assert!((mean_ps(CROWD, &[1.0; 4]) / critical - 4.0).abs() < 0.1);
        assert!((mean_ps(CROWD, &[0.25]) / critical - 0.5).abs() < 0.02);
        // Half of a packet: the queue seldom runs empty.
        let full = Crowd {
            excess: 1.0,
            ..CROWD
        };
        assert!((mean_ps(full, &[1.0]) - 50.0).abs() < 3.0);
        assert!(mean_ps(CROWD, &[]) < 1.0);
    }

    #[test]
    fn a_message_of_many_ends_before_others() {
        let many = Crowd {
            others: 1_000.0,
            ..CROWD
        };
        assert!(mean_ps(many, &[1.0]) < 20.0);
    }

    #[test]
    fn exponential_values_have_their_shares() {
        let draws = Draws::new(1, "test", "exponential");
        let values: Vec<f64> = (0..DRAWS)
            .map(|number| exponential(draws.at(number)))
            .collect();
        let mean = values.iter().sum::<f64>() / DRAWS as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        for limit in [0.1_f64, 0.5, 1.0, 3.0] {
            let above = values.iter().filter(|value| **value > limit).count();
            let share = above as f64 / DRAWS as f64;
            assert!((share - (-limit).exp()).abs() < 0.01, "{limit}: {share}");
        }
        assert!(exponential(0) < 64.0 && exponential(u64::MAX) < 1e-6);
    }
}
