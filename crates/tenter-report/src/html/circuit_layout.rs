//! Places of switches in the picture of a tree: in rows by tier, pod beside pod, or in a ring.

use std::collections::{BTreeMap, HashMap};
use std::f64::consts::TAU;

use super::text::count;
use crate::tree::{Tree, TreeSwitch};

/// The most leaves that are drawn one by one; beyond it a box stands for a pod or several leaves.
const LEAVES: usize = 32;
/// The most adjacent boxes.
const BOXES: usize = 40;
/// The most adjacent boxes in a picture of half the width of the page.
const FEW: usize = 10;
/// Width of such a picture.
const FEW_WIDTH: f64 = 540.0;
/// Width of one as wide as the page.
const WIDTH: f64 = 1_100.0;
/// Between two tiers.
const STEP: f64 = 96.0;
/// A box that most names do not fit.
const NARROW: f64 = 38.0;
/// Height of boxes whose names are written upright.
const UPRIGHT: f64 = 50.0;
/// Between the edge of the picture and the drawing, where a pod has its frame.
const MARGIN: f64 = 10.0;

/// A box: a switch, or several of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// The texts in it, in the order of preference.
    pub(super) names: Vec<String>,
    /// Its description.
    pub(super) about: String,
    /// The middle of the box.
    pub(super) at: (f64, f64),
    /// Width and height.
    pub(super) size: (f64, f64),
    /// From 0 for the highest tier.
    pub(super) row: usize,
    /// NICs on it, if it is a single leaf.
    pub(super) hosts: u64,
    /// Whether it stands for several switches.
    pub(super) is_group: bool,
}

/// The frame around a pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    /// Its name.
    pub(super) name: String,
    /// Left, top, width and height.
    pub(super) place: (f64, f64, f64, f64),
}

/// The places of all parts.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The boxes.
    pub(super) items: Vec<Item>,
    /// The box of each switch, by node index.
    pub(super) of_node: HashMap<u32, usize>,
    /// The pods, if switches are drawn one by one.
    pub(super) frames: Vec<Frame>,
    /// Width of the picture.
    pub(super) width: f64,
    /// Down to the lower edge of the lowest boxes.
    pub(super) height: f64,
    /// The middle of the ring, if it is one.
    pub(super) ring: Option<(f64, f64)>,
    /// Number of rows.
    pub(super) rows: usize,
    /// Whether boxes stand for several switches.
    pub(super) is_grouped: bool,
}

/// Switches that share a box.
struct Group<'a> {
    /// The switch, the pod, or the first of several.
    name: String,
    /// The last of several leaves or pods.
    last: Option<String>,
    /// Those of lower tiers by tier, from the leaves up.
    members: Vec<&'a TreeSwitch>,
}

impl Layout {
    /// The layout of a tree.
    pub(super) fn of(tree: &Tree) -> Layout {
        let top = tree.top();
        let widest = (1..=top).map(|tier| tree.count(tier)).max().unwrap_or(0);
        if tree.count(1) <= LEAVES && widest <= BOXES {
            return if top <= 1 {
                Layout::ring(&single(tree))
            } else {
                Layout::tree(tree, widest)
            };
        }
        let groups = grouped(tree);
        let layout = if top <= 1 {
            Layout::ring(&groups)
        } else {
            Layout::layers(tree, &groups)
        };
        Layout {
            is_grouped: true,
            ..layout
        }
    }

    /// Whether the picture has the width of the page to itself.
    pub(super) fn is_wide(&self) -> bool {
        self.width > FEW_WIDTH
    }

    fn empty(width: f64, height: f64) -> Layout {
        Layout {
            items: Vec::new(),
            of_node: HashMap::new(),
            frames: Vec::new(),
            width,
            height,
            ring: None,
            rows: 1,
            is_grouped: false,
        }
    }

    fn put(&mut self, item: Item, members: &[&TreeSwitch]) {
        let place = self.items.len();
        let nodes = members.iter().map(|switch| (switch.node, place));
        self.of_node.extend(nodes);
        self.items.push(item);
    }

    /// All boxes on a circle, beginning at its top.
    fn ring(groups: &[Group<'_>]) -> Layout {
        let boxes = groups.len().max(1) as f64;
        // Boxes of 54 with some room between them.
        let radius = (boxes * 64.0 / TAU).clamp(110.0, 400.0);
        let few = radius <= 200.0;
        let width = if few { FEW_WIDTH } else { WIDTH };
        let (across, down) = (
            if few {
                (width / 2.0 - 45.0_f64).min(radius * 1.3)
            } else {
                radius * 1.25
            },
            radius,
        );
        let centre = (width / 2.0, down + 20.0);
        let mut layout = Layout::empty(width, 2.0 * down + 40.0);
        layout.ring = Some(centre);
        for (place, group) in groups.iter().enumerate() {
            let angle = place as f64 / boxes * TAU;
            let at = (
                centre.0 + across * angle.sin(),
                centre.1 - down * angle.cos(),
            );
            let item = item(group, at, (54.0, 28.0), 0);
            layout.put(item, &group.members);
        }
        layout
    }

    /// Every switch by itself: a row for each tier, pods beside each other.
    fn tree(tree: &Tree, widest: usize) -> Layout {
        let top = tree.top();
        let width = if widest <= FEW { FEW_WIDTH } else { WIDTH };
        let mut layout = Layout::empty(width, 0.0);
        layout.rows = top as usize;
        let mut pods: BTreeMap<Option<u32>, Vec<&TreeSwitch>> = BTreeMap::new();
        for switch in tree.switches.iter().filter(|switch| switch.tier < top) {
            pods.entry(switch.pod).or_default().push(switch);
        }
        let of_tier = |switches: &[&TreeSwitch], tier: u32| {
            let found = switches.iter().filter(|switch| switch.tier == tier);
            found.count()
        };
        // A pod is as wide as its widest tier, and half a box is left between two.
        let slots = |switches: &[&TreeSwitch]| {
            let tiers = (1..top).map(|tier| of_tier(switches, tier));
            tiers.max().unwrap_or(1).max(1) as f64
        };
        let framed = pods.len() > 1;
        let gap = if framed { 0.5 } else { 0.0 };
        let total: f64 = pods.values().map(|pod| slots(pod) + gap).sum();
        let slot = (width - 2.0 * MARGIN) / (total - gap).max(1.0);
        let level = |tier: u32| 26.0 + f64::from(top - tier) * STEP;
        let mut left = MARGIN;
        for (pod, switches) in &pods {
            let span = slots(switches) * slot;
            for tier in 1..top {
                let many = of_tier(switches, tier);
                let of_tier = switches.iter().filter(|switch| switch.tier == tier);
                for (place, switch) in of_tier.enumerate() {
                    let x = left + (place as f64 + 0.5) / many as f64 * span;
                    layout.put_switch(switch, (x, level(tier)), slot, (top - tier) as usize);
                }
            }
            if let (Some(pod), true) = (pod, framed) {
                let (above, below) = (level(top - 1) - 18.0, level(1) + 30.0);
                layout.frames.push(Frame {
                    name: format!("pod {pod}"),
                    place: (left - 4.0, above, span + 8.0, below - above),
                });
            }
            left += span + gap * slot;
        }
        let many = tree.count(top);
        let of_top = tree.switches.iter().filter(|switch| switch.tier == top);
        let wide = (width - 2.0 * MARGIN) / many.max(1) as f64;
        for (place, switch) in of_top.enumerate() {
            let x = MARGIN + (place as f64 + 0.5) * wide;
            layout.put_switch(switch, (x, level(top)), wide, 0);
        }
        layout.height = level(1) + 32.0;
        layout
    }

    fn put_switch(&mut self, switch: &TreeSwitch, at: (f64, f64), slot: f64, row: usize) {
        let group = Group {
            name: switch.name.clone(),
            last: None,
            members: vec![switch],
        };
        let width = (slot * 0.82).min(72.0);
        let height = match switch.hosts {
            0 => 22.0,
            _ if width < NARROW => UPRIGHT,
            _ => 30.0,
        };
        let item = item(&group, at, (width, height), row);
        self.put(item, &group.members);
    }

    /// A box for each pod or group of leaves, and one for each tier outside pods.
    fn layers(tree: &Tree, groups: &[Group<'_>]) -> Layout {
        let top = tree.top();
        let width = WIDTH;
        let mut layout = Layout::empty(width, 0.0);
        let mut upper: BTreeMap<u32, Vec<&TreeSwitch>> = BTreeMap::new();
        let of_groups = |switch: &TreeSwitch| switch.tier == 1 || switch.pod.is_some();
        for switch in tree.switches.iter().filter(|switch| !of_groups(switch)) {
            upper.entry(switch.tier).or_default().push(switch);
        }
        layout.rows = upper.len() + 1;
        for (row, (tier, members)) in upper.iter().rev().enumerate() {
            let name = tree.tiers.name(*tier);
            let group = Group {
                name: format!("{} {name} switches", count(members.len() as u64)),
                last: None,
                members: members.clone(),
            };
            let at = (width / 2.0, 26.0 + row as f64 * STEP);
            layout.put(item(&group, at, (width - 2.0 * MARGIN, 26.0), row), members);
        }
        let slot = (width - 2.0 * MARGIN) / groups.len().max(1) as f64;
        let wide = (slot * 0.8).min(110.0);
        let y = 36.0 + upper.len() as f64 * STEP;
        for (place, group) in groups.iter().enumerate() {
            let x = MARGIN + (place as f64 + 0.5) * slot;
            let size = (wide, if wide < NARROW { UPRIGHT } else { 36.0 });
            let mut item = item(group, (x, y), size, layout.rows - 1);
            item.is_group = group.members.len() > 1;
            layout.put(item, &group.members);
        }
        debug_assert!(top > 1, "a single tier is a ring");
        layout.height = y + UPRIGHT / 2.0 + 2.0;
        layout
    }
}

/// Each leaf by itself.
fn single<'a>(tree: &'a Tree) -> Vec<Group<'a>> {
    let group = |switch: &'a TreeSwitch| Group {
        name: switch.name.clone(),
        last: None,
        members: vec![switch],
    };
    tree.switches.iter().map(group).collect()
}

/// Pods, or leaves in the fabrics without; grouped so that there are not too many.
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

fn item(group: &Group<'_>, at: (f64, f64), size: (f64, f64), row: usize) -> Item {
    let hosts: u64 = group.members.iter().map(|switch| switch.hosts).sum();
    let mut about = match &group.last {
        Some(last) => format!("{} to {last}", group.name),
        None => group.name.clone(),
    };
    let is_group = group.members.len() > 1;
    let leaves = group.members.iter().filter(|switch| switch.tier == 1);
    let leaves = leaves.count() as u64;
    if is_group && leaves > 0 {
        about = format!("{about}\n{} leaves", count(leaves));
    }
    if hosts > 0 {
        about = format!("{about}\n{} hosts", count(hosts));
    }
    let name = match &group.last {
        Some(_) => format!("{} …", group.name),
        None => group.name.clone(),
    };
    let mut names = vec![name];
    // Within its frame the end of its name identifies a switch.
    if let Some((_, end)) = group.name.rsplit_once('/') {
        names.push(end.to_owned());
    }
    Item {
        names,
        about,
        at,
        size,
        row,
        hosts: if is_group { 0 } else { hosts },
        is_group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::trial;

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

    fn check(layout: &Layout) {
        let edges = |item: &Item| {
            let ((x, y), (width, height)) = (item.at, item.size);
            let (left, top) = (x - width / 2.0, y - height / 2.0);
            (left, top, left + width, top + height)
        };
        for (place, item) in layout.items.iter().enumerate() {
            let (left, top, right, bottom) = edges(item);
            assert!(left >= 0.0 && right <= layout.width, "{item:?}");
            assert!(top >= 0.0 && bottom <= layout.height, "{item:?}");
            for other in layout.items[place + 1..].iter().map(edges) {
                let apart = other.0 >= right || other.2 <= left;
                assert!(
                    apart || other.1 >= bottom || other.3 <= top,
                    "{item:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn no_box_covers_another() {
        for (pods, leaves, aggs, cores) in
            [(4, 2, 2, 4), (8, 4, 4, 16), (1, 1, 1, 1), (16, 2, 2, 1)]
        {
            let tree = fat_tree(pods, leaves, aggs, cores);
            let layout = Layout::of(&tree);
            check(&layout);
            assert_eq!(layout.items.len(), tree.switches.len());
            assert_eq!(layout.of_node.len(), tree.switches.len());
        }
    }

    #[test]
    fn large_trees_have_a_box_for_each_pod() {
        let layout = Layout::of(&fat_tree(8, 8, 4, 8));
        check(&layout);
        assert_eq!(layout.items.len(), 9, "eight pods and the cores");
        assert_eq!(layout.items[1].about, "pod 0\n8 leaves\n8 hosts");
        assert_eq!((layout.of_node.len(), layout.rows), (64 + 32 + 8, 2));
        // 100 pods, in 34 boxes of three but for the last.
        let layout = Layout::of(&fat_tree(100, 2, 1, 1));
        check(&layout);
        assert_eq!(layout.items.len(), 35);
        assert_eq!(layout.items[1].about, "pod 0 to pod 2\n6 leaves\n6 hosts");
    }

    #[test]
    fn leaves_alone_make_a_ring() {
        for leaves in [2, 8, 32, 100] {
            let chain = (0..leaves).map(|host| (host, leaves + host));
            let layout = Layout::of(&Tree::of(&trial(
                leaves,
                leaves,
                &chain.collect::<Vec<_>>(),
            )));
            assert!(layout.ring.is_some());
            check(&layout);
        }
    }
}
