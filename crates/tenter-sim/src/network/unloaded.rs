//! How long flows of a workload would take alone.

use std::collections::BTreeMap;

use tenter_endpoint::NicSpec;
use tenter_plan::Plan;
use tenter_plan::unloaded::{Link, links, request_time};
use tenter_topology::Routing;
use tenter_units::Time;
use tenter_workload::{Job, RankId};

/// The ways of a workload, by the links on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unloaded {
    paths: Vec<Vec<Link>>,
    /// The planes that each flow takes.
    planes: u16,
    /// For each way which of them it is.
    of_way: Vec<u32>,
}

/// Sizes whose times are remembered, for all paths together.
const REMEMBERED: usize = 1 << 14;

impl Unloaded {
    /// Of a job; nothing is known of collectives, nor in a scheduled fabric or within hosts.
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

/// Times that have been asked for.
#[derive(Debug, Default)]
pub(crate) struct Remembered(BTreeMap<(u32, u64), Time>);

impl Remembered {
    /// How long a flow of a way takes alone; none where that is not known.
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
        if self.0.len() < REMEMBERED {
            self.0.insert((path, bytes), time);
        }
        Some(time)
    }
}
