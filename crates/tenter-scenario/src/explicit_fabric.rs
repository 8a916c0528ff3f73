//! The `fabric` section of an explicit fabric: nodes and links one by one.

use tenter_topology::{
    Explicit, ExplicitLink, ExplicitNode, ExplicitRoute, NodeKind, TopologySpec,
};

use crate::topologies::{COUNTS, DELAYS, Places, RATE_ORIGIN, read_list, read_rate};
use tenter_config::Presence::{Default, Required};
use tenter_config::{KeyTable, key};
use tenter_notation::decode::Section;

/// The keys of this kind.
pub(crate) const EXPLICIT: KeyTable = KeyTable {
    title: "`fabric` with `kind: explicit`",
    keys: &[
        key(
            "nodes",
            "list",
            Required,
            "Hosts and switches; hosts are numbered in this order",
        ),
        key("links", "list", Required, "The cables between them"),
        key(
            "routes",
            "list",
            Default("[]"),
            "Ways that switches take instead of the shortest",
        ),
    ],
};

const EXPLICIT_NODE: KeyTable = KeyTable {
    title: "`fabric.nodes[]` with `kind: explicit`",
    keys: &[
        key("name", "text", Required, "A name no other node has"),
        key("kind", "`host` or `switch`", Default("host"), "What it is"),
        key(
            "tier",
            "0 to 254",
            Default("0"),
            "Of a switch: how far it is from the hosts, 0 for a leaf",
        ),
    ],
};

const EXPLICIT_LINK: KeyTable = KeyTable {
    title: "`fabric.links[]` with `kind: explicit`",
    keys: &[
        key("a", "text", Required, "The node at one end"),
        key("b", "text", Required, "The node at the other end"),
        key(
            "rate",
            "rate",
            Default("400Gbps"),
            "Line rate of each cable",
        )
        .from(RATE_ORIGIN),
        key(
            "delay",
            "time",
            Default("25ns"),
            "Propagation delay of each cable",
        )
        .from("a copper cable of 5 m at 1.98·10⁸ m/s"),
        key("count", "count", Default("1"), "How many parallel cables"),
    ],
};

const EXPLICIT_ROUTE: KeyTable = KeyTable {
    title: "`fabric.routes[]` with `kind: explicit`",
    keys: &[
        key("at", "text", Required, "The switch that takes this way"),
        key("to", "text", Required, "The switch to whose hosts it leads"),
        key(
            "via",
            "text",
            Required,
            "The neighbour that it goes to next; of several cables all are equal",
        ),
    ],
};

/// The tables of this section for the reference.
pub(crate) const TABLES: [&KeyTable; 4] =
    [&EXPLICIT, &EXPLICIT_NODE, &EXPLICIT_LINK, &EXPLICIT_ROUTE];

/// Reads the nodes and links out of `fabric`.
pub(crate) fn read(fabric: &mut Section<'_>, places: &mut Places) -> Option<TopologySpec> {
    let nodes = read_list(fabric, "nodes", places, |item| {
        let mut section = item.section(&EXPLICIT_NODE);
        let name = section.take("name").and_then(|field| field.text(64));
        let is_host = section.choice("kind", &[("host", true), ("switch", false)]);
        if is_host == Some(true) && !section.has("tier") {
            section.skip(&EXPLICIT_NODE);
            section.drop_key("tier");
        }
        let tier = if is_host == Some(false) {
            section.integer("tier", 0..=254)
        } else {
            Some(0)
        };
        let node = section.finish();
        let read = || {
            let (is_host, tier) = (is_host?, tier?);
            let kind = if is_host {
                NodeKind::Host
            } else {
                NodeKind::Switch { tier }
            };
            Some(ExplicitNode { name: name?, kind })
        };
        (read(), node)
    });
    let routes = read_list(fabric, "routes", places, |item| {
        let mut section = item.section(&EXPLICIT_ROUTE);
        let mut name = |key: &str| section.take(key).and_then(|field| field.text(64));
        let (at, to, via) = (name("at"), name("to"), name("via"));
        let node = section.finish();
        let read = || {
            Some(ExplicitRoute {
                at: at?,
                to: to?,
                via: via?,
            })
        };
        (read(), node)
    });
    places.keep_routes();
    let links = read_list(fabric, "links", places, |item| {
        let mut section = item.section(&EXPLICIT_LINK);
        let a = section.take("a").and_then(|field| field.text(64));
        let b = section.take("b").and_then(|field| field.text(64));
        let rate = read_rate(&mut section, "rate");
        let delay = section.time("delay", DELAYS);
        let count = section.integer("count", COUNTS);
        let node = section.finish();
        let read = || {
            Some(ExplicitLink {
                a: a?,
                b: b?,
                rate: rate?,
                delay: delay?,
                count: count?,
            })
        };
        (read(), node)
    });
    Some(TopologySpec::Explicit(Explicit {
        nodes: nodes?,
        links: links?,
        routes: routes?,
    }))
}
