//! Pauses: when they act, how long they last, and what share of the time a slow receiver takes.

use tenter_fabric::net::{ClassSpec, Event, EventKind, PacketKind, Pause, UNLIMITED_POOL};
use tenter_language::units::{Instant, Time};

use crate::headroom::Case;
use crate::lone_switch::{LoneSwitch, wire_ps};
use crate::trial::{Trial, events, plan};

/// 512 bits at 400 Gbit/s.
const QUANTUM: u64 = 1_280;
const FRAME: u64 = 1_000;
/// After all that happens.
const END: Instant = Instant::from_ps(1_000_000_000);

/// A port with two classes, and a pause of class 3 at 1 us.
fn paused(quanta: u16) -> LoneSwitch {
    let mut lone = LoneSwitch::new(
        2,
        UNLIMITED_POOL,
        vec![ClassSpec::without_end(0), ClassSpec::without_end(3)],
    );
    lone.pause(1_000_000, 0, 3, quanta);
    lone
}

#[test]
fn a_pause_ends_after_its_quanta() {
    for quanta in [1, 2, 10, 1_000, 65_535] {
        let mut lone = paused(quanta);
        lone.offer(1_000_001, 0, 3, FRAME as u16);
        // Another class and another port are not concerned.
        lone.offer(1_000_002, 0, 0, 64);
        lone.offer(1_000_003, 1, 3, 64);
        lone.advance_to(1_000_000_000);
        let mut sent = lone.take_sent();
        sent.sort_unstable();
        let end = 1_000_000 + u64::from(quanta) * QUANTUM;
        // The frame of the other class may still be on the wire.
        let start = end.max(1_000_002 + wire_ps(64));
        assert_eq!(
            sent,
            [(1_000_002, 0, 64), (1_000_003, 3, 64), (start, 3, FRAME)]
        );
        let (record, time) = lone.switch.ports()[0].paused(1, END);
        assert_eq!((record.xoff_frames, time.ps()), (1, end - 1_000_000));
    }
}

#[test]
fn a_pause_that_is_repeated_ends_after_the_quanta_of_the_last() {
    let mut lone = paused(100);
    lone.offer(1_000_001, 0, 3, FRAME as u16);
    lone.pause(1_100_000, 0, 3, 100);
    lone.advance_to(1_000_000_000);
    let end = 1_100_000 + 100 * QUANTUM;
    assert_eq!(lone.take_sent(), [(end, 3, FRAME)]);
}

#[test]
fn an_xon_ends_a_pause_at_once() {
    let mut lone = paused(65_535);
    lone.offer(1_000_001, 0, 3, FRAME as u16);
    lone.offer(1_000_001, 0, 3, FRAME as u16);
    lone.pause(1_234_567, 0, 3, 0);
    lone.advance_to(1_000_000_000);
    let first = 1_234_567;
    let sent = lone.take_sent();
    assert_eq!(
        sent,
        [(first, 3, FRAME), (first + wire_ps(FRAME), 3, FRAME)]
    );
    let (record, time) = lone.switch.ports()[0].paused(1, END);
    assert_eq!((record.xon_frames, time.ps()), (1, 234_567));
}

#[test]
fn a_frame_that_has_begun_goes_on() {
    let mut lone = LoneSwitch::new(2, UNLIMITED_POOL, vec![ClassSpec::without_end(3)]);
    // Started a picosecond before the pause, at its very instant, and after it.
    for (at, starts) in [(999_999, 999_999), (1_000_000, 1_000_000)] {
        let mut lone = LoneSwitch::new(2, UNLIMITED_POOL, vec![ClassSpec::without_end(3)]);
        lone.offer(at, 0, 3, FRAME as u16);
        lone.pause(1_000_000, 0, 3, 1_000);
        lone.advance_to(u64::MAX / 2);
        assert_eq!(lone.take_sent(), [(starts, 3, FRAME)]);
    }
    lone.pause(1_000_000, 0, 3, 1_000);
    lone.offer(1_000_000, 0, 3, FRAME as u16);
    lone.advance_to(u64::MAX / 2);
    assert_eq!(lone.take_sent(), [(1_000_000 + 1_000 * QUANTUM, 3, FRAME)]);
}

#[test]
fn from_xoff_to_effect_to_the_picosecond() {
    // The worst phase of `headroom`, at 400 Gbit/s: s starts at 10 us, and its frames of 83.88 ns
    // are at x 7 + 25 + 300 = 332 ns later. The second has arrived at d after 83.88 + 332 +
    // (300 + 25 + 83.88 + 11) ns, and x obeys 1.68 + 25 + 1,158.4 ns after that: 12.02084 us. Frame
    // 21 (of 0, 1, …), at 12.09348, is the first to wait; ten fit, and frame 30 + 1 at 12.93228 us
    // needs headroom.
    //
    // XOFF: behind the frame that has started just then, 83.88 ns later, at 13.01616 us. It takes
    // 84 bytes, 1.68 ns; the cable 25 ns; the response time 905 · 512 bits, 1,158.4 ns: 14.20124
    // us. s may start frames up to that instant: number 50, at 10 + 50 · 0.08388 = 14.194 us.
    let case = Case {
        over_a_switch: false,
        stores: false,
        gbps: 400,
        out_gbps: 400,
        cable: 25_000,
    };
    let plan = plan(&case.scenario("model", true), &[]);
    let events = events(&plan);
    let node = |name: &str| plan.topology.find(name).expect("the node is there");
    let find = |name: &str, kind: EventKind, pause: bool| {
        let here = node(name);
        let mut times: Vec<u64> = events
            .iter()
            .filter(|event| (event.node, event.kind) == (here, kind))
            .filter(|event| (event.packet.kind == PacketKind::Pause) == pause)
            .map(|event| event.at.ps())
            .collect();
        times.sort_unstable();
        times
    };
    assert_eq!(case.xoff(), 12_932_280);
    assert_eq!(find("x", EventKind::Sent, true)[0], 13_016_160);
    let obeyed = 14_201_240;
    assert_eq!(find("s", EventKind::Obeyed, true)[0], obeyed);
    assert_eq!(case.xoff() + case.wait(), obeyed);
    let sent = find("s", EventKind::Sent, false);
    assert_eq!((sent.len(), sent[50]), (51, 14_194_000));
}

#[test]
fn a_port_may_obey_at_once_or_when_it_likes() {
    // A pause frame takes 84 bytes of 20 ps, and the cable 25 ns; then the port obeys: after 905 ·
    // 512 bits, at once, or after as long as is given. Headroom is less by what that time brings:
    // 4,174 bytes in 83.88 ns.
    let headroom = |set: &[&str]| {
        let plan = plan(SLOW, set);
        let events = events(&plan);
        let first = |kind: EventKind| {
            let pauses = events
                .iter()
                .filter(|event| event.packet.kind == PacketKind::Pause);
            let mut of_kind = pauses.filter(|event| event.kind == kind);
            of_kind.next().expect("the receiver pauses").at
        };
        let trial = Trial::run(SLOW, set);
        let mut queues = trial.outcome.counts.queues.iter();
        let own = queues.find(|row| row.headroom_bytes > 0);
        let bytes = own.map(|row| row.headroom_bytes);
        (
            first(EventKind::Obeyed) - first(EventKind::Sent),
            bytes.expect("it is lossless"),
        )
    };
    let (standard, usual) = headroom(&[]);
    assert_eq!(standard, Time::from_ps(84 * 20 + 25_000 + 1_158_400));
    let (at_once, least) = headroom(&["fabric.switch.pause_response=0s"]);
    assert_eq!(at_once, Time::from_ps(84 * 20 + 25_000));
    assert!(
        (usual - least).abs_diff(1_158_400 * 4_174 / 83_880) <= 1,
        "{usual}, {least}"
    );
    let (later, _) = headroom(&["fabric.switch.pause_response=300ns"]);
    assert_eq!(later, Time::from_ps(84 * 20 + 25_000 + 300_000));
}

#[test]
fn a_nic_reacts_and_resumes_in_times_of_its_own() {
    // The leaf pauses host1, whose NIC obeys 300 ns after a pause frame of 84 bytes has crossed the
    // cable of 25 ns; the leaf itself obeys host0 after 905 · 512 bits.
    let set = |resume: &str| {
        let resume = format!("endpoint.nic.resume_delay={resume}");
        events(&plan(SLOW, &["endpoint.nic.pause_response=300ns", &resume]))
    };
    let events = set("6us");
    let hosts = plan(SLOW, &[]);
    let [host1, leaf, host0] = ["host1", "leaf0", "host0"].map(|name| {
        let node = hosts.topology.find(name);
        node.expect("the node is there")
    });
    let pauses = |node, kind| {
        let of_kind = move |event: &&Event| (event.node, event.kind) == (node, kind);
        let is_pause = |event: &&Event| event.packet.kind == PacketKind::Pause;
        events.iter().filter(of_kind).filter(is_pause)
    };
    for (from, to, response) in [(leaf, host1, 300_000), (host0, leaf, 1_158_400)] {
        let sent = pauses(from, EventKind::Sent).next().expect("it pauses").at;
        let obeyed = pauses(to, EventKind::Obeyed).next().expect("it obeys").at;
        assert_eq!((obeyed - sent).ps(), 84 * 20 + 25_000 + response);
    }
    // Behind each XON the first frame of data starts exactly 6 us later: the port was idle.
    let mut resumed = 0;
    for xon in pauses(host1, EventKind::Obeyed) {
        if Pause::of(&xon.packet).quanta > 0 {
            continue;
        }
        let is_data = |event: &&Event| {
            let own = (event.node, event.kind) == (host1, EventKind::Sent);
            own && event.packet.kind.is_data() && event.at > xon.at
        };
        let next = events.iter().find(is_data);
        let Some(next) = next else { continue };
        assert_eq!((next.at - xon.at).ps(), 6_000_000);
        resumed += 1;
    }
    assert!(resumed > 10, "{resumed}");
}

/// One sender and one receiver whose host takes less than the wire brings.
const SLOW: &str = "
fabric:
  kind: single-switch
  hosts: 2
  host_delay: 25ns
  switch: {pipeline_latency: 600ns, classes: [{class: 3, limit: 200kB, lossless: true}]}
endpoint:
  nic:
    message_size: 4KiB
    retransmission_timeout: 1s
    transmit_latency: 7ns
    receive_latency: 11ns
    receive_buffer: {drain_rate: 250Gbps, capacity: 512KiB, xoff: 128KiB, xon: 96KiB}
jobs: [{collectives: [{collective: incast, size: 256MiB}]}]
observe: {samples: false}
";

#[test]
fn a_slow_receiver_gets_what_it_drains_and_pauses_the_rest_of_the_time() {
    // Frames of 4,174 bytes. The buffer never runs empty, for 96 KiB last 2.5 us even at 320
    // Gbit/s, and new frames come 1.7 us after an XON. So the last frame is in host memory when the
    // first has arrived and all have drained one after the other: to the picosecond
    //
    //     7 + 25 + 600 + 25 + 11 ns + 4,194 bytes at R + frames · 4,174 bytes at r.
    //
    // Meanwhile a frame takes 4,194 bytes on a wire of R, so the wire is busy a share of r/R ·
    // 4,194/4,174 of the time, and the port that the NIC pauses (leaf to receiver), as the one that
    // the leaf pauses in turn (sender to leaf), is paused for the rest: 1 − r/R but for preamble
    // and gap; 0.372 at 250 of 400 Gbit/s. It is paused a little longer, for the frame that is on
    // the wire when a pause begins goes on: by at most one frame time for each pause. The first
    // filling and the last draining of buffers, 200 and 128 kB of 137 MB, are less than half a
    // percent of the time.
    let frames = 32_768;
    for drain in [50, 100, 250, 320] {
        let rate = format!("endpoint.nic.receive_buffer.drain_rate={drain}Gbps");
        let trial = Trial::run(SLOW, &[&rate]);
        let totals = &trial.outcome.summary.totals;
        assert_eq!((totals.dropped_frames, totals.nic_dropped_frames), (0, 0));
        assert_eq!(totals.retransmitted_frames, 0);
        let drained = frames * 4_174 * 8_000 / drain;
        let time = 668_000 + 4_194 * 20 + drained;
        assert_eq!(trial.flow().fct().ps(), time, "{drain} Gbit/s");
        let share = 1.0 - drain as f64 / 400.0 * 4_194.0 / 4_174.0;
        for (from, to) in [("leaf0", "host0"), ("host1", "leaf0")] {
            let port = trial.port(from, to);
            let paused = port.paused.ps() as f64 / time as f64;
            let longer = port.rx_xon_frames as f64 * 83_880.0 / time as f64;
            assert!(
                share - 0.005 <= paused && paused <= share + longer + 0.005,
                "{drain} Gbit/s, {from}: paused {paused:.4}, expected {share:.4} + {longer:.4}"
            );
        }
    }
}
