//! Fabric and rank placement in a scenario that has not run.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::Serialize;
use tenter::{Budget, NodeId, Plan};
use tenter_fabric::topology::NodeKind;
use utoipa::ToSchema;

use super::check::ScenarioText;
use crate::server::error::{ApiError, ErrorBody};
use crate::server::extract::Body;
use crate::server::resolve::resolve;
use crate::server::state::Shared;
use crate::server::turns::{Client, whose};

/// A fabric as a graph.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct FabricBody {
    /// The kind of the topology.
    kind: String,
    /// How many tiers there are, that of the hosts among them.
    tiers: u32,
    /// Hosts first.
    nodes: Vec<NodeBody>,
    /// Every cable once.
    links: Vec<LinkBody>,
}

/// A host (one NIC) or a switch.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct NodeBody {
    /// Its number in every table.
    id: usize,
    name: String,
    /// 0 for hosts, 1 for the switches that they are cabled to, and so on.
    tier: u32,
    kind: NodeKindWord,
    /// Its pod, group or region, where there is any.
    group: Option<u32>,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NodeKindWord {
    Host,
    Switch,
}

/// A cable.
#[derive(Clone, Serialize, ToSchema)]
pub(crate) struct LinkBody {
    /// The node at its first end.
    a: usize,
    /// The node at its other end.
    b: usize,
    /// The port at its first end.
    a_port: u16,
    /// The port at its other end.
    b_port: u16,
    rate_bps: u64,
}

/// Returns a plan's fabric as a graph: nodes and links.
pub(crate) fn fabric_of(plan: &Plan) -> FabricBody {
    let plan = plan.resolved();
    let topology = &plan.topology;
    let mut nodes: Vec<NodeBody> = topology
        .nodes
        .numbered()
        .map(|(id, node)| {
            let (tier, kind) = match node.kind {
                NodeKind::Host => (0, NodeKindWord::Host),
                // (u32::from(tier) + 1 =>
                NodeKind::Switch { tier } => (u32::from(tier) + 1, NodeKindWord::Switch),
            };
            NodeBody {
                id: id.index(),
                name: node.name.clone(),
                tier,
                kind,
                group: group_in(&node.name).or_else(|| topology.region(id)),
            }
        })
        .collect();
    // A host joins the group of its leaf. With several planes it has a leaf in each, and no group.
    for host in (0..topology.hosts).filter(|_| topology.nic_ports == 1) {
        let leaf = topology.neighbour(NodeId::new(host as u32), 0).node;
        nodes[host].group = nodes[leaf.index()].group;
    }
    let links = topology.cables.iter().map(|cable| {
        let [a, b] = cable.ends;
        LinkBody {
            a: a.node.index(),
            b: b.node.index(),
            a_port: a.port,
            b_port: b.port,
            rate_bps: cable.rate.bits_per_second(),
        }
    });
    FabricBody {
        kind: plan.topology_spec.word().to_owned(),
        tiers: nodes.iter().map(|node| node.tier + 1).max().unwrap_or(0),
        links: links.collect(),
        nodes,
    }
}

/// Returns the group number in a name's first part: 1 for `pod1/agg0`.
fn group_in(name: &str) -> Option<u32> {
    let (group, _) = name.split_once('/')?;
    let digits = group.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

/// The fabric of a scenario.
#[utoipa::path(post, path = "/fabric", tag = "scenarios", request_body = ScenarioText,
    params(Client),
    responses(
        (status = 200, body = FabricBody),
        (status = 409, body = ErrorBody, description = "a newer request of the client came"),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn fabric(
    State(app): State<Shared>,
    headers: HeaderMap,
    Body(asked, _held): Body<ScenarioText>,
) -> Result<Json<FabricBody>, ApiError> {
    let work = move |budget: &Budget| Ok(Json(fabric_of(&resolve(&asked.text, budget)?)));
    app.turns.take(whose(&headers, "fabric"), work).await
}

/// Which rank of which job is where.
#[derive(Serialize, ToSchema)]
pub(crate) struct MappingBody {
    jobs: Vec<JobMapping>,
    /// All hosts of the fabric.
    hosts: Vec<HostBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct JobMapping {
    name: String,
    background: bool,
    ranks: Vec<RankBody>,
}

/// The place of a rank.
#[derive(Serialize, ToSchema)]
pub(crate) struct RankBody {
    rank: usize,
    /// Name of its host, which is its NIC.
    host: String,
    /// Number of the host.
    node: usize,
    /// Name of the leaf that it is cabled to.
    leaf: String,
    /// The port of the leaf, for instance `leaf0:3`.
    port: String,
    /// IPv4 address of the NIC.
    address: Option<String>,
}

/// A host and the leaf that it is cabled to.
#[derive(Serialize, ToSchema)]
pub(crate) struct HostBody {
    name: String,
    leaf: String,
    port: String,
}

fn mapping_of(plan: &Plan) -> MappingBody {
    let plan = plan.resolved();
    let topology = &plan.topology;
    let of_host = |host: u32| {
        let end = topology.neighbour(NodeId::new(host), 0);
        let leaf = topology.name(end.node).to_owned();
        (leaf, topology.port_name(end.node, end.port))
    };
    let rank_body = |(rank, host): (usize, &tenter::HostId)| {
        let (leaf, port) = of_host(host.number());
        let address = plan.addresses.get(host.index());
        RankBody {
            rank,
            host: topology.name(NodeId::new(host.number())).to_owned(),
            node: host.index(),
            leaf,
            port,
            address: address.map(|nic| std::net::Ipv4Addr::from(nic.address).to_string()),
        }
    };
    let jobs = plan.jobs.iter().map(|job| JobMapping {
        name: job.name.clone(),
        background: job.background,
        ranks: job.hosts.iter().enumerate().map(rank_body).collect(),
    });
    let hosts = (0..topology.hosts as u32).map(|host| {
        let (leaf, port) = of_host(host);
        HostBody {
            name: topology.name(NodeId::new(host)).to_owned(),
            leaf,
            port,
        }
    });
    MappingBody {
        jobs: jobs.collect(),
        hosts: hosts.collect(),
    }
}

/// The host, NIC and port of each rank of a scenario.
#[utoipa::path(post, path = "/mapping", tag = "scenarios", request_body = ScenarioText,
    params(Client),
    responses(
        (status = 200, body = MappingBody),
        (status = 409, body = ErrorBody, description = "a newer request of the client came"),
        (status = 422, body = ErrorBody)))]
pub(crate) async fn mapping(
    State(app): State<Shared>,
    headers: HeaderMap,
    Body(asked, _held): Body<ScenarioText>,
) -> Result<Json<MappingBody>, ApiError> {
    let work = move |budget: &Budget| Ok(Json(mapping_of(&resolve(&asked.text, budget)?)));
    app.turns.take(whose(&headers, "mapping"), work).await
}
