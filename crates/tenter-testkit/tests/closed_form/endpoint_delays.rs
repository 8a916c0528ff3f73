//! Delays of the endpoints, each of which must show exactly where it belongs and nowhere else.

use tenter_engine::Stream;

use crate::trial::Trial;
use crate::wire::{FIRST_WIRE, MESSAGE, MTU, NEXT_WIRE, default_wire, wire};

/// 400 Gbit/s.
const BYTE: u64 = 20;
/// Two cables of 25 ns and a switch of 600 ns.
const LATENCY: u64 = 650_000;

/// host1 sends half the size of the incast to host0.
const PAIR: &str = "
fabric: {kind: single-switch, hosts: 2}
jobs: [{collectives: [{collective: incast, size: 2MiB}]}]
observe: {samples: false}
";

#[test]
fn idle_wire_after_each_message() {
    // M messages and M − 1 gaps between them: a message of 131,072 bytes is 4,194 + 31·4,178 bytes
    // on the wire, 2,674,240 ps, so 8 of them with gaps of 35 ns take 8·2,674,240 + 7·35,000 ps.
    // The rate of a long flow is 131,072 bytes in 2,674,240 + 35,000 ps: 48.38 in place of 49.01
    // GB/s.
    let message = (FIRST_WIRE + 31 * NEXT_WIRE) * BYTE;
    assert_eq!(message, 2_674_240);
    for (gap, messages) in [(35, 8), (1, 8), (5_000, 3), (35, 1)] {
        let set = [
            &*format!("endpoint.nic.message_gap={gap}ns"),
            &*format!("jobs[0].collectives[0].size={}B", 2 * messages * MESSAGE),
        ];
        let trial = Trial::run(PAIR, &set);
        let flow = trial.flow();
        let expected = messages * message + (messages - 1) * gap * 1_000 + LATENCY;
        assert_eq!(flow.fct().ps(), expected, "{messages} messages, {gap} ns");
        // The gap after the last message is nothing that happens: in the third case, its
        // acknowledgement is there long before the gap ends.
        assert_eq!(trial.simulated(), flow.acknowledged.ps());
    }
}

#[test]
fn start_up_step_delay_and_gap_between_collectives() {
    // A ring of 4 ranks has 6 steps; chunks of one message, so nothing but the data and the
    // latencies counts once the ACK has its place in the step delay:
    //
    //     start-up + 6·(step delay + chunk + latency)
    //
    // The second collective starts a gap after the last arrival of the first, and pays its start-up
    // again. JCT: two collectives and one gap.
    let ring = "
fabric: {kind: single-switch, hosts: 4}
endpoint: {host: {step_delay: 3us, start_up: 17us}}
jobs: [{start: 5us, gap: 23us, collectives: [{collective: all-reduce, sizes: [64KiB, 512KiB]}]}]
observe: {samples: false}
";
    let trial = Trial::run(ring, &[]);
    let time = |chunk| 17_000_000 + 6 * (3_000_000 + default_wire(chunk) * BYTE + LATENCY);
    let expected = [time(16 << 10), time(128 << 10)];
    assert_eq!([trial.completion(0), trial.completion(1)], expected);
    let [first, second] = [0, 1].map(|nth| trial.collective(nth));
    assert_eq!(first.start.ps(), 5_000_000);
    assert_eq!(
        second.start.ps(),
        5_000_000 + expected[0] + 23_000_000,
        "gap"
    );
    let jct = trial.outcome.jobs[0]
        .jct
        .map(tenter_language::units::Time::ps);
    assert_eq!(jct, Some(expected[0] + 23_000_000 + expected[1]));
    // The first sends of a collective are posted after start-up and step delay.
    let posted = trial.flows.iter().filter(|flow| flow.step == 0);
    for flow in posted {
        let start = trial.collective(flow.collective as usize).start.ps();
        assert_eq!(flow.posted.ps() - start, 20_000_000);
    }
}

#[test]
fn iterations_repeat_to_the_picosecond() {
    // Nothing is left over from one iteration to the next: all take the same time.
    let set = ["jobs[0].iterations=3", "jobs[0].warm_up=2"];
    let trial = Trial::run(PAIR, &set);
    let times: Vec<u64> = (0..5).map(|nth| trial.completion(nth)).collect();
    assert_eq!(times, [default_wire(1 << 20) * BYTE + LATENCY; 5]);
    let warm_up: Vec<bool> = (0..5).map(|nth| trial.collective(nth).warm_up).collect();
    assert_eq!(warm_up, [true, true, false, false, false]);
}

#[test]
fn connection_set_up_takes_a_round_trip() {
    // A request and a reply of 326 bytes, 346 on the wire, before the data: 2·(346·20 + latency).
    // The second collective finds its QPs set up.
    let set = [
        "endpoint.nic.connection_set_up=true",
        "jobs[0].iterations=2",
    ];
    let trial = Trial::run(PAIR, &set);
    let data = default_wire(1 << 20) * BYTE + LATENCY;
    assert_eq!(trial.completion(0), 2 * (346 * BYTE + LATENCY) + data);
    assert_eq!(trial.completion(1), data);
}

#[test]
fn a_window_waits_for_acknowledgements() {
    // Messages of one packet, each acknowledged, and a window of one: every packet waits for the
    // ACK of the one before: n·(83,880 + latency) + (n − 1)·(1,720 + latency).
    let set = ["endpoint.nic.message_size=4KiB", "endpoint.nic.window=1"];
    let flow = Trial::run(PAIR, &set).flow().clone();
    let packets = (1 << 20) / MTU;
    let expected = packets * (FIRST_WIRE * BYTE + LATENCY) + (packets - 1) * (1_720 + LATENCY);
    assert_eq!(flow.fct().ps(), expected);
    // A window of a round trip is no limit: 83,880 + 1,720 + 2 latencies are 17 packets and a bit.
    let wide = ["endpoint.nic.message_size=4KiB", "endpoint.nic.window=18"];
    let flow = Trial::run(PAIR, &wide).flow().clone();
    assert_eq!(flow.fct().ps(), packets * FIRST_WIRE * BYTE + LATENCY);
}

#[test]
fn outstanding_messages_wait_for_the_last_packet_of_a_message() {
    // One message of 128 KiB at a time: each waits for the ACK of the last packet of the one
    // before, however often packets within it are acknowledged.
    let message = (FIRST_WIRE + 31 * NEXT_WIRE) * BYTE;
    let wait = 1_720 + LATENCY;
    for acknowledge in ["per-message", "per-packet"] {
        let set = [
            "endpoint.nic.outstanding_messages=1",
            &*format!("endpoint.nic.acknowledge={acknowledge}"),
        ];
        let flow = Trial::run(PAIR, &set).flow().clone();
        let expected = 8 * (message + LATENCY) + 7 * wait;
        assert_eq!(flow.fct().ps(), expected, "{acknowledge}");
    }
    // Two of them are under way for longer than an ACK takes: no limit.
    let two = ["endpoint.nic.outstanding_messages=2"];
    let flow = Trial::run(PAIR, &two).flow().clone();
    assert_eq!(flow.fct().ps(), 8 * message + LATENCY);
    // Four messages of one packet in each round trip of 83,880 + 1,720 ps and two latencies.
    let short = [
        "endpoint.nic.message_size=4KiB",
        "endpoint.nic.outstanding_messages=4",
    ];
    let flow = Trial::run(PAIR, &short).flow().clone();
    let packet = FIRST_WIRE * BYTE;
    let rounds = (1 << 20) / MTU / 4;
    let expected = (rounds - 1) * (packet + LATENCY + wait) + 4 * packet + LATENCY;
    assert_eq!(flow.fct().ps(), expected);
}

#[test]
fn start_skew_is_bounded_repeatable_and_drawn_anew() {
    let skewed = |seed: &str| {
        let set = [
            "fabric.hosts=16",
            "jobs[0].collectives[0].collective=all-reduce",
            "jobs[0].iterations=3",
            "endpoint.nic.start_skew_max=10us",
            seed,
        ];
        let trial = Trial::run(PAIR, &set);
        let first = trial.flows_of(0).into_iter().filter(|flow| flow.step == 0);
        let start = |iteration: u32| trial.collective(iteration as usize).start;
        let skews = first.map(|flow| (flow.posted - start(flow.iteration)).ps());
        skews.collect::<Vec<u64>>()
    };
    let skews = skewed("seed=1");
    assert_eq!(skews.len(), 3 * 16);
    assert!(skews.iter().all(|&skew| skew <= 10_000_000), "{skews:?}");
    // 48 draws from 0 to 10 us: some are in the first and in the last fifth.
    assert!(skews.iter().any(|&skew| skew < 2_000_000));
    assert!(skews.iter().any(|&skew| skew > 8_000_000));
    let mut distinct = skews.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), skews.len(), "each NIC, each time");
    assert_eq!(skewed("seed=1"), skews);
    assert_ne!(skewed("seed=2"), skews);
}

#[test]
fn another_job_does_not_move_the_start_skew() {
    let ring = "collectives: [{collective: all-reduce, size: 4KiB}]";
    let other = format!("{{name: other, iterations: 5, gap: 2us, {ring}}}");
    let one = format!("{{name: one, start: 1us, iterations: 3, {ring}}}");
    let skews = |jobs: &str| {
        let set = [
            "endpoint.nic.start_skew_max=10us",
            &format!("jobs=[{jobs}]"),
        ];
        let trial = Trial::run(PAIR, &set);
        let number = trial.outcome.jobs.iter().find(|job| job.name == "one");
        let number = number.expect("the job is there").job;
        let rows = trial.outcome.collectives.iter();
        let starts: Vec<_> = rows
            .filter(|row| row.job == number)
            .map(|row| row.start)
            .collect();
        let first = trial.flows_of(number).into_iter();
        let first = first.filter(|flow| flow.step == 0);
        let skew = first.map(|flow| (flow.posted - starts[flow.iteration as usize]).ps());
        skew.collect::<Vec<u64>>()
    };
    let alone = skews(&one);
    assert_eq!(alone.len(), 3 * 2);
    assert_eq!(skews(&format!("{one}, {other}")), alone);
    assert_eq!(skews(&format!("{other}, {one}")), alone);
}

#[test]
fn no_rank_sends_before_it_starts() {
    // In a ring, a rank may receive before it has started. What that releases waits for the start,
    // behind the rank's own first send: step s of rank r is posted at the start of r or when step
    // s − 1 of the rank before has arrived, whichever is later.
    let set = [
        "fabric.hosts=8",
        "jobs[0].collectives[0].collective=all-reduce",
        "jobs[0].collectives[0].size=512KiB",
        "jobs[0].iterations=3",
        "endpoint.nic.start_skew_max=50us",
    ];
    let trial = Trial::run(PAIR, &set);
    let flow = |iteration, step, src| {
        let mut flows = trial.flows.iter();
        let found = flows.find(|f| (f.iteration, f.step, f.src_rank) == (iteration, step, src));
        found.expect("each rank sends once in each step")
    };
    let mut held_back = 0;
    for iteration in 0..3 {
        for src in 0..8 {
            let start = flow(iteration, 0, src).posted;
            for step in 1..14 {
                let released = flow(iteration, step - 1, (src + 7) % 8).received;
                held_back += u32::from(released < start);
                let this = flow(iteration, step, src);
                let place = format!("iteration {iteration}, step {step}, rank {src}");
                assert_eq!(this.posted, released.max(start), "{place}");
                assert!(this.first_sent >= this.posted, "{place}");
                assert!(this.received > this.first_sent, "{place}");
                assert!(this.acknowledged > this.received, "{place}");
            }
        }
    }
    assert!(held_back > 0, "some rank receives before it starts");
}

/// The clock offset of a host: whole ppm from −most to most, from the stream of its name.
fn offset(seed: u64, host: &str, most: i64) -> i64 {
    let drawn = Stream::new(seed, host, "clock-offset").below(2 * most.unsigned_abs() + 1);
    drawn.cast_signed() - most
}

#[test]
fn a_fast_or_slow_clock() {
    // A sender p ppm fast takes w·20/(1 + p/10⁶) ps for w bytes. The switch keeps the standard:
    //
    // - A slow sender sets the pace. The last packet starts at the switch when its head is there:
    //   ⌊(all bytes but the last packet's)·20·10⁶/(10⁶ + p)⌋, and takes its own time at 20 ps.
    // - A fast one is held back by the switch: all bytes at 20 ps.
    let size = 64 << 20;
    let packets = wire(size / 2, MTU, MESSAGE);
    let all: u64 = packets.iter().sum();
    let last = packets[packets.len() - 1];
    let (mut slow, mut fast) = (0, 0);
    for seed in 1..=12 {
        let set = [
            "endpoint.nic.clock_offset_max_ppm=100",
            &*format!("jobs[0].collectives[0].size={size}B"),
            &*format!("seed={seed}"),
        ];
        let ppm = offset(seed, "host1", 100);
        assert!(ppm.abs() <= 100);
        let expected = if ppm < 0 {
            slow += 1;
            let speed = 1_000_000_u64.saturating_add_signed(ppm);
            (all - last) * BYTE * 1_000_000 / speed + last * BYTE
        } else {
            fast += 1;
            all * BYTE
        };
        let flow = Trial::run(PAIR, &set).flow().clone();
        assert_eq!(
            flow.fct().ps(),
            expected + LATENCY,
            "{ppm} ppm, seed {seed}"
        );
    }
    assert!(slow > 2 && fast > 2, "{slow} slow and {fast} fast clocks");
}
