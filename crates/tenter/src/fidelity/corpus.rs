//! Scenarios on which flow level's error is measured: ordinary fabrics and loads, drawn by seed.

use tenter_engine::Stream;

use crate::Scenario;

/// Topologies, each with its host count; drawn uniformly.
const TOPOLOGIES: &[(u32, &str)] = &[
    (16, "kind: single-switch, hosts: 16"),
    (
        16,
        "kind: leaf-spine, leaves: 4, hosts_per_leaf: 4, spines: 4",
    ),
    (
        32,
        "kind: leaf-spine, leaves: 4, hosts_per_leaf: 8, spines: 4, links_per_pair: 2",
    ),
    (
        32,
        "kind: leaf-spine, leaves: 4, hosts_per_leaf: 8, spines: 4",
    ),
    (
        64,
        "kind: leaf-spine, leaves: 8, hosts_per_leaf: 8, spines: 8",
    ),
    (
        64,
        "kind: leaf-spine, leaves: 8, hosts_per_leaf: 8, spines: 2",
    ),
    (
        32,
        "kind: fat-tree, hosts_per_leaf: 4, leaves_per_pod: 2, aggs_per_pod: 4, core: {pods: 4, cores_per_agg: 2}",
    ),
    (
        64,
        "kind: fat-tree, hosts_per_leaf: 4, leaves_per_pod: 4, aggs_per_pod: 4, core: {pods: 4, cores_per_agg: 2}",
    ),
];

/// Load sharing: keys of `fabric`, and keys of `endpoint.nic`. Drawn uniformly; a line that stands
/// twice is drawn twice as often.
const SHARING: &[(&str, &str)] = &[
    ("load_balancing: {kind: ecmp}", ""),
    ("load_balancing: {kind: ecmp}", ""),
    ("flow_control: pfc, load_balancing: {kind: ecmp}", ""),
    ("load_balancing: {kind: random-spray}", SPRAYED),
    ("load_balancing: {kind: queue-aware-spray}", SPRAYED),
    ("load_balancing: {kind: adaptive}", SPRAYED),
    (
        "flow_control: pfc, load_balancing: {kind: adaptive}",
        SPRAYED,
    ),
    ("flow_control: pfc, switching: {kind: scheduled}", ""),
    ("flow_control: pfc, switching: {kind: scheduled}", ""),
    (
        "switch: {buffer: {size: 32MB}, classes: [{class: 0, lossless: true, ecn: hpcc-100g}, {class: 6}]}",
        "congestion_control: {kind: dcqcn}",
    ),
];

/// NIC keys for load balancing that reorders packets; go-back-N would take each late packet for a
/// loss.
const SPRAYED: &str = "loss_recovery: {kind: selective-repeat, reorder: 4096}";

/// Collectives, without their sizes; drawn uniformly.
const COLLECTIVES: &[&str] = &[
    "collective: all-reduce, algorithm: ring",
    "collective: all-reduce, algorithm: halving-doubling",
    "collective: all-gather, algorithm: ring",
    "collective: all-to-all, algorithm: parallel",
    "collective: all-to-all, algorithm: parallel",
    "collective: all-to-all, algorithm: pairwise",
    "collective: permutation",
    "collective: incast",
    "collective: broadcast, algorithm: tree",
    "collective: send-recv",
];

/// Returns scenario number `seed` from the corpus; the same seed gives the same scenario.
pub fn corpus_scenario(seed: u64) -> Scenario {
    let mut stream = Stream::new(seed, "corpus", "scenario of the error table");
    // The order of the draws is part of the corpus: a new one between two others changes all
    // scenarios, and with them the table of errors.
    let mut draw = |count: usize| stream.below(count as u64) as usize;
    let (hosts, topology) = TOPOLOGIES[draw(TOPOLOGIES.len())];
    let mut sharing = SHARING[draw(SHARING.len())];
    // A scheduled fabric needs leaves and spines, and one switch has no paths to balance.
    if topology.contains("single-switch")
        || topology.contains("fat-tree") && sharing.0.contains("scheduled")
    {
        sharing = SHARING[0];
    }
    let rate = [100, 200, 400][draw(3)];
    let collective = COLLECTIVES[draw(COLLECTIVES.len())];
    let size = [1, 2, 4, 8, 16][draw(5)];
    // Repeated values are weights, as in the lists above.
    let jobs = [1, 1, 2][draw(3)];
    let ranks = hosts / jobs;
    let queue_pairs = [1, 1, 4][draw(3)];
    let placement = ["packed", "random"][draw(2)];
    let rates = match topology {
        text if text.contains("single-switch") => format!("rate: {rate}Gbps"),
        text if text.contains("leaf-spine") => {
            format!("host_rate: {rate}Gbps, uplink_rate: {rate}Gbps")
        }
        _ => format!("host_rate: {rate}Gbps, leaf_rate: {rate}Gbps"),
    };
    let job = |number: u32| {
        format!(
            "  - {{name: job-{number}, ranks: {ranks}, placement: {placement}, free_hosts: true, queue_pairs: {queue_pairs}, collectives: [{{{collective}, size: {size}MiB}}]}}\n"
        )
    };
    let listed = (0..jobs).map(job).collect::<Vec<_>>().concat();
    let (fabric, nic) = sharing;
    Scenario::from_yaml(format!(
        "name: corpus-{seed}\nseed: {seed}\nfabric: {{{topology}, {rates}, {fabric}}}\nendpoint: {{nic: {{{nic}}}}}\nobserve: {{samples: false}}\njobs:\n{listed}"
    ))
}
