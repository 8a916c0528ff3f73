//! The lab file: the hosts that take part, and the fabric of network namespaces if the lab has one.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use tenter::resolve::{Format, read_document};
use tenter_language::config::{Reader, component};
use tenter_language::units::{Bytes, Rate, Time};

use crate::data_path_kind::DataPathKind;
use crate::error::LabError;
use crate::switches::SwitchKeys;

component! {
    /// A lab: its hosts, and the fabric of network namespaces where it has one.
    pub struct LabKeys as "the lab file", derive(Clone, Debug, PartialEq) {
        /// Name of the lab: letters, digits and dashes. Namespaces and files of the lab bear it.
        name: String, in 24;
        /// The file with the secret that agents and coordinator share, counted from the folder of
        /// the lab file. `tenter lab up` makes one.
        secret: String = "lab.secret", in 4_096;
        /// The fabric that `tenter lab up` makes of network namespaces; `none` where hosts are
        /// machines.
        fabric: Option<NamespaceFabric> = "none";
        /// The hosts of a lab of machines, in the order of the scenario's hosts.
        agents: Vec<AgentKeys> = "[]";
        /// `true` lets hosts hand runs of packets of a queue pair to the kernel as one datagram,
        /// which it cuts as late as it can (UDP segmentation): that takes less processor time, and
        /// captures show long frames where nothing has cut them yet.
        segmentation: bool = "false";
        /// How data gets from host to host: `udp` is packets that agents make, `rdma` messages
        /// that RDMA hardware carries.
        data_path: DataPathKind = "udp";
        /// Time that a trial may take.
        time_limit: Time = "60s", in TIMES;
        /// The switches of a lab of machines whose counters are read before and after each trial.
        switches: Vec<SwitchKeys> = "[]";
        check hosts_are_of_one_kind;
    }
}

component! {
    /// A leaf-spine fabric of network namespaces on one machine.
    pub struct NamespaceFabric as "`fabric` of the lab file", derive(Clone, Debug, PartialEq) {
        /// Number of leaves in the fabric.
        leaves: u32, in 1..=HOSTS_MAX;
        /// Hosts of each leaf; a lab has at most 32.
        hosts_per_leaf: u32, in 1..=HOSTS_MAX;
        /// Number of spines in the fabric.
        spines: u32, in 1..=HOSTS_MAX;
        /// Rate of the links of hosts.
        host_rate: Rate = "100Mbps", in RATES;
        /// Rate of the links between leaves and spines.
        uplink_rate: Rate = "100Mbps", in RATES;
        /// Frame bytes that the queue of a port holds before it drops the tail.
        queue: Bytes = "256KiB", in QUEUES;
        /// Where a port marks packets (ECN): what it sends beyond this share of its rate; `none`
        /// marks nothing.
        mark_above_percent: Option<u32> = "none", in 1..=100;
        /// `true` runs agents before all other programs of the machine (SCHED_RR), which wait
        /// meanwhile: times are then less those of a machine that is busy.
        realtime: bool = "false";
    }
}

component! {
    /// A host that is a machine.
    pub struct AgentKeys as "`agents[]` of the lab file", derive(Clone, Debug, PartialEq) {
        /// Where its agent listens: address and port.
        control: SocketAddrV4;
        /// Address of the host in the fabric under test.
        address: Ipv4Addr;
    }
}

/// Most hosts in a fabric of namespaces; one machine measures more of them poorly.
const HOSTS_MAX: u32 = 32;
/// Link rates of a fabric of namespaces; one processor cannot forward the packets of faster links.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_bits_per_second(10_000_000_000);
const QUEUES: RangeInclusive<Bytes> = Bytes::new(16 << 10)..=Bytes::new(64 << 20);
const TIMES: RangeInclusive<Time> = Time::from_us(1_000_000)..=Time::from_us(3_600_000_000);

/// Forwarding delay that the simulation assumes for a namespace switch, unless a setting gives
/// another. It cannot be 0: the simulation needs some lookahead.
pub(crate) const FORWARDING: Time = Time::from_us(20);

/// TCP port at which the agents in namespaces listen; each has an address of its own.
const CONTROL_PORT: u16 = 7471;

/// A lab file that has been read and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct LabFile {
    /// The file's keys, defaults filled in.
    pub keys: LabKeys,
    /// Absolute path of the file; relative names in it count from its folder.
    pub path: PathBuf,
}

fn hosts_are_of_one_kind(keys: &LabKeys, reader: &mut dyn Reader) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if keys.name.is_empty() || !keys.name.chars().all(fits) {
        let help = "use letters, digits and dashes: namespaces bear it";
        reader.refuse("name", "is no name of a lab", help);
        return false;
    }
    let Some(fabric) = &keys.fabric else {
        if keys.agents.len() < 2 {
            let help = "list at least two agents, or give a `fabric` for `tenter lab up`";
            reader.refuse("agents", "are too few", help);
            return false;
        }
        return true;
    };
    if keys.data_path == DataPathKind::Rdma {
        let help = "leave it out: network namespaces have no RDMA devices";
        reader.refuse("data_path", "is `rdma` beside a `fabric`", help);
        return false;
    }
    if !keys.switches.is_empty() {
        let help = "leave them out: those of a `fabric` of namespaces are read by themselves";
        reader.refuse("switches", "are given beside a `fabric`", help);
        return false;
    }
    if !keys.agents.is_empty() {
        let help = "leave them out: those of a `fabric` of namespaces are known";
        reader.refuse("agents", "are given beside a `fabric`", help);
        return false;
    }
    let hosts = fabric.leaves * fabric.hosts_per_leaf;
    if !(2..=HOSTS_MAX).contains(&hosts) {
        let help = format!("let leaves and hosts per leaf multiply to 2 to {HOSTS_MAX} hosts");
        reader.refuse("fabric", &format!("has {hosts} hosts"), &help);
        return false;
    }
    true
}

impl LabFile {
    /// Reads and checks the lab file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or the list of all mistakes in it.
    pub fn read(path: &Path) -> Result<LabFile, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::file("read", path))?;
        let name = path.display().to_string();
        let keys = read_document(&text, &name, Format::of_name(&name))?;
        let path = std::path::absolute(path).map_err(LabError::file("find", path))?;
        Ok(LabFile { keys, path })
    }

    /// Returns the folder of the lab file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Returns the path of the file that holds the secret.
    pub fn secret_file(&self) -> PathBuf {
        self.folder().join(&self.keys.secret)
    }

    /// Returns the folder for the logs of agents in namespaces, `<name>.lab` beside the lab file.
    pub fn log_folder(&self) -> PathBuf {
        self.folder().join(format!("{}.lab", self.keys.name))
    }

    /// Returns the agents in the order of the scenario's hosts.
    ///
    /// In a fabric of namespaces, addresses are those that a simulated leaf-spine fabric has by
    /// default.
    pub fn agents(&self) -> Vec<AgentKeys> {
        let Some(fabric) = &self.keys.fabric else {
            return self.keys.agents.clone();
        };
        let hosts = fabric.leaves * fabric.hosts_per_leaf;
        let agent = |host: u32| {
            let (leaf, within) = (host / fabric.hosts_per_leaf, host % fabric.hosts_per_leaf);
            AgentKeys {
                control: SocketAddrV4::new(control_address(host), CONTROL_PORT),
                // Address 1 in a leaf's network is its gateway by default, so hosts begin at 2.
                address: Ipv4Addr::new(10, leaf as u8, 0, within as u8 + 2),
            }
        };
        (0..hosts).map(agent).collect()
    }

    /// Returns the addresses that agents may send to.
    pub fn addresses(&self) -> BTreeSet<Ipv4Addr> {
        self.agents().iter().map(|agent| agent.address).collect()
    }

    /// Returns the scenario section `fabric` (YAML) that simulates this lab's fabric of namespaces;
    /// `None` for a lab of machines, whose fabric the scenario describes.
    ///
    /// `latency` is the forwarding delay of a switch.
    pub fn scenario_fabric(&self, latency: Time) -> Option<String> {
        let fabric = self.keys.fabric.as_ref()?;
        let mut text = String::new();
        // Virtual cables have no delay of their own.
        let _ = write!(
            text,
            "fabric:\n  kind: leaf-spine\n  leaves: {}\n  hosts_per_leaf: {}\n  spines: {}\n  \
             host_rate: {}\n  uplink_rate: {}\n  host_delay: 0ns\n  fabric_delay: 0ns\n  \
             load_balancing: {{kind: ecmp, hash: linux}}\n  switch:\n    queue_capacity: {}\n    \
             pipeline_latency: {latency}\n",
            fabric.leaves,
            fabric.hosts_per_leaf,
            fabric.spines,
            fabric.host_rate,
            fabric.uplink_rate,
            fabric.queue,
        );
        Some(text)
    }
}

/// Returns the address at which the agent of host `host` listens. Each agent has a control network
/// of its own within 198.18.0.0/15, which RFC 2544 sets aside for measurements.
pub(crate) fn control_address(host: u32) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, host as u8, 2)
}

/// Returns the coordinator's address on the control cable of host `host`.
pub(crate) fn coordinator_address(host: u32) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, host as u8, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Result<LabKeys, String> {
        read_document(text, "lab.yaml", Format::Yaml).map_err(|found| found.render())
    }

    #[test]
    fn a_lab_has_namespaces_or_machines() {
        let namespaces = "{name: a, fabric: {leaves: 2, hosts_per_leaf: 4, spines: 2}}";
        let keys_read = keys(namespaces).expect("it is right");
        let lab = LabFile {
            keys: keys_read,
            path: PathBuf::from("/tmp/lab.yaml"),
        };
        let agents = lab.agents();
        assert_eq!(agents.len(), 8);
        assert_eq!(agents[5].address, Ipv4Addr::new(10, 1, 0, 3));
        assert_eq!(lab.secret_file(), Path::new("/tmp/lab.secret"));
        let machines = "{name: b, agents: [{control: '192.0.2.1:7471', address: 192.0.2.1}, \
                        {control: '192.0.2.2:7471', address: 192.0.2.2}]}";
        assert_eq!(keys(machines).expect("it is right").agents.len(), 2);
    }

    #[test]
    fn switches_are_read_in_four_ways() {
        let text = "
name: rack
agents:
  - {control: '192.0.2.1:7471', address: 198.51.100.1}
  - {control: '192.0.2.2:7471', address: 198.51.100.2}
switches:
  - {name: leaf0, collect: snmp, address: '192.0.2.11:161', ports: [swp1, swp2]}
  - {name: leaf1, collect: sonic, command: [ssh, admin@leaf1], ports: [Ethernet0]}
  - {name: spine0, collect: gnmi, command: [gnmic, --address, 'spine0:57400'], ports: [e1]}
  - {name: spine1, collect: files, ports: [e1], timeout: 1s}
";
        let keys = keys(text).expect("it is right");
        let words: Vec<&str> = keys.switches.iter().map(|of| of.collector.word()).collect();
        assert_eq!(words, ["snmp", "sonic", "gnmi", "files"]);
        assert_eq!(keys.switches[0].ports, ["swp1", "swp2"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, what) in [
            ("{name: a}", "too few"),
            (
                "{name: a/b, fabric: {leaves: 1, hosts_per_leaf: 2, spines: 1}}",
                "no name",
            ),
            (
                "{name: a, fabric: {leaves: 8, hosts_per_leaf: 8, spines: 1}}",
                "64 hosts",
            ),
            (
                "{name: a, fabric: {leaves: 1, hosts_per_leaf: 2, spines: 1, host_rate: 100}}",
                "unit",
            ),
            (
                "{name: a, agents: [{control: '1.2.3.4', address: 1.2.3.4}]}",
                "address",
            ),
            (
                "{name: a, fabric: {leaves: 1, hosts_per_leaf: 2, spines: 1}, \
                 switches: [{name: leaf0, collect: files, ports: [e0]}]}",
                "by themselves",
            ),
            (
                "{name: a, data_path: rdma, fabric: {leaves: 1, hosts_per_leaf: 2, spines: 1}}",
                "no RDMA devices",
            ),
            (
                "{name: a, switches: [{name: leaf0, collect: telnet, ports: [e0]}]}",
                "snmp",
            ),
            (
                "{name: a, switches: [{name: leaf0, collect: snmp, ports: [e0]}]}",
                "address",
            ),
        ] {
            let said = keys(text).expect_err("it is wrong");
            assert!(said.contains(what), "{text}: {said}");
        }
    }
}
