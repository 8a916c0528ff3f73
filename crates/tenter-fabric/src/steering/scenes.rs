//! Scenes: traffics that follow one another in time.

use std::collections::BTreeSet;

use crate::topology::Topology;

use crate::steering::matching::Demand;
use crate::steering::traffic::{Traffic, time_of};
use tenter_language::units::Rate;

/// Time that a job's busiest NIC needs for all that it sends, once jobs have been scaled to count
/// alike.
const UNIT_TIME: u128 = 1 << 58;
/// Most scenes. With more, each job counts by the sum over its phases.
const SCENES_MAX: usize = 16;

/// Traffic at different times, such as an application's phases. Traffic in one phase cannot use
/// links that are idle in another.
#[derive(Clone, Debug)]
pub struct Scenes {
    scenes: Vec<Traffic>,
}

impl Scenes {
    /// Makes a single scene from a traffic that lasts.
    pub fn of(traffic: Traffic) -> Scenes {
        Scenes {
            scenes: vec![traffic],
        }
    }

    /// Makes scenes from jobs that run at the same time, each with its phases. Jobs count alike, as
    /// if the NICs in each were busy all the time. It is unknown how the phases of several jobs
    /// coincide, so for each phase in one job the others send their average.
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
                    // The others' average for as long as this phase takes.
                    scene.add_all(&of.scaled(time(phase), UNIT_TIME));
                }
                scenes.push(scene);
            }
        }
        Scenes { scenes }
    }

    /// Returns true if nothing is sent from leaf to leaf.
    pub fn is_empty(&self) -> bool {
        self.scenes.iter().all(Traffic::is_empty)
    }

    /// Returns the time that the busiest NICs need, summed over scenes, in the unit of
    /// [`Estimate`](crate::steering::Estimate).
    pub fn nic_time(&self, topology: &Topology) -> u128 {
        let times = self.scenes.iter().map(|of| of.busiest_nic(topology));
        times.sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Traffic> {
        self.scenes.iter()
    }

    /// Returns the demand for a matching, summed over scenes, except for the leaf pairs in
    /// `without`.
    pub(crate) fn demand(&self, without: &BTreeSet<(u32, u32)>) -> Demand {
        let leaves = self.scenes.first().map_or(0, Traffic::leaves);
        let sends = self.scenes.iter().flat_map(Traffic::between);
        let kept = sends.filter(|(a, b, _)| !without.contains(&(*a.min(b), *a.max(b))));
        Demand::of(leaves, kept)
    }

    /// Returns the time for all scenes if two leaves have only `links` for the traffic between
    /// them. `nics` has the busiest NIC's time in each scene.
    pub(crate) fn time_of_pair(&self, nics: &[u128], a: u32, b: u32, links: Links) -> u128 {
        let times = self.scenes.iter().zip(nics).map(|(scene, nic)| {
            let most = scene.sent(a, b).max(scene.sent(b, a));
            in_use(time_of(most.div_ceil(links.count), links.rate)).max(*nic)
        });
        times.sum()
    }
}

/// Parallel links with equal rates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) count: u64,
    pub(crate) rate: Rate,
}

/// Extends a link's serialisation time by a quarter. Frames do not come evenly, so a link must be
/// idle for a fifth of the time if it is not to hold up a NIC that is busy all the time. The fifth
/// is assumed.
pub(crate) fn in_use(time: u128) -> u128 {
    time.saturating_mul(5) / 4
}

/// Returns the amount that a link carries in `time` if it is idle for a fifth of it.
pub(crate) fn amount_in(time: u128, rate: Rate) -> u64 {
    let bits = u128::from(rate.bits_per_second());
    // Inverse of `time_of`, after taking off the idle fifth.
    let amount = ((time / 5 * 4).saturating_mul(bits) / 1_000_000_000_000) >> 20;
    amount.min(u128::from(u64::MAX)) as u64
}
