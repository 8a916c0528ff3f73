//! Writer for regular fat trees as `.topo` files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tenter_fabric::topology::{Cable, NodeId, Topology};
use tenter_language::units::{Rate, Time};

use crate::fabric::MULTI_PLANE;

/// Rate and propagation delay of all cables below a tier.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Level {
    rate: Rate,
    delay: Time,
}

/// Counts in a regular tree: they are the same at all switches on a tier.
struct Tree {
    hosts: u32,
    of_leaf: u32,
    pod_leaves: u32,
    pod_aggs: u32,
    bundle: u32,
    core: Option<Core>,
}

/// Counts above the aggregation switches.
struct Core {
    pods: u32,
    of_agg: u32,
    bundle: u32,
}

type Regular<T> = Result<T, String>;

/// Returns the error for a fabric that is no regular tree, and the remedy.
fn irregular<T>(what: &str) -> Regular<T> {
    Err(format!(
        "{what}, and htsim has regular fat trees only; export to `ns3-topology` or `infragraph`"
    ))
}

/// Writes a fabric's file, with notes for the user.
///
/// # Errors
/// A sentence that says why the fabric is no regular tree with two or three tiers.
pub fn write(topology: &Topology) -> Regular<(String, Vec<String>)> {
    if !topology.optics.is_empty() {
        return irregular("the fabric has circuits that change");
    }
    if topology.nic_ports > 1 {
        return Err(MULTI_PLANE.to_owned());
    }
    let top = topology.top_tier().unwrap_or(0);
    if !(1..=2).contains(&top) {
        return irregular(&format!("the fabric has {} tier(s) of switches", top + 1));
    }
    let levels = levels(topology, usize::from(top) + 1)?;
    let tree = Tree::of(topology, top)?;
    let mut notes = vec![
        "latencies of switches and lengths of queues are not written; add `Switch_Latency_ns` and \
         `Queue_Up` to the tiers"
            .to_owned(),
    ];
    if !topology.routes.is_empty() {
        notes.push("static routes are left out".to_owned());
    }
    let text = tree.text(&levels, &mut notes)?;
    Ok((text, notes))
}

/// Collects rate and delay below each tier, where all cables must have the same.
fn levels(topology: &Topology, tiers: usize) -> Regular<Vec<Level>> {
    let mut levels: Vec<Option<Level>> = vec![None; tiers];
    for Cable { ends, rate, delay } in &topology.cables {
        let height = |node| topology.tier(node).map_or(0, |tier| usize::from(tier) + 1);
        let [a, b] = ends.map(|end| height(end.node));
        let (low, high) = (a.min(b), a.max(b));
        if high != low + 1 {
            let name = |at: usize| topology.name(ends[at].node);
            let what = format!(
                "`{}` and `{}` are not of tiers that follow",
                name(0),
                name(1)
            );
            return irregular(&what);
        }
        let level = Level {
            rate: *rate,
            delay: *delay,
        };
        let known = *levels[low].get_or_insert(level);
        if known != level {
            let what = format!("cables below tier {low} differ in rate or delay");
            return irregular(&what);
        }
    }
    let all: Option<Vec<Level>> = levels.into_iter().collect();
    all.map_or_else(|| irregular("a tier has no cables below"), Ok)
}

/// Counts the cables from a node to each neighbour above it, or below it.
fn neighbours(topology: &Topology, node: NodeId, is_up: bool) -> BTreeMap<NodeId, u32> {
    let mut counts = BTreeMap::new();
    for peer in topology.neighbours(node) {
        if (topology.tier(peer.node) > topology.tier(node)) == is_up {
            *counts.entry(peer.node).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the number of cables to each node in `nodes`, if it is the same for all and no other
/// node has cables.
fn bundle(counts: &BTreeMap<NodeId, u32>, nodes: impl Iterator<Item = NodeId>) -> Option<u32> {
    let cables = counts.values().next().copied()?;
    let alike = counts.values().all(|count| *count == cables);
    (alike && counts.keys().copied().eq(nodes)).then_some(cables)
}

impl Tree {
    /// Counts a tree whose highest tier is `top`, and checks that it is regular.
    fn of(topology: &Topology, top: u8) -> Regular<Tree> {
        let of_tier = |tier: u8| {
            let nodes = topology.switch_nodes();
            let found = nodes.filter(|&node| topology.tier(node) == Some(tier));
            found.collect::<Vec<NodeId>>()
        };
        let (leaves, aggs) = (of_tier(0), of_tier(1));
        let (Some(&leaf), Some(&agg)) = (leaves.first(), aggs.first()) else {
            return irregular("a tier is empty");
        };
        let hosts = topology.hosts as u32;
        let of_leaf = hosts / leaves.len() as u32;
        let up = neighbours(topology, leaf, true);
        let Some(links) = up.values().next().copied() else {
            return irregular("leaves have no uplinks");
        };
        let pod_aggs = up.len() as u32;
        let pod_leaves = neighbours(topology, agg, false).len() as u32;
        let pods = aggs.len() as u32 / pod_aggs;
        if pods * pod_aggs != aggs.len() as u32 || pods * pod_leaves != leaves.len() as u32 {
            return irregular("pods differ in size");
        }
        if top == 1 && pods != 1 {
            return irregular("not every leaf is cabled to every spine");
        }
        for (number, &leaf) in (0..).zip(&leaves) {
            let name = topology.name(leaf);
            // htsim numbers hosts leaf after leaf, so each leaf must have the next `of_leaf` hosts.
            let own = NodeId::new(number * of_leaf).run(of_leaf);
            if bundle(&neighbours(topology, leaf, false), own) != Some(1) {
                return irregular(&format!(
                    "`{name}` does not have {of_leaf} hosts, in their order"
                ));
            }
            // Aggregation switches are numbered pod by pod.
            let first = agg.after(number / pod_leaves * pod_aggs);
            let up = neighbours(topology, leaf, true);
            if bundle(&up, first.run(pod_aggs)) != Some(links) {
                return irregular(&format!("`{name}` is not cabled as the first leaf is"));
            }
        }
        let core = (top == 2).then(|| Core::of(topology, &aggs, pod_aggs));
        Ok(Tree {
            hosts,
            of_leaf,
            pod_leaves,
            pod_aggs,
            bundle: links,
            core: core.transpose()?,
        })
    }

    /// Writes the file's text: the header, then a block for each tier.
    fn text(&self, levels: &[Level], notes: &mut Vec<String>) -> Regular<String> {
        let pod = self.of_leaf * self.pod_leaves;
        let mut text = format!(
            "Nodes {}\nTiers {}\nPodsize {pod}\n",
            self.hosts,
            levels.len()
        );
        let mut radix = vec![
            (self.of_leaf, self.pod_aggs * self.bundle, 1),
            (self.pod_leaves * self.bundle, 0, self.bundle),
        ];
        if let Some(core) = &self.core {
            radix[1].1 = core.of_agg * core.bundle;
            radix.push((core.pods * core.bundle, 0, core.bundle));
        }
        for (tier, (level, (down, up, bundle))) in levels.iter().zip(radix).enumerate() {
            let (bits, ps) = (level.rate.bits_per_second(), level.delay.ps());
            let (gbps, ns) = (bits / 1_000_000_000, ps / 1_000);
            // The format has whole numbers alone.
            if !bits.is_multiple_of(1_000_000_000) || !ps.is_multiple_of(1_000) {
                let what = format!(
                    "cables below tier {tier} have {} and {}, not whole Gbit/s and nanoseconds",
                    level.rate, level.delay
                );
                return irregular(&what);
            }
            let _ = write!(
                text,
                "\nTier {tier}\nDownlink_speed_Gbps {gbps}\nRadix_Down {down}\n"
            );
            if let Some(above) = levels.get(tier + 1) {
                let _ = writeln!(text, "Radix_Up {up}");
                let upper = u64::from(up) * (above.rate.bits_per_second() / 1_000_000_000);
                oversubscription(u64::from(down) * gbps, upper, tier, &mut text, notes);
            }
            if bundle > 1 {
                let _ = writeln!(text, "Bundle {bundle}");
            }
            let _ = writeln!(text, "Downlink_Latency_ns {ns}");
        }
        Ok(text)
    }
}

/// Writes the ratio of a tier's bandwidth below it to that above it, which htsim checks.
fn oversubscription(down: u64, up: u64, tier: usize, text: &mut String, notes: &mut Vec<String>) {
    match down.checked_div(up) {
        Some(ratio) if ratio > 0 && down.is_multiple_of(up) => {
            let _ = writeln!(text, "Oversubscribed {ratio}");
        }
        _ => notes.push(format!(
            "tier {tier} has {down} Gbit/s below it and {up} above it, which is no whole \
             `Oversubscribed`, and htsim may refuse it"
        )),
    }
}

impl Core {
    /// Counts the cores, each of which must have one bundle to one aggregation switch in each pod.
    fn of(topology: &Topology, aggs: &[NodeId], pod_aggs: u32) -> Regular<Core> {
        let ups: Vec<BTreeMap<NodeId, u32>> = aggs
            .iter()
            .map(|&agg| neighbours(topology, agg, true))
            .collect();
        let (pod, _) = ups.split_at(pod_aggs as usize);
        let bundle = pod[0].values().next().copied().unwrap_or(0);
        let mut cores: Vec<NodeId> = pod.iter().flat_map(|up| up.keys().copied()).collect();
        let in_groups = cores.len();
        cores.sort_unstable();
        cores.dedup();
        let all = topology.switch_nodes();
        let all = all.filter(|&node| topology.tier(node) == Some(2)).count();
        let alike = ups.chunks(pod_aggs as usize).all(|other| other == pod);
        let sizes = pod
            .iter()
            .all(|up| up.len() == pod[0].len() && up.values().all(|cables| *cables == bundle));
        // `in_groups` differs from the number of distinct cores if two aggregation switches of a
        // pod share a core.
        if bundle == 0 || !alike || !sizes || in_groups != cores.len() || cores.len() != all {
            return irregular("cores do not have one bundle of cables to each pod");
        }
        Ok(Core {
            pods: (aggs.len() / pod_aggs as usize) as u32,
            of_agg: pod[0].len() as u32,
            bundle,
        })
    }
}

#[cfg(test)]
mod tests {
    use tenter_language::units::Budget;

    use tenter_fabric::topology::{CoreTier, FatTree, LeafSpine, Rail, TopologySpec};

    use super::*;
    use crate::imported::Source;
    use crate::topo::read;

    fn written(spec: &TopologySpec) -> Regular<(String, Vec<String>)> {
        write(&spec.build(&Budget::unlimited()).expect("it is a fabric"))
    }

    #[test]
    fn trees_are_written_as_they_are_read() {
        let core = CoreTier {
            links_per_agg_core: 2,
            ..CoreTier::new(3, 2)
        };
        let tree = FatTree {
            links_per_leaf_agg: 2,
            core: Some(core),
            ..FatTree::new(4, 2, 2)
        };
        let (text, _) = written(&TopologySpec::FatTree(tree)).expect("it is regular");
        let bytes = text.as_bytes();
        let fabric = read(Source { name: "t", bytes }, &Budget::unlimited()).expect("it is read");
        for key in [
            "hosts_per_leaf: 4",
            "leaves_per_pod: 2",
            "aggs_per_pod: 2",
            "links_per_leaf_agg: 2",
            "pods: 3",
            "cores_per_agg: 2",
            "links_per_agg_core: 2",
            "leaf_delay: 200ns",
        ] {
            assert!(fabric.yaml.contains(key), "{key}\n{text}\n{}", fabric.yaml);
        }
        let spines = LeafSpine::new(4, 8, 2);
        let (text, _) = written(&TopologySpec::LeafSpine(spines)).expect("it is regular");
        assert!(text.contains("Tiers 2\nPodsize 32\n"), "{text}");
        assert!(text.contains("Radix_Up 2\nOversubscribed 4\n"), "{text}");
    }

    #[test]
    fn what_is_not_regular_is_refused() {
        let mut uneven = LeafSpine::new(2, 2, 2);
        uneven
            .overrides
            .push(tenter_fabric::topology::LinkOverride {
                leaf: 0,
                spine: 1,
                links: Some(2),
                rate: None,
            });
        let tapered = FatTree {
            core: Some(CoreTier {
                links_per_pod: Some(3),
                ..CoreTier::new(2, 2)
            }),
            ..FatTree::new(2, 2, 2)
        };
        for (spec, what) in [
            (TopologySpec::LeafSpine(uneven), "`leaf0` is not cabled"),
            (TopologySpec::Rail(Rail::new(2, 2, 2)), "in their order"),
            (TopologySpec::FatTree(tapered), "one bundle of cables"),
        ] {
            let error = written(&spec).expect_err(what);
            assert!(error.contains(what) && error.contains("; "), "{error}");
        }
    }
}
