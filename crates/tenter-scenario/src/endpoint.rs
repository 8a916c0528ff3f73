//! The `endpoint` section: NIC, host and addresses.

use tenter_config::{Reader, component};
use tenter_endpoint::NicSpec;

use crate::addresses::Addresses;
use crate::host::Host;
use crate::nic_impairments::NicImpairment;

component! {
    /// NIC, host and addresses.
    pub struct Endpoint as "`endpoint`", derive(Clone, Debug, PartialEq) {
        /// The NIC model; all NICs of a trial share it.
        nic: NicSpec = "{}";
        /// What the host adds to each send.
        host: Host = "{}";
        /// NICs that cannot use their PCIe to the full; of several entries for one NIC the last
        /// holds.
        nic_impairments: Vec<NicImpairment> = "[]";
        /// Addresses and DSCP of the NICs: the addresses feed the ECMP hash, the DSCP gives the
        /// class, prefix and gateway decide who is reachable.
        addresses: Addresses = "{}";
        check impairments_are_of_pcie;
    }
}

/// More entries than a fabric has NICs.
const IMPAIRMENTS_MAX: usize = 100_000;

fn impairments_are_of_pcie(endpoint: &Endpoint, reader: &mut dyn Reader) -> bool {
    const KEY: &str = "nic_impairments";
    let count = endpoint.nic_impairments.len();
    if count > IMPAIRMENTS_MAX {
        let what = format!("has more than {IMPAIRMENTS_MAX} entries");
        reader.refuse(KEY, &what, "name stretches of hosts, or jobs");
        return false;
    }
    if count > 0 && endpoint.nic.pcie.is_none() {
        let what = "asks for shares of the PCIe peak, and there is no PCIe";
        let help = "say what NICs have, for example `endpoint.nic.pcie: {generation: 5}`";
        reader.refuse(KEY, what, help);
        return false;
    }
    true
}
