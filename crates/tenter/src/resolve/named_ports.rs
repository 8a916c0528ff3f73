//! Ports that a scenario names for recordings.

use tenter_fabric::topology::{CableEnd, Topology};
use tenter_language::notation::decode::Read;
use tenter_language::notation::diagnostics::{Path, quote};
use tenter_language::units::suggestion;

/// Nodes whose ports may be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// Ports on switches, but not on NICs.
    Switches,
    /// Switches and NICs; a NIC's name also names its port if it has only one.
    All,
}

/// Returns the ports that `words` name, in ascending order without repetition.
pub(crate) fn bind(
    words: &[String],
    path: &Path<'_>,
    topology: &Topology,
    nodes: Nodes,
) -> Read<Vec<CableEnd>> {
    let bound: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(index, word)| port(word, &path.item(index), topology, nodes))
        .collect();
    let mut ports = bound.into_iter().collect::<Option<Vec<CableEnd>>>()?;
    // Recordings go port after port, whatever order the scenario has.
    ports.sort_unstable();
    ports.dedup();
    Some(ports)
}

/// Returns the port that a word names.
fn port(word: &str, path: &Path<'_>, topology: &Topology, nodes: Nodes) -> Read<CableEnd> {
    let host = topology
        .host_ids()
        .find(|&host| topology.name(host) == word);
    if let (Some(host), Nodes::All) = (host, nodes) {
        if topology.nic_ports > 1 {
            let what = format!("names {}, which has several ports", quote(word));
            let last = topology.nic_ports - 1;
            path.problem(&what, format!("write `{word}:0` to `{word}:{last}`"));
            return None;
        }
        return Some(CableEnd {
            node: host.node(),
            port: 0,
        });
    }
    let Some((name, number)) = word.rsplit_once(':') else {
        let what = format!("must be a port, not {}", quote(word));
        path.problem(&what, "write `NODE:PORT`, for example `leaf0:8`");
        return None;
    };
    let hosts = topology.hosts;
    // Switches follow the hosts in the order of nodes.
    let first = if nodes == Nodes::All { 0 } else { hosts };
    let mut candidates = topology.node_ids().skip(first);
    let names = candidates.clone().map(|node| topology.name(node));
    let Some(node) = candidates.find(|&node| topology.name(node) == name) else {
        let kind = if nodes == Nodes::All {
            "node"
        } else {
            "switch"
        };
        let what = format!("names {}, which is no {kind}", quote(name));
        path.problem(&what, suggestion(name, names));
        return None;
    };
    let ports = topology.ports(node);
    match number.parse::<u16>() {
        Ok(port) if port < ports => Some(CableEnd { node, port }),
        _ => {
            let what = format!("names no port of {}", quote(name));
            let help = match ports.checked_sub(1) {
                Some(last) => format!("its ports are 0 to {last}"),
                None => "it has no ports; name another node".to_owned(),
            };
            path.problem(&what, help);
            None
        }
    }
}
