//! One packet, and trains of equal packets, over several switches without contention.

use tenter_fabric::net::SENT_UNIT_PS;
use tenter_results::FlowRow;

use crate::trial::Trial;

/// What the hosts add: transmit 7 ns and receive 11 ns.
const ENDPOINT: u64 = 18_000;

const JOB: &str = "
endpoint: {nic: {transmit_latency: 7ns, receive_latency: 11ns, message_size: 4KiB}}
observe: {samples: false}
";

/// A flow of `packets` full packets, each a message of its own: 4,174 bytes, 4,194 on the wire.
fn flow(fabric: &str, ranks: &str, packets: u64, overrides: &[&str]) -> FlowRow {
    let size = 2 * packets * 4_096;
    let job =
        format!("jobs: [{{ranks: {ranks}, collectives: [{{collective: incast, size: {size}B}}]}}]");
    let scenario = format!("{fabric}{JOB}{job}");
    Trial::run(&scenario, overrides).flow().clone()
}

/// The latency in the record is counted in units of [`SENT_UNIT_PS`] from first bit to acceptance.
fn assert_latency(flow: &FlowRow, expected: u64, case: &str) {
    let [min, avg, max] = [flow.latency_min, flow.latency_avg, flow.latency_max];
    let min = min.expect("a short flow");
    let off = min.ps().abs_diff(expected);
    assert!(
        off < SENT_UNIT_PS,
        "{case}: latency {min} for {expected} ps"
    );
    assert!(Some(min) <= avg && avg <= max);
}

const LEAF_SPINE: &str = "
fabric:
  kind: leaf-spine
  leaves: 3
  hosts_per_leaf: 2
  spines: 2
  host_rate: 400Gbps
  uplink_rate: 400Gbps
  host_delay: 25ns
  fabric_delay: 203ns
  switch: {pipeline_latency: 601ns}
";

#[test]
fn leaf_spine() {
    // host5 on leaf2 to host0 on leaf0: cables of 25, 203, 203 and 25 ns, three switches of 601 ns,
    // 18 ns at the hosts: 2,277,000 ps. A packet of 4,194 bytes takes 83,880 ps at 400 Gbit/s:
    // four times with store-and-forward, once with cut-through.
    let latency = 2 * (25_000 + 203_000) + 3 * 601_000 + ENDPOINT;
    assert_eq!(latency, 2_277_000);
    for (forwarding, links) in [("store-and-forward", 4), ("cut-through", 1)] {
        let set = format!("fabric.switch.forwarding={forwarding}");
        let expected = links * 83_880 + latency;
        let one = flow(LEAF_SPINE, "[host0, host5]", 1, &[&set]);
        assert_eq!(one.fct().ps(), expected, "{forwarding}");
        assert_latency(&one, expected, forwarding);
        // A train of n equal packets: the others follow the first one packet time apart each.
        let train = flow(LEAF_SPINE, "[host0, host5]", 100, &[&set]);
        assert_eq!(train.fct().ps(), expected + 99 * 83_880, "{forwarding}");
        assert_latency(&train, expected, forwarding);
        let longest = one.latency_max.expect("a short flow");
        assert_latency(&one, longest.ps(), "an idle fabric has one latency");
    }
}

#[test]
fn uplinks_of_another_rate() {
    // Cut-through needs an input that is no slower than any output of the switch.
    //
    // - 800G uplinks: the source leaf stores (its other outputs are faster), nobody else does:
    //   83,880 ps on the first link, and 83,880 ps on the last.
    // - 200G uplinks: the destination leaf stores what comes from the spine, since its hosts are
    //   faster: 4,194·40 = 167,760 ps on the link to it, and 83,880 ps on the last.
    let latency = 2_277_000;
    for (uplink, stored) in [(800, 2 * 83_880), (200, 167_760 + 83_880)] {
        let set = format!("fabric.uplink_rate={uplink}Gbps");
        let one = flow(LEAF_SPINE, "[host0, host5]", 1, &[&set]);
        assert_eq!(one.fct().ps(), stored + latency, "{uplink}G");
        // Storing everywhere: two host links and two uplinks.
        let store = "fabric.switch.forwarding=store-and-forward";
        let one = flow(LEAF_SPINE, "[host0, host5]", 1, &[&set, store]);
        let wires = 2 * 83_880 + 2 * 4_194 * (8_000 / uplink);
        assert_eq!(one.fct().ps(), wires + latency, "{uplink}G");
        // In a train, the slowest line sets the pace: 20 ps a byte at 400G, 40 at 200G.
        let train = flow(LEAF_SPINE, "[host0, host5]", 50, &[&set, store]);
        let pace = 4_194 * (8_000 / uplink).max(20);
        assert_eq!(train.fct().ps(), wires + latency + 49 * pace, "{uplink}G");
    }
}

const FAT_TREE: &str = "
fabric:
  kind: fat-tree
  hosts_per_leaf: 2
  leaves_per_pod: 2
  aggs_per_pod: 2
  host_delay: 25ns
  leaf_delay: 103ns
  core: {pods: 3, cores_per_agg: 2, delay: 211ns}
  switch: {pipeline_latency: 601ns}
";

#[test]
fn three_tier_fat_tree() {
    // host11 in pod 2 to host0 in pod 0: cables of 25, 103, 211, 211, 103 and 25 ns, five switches
    // of 601 ns, 18 ns at the hosts: 3,701,000 ps; six links.
    // host2 on the next leaf of pod 0: cables of 25, 103, 103, 25 ns, three switches: 2,077,000 ps;
    // four links. host1 on the same leaf: two cables of 25 ns, one switch: 669,000 ps; two links.
    let ways = [
        ("host11", 3_701_000, 6),
        ("host2", 2_077_000, 4),
        ("host1", 669_000, 2),
    ];
    for (from, latency, links) in ways {
        let ranks = format!("[host0, {from}]");
        for (forwarding, stored) in [("store-and-forward", links), ("cut-through", 1)] {
            let set = format!("fabric.switch.forwarding={forwarding}");
            let case = format!("{from}, {forwarding}");
            let expected = stored * 83_880 + latency;
            let one = flow(FAT_TREE, &ranks, 1, &[&set]);
            assert_eq!(one.fct().ps(), expected, "{case}");
            assert_latency(&one, expected, &case);
            let train = flow(FAT_TREE, &ranks, 40, &[&set]);
            assert_eq!(train.fct().ps(), expected + 39 * 83_880, "{case}");
        }
    }
}

#[test]
fn a_chain_of_different_lines() {
    // Stored everywhere, n packets of w bytes over lines of r₁ … r_k take w/r₁ + … + w/r_k and
    // (n − 1) more times w at the slowest: 4,194 bytes at 20, 80, 10 and 40 ps a byte are 629,100
    // ps, and each further packet 335,520 ps. Cables of 10 + 20 + 30 + 40 ns, three switches of
    // 100 ns, 18 ns at the hosts.
    let chain = "
fabric:
  kind: explicit
  nodes: [{name: to}, {name: from}, {name: x, kind: switch}, {name: y, kind: switch, tier: 1}, {name: z, kind: switch}]
  links:
    - {a: from, b: x, rate: 400Gbps, delay: 10ns}
    - {a: x, b: y, rate: 100Gbps, delay: 20ns}
    - {a: y, b: z, rate: 800Gbps, delay: 30ns}
    - {a: z, b: to, rate: 200Gbps, delay: 40ns}
  switch: {pipeline_latency: 100ns, forwarding: store-and-forward}
";
    for packets in [1, 2, 77] {
        let wires = 4_194 * (20 + 80 + 10 + 40) + (packets - 1) * 4_194 * 80;
        let train = flow(chain, "[to, from]", packets, &[]);
        assert_eq!(train.fct().ps(), wires + 100_000 + 300_000 + ENDPOINT);
    }
}
