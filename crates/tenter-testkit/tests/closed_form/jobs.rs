//! Computing, background load, and jobs alone: on one switch, where hosts share no port.

use tenter::resolve::{Format, load};
use tenter_language::units::Time;
use tenter_results::{JobRow, MemorySink};
use tenter_sim::plan::Plan;
use tenter_sim::{Options, Outcome, run};

/// Six hosts at 100 Gb/s and some jobs.
fn plan(rest: &str) -> Plan {
    let text = format!("fabric: {{kind: single-switch, hosts: 6, rate: 100Gbps}}\n{rest}");
    let loaded = load(&text, "jobs.yaml", Format::Yaml, &[], None);
    loaded
        .unwrap_or_else(|errors| panic!("{}", errors.render()))
        .plan
}

fn outcome(plan: &Plan) -> Outcome {
    let mut sink = MemorySink::default();
    run(plan, Options::default(), &mut sink).expect("a good plan")
}

const RING: &str = "
  - name: ring
    ranks: [0, 1]
    collectives:
      - {collective: all-reduce, size: 1MiB, compute: 50us}
      - {collective: all-gather, size: 1MiB, compute: 30us}
";

#[test]
fn computing_is_part_of_the_job_and_of_no_collective() {
    let outcome = outcome(&plan(&format!("jobs:{RING}")));
    let [first, second] = outcome.collectives.as_slice() else {
        panic!("two collectives");
    };
    assert_eq!(first.start, Time::from_us(50));
    let end = first.end.expect("it ends");
    // The gap of 10 us, and 30 us of computing.
    assert_eq!(second.start, end + Time::from_us(40));
    let job = &outcome.jobs[0];
    assert_eq!((job.jct, job.compute), (second.end, Time::from_us(80)));
    let communication = job.jct.expect("it ends") - Time::from_us(80);
    assert_eq!(job.exposed, Some(communication));
    // Both collectives and the gap between them.
    let times = [first, second].map(|row| row.completion_time.expect("it ends"));
    assert_eq!(communication, times[0] + times[1] + Time::from_us(10));
}

#[test]
fn compute_times_are_drawn_anew_within_the_spread() {
    let jobs = "jobs: [{ranks: [0, 1], iterations: 20, collectives: [{collective: all-reduce, size: 1KiB, compute: 50us, compute_spread: 20us}]}]";
    let rows = outcome(&plan(jobs)).collectives;
    let pauses: Vec<Time> = rows
        .windows(2)
        .map(|pair| pair[1].start - pair[0].end.expect("it ends") - Time::from_us(10))
        .collect();
    let bounds = Time::from_us(30)..=Time::from_us(70);
    assert!(
        pauses.iter().all(|pause| bounds.contains(pause)),
        "{pauses:?}"
    );
    let (least, most) = (pauses.iter().min(), pauses.iter().max());
    assert!(most > least, "{pauses:?}");
}

#[test]
fn a_load_stops_a_stated_delay_after_the_last_judged_job() {
    let load = "
  - name: load
    background: true
    ranks: [2, 3, 4]
    collectives:
      - {collective: all-to-all, sizes: {least: 64KiB, most: 256KiB, count: 2}}
limits: {background: 25us}
";
    let alone = outcome(&plan(&format!("jobs:{RING}")));
    let both = outcome(&plan(&format!("jobs:{RING}{load}")));
    // No port is shared.
    assert_eq!(both.jobs[0].jct, alone.jobs[0].jct);
    let end = both.jobs[0].end.expect("it ends") + Time::from_us(25);
    let simulated = both.summary.engine.simulated_ns * 1e3;
    assert_eq!(end, Time::from_ps(simulated.round() as u64));
    let load = &both.jobs[1];
    assert_eq!((load.complete, load.end, load.jct), (true, None, None));
    assert!(both.summary.complete && both.summary.stopped.is_none());
    let runs: Vec<_> = both.collectives.iter().filter(|row| row.job == 1).collect();
    let sizes: Vec<u64> = runs.iter().map(|row| row.size_bytes).collect();
    let drawn = (64 << 10)..=(256 << 10);
    assert!(sizes.len() > 4 && sizes.iter().all(|size| drawn.contains(size)));
    assert_ne!(sizes[0], sizes[2]);
    // Its last collective was cut off, those before were not, and more has arrived than of these.
    let done: u64 = runs
        .iter()
        .filter(|row| row.complete)
        .map(|row| row.rx_frames)
        .sum();
    assert!(load.rx_bytes >= done * 1_000);
}

#[test]
fn streams_move_what_their_rate_says() {
    let load = "
  - name: load
    background: true
    flows: [{from: 2, to: 3, rate: 40Gbps}, {from: 4, to: 5}]
";
    let both = outcome(&plan(&format!("jobs:{RING}{load}")));
    let seconds = both.summary.engine.simulated_ns / 1e9;
    // 40 Gb/s of payload, in frames of 4,096 bytes with 62 bytes of headers; and a full wire, on
    // which each such frame takes 20 bytes more.
    let paced = 40e9 / 8.0 * 4_158.0 / 4_096.0;
    let full = 100e9 / 8.0 * 4_158.0 / 4_178.0;
    let expected = (paced + full) * seconds;
    let found = both.jobs[1].rx_bytes as f64;
    // A message of each has not been posted or is under way, and one is ahead of its time.
    assert!(
        (found - expected).abs() < 2.0 * 131_072.0,
        "{found} for {expected}"
    );
    assert!(both.collectives.iter().all(|row| row.job == 0));
}

/// Two streams leave host 0, one of them to host 1, which five others send to as well. What the
/// NIC of host 0 sends and what arrives of the other stream, in Gb/s of frame bytes.
fn streams_of_host_0(class: u8) -> (f64, f64) {
    let text = format!(
        "
fabric:
  kind: single-switch
  hosts: 10
  rate: 100Gbps
  switch:
    buffer: {{size: 32MiB}}
    classes: [{{class: 3, lossless: true}}, {{class: 5, lossless: true}}]
endpoint: {{addresses: {{dscp: 24}}}}
jobs:
  - {{ranks: [8, 9], collectives: [{{collective: send-recv, size: 1KiB, compute: 10ms}}]}}
  - {{name: crowd, background: true, flows: [{{from: [0, 3-7], to: 1}}]}}
  - {{name: free, background: true, class: {class}, flows: [{{from: 0, to: 2}}]}}
"
    );
    let loaded = load(&text, "jobs.yaml", Format::Yaml, &[], None);
    let plan = loaded.unwrap_or_else(|errors| panic!("{}", errors.render()));
    let outcome = outcome(&plan.plan);
    let sent = outcome.counts.ports[0].tx_bytes as f64 * 8.0;
    let rate = sent / outcome.summary.engine.simulated_ns;
    (rate, outcome.jobs[2].rx_gbps.expect("time passes"))
}

#[test]
fn a_pause_of_one_class_leaves_the_other_jobs_of_a_nic_alone() {
    // A full wire carries 100 Gb/s · 4,158/4,178 = 99.5 of frame bytes. In the same class pauses
    // stop both streams; they are served in turn, so both get as much.
    let (sent, free) = streams_of_host_0(3);
    assert!(
        sent < 90.0 && (free - sent / 2.0).abs() < 1.0,
        "{sent} {free}"
    );
    // In another class the second stream has whatever the first is kept from sending.
    let (sent, free) = streams_of_host_0(5);
    assert!((sent - 99.5).abs() < 0.5 && free > 60.0, "{sent} {free}");
}

#[test]
fn a_judged_job_that_fails_ends_the_load() {
    // The timeout is shorter than a round trip, and there is no second try.
    let text = format!(
        "endpoint: {{nic: {{retransmission_timeout: 1us, retry_count: 0}}}}
jobs:{RING}
  - name: load
    background: true
    flows: [{{from: 2, to: 3, rate: 1Gbps}}]
"
    );
    let outcome = outcome(&plan(&text));
    assert!(!outcome.summary.complete);
    assert!(outcome.jobs[0].failure.is_some());
    assert!(outcome.summary.engine.simulated_ns < 1e9);
}

/// The ring, between one that waits for the last and one that waits for it.
fn chain(rest: &str) -> Plan {
    plan(&format!(
        "{rest}
jobs:
  - name: last
    ranks: [2, 3]
    start: {{after: next}}
    collectives: [{{collective: all-reduce, size: 1MiB}}]{RING}
  - name: next
    ranks: [0, 4]
    start: {{after: ring, delay: 7us}}
    iterations: 2
    collectives: [{{collective: send-recv, size: 1MiB, compute: 20us}}]
"
    ))
}

#[test]
fn a_job_starts_a_delay_after_the_end_of_another() {
    let plan = chain("");
    let outcome = outcome(&plan);
    assert!(outcome.summary.complete);
    let [last, ring, next] = outcome.jobs.as_slice() else {
        panic!("three jobs");
    };
    let times = |row: &JobRow| (row.start.expect("it starts"), row.end.expect("it ends"));
    assert_eq!(times(ring).0, Time::ZERO);
    assert_eq!(times(next).0, times(ring).1 + Time::from_us(7));
    assert_eq!(times(last).0, times(next).1 + Time::from_us(10));
    assert_eq!(next.jct, Some(times(next).1 - times(next).0));
    // Computing comes first.
    let first = outcome.collectives.iter().find(|row| row.job == 2);
    let first = first.expect("it runs").start;
    assert_eq!(first, times(next).0 + Time::from_us(20));
    // Each takes as long as by itself, where it starts at once.
    for (job, row) in [(0, last), (2, next)] {
        let alone = self::outcome(&plan.with_jobs(&[job])).jobs;
        assert_eq!(alone[job].start, Some(Time::ZERO));
        assert_eq!(alone[job].jct, row.jct);
    }
    let both = self::outcome(&plan.with_jobs(&[1, 2])).jobs;
    assert_eq!((both[2].start, both[2].end), (next.start, next.end));
    // Without the one between them, the last waits for the first.
    let both = self::outcome(&plan.with_jobs(&[0, 1])).jobs;
    assert_eq!(both[0].start, Some(times(ring).1 + Time::from_us(10)));
}

#[test]
fn who_waits_for_a_job_that_fails_waits_in_vain() {
    let impatient = "endpoint: {nic: {retransmission_timeout: 1us, retry_count: 0}}";
    let mut plan = chain(impatient);
    let check = |plan: &Plan| {
        let outcome = outcome(plan);
        assert!(!outcome.summary.complete);
        let of = |job: usize| (outcome.jobs[job].start, outcome.jobs[job].failure.clone());
        let waits = |name: &str| (None, Some(format!("it waits for the end of job `{name}`")));
        assert_eq!(of(0), waits("next"));
        assert_eq!(of(2), waits("ring"));
        assert!(outcome.jobs[1].failure.is_some());
        assert!(outcome.summary.engine.simulated_ns < 1e9);
    };
    check(&plan);
    // A load that would go on until all others have ended.
    let load = "jobs:
  - {name: load, background: true, flows: [{from: 2, to: 3, rate: 1Gbps}]}
  - {ranks: [4, 5], collectives: [{collective: send-recv, size: 1KiB}]}
";
    plan.jobs.push(self::plan(load).jobs.remove(0));
    check(&plan);
}

#[test]
fn a_job_alone_has_the_paths_and_draws_it_has_beside_others() {
    let text = "
fabric: {kind: leaf-spine, leaves: 2, hosts_per_leaf: 4, spines: 4}
jobs:
  - {name: a, ranks: [0, 4], collectives: [{collective: all-reduce, size: 1MiB}]}
  - {name: b, ranks: [1, 2, 5, 6], collectives: [{collective: permutation, size: 1MiB, compute: 5us, compute_spread: 5us}]}
";
    let loaded = load(text, "jobs.yaml", Format::Yaml, &[], None).expect("a good scenario");
    let of = |plan: &Plan| {
        let mut sink = MemorySink::default();
        let outcome = run(plan, Options::default(), &mut sink).expect("a good plan");
        let ports: Vec<(u32, u32, u16)> = sink
            .flows
            .iter()
            .filter(|row| row.job == 1)
            .map(|row| (row.src_host, row.dst_host, row.udp_source_port))
            .collect();
        let starts: Vec<Time> = outcome
            .collectives
            .iter()
            .filter(|row| row.job == 1)
            .map(|row| row.start)
            .collect();
        (ports, starts)
    };
    let (mut together, starts) = of(&loaded.plan);
    let (mut alone, starts_alone) = of(&loaded.plan.with_jobs(&[1]));
    together.sort_unstable();
    alone.sort_unstable();
    assert_eq!((together, starts), (alone, starts_alone));
}
