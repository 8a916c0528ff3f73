//! Why a topology cannot be built.

use tenter_units::OverBudget;

/// An error in a topology, with its place and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A count that must be at least one.
    #[error("`{parameter}` is 0; give at least 1")]
    ZeroCount {
        /// The parameter, with its place in a list.
        parameter: String,
    },
    /// A rate of zero.
    #[error(
        "`{parameter}` is 0bps, and a link without a rate sends nothing; give for example `400Gbps`"
    )]
    ZeroRate {
        /// The parameter, with its place in a list.
        parameter: String,
    },
    /// A topology without hosts.
    #[error("the topology has no host; add a node of kind host")]
    NoHosts,
    /// More hosts than [`HOSTS_MAX`](crate::HOSTS_MAX).
    #[error(
        "the topology has {hosts} hosts, and at most 1048576 (2^20) are supported; reduce {parameters}"
    )]
    TooManyHosts {
        /// How many there would be.
        hosts: u128,
        /// The parameters whose product it is.
        parameters: &'static str,
    },
    /// More cables than [`CABLES_MAX`](crate::CABLES_MAX).
    #[error(
        "the topology has {cables} cables, and at most 16777216 (2^24) are supported; reduce {parameters}"
    )]
    TooManyCables {
        /// The number of cables.
        cables: u128,
        /// The parameters whose product it is.
        parameters: &'static str,
    },
    /// A value that a parameter cannot have.
    #[error("`{parameter}` {what}; {remedy}")]
    Parameter {
        /// Its key in `fabric`.
        parameter: &'static str,
        /// What is wrong with it.
        what: String,
        /// A value that works, or how to find one.
        remedy: String,
    },
    /// More ports on one node than [`PORTS_MAX`](crate::PORTS_MAX).
    #[error(
        "`{node}` has {ports} ports, and a node has at most 65535; spread its cables over more nodes"
    )]
    TooManyPorts {
        /// Name of the node.
        node: String,
        /// The number of ports.
        ports: u64,
    },
    /// More groups of a dragonfly than a group has cables to others.
    #[error(
        "`groups` is {groups}, and a group of these routers reaches {most} at most, itself among them; give fewer groups, or more `{ports}`"
    )]
    TooManyGroups {
        /// How many there would be.
        groups: u32,
        /// How many there may be.
        most: u128,
        /// The parameter of which more would allow more.
        ports: &'static str,
    },
    /// A host with no cable or with several.
    #[error(
        "host `{host}` has {ports} ports, and a host is one NIC with exactly one; give every NIC its own host and one cable"
    )]
    HostPorts {
        /// Name of the host.
        host: String,
        /// The number of its ports.
        ports: u64,
    },
    /// A cable between two hosts.
    #[error("hosts `{a}` and `{b}` are cabled to each other; put a switch between them")]
    HostToHost {
        /// Name of one host.
        a: String,
        /// Name of the other.
        b: String,
    },
    /// A cable from a node to itself.
    #[error("a link goes from `{node}` to itself; name two different nodes")]
    SelfLink {
        /// Name of the node.
        node: String,
    },
    /// Two nodes of one name.
    #[error("two nodes are called `{name}`; rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A node without a name.
    #[error("node {index} of the list has an empty name; give it one")]
    EmptyName {
        /// Its place in the list, from 0.
        index: usize,
    },
    /// A link to a node that is not in the list.
    #[error("link {link} names a node `{name}` that is not in the list; {remedy}")]
    UnknownNode {
        /// The link's place in the list, from 0.
        link: usize,
        /// The name it gives.
        name: String,
        /// The nearest name, or what to add.
        remedy: String,
    },
    /// A route that no switch can take.
    #[error("route {index} (at `{at}` to `{to}`) {what}")]
    Route {
        /// Its place in the list, from 0.
        index: usize,
        /// The switch that is to take it.
        at: String,
        /// The switch it is to lead to.
        to: String,
        /// The error, and the remedy.
        what: String,
    },
    /// A graph that takes more than the request may.
    #[error("the topology has {hosts} hosts, {switches} switches and {cables} cables: {over}")]
    OverBudget {
        /// The number of hosts.
        hosts: u64,
        /// The number of switches.
        switches: u64,
        /// The number of cables.
        cables: u64,
        /// What it would take, and the remedy.
        over: OverBudget,
    },
    /// Routes that do not lead where they should.
    #[error(transparent)]
    Routing(#[from] crate::RoutingError),
    /// Two hosts without a path between them.
    #[error("host `{from}` cannot reach host `{to}`; add links between their switches")]
    Unreachable {
        /// Name of one host.
        from: String,
        /// Name of a host in another part.
        to: String,
    },
    /// An override of a leaf or spine that does not exist.
    #[error(
        "the override for leaf {leaf} and spine {spine} is out of range; leaves are 0 to {}, spines 0 to {}", .leaves - 1, .spines - 1
    )]
    OverrideOutOfRange {
        /// The leaf it names.
        leaf: u32,
        /// The spine it names.
        spine: u32,
        /// How many leaves there are.
        leaves: u32,
        /// How many spines there are.
        spines: u32,
    },
    /// Two overrides for one pair.
    #[error("leaf {leaf} and spine {spine} are overridden twice; merge the two overrides")]
    OverrideTwice {
        /// The leaf.
        leaf: u32,
        /// The spine.
        spine: u32,
    },
    /// An override that changes nothing.
    #[error(
        "the override for leaf {leaf} and spine {spine} changes nothing; give `links` or `rate`, or remove it"
    )]
    OverrideEmpty {
        /// The leaf.
        leaf: u32,
        /// The spine.
        spine: u32,
    },
    /// A rate for links that the same override removes.
    #[error(
        "the override for leaf {leaf} and spine {spine} gives a rate to 0 links; remove the rate, or give links"
    )]
    OverrideRateWithoutLinks {
        /// The leaf.
        leaf: u32,
        /// The spine.
        spine: u32,
    },
    /// A cabling map of the wrong length.
    #[error("`cabling` has {given} entries; give {wanted}, the leaf of every host in rank order")]
    CablingLength {
        /// Its length.
        given: usize,
        /// The required length, in words if it is a range.
        wanted: String,
    },
    /// A cabling map that names a leaf that does not exist.
    #[error("`cabling` puts host {host} on leaf {leaf}, which does not exist; leaves are 0 to {}", .leaves - 1)]
    CablingOutOfRange {
        /// The host, in rank order.
        host: usize,
        /// The leaf it names.
        leaf: u32,
        /// How many leaves there are.
        leaves: u32,
    },
    /// A cabling map that fills a leaf beyond its host ports.
    #[error(
        "`cabling` puts {hosts} hosts on leaf {leaf}, which has {ports} host ports; move some to another leaf"
    )]
    CablingOverfull {
        /// The leaf.
        leaf: u32,
        /// How many hosts are on it.
        hosts: u32,
        /// How many host ports it has.
        ports: u32,
    },
    /// A k-ary fat tree of odd or zero k.
    #[error(
        "a k-ary fat tree needs an even k of at least 2, not {k}; half of each switch's ports go up"
    )]
    OddRadix {
        /// The k given.
        k: u32,
    },
    /// Optical circuit switches that cannot be in a fabric.
    #[error("{what}")]
    Optical {
        /// The error, and the remedy.
        what: String,
    },
    /// Circuits that an optical switch cannot have.
    #[error("the optical switch `{switch}` {what}")]
    Circuit {
        /// Its name.
        switch: String,
        /// The error, and the remedy.
        what: String,
    },
}
