//! Transfers within hosts, past their NICs.

use crate::trial::Trial;
use crate::wire::wire;

/// Hosts of four NPUs, a byte a nanosecond among them.
const HOSTS: &str = "
fabric: {kind: single-switch, hosts: 16}
endpoint: {host: {scale_up: {npus_per_host: 4, rate: 8Gbps, latency: 3us}}}
jobs: [{ranks: 4, collectives: [{collective: all-reduce, algorithm: ring, size: 4000B}]}]
observe: {samples: false}
";

#[test]
fn a_ring_within_a_host_takes_no_network() {
    // Six steps of 1,000 bytes: 1 us at the NPU's rate, and 3 us to the next.
    let trial = Trial::run(HOSTS, &[]);
    assert_eq!(trial.completion(0), 6 * 4_000_000);
    let totals = &trial.outcome.summary.totals;
    assert_eq!((totals.tx_frames, totals.flows), (0, 24));
    // The closed form knows the domain; per cent of the line rate of a NIC there is none.
    assert_eq!(
        trial
            .collective(0)
            .ideal
            .map(tenter_language::units::Time::ps),
        Some(24_000_000)
    );
    assert_eq!(trial.collective(0).percent_of_ideal, Some(100.0));
    assert_eq!(trial.collective(0).line_rate_percent, None);
    // Nothing passes a port, so there is nothing to compare with.
    assert_eq!(trial.collective(0).ideal_ratio, None);
    assert_eq!(trial.collective(0).flow_ratio_p50, None);
    for flow in &trial.flows {
        assert_eq!((flow.fct().ps(), flow.tx_frames), (4_000_000, 0));
    }
}

/// Two copies of 6,000 bytes over four ranks: three blocks of 3,000 bytes at three quarters of the
/// kernel's rate, as a quarter of its copies stays. Behind the launch each takes 8 us, and the last
/// one 3 us more.
#[test]
fn a_kernel_limits_what_an_npu_sends_into_the_domain() {
    for collective in ["moe-dispatch", "moe-combine"] {
        let kernel = format!(
            "jobs[0].collectives=[{{collective: {collective}, algorithm: low-latency, top_k: 2, \
             size: 6000B, launch: 5us, kernel_rate: 4Gbps}}]"
        );
        let trial = Trial::run(HOSTS, &[&kernel]);
        assert_eq!(trial.completion(0), (5 + 3 * 8 + 3) * 1_000_000);
        // The domain is faster than a kernel that may send at 16 Gb/s.
        let fast = kernel.replace("4Gbps", "16Gbps");
        let trial = Trial::run(HOSTS, &[&fast]);
        assert_eq!(trial.completion(0), (5 + 3 * 3 + 3) * 1_000_000);
    }
}

#[test]
fn an_npu_sends_one_transfer_after_the_other() {
    // Three blocks of 1,000 bytes from each NPU, the last one through after 3 us.
    let all_to_all = "jobs[0].collectives=[{collective: all-to-all, size: 4000B}]";
    let trial = Trial::run(HOSTS, &[all_to_all]);
    assert_eq!(trial.completion(0), 3 * 1_000_000 + 3_000_000);
    assert_eq!(trial.collective(0).percent_of_ideal, Some(100.0));
    let mut times: Vec<u64> = trial.flows.iter().map(|flow| flow.fct().ps()).collect();
    times.sort_unstable();
    let each = [4_000_000; 4].into_iter();
    let all: Vec<u64> = each.chain([5_000_000; 4]).chain([6_000_000; 4]).collect();
    assert_eq!(times, all);
}

/// A kernel of each kind, at half a byte a nanosecond; all others take a second.
const KERNELS: &str = "endpoint.host.scale_up.nccl_kernels={ll_start: 1s, ll128_start: 1s, \
    simple_start: 10us, simple_step: 5us, simple_rate: 4Gbps, copy_rate: 8Gbps, nvls_rate: none, \
    all_to_all_ll_start: 1s, all_to_all_simple_start: 10us, all_to_all_simple_peer: 1us, \
    all_to_all_simple_rate: 4Gbps, all_to_all_copy_rate: 8Gbps}";

#[test]
fn kernels_take_their_times() {
    let completion = |sets: &[&str]| {
        let trial = Trial::run(HOSTS, &[&[KERNELS], sets].concat());
        trial.completion(0)
    };
    let of = |kind: &str| {
        let jobs = format!("jobs[0].collectives=[{{{kind}, size: 4000B}}]");
        completion(&[&jobs])
    };
    // A launch of 10 us; a ring copies 1,000 bytes in 1 us, and takes 5 us and 2 us for each step.
    assert_eq!(of("collective: all-reduce, algorithm: nccl"), 53_000_000);
    assert_eq!(of("collective: all-gather, algorithm: nccl"), 32_000_000);
    assert_eq!(
        of("collective: reduce-scatter, algorithm: nccl"),
        32_000_000
    );
    // Three peers, the copy, and three blocks of 2 us.
    for kind in [
        "collective: all-to-all",
        "collective: gather",
        "collective: scatter, root: 2",
    ] {
        assert_eq!(of(kind), 20_000_000, "{kind}");
    }
    // One peer and 8 us; three steps and 8 us.
    assert_eq!(of("collective: send-recv"), 19_000_000);
    for kind in [
        "collective: broadcast, algorithm: ring, root: 3",
        "collective: reduce, root: 1",
    ] {
        assert_eq!(of(kind), 33_000_000, "{kind}");
    }
    // Other algorithms take the domain's rate and latency alone.
    assert_eq!(of("collective: all-reduce, algorithm: ring"), 24_000_000);
    let nccl = "jobs[0].collectives=[{collective: all-reduce, algorithm: nccl, size: 4000B}]";
    let nvls = [
        nccl,
        "endpoint.host.scale_up.nccl_kernels.nvls_start=20us",
        "endpoint.host.scale_up.nccl_kernels.nvls_rate=4Gbps",
    ];
    assert_eq!(completion(&nvls), 28_000_000);
    let all_to_all = "jobs[0].collectives=[{collective: all-to-all, size: 4000B}]";
    let ll = [
        all_to_all,
        "endpoint.host.scale_up.nccl_kernels.all_to_all_ll_start=2us",
        "endpoint.host.scale_up.nccl_kernels.all_to_all_ll_peer=1us",
        "endpoint.host.scale_up.nccl_kernels.all_to_all_ll_peer_rate=1Gbps",
    ];
    assert_eq!(completion(&ll), 13_000_000);
    // Two ranks have a rate of their own: 11 us, a copy of 2 us, and 2,000 bytes in 2 us.
    let pair = [
        all_to_all,
        "jobs[0].ranks=2",
        "endpoint.host.scale_up.nccl_kernels.pair_rate=8Gbps",
    ];
    assert_eq!(completion(&pair), 15_000_000);
}

#[test]
fn what_crosses_hosts_is_all_that_the_network_carries() {
    // 16 ranks in four hosts: of 15 blocks of 1 MiB, 12 leave the host.
    let size = "jobs=[{collectives: [{collective: all-to-all, size: 16MiB}]}]";
    let fast = "endpoint.host.scale_up.rate=3600Gbps";
    let trial = Trial::run(HOSTS, &[size, fast]);
    let row = trial.collective(0);
    assert_eq!(row.full_mesh_time.ps(), 12 * (1 << 20) * 20);
    // 256 packets of 4,178 bytes for each block, and a few more for the first of a message.
    let frames = trial.outcome.summary.totals.tx_frames;
    assert_eq!(frames, 16 * 12 * 256);
    let ratio = row.ideal_ratio.expect("it has ended");
    assert!((1.0201..1.03).contains(&ratio), "{ratio}");
    // The port is busy for 12 blocks, and a switch is on the way; most blocks leave the host.
    let percent = row.percent_of_ideal.expect("it has ended");
    assert!((99.0..=100.0).contains(&percent), "{percent}");
    assert_eq!(row.line_rate_percent, None);
}

#[test]
fn a_ring_over_hosts_knows_both_ways() {
    // Four hosts of four NPUs: 30 steps of 1,000 bytes, each as slow as the slowest of its links,
    // the domain's: 1 us and 3 us, against 20 ns and a few hundred on the network.
    let ring = "jobs=[{collectives: [{collective: all-reduce, algorithm: ring, size: 16000B}]}]";
    let trial = Trial::run(HOSTS, &[ring]);
    let percent = trial.collective(0).percent_of_ideal.expect("it has ended");
    // A chunk goes round twice but for a step: of 30 hops 22 or 23 are within hosts. Packets of one
    // chunk wait for nobody.
    assert!((99.9..=100.0).contains(&percent), "{percent}");
}

#[test]
fn hosts_go_by_the_numbers_of_nics() {
    // Hosts 3 and 4 are neighbours of different servers, 4 and 5 of the same.
    let job = |hosts: &str| {
        format!("jobs=[{{ranks: [{hosts}], collectives: [{{collective: send-recv, size: 1KiB}}]}}]")
    };
    let frames = |hosts: &str| {
        let trial = Trial::run(HOSTS, &[&job(hosts)]);
        trial.outcome.summary.totals.tx_frames
    };
    assert_eq!((frames("3, 4"), frames("4, 5")), (2, 0));
}

/// Four NICs with four NPUs each, which are a host.
const SHARED: [&str; 2] = [
    "endpoint.host.npus_per_nic=4",
    "endpoint.host.scale_up.rate=3600Gbps",
];

#[test]
fn ranks_of_a_nic_share_its_line() {
    // 16 ranks: of 15 blocks of 1 MiB each, 12 leave the NIC, which carries those of four ranks.
    let mut set = SHARED.to_vec();
    set.extend([
        "fabric.hosts=4",
        "jobs=[{collectives: [{collective: all-to-all, size: 16MiB}]}]",
    ]);
    let trial = Trial::run(HOSTS, &set);
    let row = trial.collective(0);
    assert_eq!(row.full_mesh_time.ps(), 4 * 12 * (1 << 20) * 20);
    assert_eq!(trial.outcome.summary.totals.tx_frames, 16 * 12 * 256);
    let ratio = row.ideal_ratio.expect("it has ended");
    assert!((1.0201..1.03).contains(&ratio), "{ratio}");
}

#[test]
fn a_shared_line_is_busy_to_the_picosecond() {
    // Two NICs of four NPUs, and a gather at rank 0: three blocks of 64 KiB pass its domain, four
    // come on the one line of the other NIC, packet by packet in turn. Cable 25, switch 601, cable
    // 25.
    let mut set = SHARED.to_vec();
    set.extend([
        "fabric={kind: single-switch, hosts: 2, host_delay: 25ns, switch: {pipeline_latency: 601ns}}",
        "jobs=[{collectives: [{collective: gather, size: 512KiB}]}]",
    ]);
    let trial = Trial::run(HOSTS, &set);
    let block = wire(64 << 10, 4_096, 128_000).iter().sum::<u64>();
    assert_eq!(block, 16 * (4_096 + 62 + 20) + 16);
    assert_eq!(trial.completion(0), 4 * block * 20 + 651_000);
    assert_eq!(trial.collective(0).percent_of_ideal, Some(100.0));
    assert_eq!(trial.outcome.summary.totals.tx_frames, 4 * 16);
    // With a NIC for each NPU, seven lines to one.
    set.extend(["endpoint.host.npus_per_nic=1", "fabric.hosts=8"]);
    let apart = Trial::run(HOSTS, &set).outcome.summary.totals.tx_frames;
    assert_eq!(apart, 4 * 16);
}

#[test]
fn what_npus_of_a_nic_send_each_other_passes_their_domain() {
    // Three blocks of 1,000 bytes from each NPU at a byte a nanosecond: as with a NIC each.
    let set = [
        "fabric.hosts=4",
        "endpoint.host.npus_per_nic=4",
        "jobs=[{ranks: 4, collectives: [{collective: all-to-all, size: 4000B}]}]",
    ];
    let trial = Trial::run(HOSTS, &set);
    assert_eq!(trial.completion(0), 3 * 1_000_000 + 3_000_000);
    assert_eq!(trial.outcome.summary.totals.tx_frames, 0);
    // Two jobs on one NIC have NPUs of their own while there are any, and share them after that.
    let job = "{ranks: [0, 0], collectives: [{collective: send-recv, size: 1000B}]}";
    let last = |jobs: usize| {
        let jobs = format!("jobs=[{}]", vec![job; jobs].join(", "));
        let trial = Trial::run(HOSTS, &[set[0], set[1], &jobs]);
        let ends = trial
            .outcome
            .jobs
            .iter()
            .map(|job| job.jct.expect("it has ended").ps());
        ends.max()
    };
    assert_eq!((last(1), last(2)), (Some(4_000_000), Some(4_000_000)));
    assert_eq!(last(3), Some(5_000_000));
}
