//! Inputs for the section's checks, and its name in messages.

use tenter_endpoint::NicSpec;
use tenter_fabric::net::Switches;
use tenter_fabric::topology::Topology;
use tenter_sim::plan::Links;

/// The section's path in a scenario.
pub(super) const PATH: &str = "fabric.switching";

/// Inputs for the section's checks.
pub(crate) struct Around<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) switches: &'a Switches,
    pub(crate) links: &'a Links,
    pub(crate) nic: &'a NicSpec,
    pub(crate) has_watchdog: bool,
    pub(crate) has_storms: bool,
}
