//! Tests of the bytes that dispatch and combination move, by hand and by conservation.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tenter_language::units::{Rate, Time};

use crate::collective::{
    CollectiveKind, ExpertKernels, ExpertKeys, MoeCombineLowLatency, MoeCombineNormal,
    MoeCombineNvlink, MoeDispatchLowLatency, MoeDispatchNormal, MoeDispatchNvlink, NormalKeys,
};
use crate::{Schedule, Transfer};

fn keys(npus: u32, top_k: u32, experts: u32) -> ExpertKeys {
    ExpertKeys {
        npus_per_host: Some(npus),
        top_k,
        experts,
        ..ExpertKeys::default()
    }
}

/// The members of an algorithm, dispatch first.
fn normal(experts: ExpertKeys, normal: NormalKeys) -> [CollectiveKind; 2] {
    [
        MoeDispatchNormal { experts, normal }.into(),
        MoeCombineNormal { experts, normal }.into(),
    ]
}

fn all(experts: ExpertKeys) -> [[CollectiveKind; 2]; 3] {
    [
        normal(experts, NormalKeys::default()),
        [
            MoeDispatchLowLatency { experts }.into(),
            MoeCombineLowLatency { experts }.into(),
        ],
        [
            MoeDispatchNvlink { experts }.into(),
            MoeCombineNvlink { experts }.into(),
        ],
    ]
}

fn transfers(schedule: &dyn Schedule) -> Vec<Transfer> {
    let ids = 0..schedule.transfer_count();
    ids.map(|id| schedule.transfer(id)).collect()
}

/// Bytes from rank to rank.
fn sent(schedule: &dyn Schedule) -> BTreeMap<(u32, u32), u64> {
    let mut sent = BTreeMap::new();
    for transfer in transfers(schedule) {
        *sent.entry((transfer.src, transfer.dst)).or_default() += transfer.bytes;
    }
    sent
}

/// Two hosts of two, two of four experts for each token: a token needs 5/3 of 2 hosts, and, as each
/// rank has one expert, 2 of 4 ranks. Of 600 bytes 1,000 go to hosts and 1,200 to ranks.
#[test]
fn two_hosts_of_two_by_hand() {
    let [dispatch, combine] = normal(keys(2, 2, 4), NormalKeys::default());
    let there = dispatch.schedule(4, 600).expect("it suits");
    let found: Vec<_> = transfers(&*there)
        .iter()
        .map(|of| (of.step, of.src, of.dst, of.bytes))
        .collect();
    let within = |from, to| [(1, from, to, 300), (1, from, to, 300)];
    let across = |from, to| (0, from, to, 500);
    let mut expected: Vec<_> = [within(0, 1), within(1, 0), within(2, 3), within(3, 2)].concat();
    expected.extend([across(0, 2), across(1, 3), across(2, 0), across(3, 1)]);
    assert_eq!(found, expected);
    let mut first = Vec::new();
    there.initial(0, &mut first);
    // The rail to rank 2, and what rank 1 gets of rank 0 itself.
    assert_eq!(first, [8, 1]);
    let mut after = Vec::new();
    there.released_by(8, &mut after);
    // Rank 2 hands rank 3 the tokens of the other host.
    assert_eq!((after, there.dependencies(4)), (vec![4], 1));
    // Combination: rank 3 gives rank 2 its results, and rank 2 sends the sum to rank 0.
    let back = combine.schedule(4, 600).expect("it suits");
    let of = back.transfer(4);
    assert_eq!((of.step, of.src, of.dst, of.reduce), (0, 3, 2, true));
    let mut after = Vec::new();
    back.released_by(4, &mut after);
    assert_eq!((after, back.dependencies(8)), (vec![8], 1));
    assert_eq!((back.transfer(8).src, back.transfer(8).dst), (2, 0));
}

/// Of eight choices among 256 experts each rank of 8 gets a copy with 1 − Π (224 − i)/(256 − i).
#[test]
fn direct_kernels_send_choices_or_ranks() {
    let [_, [low, _], [nvlink, _]] = all(keys(8, 8, 256));
    let volume = |kind: &CollectiveKind| -> u64 {
        let schedule = kind.schedule(8, 8_000).expect("it suits");
        sent(&*schedule).values().sum()
    };
    // 8 choices of 8,000 bytes, of which one in eight is for the rank itself.
    assert_eq!(volume(&low), 8 * 7 * 8_000);
    // 5.2946 ranks.
    assert_eq!(volume(&nvlink), 7 * 42_357);
    // 128 tokens of 7,168 values: 7,392 bytes with scales, or 14,336.
    let tokens = ExpertKeys {
        tokens: Some(128),
        ..keys(8, 8, 256)
    };
    let sizes = all(tokens)[1].clone().map(|kind| kind.own_size());
    assert_eq!(sizes, [Some(128 * 7_392), Some(128 * 14_336)]);
}

#[test]
fn tokens_of_few_hosts_cross_less() {
    let volume = |hosts_per_token| -> u64 {
        let limited = NormalKeys {
            hosts_per_token,
            ..NormalKeys::default()
        };
        let [dispatch, _] = normal(keys(2, 4, 64), limited);
        let schedule = dispatch.schedule(16, 1 << 20).expect("it suits");
        let rails = transfers(&*schedule).into_iter();
        let rails = rails.filter(|of| of.src / 2 != of.dst / 2);
        rails.map(|of| of.bytes).sum()
    };
    let [one, two, any] = [Some(1), Some(2), None].map(volume);
    // A token goes to one host, which is the own one in one of eight cases.
    assert_eq!(one, 16 * 7 * (1 << 20) / 8);
    assert!(one < two && two < any, "{one} {two} {any}");
    // More hosts than there are limit nothing.
    assert_eq!(volume(Some(99)), any);
}

#[test]
fn kernels_limit_what_enters_the_domain() {
    let kernel = |experts: ExpertKeys, mode: usize, ranks| {
        let kind = &all(experts)[mode][0];
        let schedule = kind.schedule(ranks, 1_000).expect("it suits");
        (schedule.start_up(), schedule.pace(0))
    };
    let given = ExpertKeys {
        launch: Some(Time::from_us(3)),
        kernel_rate: Some(Rate::from_gbps(800)),
        ..keys(8, 8, 256)
    };
    // One of eight copies is the NPU's own.
    for mode in 0..3 {
        let expected = (Time::from_us(3), Some(Rate::from_gbps(700)));
        assert_eq!(kernel(given, mode, 8), expected);
    }
    // Launches grow with hosts, and rates with processors up to a limit.
    let h100 = keys(8, 8, 256);
    let (one, two) = (kernel(h100, 1, 8).0, kernel(h100, 1, 16).0);
    assert!(one < two, "{one} {two}");
    let rate = |sms, ranks| {
        let limited = NormalKeys {
            sms,
            ..NormalKeys::default()
        };
        let schedule = normal(h100, limited)[0].schedule(ranks, 1_000);
        schedule.expect("it suits").pace(0).expect("of 8 NPUs")
    };
    assert_eq!(
        rate(8, 8),
        Rate::from_gbps(2 * rate(4, 8).bits_per_second() / 1_000_000_000)
    );
    assert_eq!(rate(100, 8), rate(50, 8));
    assert!(rate(8, 16) < rate(8, 8));
    let gb200 = ExpertKeys {
        kernels: Some(ExpertKernels::Gb200),
        ..h100
    };
    assert_ne!(kernel(gb200, 1, 8), kernel(h100, 1, 8));
}

#[test]
fn what_cannot_run_says_why() {
    let refused = |kind: &CollectiveKind, ranks| {
        let refused = kind.schedule(ranks, 1_000).err().expect("it does not suit");
        refused.to_string()
    };
    let [[normal, _], _, [nvlink, _]] = all(keys(8, 8, 64));
    assert!(refused(&nvlink, 16).contains("give `algorithm: normal` or `low-latency`"));
    assert!(refused(&normal, 12).contains("do not fill two or more hosts"));
    assert!(refused(&normal, 128).contains("64 experts are fewer than the 128 ranks"));
    let unknown = CollectiveKind::from(MoeDispatchNormal::default());
    assert!(refused(&unknown, 16).contains("endpoint.host.scale_up"));
}

proptest! {
    /// Combination sends what dispatch has sent back along the same ways; of every rank's copies
    /// each rank gets its part; every transfer is released as often as it waits.
    #[test]
    fn results_come_back_as_tokens_went(
        npus in 1_u32..6,
        hosts in 1_u32..6,
        top_k in 1_u32..9,
        near in 1_u32..7,
        size in 1_u64..1 << 24,
    ) {
        let ranks = npus * hosts;
        prop_assume!(ranks > 1);
        let experts = keys(npus, top_k, 64);
        let mut pairs = all(experts);
        let limited = NormalKeys { hosts_per_token: Some(near), ..NormalKeys::default() };
        pairs[0] = normal(experts, limited);
        for (place, [dispatch, combine]) in pairs.iter().enumerate() {
            if place == 2 && hosts > 1 {
                continue;
            }
            let there = dispatch.schedule(ranks, size).expect("it suits");
            let back = combine.schedule(ranks, size).expect("it suits");
            let turned = sent(&*back).into_iter().map(|((src, dst), bytes)| ((dst, src), bytes));
            let went = sent(&*there);
            prop_assert_eq!(&went, &turned.collect());
            for schedule in [&there, &back] {
                let mut waits = vec![0; schedule.transfer_count() as usize];
                for id in 0..schedule.transfer_count() {
                    let mut released = Vec::new();
                    schedule.released_by(id, &mut released);
                    for next in released {
                        prop_assert_eq!(schedule.transfer(next).src, schedule.transfer(id).dst);
                        waits[next as usize] += 1;
                    }
                }
                for (id, found) in (0..).zip(waits) {
                    prop_assert_eq!(schedule.dependencies(id), found);
                }
            }
            if place == 1 {
                // The blocks of a rank, its own included, are all choices of its tokens.
                let all: u64 = (1..ranks).map(|dst| went[&(0, dst)]).sum();
                prop_assert_eq!(all + went[&(1, 0)], u64::from(top_k) * size);
            }
        }
    }
}
