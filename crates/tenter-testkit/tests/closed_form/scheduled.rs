//! Scheduled fabrics: how long a cold virtual output queue takes, how an incast drains, who is
//! disturbed by a NIC that pauses, and which links cells take.

use crate::trial::Trial;
use crate::wire::{FIRST_WIRE, MESSAGE, MTU, NEXT_WIRE, wire};
use tenter_results::SampleRow;

/// 400 Gbit/s.
const BYTE: u64 = 20;
/// A full packet that is a message of its own: 4,194 bytes on the wire.
const SLOT: u64 = FIRST_WIRE * BYTE;
/// A cable of 25 ns and half of a pipeline of 600 ns.
const HOST: u64 = 325_000;
/// Half a pipeline, 200 ns of cable, a pipeline, 200 ns of cable, half a pipeline: from leaf to
/// leaf, and as long for a request or a credit.
const ACROSS: u64 = 1_600_000;

/// Four leaves with four hosts each, and four spines.
const FABRIC: &str = "
fabric:
  kind: leaf-spine
  leaves: 4
  hosts_per_leaf: 4
  spines: 4
  switching: {kind: scheduled}
  switch: {pipeline_latency: 600ns, queue_capacity: none}
endpoint: {nic: {message_size: 4KiB, acknowledge: {every: 1024}}}
jobs:
  - ranks: [0, 4]
    collectives: [{collective: send-recv, size: 4KiB}, {collective: send-recv, size: 4KiB}]
    gap: 50us
observe: {samples: false}
";

#[test]
fn a_packet_waits_for_a_request_and_a_credit_unless_there_is_credit_left() {
    // Leaves take frames whole, so a packet takes its 83,880 ps three times: into its leaf, to the
    // other leaf through a spine that cuts through, and to its NIC.
    let sent = HOST + 3 * SLOT + ACROSS + HOST;
    let trial = Trial::run(
        FABRIC,
        &["jobs[0].collectives=[{collective: incast, size: 8KiB}]"],
    );
    assert_eq!(trial.flow().fct().ps(), sent + 2 * ACROSS);
    assert_eq!(sent + 2 * ACROSS, 5_701_640);
    // Two credits of 4,096 bytes were granted for 4,194; so a second packet does not wait.
    let two =
        "jobs[0].collectives=[{collective: incast, size: 8KiB}, {collective: incast, size: 8KiB}]";
    let trial = Trial::run(FABRIC, &[two]);
    let times: Vec<u64> = trial.flows.iter().map(|flow| flow.fct().ps()).collect();
    assert_eq!(times, [sent + 2 * ACROSS, sent]);
    // Within a leaf a request and a credit take no time.
    let near = [
        "jobs[0].ranks=[0, 1]",
        "jobs[0].collectives=[{collective: incast, size: 8KiB}]",
    ];
    let trial = Trial::run(FABRIC, &near);
    assert_eq!(trial.flow().fct().ps(), 2 * HOST + 2 * SLOT);
}

#[test]
fn cells_go_side_by_side() {
    // 4,174 bytes are 16 cells of 256 + 16 bytes and one of 78 + 16. Each of four links carries
    // four long ones, one after the other, and the spines, which cut through, as many. One link has
    // the short one behind them: 4 · 272 + 94 = 1,182 bytes.
    let cells = "fabric.switching.cell={payload: 256B, overhead: 16B}";
    let one = "jobs[0].collectives=[{collective: incast, size: 8KiB}]";
    let trial = Trial::run(FABRIC, &[cells, one]);
    let sent = HOST + 2 * SLOT + 1_182 * BYTE + ACROSS + HOST;
    assert_eq!(trial.flow().fct().ps(), sent + 2 * ACROSS);
    // Bundles of four at most: three, three, four, three cells, and behind the first three the last
    // ones with the short one among them: 5 · 272 + 94 = 1,454 bytes and 272 more.
    let bundles = "fabric.switching.cell={payload: 256B, overhead: 16B, bundle: 4}";
    let trial = Trial::run(FABRIC, &[bundles, one]);
    let bundled = sent + (816 + 910 - 1_182) * BYTE;
    assert_eq!(trial.flow().fct().ps(), bundled + 2 * ACROSS);
    // The leaf sent as many bytes to its spines in both cases.
    let wire_bytes = |trial: &Trial| -> u64 {
        let ports = trial.outcome.counts.ports.iter();
        let up = ports.filter(|port| port.node_name == "leaf1" && port.peer_name.starts_with("sp"));
        up.map(|port| port.tx_bytes + 20 * port.tx_frames).sum()
    };
    assert_eq!(wire_bytes(&trial), 4_174 + 17 * 16);
}

#[test]
fn an_incast_drains_at_the_rate_of_its_port_and_waits_at_its_sources() {
    // Twelve senders on three leaves, a mebibyte each. The port is busy from the first packet on;
    // that one came as through a cold queue.
    let ranks = "jobs[0].ranks=[0, 4-15]";
    let size = "jobs[0].collectives=[{collective: incast, size: 13MiB}]";
    let all = 12 * wire(1 << 20, MTU, MESSAGE).iter().sum::<u64>() * BYTE;
    let set = [ranks, size, "endpoint.nic.message_size=128KiB"];
    let trial = Trial::run(FABRIC, &set);
    let first = HOST + SLOT + 3 * ACROSS + SLOT;
    assert_eq!(trial.completion(0), first + all + HOST);
    // As many credits as that takes, rounded up for each of the senders' leaves.
    let rows = &trial.outcome.counts.switches;
    let credits = |leaf: usize| rows[leaf].credits.unwrap_or(0);
    assert!((all / BYTE).div_ceil(4_096) <= credits(0) && credits(0) <= (all / BYTE) / 4_096 + 3);
    assert_eq!(rows[4].credits, None);
    // Four senders at 400 Gb/s fill one queue, which gets a third of the port.
    let high = rows[1].voq_high_water_bytes.unwrap_or(0);
    assert!((3 << 20..4 << 20).contains(&high), "{high}");
    assert_eq!(rows[1].voqs_high_water_bytes, Some(high));
    for cells in ["none", "{payload: 256B, overhead: 16B}"] {
        let cells = format!("fabric.switching.cell={cells}");
        let trial = Trial::run(FABRIC, &[&set[..], &[&cells]].concat());
        // Never more than one packet of each source leaf wants the same link at once, and the port
        // holds back credits when its buffer is full.
        for port in &trial.outcome.counts.ports {
            let inside = port.node_name.starts_with("spine") || port.peer_name.starts_with("spine");
            let most = if inside {
                3 * FIRST_WIRE
            } else {
                (512 << 10) + 200_000
            };
            let high = port.queue_high_water_bytes;
            assert!(
                high <= most,
                "{} to {}: {high}",
                port.node_name,
                port.peer_name
            );
        }
    }
}

#[test]
fn a_nic_that_pauses_stops_nobody_else() {
    // Hosts 4 and 5 send to hosts 0 and 1 of another leaf; host0 pauses its leaf for a while.
    let jobs = [
        "fabric.flow_control=pfc",
        "fabric.switch={profile: jericho3-ramon3}",
        "endpoint.nic.message_size=128KiB",
        "jobs=[{name: stopped, ranks: [0, 4], collectives: [{collective: incast, size: 16MiB}]}, \
         {name: victim, ranks: [1, 5], collectives: [{collective: incast, size: 16MiB}]}]",
    ];
    let storm = ["faults.events=[{nic: host0, pause_storm: 20us, until: 400us}]"];
    let quiet = Trial::run(FABRIC, &jobs);
    let trial = Trial::run(FABRIC, &[&jobs[..], &storm].concat());
    let time = |trial: &Trial, job: u32| trial.flows_of(job)[0].fct().ps();
    assert!(time(&trial, 0) > time(&quiet, 0) + 370_000_000);
    assert_eq!(time(&trial, 1), time(&quiet, 1));
    for port in &trial.outcome.counts.ports {
        let inside = port.node_name.starts_with("spine") || port.peer_name.starts_with("spine");
        assert!(!inside || port.tx_xoff_frames == 0);
        // Two sources.
        assert!(!inside || port.queue_high_water_bytes <= 2 * FIRST_WIRE);
    }
}

#[test]
fn cells_avoid_links_that_are_down() {
    let jobs = [
        "jobs[0].ranks=[0, 4-7, 8-11]",
        "jobs[0].start=100us",
        "jobs[0].collectives=[{collective: all-to-all, size: 8MiB}]",
    ];
    let whole = Trial::run(FABRIC, &jobs);
    let down = "faults.events=[{link: leaf1-spine2, down: 10us}]";
    let trial = Trial::run(
        FABRIC,
        &[&jobs[..], &[down, "faults.convergence=20us"]].concat(),
    );
    assert!(whole.port("leaf1", "spine2").tx_frames > 0);
    assert_eq!(trial.port("leaf1", "spine2").tx_frames, 0);
    assert_eq!(trial.port("spine2", "leaf1").tx_frames, 0);
    assert!(trial.port("leaf1", "spine1").tx_frames > whole.port("leaf1", "spine1").tx_frames);
    let totals = &trial.outcome.summary.totals;
    assert_eq!(
        (totals.lost_frames, totals.unsent_frames, totals.timeouts),
        (0, 0, 0)
    );
    assert!(trial.outcome.summary.complete);
}

#[test]
fn what_is_lost_in_the_fabric_is_given_up_and_sent_again() {
    // The link fails in the midst of it; until routing knows, spine2 throws away what is for leaf1.
    let set = [
        "jobs[0].ranks=[4, 0, 8, 12]",
        "jobs[0].collectives=[{collective: incast, size: 16MiB}]",
        "faults.events=[{link: leaf1-spine2, down: 50us}]",
        "faults.convergence=20us",
        "endpoint.nic.retransmission_timeout=1ms",
        "endpoint.nic.acknowledge=per-message",
    ];
    let trial = Trial::run(FABRIC, &set);
    let totals = &trial.outcome.summary.totals;
    assert!(totals.lost_frames + totals.unsent_frames > 0);
    assert!(totals.retransmitted_frames > 0);
    assert!(trial.outcome.summary.complete);
}

#[test]
fn an_exchange_of_all_with_all_is_nearly_ideal() {
    // Sixteen ranks, one packet after the other to each of the others.
    let set = |cells: &str, uplink: &str| {
        let overrides = [
            format!("fabric.switching.cell={cells}"),
            format!("fabric.uplink_rate={uplink}"),
            "endpoint.nic.message_size=128KiB".to_owned(),
            "jobs[0].ranks=16".to_owned(),
            "jobs[0].collectives=[{collective: all-to-all, size: 16MiB}]".to_owned(),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        Trial::run(FABRIC, &overrides).completion(0) as f64
    };
    // 15 of 16 MiB at 400 Gb/s, headers included.
    let ideal = (15 * wire(1 << 20, MTU, MESSAGE).iter().sum::<u64>() * BYTE) as f64;
    let packets = set("none", "400Gbps") / ideal;
    let cells = set("{payload: 256B, overhead: 16B}", "450Gbps") / ideal;
    assert!(packets < 1.05, "{packets}");
    assert!(cells < 1.05, "{cells}");
}

#[test]
fn congestion_indication_keeps_queues_of_the_fabric_short() {
    // Half as much up as down: ports of hosts grant twice what the fabric carries.
    let set = [
        "fabric.uplink_rate=200Gbps",
        "jobs=[{name: a, ranks: [0, 4], collectives: [{collective: incast, size: 8MiB}]}, {name: b, ranks: [1, 5], collectives: [{collective: incast, size: 8MiB}]}, {name: c, ranks: [2, 6], collectives: [{collective: incast, size: 8MiB}]}, {name: d, ranks: [3, 7], collectives: [{collective: incast, size: 8MiB}]}]",
        "endpoint.nic.message_size=128KiB",
    ];
    let run = |more: &[&str]| Trial::run(FABRIC, &[&set[..], more].concat());
    let longest = |trial: &Trial| {
        let ports = trial.outcome.counts.ports.iter();
        let inside = ports.filter(|port| port.node_name.starts_with("leaf"));
        let up = inside.filter(|port| port.peer_name.starts_with("spine"));
        up.map(|port| port.queue_high_water_bytes)
            .max()
            .unwrap_or(0)
    };
    let (without, with) = (run(&[]), run(&["fabric.switching.indication={}"]));
    // The queues end near the threshold, not where the transfer ends; steps of an eighth around the
    // half that fits cost some of the rate.
    assert!(longest(&without) > 2_000_000);
    assert!(longest(&with) < longest(&without) / 3);
    let cost = with.completion(0) as f64 / without.completion(0) as f64;
    assert!((1.0..1.2).contains(&cost), "{cost}");
}

#[test]
fn requests_and_credits_take_their_share_of_links_if_they_are_to() {
    // 128 bytes for each 4,096 granted: 132 for a packet of 4,194 bytes on the wire.
    let control = "fabric.switching.control=128B";
    let one = "jobs[0].collectives=[{collective: incast, size: 8KiB}]";
    let (without, with) = (
        Trial::run(FABRIC, &[one]),
        Trial::run(FABRIC, &[one, control]),
    );
    let more = with.flow().fct().ps() - without.flow().fct().ps();
    assert_eq!(more, 132 * BYTE);
}

#[test]
fn cells_count_when_they_begin_to_be_sent() {
    // Credits come much faster than the slow link can send, on which a packet takes 33 us. In 10 us
    // it is given 24, none of them the first of its message, and begins one.
    let slow = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 4
  spines: 2
  overrides: [{leaf: 0, spine: 1, rate: 1Gbps}]
  switching: {kind: scheduled, over_speed: 100}
jobs: [{collectives: [{collective: broadcast, size: 100kB}]}]
observe: {sample_interval: 10us}
limits: {time: 10us}
";
    let trial = Trial::run(slow, &[]);
    let port = trial.port("leaf0", "spine1");
    assert_eq!(port.tx_frames, 1);
    // It has been under way all the time since it began.
    assert!(0.5 < port.utilisation && port.utilisation < 1.0);
    let here = |row: &&SampleRow| (row.node, row.port) == (port.node, port.port);
    let samples: Vec<&SampleRow> = trial.samples.iter().filter(here).collect();
    assert_eq!(samples.len(), 1);
    assert_eq!(samples[0].tx_bytes, port.tx_bytes);
    let waiting = 24 * (NEXT_WIRE - 20) - port.tx_bytes;
    assert_eq!(samples[0].queue_bytes, waiting);
    assert_eq!(samples[0].queue_high_water_bytes, waiting);
    assert_eq!(port.queue_high_water_bytes, waiting);
    // Down again, what has not begun was never sent, and is not lost on the wire.
    let down = "faults.events=[{link: leaf0-spine1, down: 9us}]";
    let trial = Trial::run(slow, &[down]);
    let port = trial.port("leaf0", "spine1");
    assert_eq!((port.tx_frames, port.lost_frames), (1, 1));
    assert!(port.unsent_frames >= 2 && port.utilisation < 1.0);
}
