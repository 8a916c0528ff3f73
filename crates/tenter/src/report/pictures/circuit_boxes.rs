//! Boxes that stand for switches in a picture of the tree: one for each switch, or one for a pod or
//! several leaves. The drawing script places them.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::text::count;
use crate::report::tree::{Tree, TreeSwitch};

/// Maximum number of leaves that are drawn one by one; beyond it a box stands for a pod or several
/// leaves.
const LEAVES: usize = 32;
/// Maximum number of boxes side by side.
const BOXES: usize = 40;

/// Arrangement in which the script draws boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Shape {
    /// Leaves alone, in a ring.
    Ring,
    /// A row for each tier, pods side by side.
    Tree,
    /// A row with pods or leaf groups, below one box for each higher tier.
    Layers,
}

/// A box: one switch, or several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SwitchBox {
    /// Name of the switch or pod, or of the first among several.
    pub(super) name: String,
    /// Name of the last among several leaves or pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last: Option<String>,
    /// Lowest tier among its switches: 1 if there are leaves.
    pub(super) tier: u32,
    /// Pod whose frame surrounds the box, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pod: Option<u32>,
    /// Number of switches in the box.
    pub(super) switches: usize,
    /// Number of leaves among them.
    pub(super) leaves: usize,
    /// NICs cabled to its leaves.
    pub(super) hosts: u64,
}

/// The boxes into which a tree of switches is divided.
#[derive(Clone, Debug)]
pub(super) struct Boxes {
    /// Boxes, from left to right within pods and tiers.
    pub(super) all: Vec<SwitchBox>,
    /// Index of each switch's box, by node index.
    pub(super) of_node: HashMap<u32, usize>,
    /// Arrangement that the drawing uses.
    pub(super) shape: Shape,
    /// True if boxes may stand for several switches.
    pub(super) is_grouped: bool,
}

/// Switches that share a box.
struct Group<'a> {
    name: String,
    last: Option<String>,
    members: Vec<&'a TreeSwitch>,
}

impl Boxes {
    /// Divides a tree into boxes.
    pub(super) fn of(tree: &Tree) -> Boxes {
        let top = tree.top();
        let widest = (1..=top).map(|tier| tree.count(tier)).max().unwrap_or(0);
        // A wide tier needs grouping as much as many leaves do: both would make boxes narrow.
        let is_grouped = tree.count(1) > LEAVES || widest > BOXES;
        let groups = match (is_grouped, top) {
            (false, _) => single(tree),
            (true, 0..=1) => grouped(tree),
            (true, _) => upper(tree).into_iter().chain(grouped(tree)).collect(),
        };
        let shape = match (is_grouped, top) {
            (_, 0..=1) => Shape::Ring,
            (false, _) => Shape::Tree,
            (true, _) => Shape::Layers,
        };
        let mut boxes = Boxes {
            all: Vec::new(),
            of_node: HashMap::new(),
            shape,
            is_grouped,
        };
        for group in groups {
            let nodes = group.members.iter().map(|switch| switch.node);
            boxes
                .of_node
                .extend(nodes.map(|node| (node, boxes.all.len())));
            boxes.all.push(group.to_box());
        }
        boxes
    }
}

impl Group<'_> {
    fn one(switch: &TreeSwitch) -> Group<'_> {
        Group {
            name: switch.name.clone(),
            last: None,
            members: vec![switch],
        }
    }

    fn to_box(&self) -> SwitchBox {
        let members = || self.members.iter();
        let is_alone = self.members.len() == 1;
        SwitchBox {
            name: self.name.clone(),
            last: self.last.clone(),
            tier: members().map(|switch| switch.tier).min().unwrap_or(1),
            pod: self.members[0].pod.filter(|_| is_alone),
            switches: self.members.len(),
            leaves: members().filter(|switch| switch.tier == 1).count(),
            hosts: members().map(|switch| switch.hosts).sum(),
        }
    }
}

/// Makes a group for each switch: pod by pod, leaves first, and the highest tier last.
fn single(tree: &Tree) -> Vec<Group<'_>> {
    let mut switches: Vec<&TreeSwitch> = tree.switches.iter().collect();
    let top = tree.top();
    switches.sort_by_key(|switch| {
        let is_top = switch.tier == top && top > 1;
        (is_top, switch.pod.filter(|_| !is_top), switch.tier)
    });
    switches.into_iter().map(Group::one).collect()
}

/// Groups switches outside pods by tier, without leaves, the highest tier first.
fn upper(tree: &Tree) -> Vec<Group<'_>> {
    let mut upper: BTreeMap<u32, Vec<&TreeSwitch>> = BTreeMap::new();
    for switch in &tree.switches {
        if switch.tier > 1 && switch.pod.is_none() {
            upper.entry(switch.tier).or_default().push(switch);
        }
    }
    let group = |(tier, members): (u32, Vec<_>)| Group {
        name: format!(
            "{} {} switches",
            count(members.len() as u64),
            tree.tiers.name(tier)
        ),
        last: None,
        members,
    };
    upper.into_iter().rev().map(group).collect()
}

/// Groups switches by pod, or leaf by leaf in fabrics without pods; then merges neighbours until
/// there are at most [`BOXES`] groups.
fn grouped(tree: &Tree) -> Vec<Group<'_>> {
    let top = tree.top();
    let mut groups: BTreeMap<u32, Group<'_>> = BTreeMap::new();
    for switch in &tree.switches {
        let (key, name) = match switch.pod {
            Some(pod) => (pod, format!("pod {pod}")),
            None if switch.tier == 1 && top < 3 => (switch.node, switch.name.clone()),
            None => continue,
        };
        let members = Vec::new();
        let group = groups.entry(key).or_insert(Group {
            name,
            last: None,
            members,
        });
        group.members.push(switch);
    }
    // Each box stands for the same number of groups, except perhaps the last.
    let together = groups.len().div_ceil(BOXES).max(1);
    let mut merged: Vec<Group<'_>> = Vec::new();
    for (place, group) in groups.into_values().enumerate() {
        match merged.last_mut() {
            Some(last) if place % together > 0 => {
                last.last = Some(group.name);
                last.members.extend(group.members);
            }
            _ => merged.push(group),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tree::tests::trial;

    /// A host on each leaf, each leaf to all switches above it in its pod, and these to all cores.
    fn fat_tree(pods: u32, leaves: u32, aggs: u32, cores: u32) -> Tree {
        let hosts = pods * leaves;
        let (first_agg, first_core) = (2 * hosts, 2 * hosts + pods * aggs);
        let mut cables: Vec<(u32, u32)> = (0..hosts).map(|host| (host, hosts + host)).collect();
        for pod in 0..pods {
            for agg in (0..aggs).map(|agg| first_agg + pod * aggs + agg) {
                cables.extend((0..leaves).map(|leaf| (hosts + pod * leaves + leaf, agg)));
                cables.extend((0..cores).map(|core| (agg, first_core + core)));
            }
        }
        Tree::of(&trial(hosts, hosts + pods * aggs + cores, &cables))
    }

    #[test]
    fn small_trees_have_a_box_for_each_switch() {
        for (pods, leaves, aggs, cores) in
            [(4, 2, 2, 4), (8, 4, 4, 16), (1, 1, 1, 1), (16, 2, 2, 1)]
        {
            let tree = fat_tree(pods, leaves, aggs, cores);
            let boxes = Boxes::of(&tree);
            assert_eq!((boxes.shape, boxes.is_grouped), (Shape::Tree, false));
            assert_eq!(boxes.all.len(), tree.switches.len());
            assert_eq!(boxes.of_node.len(), tree.switches.len());
            for switch in &tree.switches {
                let own = &boxes.all[boxes.of_node[&switch.node]];
                assert_eq!((&own.name, own.tier), (&switch.name, switch.tier));
            }
        }
    }

    #[test]
    fn large_trees_have_a_box_for_each_pod() {
        let boxes = Boxes::of(&fat_tree(8, 8, 4, 8));
        assert_eq!(boxes.shape, Shape::Layers);
        assert_eq!(boxes.all.len(), 9, "eight pods and the cores");
        let (core, pod) = (&boxes.all[0], &boxes.all[1]);
        assert_eq!((core.switches, core.leaves, core.tier), (8, 0, 3));
        assert_eq!((pod.name.as_str(), &pod.last), ("pod 0", &None));
        assert_eq!((pod.leaves, pod.hosts, pod.tier), (8, 8, 1));
        assert_eq!(boxes.of_node.len(), 64 + 32 + 8);
        // 100 pods, in 34 boxes of three but for the last.
        let boxes = Boxes::of(&fat_tree(100, 2, 1, 1));
        assert_eq!(boxes.all.len(), 35);
        let pods = &boxes.all[1];
        assert_eq!(
            (pods.name.as_str(), pods.last.as_deref()),
            ("pod 0", Some("pod 2"))
        );
        assert_eq!((pods.leaves, pods.hosts), (6, 6));
    }

    #[test]
    fn leaves_alone_make_a_ring() {
        for (leaves, expected) in [(2, 2), (8, 8), (32, 32), (100, 34)] {
            let chain = (0..leaves).map(|host| (host, leaves + host));
            let tree = Tree::of(&trial(leaves, leaves, &chain.collect::<Vec<_>>()));
            let boxes = Boxes::of(&tree);
            assert_eq!((boxes.shape, boxes.all.len()), (Shape::Ring, expected));
        }
    }
}
