//! Fat trees with two or three tiers and any oversubscription.

use std::fmt;
use std::str::FromStr;

use tenter_language::config::{Reader, component, default_with, parsed};
use tenter_language::units::{Budget, Rate, Time};

use super::{COUNTS, DELAYS, RATES, check_counts, check_rates};
use crate::topology::size::Counts;
use crate::topology::wiring::{Wiring, product};
use crate::topology::{NodeId, Planes, Size, Topology, TopologyError};

component! {
    /// A folded Clos described by counts rather than by switch radix, so that each tier can be
    /// oversubscribed on its own.
    ///
    /// A leaf has `hosts_per_leaf` ports down and `aggs_per_pod · links_per_leaf_agg` up; with a
    /// core tier, an aggregation switch has `leaves_per_pod · links_per_leaf_agg` down and
    /// `cores_per_agg · links_per_agg_core` up.
    pub struct FatTree as "`fabric` with `kind: fat-tree`", derive(Clone, Debug, PartialEq) {
        /// Number of hosts on each leaf.
        hosts_per_leaf: u32, in COUNTS;
        /// Number of leaves in each pod.
        leaves_per_pod: u32, in COUNTS;
        /// Aggregation switches of each pod; the spines where there is no core tier.
        aggs_per_pod: u32, in COUNTS;
        /// Parallel cables between each leaf and each aggregation switch of its pod.
        links_per_leaf_agg: u32 = "1", in COUNTS;
        /// Line rate of host links.
        host_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Line rate of the links above the leaves.
        leaf_rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of host links.
        host_delay: Time = "25ns", in DELAYS, from "a copper cable of 5 m at 1.98·10⁸ m/s";
        /// Propagation delay of the links above the leaves.
        leaf_delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
        /// The third tier; without it the tree has two tiers and one pod.
        core: Option<CoreTier> = "none";
        /// Planes of a multi-plane fabric: each is all the switches and cables that the other keys
        /// describe, and has one port of every NIC.
        planes: Planes = "1", omit default;
        check taper_leaves_cables;
    }
}

component! {
    /// The third tier of a fat tree, and how many pods it joins.
    ///
    /// Aggregation switch `a` of every pod is cabled to the cores of group `a`: `a · cores_per_agg`
    /// and those that follow. The cables that taper leaves are dealt out evenly over the
    /// aggregation switches of a pod, and core by core.
    pub struct CoreTier as "`fabric.core` with `kind: fat-tree`", derive(Clone, Debug, PartialEq) {
        either "taper", "links_per_pod";
        /// Number of pods below the core tier.
        pods: u32, in COUNTS;
        /// Core switches above each aggregation switch.
        cores_per_agg: u32, in COUNTS;
        /// Parallel cables between an aggregation switch and each of its cores.
        links_per_agg_core: u32 = "1", in COUNTS;
        /// Factor by which tapering divides the cables from each pod to the cores; cores without
        /// any are left out.
        taper: Taper = "1", omit default;
        /// The cables from each pod to the cores, as a count in place of `taper`.
        links_per_pod: Option<u32> = absent "as `taper` has it", in COUNTS;
        /// Line rate of the links to the cores.
        rate: Rate = "400Gbps", in RATES, from "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
        /// Propagation delay of the links to the cores.
        delay: Time = "200ns", in DELAYS, from "a fibre of 40 m at 1.98·10⁸ m/s";
    }
}

/// Tapering ratio, 1 or more: cables that could be over cables that are. Stored as an exact
/// decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taper {
    /// Numerator of the exact ratio.
    of: u64,
    /// Denominator of the exact ratio, a power of ten.
    parts: u64,
}

impl Default for Taper {
    fn default() -> Taper {
        Taper { of: 1, parts: 1 }
    }
}

impl FromStr for Taper {
    type Err = ();

    fn from_str(word: &str) -> Result<Taper, ()> {
        let (whole, part) = word.split_once('.').unwrap_or((word, ""));
        // Nine digits on either side of the point keep all products within 64 bits.
        let digits = |text: &str| text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) {
            return Err(());
        }
        let number = |text: &str| text.parse::<u64>().map_err(|_| ());
        let parts = 10_u64.pow(part.len() as u32);
        let part = if part.is_empty() { 0 } else { number(part)? };
        let of = number(whole)? * parts + part;
        let is_ratio = (parts..=1_000_000 * parts).contains(&of);
        is_ratio.then_some(Taper { of, parts }).ok_or(())
    }
}

impl fmt::Display for Taper {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Prints as many decimals as were read.
        let places = self.parts.ilog10() as usize;
        write!(out, "{}", self.of / self.parts)?;
        match places {
            0 => Ok(()),
            _ => write!(out, ".{:0places$}", self.of % self.parts),
        }
    }
}

parsed!(Taper {
    "decimal, 1 or more",
    "must be a ratio of 1 or more, not",
    "write for example `2`: half of the cables"
});

/// Checks that tapering leaves each pod at least one cable, and adds none.
fn taper_leaves_cables(tree: &FatTree, reader: &mut dyn Reader) -> bool {
    let Some(core) = &tree.core else {
        return true;
    };
    let full = tree.full_links_per_pod(core);
    let links = tree.links_per_pod(core);
    if links > full {
        let what = format!("is more than the {full} cables that each pod has");
        reader.refuse("core.links_per_pod", &what, "give fewer, or more cores");
    } else if links == 0 {
        let help = format!("give at most {full}");
        reader.refuse("core.taper", "leaves a pod no cable to the cores", &help);
    }
    (1..=full).contains(&links)
}

/// First switch on each tier, by node number.
struct Numbers {
    leaves: NodeId,
    aggs: NodeId,
    cores: NodeId,
}

const SIZE_PARAMETERS: &str =
    "the number of pods, of switches per pod, of hosts per leaf or of parallel links";

impl CoreTier {
    /// Creates a core tier with defaults for all other keys.
    pub fn new(pods: u32, cores_per_agg: u32) -> CoreTier {
        CoreTier {
            pods,
            cores_per_agg,
            ..default_with(&[("pods", "1"), ("cores_per_agg", "1")])
        }
    }
}

impl FatTree {
    /// Creates a two-tier tree with one pod, and defaults for all other keys.
    pub fn new(hosts_per_leaf: u32, leaves_per_pod: u32, aggs_per_pod: u32) -> FatTree {
        const ONE: &[(&str, &str)] = &[
            ("hosts_per_leaf", "1"),
            ("leaves_per_pod", "1"),
            ("aggs_per_pod", "1"),
        ];
        FatTree {
            hosts_per_leaf,
            leaves_per_pod,
            aggs_per_pod,
            ..default_with(ONE)
        }
    }

    /// Creates the three-tier tree with equal k-port switches: k pods with k/2 leaves and k/2
    /// aggregation switches each, k²/4 cores and k³/4 hosts, and one rate and delay for all links.
    ///
    /// Source: Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data Center Network
    /// Architecture", SIGCOMM 2008.
    ///
    /// # Errors
    /// An odd `k`, or zero.
    pub fn k_ary(k: u32, rate: Rate, delay: Time) -> Result<FatTree, TopologyError> {
        if k == 0 || !k.is_multiple_of(2) {
            return Err(TopologyError::OddRadix { k });
        }
        let cores_per_agg = k / 2;
        Ok(FatTree {
            hosts_per_leaf: k / 2,
            leaves_per_pod: k / 2,
            aggs_per_pod: k / 2,
            links_per_leaf_agg: 1,
            host_rate: rate,
            leaf_rate: rate,
            host_delay: delay,
            leaf_delay: delay,
            core: Some(CoreTier {
                pods: k,
                cores_per_agg,
                links_per_agg_core: 1,
                taper: Taper::default(),

                links_per_pod: None,
                rate,
                delay,
            }),
            planes: Planes::ONE,
        })
    }

    pub(super) fn wire(&self, budget: &Budget) -> Result<Topology, TopologyError> {
        let mut wiring = Wiring::default();
        let numbers = self.add_nodes(&mut wiring);
        wiring.connect_hosts(
            numbers.leaves,
            self.hosts_per_leaf,
            self.host_rate,
            self.host_delay,
        );
        let (leaf_rate, leaf_delay) = (self.leaf_rate, self.leaf_delay);
        for leaf in 0..numbers.aggs.since(numbers.leaves) {
            let pod = leaf / self.leaves_per_pod;
            for agg in 0..self.aggs_per_pod {
                let agg = numbers.aggs.after(pod * self.aggs_per_pod + agg);
                let leaf = numbers.leaves.after(leaf);
                wiring.connect(leaf, agg, self.links_per_leaf_agg, leaf_rate, leaf_delay);
            }
        }
        if let Some(tier) = &self.core {
            let firsts = self.first_cores(tier);
            for agg in 0..numbers.cores.since(numbers.aggs) {
                let group = agg % self.aggs_per_pod;
                let (mut left, each) = (self.links_up(tier, group), tier.links_per_agg_core);
                let mut core = numbers.cores.after(firsts[group as usize]);
                // Cores are filled one after the other, so cores without cables are left out
                // altogether.
                while left > 0 {
                    let links = left.min(each);
                    wiring.connect(numbers.aggs.after(agg), core, links, tier.rate, tier.delay);
                    (left, core) = (left - links, core.after(1));
                }
            }
        }
        wiring.on_planes(self.planes).finish(budget)
    }

    /// Counts the cables from each pod to the cores before tapering.
    fn full_links_per_pod(&self, tier: &CoreTier) -> u64 {
        let each = u64::from(tier.cores_per_agg).saturating_mul(tier.links_per_agg_core.into());
        each.saturating_mul(self.aggs_per_pod.into())
    }

    /// Counts the cables from each pod to the cores.
    fn links_per_pod(&self, tier: &CoreTier) -> u64 {
        let tapered = || {
            let full = self.full_links_per_pod(tier);
            full.saturating_mul(tier.taper.parts) / tier.taper.of
        };
        tier.links_per_pod.map_or_else(tapered, u64::from)
    }

    /// Counts the cables from one aggregation switch in `group` to the cores.
    fn links_up(&self, tier: &CoreTier, group: u32) -> u32 {
        let full = tier.cores_per_agg.saturating_mul(tier.links_per_agg_core);
        if tier.links_per_pod.is_none() && tier.taper == Taper::default() {
            return full;
        }
        let of_pod = self.links_per_pod(tier) as u32;
        let dealt = of_pod / self.aggs_per_pod + u32::from(group < of_pod % self.aggs_per_pod);
        dealt.min(full)
    }

    /// Returns each group's first core by index, and at the end the core count.
    fn first_cores(&self, tier: &CoreTier) -> Vec<u32> {
        let cores = (0..self.aggs_per_pod)
            .map(|group| self.links_up(tier, group).div_ceil(tier.links_per_agg_core));
        let mut sums = vec![0];
        sums.extend(cores.scan(0, |sum, cores| {
            *sum += cores;
            Some(*sum)
        }));
        sums
    }

    fn pods(&self) -> u32 {
        self.core.as_ref().map_or(1, |core| core.pods)
    }

    pub(super) fn size(&self) -> Result<Size, TopologyError> {
        check_counts(&[
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("leaves_per_pod", self.leaves_per_pod),
            ("aggs_per_pod", self.aggs_per_pod),
            ("links_per_leaf_agg", self.links_per_leaf_agg),
        ])?;
        check_rates(&[("host_rate", self.host_rate), ("leaf_rate", self.leaf_rate)])?;
        let (mut cores, mut core_cables) = (0, 0);
        if let Some(core) = &self.core {
            check_counts(&[
                ("pods", core.pods),
                ("cores_per_agg", core.cores_per_agg),
                ("links_per_agg_core", core.links_per_agg_core),
                ("links_per_pod", core.links_per_pod.unwrap_or(1)),
            ])?;
            check_rates(&[("core rate", core.rate)])?;
            (cores, core_cables) = self.cores_and_cables(core);
        }
        let leaves = [self.pods(), self.leaves_per_pod];
        let hosts = product(&[leaves[0], leaves[1], self.hosts_per_leaf]);
        let leaf_cables = product(&[
            leaves[0],
            leaves[1],
            self.aggs_per_pod,
            self.links_per_leaf_agg,
        ]);
        // Planes share the hosts, and each has switches and cables of its own.
        let planes = u128::from(self.planes.count());
        let aggs = product(&[self.pods(), self.aggs_per_pod]);
        let cables = hosts
            .saturating_add(leaf_cables)
            .saturating_add(core_cables);
        Counts {
            hosts,
            switches: (product(&leaves) + aggs).saturating_add(cores) * planes,
            leaves: product(&leaves),
            cables: cables.saturating_mul(planes),
            regions: 0,
        }
        .size(SIZE_PARAMETERS)
    }

    /// Counts the cores, and all cables to them.
    fn cores_and_cables(&self, tier: &CoreTier) -> (u128, u128) {
        let (aggs, of_pod) = (u64::from(self.aggs_per_pod), self.links_per_pod(tier));
        let cores = |links: u64| links.div_ceil(tier.links_per_agg_core.into());
        // If the cables do not divide evenly, the first `more` groups have one cable more.
        let (links, more) = (of_pod / aggs, of_pod % aggs);
        let fewer = u128::from(aggs - more) * u128::from(cores(links));
        let all = fewer + u128::from(more) * u128::from(cores(links + 1));
        (all, u128::from(of_pod) * u128::from(tier.pods))
    }

    /// Adds all nodes. The counts fit 32 bits once [`FatTree::size`] has passed.
    fn add_nodes(&self, wiring: &mut Wiring) -> Numbers {
        let leaves = self.pods() * self.leaves_per_pod;
        let hosts = leaves * self.hosts_per_leaf;
        let aggs = self.pods() * self.aggs_per_pod;
        wiring.hosts(hosts);
        for leaf in 0..leaves {
            wiring.switch(format!("leaf{leaf}"), 0);
        }
        for agg in 0..aggs {
            // Without a core the upper tier is the last one, whose switches are called spines.
            let name = match self.core {
                Some(_) => format!(
                    "pod{}/agg{}",
                    agg / self.aggs_per_pod,
                    agg % self.aggs_per_pod
                ),
                None => format!("spine{agg}"),
            };
            wiring.switch(name, 1);
        }
        let cores = self.core.as_ref().map(|core| self.first_cores(core));
        for core in 0..cores.and_then(|sums| sums.last().copied()).unwrap_or(0) {
            wiring.switch(format!("core{core}"), 2);
        }
        Numbers {
            leaves: NodeId::new(hosts),
            aggs: NodeId::new(hosts + leaves),
            cores: NodeId::new(hosts + leaves + aggs),
        }
    }
}
