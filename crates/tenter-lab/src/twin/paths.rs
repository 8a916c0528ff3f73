//! Paths that queue pairs take: the kernel's choice beside the simulation's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tenter_fabric::topology::{HostId, NodeId};
use tenter_sim::plan::Plan;
use tenter_sim::real_time::{RealBooks, RealHost, Slot};

use crate::error::LabError;
use crate::fabric::{namespace, route_answers};

/// A queue pair with a choice between links, and its first choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// Name of the host that sends the data.
    pub from: String,
    /// Name of the host that receives the data.
    pub to: String,
    /// UDP source port, which decides the choice.
    pub source_port: u16,
    /// Output port at the first switch in the simulation.
    pub simulated: u16,
    /// Output port at that switch by the kernel's own answer; `None` if it gave none.
    pub kernel: Option<u16>,
}

impl PathRow {
    /// Returns true if kernel and simulation choose the same port.
    pub fn agrees(&self) -> bool {
        self.kernel == Some(self.simulated)
    }
}

/// Returns the paths, in a lab of namespaces, for queue pairs that have a choice between links.
///
/// Each leaf's kernel answers (`ip route get`) where it would send packets with their addresses and
/// ports.
///
/// # Errors
/// Returns an error if the plan cannot be built, or if `ip` fails.
pub fn kernel_paths(lab: &str, plan: &Plan) -> Result<Vec<PathRow>, LabError> {
    let books = RealBooks::new(plan)?;
    let Some(paths) = books.hash_paths()? else {
        return Ok(Vec::new());
    };
    let topology = &plan.topology;
    // For each pair of hosts and number of a queue pair between them: the first port that was a
    // choice. A path with one port has none.
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
        // Queue pairs to a peer are numbered in the order of the host's list.
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

/// Asks the kernel of `leaf` where it would send the data described by `rows`.
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
