//! Graphs, wiring and routing tables of network fabrics: data only, without time.
//!
//! A [`TopologySpec`] holds the parameters of a user; [`TopologySpec::build`] turns them into a
//! [`Topology`] of nodes, ports and cables; [`Routing::build`] finds every equal-cost egress port
//! towards every host.
//!
//! ```
//! use tenter_fabric::topology::{Cabling, HostId, LeafSpine, NodeId, Planes, Routing, SwitchId};
//! use tenter_fabric::topology::TopologySpec;
//! use tenter_language::units::{Budget, Rate, Time};
//!
//! let spec = TopologySpec::LeafSpine(LeafSpine {
//!     leaves: 8,
//!     hosts_per_leaf: 8,
//!     spines: 4,
//!     links_per_pair: 2,
//!     host_rate: Rate::from_gbps(400),
//!     uplink_rate: Rate::from_gbps(400),
//!     host_delay: Time::from_ns(300),
//!     fabric_delay: Time::from_ns(300),
//!     overrides: vec![],
//!     cabling: Cabling::Regular,
//!     planes: Planes::ONE,
//! });
//! let budget = Budget::unlimited();
//! let topology = spec.build(&budget)?;
//! let routing = Routing::build(&topology, &budget)?;
//! // Host 0 is on leaf 0 and host 63 on leaf 7: eight uplinks, behind the eight host ports.
//! let uplinks = routing.candidates(SwitchId::new(0), HostId::new(63));
//! assert_eq!(uplinks, [8, 9, 10, 11, 12, 13, 14, 15]);
//! assert_eq!(topology.port_name(NodeId::new(64), 8), "leaf0:8");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Numbering.** Hosts come first, in rank order, then leaves, then the upper tiers. A node's
//! ports are ordered by the number of the node at the other end, parallel cables by their index. A
//! leaf thus has its host ports first, in host order, and then its uplinks spine by spine; a spine
//! has its ports leaf by leaf. Cables are ordered by their lower end, then their upper end, so
//! cable `h` belongs to host `h`; in a multi-plane fabric host `h` has cables `h · planes` and
//! those that follow. Hosts, nodes and switches have their own number types: [`HostId`],
//! [`NodeId`], which a host has too, and [`SwitchId`], which counts from the first switch.

mod builders;
mod cable;
mod capacity;
mod check;
mod error;
mod finite_field;
mod fragmentation;
mod graph;
mod ids;
mod locality;
mod numbering;
mod optical;
mod planes;
mod routing;
mod shape;
mod size;
mod spread;
mod tree_place;
mod wiring;

pub use builders::{
    Cabling, CoreTier, Dragonfly, DragonflyPlus, Explicit, ExplicitKind, ExplicitLink,
    ExplicitNode, ExplicitRoute, FatTree, GridPaths, Hyperx, LeafSpine, LinkOverride, Rail,
    RailOnly, SingleSwitch, SlimFly, Taper, TopologySpec, Torus,
};
pub use cable::{Cable, CableEnd, PortRef};
pub use capacity::{Bisection, Oversubscription, TierCapacity};
pub use error::TopologyError;
pub use fragmentation::Span;
pub use graph::{Node, NodeKind, SafeClasses, StaticRoute, Topology};
pub use ids::{HostId, NodeId, SwitchId};
pub use optical::{
    OpticalCabling, OpticalPlace, OpticalPort, OpticalSpec, OpticalSwitch, OpticalTier, Optics,
    Rewiring,
};
pub use planes::Planes;
pub use routing::{Path, Routing, RoutingError};
pub use size::Size;
pub use tree_place::TreePlace;
pub use wiring::{HOSTS_MAX, PORTS_MAX};
