//! The `endpoint` section: NIC, host and addresses.

use tenter_endpoint::NicSpec;
use tenter_language::config::{Reader, component};

use crate::resolve::addresses::Addresses;
use crate::resolve::host::Host;
use crate::resolve::nic_impairments::NicImpairment;

component! {
    /// NIC, host and addresses.
    pub struct Endpoint as "`endpoint`", derive(Clone, Debug, PartialEq) {
        /// The NIC model; all NICs of a trial share it.
        nic: NicSpec = "{}";
        /// Delays of the host, and how its NPUs share data.
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

/// Entry limit, above any fabric's NIC count.
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

#[cfg(test)]
mod tests {
    use tenter_language::config::{Component, Written};
    use tenter_language::notation::decode::Section;
    use tenter_language::notation::diagnostics::Problems;
    use tenter_language::notation::tree::Node;
    use tenter_language::notation::yaml;

    use super::Endpoint;
    use crate::resolve::scenario::Scenario;

    fn read(node: Node) -> Endpoint {
        let problems = Problems::default();
        let read = Section::root(node, &Scenario::TABLE, &problems).value("endpoint");
        assert!(problems.is_empty());
        read.expect("nothing is wrong with it")
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for text in [
            "{}",
            "{nic: {port_mtu: 1500, acknowledge: {every: 4}, control_dscp: 49}}",
            "{nic: {congestion_control: {kind: dcqcn, preset: kai, gain: 7, window: fixed, base_round_trip: 9us}}}",
            "{nic: {congestion_control: {kind: dcqcn, preset: tester}}}",
            "{nic: {congestion_control: swift, acknowledge: per-packet}}",
            "{nic: {loss_recovery: {kind: selective-repeat, reorder: 9}, entropy: {values: 4}}}",
            "{nic: {receive_buffer: {drain_rate: 100Gbps, xoff: none}}}",
            "{nic: {pcie: {generation: 5}}, nic_impairments: [{host: 2, dma_read: 62.5%}]}",
            "{host: {step_delay: 3us, scale_up: {npus_per_host: 4}}, addresses: {dscp: 8, overrides: [{host: a, dscp: 3}]}}",
        ] {
            let problems = Problems::default();
            let text = format!("{{endpoint: {text}}}");
            let first = read(yaml::parse(&text, 0, 0, &problems).expect("it is YAML"));
            let keys = Written::mapping(vec![("endpoint", Written::mapping(first.written()))]);
            assert_eq!(read(Node::written(keys)), first, "{text}");
        }
    }
}
