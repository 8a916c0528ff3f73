//! Mapping from ranks to NPUs, and so to NICs.

use tenter::report::BenchDevice;
use tenter_fabric::topology::{HostId, TopologySpec};
use tenter_sim::plan::Plan;

use crate::command::arguments::{RankOrder, Ranks};
use crate::command::fabric_line::shared_by;

/// A benchmark's ranks and their places.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) threads_per_node: u32,
    pub(super) gpus: u32,
    /// Number of servers, or of what the user calls nodes.
    pub(super) nodes: u32,
    /// True if consecutive ranks are on one rail in different servers.
    pub(super) along_rails: bool,
    /// Number of ranks on each node.
    pub(super) per_node: u32,
    /// Host on which each rank runs.
    pub(super) hosts: Vec<HostId>,
    /// Each rank's process and device.
    places: Vec<(u32, u32)>,
}

/// Returns the server count in a rail fabric, and the NPU count in each.
fn servers(plan: &Plan) -> Option<(u32, u32)> {
    let (servers, nics) = match &plan.topology_spec {
        TopologySpec::Rail(rail) => (rail.servers, rail.nics_per_server),
        TopologySpec::RailOnly(rail) => (rail.servers, rail.nics_per_server),
        _ => return None,
    };
    Some((servers, nics * plan.npus_per_nic))
}

impl Layout {
    /// Places the ranks: on all NPUs of a fabric, or on as many as the user asked for. There is one
    /// NPU for each NIC, unless several share it. With `within_hosts`, ranks on one server must be
    /// consecutive.
    pub(super) fn of(ranks: &Ranks, plan: &Plan, within_hosts: bool) -> Result<Layout, String> {
        let (nics, npus) = (plan.topology.hosts as u32, plan.npus_per_nic);
        let rail = servers(plan);
        if ranks.order == Some(RankOrder::Rails) && rail.is_none() {
            return Err("`--order rails` needs a fabric of kind `rail` or `rail-only`".to_owned());
        }
        let threads_per_node = ranks.threads_per_node.unwrap_or(1);
        let gpus = ranks.gpus.unwrap_or(1);
        let asked = [ranks.nodes, ranks.threads_per_node, ranks.gpus];
        let all = asked.iter().all(Option::is_none);
        let (nodes, per_node) = match rail {
            Some(rail) if all => rail,
            None if all => (nics, npus),
            _ => (
                ranks.nodes.unwrap_or(1),
                threads_per_node.saturating_mul(gpus),
            ),
        };
        // In a rail fabric a node begins at each server. Elsewhere nodes follow each other, each
        // with NICs of its own.
        let whole = per_node.checked_next_multiple_of(npus).unwrap_or(u32::MAX);
        let stride = rail.map_or(whole, |(_, per_server)| per_server);
        let asked = Asked {
            nodes,
            per_node,
            stride,
        };
        // Before anything of this size is allocated.
        check_counts(&asked, plan, rail)?;
        if within_hosts && ranks.order == Some(RankOrder::Rails) {
            return Err("an algorithm with steps within hosts needs `--order hosts`".to_owned());
        }
        if within_hosts && rail.is_none() && all {
            return Err(
                "an algorithm with steps within hosts needs servers; give `--nodes` and `-g`, or a fabric of kind `rail`"
                    .to_owned(),
            );
        }
        // A launcher fills server after server. Without a scale-up domain that gains nothing, while
        // neighbours along a rail are on the same leaves.
        let by_default = rail.is_some() && plan.scale_up.is_none() && !within_hosts;
        let along_rails = match ranks.order {
            Some(order) => order == RankOrder::Rails,
            None => by_default,
        };
        let place = |rank: u32| {
            if along_rails {
                (rank % nodes, rank / nodes)
            } else {
                (rank / per_node, rank % per_node)
            }
        };
        let places: Vec<(u32, u32)> = (0..nodes * per_node).map(place).collect();
        let hosts = places.iter();
        let hosts = hosts.map(|(node, device)| HostId::new((node * stride + device) / npus));
        Ok(Layout {
            threads_per_node,
            gpus,
            nodes,
            along_rails,
            per_node,
            hosts: hosts.collect(),
            // By default every rank is a process of its own.
            places: if all {
                (0..nodes * per_node).map(|rank| (rank, 0)).collect()
            } else {
                places
            },
        })
    }

    pub(super) fn ranks(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Lists the ranks for the table's header.
    pub(super) fn devices(&self, plan: &Plan) -> Vec<BenchDevice> {
        let ranks = self.hosts.iter().zip(&self.places);
        let device = |(&host, &(process, device)): (&HostId, &(u32, u32))| {
            let topology = &plan.topology;
            BenchDevice {
                process,
                host: topology.name(host).to_owned(),
                device,
                about: format!("NIC {}", topology.line_rate(host)),
            }
        };
        ranks.map(device).collect()
    }
}

/// Ranks that the user asked for.
struct Asked {
    nodes: u32,
    per_node: u32,
    /// NPUs from one node's first to the next node's first.
    stride: u32,
}

/// Returns the setting that makes the fabric large enough, if one key does it.
fn larger(plan: &Plan, nodes: u32) -> String {
    match plan.topology_spec {
        TopologySpec::Rail(_) | TopologySpec::RailOnly(_) => {
            format!(": `--set fabric.servers={nodes}`")
        }
        _ => String::new(),
    }
}

fn check_counts(asked: &Asked, plan: &Plan, rail: Option<(u32, u32)>) -> Result<(), String> {
    let (nics, npus) = (plan.topology.hosts as u32, plan.npus_per_nic);
    let Asked {
        nodes,
        per_node,
        stride,
    } = *asked;
    let ranks = u64::from(nodes) * u64::from(per_node);
    if ranks < 2 {
        let help = "give `--nodes` or `-g`, or leave both out for all NICs";
        return Err(format!("a collective needs 2 ranks or more; {help}"));
    }
    if u64::from(nodes) * u64::from(stride) > u64::from(nics) * u64::from(npus) && rail.is_none()
        || ranks > u64::from(nics) * u64::from(npus)
    {
        let (shared, larger) = (shared_by(npus), larger(plan, nodes));
        return Err(format!(
            "{nodes} nodes with {per_node} GPUs are {ranks} ranks, and the fabric has {nics} NICs{shared}; ask for fewer, or for a larger fabric{larger}"
        ));
    }
    match rail {
        Some((servers, per_server)) if nodes > servers || per_node > per_server => {
            let what = if npus > 1 { "NPUs" } else { "NICs" };
            Err(format!(
                "{nodes} nodes with {per_node} GPUs do not fit {servers} servers with {per_server} {what}; ask for at most `--nodes {servers} -g {per_server}`"
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::fabric::Fabric;

    fn plan(preset: &str) -> Plan {
        let fabric = Fabric::find(preset).expect("a preset");
        let plan = fabric.alone(&[]).expect("presets are valid");
        plan.resolved().clone()
    }

    fn layout(
        preset: &str,
        ranks: [Option<u32>; 3],
        order: Option<RankOrder>,
    ) -> Result<Layout, String> {
        let [nodes, threads_per_node, gpus] = ranks;
        let ranks = Ranks {
            nodes,
            threads_per_node,
            gpus,
            order,
        };
        Layout::of(&ranks, &plan(preset), false)
    }

    #[test]
    fn npus_that_share_nics() {
        let layout = |preset: &str, nodes: Option<u32>, gpus: Option<u32>| {
            let shared = Plan {
                npus_per_nic: 4,
                ..plan(preset)
            };
            let ranks = Ranks {
                nodes,
                threads_per_node: None,
                gpus,
                order: Some(RankOrder::Hosts),
            };
            Layout::of(&ranks, &shared, false)
        };
        let rail = layout("rail-64", None, None).expect("fits");
        assert_eq!((rail.ranks(), rail.per_node), (256, 32));
        assert!(numbers(&rail).into_iter().eq((0..256).map(|npu| npu / 4)));
        // Six NPUs take a NIC and a half; the next node has NICs of its own.
        let leaf = layout("leaf-spine-64", Some(2), Some(6)).expect("fits");
        assert_eq!(numbers(&leaf), [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3]);
        let refused = layout("leaf-spine-64", Some(33), Some(6)).expect_err("too much");
        assert!(refused.contains("64 NICs with 4 NPUs each"), "{refused}");
    }

    fn numbers(layout: &Layout) -> Vec<u32> {
        layout.hosts.iter().map(|host| host.number()).collect()
    }

    #[test]
    fn all_nics_along_the_rails() {
        let all = layout("rail-64", [None; 3], None).expect("fits");
        assert_eq!(numbers(&all)[..9], [0, 8, 16, 24, 32, 40, 48, 56, 1]);
        let by_host = layout("rail-64", [None; 3], Some(RankOrder::Hosts)).expect("fits");
        assert!(numbers(&by_host).into_iter().eq(0..64));
        let devices = all.devices(&plan("rail-64"));
        assert_eq!(devices[1].host, "server1/nic0");
        assert_eq!((devices[1].process, devices[1].device), (1, 0));
        assert_eq!(devices[1].about, "NIC 400Gbps");
    }

    #[test]
    fn some_nics_of_some_servers() {
        let some = layout("rail-64", [Some(2), None, Some(2)], None).expect("fits");
        assert_eq!(numbers(&some), [0, 8, 1, 9]);
        assert_eq!(some.places, [(0, 0), (1, 0), (0, 1), (1, 1)]);
        let one = layout("rail-64", [None, Some(2), Some(4)], None).expect("fits");
        assert!(numbers(&one).into_iter().eq(0..8));
        let leaf = layout("leaf-spine-64", [Some(2), None, Some(3)], None).expect("fits");
        assert!(numbers(&leaf).into_iter().eq(0..6));
        assert_eq!(leaf.places[4], (1, 1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |preset, ranks, order| layout(preset, ranks, order).expect_err("too much");
        assert!(refused("rail-64", [Some(9), None, Some(8)], None).contains("72 ranks"));
        assert!(refused("rail-64", [Some(1), None, Some(9)], None).contains("--nodes 8 -g 8"));
        assert!(refused("rail-64", [Some(1), None, None], None).contains("2 ranks"));
        let order = Some(RankOrder::Rails);
        assert!(refused("leaf-spine-64", [None; 3], order).contains("kind `rail`"));
    }
}
