//! All hosts on one switch: the ideal fabric, and the smallest bench for a transport.

use tenter_config::{component, default_with};
use tenter_units::{Rate, Time};

use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::wiring::{Wiring, check_size};
use crate::{Topology, TopologyError};

component! {
    /// One switch with `hosts` hosts.
    pub struct SingleSwitch as "`fabric` with `kind: single-switch`", derive(Clone, Debug, PartialEq) {
        /// How many hosts; a host is one NIC with one port.
        hosts: u32, in COUNTS;
        /// Line rate of every link.
        rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
    }
}

impl SingleSwitch {
    /// A number of hosts; all else has its defaults.
    pub fn new(hosts: u32) -> SingleSwitch {
        SingleSwitch {
            hosts,
            ..default_with(&[("hosts", "1")])
        }
    }

    pub(super) fn build(&self) -> Result<Topology, TopologyError> {
        check_counts(&[("hosts", self.hosts)])?;
        check_rates(&[("rate", self.rate)])?;
        check_size(u128::from(self.hosts), u128::from(self.hosts), "`hosts`")?;
        let mut wiring = Wiring::default();
        wiring.hosts(self.hosts);
        let switch = wiring.switch("leaf0".to_owned(), 0);
        wiring.connect_hosts(switch, self.hosts, self.rate, self.host_delay);
        wiring.finish()
    }
}
