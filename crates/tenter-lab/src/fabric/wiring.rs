//! Each namespace's setup as text for `ip`, `tc`, `nft` and `sysctl`.

use std::fmt::Write as _;
use std::net::Ipv4Addr;

use tenter_fabric::net::WIRE_OVERHEAD_BYTES;
use tenter_fabric::topology::{NodeId, Routing, RoutingError, Topology};
use tenter_sim::plan::Plan;

use crate::lab_file::{NamespaceFabric, control_address, coordinator_address};

/// Seed for the kernel's route hash in all namespaces; `hash: linux` in scenarios has the same.
const HASH_SEED: u32 = tenter_fabric::net::load_balancing::LINUX_HASH_SEED;

/// Next hop in all routes, which stands for the other end of a cable. Neighbour entries are
/// permanent, so no device has this address and it is never resolved.
const OTHER_END: &str = "169.254.0.1";
/// MTU for all devices, in bytes; it holds the longest `RoCEv2` packet.
const MTU: u32 = 9_000;
/// Wire bytes per frame that the kernel does not count: FCS, preamble and gap.
const UNCOUNTED_BYTES: u32 = 4 + WIRE_OVERHEAD_BYTES;
/// Longest frames that a port may send back to back after a pause. With fewer, a late timer would
/// cost throughput.
const BURST_FRAMES: u32 = 2;
/// Packets that pass beyond the share before the first one is marked.
const MARK_BURST: u32 = 16;
/// Queue at a host's port, 64 MiB: a host queues in its memory and drops nothing.
const HOST_QUEUE_BYTES: u64 = 64 << 20;

/// Returns the name of the namespace for a lab's node.
pub fn namespace(lab: &str, node: &str) -> String {
    format!("tenter-{lab}-{node}")
}

/// Returns the name of the namespace where the lab's coordinator runs.
pub fn control_namespace(lab: &str) -> String {
    namespace(lab, "control")
}

/// Everything that has to be set up for a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Names of all namespaces, the coordinator's first.
    pub namespaces: Vec<String>,
    /// Lines for `ip -batch` that make the cables.
    pub cables: String,
    /// Per namespace, lines for `ip -n NAME -batch`: addresses, neighbours and routes.
    pub addresses: Vec<(String, String)>,
    /// Per namespace, lines for `tc -n NAME -batch`: rates and queues.
    pub queues: Vec<(String, String)>,
    /// Per switch namespace, text for `nft -f` that marks packets; empty without marks.
    pub marks: Vec<(String, String)>,
    /// Per namespace, arguments for `sysctl -w`.
    pub settings: Vec<(String, Vec<String>)>,
}

fn mac(node: NodeId, port: u16) -> String {
    let [_, _, high, low] = node.number().to_be_bytes();
    let [port_high, port_low] = port.to_be_bytes();
    // The first byte says that the address is locally administered.
    format!("02:54:{high:02x}:{low:02x}:{port_high:02x}:{port_low:02x}")
}

/// Returns the device name for a port.
pub(super) fn device(port: u16) -> String {
    format!("p{port}")
}

impl Wiring {
    /// Makes the setup for `plan`, whose fabric is `fabric`.
    ///
    /// # Errors
    /// Returns an error if hosts cannot reach each other.
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

    /// Adds the cables from a node to nodes with higher numbers, so that each cable is made once.
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

    /// Adds a control cable from the coordinator's namespace to each host.
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

/// Returns the lines for a node's addresses, neighbours and routes.
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
        // Candidates lead towards a host's leaf; the leaf itself has one port to the host.
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

/// Returns a token bucket for each port: the link's rate, and a queue that drops the tail.
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

/// Returns rules that mark what a port sends beyond a share of its rate.
///
/// The limit counts data packets, each as the longest one. A limit in bytes would let the bytes of
/// one second pass before it acts.
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
        // Policy 1 hashes the 5-tuple.
        "net.ipv4.fib_multipath_hash_policy=1".to_owned(),
        format!("net.ipv4.fib_multipath_hash_seed={HASH_SEED}"),
        // Paths of the two directions may differ, which reverse-path filters would take for
        // spoofing.
        "net.ipv4.conf.all.rp_filter=0".to_owned(),
        "net.ipv4.conf.default.rp_filter=0".to_owned(),
        "net.ipv4.conf.all.send_redirects=0".to_owned(),
        "net.ipv4.conf.default.send_redirects=0".to_owned(),
        // Nothing but the trial's packets shall be on the links.
        "net.ipv6.conf.all.disable_ipv6=1".to_owned(),
        "net.ipv6.conf.default.disable_ipv6=1".to_owned(),
    ]
    .to_vec()
}
