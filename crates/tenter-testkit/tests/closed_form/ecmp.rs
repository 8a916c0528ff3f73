//! ECMP: which links of a fat tree are used at all.

use std::collections::BTreeMap;

use crate::trial::Trial;

/// Three tiers of 4 aggregation switches a pod and 4 cores above each. Every pair of hosts
/// exchanges one small packet, so 4,032 flows hash themselves onto links.
const TREE: &str = "
fabric:
  kind: fat-tree
  hosts_per_leaf: 4
  leaves_per_pod: 4
  aggs_per_pod: 4
  core: {pods: 4, cores_per_agg: 4}
jobs: [{collectives: [{collective: all-to-all, size: 16KiB}]}]
observe: {samples: false}
";

/// For each node called `from…` how many of its links to nodes called `to…` carried anything.
fn used(trial: &Trial, from: &str, to: &str) -> BTreeMap<String, usize> {
    let mut used = BTreeMap::new();
    for port in &trial.outcome.counts.ports {
        if port.node_name.starts_with(from) && port.peer_name.starts_with(to) {
            *used.entry(port.node_name.clone()).or_default() += usize::from(port.tx_frames > 0);
        }
    }
    used
}

#[test]
fn one_hash_everywhere_uses_one_core_in_k() {
    // A leaf picks aggregation switch (hash mod 4); so all flows that aggregation switch i sees
    // have hash mod 4 = i, and it picks its core i every time: of the 4 links above each of the 16
    // aggregation switches one is used, and of 16 cores 4.
    for hash in ["crc16", "crc32", "toeplitz"] {
        let set = [
            "fabric.load_balancing.seeding=raw",
            &*format!("fabric.load_balancing.hash={hash}"),
        ];
        let trial = Trial::run(TREE, &set);
        let leaves = used(&trial, "leaf", "pod");
        assert_eq!(leaves.len(), 16);
        assert!(leaves.values().all(|&links| links == 4), "{hash}");
        let up = used(&trial, "pod", "core");
        assert_eq!(up.len(), 16);
        assert!(up.values().all(|&links| links == 1), "{hash}: {up:?}");
        let cores = used(&trial, "core", "pod");
        let busy = cores.values().filter(|&&links| links > 0).count();
        assert_eq!((cores.len(), busy), (16, 4), "{hash}");
    }
}

#[test]
fn a_mix_per_switch_uses_them_all() {
    // 3,072 flows between pods, and as many acknowledgement flows, over 64 links: about 48 of each
    // on every link, so none is idle.
    for hash in ["crc16", "crc32", "xor", "toeplitz"] {
        let set = format!("fabric.load_balancing.hash={hash}");
        let trial = Trial::run(TREE, &[&set]);
        for (from, to) in [("leaf", "pod"), ("pod", "core"), ("core", "pod")] {
            let links = used(&trial, from, to);
            assert_eq!(links.len(), 16);
            assert!(
                links.values().all(|&links| links == 4),
                "{hash}: {from} {links:?}"
            );
        }
        // They are even, too: 64 links with a mean of 96 packets, data and ACKs, and a standard
        // deviation of about 10.
        let packets = trial.outcome.counts.ports.iter();
        let up = packets.filter(|port| port.node_name.starts_with("pod"));
        let up = up.filter(|port| port.peer_name.starts_with("core"));
        let (least, most) = up.fold((u64::MAX, 0), |(least, most), port| {
            (least.min(port.tx_frames), most.max(port.tx_frames))
        });
        assert!(40 < least && most < 160, "{hash}: {least} to {most}");
    }
}
