//! What scenarios say of hosts behind NICs and of groups of ranks, and what they must not.

mod base;

use tenter::resolve::Loaded;
use tenter_endpoint::{DmaRates, Interleave};
use tenter_fabric::topology::HostId;
use tenter_language::units::{Bytes, Rate, Time};
use tenter_workload::collective::AllReduceRing;
use tenter_workload::{Groups, Traffic};

use base::Base;

const SMALL: Base = Base(
    "
fabric: {kind: single-switch, hosts: 4}
jobs: [{name: a, ranks: [1, 3], collectives: [{collective: all-to-all, size: 1MiB}]}]
",
);

/// Loads, without warnings.
fn good(overrides: &[&str]) -> Loaded {
    let loaded = SMALL.good(overrides);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    loaded
}

const PCIE: &str = "endpoint.nic.pcie={peak: 500Gbps}";

#[test]
fn pcie_is_a_peak_or_a_generation() {
    let plan = good(&[PCIE]).plan;
    let pcie = plan.nic.pcie.expect("it was given");
    assert_eq!(pcie.peak(), Rate::from_gbps(500));
    assert_eq!((pcie.max_payload_bytes, pcie.tlp_overhead_bytes), (256, 24));
    let buffer = plan.nic.receive_buffer.expect("it comes with PCIe");
    assert_eq!(
        (buffer.drain_rate, buffer.capacity),
        (None, Bytes::new(2 << 20))
    );
    let rate = Rate::from_gbps(500);
    assert_eq!(
        *plan.dma,
        [DmaRates {
            write: rate,
            read: rate
        }; 4]
    );
    let given = good(&["endpoint.nic.pcie={generation: 5, lanes: 8, max_payload: 512B}"]);
    let pcie = given.plan.nic.pcie.expect("it was given");
    // 32 GT/s · 8 · 128/130.
    assert_eq!(pcie.peak(), Rate::from_bits_per_second(252_061_538_461));
    assert!(good(&[]).plan.dma.is_empty());
}

#[test]
fn pcie_that_makes_no_sense_is_refused() {
    let given = |keys: &str| format!("endpoint.nic.pcie={{{keys}}}");
    SMALL.refused(&[&given("")], "lacks `generation` or `peak`");
    SMALL.refused(&[&given("generation: 7")], "outside its range");
    SMALL.refused(
        &[&given("generation: 5, peak: 500Gbps")],
        "exclude each other",
    );
    SMALL.refused(
        &[&given("peak: 500Gbps, lanes: 16")],
        "means nothing where the peak is given",
    );
    SMALL.refused(
        &[&given("generation: 5, lanes: 3")],
        "no width that links have",
    );
    SMALL.refused(
        &[&given("peak: 500Gbps, max_payload: 300B")],
        "no power of two",
    );
    SMALL.refused(
        &[&given("peak: 500Gbps, max_payload: 64B")],
        "outside its range",
    );
    SMALL.refused(
        &[&given("peak: 500Gbps, tlp_overhead: 65B")],
        "outside its range",
    );
    SMALL.refused(
        &[PCIE, "endpoint.nic.receive_buffer=none"],
        "cannot be `none` with `pcie`",
    );
    SMALL.refused(
        &[PCIE, "endpoint.nic.receive_buffer={drain_rate: 1Gbps}"],
        "both say how fast the buffer drains",
    );
}

#[test]
fn impairments_are_for_all_a_job_or_hosts_and_the_last_holds() {
    let entries = "endpoint.nic_impairments=[{dma_read: 80%}, {job: a, dma_write: 50%}, {host: 2-3, dma_write: 62.5%}]";
    let dma = good(&[PCIE, entries]).plan.dma;
    let rates = |write: u64, read: u64| {
        let [write, read] =
            [write, read].map(|tenths| Rate::from_bits_per_second(tenths * 500_000_000));
        DmaRates { write, read }
    };
    let expected = [
        rates(1_000, 800),
        rates(500, 1_000),
        rates(625, 1_000),
        rates(625, 1_000),
    ];
    assert_eq!(*dma, expected);
    let entry = |keys: &str| format!("endpoint.nic_impairments=[{{{keys}}}]");
    SMALL.refused(&[&entry("dma_write: 50%")], "there is no PCIe");
    SMALL.refused(
        &[PCIE, &entry("job: b, dma_write: 50%")],
        "there is no job `b`",
    );
    SMALL.refused(
        &[PCIE, &entry("host: 4, dma_write: 50%")],
        "there is no host `4`",
    );
    // Also beside a problem of something else.
    let switching = "fabric.switching={kind: odd}";
    let both = SMALL.set(&[PCIE, switching, &entry("host: 4, dma_write: 50%")]);
    let text = both.expect_err("neither is right").render();
    assert!(text.contains("cannot be `odd`") && text.contains("there is no host `4`"));
    SMALL.refused(&[PCIE, &entry("host: 1, job: a")], "exclude each other");
    for share in ["50", "0%", "101%", "-5%", "50.00001%", "%", "half"] {
        SMALL.refused(
            &[PCIE, &entry(&format!("dma_write: '{share}'"))],
            "must be a share of the PCIe peak",
        );
    }
}

#[test]
fn hosts_may_have_a_scale_up_domain() {
    let plan =
        good(&["endpoint.host.scale_up={npus_per_host: 2, rate: 1Tbps, latency: 300ns}"]).plan;
    let domain = plan.scale_up.expect("it was given");
    assert_eq!(
        (domain.npus_per_host, domain.rate),
        (2, Rate::from_gbps(1_000))
    );
    assert_eq!(domain.latency, Time::from_ns(300));
    assert!(
        plan.is_within_domain(HostId::new(2), HostId::new(3))
            && !plan.is_within_domain(HostId::new(1), HostId::new(2))
    );
    let usual = good(&["endpoint.host.scale_up={}"]).plan.scale_up;
    assert_eq!(usual.expect("it was given").npus_per_host, 8);
    assert!(
        !good(&[])
            .plan
            .is_within_domain(HostId::new(0), HostId::new(1))
    );
    SMALL.refused(
        &["endpoint.host.scale_up={latency: 10ns}"],
        "outside its range",
    );
    SMALL.refused(
        &["endpoint.host.scale_up={npus_per_host: 1}"],
        "outside its range",
    );
}

#[test]
fn several_npus_may_share_a_nic() {
    let shared = [
        "endpoint.host.npus_per_nic=2",
        "endpoint.host.scale_up={npus_per_host: 4}",
    ];
    let hosts = |job: &str| {
        let job =
            format!("jobs=[{{{job}, collectives: [{{collective: all-to-all, size: 1MiB}}]}}]");
        good(&[shared[0], shared[1], &job]).plan.jobs[0]
            .hosts
            .clone()
    };
    assert_eq!(
        hosts("ranks: all"),
        [0, 0, 1, 1, 2, 2, 3, 3].map(HostId::new)
    );
    assert_eq!(hosts("ranks: 3"), [0, 0, 1].map(HostId::new));
    assert_eq!(hosts("ranks: [0-3, 1]"), [0, 1, 2, 3, 1].map(HostId::new));
    assert_eq!(
        hosts("ranks: 3, placement: round-robin"),
        [0, 0, 1].map(HostId::new)
    );
    // Groups are of NPUs.
    let groups = hosts("ranks: 8, placement: random-groups, group_size: 2");
    assert!(
        groups.chunks(2).all(|group| group[0] == group[1]),
        "{groups:?}"
    );
    let plan = good(&shared).plan;
    assert!(
        plan.is_within_domain(HostId::new(0), HostId::new(1))
            && plan.is_within_domain(HostId::new(2), HostId::new(2))
    );
    assert!(!plan.is_within_domain(HostId::new(1), HostId::new(2)));
    let free = "jobs=[{ranks: [0, 1], name: a, C}, {free_hosts: true, name: b, C}]";
    let free = free.replace("C}", "collectives: [{collective: all-to-all, size: 1MiB}]}");
    let plan = good(&[shared[0], shared[1], &free]).plan;
    assert_eq!(plan.jobs[1].hosts, [0, 1, 2, 2, 3, 3].map(HostId::new));
    let refused = |set: &[&str], message: &str| {
        let mut all = vec!["endpoint.host.npus_per_nic=2"];
        all.extend(set);
        SMALL.refused(&all, message);
    };
    refused(&[], "nothing connects the NPUs of a NIC");
    refused(
        &["endpoint.host.scale_up={npus_per_host: 5}"],
        "does not divide",
    );
    refused(
        &[shared[1], "jobs[0].ranks=[1, 0, 1, 1]"],
        "host `host1` has 2 NPUs and is bound to more ranks, the last of them 3",
    );
    refused(
        &[shared[1], "jobs[0].ranks=9"],
        "9 ranks are bound to 8 NPUs of 4 hosts",
    );
    SMALL.refused(&["endpoint.host.npus_per_nic=65"], "outside its range");
}

#[test]
fn queue_pairs_take_turns_by_packet_or_message() {
    assert_eq!(good(&[]).plan.nic.interleave, Interleave::Packet);
    let plan = good(&["endpoint.nic.interleave=message"]).plan;
    assert_eq!(plan.nic.interleave, Interleave::Message);
    let plan = good(&["endpoint.nic.interleave=16KiB"]).plan;
    let burst = Interleave::Burst(Bytes::new(16 << 10));
    assert_eq!(plan.nic.interleave, burst);
    let wrong = ["endpoint.nic.interleave=byte"];
    SMALL.refused(&wrong, "`byte` is not a size");
    SMALL.refused(&wrong, "`128KiB`, or `packet` or `message`");
}

#[test]
fn a_collective_may_run_in_groups() {
    let job = |groups: &str| {
        format!(
            "jobs=[{{collectives: [{{collective: all-reduce, size: 1MiB, groups: {groups}}}]}}]"
        )
    };
    let kind = good(&[&job("{size: 2, stride: 2}")]).plan.jobs[0].sequence[0]
        .traffic
        .clone();
    let expected = Traffic::Collective {
        kind: AllReduceRing.into(),
        groups: Some(Groups { size: 2, stride: 2 }),
    };
    assert_eq!(kind, expected);
    assert_eq!((kind.name(), kind.busbw_factor(4)), ("all-reduce", 1.0));
    SMALL.refused(&[&job("{stride: 2}")], "lacks `size`");
    SMALL.refused(&[&job("{size: 1}")], "outside its range");
    SMALL.refused(&[&job("{size: 3}")], "do not fill groups of 3");
    SMALL.refused(&[&job("{size: 4, stride: 2}")], "that are 2 apart");
}
