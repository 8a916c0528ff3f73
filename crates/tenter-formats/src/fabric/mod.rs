//! Fabrics that foreign formats describe cable by cable, as a scenario's `fabric`.
//!
//! ```text
//!   reader of a format ─ hosts, switches, cables ─▶ Graph ─ tiers, checks ─▶ FabricText, as YAML
//! ```
//!
//! A host is one NIC with one cable. It is numbered by its place in the list, which is also its
//! rank in a job on all hosts. A switch's tier is its distance from the nearest host.

mod graph;
mod reading;
mod selection;
mod text;

pub(crate) use graph::{Cable, End, Graph, Server, reached};
pub use reading::FabricReading;
pub(crate) use reading::given;
pub(crate) use selection::{Selection, natural};
pub use text::FabricText;

/// The reason why a multi-plane fabric is not exported, with the remedy.
pub(crate) const MULTI_PLANE: &str = "NICs have a port on each of several planes, and hosts of \
    this format have one; set `fabric.planes: 1` for the fabric of one plane";

/// Propagation delay per metre, in picoseconds: light in copper and in fibre travels at about 2·10⁸
/// m/s.
pub(crate) const PS_PER_METRE: u64 = 5_000;
