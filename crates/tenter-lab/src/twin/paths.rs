//! The paths of queue pairs: those that the kernel says it chooses, beside those of the simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tenter_plan::Plan;
use tenter_sim::real_time::{RealBooks, RealHost, Slot};
use tenter_topology::{HostId, NodeId};

use crate::error::LabError;
use crate::fabric::{namespace, route_answers};

/// A queue pair whose data has a choice of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// Its source port.
    pub source_port: u16,
    /// The port by which the first switch sends it, in the simulation.
    pub simulated: u16,
    /// The same by the kernel's own answer.
    pub kernel: Option<u16>,
}

impl PathRow {
    /// Whether both choose alike.
    pub fn agrees(&self) -> bool {
        self.kernel == Some(self.simulated)
    }
}

/// The paths of all queue pairs of a plan whose switches are namespaces of a lab: each switch is
/// asked (`ip route get`) where it sends packets with their addresses and ports.
///
/// # Errors
/// When the plan cannot be built, or switches do not answer.
pub fn kernel_paths(lab: &str, plan: &Plan) -> Result<Vec<PathRow>, LabError> {
    let books = RealBooks::new(plan)?;
    let Some(paths) = books.hash_paths()? else {
        return Ok(Vec::new());
    };
    let topology = &plan.topology;
    // Of each pair of hosts the first port that is a choice, by the number of the queue pair.
    let mut simulated: BTreeMap<(HostId, HostId, u16), u16> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for path in &paths {
        let Some(first) = path.ports.first().filter(|_| path.ports.len() > 1) else {
            continue;
        };
        if seen.insert((path.from, path.to, path.queue_pair)) {
            let of_pair = (path.from, path.to, path.queue_pair.1);
            simulated.insert(of_pair, first.port);
        }
    }
    let mut asked: BTreeMap<NodeId, Vec<PathRow>> = BTreeMap::new();
    for from in topology.host_ids() {
        let host = RealHost::new(plan, from)?;
        let mut numbers: BTreeMap<HostId, u16> = BTreeMap::new();
        for way in host
            .ways()
            .iter()
            .filter(|way| matches!(way.own, Slot::Send(_)))
        {
            let number = numbers.entry(way.peer).or_default();
            let known = simulated.get(&(from, way.peer, *number));
            *number += 1;
            let Some(&port) = known else {
                continue;
            };
            let leaf = topology.neighbour(from, 0).node;
            asked.entry(leaf).or_default().push(PathRow {
                from: topology.name(from).to_owned(),
                to: topology.name(way.peer).to_owned(),
                source_port: way.source_port,
                simulated: port,
                kernel: None,
            });
        }
    }
    let mut rows = Vec::new();
    for (leaf, of_leaf) in asked {
        let answers = ask(lab, plan, leaf, &of_leaf)?;
        rows.extend(
            of_leaf
                .into_iter()
                .zip(answers)
                .map(|(row, kernel)| PathRow { kernel, ..row }),
        );
    }
    Ok(rows)
}

/// Where a switch sends packets of queue pairs.
fn ask(
    lab: &str,
    plan: &Plan,
    leaf: NodeId,
    rows: &[PathRow],
) -> Result<Vec<Option<u16>>, LabError> {
    let topology = &plan.topology;
    let address = |name: &str| {
        let host = topology.find(name).and_then(|node| topology.host(node));
        host.map_or(Ipv4Addr::UNSPECIFIED, |host| {
            Ipv4Addr::from(plan.addresses[host].address)
        })
    };
    let mut questions = String::new();
    for row in rows {
        let host = topology
            .find(&row.from)
            .and_then(|node| topology.host(node));
        let port = host.map_or(0, |host| topology.neighbour(host, 0).port);
        let _ = writeln!(
            questions,
            "route get {} from {} iif p{port} ipproto udp sport {} dport {}",
            address(&row.to),
            address(&row.from),
            row.source_port,
            crate::wire::ROCE_PORT,
        );
    }
    route_answers(&namespace(lab, topology.name(leaf)), &questions)
}
