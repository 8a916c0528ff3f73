//! Signals to senders: when they are sent and act, how long queues become, and who stands still.

use tenter_fabric::net::{EventKind, PacketKind, Signal};
use tenter_fabric::topology::HostId;
use tenter_language::units::Instant;
use tenter_results::ReactionRow;

use crate::trial::{Trial, events, plan};

/// Two senders at one leaf, two receivers at another.
const TWO: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 2
  spines: 1
  host_rate: 100Gbps
  uplink_rate: 400Gbps
  host_delay: 25ns
  fabric_delay: 150ns
  switch:
    forwarding: store-and-forward
    pipeline_latency: 600ns
    classes: [{class: 3}, {class: 6}]
  source_flow_control: {mode: remote-pfc, threshold: 20kB, target: 10kB, cache_entries: 0}
endpoint:
  nic: {message_size: 1MiB, control_dscp: 48, transmit_latency: 7ns, receive_latency: 11ns}
jobs:
  - ranks: [host2, host0, host1]
    collectives: [{collective: incast, root: 0, size: 1536KiB}]
observe: {samples: false}
";

/// Senders are told again only when their pause has passed.
const ONCE: &str = "fabric.source_flow_control.repeat=after-pause";

#[test]
fn from_the_packet_at_the_queue_to_the_pause_to_the_picosecond() {
    // Both senders start at 0. Frame 0 takes 4,194 bytes on the wire, the others 4,178: 335.52 and
    // 334.24 ns at 100G, 83.88 and 83.56 at 400G. Frame 0 of a sender is at leaf0 after 335.52 + 7
    // + 25 + 300 ns; that of host0 leaves at once and is at leaf1 83.88 + 300 + 150 + 300 ns later,
    // over the spine another 83.88 + 750: a0 = 667.52 + 2 · 833.88 = 2,335.28 ns. From then on the
    // port to host2 is busy. Frame k of host0 comes at
    //
    //     a_k = a0 + 334.24 k − 2 · 0.32 (frame 0 took longer, on two uplinks),
    //
    // which is a little before the k-th frame leaves the queue, and finds k frames of 4,158 bytes
    // there (for k > 1). 20 kB are reached by five: a5 = 2,335.28 + 1,671.2 − 0.64 = 4,005.84 ns.
    //
    // The pause: 20,790 − 10,000 bytes take 863.2 ns, and a quantum is 5.12 ns: 169, or 865.28 ns.
    // The signal: 84 bytes at 400G are 1.68 ns; with 300 + 150 + 300 that is 751.68 ns to the
    // spine and again to leaf0, where it is at 5,509.2 ns. The pause frame: 84 bytes at 100G are
    // 6.72 ns, the cable 25, the response 394 · 5.12 = 2,017.28: it acts at 7,558.2 ns, and the
    // next frame leaves at 8,423.48.
    // If it were told again, host0 would pause for longer.
    let plan = plan(TWO, &[ONCE]);
    let node = |name: &str| plan.topology.find(name).expect("the node is there");
    let events = events(&plan);
    let at = |name: &str, kind: EventKind, packet: PacketKind| {
        let here = node(name);
        let mut found = events
            .iter()
            .filter(|event| (event.node, event.kind, event.packet.kind) == (here, kind, packet));
        *found.next().expect("it happens")
    };
    let sent = at("leaf1", EventKind::Sent, PacketKind::Signal);
    assert_eq!((sent.at.ps(), sent.packet.frame_bytes), (4_005_840, 64));
    let signal = Signal::of(&sent.packet).expect("it is one");
    assert_eq!((signal.class, signal.quanta), (3, 169));
    assert_eq!(
        [sent.packet.destination, signal.receiver],
        [0, 2].map(HostId::new)
    );
    let arrived = at("leaf0", EventKind::Arrived, PacketKind::Signal);
    assert_eq!(arrived.at, Instant::from_ps(5_509_200));
    let pause = at("leaf0", EventKind::Sent, PacketKind::Pause);
    assert_eq!((pause.at.ps(), pause.port), (5_509_200, 0));
    let obeyed = at("host0", EventKind::Obeyed, PacketKind::Pause);
    assert_eq!(obeyed.at, Instant::from_ps(7_558_200));
    let starts = events.iter().filter(|event| {
        event.node == node("host0") && event.kind == EventKind::Sent && event.at > obeyed.at
    });
    assert_eq!(
        starts.map(|event| event.at).next(),
        Some(Instant::from_ps(8_423_480))
    );
}

/// Six senders at one leaf, and two receivers at another.
const MANY: &str = "
fabric:
  kind: leaf-spine
  leaves: 2
  hosts_per_leaf: 6
  spines: 1
  host_rate: 100Gbps
  uplink_rate: 800Gbps
  switch: {classes: [{class: 3}, {class: 6}]}
  source_flow_control: {mode: remote-pfc}
endpoint:
  nic: {control_dscp: 48}
jobs:
  - name: incast
    ranks: [host11, 0-4]
    collectives: [{collective: incast, root: 0, size: 20MiB}]
  - name: innocent
    background: true
    flows: [{from: 0, to: 10, rate: 40Gbps}]
observe: {samples: false}
";

/// Leaves the flow beside the incast out.
const ALONE: [&str; 2] = ["jobs[1].flows[0].from=5", "jobs[1].flows[0].rate=1Gbps"];

fn of_signals(trial: &Trial) -> Vec<&ReactionRow> {
    let rows = trial.outcome.counts.reactions.iter();
    rows.filter(|row| row.cause == "signal").collect()
}

#[test]
fn queues_overshoot_by_what_comes_until_the_pause_is_felt() {
    // From the packet at the queue to the last that was sent in spite of it: the time to react, and
    // what a packet takes from the sender's NIC to the queue. Meanwhile n senders bring n · 100G,
    // and 100G leave. The latter delay by the defaults: half of the round trip's links is enough,
    // for packets take what acknowledgements take, but for their own time on the wire.
    for senders in [3_u64, 4, 5] {
        let ranks = format!("jobs[0].ranks=[host11, 0-{}]", senders - 1);
        let trial = Trial::run(MANY, &[&[&ranks[..]], &ALONE[..]].concat());
        let rows = of_signals(&trial);
        let signal = rows[0].reaction_mean.ps();
        let way = rows[0].round_trip.ps() / 2;
        let more = (senders - 1) * (signal + way) / 80;
        let expected = 100_000 + more;
        let peak = trial.port("leaf1", "host11").queue_high_water_bytes;
        let ratio = peak as f64 / expected as f64;
        assert!(
            (0.8..=1.2).contains(&ratio),
            "{senders} senders: {peak} bytes for {expected}"
        );
    }
}

#[test]
fn a_pause_that_is_too_short_is_made_longer() {
    // Five senders at 100G bring 300 kB on top of the threshold until they stop, and the pause that
    // was announced at the threshold is for the 50 kB above the target. Those that are told again
    // stop for all of it at once, and never let the queue become longer than those that are not.
    let peak = |set: &[&str]| {
        let long = [
            "jobs[0].ranks=[host11, 0-4]",
            "jobs[0].collectives[0].size=25MiB",
        ];
        let set = [&long[..], &ALONE[..], set].concat();
        let trial = Trial::run(MANY, &set);
        let told: u64 = trial
            .outcome
            .counts
            .signals
            .iter()
            .map(|row| row.tx_signal_frames)
            .sum();
        (trial.port("leaf1", "host11").queue_high_water_bytes, told)
    };
    let ((longer, often), (once, seldom)) = (peak(&[]), peak(&[ONCE]));
    assert!(
        longer <= once && seldom < often,
        "{longer} {once} {seldom} {often}"
    );
}

#[test]
fn signals_are_faster_than_the_round_trip() {
    for mode in ["remote-pfc", "nic"] {
        let mode = format!("fabric.source_flow_control.mode={mode}");
        let trial = Trial::run(MANY, &[&mode]);
        let rows = of_signals(&trial);
        assert_eq!(rows.len(), 5, "{mode}");
        for row in rows {
            assert!(
                row.pauses > 10 && row.reaction_max < row.round_trip,
                "{row:?}"
            );
        }
    }
}

#[test]
fn the_nic_holds_back_what_goes_to_the_receiver_and_pauses_hold_back_all() {
    // host0 sends 40 Gbit/s to a receiver of its own, beside a fifth of the incast.
    let innocent = |mode: &str| {
        let mode = format!("fabric.source_flow_control.mode={mode}");
        let trial = Trial::run(MANY, &[&mode]);
        let job = &trial.outcome.jobs[1];
        let paused = trial.port("host0", "leaf0").paused;
        let share = paused.as_s() / (trial.simulated() as f64 / 1e12);
        (job.rx_gbps.expect("it has run"), share)
    };
    let (free, none) = innocent("none");
    assert!(free > 38.0 && none == 0.0);
    let (held, none) = innocent("nic");
    assert!(held >= 0.95 * free && none == 0.0, "{held} of {free}");
    // While it is not paused it sends in turns with the incast: at most half of the wire.
    let (paused, share) = innocent("remote-pfc");
    assert!(share > 0.5, "paused for {share} of the time");
    let most = 50.0 * (1.0 - share);
    assert!(
        (0.85..=1.1).contains(&(paused / most)),
        "{paused} of {most}"
    );
}

#[test]
fn a_class_loses_frames_by_remote_pfc_alone_and_none_with_pfc() {
    let buffer = "fabric.switch.buffer={size: 1MB}";
    let classes = |of_data: &str| {
        format!("fabric.switch.classes=[{{class: 3, {of_data}}}, {{class: 6, limit: 100kB}}]")
    };
    let alone = Trial::run(
        MANY,
        &[buffer, &classes("limit: 200kB"), ALONE[0], ALONE[1]],
    );
    let totals = &alone.outcome.summary.totals;
    assert!(totals.dropped_frames > 0 && totals.lossless_dropped_frames == 0);
    assert!(totals.signal_frames > 0 && alone.outcome.summary.complete);
    let last = alone.port("leaf1", "host11");
    assert_eq!(
        last.dropped_frames, totals.dropped_frames,
        "all of them there"
    );

    let lossless = classes("limit: 200kB, lossless: true");
    let buffer = "fabric.switch.buffer={size: 16MB}";
    let both = Trial::run(MANY, &[buffer, &lossless, ALONE[0], ALONE[1]]);
    let totals = &both.outcome.summary.totals;
    assert_eq!(
        (totals.dropped_frames, totals.lossless_dropped_frames),
        (0, 0)
    );
    assert!(totals.signal_xoff_frames > 0 && totals.xon_frames > 0);
}

#[test]
fn signals_are_lost_with_their_link_and_counted() {
    let faults = "faults={events: [{link: leaf1-spine0, down: 100us, up: 130us}]}";
    let trial = Trial::run(MANY, &[faults, ONCE, "jobs[0].collectives[0].size=5MiB"]);
    let counts = &trial.outcome.counts;
    let sum =
        |of: fn(&tenter_results::SignalRow) -> u64| counts.signals.iter().map(of).sum::<u64>();
    let (sent, converted) = (
        sum(|row| row.tx_signal_frames),
        sum(|row| row.converted_frames),
    );
    assert!(converted > 0 && converted <= sent, "{converted} of {sent}");
    assert!(trial.outcome.summary.totals.lost_frames > 0);
}

#[test]
fn a_queue_is_recorded_at_every_change() {
    // As above: b0 is the first frame that waits, 83.88 ns after a0 at 2,335.28 ns; a1 comes at
    // 2,668.88, and b0 leaves when a0 is through, 335.52 ns after it came.
    let observe = "observe={samples: false, queue_changes: [leaf1:0]}";
    let trial = Trial::run(TWO, &[observe]);
    let rows = &trial.outcome.counts.queue_changes;
    let first = rows
        .iter()
        .take(3)
        .map(|row| (row.time.ps(), row.queue_bytes));
    let expected = [(2_419_160, 4_174), (2_668_880, 8_332), (2_670_800, 4_158)];
    assert_eq!(first.collect::<Vec<_>>(), expected);
    assert!(rows.is_sorted_by_key(|row| row.time));
    let most = rows.iter().map(|row| row.queue_bytes).max();
    let port = trial.port("leaf1", "host2");
    assert_eq!(most, Some(port.queue_high_water_bytes));
    assert_eq!(rows.last().map(|row| row.queue_bytes), Some(0));

    let some = "observe={samples: false, queue_changes: [leaf1:0], queue_changes_from: 2.5us, queue_changes_to: 2670ns}";
    let within = Trial::run(TWO, &[some]);
    let recorded = &within.outcome.counts.queue_changes;
    // What waits when the span begins is its first row.
    assert_eq!(
        (recorded[0].time.ps(), recorded[0].queue_bytes),
        (2_500_000, 4_174)
    );
    assert_eq!(recorded[1..], rows[1..2]);
    assert!(within.outcome.summary.notes.is_empty());

    let few = "observe={samples: false, queue_changes: [leaf1:0], queue_changes_limit: 3}";
    let cut = Trial::run(TWO, &[few]);
    assert_eq!(cut.outcome.counts.queue_changes, rows[..3]);
    let warning = format!(
        "the queues of leaf1:0 are recorded up to 2.6708us only, and {} changes were left out",
        rows.len() - 3
    );
    let notes = &cut.outcome.summary.notes;
    assert!(notes[0].text.starts_with(&warning), "{notes:?}");
}
