//! Traffics that follow each other.

use std::collections::BTreeSet;

use tenter_topology::Topology;

use crate::matching::Demand;
use crate::traffic::{Traffic, time_of};
use tenter_units::Rate;

/// The busiest NIC of a job needs this time for all that it sends, once jobs count alike.
const UNIT_TIME: u128 = 1 << 58;
/// With more scenes than this, jobs count by all that they send.
const SCENES_MAX: usize = 16;

/// The traffic at different times: the phases of applications. The traffic of one phase cannot use
/// links that are idle in another.
#[derive(Clone, Debug)]
pub struct Scenes {
    scenes: Vec<Traffic>,
}

impl Scenes {
    /// One traffic, for as long as it lasts.
    pub fn of(traffic: Traffic) -> Scenes {
        Scenes {
            scenes: vec![traffic],
        }
    }

    /// Jobs that run at the same time, each with its phases. Jobs count alike: the NICs of each are
    /// busy all the time. How the phases of several jobs coincide is unknown: while one has a phase
    /// the others send their average.
    pub fn of_jobs(topology: &Topology, jobs: &[&[Traffic]]) -> Scenes {
        let time = |of: &Traffic| of.busiest_nic(topology);
        let alike: Vec<Vec<Traffic>> = jobs
            .iter()
            .map(|phases| {
                let all = phases.iter().map(time).sum();
                phases.iter().map(|of| of.scaled(UNIT_TIME, all)).collect()
            })
            .collect();
        let sum = |traffics: &[Traffic]| {
            let mut sum = Traffic::new(topology);
            for of in traffics {
                sum.add_all(of);
            }
            sum
        };
        let sums: Vec<Traffic> = alike.iter().map(|phases| sum(phases)).collect();
        if alike.iter().map(Vec::len).sum::<usize>() > SCENES_MAX {
            return Scenes::of(sum(&sums));
        }
        let mut scenes = Vec::new();
        for (job, phases) in alike.iter().enumerate() {
            for phase in phases {
                let mut scene = phase.clone();
                let others = sums.iter().enumerate().filter(|(other, _)| *other != job);
                for (_, of) in others {
                    scene.add_all(&of.scaled(time(phase), UNIT_TIME));
                }
                scenes.push(scene);
            }
        }
        Scenes { scenes }
    }

    /// Whether nothing is sent from leaf to leaf.
    pub fn is_empty(&self) -> bool {
        self.scenes.iter().all(Traffic::is_empty)
    }

    /// The time of the busiest NICs of all scenes together, in the unit of time of
    /// [`Estimate`](crate::Estimate).
    pub fn nic_time(&self, topology: &Topology) -> u128 {
        let times = self.scenes.iter().map(|of| of.busiest_nic(topology));
        times.sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Traffic> {
        self.scenes.iter()
    }

    /// The demand for a matching: all of it, but for some pairs of leaves.
    pub(crate) fn demand(&self, without: &BTreeSet<(u32, u32)>) -> Demand {
        let leaves = self.scenes.first().map_or(0, Traffic::leaves);
        let sends = self.scenes.iter().flat_map(Traffic::between);
        let kept = sends.filter(|(a, b, _)| !without.contains(&(*a.min(b), *a.max(b))));
        Demand::of(leaves, kept)
    }

    /// The time of all scenes if two leaves have only a number of links for the traffic between
    /// them.
    pub(crate) fn time_of_pair(&self, nics: &[u128], a: u32, b: u32, links: Links) -> u128 {
        let times = self.scenes.iter().zip(nics).map(|(scene, nic)| {
            let most = scene.sent(a, b).max(scene.sent(b, a));
            in_use(time_of(most.div_ceil(links.count), links.rate)).max(*nic)
        });
        times.sum()
    }
}

/// Equal links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) count: u64,
    pub(crate) rate: Rate,
}

/// The time of a link whose frames need some time: they do not come evenly, so it is idle for a
/// fifth of it before it holds up a NIC that is busy all the time. Assumed.
pub(crate) fn in_use(time: u128) -> u128 {
    time.saturating_mul(5) / 4
}

/// The amount that a link carries in a time, idle for a fifth of it.
pub(crate) fn amount_in(time: u128, rate: Rate) -> u64 {
    let bits = u128::from(rate.bits_per_second());
    let amount = ((time / 5 * 4).saturating_mul(bits) / 1_000_000_000_000) >> 20;
    amount.min(u128::from(u64::MAX)) as u64
}
