//! Conversion of a fabric into an infrastructure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use tenter_fabric::topology::{Cable, HostId, NodeId, Topology};
use tenter_language::units::{ById, Rate, Time};
use tenter_workload::ScaleUp;

use super::parts::plain;
use crate::fabric::{MULTI_PLANE, reached};

/// NPUs of a server, for export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Number of NPUs at each NIC.
    pub npus_per_nic: u32,
    /// Network between the NPUs of a server, if there is one.
    pub scale_up: Option<ScaleUp>,
}

/// A part of the infrastructure, which becomes one copy of a device.
struct Block {
    name: String,
    device: String,
    /// Nodes in the block: a server's NICs, or a single switch.
    nodes: Vec<NodeId>,
}

/// Position of a node: instance, copy, and NIC within the copy.
#[derive(Clone)]
struct Place {
    instance: usize,
    copy: usize,
    nic: usize,
}

/// Copies of a device under a common name.
struct Instance {
    name: String,
    /// Name in the fabric. Some of its characters may not stand in instance names.
    own: String,
    device: String,
    count: usize,
}

/// Lists of an infrastructure; each item becomes a line.
#[derive(Default)]
struct Lists {
    devices: BTreeMap<String, Value>,
    links: Vec<Value>,
    instances: Vec<Instance>,
    edges: Vec<Value>,
}

/// Writes an infrastructure as YAML or JSON, with notes for the user.
///
/// # Errors
/// A sentence about circuits, which the format does not have.
pub fn write(
    topology: &Topology,
    server: Server,
    name: &str,
    as_json: bool,
) -> Result<(String, Vec<String>), String> {
    if !topology.optics.is_empty() {
        return Err(
            "the fabric has circuits that change, which InfraGraph cannot say; leave \
                    `fabric.circuits` out"
                .to_owned(),
        );
    }
    if topology.nic_ports > 1 {
        return Err(MULTI_PLANE.to_owned());
    }
    let mut lists = Lists::default();
    let mut blocks = servers(topology, server, &mut lists.devices);
    blocks.extend(switches(topology, &mut lists.devices));
    let places = lists.instances(&blocks, topology.nodes.len());
    lists.cables(topology, &places);
    Ok((lists.text(name, as_json), notes(topology)))
}

/// Returns notes on parts of the fabric that the format does not have.
fn notes(topology: &Topology) -> Vec<String> {
    let mut notes = Vec::new();
    if !topology.routes.is_empty() {
        notes.push("static routes are left out".to_owned());
    }
    if !topology.regions.is_empty() {
        notes.push(
            "regions and the order of dimensions are left out, so paths of an import are the shortest by \
             cables"
                .to_owned(),
        );
    }
    let peers = |node| {
        topology
            .neighbours(node)
            .map(|peer| peer.node.number())
            .collect()
    };
    // An import finds tiers by distances from hosts, as the format has none; see which would
    // differ.
    let peers: Vec<Vec<u32>> = topology.node_ids().map(peers).collect();
    let distances = reached(&peers, topology.host_ids().map(HostId::number).collect());
    let others = topology.switch_nodes().filter(|&node| {
        let tier = topology.tier(node).map(|tier| u32::from(tier) + 1);
        distances[node.index()] != tier
    });
    let others = others.count();
    if others > 0 {
        notes.push(format!(
            "{others} switch(es) are of another tier than their distance from hosts says, which \
             an import takes for it"
        ));
    }
    notes
}

/// Groups hosts into servers, and makes their devices.
fn servers(
    topology: &Topology,
    server: Server,
    devices: &mut BTreeMap<String, Value>,
) -> Vec<Block> {
    let hosts: Vec<NodeId> = topology.host_ids().map(HostId::node).collect();
    let name = |host: NodeId| topology.name(host);
    let head = |host: NodeId| name(host).rsplit_once("/nic").map(|(head, _)| head);
    // Without a scale-up domain, only the names tell which hosts share a server.
    let groups: Vec<&[NodeId]> = if let Some(domain) = server.scale_up {
        let nics = (domain.npus_per_host / server.npus_per_nic).max(1);
        hosts.chunks(nics as usize).collect()
    } else {
        let is_next = |&a: &NodeId, &b: &NodeId| head(a).is_some() && head(a) == head(b);
        hosts.chunk_by(is_next).collect()
    };
    let mut blocks = Vec::with_capacity(groups.len());
    for (number, nodes) in groups.into_iter().enumerate() {
        let shared =
            head(nodes[0]).filter(|first| nodes.iter().all(|&node| head(node) == Some(first)));
        let name = match (nodes, shared) {
            (_, Some(head)) => head.to_owned(),
            ([one], None) => name(*one).to_owned(),
            _ => format!("server{number}"),
        };
        let device = match nodes.len() {
            1 => "host".to_owned(),
            nics => format!("server-{nics}"),
        };
        devices
            .entry(device.clone())
            .or_insert_with(|| server_device(&device, nodes.len() as u32, server));
        blocks.push(Block {
            name,
            device,
            nodes: nodes.to_vec(),
        });
    }
    blocks
}

fn component(name: &str, choice: &str, count: u32) -> Value {
    json!({"name": name, "choice": choice, "count": count})
}

/// Makes the device of a server, with NPUs and NICs.
fn server_device(name: &str, nics: u32, server: Server) -> Value {
    let each = server.npus_per_nic.max(1);
    let edge = |a: String, b: String, link: &str| {
        let [a, b] = [a, b].map(|component| json!({"component": component}));
        json!({"ep1": a, "ep2": b, "scheme": "many2many", "link": link})
    };
    let mut components = vec![
        component("xpu", "xpu", nics * each),
        component("nic", "nic", nics),
    ];
    // A link that also leads to NICs joins no scale-up domain for the reader.
    let mut links = vec![json!({"name": "pcie"})];
    let of_nic = |nic: u32| {
        let xpus = format!("xpu[{}:{}]", nic * each, (nic + 1) * each);
        edge(xpus, format!("nic[{nic}]"), "pcie")
    };
    let mut edges: Vec<Value> = (0..nics).map(of_nic).collect();
    if let Some(domain) = server.scale_up {
        components.push(component("scale-up", "switch", 1));
        // A path has two hops over the switch, which the reader counts.
        let hop = Time::from_ps(domain.latency.ps() / 2);
        links.push(link("scale-up", domain.rate, hop));
        let all = ("xpu".to_owned(), "scale-up".to_owned());
        edges.push(edge(all.0, all.1, "scale-up"));
    }
    json!({"name": name, "components": components, "links": links, "edges": edges})
}

/// Makes a block for each switch, and a device for each number of ports.
fn switches(topology: &Topology, devices: &mut BTreeMap<String, Value>) -> Vec<Block> {
    let block = |node: NodeId| {
        let of = &topology.nodes[node];
        let ports = of.ports.len();
        let device = format!("switch-{ports}");
        devices.entry(device.clone()).or_insert_with(|| {
            json!({
                "name": device,
                "components": [
                    {"name": "asic", "choice": "switch", "count": 1},
                    {"name": "port", "choice": "port", "count": ports},
                ],
                "links": [{"name": "internal"}],
                "edges": [{
                    "ep1": {"component": "asic"},
                    "ep2": {"component": "port"},
                    "scheme": "many2many",
                    "link": "internal",
                }],
            })
        });
        Block {
            name: of.name.clone(),
            device,
            nodes: vec![node],
        }
    };
    topology.switch_nodes().map(block).collect()
}

/// Returns `amount` in units of `unit`, as a JSON number.
fn decimal(amount: u64, unit: u64) -> Value {
    let exact = amount.is_multiple_of(unit);
    if exact {
        return json!(amount / unit);
    }
    json!(amount as f64 / unit as f64)
}

fn link(name: &str, rate: Rate, latency: Time) -> Value {
    json!({
        "name": name,
        "description": format!("{rate}, {latency}"),
        "physical": {
            "bandwidth": {
                "choice": "gigabits_per_second",
                "gigabits_per_second": decimal(rate.bits_per_second(), 1_000_000_000),
            },
            "latency": {"choice": "ns", "ns": decimal(latency.ps(), 1_000)},
        },
    })
}

/// Splits a name from the number behind it; `None` without one that reads back the same.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let head = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = &name[head.len()..];
    // A leading zero would get lost when the reader appends the number again.
    let plain = number == "0" || !number.starts_with('0');
    let number = number.parse().ok().filter(|_| plain && !head.is_empty())?;
    Some((head, number))
}

impl Lists {
    /// Joins blocks that are numbered from 0 into one instance. Returns the position of each node.
    fn instances(&mut self, blocks: &[Block], nodes: usize) -> ById<NodeId, Place> {
        let nowhere = Place {
            instance: 0,
            copy: 0,
            nic: 0,
        };
        let mut places: ById<NodeId, Place> = vec![nowhere; nodes].into();
        let mut names = BTreeSet::new();
        let mut rest = blocks;
        while let Some(first) = rest.first() {
            let series = rest.iter().enumerate().take_while(|(number, block)| {
                let head = numbered(&first.name).map(|(head, _)| head);
                let own = head.map(|head| (head, *number));
                own.is_some() && numbered(&block.name) == own && block.device == first.device
            });
            let count = series.count();
            let (count, own) = match (count, numbered(&first.name)) {
                (2.., Some((head, _))) => (count, head),
                // A single block keeps its name with the number.
                _ => (1, first.name.as_str()),
            };
            let mut unique = plain(own);
            // Different names may become equal without their special characters.
            while !names.insert(unique.clone()) {
                unique.push('_');
            }
            let instance = self.instances.len();
            for (copy, block) in rest.iter().take(count).enumerate() {
                for (nic, &node) in block.nodes.iter().enumerate() {
                    places[node] = Place {
                        instance,
                        copy,
                        nic,
                    };
                }
            }
            self.instances.push(Instance {
                name: unique,
                own: own.to_owned(),
                device: first.device.clone(),
                count,
            });
            rest = &rest[count..];
        }
        places
    }

    /// Makes an edge for each cable, and a link for each pair of rate and delay.
    fn cables(&mut self, topology: &Topology, places: &ById<NodeId, Place>) {
        let mut links: BTreeMap<(Rate, Time), String> = BTreeMap::new();
        for Cable { ends, rate, delay } in &topology.cables {
            let next = format!("link{}", links.len());
            let name = links.entry((*rate, *delay)).or_insert_with(|| {
                self.links.push(link(&next, *rate, *delay));
                next
            });
            let [ep1, ep2] = ends.map(|end| {
                let place = &places[end.node];
                let instance = &self.instances[place.instance].name;
                let component = if topology.is_host(end.node) {
                    format!("nic[{}]", place.nic)
                } else {
                    format!("port[{}]", end.port)
                };
                json!({"instance": format!("{instance}[{}]", place.copy), "component": component})
            });
            let edge = json!({"ep1": ep1, "ep2": ep2, "scheme": "one2one", "link": name});
            self.edges.push(edge);
        }
    }

    /// Writes the lists, with each item on a line.
    fn text(self, name: &str, as_json: bool) -> String {
        let instance = |of: Instance| {
            let mut item = json!({"name": of.name, "device": of.device, "count": of.count});
            if of.own != of.name {
                item["description"] = json!(of.own);
            }
            item
        };
        let instances = self.instances.into_iter().map(instance);
        let name = if name.is_empty() { "fabric" } else { name };
        let lists = [
            ("devices", self.devices.into_values().collect()),
            ("links", self.links),
            ("instances", instances.collect()),
            ("edges", self.edges),
        ];
        let name = json!(plain(name));
        let mut text = String::new();
        // JSON values are valid YAML, so both forms share their items.
        let _ = if as_json {
            write!(text, "{{\"name\": {name}")
        } else {
            writeln!(text, "name: {name}")
        };
        for (list, items) in lists {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            let _ = if as_json {
                write!(text, ",\n\"{list}\": [\n{}\n]", items.join(",\n"))
            } else {
                writeln!(text, "{list}:\n- {}", items.join("\n- "))
            };
        }
        if as_json {
            text.push_str("\n}\n");
        }
        text
    }
}
