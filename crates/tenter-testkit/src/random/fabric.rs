//! The scenario's section `fabric`.

use std::fmt::Write;

use super::draw::Draw;

/// The section, and what other sections depend on.
pub(super) struct Fabric {
    pub(super) text: String,
    pub(super) hosts: u64,
    /// True if latencies are so short that a window holds little more than one event.
    pub(super) is_tight: bool,
}

const RATES: [&str; 8] = [
    "10Gbps", "25Gbps", "50Gbps", "100Gbps", "200Gbps", "400Gbps", "800Gbps", "1600Gbps",
];
/// Rates at which a byte does not take a whole number of picoseconds.
const ODD_RATES: [&str; 5] = [
    "300Gbps",
    "33Gbps",
    "299999Mbps",
    "123456789kbps",
    "7.5Gbps",
];
const HASH_FIELDS: [&str; 5] = [
    "source_address",
    "destination_address",
    "protocol",
    "source_port",
    "destination_port",
];

/// Rates and delays on a fabric's links.
struct Pace {
    /// Rate on all links, so that ties in time are the rule; `None` draws one for each link.
    rate: Option<&'static str>,
    /// Delay on all cables; `None` draws one for each.
    delay: Option<String>,
    /// Least and greatest cable delay in ns.
    delays: (u64, u64),
}

impl Pace {
    fn rate(&self, draw: &mut Draw) -> &'static str {
        self.rate.unwrap_or_else(|| any_rate(draw))
    }

    fn delay(&self, draw: &mut Draw) -> String {
        let (least, most) = self.delays;
        self.delay.clone().unwrap_or_else(|| draw.time(least, most))
    }
}

fn any_rate(draw: &mut Draw) -> &'static str {
    if draw.chance(25) {
        draw.pick(&ODD_RATES)
    } else {
        draw.pick(&RATES)
    }
}

/// Draws a fabric of 2 to 24 hosts.
///
/// `apart` decides on fabrics with regions (dragonflies, tori, …), which came later: all other
/// seeds keep their fabrics.
pub(super) fn write(draw: &mut Draw, apart: &mut Draw) -> Fabric {
    let forwarding = draw.pick(&["cut-through", "store-and-forward"]);
    let is_tight = draw.chance(15);
    let pipeline = match (is_tight, draw.below(3)) {
        (true, 0) => "0ns".to_owned(),
        (true, _) => draw.time(1, 40),
        (false, 0) => "600ns".to_owned(),
        (false, _) => draw.time(120, 900),
    };
    let delays = if is_tight {
        // Without any latency a node would affect its neighbour at once, and there would be no
        // lookahead.
        (u64::from(pipeline == "0ns"), 30)
    } else {
        *draw.pick(&[&(0, 60), &(20, 300), &(200, 2_000)])
    };
    let rate = draw.chance(50).then(|| any_rate(draw));
    let delay = draw.chance(50).then(|| draw.time(delays.0, delays.1));
    let pace = Pace {
        rate,
        delay,
        delays,
    };
    let has_regions = apart.chance(15);
    // The number is drawn even for regions, so that the stream goes on alike with and without them.
    let (mut text, hosts) = match draw.below(5) {
        _ if has_regions => match apart.below(5) {
            0 => dragonfly(draw, &pace),
            1 => dragonfly_plus(draw, &pace),
            2 => hyperx(draw, &pace),
            3 => torus(draw, &pace),
            _ => slim_fly(draw, &pace),
        },
        0 => single_switch(draw, &pace),
        1 => leaf_spine(draw, &pace),
        2 => fat_tree(draw, &pace),
        3 => rail(draw, &pace),
        _ => explicit(draw, &pace),
    };
    let _ = writeln!(
        text,
        "  switch: {{forwarding: {forwarding}, pipeline_latency: {pipeline}, queue_capacity: {}}}",
        capacity(draw)
    );
    text.push_str(&if has_regions && draw.chance(70) {
        detours(draw)
    } else {
        load_balancing(draw)
    });
    Fabric {
        text,
        hosts,
        is_tight,
    }
}

/// Draws a multi-plane fabric with 2 to 24 hosts.
pub(super) fn write_planes(draw: &mut Draw) -> Fabric {
    let forwarding = draw.pick(&["cut-through", "store-and-forward"]);
    let pipeline = draw.time(120, 900);
    let delays = (20, 600);
    let rate = draw.chance(60).then(|| any_rate(draw));
    let delay = draw.chance(50).then(|| draw.time(delays.0, delays.1));
    let pace = Pace {
        rate,
        delay,
        delays,
    };
    let (mut text, hosts) = match draw.below(2) {
        0 => leaf_spine(draw, &pace),
        _ => fat_tree(draw, &pace),
    };
    let _ = writeln!(
        text,
        "  planes: {}\n  switch: {{forwarding: {forwarding}, pipeline_latency: {pipeline}, queue_capacity: {}}}",
        draw.within(2..=8),
        capacity(draw)
    );
    text.push_str(&load_balancing(draw));
    Fabric {
        text,
        hosts,
        is_tight: false,
    }
}

/// Draws a fabric with 2 to 24 hosts that drops little, and whose links have one rate in most
/// cases.
pub(super) fn write_calm(draw: &mut Draw) -> Fabric {
    let forwarding = draw.pick(&["cut-through", "store-and-forward"]);
    let pipeline = draw.time(120, 900);
    let pace = Pace {
        rate: draw.chance(80).then(|| any_rate(draw)),
        delay: draw.chance(60).then(|| draw.time(20, 600)),
        delays: (20, 600),
    };
    let (mut text, hosts) = match draw.below(4) {
        0 => single_switch(draw, &pace),
        1 => leaf_spine(draw, &pace),
        2 => fat_tree(draw, &pace),
        _ => rail(draw, &pace),
    };
    let capacity = *draw.pick(&[&"none", &"64MiB", &"64MiB", &"60000B"]);
    let _ = writeln!(
        text,
        "  switch: {{forwarding: {forwarding}, pipeline_latency: {pipeline}, queue_capacity: {capacity}}}"
    );
    Fabric {
        text,
        hosts,
        is_tight: false,
    }
}

/// Draws a queue capacity. Every other one is so small that frames are dropped, but it never is
/// below a frame with the largest MTU, 4,174 bytes.
fn capacity(draw: &mut Draw) -> String {
    match draw.below(10) {
        0..5 => format!("{}B", draw.within(4_174..=14_000)),
        5..7 => format!("{}B", draw.within(14_000..=100_000)),
        7 => "64MiB".to_owned(),
        _ => "none".to_owned(),
    }
}

fn load_balancing(draw: &mut Draw) -> String {
    if draw.chance(50) {
        return by_packet(draw);
    }
    let hash = draw.pick(&["crc16", "crc32", "xor", "toeplitz"]);
    let seeding = draw.pick(&["mixed", "mixed", "raw"]);
    let mut fields: Vec<&str> = HASH_FIELDS.to_vec();
    if draw.chance(40) {
        draw.shuffle(&mut fields);
        fields.truncate(draw.within(1..=5) as usize);
    }
    let fields = fields.join(", ");
    let kind = draw.pick(&["ecmp", "ecmp", "weighted-ecmp"]);
    format!(
        "  load_balancing: {{kind: {kind}, hash: {hash}, seeding: {seeding}, fields: [{fields}]}}\n"
    )
}

/// Draws a load balancer that does not choose by the hash alone.
fn by_packet(draw: &mut Draw) -> String {
    let refresh = match draw.below(3) {
        0 => "0ns".to_owned(),
        1 => draw.time(20, 300),
        _ => draw.time(300, 5_000),
    };
    let quality = format!("refresh: {refresh}, step: {}", draw.time(1, 400));
    let keys = match draw.below(12) {
        9 => format!(
            "kind: queue-aware-spray, in_order_nics: allow, samples: {}, remember: {}",
            draw.within(1..=3),
            draw.chance(70)
        ),
        6.. => return telemetry(draw, &quality),
        0 => "kind: random-spray, in_order_nics: allow".to_owned(),
        1 => "kind: round-robin-spray, in_order_nics: allow".to_owned(),
        2 | 3 => format!("kind: adaptive, in_order_nics: allow, {quality}"),
        _ => {
            let (gap, buckets) = (draw.time(50, 20_000), draw.within(1..=40));
            let moves = if draw.chance(40) {
                let (probability, delta) = (draw.within(1..=100), draw.within(1..=7));
                format!(", probability: {probability}, delta: {delta}, in_order_nics: allow")
            } else {
                String::new()
            };
            format!("kind: flowlet, gap: {gap}, buckets: {buckets}, {quality}{moves}")
        }
    };
    format!("  load_balancing: {{{keys}}}\n")
}

/// Draws telemetry that in most cases moves flows within microseconds: scenarios are short.
fn telemetry(draw: &mut Draw, quality: &str) -> String {
    let threshold = *draw.pick(&[&0, &0, &0, &5_000]);
    let growth = *draw.pick(&[&0, &0, &3_000]);
    let most = *draw.pick(&[&200, &200, &5_000]);
    let moves = if draw.chance(80) {
        "at-once, in_order_nics: allow".to_owned()
    } else {
        format!("at-gap, gap: {}", draw.time(50, 2_000))
    };
    format!(
        "  load_balancing: {{kind: telemetry, threshold: {threshold}B, growth: {growth}B, notice_interval: {}, response: {}, \
         buckets: {}, hold_down: {}, memory: {}, delta: 1, move: {moves}, {quality}}}\n",
        draw.time(0, most),
        draw.time(0, most),
        draw.within(1..=40),
        draw.time(0, 4 * most),
        draw.time(0, 20_000),
    )
}

/// Draws a load balancer by which packets leave the shortest paths.
fn detours(draw: &mut Draw) -> String {
    let keys = match draw.below(3) {
        0 => "kind: valiant, draw: packet".to_owned(),
        1 => "kind: valiant, draw: flow".to_owned(),
        _ => format!("kind: ugal, bias: {}", draw.time(0, 2_000)),
    };
    format!("  load_balancing: {{{keys}, in_order_nics: allow}}\n")
}

/// Draws a dragonfly with 2 to 4 groups, some of them joined by several cables.
fn dragonfly(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let routers = draw.within(1..=3);
    let global_links = draw.within(1..=3);
    let groups = draw.within(2..=(routers * global_links + 1).min(4));
    let per_router = draw.within(1..=2);
    let text = format!(
        "  kind: dragonfly\n  groups: {groups}\n  routers_per_group: {routers}\n  hosts_per_router: {per_router}\n  \
         global_links_per_router: {global_links}\n  host_rate: {}\n  local_rate: {}\n  global_rate: {}\n  \
         host_delay: {}\n  local_delay: {}\n  global_delay: {}\n",
        pace.rate(draw),
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
        pace.delay(draw),
    );
    (text, groups * routers * per_router)
}

/// Draws a dragonfly+ with 2 to 4 groups, each with leaves and spines.
fn dragonfly_plus(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let (leaves, spines) = (draw.within(1..=2), draw.within(1..=3));
    let global_links = draw.within(1..=3);
    let groups = draw.within(2..=(spines * global_links + 1).min(4));
    let per_leaf = draw.within(1..=2);
    let text = format!(
        "  kind: dragonfly-plus\n  groups: {groups}\n  leaves_per_group: {leaves}\n  spines_per_group: {spines}\n  \
         hosts_per_leaf: {per_leaf}\n  links_per_pair: {}\n  global_links_per_spine: {global_links}\n  host_rate: {}\n  \
         local_rate: {}\n  global_rate: {}\n  host_delay: {}\n  local_delay: {}\n  global_delay: {}\n",
        draw.within(1..=2),
        pace.rate(draw),
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
        pace.delay(draw),
    );
    (text, groups * leaves * per_leaf)
}

/// Draws the smallest slim fly, which has 18 routers.
fn slim_fly(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let text = format!(
        "  kind: slim-fly\n  q: 3\n  hosts_per_router: 1\n  host_rate: {}\n  link_rate: {}\n  host_delay: {}\n  \
         local_delay: {}\n  global_delay: {}\n",
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
        pace.delay(draw),
    );
    (text, 18)
}

/// Draws sizes for one to three dimensions, with at most 12 switches in all.
fn sizes(draw: &mut Draw) -> Vec<u64> {
    let mut sizes = vec![draw.within(2..=6)];
    while sizes.len() < 3 && draw.chance(60) {
        let most = 12 / sizes.iter().product::<u64>();
        sizes.push(draw.within(1..=most.max(1)));
    }
    sizes
}

/// Draws the keys that a `HyperX` and a torus share.
fn grid(draw: &mut Draw, pace: &Pace, kind: &str) -> (String, u64) {
    let sizes = sizes(draw);
    let per_switch = draw.within(1..=2);
    let links: Vec<u64> = sizes.iter().map(|_| draw.within(1..=2)).collect();
    let text = format!(
        "  kind: {kind}\n  sizes: {sizes:?}\n  hosts_per_switch: {per_switch}\n  links: {links:?}\n  paths: {}\n  \
         host_rate: {}\n  link_rate: {}\n  host_delay: {}\n  link_delay: {}\n",
        draw.pick(&["all", "dimension-order"]),
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
    );
    (text, sizes.iter().product::<u64>() * per_switch)
}

fn hyperx(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    grid(draw, pace, "hyperx")
}

fn torus(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let (mut text, hosts) = grid(draw, pace, "torus");
    let _ = writeln!(text, "  wrap_around: {}", draw.chance(80));
    (text, hosts)
}

fn single_switch(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let hosts = draw.within(2..=16);
    let (rate, delay) = (pace.rate(draw), pace.delay(draw));
    let text =
        format!("  kind: single-switch\n  hosts: {hosts}\n  rate: {rate}\n  host_delay: {delay}\n");
    (text, hosts)
}

/// Draws the keys that leaf-spine and rail share.
fn two_tiers(draw: &mut Draw, pace: &Pace, spines: u64) -> String {
    format!(
        "  spines: {spines}\n  links_per_pair: {}\n  host_rate: {}\n  uplink_rate: {}\n  host_delay: {}\n  \
         fabric_delay: {}\n",
        draw.within(1..=2),
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
    )
}

fn leaf_spine(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let leaves = draw.within(2..=4);
    let per_leaf = draw.within(1..=6);
    let spines = draw.within(1..=4);
    let mut hosts = leaves * per_leaf;
    let mut text =
        format!("  kind: leaf-spine\n  leaves: {leaves}\n  hosts_per_leaf: {per_leaf}\n");
    text.push_str(&two_tiers(draw, pace, spines));
    if draw.chance(30) {
        let (leaf, spine) = (draw.below(leaves), draw.below(spines));
        // A leaf must keep a cable to its only spine.
        let links = draw.within(u64::from(spines == 1)..=3);
        let rate = if links > 0 && draw.chance(50) {
            format!(", rate: {}", any_rate(draw))
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "  overrides: [{{leaf: {leaf}, spine: {spine}, links: {links}{rate}}}]"
        );
    }
    if draw.chance(20) {
        // Hosts may be on leaves in any order, and some leaves may have none.
        let mut cabling: Vec<u64> = (0..hosts).map(|host| host / per_leaf).collect();
        draw.shuffle(&mut cabling);
        hosts = draw.within(2..=hosts);
        cabling.truncate(hosts as usize);
        let _ = writeln!(text, "  cabling: {cabling:?}");
    }
    (text, hosts)
}

fn fat_tree(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let three_tiers = draw.chance(60);
    let pods = if three_tiers { draw.within(2..=3) } else { 1 };
    let leaves = draw.within(if three_tiers { 1..=2 } else { 2..=4 });
    let per_leaf = draw.within(1..=3);
    let mut text = format!(
        "  kind: fat-tree\n  hosts_per_leaf: {per_leaf}\n  leaves_per_pod: {leaves}\n  aggs_per_pod: {}\n  \
         links_per_leaf_agg: {}\n  host_rate: {}\n  leaf_rate: {}\n  host_delay: {}\n  leaf_delay: {}\n",
        draw.within(1..=3),
        draw.within(1..=2),
        pace.rate(draw),
        pace.rate(draw),
        pace.delay(draw),
        pace.delay(draw),
    );
    if three_tiers {
        let _ = writeln!(
            text,
            "  core: {{pods: {pods}, cores_per_agg: {}, links_per_agg_core: {}, rate: {}, delay: {}}}",
            draw.within(1..=2),
            draw.within(1..=2),
            pace.rate(draw),
            pace.delay(draw),
        );
    }
    (text, pods * leaves * per_leaf)
}

fn rail(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let servers = draw.within(1..=6);
    let nics = draw.within(if servers == 1 { 2..=4 } else { 1..=4 });
    let per_group = draw.within(1..=servers);
    let spines = draw.within(1..=3);
    let mut text = format!(
        "  kind: rail\n  servers: {servers}\n  nics_per_server: {nics}\n  servers_per_group: {per_group}\n"
    );
    text.push_str(&two_tiers(draw, pace, spines));
    (text, servers * nics)
}

/// Draws a ring of switches with static routes that all go clockwise, so that pauses may go round.
fn ring(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    let switches = draw.within(3..=5);
    let hosts = draw.within(switches..=10);
    let mut text = "  kind: explicit\n  nodes:\n".to_owned();
    for host in 0..hosts {
        let _ = writeln!(text, "    - {{name: h{host}}}");
    }
    for switch in 0..switches {
        let _ = writeln!(text, "    - {{name: s{switch}, kind: switch}}");
    }
    text.push_str("  links:\n");
    let of_hosts = (0..hosts).map(|host| (format!("h{host}"), host % switches));
    let of_ring = (0..switches).map(|switch| (format!("s{switch}"), (switch + 1) % switches));
    for (a, b) in of_hosts.chain(of_ring) {
        let (rate, delay) = (pace.rate(draw), pace.delay(draw));
        let _ = writeln!(
            text,
            "    - {{a: {a}, b: s{b}, rate: {rate}, delay: {delay}}}"
        );
    }
    text.push_str("  routes:\n");
    for at in 0..switches {
        let next = (at + 1) % switches;
        for beyond in 2..switches {
            let to = (at + beyond) % switches;
            let _ = writeln!(text, "    - {{at: s{at}, to: s{to}, via: s{next}}}");
        }
    }
    (text, hosts)
}

/// Draws a random tree of switches with a few further links, and hosts on any switch; or a ring.
fn explicit(draw: &mut Draw, pace: &Pace) -> (String, u64) {
    if draw.chance(40) {
        return ring(draw, pace);
    }
    let hosts = draw.within(2..=14);
    let switches = draw.within(1..=6);
    let mut nodes: Vec<String> = (0..hosts)
        .map(|host| format!("{{name: h{host}}}"))
        .collect();
    nodes.extend((0..switches).map(|switch| {
        let tier = draw.below(3);
        format!("{{name: s{switch}, kind: switch, tier: {tier}}}")
    }));
    // The order of nodes and links in the text gives them their numbers.
    draw.shuffle(&mut nodes);
    let mut ends: Vec<(String, String)> = (0..hosts)
        .map(|host| (format!("h{host}"), format!("s{}", draw.below(switches))))
        .collect();
    // Each switch has a cable to an earlier one, so that all are connected.
    let tree = (1..switches).map(|switch| (switch, draw.below(switch)));
    let mut trunks: Vec<(u64, u64)> = tree.collect();
    if switches > 1 {
        for _ in 0..draw.below(4) {
            let a = draw.within(1..=switches - 1);
            trunks.push((a, draw.below(a)));
        }
    }
    ends.extend(
        trunks
            .iter()
            .map(|(a, b)| (format!("s{a}"), format!("s{b}"))),
    );
    draw.shuffle(&mut ends);
    let mut text = "  kind: explicit\n  nodes:\n".to_owned();
    for node in nodes {
        let _ = writeln!(text, "    - {node}");
    }
    text.push_str("  links:\n");
    for (a, b) in ends {
        let (rate, delay) = (pace.rate(draw), pace.delay(draw));
        let is_trunk = a.starts_with('s');
        let count = if is_trunk { draw.within(1..=2) } else { 1 };
        let _ = writeln!(
            text,
            "    - {{a: {a}, b: {b}, rate: {rate}, delay: {delay}, count: {count}}}"
        );
    }
    (text, hosts)
}
