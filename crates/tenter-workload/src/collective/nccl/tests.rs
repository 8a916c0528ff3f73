//! The model against numbers by hand and measured ones, and plans run on numbers.

use proptest::prelude::*;
use tenter_language::units::Time;

use super::*;
use crate::collective::vectors::{Memory, execute};
use crate::collective::{AllGatherNccl, AllReduceNccl, CollectiveKind, InDomain};
use crate::collective::{ReduceScatterNccl, WireProtocol};
use crate::{NcclKernels, QueuePairScope, ScaleUp, Schedule, Transfer};

/// A collective with some keys.
fn kind(collective: &str, keys: &[(&str, &str)]) -> CollectiveKind {
    let kind = CollectiveKind::parse(collective, "nccl").expect("a member");
    // Servers of eight, where nothing else is said.
    let said = keys.iter().any(|(key, _)| *key == "npus_per_host");
    let servers = [("npus_per_host", "8")];
    let servers = servers.iter().filter(|_| !said);
    let keys = servers.chain(keys);
    let keys: Vec<_> = keys.map(|(key, of)| (*key, (*of).to_owned())).collect();
    kind.with(&keys).expect("values of its keys")
}

fn choice(kind: &CollectiveKind, ranks: u32, bytes: u64) -> NcclChoice {
    let choice = kind.nccl_choice(ranks, bytes).expect("it suits");
    choice.expect("it is one of NCCL")
}

const MIB: u64 = 1 << 20;

/// The latencies of 8 bytes on one DGX H100 (13.7 us measured) and on 128 A100 in 16 servers (57.9
/// us measured), and of NVLS (27.4 us measured for 1 MiB).
#[test]
fn latencies_by_hand() {
    let one = choice(&kind("all-reduce", &[]), 8, 8);
    assert_eq!(
        (one.algorithm, one.protocol),
        (NcclAlgorithm::Ring, WireProtocol::Ll)
    );
    // 6.6 + 14·0.6.
    assert!((one.latency_us - 15.0).abs() < 1e-9, "{one:?}");
    let many = choice(&kind("all-reduce", &[("generation", "ampere")]), 128, 8);
    assert_eq!(
        (many.algorithm, many.protocol),
        (NcclAlgorithm::Tree, WireProtocol::Ll)
    );
    // 6.8 + 2·(7·0.6 + 4·5).
    assert!((many.latency_us - 55.2).abs() < 1e-9, "{many:?}");
    assert!((many.latency_us / 57.9 - 1.0).abs() < 0.2);
    let nvls = kind("all-reduce", &[("only_algorithm", "nvls")]);
    let nvls = choice(&nvls, 8, MIB);
    assert!(nvls.latency_us >= 25.0 && nvls.time_us < 30.0, "{nvls:?}");
    // The network plug-in counts on both ways of a hop between two nodes, twice with Simple.
    let plug_in = kind(
        "all-reduce",
        &[("plug_in_latency", "10us"), ("only_algorithm", "tree")],
    );
    let both = choice(&plug_in, 16, 8);
    assert!((both.latency_us - (6.8 + 2.0 * (4.2 + 15.0))).abs() < 1e-9);
}

/// The words of scenarios lead to the three members, and back.
#[test]
fn members_have_their_collectives() {
    let members: [(CollectiveKind, NcclCollective); 3] = [
        (AllReduceNccl::default().into(), NcclCollective::AllReduce),
        (AllGatherNccl::default().into(), NcclCollective::AllGather),
        (
            ReduceScatterNccl::default().into(),
            NcclCollective::ReduceScatter,
        ),
    ];
    for (member, collective) in members {
        let parsed = CollectiveKind::parse(member.name(), "nccl");
        assert_eq!(parsed.as_ref(), Ok(&member));
        assert_eq!(member.nccl().map(|of| of.0), Some(collective));
    }
}

/// Which way, by size, on one, two and sixteen servers of eight H100.
#[test]
fn choices_by_size() {
    use NcclAlgorithm::{Nvls, NvlsTree, Ring, Tree};
    use WireProtocol::{Ll, Ll128, Simple};
    let all_reduce = kind("all-reduce", &[]);
    let cases = [
        (8, 8, Ring, Ll),
        (8, 256 << 10, Ring, Ll),
        (8, 2 * MIB, Nvls, Simple),
        (8, 1 << 34, Nvls, Simple),
        (16, 8, Tree, Ll),
        (16, 1 << 30, NvlsTree, Simple),
        (128, 8, Tree, Ll),
        (128, 1 << 34, Ring, Simple),
    ];
    for (ranks, bytes, algorithm, protocol) in cases {
        let found = choice(&all_reduce, ranks, bytes);
        assert_eq!(
            (found.algorithm, found.protocol),
            (algorithm, protocol),
            "{ranks} ranks, {bytes} bytes: {found:?}"
        );
    }
    // Without NVLS rings carry what is large.
    let without = kind("all-reduce", &[("nvls", "false")]);
    for ranks in [8, 16] {
        let found = choice(&without, ranks, 1 << 34);
        assert_eq!((found.algorithm, found.protocol), (Ring, Simple), "{ranks}");
        assert!([Tree, Ring].contains(&choice(&without, ranks, MIB).algorithm));
    }
    // All-gather has rings alone; by LL128 where that is faster.
    let all_gather = kind("all-gather", &[]);
    assert_eq!(choice(&all_gather, 8, 16 * MIB).protocol, Ll128);
    for bytes in [8, MIB, 1 << 34] {
        assert_eq!(choice(&all_gather, 16, bytes).algorithm, Ring);
    }
}

/// On two nodes each NIC carries a buffer once by trees and twice by rings, so trees win where NICs
/// are what binds: one of 100G in each server, and eight of 200G in a DGX A100.
#[test]
fn trees_win_on_two_nodes_where_nics_bind() {
    let one_nic = [("nics_per_host", "1"), ("nic_rate", "100Gbps")];
    let a100 = [("generation", "ampere"), ("nic_rate", "200Gbps")];
    for keys in [one_nic, a100] {
        let found = choice(&kind("all-reduce", &keys), 16, 1 << 30);
        assert_eq!(found.algorithm, NcclAlgorithm::Tree, "{found:?}");
        // On four a tree has no advantage.
        let found = choice(&kind("all-reduce", &keys), 32, 1 << 30);
        assert_ne!(found.algorithm, NcclAlgorithm::Tree, "{found:?}");
    }
}

/// What passes the busiest links, against the bounds of one node and of several.
#[test]
fn large_sizes_have_the_bandwidth_of_their_links() {
    let all_reduce = kind("all-reduce", &[]);
    let busbw = |ranks: u32, bytes| {
        let of = choice(&all_reduce, ranks, bytes);
        let n = f64::from(ranks);
        bytes as f64 / (of.time_us * 1e3) * 2.0 * (n - 1.0) / n
    };
    let one = busbw(8, 1 << 34);
    assert!((500.0..600.0).contains(&one), "{one}");
    // Eight channels of 57.7 GB/s, and eight NICs of 50.
    let two = busbw(16, 1 << 34);
    assert!((461.0..462.0).contains(&two), "{two}");
    let eight = busbw(64, 1 << 34);
    assert!((395.0..400.0).contains(&eight), "{eight}");
}

#[test]
fn ways_that_do_not_exist_are_refused() {
    for (collective, keys, ranks) in [
        ("all-gather", ("only_algorithm", "tree"), 8),
        ("all-reduce", ("only_algorithm", "nvls"), 16),
        ("all-reduce", ("only_algorithm", "nvls-tree"), 8),
    ] {
        let refused = kind(collective, &[keys]).schedule(ranks, 1_000).err();
        let refused = refused.expect("there is none").to_string();
        assert!(refused.contains("leave out `only_algorithm`"), "{refused}");
    }
    let refused = kind("all-reduce", &[]).schedule(12, 8).err();
    assert!(refused.expect("not full").to_string().contains("12 ranks"));
}

/// The time of a schedule on links of no delay and without end of bandwidth.
fn latency(schedule: &dyn Schedule) -> Time {
    plan::ideal(
        schedule,
        &crate::closed_form::IdealSwitch {
            ranks: schedule.ranks(),
            size_bytes: 1,
            port_time: &|_| Time::ZERO,
            latency: Time::ZERO,
        },
    )
}

/// The steps of a plan add up to the latency of the model, the base once.
#[test]
fn steps_add_up_to_the_model() {
    for (ranks, algorithm, protocol) in [
        (8, "ring", "ll"),
        (8, "ring", "simple"),
        (8, "tree", "ll128"),
        (8, "nvls", "simple"),
        (16, "nvls-tree", "simple"),
        (128, "tree", "ll"),
        (128, "nvls-tree", "simple"),
    ] {
        let keys = [("only_algorithm", algorithm), ("only_protocol", protocol)];
        let kind = kind("all-reduce", &keys);
        let schedule = kind.schedule(ranks, 8).expect("it suits");
        let model = choice(&kind, ranks, 8).latency_us;
        let found = latency(&*schedule).as_ns() / 1e3;
        assert!(
            (found - model).abs() < 1e-6,
            "{keys:?}: {found} and {model}"
        );
    }
    // Some chunk of a ring crosses between nodes once more each time round than in the model.
    let kind = kind(
        "all-reduce",
        &[("only_algorithm", "ring"), ("only_protocol", "ll")],
    );
    let schedule = kind.schedule(16, 8).expect("it suits");
    assert_eq!(latency(&*schedule), Time::from_ns(40_000 + 2 * 1_700));
}

/// What ranks hold, chunk by chunk: a number for each rank whose part is in the sum.
struct Held(Vec<Vec<u64>>);

impl Memory for Held {
    fn read(&self, transfer: &Transfer) -> Vec<u64> {
        vec![self.0[transfer.src as usize][transfer.chunk as usize]]
    }

    fn write(&mut self, transfer: &Transfer, values: &[u64]) {
        let cell = &mut self.0[transfer.dst as usize][transfer.chunk as usize];
        *cell = if transfer.reduce {
            *cell + values[0]
        } else {
            values[0]
        };
    }
}

/// How many chunks a schedule has.
fn chunks(schedule: &dyn Schedule) -> u32 {
    let ids = 0..schedule.transfer_count();
    ids.map(|id| schedule.transfer(id).chunk + 1)
        .max()
        .unwrap_or(1)
}

/// Runs a plan on numbers, and compares what ranks hold in the end.
fn check(kind: &CollectiveKind, ranks: u32, bytes: u64, order: u64) {
    let Ok(schedule) = kind.schedule(ranks, bytes) else {
        return;
    };
    let count = chunks(&*schedule);
    let of_each = (count / ranks).max(1);
    let value = |rank: u32, chunk: u32| (1 << rank) + (u64::from(chunk) << 40);
    let gathers = kind.name() == "all-gather";
    let initial = |rank: u32, chunk: u32| {
        let is_own = !gathers || chunk / of_each == rank;
        if is_own { value(rank, chunk) } else { 0 }
    };
    let rows = |cell: &dyn Fn(u32, u32) -> u64| {
        let row = |rank| (0..count).map(|chunk| cell(rank, chunk)).collect();
        (0..ranks).map(row).collect::<Vec<Vec<u64>>>()
    };
    let mut held = Held(rows(&initial));
    let scopes = [QueuePairScope::RankPair, QueuePairScope::Chunk];
    execute(&*schedule, &mut held, scopes[(order % 2) as usize], order);
    let sum = |chunk: u32| (0..ranks).map(|rank| value(rank, chunk)).sum::<u64>();
    for rank in 0..ranks {
        for chunk in 0..count {
            let owner = chunk / of_each;
            let expected = match kind.name() {
                "all-reduce" => sum(chunk),
                "all-gather" => value(owner, chunk),
                _ if owner == rank => sum(chunk),
                _ => continue,
            };
            let found = held.0[rank as usize][chunk as usize];
            assert_eq!(
                found, expected,
                "{kind:?}, {ranks} ranks, rank {rank}, chunk {chunk}"
            );
        }
    }
}

/// Kernels with times carry out the same.
#[test]
fn kernels_carry_out_what_is_promised() {
    let domain = ScaleUp {
        npus_per_host: 16,
        nccl_kernels: Some(NcclKernels::default()),
        ..ScaleUp::default()
    };
    for name in ["all-reduce", "all-gather", "reduce-scatter"] {
        for (ranks, bytes) in [(2, 7), (4, 1 << 12), (8, 1 << 27), (9, 1_000_003)] {
            let own = kind(name, &[("npus_per_host", "16")]);
            let timed = InDomain::of(&own, domain).expect("kernels have times");
            check(&CollectiveKind::InDomain(Box::new(timed)), ranks, bytes, 3);
        }
    }
}

proptest! {
    #[test]
    fn every_plan_does_what_its_collective_promises(
        collective in 0_usize..3,
        way in 0_usize..5,
        (nodes, nics, of_each) in (1_u32..5, 1_u32..5, 1_u32..3),
        bytes in prop_oneof![1_u64..100, 1_u64..1 << 23],
        order: u64,
    ) {
        let npus = nics * of_each;
        let ranks = nodes * npus;
        prop_assume!((2..=24).contains(&ranks));
        let name = ["all-reduce", "all-gather", "reduce-scatter"][collective];
        let (npus, nics) = (npus.to_string(), nics.to_string());
        let mut keys = vec![("npus_per_host", &*npus), ("nics_per_host", &*nics)];
        let only = [None, Some("ring"), Some("tree"), Some("nvls"), Some("nvls-tree")][way];
        keys.extend(only.map(|only| ("only_algorithm", only)));
        check(&kind(name, &keys), ranks, bytes, order);
    }

    /// Sizes may share queue pairs: what a rank sends where does not depend on the size but by the
    /// choice of algorithm and channels.
    #[test]
    fn bytes_add_up(bytes in 1_u64..1 << 28, nodes in 1_u32..5) {
        let ranks = 8 * nodes;
        for (only, copies) in [("ring", true), ("tree", true), ("nvls", false)] {
            let keys = [("only_algorithm", only), ("only_protocol", "simple")];
            let Ok(schedule) = kind("all-reduce", &keys).schedule(ranks, bytes) else {
                continue;
            };
            let ids = 0..schedule.transfer_count();
            let sum: u64 = ids.map(|id| schedule.transfer(id).bytes).sum();
            let all = 2 * u64::from(ranks - 1) * bytes;
            if copies {
                prop_assert_eq!(sum, all);
            } else {
                // Each part goes to its head, and once to the switch and back, at 85 %.
                let parts = u64::from(ranks + 1) * bytes * 100 / 85;
                prop_assert!(sum.abs_diff(parts) <= u64::from(ranks * ranks));
            }
        }
    }
}
