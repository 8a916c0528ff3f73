//! Fabrics that others describe cable by cable, as the `fabric` of a scenario.
//!
//! ```text
//!   reader of a format ─ hosts, switches, cables ─▶ Graph ─ tiers, checks ─▶ FabricText, as YAML
//! ```
//!
//! A host is one NIC with one cable. Its number is its place in the list, and so is its rank in a
//! job that has all hosts. The tier of a switch is its distance from the nearest host.

mod graph;
mod reading;
mod selection;
mod text;

pub(crate) use graph::{Cable, End, Graph, Server, reached};
pub use reading::FabricReading;
pub(crate) use reading::given;
pub(crate) use selection::{Selection, natural};
pub use text::FabricText;

/// Why a multi-plane fabric is not written, and the remedy.
pub(crate) const MULTI_PLANE: &str = "NICs have a port on each of several planes, and hosts of \
    this format have one; set `fabric.planes: 1` for the fabric of one plane";

/// What a cable of 5 m takes for each metre, in picoseconds: light in copper and in fibre goes at
/// 1.98·10⁸ m/s.
pub(crate) const PS_PER_METRE: u64 = 5_000;
