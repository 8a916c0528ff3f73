//! Keys that a lab file has for a switch.

use std::net::SocketAddrV4;
use std::ops::RangeInclusive;

use tenter_language::config::{component, variants};
use tenter_language::units::Time;

component! {
    /// A switch whose counters are read before and after each trial.
    pub struct SwitchKeys as "`switches[]` of the lab file", derive(Clone, Debug, PartialEq) {
        /// Name of the switch in the fabric of the scenario, for instance `leaf0`.
        name: String, in 64;
        /// Interfaces of the switch as it calls them, in the order of its ports in the fabric:
        /// `tenter explain` lists these.
        ports: Vec<String>, in 64;
        /// Time that one request, or one command, may take.
        timeout: Time = "5s", in TIMEOUTS;
        /// How old its counters may be when it shows them: it is read so long after the fabric has
        /// fallen silent, before a trial and after it.
        settle: Time = "10s", in Time::ZERO..=SETTLE_MAX,
            from "counterpoll of SONiC: counters of ports each second, of queues every 10 s";
        ..collector: Collector, "How its counters are read.";
    }
}

variants! {
    /// How the counters of a switch are read.
    pub enum Collector as "`switches[]` of the lab file", derive(Clone, Debug, PartialEq) {
        /// How its counters are read.
        collect;
        /// By SNMP: IF-MIB and EtherLike-MIB.
        "snmp" => Snmp(SnmpKeys),
        /// By the `show` commands of SONiC.
        "sonic" => Sonic(SonicKeys),
        /// By `gnmic`, in the models of OpenConfig.
        "gnmi" => Gnmi(GnmiKeys),
        /// Not during a trial: `tenter lab counters` reads them from files.
        "files" => Files,
    }
}

component! {
    /// A switch that answers SNMP.
    pub struct SnmpKeys as "`switches[]` with `collect: snmp`", derive(Clone, Debug, PartialEq) {
        /// Where it answers: address and port.
        address: SocketAddrV4;
        /// The community of version 2c, which goes over the network as it is.
        community: String = "public", in 256;
        /// The user of version 3, which authenticates by SHA-256 and encrypts by AES-128; `none`
        /// is version 2c.
        user: Option<String> = "none", in 64;
        /// The file with the user's passwords, counted from the folder of the lab file: that of
        /// authentication on its first line, that of encryption on its second.
        password_file: Option<String> = "none", in 4_096;
    }
}

component! {
    /// A switch that runs SONiC.
    pub struct SonicKeys as "`switches[]` with `collect: sonic`", derive(Clone, Debug, PartialEq) {
        /// The words before `show interfaces counters` and its like, for instance `[ssh,
        /// admin@leaf0]`: they are run with the rights of who runs the trial, without a shell.
        command: Vec<String>, in 1_024;
    }
}

component! {
    /// A switch that answers gNMI.
    pub struct GnmiKeys as "`switches[]` with `collect: gnmi`", derive(Clone, Debug, PartialEq) {
        /// The words before `get --path …`, which say the address; credentials are better in the
        /// configuration of gnmic: `[gnmic, --address, '192.0.2.22:57400', --config, gnmic.yaml]`.
        command: Vec<String>, in 1_024;
    }
}

const SETTLE_MAX: Time = Time::from_us(600_000_000);
const TIMEOUTS: RangeInclusive<Time> = Time::from_us(10_000)..=Time::from_us(60_000_000);
