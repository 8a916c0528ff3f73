//! The topology part of the `fabric` section: one table of keys per kind.

use tenter_topology::{
    CoreTier, FatTree, HOSTS_MAX, LeafSpine, LinkOverride, Rail, SingleSwitch, TopologyError,
    TopologySpec,
};
use tenter_units::{Rate, Time};

use crate::explicit_fabric;
use tenter_config::Presence::{Default, Depends, Required};
use tenter_config::{Key, KeyTable, key};
use tenter_notation::decode::{Field, Read, Section, split_remedy};
use tenter_notation::diagnostics::{Location, Problems};
use tenter_notation::tree::Node;

pub(crate) const RATE_ORIGIN: &str =
    "AI Fabric Test Methodology (Keysight): 400GE NICs and switch ports";
const HOST_DELAY: Key = key(
    "host_delay",
    "time",
    Default("25ns"),
    "Propagation delay of host links",
)
.from("a copper cable of 5 m at 1.98·10⁸ m/s");
const HOST_RATE: Key = key(
    "host_rate",
    "rate",
    Default("400Gbps"),
    "Line rate of host links",
)
.from(RATE_ORIGIN);
const UPLINK_RATE: Key = key(
    "uplink_rate",
    "rate",
    Default("400Gbps"),
    "Line rate of leaf-spine links",
)
.from(RATE_ORIGIN);
const FABRIC_DELAY: Key = key(
    "fabric_delay",
    "time",
    Default("200ns"),
    "Propagation delay of leaf-spine links",
)
.from("a fibre of 40 m at 1.98·10⁸ m/s");
const SPINES: Key = key("spines", "count", Required, "How many spines");
const LINKS_PER_PAIR: Key = key(
    "links_per_pair",
    "count",
    Default("1"),
    "Parallel cables between each leaf and each spine",
);

const SINGLE_SWITCH: KeyTable = KeyTable {
    title: "`fabric` with `kind: single-switch`",
    keys: &[
        key(
            "hosts",
            "count",
            Required,
            "How many hosts; a host is one NIC with one port",
        ),
        key(
            "rate",
            "rate",
            Default("400Gbps"),
            "Line rate of every link",
        )
        .from(RATE_ORIGIN),
        HOST_DELAY,
    ],
};

const LEAF_SPINE: KeyTable = KeyTable {
    title: "`fabric` with `kind: leaf-spine`",
    keys: &[
        key("leaves", "count", Required, "How many leaves"),
        key(
            "hosts_per_leaf",
            "count",
            Required,
            "Host ports of each leaf",
        ),
        SPINES,
        LINKS_PER_PAIR,
        HOST_RATE,
        UPLINK_RATE,
        HOST_DELAY,
        FABRIC_DELAY,
        key(
            "overrides",
            "list",
            Default("[]"),
            "Pairs of leaf and spine that differ from the rest",
        ),
        key(
            "cabling",
            "list of leaves, or `regular`",
            Default("regular"),
            "The leaf of every host, in the order of the hosts, counted from 0; `regular` fills leaf after leaf",
        ),
    ],
};

const OVERRIDE: KeyTable = KeyTable {
    title: "`fabric.overrides[]` with `kind: leaf-spine`",
    keys: &[
        key("leaf", "number", Required, "The leaf, counted from 0"),
        key("spine", "number", Required, "The spine, counted from 0"),
        key(
            "links",
            "count, may be 0",
            Depends("`links_per_pair`"),
            "Parallel cables between the two",
        ),
        key("rate", "rate", Depends("`uplink_rate`"), "Their line rate"),
    ],
};

const FAT_TREE: KeyTable = KeyTable {
    title: "`fabric` with `kind: fat-tree`",
    keys: &[
        key("hosts_per_leaf", "count", Required, "Hosts on each leaf"),
        key("leaves_per_pod", "count", Required, "Leaves of each pod"),
        key(
            "aggs_per_pod",
            "count",
            Required,
            "Aggregation switches of each pod; the spines where there is no core tier",
        ),
        key(
            "links_per_leaf_agg",
            "count",
            Default("1"),
            "Parallel cables between each leaf and each aggregation switch of its pod",
        ),
        HOST_RATE,
        key(
            "leaf_rate",
            "rate",
            Default("400Gbps"),
            "Line rate of the links above the leaves",
        )
        .from(RATE_ORIGIN),
        HOST_DELAY,
        key(
            "leaf_delay",
            "time",
            Default("200ns"),
            "Propagation delay of the links above the leaves",
        )
        .from("a fibre of 40 m at 1.98·10⁸ m/s"),
        key(
            "core",
            "mapping or `none`",
            Default("none"),
            "The third tier; without it the tree has two tiers and one pod",
        ),
    ],
};

const CORE: KeyTable = KeyTable {
    title: "`fabric.core` with `kind: fat-tree`",
    keys: &[
        key("pods", "count", Required, "How many pods"),
        key(
            "cores_per_agg",
            "count",
            Required,
            "Core switches above each aggregation switch",
        ),
        key(
            "links_per_agg_core",
            "count",
            Default("1"),
            "Parallel cables between an aggregation switch and each of its cores",
        ),
        key(
            "taper",
            "decimal, 1 or more",
            Default("1"),
            "How many times fewer cables each pod has to the cores than these counts make; cores without any are left out",
        ),
        key(
            "links_per_pod",
            "count",
            Depends("as `taper` has it"),
            "The same as a count: the cables from each pod to the cores",
        ),
        key(
            "rate",
            "rate",
            Default("400Gbps"),
            "Line rate of the links to the cores",
        )
        .from(RATE_ORIGIN),
        key(
            "delay",
            "time",
            Default("200ns"),
            "Propagation delay of the links to the cores",
        )
        .from("a fibre of 40 m at 1.98·10⁸ m/s"),
    ],
};

const RAIL: KeyTable = KeyTable {
    title: "`fabric` with `kind: rail`",
    keys: &[
        key("servers", "count", Required, "How many servers"),
        key(
            "nics_per_server",
            "count",
            Required,
            "NICs of each server, which is the number of rails; each NIC is a host",
        ),
        key(
            "servers_per_group",
            "count",
            Depends("`servers`"),
            "Servers that share their leaves: one leaf per group and rail",
        ),
        SPINES,
        LINKS_PER_PAIR,
        HOST_RATE,
        UPLINK_RATE,
        HOST_DELAY,
        FABRIC_DELAY,
        key(
            "cabling",
            "list of leaves, or `regular`",
            Default("regular"),
            "The leaf of every NIC, server by server, counted from 0; `regular` puts NIC i on the leaf of rail i",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 6] = [
    &SINGLE_SWITCH,
    &LEAF_SPINE,
    &OVERRIDE,
    &FAT_TREE,
    &CORE,
    &RAIL,
];

/// Slower links would make a frame take seconds, faster ones do not exist.
const RATES: std::ops::RangeInclusive<Rate> =
    Rate::from_bits_per_second(1_000_000)..=Rate::from_gbps(100_000);
/// A second of delay is 200,000 km of fibre.
pub(crate) const DELAYS: std::ops::RangeInclusive<Time> = Time::ZERO..=Time::from_us(1_000_000);
/// Counts of anything.
pub(crate) const COUNTS: std::ops::RangeInclusive<u64> = 1..=HOSTS_MAX as u64;

/// Where the parts of a topology were described, for what shows only when it is built.
#[derive(Default)]
pub(crate) struct Places {
    kind: Option<Location>,
    lists: Option<Location>,
    items: Vec<Option<Location>>,
    routes: Vec<Option<Location>>,
}

/// Reads the kind and its keys out of `fabric`.
pub(crate) fn read(fabric: &mut Section<'_>) -> Option<(TopologySpec, Places)> {
    type Reader = fn(&mut Section<'_>, &mut Places) -> Option<TopologySpec>;
    let kinds: [(&str, (&'static KeyTable, Reader)); 5] = [
        ("single-switch", (&SINGLE_SWITCH, read_single_switch)),
        ("leaf-spine", (&LEAF_SPINE, read_leaf_spine)),
        ("fat-tree", (&FAT_TREE, read_fat_tree)),
        ("rail", (&RAIL, read_rail)),
        (
            "explicit",
            (&explicit_fabric::EXPLICIT, explicit_fabric::read),
        ),
    ];
    let kind_field = fabric.take("kind");
    let kind = kind_field.as_ref().and_then(|field| field.choice(&kinds));
    let Some((table, reader)) = kind else {
        // The other keys are read as those of the kind they fit best, so that all wrong values are
        // told at once; keys that this kind lacks, or that another one has, are no problem.
        let (table, reader) = likeliest(fabric, &kinds);
        fabric.extend(table);
        fabric.read_what_is_given(|fabric| reader(fabric, &mut Places::default()));
        for (_, (table, _)) in kinds {
            fabric.skip(table);
        }
        return None;
    };
    fabric.extend(table);
    let kind_at = kind_field.and_then(|field| field.at);
    let mut places = Places {
        kind: kind_at,
        lists: None,
        items: Vec::new(),
        routes: Vec::new(),
    };
    reader(fabric, &mut places).map(|spec| (spec, places))
}

/// The kind of which most keys are given, the first of several.
fn likeliest<T: Copy>(
    fabric: &Section<'_>,
    kinds: &[(&str, (&'static KeyTable, T))],
) -> (&'static KeyTable, T) {
    let given = |table: &KeyTable| table.keys.iter().filter(|key| fabric.has(key.name)).count();
    let tables = kinds.iter().map(|(_, kind)| *kind);
    let best = tables.rev().max_by_key(|(table, _)| given(table));
    best.expect("there are kinds")
}

/// A rate that is not zero.
pub(crate) fn read_rate(section: &mut Section<'_>, name: &str) -> Option<Rate> {
    rate_of(&section.take(name)?)
}

fn rate_of(field: &Field<'_>) -> Option<Rate> {
    if field.word().and_then(|word| word.parse().ok()) == Some(Rate::from_bits_per_second(0)) {
        let help = "give it a rate, for example `400Gbps`";
        field.problem(
            "is zero: a link without a rate carries nothing",
            help.to_owned(),
        );
        return None;
    }
    field.quantity("a rate", &RATES)
}

fn read_single_switch(fabric: &mut Section<'_>, _: &mut Places) -> Option<TopologySpec> {
    let hosts = fabric.integer("hosts", COUNTS);
    let rate = read_rate(fabric, "rate");
    let host_delay = fabric.time("host_delay", DELAYS);
    Some(TopologySpec::SingleSwitch(SingleSwitch {
        hosts: hosts?,
        rate: rate?,
        host_delay: host_delay?,
    }))
}

fn read_leaf_spine(fabric: &mut Section<'_>, places: &mut Places) -> Option<TopologySpec> {
    let leaves = fabric.integer("leaves", COUNTS);
    let hosts_per_leaf = fabric.integer("hosts_per_leaf", COUNTS);
    let spines = fabric.integer("spines", COUNTS);
    let links_per_pair = fabric.integer("links_per_pair", COUNTS);
    let host_rate = read_rate(fabric, "host_rate");
    let uplink_rate = read_rate(fabric, "uplink_rate");
    let host_delay = fabric.time("host_delay", DELAYS);
    let fabric_delay = fabric.time("fabric_delay", DELAYS);
    let overrides = read_overrides(fabric, places);
    let cabling = read_cabling(fabric, places);
    Some(TopologySpec::LeafSpine(LeafSpine {
        leaves: leaves?,
        hosts_per_leaf: hosts_per_leaf?,
        spines: spines?,
        links_per_pair: links_per_pair?,
        host_rate: host_rate?,
        uplink_rate: uplink_rate?,
        host_delay: host_delay?,
        fabric_delay: fabric_delay?,
        overrides: overrides?,
        cabling: cabling?,
    }))
}

fn read_overrides(fabric: &mut Section<'_>, places: &mut Places) -> Option<Vec<LinkOverride>> {
    read_list(fabric, "overrides", places, |item| {
        let mut section = item.section(&OVERRIDE);
        let leaf = section.integer("leaf", 0..=u64::from(HOSTS_MAX));
        let spine = section.integer("spine", 0..=u64::from(HOSTS_MAX));
        let links = section.optional("links", |field| field.integer(0..=u64::from(HOSTS_MAX)));
        let rate = section.optional("rate", rate_of);
        let node = section.finish();
        let read = || {
            Some(LinkOverride {
                leaf: leaf?,
                spine: spine?,
                links: links?,
                rate: rate?,
            })
        };
        (read(), node)
    })
}

fn read_cabling(fabric: &mut Section<'_>, places: &mut Places) -> Read<Option<Vec<u32>>> {
    let field = fabric.take("cabling")?;
    if field.word() == Some("regular") {
        return Some(None);
    }
    places.lists = field.at;
    let leaves: Vec<Option<u32>> = field
        .items()?
        .iter()
        .map(|item| item.integer(0..=u64::from(HOSTS_MAX)))
        .collect();
    leaves.into_iter().collect::<Option<Vec<u32>>>().map(Some)
}

fn read_fat_tree(fabric: &mut Section<'_>, _: &mut Places) -> Option<TopologySpec> {
    let hosts_per_leaf = fabric.integer("hosts_per_leaf", COUNTS);
    let leaves_per_pod = fabric.integer("leaves_per_pod", COUNTS);
    let aggs_per_pod = fabric.integer("aggs_per_pod", COUNTS);
    let links_per_leaf_agg = fabric.integer("links_per_leaf_agg", COUNTS);
    let host_rate = read_rate(fabric, "host_rate");
    let leaf_rate = read_rate(fabric, "leaf_rate");
    let host_delay = fabric.time("host_delay", DELAYS);
    let leaf_delay = fabric.time("leaf_delay", DELAYS);
    let core = read_core(fabric, aggs_per_pod);
    Some(TopologySpec::FatTree(FatTree {
        hosts_per_leaf: hosts_per_leaf?,
        leaves_per_pod: leaves_per_pod?,
        aggs_per_pod: aggs_per_pod?,
        links_per_leaf_agg: links_per_leaf_agg?,
        host_rate: host_rate?,
        leaf_rate: leaf_rate?,
        host_delay: host_delay?,
        leaf_delay: leaf_delay?,
        core: core?,
    }))
}

fn read_core(fabric: &mut Section<'_>, aggs_per_pod: Option<u32>) -> Read<Option<CoreTier>> {
    let field = fabric.take("core")?;
    if field.word() == Some("none") {
        return Some(None);
    }
    let mut section = field.section(&CORE);
    let pods = section.integer("pods", COUNTS);
    let cores_per_agg = section.integer("cores_per_agg", COUNTS);
    let links_per_agg_core = section.integer("links_per_agg_core", COUNTS);
    let full = product_of(&[aggs_per_pod, cores_per_agg, links_per_agg_core]);
    let links_per_pod = read_taper(&mut section, full);
    let rate = read_rate(&mut section, "rate");
    let delay = section.time("delay", DELAYS);
    fabric.put("core", section.finish());
    Some(Some(CoreTier {
        pods: pods?,
        cores_per_agg: cores_per_agg?,
        links_per_agg_core: links_per_agg_core?,
        links_per_pod: links_per_pod?,
        rate: rate?,
        delay: delay?,
    }))
}

fn product_of(counts: &[Option<u32>]) -> Option<u64> {
    let mut counts = counts.iter().copied();
    counts.try_fold(1_u64, |product, count| {
        product.checked_mul(u64::from(count?))
    })
}

/// Cables from each pod to the cores, of as many as `full` has; `None` for all.
fn read_taper(section: &mut Section<'_>, full: Option<u64>) -> Read<Option<u32>> {
    let field = section.take_either("taper", "links_per_pod")?;
    if field.path.ends_with("links_per_pod") {
        let links: u32 = field.integer(COUNTS)?;
        if let Some(full) = full.filter(|full| u64::from(links) > *full) {
            let what = format!("is more than the {full} cables that each pod has");
            field.problem(&what, "give fewer, or more cores".to_owned());
            return None;
        }
        return Some(Some(links));
    }
    let ratio = field.word().and_then(decimal);
    let is_ratio = |(whole, part): &(u64, u64)| (*part..=1_000_000 * part).contains(whole);
    let Some((ratio, unit)) = ratio.filter(is_ratio) else {
        let what = format!(
            "must be a ratio of 1 or more, not {}",
            field.node.describe()
        );
        field.problem(
            &what,
            "write for example `2`: half of the cables".to_owned(),
        );
        return None;
    };
    if ratio == unit {
        section.drop_key("taper");
        return Some(None);
    }
    let left = full?.saturating_mul(unit) / ratio;
    if left == 0 {
        let what = "leaves a pod no cable to the cores";
        field.problem(what, format!("give at most {}", full?));
        return None;
    }
    Some(Some(left as u32))
}

/// A decimal number as so many of so many parts, exactly: `5.3` is 53 of 10.
fn decimal(word: &str) -> Option<(u64, u64)> {
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    let digits = |text: &str| text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return None;
    }
    let parts = 10_u64.pow(part.len() as u32);
    let rest = if part.is_empty() {
        0
    } else {
        part.parse().ok()?
    };
    Some((whole.parse::<u64>().ok()? * parts + rest, parts))
}

fn read_rail(fabric: &mut Section<'_>, places: &mut Places) -> Option<TopologySpec> {
    let servers: Option<u32> = fabric.integer("servers", COUNTS);
    let nics_per_server = fabric.integer("nics_per_server", COUNTS);
    let servers_per_group = match fabric.take("servers_per_group") {
        Some(field) => field.integer(COUNTS),
        None => servers,
    };
    if let Some(servers) = servers_per_group {
        fabric.put("servers_per_group", Node::plain(servers.to_string()));
    }
    let spines = fabric.integer("spines", COUNTS);
    let links_per_pair = fabric.integer("links_per_pair", COUNTS);
    let host_rate = read_rate(fabric, "host_rate");
    let uplink_rate = read_rate(fabric, "uplink_rate");
    let host_delay = fabric.time("host_delay", DELAYS);
    let fabric_delay = fabric.time("fabric_delay", DELAYS);
    let cabling = read_cabling(fabric, places);
    Some(TopologySpec::Rail(Rail {
        servers: servers?,
        nics_per_server: nics_per_server?,
        servers_per_group: servers_per_group?,
        spines: spines?,
        links_per_pair: links_per_pair?,
        host_rate: host_rate?,
        uplink_rate: uplink_rate?,
        host_delay: host_delay?,
        fabric_delay: fabric_delay?,
        cabling: cabling?,
    }))
}

/// A list of mappings; `places` then knows where each item stands.
pub(crate) fn read_list<T>(
    fabric: &mut Section<'_>,
    name: &str,
    places: &mut Places,
    mut read: impl FnMut(Field<'_>) -> (Option<T>, Node),
) -> Option<Vec<T>> {
    let field = fabric.take(name)?;
    places.lists = field.at;
    places.items.clear();
    let (items, node) = field.each(|_, item| {
        places.items.push(item.at);
        read(item)
    });
    fabric.put(name, node);
    items
}

impl Places {
    /// Keeps the places of the list that was read last as those of routes.
    pub(crate) fn keep_routes(&mut self) {
        self.routes = std::mem::take(&mut self.items);
    }

    /// Notes why the topology could not be built, at the part that is to blame.
    pub(crate) fn report(&self, error: &TopologyError, problems: &Problems) {
        let at = match error {
            TopologyError::UnknownNode { link, .. } => {
                self.items.get(*link).copied().flatten().or(self.lists)
            }
            TopologyError::Route { index, .. } => self.routes.get(*index).copied().flatten(),
            TopologyError::Routing(tenter_topology::RoutingError::Loop { .. }) => {
                self.routes.first().copied().flatten()
            }
            _ => self.lists.or(self.kind),
        };
        let text = error.to_string();
        let (message, help) = split_remedy(&text);
        problems.push(at, message.to_owned(), help);
    }
}
