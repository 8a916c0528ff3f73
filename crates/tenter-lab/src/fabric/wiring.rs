//! What is to be set up in which namespace, as text for `ip`, `tc` and `sysctl`.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tenter_net::WIRE_OVERHEAD_BYTES;
use tenter_plan::Plan;
use tenter_topology::{NodeId, Routing, RoutingError, Topology};

use crate::lab_file::{NamespaceFabric, control_address, coordinator_address};

/// The seed of the kernel's hash in all namespaces; that of `hash: linux` in scenarios.
const HASH_SEED: u32 = tenter_net::load_balancing::LINUX_HASH_SEED;

/// What stands for the other end of every cable in routes: neighbours are entered by hand.
const OTHER_END: &str = "169.254.0.1";
/// An Ethernet MTU that holds the longest packet of `RoCEv2`.
const MTU: u32 = 9_000;
/// What the kernel does not count of a frame: the FCS, and preamble and gap.
const UNCOUNTED_BYTES: u32 = 4 + WIRE_OVERHEAD_BYTES;
/// So many of the longest frames pass back to back after a pause: fewer, and a timer that is late
/// costs throughput.
const BURST_FRAMES: u32 = 2;
/// So many packets pass beyond the share before the first is marked.
const MARK_BURST: u32 = 16;
/// So long may a host's own queue be, which is its memory: 64 MiB.
const HOST_QUEUE_BYTES: u64 = 64 << 20;

/// The namespace of a node of a lab.
pub fn namespace(lab: &str, node: &str) -> String {
    format!("tenter-{lab}-{node}")
}

/// The namespace of a lab in which its coordinator runs.
pub fn control_namespace(lab: &str) -> String {
    namespace(lab, "control")
}

/// What is to be set up for a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// The namespaces.
    pub namespaces: Vec<String>,
    /// Lines for `ip -batch`: the cables.
    pub cables: String,
    /// For each namespace lines for `ip -n NAME -batch`: addresses, neighbours and routes.
    pub addresses: Vec<(String, String)>,
    /// For each namespace lines for `tc -n NAME -batch`: rates and queues.
    pub queues: Vec<(String, String)>,
    /// For each namespace of a switch a text for `nft -f`: marks.
    pub marks: Vec<(String, String)>,
    /// For each namespace arguments of `sysctl -w`.
    pub settings: Vec<(String, Vec<String>)>,
}

fn mac(node: NodeId, port: u16) -> String {
    let [_, _, high, low] = node.number().to_be_bytes();
    let [port_high, port_low] = port.to_be_bytes();
    // The first byte: an address that is locally administered.
    format!("02:54:{high:02x}:{low:02x}:{port_high:02x}:{port_low:02x}")
}

/// The device of a port.
pub(super) fn device(port: u16) -> String {
    format!("p{port}")
}

impl Wiring {
    /// That of a plan whose fabric is the lab's.
    ///
    /// # Errors
    /// When hosts cannot reach each other.
    pub fn new(lab: &str, fabric: &NamespaceFabric, plan: &Plan) -> Result<Wiring, RoutingError> {
        let topology = &plan.topology;
        let routing = Routing::rebuild(topology)?;
        let mut wiring = Wiring::default();
        wiring.namespaces.push(control_namespace(lab));
        for node in topology.node_ids() {
            let name = namespace(lab, topology.name(node));
            wiring.cable(lab, topology, node);
            let addresses = addresses(plan, &routing, node);
            wiring.addresses.push((name.clone(), addresses));
            wiring
                .queues
                .push((name.clone(), queues(fabric, plan, node)));
            if let (Some(percent), false) = (fabric.mark_above_percent, topology.is_host(node)) {
                wiring
                    .marks
                    .push((name.clone(), marks(plan, node, percent)));
            }
            wiring
                .settings
                .push((name.clone(), settings(topology.is_host(node))));
            wiring.namespaces.push(name);
        }
        wiring.control(lab, topology);
        Ok(wiring)
    }

    /// The cables of a node to nodes behind it in the order.
    fn cable(&mut self, lab: &str, topology: &Topology, node: NodeId) {
        for port in 0..topology.ports(node) {
            let peer = topology.neighbour(node, port);
            if peer.node < node {
                continue;
            }
            let _ = writeln!(
                self.cables,
                "link add {} address {} mtu {MTU} netns {} type veth peer name {} address {} mtu {MTU} netns {}",
                device(port),
                mac(node, port),
                namespace(lab, topology.name(node)),
                device(peer.port),
                mac(peer.node, peer.port),
                namespace(lab, topology.name(peer.node)),
            );
        }
    }

    /// Cables from the namespace of the coordinator to each host, for control.
    fn control(&mut self, lab: &str, topology: &Topology) {
        let own = control_namespace(lab);
        let mut at_coordinator = "link set lo up\n".to_owned();
        for (number, host) in (0..).zip(topology.host_ids()) {
            let name = namespace(lab, topology.name(host));
            let _ = writeln!(
                self.cables,
                "link add c{number} netns {own} type veth peer name control netns {name}"
            );
            let (here, there) = (coordinator_address(number), control_address(number));
            let _ = writeln!(at_coordinator, "addr add {here}/30 dev c{number}");
            let _ = writeln!(at_coordinator, "link set c{number} up");
            let at_host = format!("addr add {there}/30 dev control\nlink set control up\n");
            let found = self.addresses.iter_mut().find(|(other, _)| *other == name);
            if let Some((_, text)) = found {
                text.push_str(&at_host);
            }
        }
        self.addresses.push((own, at_coordinator));
    }
}

/// Addresses, neighbours and routes of a node.
fn addresses(plan: &Plan, routing: &Routing, node: NodeId) -> String {
    let topology = &plan.topology;
    let mut text = "link set lo up\n".to_owned();
    for port in 0..topology.ports(node) {
        let device = device(port);
        let peer = topology.neighbour(node, port);
        let _ = writeln!(text, "link set {device} up");
        let peer = mac(peer.node, peer.port);
        let _ = writeln!(
            text,
            "neigh replace {OTHER_END} lladdr {peer} nud permanent dev {device}"
        );
    }
    if let Some(host) = topology.host(node) {
        let address = Ipv4Addr::from(plan.addresses[host].address);
        let _ = writeln!(text, "addr add {address}/32 dev p0");
        let _ = writeln!(
            text,
            "route add default via {OTHER_END} dev p0 onlink src {address}"
        );
        return text;
    }
    let switch = topology.switch(node);
    for host in topology.host_ids() {
        let address = Ipv4Addr::from(plan.addresses[host].address);
        let _ = write!(text, "route add {address}/32");
        let ports = if routing.attachment(host) == switch {
            vec![topology.neighbour(host, 0).port]
        } else {
            routing.candidates(switch, host).to_vec()
        };
        for port in &ports {
            let hop = if ports.len() > 1 { " nexthop" } else { "" };
            let _ = write!(text, "{hop} via {OTHER_END} dev {} onlink", device(*port));
        }
        text.push('\n');
    }
    text
}

/// A token bucket at each port: its rate, and a queue that drops the tail.
fn queues(fabric: &NamespaceFabric, plan: &Plan, node: NodeId) -> String {
    let longest = plan.nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES;
    let is_host = plan.topology.is_host(node);
    let queue = if is_host {
        HOST_QUEUE_BYTES
    } else {
        fabric.queue.count()
    };
    let mut text = String::new();
    for port in 0..plan.topology.ports(node) {
        let rate = plan.topology.cable(node, port).rate.bits_per_second();
        // The bucket must hold what a timer that is late by half a millisecond has missed.
        let late = (rate / 8 / 2_000) as u32;
        let burst = (BURST_FRAMES * longest).max(late.min(1 << 20));
        let _ = writeln!(
            text,
            "qdisc replace dev {} root tbf rate {rate}bit burst {burst} limit {queue} overhead {UNCOUNTED_BYTES}",
            device(port)
        );
    }
    text
}

/// Marks what a port is given beyond a share of its rate: the kernel has no other marks here. It
/// counts data packets, all as the longest ones: a limit in bytes lets a second's worth pass first.
fn marks(plan: &Plan, node: NodeId, percent: u32) -> String {
    let topology = &plan.topology;
    let longest = u64::from(plan.nic.longest_frame_bytes() + WIRE_OVERHEAD_BYTES);
    let mut rules = String::new();
    for port in 0..topology.ports(node) {
        let bits = topology.cable(node, port).rate.bits_per_second();
        let packets = (bits / 8 * u64::from(percent) / 100 / longest).max(1);
        let _ = writeln!(
            rules,
            "    oifname \"{}\" ip ecn != not-ect limit rate over {packets}/second burst {MARK_BURST} packets ip ecn set ce",
            device(port)
        );
    }
    format!(
        "table ip tenter {{\n  chain marks {{\n    type filter hook forward priority 0;\n{rules}  }}\n}}\n"
    )
}

fn settings(is_host: bool) -> Vec<String> {
    let forward = u8::from(!is_host);
    [
        format!("net.ipv4.ip_forward={forward}"),
        "net.ipv4.fib_multipath_hash_policy=1".to_owned(),
        format!("net.ipv4.fib_multipath_hash_seed={HASH_SEED}"),
        "net.ipv4.conf.all.rp_filter=0".to_owned(),
        "net.ipv4.conf.default.rp_filter=0".to_owned(),
        "net.ipv4.conf.all.send_redirects=0".to_owned(),
        "net.ipv4.conf.default.send_redirects=0".to_owned(),
        "net.ipv6.conf.all.disable_ipv6=1".to_owned(),
        "net.ipv6.conf.default.disable_ipv6=1".to_owned(),
    ]
    .to_vec()
}
