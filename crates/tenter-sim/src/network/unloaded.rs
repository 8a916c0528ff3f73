//! Unloaded times for the flows of a workload.

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::plan::unloaded::{Link, links, request_time};
use tenter_endpoint::NicSpec;
use tenter_fabric::topology::Routing;
use tenter_language::units::Time;
use tenter_workload::{Job, RankId};

/// The paths in a flow workload, each distinct list of links once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unloaded {
    /// The distinct paths; empty for those within a host.
    paths: Vec<Vec<Link>>,
    /// Planes over which each flow is distributed.
    planes: u16,
    /// For each pair of ranks in the workload, its path's index.
    of_way: Vec<u32>,
}

/// Most times that are remembered, for all paths together.
const REMEMBERED: usize = 1 << 14;

impl Unloaded {
    /// Collects the paths of a job. There are none for collectives and in a scheduled fabric, and
    /// paths within a host are empty: their unloaded times are unknown.
    pub(crate) fn new(plan: &Plan, routing: &Routing, job: &Job) -> Unloaded {
        let mut unloaded = Unloaded {
            planes: plan.sprayed_planes(),
            ..Unloaded::default()
        };
        let flows = job
            .sequence
            .first()
            .and_then(|run| run.traffic.flow_workload());
        let Some(workload) = flows.filter(|_| plan.scheduled.is_none()) else {
            return unloaded;
        };
        let mut numbers: BTreeMap<Vec<Link>, u32> = BTreeMap::new();
        for way in &workload.ways {
            let [from, to] = [way.src, way.dst].map(|rank| job.hosts[RankId::new(rank)]);
            let links = if plan.is_within_domain(from, to) {
                Vec::new()
            } else {
                links(plan, routing, from, to)
            };
            let next = unloaded.paths.len() as u32;
            let number = *numbers.entry(links.clone()).or_insert(next);
            if number == next {
                unloaded.paths.push(links);
            }
            unloaded.of_way.push(number);
        }
        unloaded
    }
}

/// Unloaded times by path and size, so that each is computed once.
#[derive(Debug, Default)]
pub(crate) struct Remembered(BTreeMap<(u32, u64), Time>);

impl Remembered {
    /// Returns the unloaded time for a flow of `bytes` between pair number `way`; `None` if it is
    /// unknown.
    pub(crate) fn time(
        &mut self,
        unloaded: &Unloaded,
        nic: &NicSpec,
        way: usize,
        bytes: u64,
    ) -> Option<Time> {
        let path = *unloaded.of_way.get(way)?;
        if let Some(&time) = self.0.get(&(path, bytes)) {
            return Some(time);
        }
        let links = &unloaded.paths[path as usize];
        if links.is_empty() {
            return None;
        }
        let time = request_time(nic, links, unloaded.planes, bytes);
        // Sizes may all be different, so the memory for them is bounded.
        if self.0.len() < REMEMBERED {
            self.0.insert((path, bytes), time);
        }
        Some(time)
    }
}
