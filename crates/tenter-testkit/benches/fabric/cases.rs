//! What is measured: fabrics and the traffic on them.

use std::fmt::Write;

/// Payload of a full packet, in bytes.
const MTU: u64 = 4096;

/// A non-blocking leaf-spine fabric; every link 400 Gb/s and 500 ns, switches without latency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fabric {
    pub(crate) leaves: u16,
    pub(crate) hosts_per_leaf: u16,
    pub(crate) spines: u16,
}

impl Fabric {
    pub(crate) fn hosts(self) -> u32 {
        u32::from(self.leaves) * u32::from(self.hosts_per_leaf)
    }
}

/// So small that there is next to nothing to do in a window.
const LS8: Fabric = leaf_spine(2, 4, 4);
/// The fabrics of the published comparisons, and one of 8,192 hosts.
const LS128: Fabric = leaf_spine(16, 8, 8);
const LS512: Fabric = leaf_spine(32, 16, 16);
const LS1024: Fabric = leaf_spine(32, 32, 32);
const LS2048: Fabric = leaf_spine(64, 32, 32);
const LS8192: Fabric = leaf_spine(128, 64, 64);

const fn leaf_spine(leaves: u16, hosts_per_leaf: u16, spines: u16) -> Fabric {
    Fabric {
        leaves,
        hosts_per_leaf,
        spines,
    }
}

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// The minimal FIFO model on the engine: every host sends to one other, nothing answers.
    Kernel,
    /// Every host sends to one other.
    Permutation,
    /// Every host sends to all others of its job; jobs take the hosts in order, equally many each.
    AllToAll { jobs: u32 },
    /// Every host starts flows of a data-centre distribution to all others at random times, at 60 %
    /// load.
    Flows,
}

/// What switches do beside queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Queues of their own without a limit; one acknowledgement for each message.
    Plain,
    /// A shared buffer of a 51.2 Tb/s switch, PFC and ECN; one acknowledgement for each packet.
    Full,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) fabric: Fabric,
    pub(crate) traffic: Traffic,
    pub(crate) model: Model,
    /// Full packets each sender has for each of its destinations; with flows, how many of them each
    /// sender starts.
    pub(crate) packets: u64,
}

const ALL_TO_ALL: Traffic = Traffic::AllToAll { jobs: 1 };

/// All cases, a kernel before those it is compared with. Packets are chosen so that each case is
/// 15 to 50 million packet-hops: short enough to repeat, long enough to be past its start.
pub(crate) const CASES: [Case; 26] = [
    case("kernel-8", LS8, Traffic::Kernel, 640_000),
    full("full-flows-8", LS8, Traffic::Flows, 10_240),
    case("kernel-128", LS128, Traffic::Kernel, 40_000),
    case("permutation-128", LS128, Traffic::Permutation, 32_768),
    case("all-to-all-128", LS128, ALL_TO_ALL, 256),
    case("kernel-512", LS512, Traffic::Kernel, 10_000),
    case("permutation-512", LS512, Traffic::Permutation, 8_192),
    case("all-to-all-512", LS512, ALL_TO_ALL, 16),
    case("kernel-1024", LS1024, Traffic::Kernel, 5_000),
    case("permutation-1024", LS1024, Traffic::Permutation, 4_096),
    case("all-to-all-1024", LS1024, ALL_TO_ALL, 4),
    case("kernel-2048", LS2048, Traffic::Kernel, 2_500),
    case("permutation-2048", LS2048, Traffic::Permutation, 2_048),
    case("all-to-all-2048", LS2048, ALL_TO_ALL, 2),
    case("kernel-8192", LS8192, Traffic::Kernel, 625),
    case("permutation-8192", LS8192, Traffic::Permutation, 512),
    case(
        "all-to-all-16x512",
        LS8192,
        Traffic::AllToAll { jobs: 16 },
        2,
    ),
    full("full-permutation-128", LS128, Traffic::Permutation, 16_384),
    full("full-all-to-all-128", LS128, ALL_TO_ALL, 128),
    full("full-flows-128", LS128, Traffic::Flows, 640),
    full("full-permutation-512", LS512, Traffic::Permutation, 4_096),
    full("full-all-to-all-512", LS512, ALL_TO_ALL, 8),
    full("full-permutation-1024", LS1024, Traffic::Permutation, 2_048),
    full("full-all-to-all-1024", LS1024, ALL_TO_ALL, 2),
    full("full-permutation-2048", LS2048, Traffic::Permutation, 1_024),
    full("full-16x512", LS8192, Traffic::AllToAll { jobs: 16 }, 2),
];

const fn full(name: &'static str, fabric: Fabric, traffic: Traffic, packets: u64) -> Case {
    Case {
        model: Model::Full,
        ..case(name, fabric, traffic, packets)
    }
}

const fn case(name: &'static str, fabric: Fabric, traffic: Traffic, packets: u64) -> Case {
    Case {
        name,
        fabric,
        traffic,
        model: Model::Plain,
        packets,
    }
}

impl Case {
    /// The case of this name.
    pub(crate) fn named(name: &str) -> Option<Case> {
        CASES.into_iter().find(|case| case.name == name)
    }

    /// The kernel on the same fabric.
    pub(crate) fn kernel(&self) -> Case {
        let hosts = self.fabric.hosts();
        CASES
            .into_iter()
            .find(|case| case.traffic == Traffic::Kernel && case.fabric.hosts() == hosts)
            .expect("every fabric has its kernel")
    }

    /// The same with a part of the packets, but at least two per flow, so that a flow still has a
    /// beginning and an end.
    pub(crate) fn shortened(self, divisor: u64) -> Case {
        Case {
            packets: (self.packets / divisor).max(2),
            ..self
        }
    }

    /// The scenario, as a user would write it.
    pub(crate) fn scenario(&self) -> String {
        let Fabric {
            leaves,
            hosts_per_leaf,
            spines,
        } = self.fabric;
        let (switch, acknowledge) = match self.model {
            Model::Plain => (
                "switch: {pipeline_latency: 0ns, queue_capacity: none}",
                "per-message",
            ),
            Model::Full => (
                "flow_control: pfc+ecn\n  switch: {profile: tomahawk5, pipeline_latency: 0ns}",
                "per-packet",
            ),
        };
        let mut text = format!(
            "name: {name}\n\
             fabric:\n  \
               kind: leaf-spine\n  \
               leaves: {leaves}\n  \
               hosts_per_leaf: {hosts_per_leaf}\n  \
               spines: {spines}\n  \
               host_delay: 500ns\n  \
               fabric_delay: 500ns\n  \
               {switch}\n\
             endpoint:\n  \
               nic: {{mtu: {MTU}, retransmission_timeout: 10s, acknowledge: {acknowledge}}}\n\
             observe: {{samples: false}}\n\
             jobs:\n",
            name = self.name,
        );
        match self.traffic {
            Traffic::Flows => self.flows(&mut text),
            Traffic::AllToAll { jobs } => self.collectives("all-to-all", jobs, &mut text),
            Traffic::Permutation | Traffic::Kernel => {
                self.collectives("permutation", 1, &mut text);
            }
        }
        text
    }

    fn flows(&self, text: &mut String) {
        let hosts = self.fabric.hosts();
        let (flows, all) = (
            u64::from(hosts) * self.packets,
            format!("[0-{}]", hosts - 1),
        );
        writeln!(
            text,
            "  - workload: {{sizes: facebook-hadoop-homa, arrivals: poisson, load: 0.6, \
             flows: {flows}, pairs: [{{from: {all}, to: {all}}}]}}"
        )
        .expect("a string takes any text");
    }

    fn collectives(&self, collective: &str, jobs: u32, text: &mut String) {
        let ranks = self.fabric.hosts() / jobs;
        let blocks = match self.traffic {
            Traffic::AllToAll { .. } => u64::from(ranks),
            _ => 1,
        };
        let size = blocks * self.packets * MTU;
        for job in 0..jobs {
            let (first, last) = (job * ranks, (job + 1) * ranks - 1);
            writeln!(
                text,
                "  - {{ranks: [{first}-{last}], collectives: [{{collective: {collective}, size: {size}B}}]}}"
            )
            .expect("a string takes any text");
        }
    }
}
