//! Ports that a scenario names for recordings.

use tenter_notation::decode::{Read, suggestion};
use tenter_notation::diagnostics::{Path, quote};
use tenter_topology::Topology;

/// Which nodes have the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// Switches alone.
    Switches,
    /// Switches and NICs; the name of a NIC is that of its port, too.
    All,
}

/// The ports that words name, in their order, none twice.
pub(crate) fn bind(
    words: &[String],
    path: &Path<'_>,
    (topology, nodes): (&Topology, Nodes),
) -> Read<Vec<(u32, u16)>> {
    let bound: Vec<_> = words
        .iter()
        .enumerate()
        .map(|(index, word)| port(word, &path.item(index), topology, nodes))
        .collect();
    let mut ports = bound.into_iter().collect::<Option<Vec<(u32, u16)>>>()?;
    ports.sort_unstable();
    ports.dedup();
    Some(ports)
}

/// The port that a word names.
fn port(word: &str, path: &Path<'_>, topology: &Topology, nodes: Nodes) -> Read<(u32, u16)> {
    let hosts = &topology.nodes[..topology.hosts];
    let host = hosts.iter().position(|node| node.name == word);
    if let (Some(host), Nodes::All) = (host, nodes) {
        return Some((host as u32, 0));
    }
    let Some((name, number)) = word.rsplit_once(':') else {
        let what = format!("must be a port, not {}", quote(word));
        path.problem(&what, "write `NODE:PORT`, for example `leaf0:8`");
        return None;
    };
    let first = if nodes == Nodes::All {
        0
    } else {
        topology.hosts
    };
    let candidates = &topology.nodes[first..];
    let Some(index) = candidates.iter().position(|node| node.name == name) else {
        let names = candidates.iter().map(|node| node.name.as_str());
        let kind = if nodes == Nodes::All {
            "node"
        } else {
            "switch"
        };
        let what = format!("names {}, which is no {kind}", quote(name));
        path.problem(&what, suggestion(name, names));
        return None;
    };
    let ports = candidates[index].ports.len();
    match number.parse::<u16>() {
        Ok(number) if usize::from(number) < ports => Some(((first + index) as u32, number)),
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
