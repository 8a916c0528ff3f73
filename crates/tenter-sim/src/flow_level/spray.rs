//! Packets that a message sends to each port where packets are sprayed. They are drawn for each
//! message, since a burst is never spread evenly.

use std::collections::BTreeMap;

use crate::fluid::Weight;
use tenter_engine::Draws;
use tenter_fabric::topology::{CableEnd, NodeId};

use crate::network::{Context, FlowKey};

use super::limits::{DRAWN, LeftOut};
use super::search::{Net, Stage};

/// Ports on all queue pairs' paths together, up to which packets are drawn. Beyond that the draws
/// would cost too much.
const PORTS_MAX: u64 = 1 << 21;

/// Packets that are drawn for one message. A longer message takes its parts from a sample, with
/// deviations scaled down to its length.
const SAMPLE: u32 = 1_024;

/// The draws that decide packets' ports.
#[derive(Clone, Debug)]
pub(super) struct Sprays {
    draws: Draws,
    /// True if any switch chooses by chance.
    pub(super) are_by_chance: bool,
    /// Queue pairs from one leaf to another, and from a leaf to all others.
    between: BTreeMap<(NodeId, NodeId), u32>,
    from: BTreeMap<NodeId, u32>,
}

impl Sprays {
    /// Creates the draws, if ports are drawn in this trial.
    pub(super) fn new(context: &Context) -> Option<Sprays> {
        let by_chance = |node| chooses_by_chance(context, node);
        let mut sprays = Sprays {
            draws: draws(context)?,
            are_by_chance: context.topology.switch_nodes().any(by_chance),
            between: BTreeMap::new(),
            from: BTreeMap::new(),
        };
        let topology = &context.topology;
        // Queue pairs stand for traffic: which of them send at once is not known in advance.
        for plan in &context.jobs {
            let leaf = |rank| topology.neighbour(plan.job.hosts[rank], 0).node;
            for rank in plan.job.hosts.ids() {
                for slot in plan.pairs.send_slots(rank) {
                    let leaves = (leaf(rank), leaf(plan.pairs.peer_of(rank, slot).rank));
                    if leaves.0 != leaves.1 {
                        *sprays.between.entry(leaves).or_default() += 1;
                        *sprays.from.entry(leaves.0).or_default() += 1;
                    }
                }
            }
        }
        Some(sprays)
    }

    /// Returns the draws that belong to a message alone.
    fn of_message(&self, burst: Burst) -> Draws {
        let Burst { key, turn, .. } = burst;
        self.draws.of(key.pack()).of(u64::from(turn))
    }

    /// Returns the draws for the last packet's wait. Packets use the low numbers, so `u64::MAX` is
    /// free.
    pub(super) fn of_last_packet(&self, burst: Burst) -> Draws {
        self.of_message(burst).of(u64::MAX)
    }

    /// Returns the fraction of a leaf's traffic to other leaves that goes to one leaf, by queue
    /// pairs.
    fn part(&self, leaves: (NodeId, NodeId)) -> f64 {
        let between = self.between.get(&leaves).copied().unwrap_or(0);
        let from = self.from.get(&leaves.0).copied().unwrap_or(1);
        f64::from(between) / f64::from(from)
    }
}

/// Returns the source for draws. `None` if no switch reorders packets, or if there are too many
/// ports.
fn draws(context: &Context) -> Option<Draws> {
    let drawn = is_sprayed(context) && ports(context) <= PORTS_MAX;
    drawn.then(|| Draws::new(context.seeds.hashing, "flow level", "ports of packets"))
}

/// Notes that packets are spread evenly if there are too many ports to draw.
pub(crate) fn note_even_spread(context: &Context, found: &mut Vec<LeftOut>) {
    if is_sprayed(context) && ports(context) > PORTS_MAX {
        found.retain(|of| of.text != DRAWN);
        found.push(LeftOut {
            text: "packets are spread perfectly evenly, as there are too many ways to draw the links of each message: a smaller trial with `--fidelity both` shows what that makes of it",
        });
    }
}

fn is_sprayed(context: &Context) -> bool {
    let mut switches = context.topology.switch_nodes();
    context.scheduled.is_none() && switches.any(|node| reorders(context, node))
}

/// Returns true if a switch chooses each packet's link by chance.
fn chooses_by_chance(context: &Context, node: NodeId) -> bool {
    reorders(context, node) && !evens_out(context, node)
}

fn reorders(context: &Context, node: NodeId) -> bool {
    context.switch(node).load_balancing.reorders()
}

/// Estimates the ports on all queue pairs' paths together, as if every path went through the
/// largest switches.
fn ports(context: &Context) -> u64 {
    let topology = &context.topology;
    let most = topology.switch_nodes().map(|node| topology.ports(node));
    let mut most = u64::from(most.max().unwrap_or(0));
    // Half of a switch's ports lead up, and each of them leads to another such switch.
    let tiers = topology
        .switch_nodes()
        .filter_map(|node| topology.tier(node));
    // Three tiers: a path goes up two switches, each with a choice.
    if tiers.max() > Some(1) {
        most += most * most / 2;
    }
    let pairs = context.jobs.iter().map(|plan| {
        let ranks = plan.job.hosts.ids();
        let counts = ranks.map(|rank| plan.pairs.send_count(rank) as u64);
        counts.sum::<u64>()
    });
    most.saturating_mul(pairs.sum())
}

/// The packets that make up a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    pub(super) key: FlowKey,
    /// Instance of the collective: each one is drawn anew.
    pub(super) turn: u32,
    pub(super) packets: u32,
}

/// A port on a sprayed path.
#[derive(Clone, Copy, Debug)]
struct Step {
    end: CableEnd,
    /// Part of all packets that take this port if they are spread evenly.
    part: Weight,
    /// Links between the leaves that packets have passed before.
    stage: u8,
    /// True if the switch itself keeps the spread even, by its queues or in turn.
    is_even: bool,
    /// First step at the switch behind the port, and the number of steps there: 0 at the last leaf.
    next: u32,
    choices: u32,
}

/// Ports on a sprayed path, switch by switch.
#[derive(Clone, Debug)]
pub(super) struct Spray {
    steps: Vec<Step>,
    /// Number of steps at the first leaf, which come first.
    first: u32,
    /// Factor on the unevenness that chance would give. It is below 1 if the leaf evens out its
    /// total: traffic to one other leaf is then a sample without replacement.
    evened: f64,
    /// True if all ports at each switch are equally likely.
    is_uniform: bool,
    /// For each tier from the first that chooses by chance, with k links: the variance of the
    /// packet count on one link, divided by n / k for n packets.
    pub(super) walks: Vec<f64>,
}

fn is_uniform(steps: &[Step]) -> bool {
    let mut pairs = steps.windows(2);
    pairs.all(|pair| pair[0].end.node != pair[1].end.node || pair[0].part == pair[1].part)
}

impl Spray {
    /// Creates the spray over `stages`; `None` if there is only one path.
    pub(super) fn new(
        net: Net<'_>,
        stages: &[Stage],
        sprays: &Sprays,
        leaves: (NodeId, NodeId),
    ) -> Option<Spray> {
        if stages.iter().all(|stage| stage.len() == 1) {
            return None;
        }
        let (mut steps, mut walks) = (Vec::new(), Vec::new());
        let mut is_by_chance = false;
        for (place, stage) in stages.iter().enumerate() {
            let behind = steps.len() + stage.len();
            let none = Stage::new();
            let beyond = stages.get(place + 1).unwrap_or(&none);
            for &(end, part) in stage {
                let node = net.topology.neighbour(end.node, end.port).node;
                let (first, choices) = run_of(beyond, node);
                let chooses = run_of(stage, end.node).1 > 1;
                is_by_chance |= chooses && chooses_by_chance(net.context, end.node);
                steps.push(Step {
                    end,
                    part,
                    stage: place as u8,
                    is_even: chooses && evens_out(net.context, end.node),
                    next: (behind + first) as u32,
                    choices: choices as u32,
                });
            }
            if is_by_chance {
                walks.push(1.0 - 1.0 / stage.len() as f64);
            }
        }
        let first = stages.first().map_or(0, |stage| stage.len() as u32);
        let evened = if evens_out(net.context, leaves.0) {
            (1.0 - sprays.part(leaves)).sqrt()
        } else {
            1.0
        };
        // The leaf sends all its traffic to this other leaf, and evens it out: nothing is left to
        // chance.
        if evened == 0.0 {
            return None;
        }
        let is_uniform = is_uniform(&steps);
        Some(Spray {
            steps,
            first,
            evened,
            is_uniform,
            walks,
        })
    }

    /// Draws a message. Returns each port with its part of the packets, and with the number of
    /// links between the leaves that were passed before.
    pub(super) fn parts(&self, sprays: &Sprays, burst: Burst) -> Vec<(CableEnd, Weight, u8)> {
        let packets = burst.packets;
        let draws = sprays.of_message(burst);
        let sample = packets.min(SAMPLE);
        let mut counts = vec![0_u32; self.steps.len()];
        let mut drawn = 0;
        for _ in 0..sample {
            let (mut first, mut choices) = (0, self.first);
            while choices > 0 {
                let place = first + self.pick(first, choices, draws, &mut drawn);
                let step = &self.steps[place as usize];
                counts[place as usize] += 1;
                (first, choices) = (step.next, step.choices);
            }
        }
        // Deviations of a count shrink with the root of the number of packets.
        let scale = (f64::from(sample) / f64::from(packets.max(1))).sqrt() * self.evened;
        let parts = self.steps.iter().zip(counts).filter_map(|(step, count)| {
            let even = step.part.share();
            let share = f64::from(count) / f64::from(sample.max(1));
            let part = if step.is_even {
                even
            } else {
                even + (share - even) * scale
            };
            let units = (part * WHOLE as f64).round() as u64;
            (units > 0).then(|| (step.end, Weight::of(units, WHOLE), step.stage))
        });
        parts.collect()
    }

    /// Draws the step that a packet takes at a switch, as an offset from `first`.
    fn pick(&self, first: u32, choices: u32, draws: Draws, drawn: &mut u64) -> u32 {
        if choices == 1 {
            return 0;
        }
        if self.is_uniform {
            *drawn += 1;
            return draws.below(*drawn, u64::from(choices)) as u32;
        }
        let steps = &self.steps[first as usize..][..choices as usize];
        let whole = steps.iter().map(|step| units(step.part)).sum();
        *drawn += 1;
        let mut left = draws.below(*drawn, whole);
        let place = steps.iter().position(|step| {
            let own = units(step.part);
            let is_it = left < own;
            left = left.saturating_sub(own);
            is_it
        });
        place.unwrap_or(0) as u32
    }
}

/// Units into which drawn parts are rounded.
const WHOLE: u64 = 1 << 20;

fn units(part: Weight) -> u64 {
    (part.share() * WHOLE as f64) as u64
}

/// Returns the index of a switch's first port in a stage, and its port count there.
fn run_of(stage: &Stage, node: NodeId) -> (usize, usize) {
    let first = stage.partition_point(|(end, _)| end.node < node);
    let rest = &stage[first..];
    (first, rest.partition_point(|(end, _)| end.node == node))
}

/// Returns true if a switch spreads packets evenly over its links.
fn evens_out(context: &Context, node: NodeId) -> bool {
    let balancing = &context.switch(node).load_balancing;
    balancing.reads_queues() || !balancing.reads_hash()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf with some ports, each of which leads to a switch with one.
    fn fan(ports: u32, is_even: bool) -> Spray {
        let step = |node: u32, port: u32, next: u32, choices: u32, is_even: bool| Step {
            stage: u8::from(choices == 0),
            end: CableEnd {
                node: NodeId::new(node),
                port: port as u16,
            },
            part: Weight::of(1, u64::from(ports)),
            is_even,
            next,
            choices,
        };
        let up = (0..ports).map(|port| step(0, port, ports + port, 1, is_even));
        let down = (0..ports).map(|port| step(1 + port, 0, 0, 0, false));
        Spray {
            steps: up.chain(down).collect(),
            first: ports,
            evened: 1.0,
            is_uniform: true,
            walks: vec![1.0 - 1.0 / f64::from(ports); 2],
        }
    }

    fn burst(packets: u32) -> Burst {
        Burst {
            key: FlowKey::default(),
            turn: 0,
            packets,
        }
    }

    fn sprays(seed: u64) -> Sprays {
        Sprays {
            draws: Draws::new(seed, "test", "parts"),
            are_by_chance: true,
            between: BTreeMap::new(),
            from: BTreeMap::new(),
        }
    }

    fn shares(parts: &[(CableEnd, Weight, u8)], of_leaf: bool) -> Vec<f64> {
        let own = parts
            .iter()
            .filter(|(end, _, _)| (end.node.number() == 0) == of_leaf);
        own.map(|(_, part, _)| part.share()).collect()
    }

    #[test]
    fn packets_are_all_somewhere_and_bursts_are_uneven() {
        let parts = fan(8, false).parts(&sprays(1), burst(64));
        let (up, down) = (shares(&parts, true), shares(&parts, false));
        assert_eq!(up, down, "each spine has one way on");
        assert!((up.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{up:?}");
        let most = up.iter().copied().fold(0.0, f64::max);
        assert!(most > 1.15 / 8.0, "{up:?}");
    }

    #[test]
    fn a_leaf_that_evens_out_leaves_the_links_down_uneven() {
        let parts = fan(8, true).parts(&sprays(1), burst(64));
        assert!(
            shares(&parts, true)
                .iter()
                .all(|part| (part - 0.125).abs() < 1e-5)
        );
        assert!(shares(&parts, false).iter().any(|part| *part > 0.14));
    }

    #[test]
    fn long_messages_are_as_even_as_their_packets() {
        // The standard deviation of one of eight parts of n packets is the root of 7/64 n.
        for (packets, most) in [(1_024, 0.04), (1 << 20, 0.002)] {
            let mut sum = 0.0;
            for seed in 0..64 {
                let parts = fan(8, false).parts(&sprays(seed), burst(packets));
                sum += shares(&parts, true)
                    .iter()
                    .map(|part| (part - 0.125).powi(2))
                    .sum::<f64>();
            }
            let found = (sum / 512.0).sqrt();
            let expected = (7.0 / 64.0 / f64::from(packets)).sqrt();
            assert!(
                found < most && (found / expected - 1.0).abs() < 0.1,
                "{found} {expected}"
            );
        }
    }
}
