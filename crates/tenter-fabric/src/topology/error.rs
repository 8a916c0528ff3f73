//! Why a topology cannot be built.

use tenter_language::units::OverBudget;

/// A topology error with its place and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A zero count where at least one is needed.
    #[error("`{parameter}` is 0; give at least 1")]
    ZeroCount {
        /// Parameter at fault, with its place if it is in a list.
        parameter: String,
    },
    /// A zero rate, at which a link would send nothing.
    #[error(
        "`{parameter}` is 0bps, and a link without a rate sends nothing; give for example `400Gbps`"
    )]
    ZeroRate {
        /// Parameter at fault, with its place if it is in a list.
        parameter: String,
    },
    /// A topology that has no hosts.
    #[error("the topology has no host; add a node of kind host")]
    NoHosts,
    /// More hosts than [`HOSTS_MAX`](crate::topology::HOSTS_MAX).
    #[error(
        "the topology has {hosts} hosts, and at most 1048576 (2^20) are supported; reduce {parameters}"
    )]
    TooManyHosts {
        /// Number of hosts that the parameters make.
        hosts: u128,
        /// Parameters whose product the number is.
        parameters: &'static str,
    },
    /// More cables than [`CABLES_MAX`](crate::topology::CABLES_MAX).
    #[error(
        "the topology has {cables} cables, and at most 16777216 (2^24) are supported; reduce {parameters}"
    )]
    TooManyCables {
        /// Number of cables that the parameters make.
        cables: u128,
        /// Parameters whose product the number is.
        parameters: &'static str,
    },
    /// A value that the parameter does not allow.
    #[error("`{parameter}` {what}; {remedy}")]
    Parameter {
        /// Key in `fabric` that has the value.
        parameter: &'static str,
        /// Problem with the value, as a clause that follows the key.
        what: String,
        /// Value that works, or a way to find one.
        remedy: String,
    },
    /// More ports on one node than [`PORTS_MAX`](crate::topology::PORTS_MAX).
    #[error(
        "`{node}` has {ports} ports, and a node has at most 65535; spread its cables over more nodes"
    )]
    TooManyPorts {
        /// Name of the node at fault.
        node: String,
        /// Number of ports that its cables need.
        ports: u64,
    },
    /// More groups in a dragonfly than one group's global cables can reach.
    #[error(
        "`groups` is {groups}, and a group of these routers reaches {most} at most, itself among them; give fewer groups, or more `{ports}`"
    )]
    TooManyGroups {
        /// Number of groups that the scenario asks for.
        groups: u32,
        /// Largest number of groups that can be joined.
        most: u128,
        /// Parameter that would allow more groups if it were larger.
        ports: &'static str,
    },
    /// A host without a cable, or with several.
    #[error(
        "host `{host}` has {ports} ports, and a host is one NIC with exactly one; give every NIC its own host and one cable"
    )]
    HostPorts {
        /// Name of the host at fault.
        host: String,
        /// Number of its ports, where one is expected.
        ports: u64,
    },
    /// A cable between two hosts.
    #[error("hosts `{a}` and `{b}` are cabled to each other; put a switch between them")]
    HostToHost {
        /// Name of the host at one end.
        a: String,
        /// Name of the host at the other end.
        b: String,
    },
    /// A cable from a node to itself.
    #[error("a link goes from `{node}` to itself; name two different nodes")]
    SelfLink {
        /// Name of the node at both ends.
        node: String,
    },
    /// Two nodes with the same name.
    #[error("two nodes are called `{name}`; rename one of them")]
    DuplicateName {
        /// Name that both nodes have.
        name: String,
    },
    /// A node without a name.
    #[error("node {index} of the list has an empty name; give it one")]
    EmptyName {
        /// Position in the list of nodes, from 0.
        index: usize,
    },
    /// A link to a node that is not in the list.
    #[error("link {link} names a node `{name}` that is not in the list; {remedy}")]
    UnknownNode {
        /// Position in the list of links, from 0.
        link: usize,
        /// Name that no node in the list has.
        name: String,
        /// Suggestion: the nearest name, or what to add.
        remedy: String,
    },
    /// A route that its switch cannot take.
    #[error("route {index} (at `{at}` to `{to}`) {what}")]
    Route {
        /// Position in the list of routes, from 0.
        index: usize,
        /// Switch that would take the route, by name.
        at: String,
        /// Switch to whose hosts the route leads, by name.
        to: String,
        /// Problem with the route, and a remedy.
        what: String,
    },
    /// A graph that exceeds the request's budget.
    #[error("the topology has {hosts} hosts, {switches} switches and {cables} cables: {over}")]
    OverBudget {
        /// Number of hosts in the graph.
        hosts: u64,
        /// Number of switches in the graph.
        switches: u64,
        /// Number of cables in the graph.
        cables: u64,
        /// Amount that the graph would take, and a remedy.
        over: OverBudget,
    },
    /// Routes that cannot be computed, or that do not lead to their destination.
    #[error(transparent)]
    Routing(#[from] crate::topology::RoutingError),
    /// Two hosts without a path between them.
    #[error("host `{from}` cannot reach host `{to}`; add links between their switches")]
    Unreachable {
        /// First host on the plane, by name.
        from: String,
        /// Host that it cannot reach, by name.
        to: String,
    },
    /// An override for a leaf or spine that does not exist.
    #[error(
        "the override for leaf {leaf} and spine {spine} is out of range; leaves are 0 to {}, spines 0 to {}", .leaves - 1, .spines - 1
    )]
    OverrideOutOfRange {
        /// Leaf that the override names.
        leaf: u32,
        /// Spine that the override names.
        spine: u32,
        /// Number of leaves in the fabric.
        leaves: u32,
        /// Number of spines in the fabric.
        spines: u32,
    },
    /// Two overrides for one leaf and spine.
    #[error("leaf {leaf} and spine {spine} are overridden twice; merge the two overrides")]
    OverrideTwice {
        /// Leaf that both overrides name.
        leaf: u32,
        /// Spine that both overrides name.
        spine: u32,
    },
    /// An override that states neither links nor a rate.
    #[error(
        "the override for leaf {leaf} and spine {spine} changes nothing; give `links` or `rate`, or remove it"
    )]
    OverrideEmpty {
        /// Leaf that the override names.
        leaf: u32,
        /// Spine that the override names.
        spine: u32,
    },
    /// A rate for links that the same override removes.
    #[error(
        "the override for leaf {leaf} and spine {spine} gives a rate to 0 links; remove the rate, or give links"
    )]
    OverrideRateWithoutLinks {
        /// Leaf that the override names.
        leaf: u32,
        /// Spine that the override names.
        spine: u32,
    },
    /// A cabling map with the wrong length.
    #[error("`cabling` has {given} entries; give {wanted}, the leaf of every host in rank order")]
    CablingLength {
        /// Number of entries in the map.
        given: usize,
        /// Number of entries needed, in words if it is a range.
        wanted: String,
    },
    /// A cabling map that names a leaf that does not exist.
    #[error("`cabling` puts host {host} on leaf {leaf}, which does not exist; leaves are 0 to {}", .leaves - 1)]
    CablingOutOfRange {
        /// Host in rank order, from 0.
        host: usize,
        /// Leaf that the map names.
        leaf: u32,
        /// Number of leaves in the fabric.
        leaves: u32,
    },
    /// A cabling map that puts more hosts on a leaf than it has host ports.
    #[error(
        "`cabling` puts {hosts} hosts on leaf {leaf}, which has {ports} host ports; move some to another leaf"
    )]
    CablingOverfull {
        /// Leaf with too many hosts.
        leaf: u32,
        /// Number of hosts that the map puts there.
        hosts: u32,
        /// Number of host ports on the leaf.
        ports: u32,
    },
    /// A k-ary fat tree whose k is odd or zero.
    #[error(
        "a k-ary fat tree needs an even k of at least 2, not {k}; half of each switch's ports go up"
    )]
    OddRadix {
        /// Value that k was given.
        k: u32,
    },
    /// Optical circuit switches that do not go with the fabric.
    #[error("{what}")]
    Optical {
        /// Problem with the fabric, and a remedy.
        what: String,
    },
    /// Circuits that an optical switch cannot set.
    #[error("the optical switch `{switch}` {what}")]
    Circuit {
        /// Optical switch at fault, by name.
        switch: String,
        /// Problem with the circuits, and a remedy.
        what: String,
    },
}
