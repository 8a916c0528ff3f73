//! The tables of one trial count the same things alike: over random scenarios, with faults, losses,
//! background jobs, time limits and collectives that never end.

use std::collections::BTreeMap;

use tenter_language::units::Time;
use tenter_results::{CollectiveRow, FlowRow, NoteCode, PortRow, QueueRow, SampleRow};
use tenter_testkit::{Engine, RandomScenario, Trial, random_scenario, replay_command};

const SCENARIOS: u64 = 500;

/// A count by its name, what another place says of it, and how it is read from a row.
type Sum<R> = (&'static str, u64, fn(&R) -> u64);

/// What two places of one trial say of the same thing.
#[derive(Debug, Default)]
struct Claims {
    wrong: Vec<String>,
}

impl Claims {
    fn equal(&mut self, what: &str, left: u64, right: u64) {
        if left != right {
            self.wrong.push(format!("{what}: {left} is not {right}"));
        }
    }

    fn at_most(&mut self, what: &str, less: u64, more: u64) {
        if less > more {
            self.wrong
                .push(format!("{what}: {less} is more than {more}"));
        }
    }
}

/// What the trials had, to be sure that they put the tables to the test.
#[derive(Debug, Default)]
struct Seen {
    whole: u32,
    unfinished: u32,
    background: u32,
    lost: u32,
    /// Of trials in which flows were cut off, those where one had arrived already.
    unacknowledged: u32,
}

fn sum<R>(rows: &[R], of: impl Fn(&R) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

#[test]
fn tables_agree() {
    let mut seen = Seen::default();
    let mut failures = Vec::new();
    for seed in 0..SCENARIOS {
        let scenario = random_scenario(seed);
        let trial = Engine::windowed(1).run(&scenario.plan);
        let trial = trial.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut claims = Claims::default();
        check_flows(&mut claims, &trial);
        check_whole(&mut claims, &scenario, &trial);
        check_jobs(&mut claims, &trial);
        check_ports(&mut claims, &trial);
        check_queues(&mut claims, &trial);
        check_samples(&mut claims, &scenario, &trial);
        check_sizes(&mut claims, &trial);
        note(&mut seen, &trial);
        if !claims.wrong.is_empty() {
            let wrong = claims.wrong.join("\n  ");
            failures.push(format!(
                "seed {seed}\n  {wrong}\n  {}",
                replay_command(seed)
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {SCENARIOS} trials contradict themselves; the first are\n\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n\n")
    );
    let least = [seen.whole, seen.unfinished, seen.background, seen.lost];
    assert!(
        least.into_iter().min() >= Some(20) && seen.unacknowledged > 0,
        "the scenarios have become too tame: {seen:?}"
    );
}

fn note(seen: &mut Seen, trial: &Trial) {
    let summary = &trial.outcome.summary;
    let jobs = &trial.outcome.jobs;
    seen.whole += u32::from(is_whole(trial));
    seen.unfinished += u32::from(!summary.complete);
    seen.background += u32::from(jobs.iter().any(|job| job.background));
    seen.lost += u32::from(summary.totals.lost_frames + summary.totals.dropped_frames > 0);
    let accepted = sum(&trial.outcome.collectives, |row| row.rx_frames);
    seen.unacknowledged += u32::from(!summary.complete && accepted < summary.totals.rx_frames);
}

/// Whether nothing was cut off: every job ran to its end, and none without end beside it.
fn is_whole(trial: &Trial) -> bool {
    let jobs = &trial.outcome.jobs;
    let judged = jobs.iter().all(|job| job.complete && !job.background);
    judged && trial.outcome.summary.stopped.is_none()
}

/// A collective is the sum of its flows, and the totals are those of all collectives or more.
fn check_flows(claims: &mut Claims, trial: &Trial) {
    let flows = &trial.rows.flows;
    let collectives = &trial.outcome.collectives;
    let mut by_turn: BTreeMap<_, Vec<&FlowRow>> = BTreeMap::new();
    for flow in flows {
        let turn = (flow.job, flow.collective, flow.iteration);
        by_turn.entry(turn).or_default().push(flow);
        claims.at_most("rx_frames of a flow", flow.rx_frames, flow.tx_frames);
        let again = flow.retransmitted_frames;
        claims.at_most("frames of a flow sent again", again, flow.tx_frames);
    }
    for row in collectives {
        let turn = (row.job, row.index, row.iteration);
        let flows = by_turn.remove(&turn).unwrap_or_default();
        let sum = |of: fn(&FlowRow) -> u64| flows.iter().map(|flow| of(flow)).sum::<u64>();
        claims.equal(&format!("flows of {turn:?}"), row.flows, flows.len() as u64);
        let what = format!("frames of {turn:?}");
        claims.equal(&what, row.tx_frames, sum(|flow| flow.tx_frames));
        claims.equal(&what, row.rx_frames, sum(|flow| flow.rx_frames));
        let again = sum(|flow| flow.retransmitted_frames);
        claims.equal(&what, row.retransmitted_frames, again);
        if row.frames_delta() < 0 {
            let delta = row.frames_delta();
            claims.wrong.push(format!("delta of {turn:?} is {delta}"));
        }
    }
    claims.equal("flows of no collective", by_turn.len() as u64, 0);
    let totals = &trial.outcome.summary.totals;
    claims.equal("totals.flows", totals.flows, flows.len() as u64);
    let of: [Sum<CollectiveRow>; 3] = [
        ("tx_frames", totals.tx_frames, |row| row.tx_frames),
        ("rx_frames", totals.rx_frames, |row| row.rx_frames),
        ("retransmitted_frames", totals.retransmitted_frames, |row| {
            row.retransmitted_frames
        }),
    ];
    for (what, total, of) in of {
        let parts = sum(collectives, of);
        claims.at_most(&format!("{what} of all collectives"), parts, total);
    }
}

/// Where nothing was cut off, flows have sent and accepted all there is.
fn check_whole(claims: &mut Claims, scenario: &RandomScenario, trial: &Trial) {
    let mut notes = trial.outcome.summary.notes.iter();
    let gave_up = notes.any(|note| note.code == NoteCode::GaveUp);
    if !is_whole(trial) || gave_up {
        return;
    }
    let totals = &trial.outcome.summary.totals;
    let flows = &trial.rows.flows;
    claims.equal(
        "tx_frames",
        sum(flows, |row| row.tx_frames),
        totals.tx_frames,
    );
    claims.equal("tx_bytes", sum(flows, |row| row.tx_bytes), totals.tx_bytes);
    claims.equal(
        "rx_frames",
        sum(flows, |row| row.rx_frames),
        totals.rx_frames,
    );
    claims.equal("rx_bytes", sum(flows, |row| row.rx_bytes), totals.rx_bytes);
    let again = sum(flows, |row| row.retransmitted_frames);
    claims.equal("sent again", again, totals.retransmitted_frames);
    claims.equal(
        "jobs",
        trial.outcome.jobs.len() as u64,
        scenario.plan.jobs.len() as u64,
    );
}

/// The summary repeats the tables, and what jobs have received is what NICs have accepted.
fn check_jobs(claims: &mut Claims, trial: &Trial) {
    let outcome = &trial.outcome;
    let summary = &outcome.summary;
    let jobs: Vec<_> = summary.jobs.iter().map(|job| job.job.clone()).collect();
    let collectives = summary.jobs.iter().flat_map(|job| job.collectives.clone());
    let collectives: Vec<_> = collectives.collect();
    if jobs != outcome.jobs || collectives != outcome.collectives {
        claims.wrong.push("jobs of the summary".to_owned());
    }
    let received = sum(&outcome.jobs, |job| job.rx_bytes);
    claims.equal("rx_bytes of jobs", received, summary.totals.rx_bytes);
}

/// Totals are sums over ports, and what a port sends its neighbour receives.
fn check_ports(claims: &mut Claims, trial: &Trial) {
    let ports = &trial.outcome.counts.ports;
    let totals = &trial.outcome.summary.totals;
    let of: [Sum<PortRow>; 11] = [
        ("dropped_frames", totals.dropped_frames, |row| {
            row.dropped_frames
        }),
        ("dropped_bytes", totals.dropped_bytes, |row| {
            row.dropped_bytes
        }),
        ("lost_frames", totals.lost_frames, |row| row.lost_frames),
        ("unsent_frames", totals.unsent_frames, |row| {
            row.unsent_frames
        }),
        ("watchdog_storms", totals.watchdog_storms, |row| {
            row.watchdog_storms
        }),
        ("marked_frames", totals.marked_frames, |row| {
            row.marked_frames
        }),
        ("rx_dropped_frames", totals.nic_dropped_frames, |row| {
            row.rx_dropped_frames
        }),
        ("cnp_frames", totals.cnp_frames, |row| row.tx_cnp_frames),
        ("xoff_frames", totals.xoff_frames, |row| row.tx_xoff_frames),
        ("xon_frames", totals.xon_frames, |row| row.tx_xon_frames),
        (
            "paused",
            totals.nic_paused.ps() + totals.switch_paused.ps(),
            |row| row.paused.ps(),
        ),
    ];
    for (what, total, of) in of {
        claims.equal(what, sum(ports, of), total);
    }
    let sent = sum(ports, |row| row.tx_frames);
    let received = sum(ports, |row| row.rx_frames);
    claims.at_most(
        "frames received and lost",
        received + totals.lost_frames,
        sent,
    );
    let told = sum(ports, |row| row.tx_xoff_frames + row.tx_xon_frames);
    let heard = sum(ports, |row| row.rx_xoff_frames + row.rx_xon_frames);
    claims.at_most("pauses heard", heard, told);
    let told = sum(ports, |row| row.tx_cnp_frames);
    claims.at_most("CNPs heard", sum(ports, |row| row.rx_cnp_frames), told);
    let counts = &trial.outcome.counts;
    let signals = sum(&counts.signals, |row| row.tx_signal_frames);
    claims.equal("signal_frames", signals, totals.signal_frames);
}

/// A port is the sum of its classes, and a switch that of its ports.
fn check_queues(claims: &mut Claims, trial: &Trial) {
    let counts = &trial.outcome.counts;
    let mut queues: BTreeMap<_, Vec<&QueueRow>> = BTreeMap::new();
    for queue in &counts.queues {
        queues
            .entry((queue.node, queue.port))
            .or_default()
            .push(queue);
    }
    let mut switches: BTreeMap<u32, [u64; 3]> = BTreeMap::new();
    for port in &counts.ports {
        let queues = queues.remove(&(port.node, port.port)).unwrap_or_default();
        let sum = |of: fn(&QueueRow) -> u64| queues.iter().map(|row| of(row)).sum::<u64>();
        let what = format!("classes of {}:{}", port.node_name, port.port);
        claims.equal(&what, sum(|row| row.dropped_frames), port.dropped_frames);
        claims.equal(&what, sum(|row| row.dropped_bytes), port.dropped_bytes);
        claims.equal(&what, sum(|row| row.marked_frames), port.marked_frames);
        claims.equal(&what, sum(|row| row.tx_xoff_frames), port.tx_xoff_frames);
        claims.equal(&what, sum(|row| row.rx_xoff_frames), port.rx_xoff_frames);
        claims.equal(&what, sum(|row| row.tx_xon_frames), port.tx_xon_frames);
        claims.equal(&what, sum(|row| row.rx_xon_frames), port.rx_xon_frames);
        claims.equal(&what, sum(|row| row.paused.ps()), port.paused.ps());
        let most = queues.iter().map(|row| row.queue_high_water_bytes).max();
        claims.at_most(&what, most.unwrap_or(0), port.queue_high_water_bytes);
        let of_switch = switches.entry(port.node).or_default();
        of_switch[0] += port.dropped_frames;
        of_switch[1] += port.dropped_bytes;
        of_switch[2] += port.marked_frames;
    }
    claims.equal("classes of no port", queues.len() as u64, 0);
    for switch in &counts.switches {
        let ports = switches.remove(&switch.node).unwrap_or_default();
        let what = format!("ports of {}", switch.node_name);
        claims.equal(&what, ports[0], switch.dropped_frames);
        claims.equal(&what, ports[1], switch.dropped_bytes);
        claims.equal(&what, ports[2], switch.marked_frames);
    }
    let lossless = sum(&counts.switches, |row| row.lossless_dropped_frames);
    let totals = &trial.outcome.summary.totals;
    claims.equal(
        "lossless_dropped_frames",
        lossless,
        totals.lossless_dropped_frames,
    );
}

/// Samples add up to what a port has sent, but for what the end of the trial left of a frame; no
/// interval has more than the line carries, and no queue is above its high-water mark.
fn check_samples(claims: &mut Claims, scenario: &RandomScenario, trial: &Trial) {
    let samples = &trial.rows.samples;
    if samples.is_empty() {
        return;
    }
    let mut instants: Vec<Time> = samples.iter().map(|row| row.time).collect();
    instants.dedup();
    let frame = u64::from(scenario.plan.nic.longest_frame_bytes());
    let background = scenario.plan.jobs.iter().any(|job| job.background);
    let ends_idle = !background && trial.outcome.summary.stopped.is_none();
    let mut ports: BTreeMap<_, Vec<&SampleRow>> = BTreeMap::new();
    for sample in samples {
        ports
            .entry((sample.node, sample.port))
            .or_default()
            .push(sample);
    }
    for port in &trial.outcome.counts.ports {
        let samples = ports.remove(&(port.node, port.port)).unwrap_or_default();
        let what = format!("samples of {}:{}", port.node_name, port.port);
        let sent = samples.iter().map(|row| row.tx_bytes).sum();
        claims.at_most(&what, sent, port.tx_bytes);
        if ends_idle {
            claims.equal(&what, sent, port.tx_bytes);
        }
        // A frame that is cut short when its link goes down counts as a whole.
        let cut = if port.lost_frames > 0 { frame } else { 0 };
        for row in &samples {
            let place = instants.partition_point(|at| *at < row.time);
            let before = place.checked_sub(1).map_or(Time::ZERO, |at| instants[at]);
            let bits = port.rate_gbps * (row.time - before).as_ns();
            claims.at_most(&what, row.tx_bytes, (bits / 8.0).ceil() as u64 + cut);
        }
        let most = samples.iter().map(|row| row.queue_high_water_bytes).max();
        if port.queue_high_water_bytes > 0 {
            claims.equal(&what, most.unwrap_or(0), port.queue_high_water_bytes);
        }
    }
    claims.equal("samples of no port", ports.len() as u64, 0);
}

/// The row of all sizes is the sum of those of some, and of the flows of its job.
fn check_sizes(claims: &mut Claims, trial: &Trial) {
    let rows = &trial.outcome.summary.flow_sizes;
    for all in rows.iter().filter(|row| row.bucket.is_none()) {
        let parts = rows.iter().filter(|row| row.job == all.job);
        let parts: Vec<_> = parts.filter(|row| row.bucket.is_some()).collect();
        let flows = trial.rows.flows.iter().filter(|row| row.job == all.job);
        let what = format!("flow sizes of {}", all.job_name);
        if !parts.is_empty() {
            claims.equal(&what, parts.iter().map(|row| row.flows).sum(), all.flows);
            claims.equal(
                &what,
                parts.iter().map(|row| row.payload).sum(),
                all.payload,
            );
        }
        claims.equal(&what, flows.clone().count() as u64, all.flows);
        claims.equal(&what, flows.map(|row| row.payload_bytes).sum(), all.payload);
    }
}
