//! All hosts on one switch: the ideal fabric, and the smallest bench for a transport.

use tenter_language::config::{component, default_with};
use tenter_language::units::{Budget, Rate, Time};

use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::size::Counts;
use crate::topology::wiring::Wiring;
use crate::topology::{Size, Topology, TopologyError};

component! {
    /// One switch with `hosts` hosts.
    pub struct SingleSwitch as "`fabric` with `kind: single-switch`", derive(Clone, Debug, PartialEq) {
        /// Number of hosts; a host is one NIC with one port.
        hosts: u32, in COUNTS;
        /// Line rate of every link.
        rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
    }
}

impl SingleSwitch {
    /// Creates a switch with `hosts` hosts, and defaults for all other keys.
    pub fn new(hosts: u32) -> SingleSwitch {
        SingleSwitch {
            hosts,
            ..default_with(&[("hosts", "1")])
        }
    }

    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[("hosts", self.hosts)])?;
        check_rates(&[("rate", self.rate)])?;
        Counts {
            hosts: self.hosts.into(),
            switches: 1,
            leaves: 1,
            cables: self.hosts.into(),
            regions: 0,
        }
        .size("`hosts`")
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let mut wiring = Wiring::default();
        wiring.hosts(self.hosts);
        let switch = wiring.switch("leaf0".to_owned(), 0);
        wiring.connect_hosts(switch, self.hosts, self.rate, self.host_delay);
        wiring.finish(budget)
    }
}
