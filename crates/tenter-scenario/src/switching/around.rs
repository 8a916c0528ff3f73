//! What the section is checked with, and how messages name it.

use tenter_endpoint::NicSpec;
use tenter_net::Switches;
use tenter_plan::Links;
use tenter_topology::Topology;

/// The path of the section.
pub(super) const PATH: &str = "fabric.switching";

/// What the section is checked with.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) switches: &'a Switches,
    pub(crate) links: &'a Links,
    pub(crate) nic: &'a NicSpec,
    pub(crate) has_watchdog: bool,
    pub(crate) has_storms: bool,
}
