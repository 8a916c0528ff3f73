//! All hosts on one switch: the ideal fabric, and the smallest bench for a transport.

use tenter_units::{Rate, Time};

use super::{check_counts, check_rates};
use crate::wiring::{Wiring, check_size};
use crate::{Topology, TopologyError};

/// One switch with `hosts` hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleSwitch {
    /// How many hosts: 1 to 65,535.
    pub hosts: u32,
    /// Line rate of every host link.
    pub rate: Rate,
    /// Propagation delay of every host link.
    pub host_delay: Time,
}

impl SingleSwitch {
    pub(super) fn build(&self) -> Result<Topology, TopologyError> {
        check_counts(&[("hosts", self.hosts)])?;
        check_rates(&[("rate", self.rate)])?;
        check_size(u128::from(self.hosts), u128::from(self.hosts), "`hosts`")?;
        let mut wiring = Wiring::default();
        for host in 0..self.hosts {
            wiring.host(format!("host{host}"));
        }
        let switch = wiring.switch("leaf0".to_owned(), 0);
        for host in 0..self.hosts {
            wiring.connect(host, switch, 1, self.rate, self.host_delay);
        }
        wiring.finish()
    }
}
