//! Port counters of namespace switches.

use serde_json::Value;
use tenter_fabric::topology::{NodeId, Topology};
use tenter_sim::real_time::{Counter, PortCounts};

use super::commands::run;
use super::wiring::{device, namespace};
use crate::error::LabError;

/// FCS bytes per frame, which the kernel does not count.
const FCS_BYTES: u64 = 4;

/// Reads the counters of all switch ports in a lab.
///
/// # Errors
/// Returns an error if `ip` or `tc` fails in a namespace.
pub(crate) fn switch_counts(lab: &str, topology: &Topology) -> Result<Vec<PortCounts>, LabError> {
    let mut counts = Vec::new();
    for node in topology.node_ids().filter(|&node| !topology.is_host(node)) {
        counts.extend(of_node(lab, topology, node)?);
    }
    Ok(counts)
}

fn of_node(lab: &str, topology: &Topology, node: NodeId) -> Result<Vec<PortCounts>, LabError> {
    let name = namespace(lab, topology.name(node));
    let links = parsed(&run("ip", &["-n", &name, "-j", "-s", "link"])?);
    let queues = parsed(&run("tc", &["-n", &name, "-j", "-s", "qdisc"])?);
    let ports = 0..topology.ports(node);
    let counts = ports.map(|port| {
        let device = device(port);
        let link = find(&links, "ifname", &device);
        let stats = |way: &str, key: &str| {
            let of = link.and_then(|link| link.get("stats64")?.get(way));
            of.and_then(|of| of.get(key)).and_then(Value::as_u64)
        };
        let with_fcs = |way: &str| {
            let frames = stats(way, "packets")?;
            Some(stats(way, "bytes")? + frames * FCS_BYTES)
        };
        let queue = find(&queues, "dev", &device);
        let drops = queue
            .and_then(|queue| queue.get("drops"))
            .and_then(Value::as_u64);
        let own = [
            (Counter::TxFrames, stats("tx", "packets")),
            (Counter::TxBytes, with_fcs("tx")),
            (Counter::RxFrames, stats("rx", "packets")),
            (Counter::RxBytes, with_fcs("rx")),
            (Counter::DroppedFrames, drops),
        ];
        // What the kernel does not report stays out, and so counts as unread.
        let known = |(counter, count): (Counter, Option<u64>)| Some((counter, count?));
        PortCounts {
            node: node.number(),
            port,
            own: own.into_iter().filter_map(known).collect(),
            ..PortCounts::default()
        }
    });
    Ok(counts.collect())
}

fn parsed(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap_or_default()
}

fn find<'v>(values: &'v [Value], key: &str, name: &str) -> Option<&'v Value> {
    let is = |value: &&Value| value.get(key).and_then(Value::as_str) == Some(name);
    values.iter().find(is)
}

/// Returns each port's growth since `before`.
pub(crate) fn since(now: &[PortCounts], before: &[PortCounts]) -> Vec<PortCounts> {
    let of = now.iter().map(|port| {
        let mut others = before.iter();
        let then = others.find(|other| (other.node, other.port) == (port.node, port.port));
        let then = then.map(|then| &then.own);
        let less = |(&counter, &count): (&Counter, &u64)| {
            let before = then.and_then(|then| then.get(&counter)).copied();
            (counter, count.saturating_sub(before.unwrap_or(0)))
        };
        PortCounts {
            own: port.own.iter().map(less).collect(),
            ..port.clone()
        }
    });
    of.collect()
}
