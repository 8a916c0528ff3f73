//! Makes a trial's tables from the flow table and the counters.

use crate::plan::{CENTRAL_BELOW, PowerProfile};
use tenter_endpoint::Nic;
use tenter_endpoint::loss_recovery::LossRecovery;
use tenter_fabric::net::impairment::TesterAction;
use tenter_fabric::net::{Switch, WIRE_OVERHEAD_BYTES};
use tenter_fabric::topology::{HostId, NodeId};
use tenter_language::units::{Instant, Rate, Time};
use tenter_results::{
    CollectiveRow, Counts, Digest, Distribution, EngineKind, EngineStats, FlowSizeRow, Histogram,
    JobRow, JobSummary, NoteCode, NoteRow, Notes, PortRow, Stop, StopKind, Summary, Totals,
};
use tenter_workload::{JobId, RankId};

use crate::flow_level::{Carried, LeftOut};
use crate::network::{Context, Driver, JobPlan, NodeModel};

use super::counters;
use super::credit;
use super::flow_table::{FlowTable, Tally};
use super::flow_tally::FlowTally;
use super::ideal_ratio;
use super::ideals::{Ideals, Times};
use super::notices;
use super::outcome::Outcome;
use super::overflow;
use super::power;
use super::{capture, inference, metered, operations, queue_changes, training};

/// A trial that has ended, with what its tables need besides counters and flows.
pub(crate) struct Trial<'a> {
    pub(crate) name: &'a str,
    pub(crate) threads: u16,
    pub(crate) stopped: Option<Stop>,
    pub(crate) ended: Instant,
    pub(crate) ideals: &'a Ideals,
    pub(crate) power: Option<&'a PowerProfile>,
    /// Models that flow level leaves out, if the trial ran there.
    pub(crate) left_out: &'a [LeftOut],
    /// Reason why nothing is jumped over although the trial asks for jumps, if there is one.
    pub(crate) jumps_refused: Option<&'static str>,
    /// For each job the reason why it is not done, if it is not.
    pub(crate) stalls: Vec<Option<String>>,
}

/// Returns how many packets were carried, whatever their kind, counted once per link.
pub(crate) fn packet_hops(driver: &impl Driver) -> u64 {
    let frames = transmitters(driver, tenter_fabric::net::Transmitter::packets);
    let carried = driver.carried().map_or(0, Carried::hops);
    frames + notices::sent(driver) + credit::sent(driver) + carried
}

/// Returns when the nodes had their last event: a frame's end, or a queue pair giving up. Other
/// timeouts are followed by a frame, so they need not be considered.
pub(crate) fn last_event(driver: &impl Driver) -> Instant {
    let of_node = |model: &NodeModel| match model {
        NodeModel::Host(host) => {
            let given_up = host.nic().errors().into_iter().map(|error| error.at);
            given_up.fold(host.nic().last_end(), Instant::max)
        }
        NodeModel::Switch(switch) => {
            let ended = switch
                .ports()
                .iter()
                .map(|port| port.transmitter().last_end());
            ended.max().unwrap_or(Instant::START)
        }
    };
    driver
        .nodes()
        .map(|(_, model)| of_node(model))
        .max()
        .unwrap_or(Instant::START)
}

fn transmitters(
    driver: &impl Driver,
    count: impl Fn(&tenter_fabric::net::Transmitter) -> u64,
) -> u64 {
    driver
        .nodes()
        .map(|(_, node)| node.sum_of_ports(&count))
        .sum()
}

/// Makes a trial's tables; `counts` has what was recorded while it ran.
pub(crate) fn outcome<D: Driver>(
    driver: &D,
    flow_table: &FlowTable,
    mut counts: Counts,
    trial: Trial<'_>,
) -> Outcome {
    let context = driver.context();
    counters::count(driver, trial.ended, &mut counts);
    let mut jobs = job_summaries(driver, flow_table, &trial);
    let flow_sizes = flow_sizes(context, flow_table);
    // Before rates are cleared below: the digest has them.
    let digest = digest(flow_table, &jobs, &flow_sizes, &counts);
    for (job, plan) in jobs.iter_mut().zip(context.jobs.iter()) {
        if plan.has_operations() {
            clear_rates_of_graph(job);
        }
    }
    let totals = totals(driver, flow_table.flows_booked(), &counts);
    let notes = notes(driver, &totals, &trial);
    let stopped_by = trial.stopped.as_ref().map(|stop| stop.by);
    // Counters continue after the last job until the network is empty, so only an interruption
    // leaves them incomplete.
    let is_whole = stopped_by != Some(StopKind::User);
    let summary = Summary {
        tenter_version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: trial.name.to_owned(),
        seed: context.seed,
        complete: is_whole && jobs.iter().all(|job| job.job.complete),
        stopped_by,
        stopped: trial.stopped.map(|stop| stop.why),
        // The caller adds the scenario's own notes.
        notes,
        // Measuring interference takes further runs, so the caller fills this in.
        interference: Vec::new(),
        flow_sizes,
        critical_shares: Vec::new(),
        training_steps: Vec::new(),
        inference: Vec::new(),
        inference_pools: Vec::new(),
        totals,
        power: None,
        engine: engine(driver, trial.threads, trial.ended, digest),
        jobs: jobs.clone(),
    };
    let (jobs, rows): (_, Vec<Vec<_>>) = jobs
        .into_iter()
        .map(|job| (job.job, job.collectives))
        .unzip();
    let collectives = rows.concat();
    let mut outcome = Outcome {
        summary,
        jobs,
        collectives,
        counts,
        digest,
    };
    let profile = trial.power;
    let drawn = profile.map(|profile| power::of_run(profile, driver, &outcome, trial.ended));
    outcome.summary.power = drawn;
    queue_changes::collect(driver, &mut outcome);
    capture::collect(driver, &mut outcome);
    let iterations = metered::iterations(driver, flow_table);
    operations::collect(driver, flow_table, &iterations, &mut outcome);
    training::collect(&iterations, &mut outcome);
    inference::collect(&iterations, &mut outcome);
    outcome
}

/// Makes all rows for jobs and collectives from sizes and times.
fn job_summaries<D: Driver>(
    driver: &D,
    flow_table: &FlowTable,
    trial: &Trial<'_>,
) -> Vec<JobSummary> {
    let context = driver.context();
    let of_job = |index: JobId| {
        let tallies = &flow_table.tallies[index];
        let collectives = collective_rows(context, trial.ideals, index, tallies);
        JobSummary {
            job: job_row(driver, flow_table, index, &collectives, trial),
            collectives,
        }
    };
    context.jobs.ids().map(of_job).collect()
}

/// Extends the flow rows' digest by the rows in all tables that every trial has.
fn digest(
    flow_table: &FlowTable,
    jobs: &[JobSummary],
    flow_sizes: &[FlowSizeRow],
    counts: &Counts,
) -> Digest {
    let mut digest = flow_table.digest;
    for JobSummary { job, collectives } in jobs {
        digest.add_row(job);
        digest.add_rows(collectives);
    }
    digest.add_rows(flow_sizes);
    counts.add_to(&mut digest);
    digest
}

/// Clears values that only a single collective has. A graph's messages belong to many collectives,
/// so their bytes over the graph's time are no link's bandwidth; and the closed form knows the
/// busiest port and stream, but not how ranks wait for each other, as in a pipeline's bubble. The
/// digest keeps these values, so that it stays comparable with earlier versions.
fn clear_rates_of_graph(job: &mut JobSummary) {
    job.job.ideal_ratio = None;
    for row in &mut job.collectives {
        row.algbw_gbytes_per_s = None;
        row.busbw_gbytes_per_s = None;
        row.line_rate_percent = None;
        row.ideal = None;
        row.percent_of_ideal = None;
        row.ideal_ratio = None;
    }
}

fn collective_rows(
    context: &Context,
    ideals: &Ideals,
    job: JobId,
    tallies: &[Tally],
) -> Vec<CollectiveRow> {
    let begun = (0..tallies.len() as u32).map(|number| {
        let plan = &context.jobs[job];
        (plan.turn(number).index, plan.size_bytes(number))
    });
    let times = ideals.of(context, job, begun);
    let rows = (0..).zip(tallies);
    rows.map(|(number, tally)| collective_row(context, &times, job, number, tally))
        .collect()
}

fn collective_row(
    context: &Context,
    ideals: &Times,
    job: JobId,
    number: u32,
    tally: &Tally,
) -> CollectiveRow {
    let plan = &context.jobs[job];
    let turn = plan.turn(number);
    let time = tally.end.map(|end| end - tally.start);
    let (kind, ranks) = (&plan.run(number).traffic, plan.job.ranks());
    let flow_work = tally.flow_work.as_deref();
    let size = flow_work.map_or_else(|| plan.size_bytes(number), FlowTally::payload);
    let share = arrived_share(context, tally);
    let arrived = size as f64 * share;
    // A workload may be over before its first flow arrives.
    let some_time = time.filter(|time| !time.is_zero());
    let algbw = some_time.map(|time| arrived / time.as_s() / 1e9 * kind.algbw_factor(ranks));
    // The ports of a flow workload have no common line rate to compare with.
    let of_collective = algbw.filter(|_| flow_work.is_none());
    let busbw = of_collective.map(|bandwidth| bandwidth * kind.busbw_factor(ranks));
    let mesh = ideal_ratio::of_collective(plan, number, tally.ideal, share);
    let ideal = ideals.get(&(turn.index, size)).copied();
    // Data within hosts load no NIC: a share of its line rate would mean nothing.
    let on_lines = !tally.is_carried && plan.within_hosts(number).is_zero();
    let line = slowest_nic(context, plan).bytes_per_second() / 1e9 * goodput_share(context);
    let fct = completion_times(tally);
    let ratios = ideal_ratio::of_flows(&tally.ideal_ratios);
    let at = |per_mille| ideal_ratio::at(&ratios, per_mille);
    CollectiveRow {
        job: u32::from(job.number()),
        index: turn.index,
        iteration: turn.iteration,
        warm_up: turn.warm_up,
        collective: kind.name().to_owned(),
        algorithm: kind.algorithm().to_owned(),
        size_bytes: size,
        ranks,
        start: tally.start.since_start(),
        end: tally.end.map(Instant::since_start),
        completion_time: time,
        algbw_gbytes_per_s: algbw,
        busbw_gbytes_per_s: busbw,
        line_rate_percent: busbw.filter(|_| on_lines).map(|busbw| 100.0 * busbw / line),
        ideal,
        percent_of_ideal: percent_of(ideal, some_time.filter(|_| share >= 1.0)),
        ideal_ratio: time.and_then(|time| ideal_ratio::ratio(time, mesh)),
        full_mesh_time: mesh,
        flow_ratio_mean: ideal_ratio::mean(&ratios),
        flow_ratio_p50: at(500),
        flow_ratio_p99: at(990),
        flow_ratio_p999: at(999),
        flow_ratio_max: at(1_000),
        fct_min: fct.map(|fct| fct.min),
        fct_p50: fct.map(|fct| fct.p50),
        fct_p95: fct.map(|fct| fct.p95),
        fct_p99: fct.map(|fct| fct.p99),
        fct_p999: fct.map(|fct| fct.p999),
        fct_max: fct.map(|fct| fct.max),
        flows: flows_of(tally),
        tx_frames: tally.sent_frames,
        rx_frames: tally.accepted_frames,
        retransmitted_frames: tally.retransmitted_frames,
        latency_avg: tally.latency_avg(),
        rx_payload_bytes: received_payload(context, tally),
        complete: tally.end.is_some(),
        rx_marked_frames: tally.marked_frames,
        cnp_frames: tally.notifications,
    }
}

/// Returns the ideal time in percent of the actual time.
fn percent_of(ideal: Option<Time>, time: Option<Time>) -> Option<f64> {
    let both = ideal.zip(time);
    both.map(|(ideal, time)| 100.0 * ideal.as_ns() / time.as_ns())
}

/// Returns statistics over the flows' completion times.
fn completion_times(tally: &Tally) -> Option<Distribution> {
    match (&tally.flow_work, &tally.rings) {
        (Some(flows), _) => distribution(&flows.times()),
        (None, Some(rings)) => Distribution::of_counts(&rings.times),
        (None, None) => Distribution::of(&mut tally.completion_times.clone()),
    }
}

/// Returns how many flows a collective has completed.
fn flows_of(tally: &Tally) -> u64 {
    match (&tally.flow_work, &tally.rings) {
        (Some(flows), _) => flows.flows(),
        (None, Some(rings)) => rings.flows(),
        (None, None) => tally.completion_times.len() as u64,
    }
}

/// Returns statistics over completion times that are kept as a histogram only.
fn distribution(times: &Histogram) -> Option<Distribution> {
    Distribution::by(|per_mille| {
        let ps = times.at(10 * per_mille)?;
        Some(Time::from_ps(ps as u64))
    })
}

/// Makes the rows with completion times by size, for jobs that run a flow workload.
fn flow_sizes(context: &Context, flow_table: &FlowTable) -> Vec<FlowSizeRow> {
    let mut rows = Vec::new();
    for ((job, plan), tallies) in context.jobs.numbered().zip(&flow_table.tallies) {
        for tally in tallies.iter().filter_map(|tally| tally.flow_work.as_ref()) {
            rows.extend(tally.rows(u32::from(job.number()), &plan.job.name));
        }
    }
    rows
}

/// Returns the share of a collective's bytes that has arrived. It is below 1 only without loss
/// recovery; otherwise a completed flow has arrived, however often its packets were sent.
fn arrived_share(context: &Context, tally: &Tally) -> f64 {
    match context.nic.loss_recovery {
        LossRecovery::None if tally.sent_bytes > 0 => {
            tally.accepted_bytes as f64 / tally.sent_bytes as f64
        }
        _ => 1.0,
    }
}

/// Returns the payload that has arrived, over all flows in the table.
fn received_payload(context: &Context, tally: &Tally) -> u64 {
    match arrived_share(context, tally) {
        share if share < 1.0 => (tally.payload_bytes as f64 * share).round() as u64,
        _ => tally.payload_bytes,
    }
}

/// Returns payload over wire bytes for a full packet that is not the first in its message.
fn goodput_share(context: &Context) -> f64 {
    let mtu = f64::from(context.nic.mtu_bytes);
    let headers = context.nic.header_bytes();
    mtu / (mtu + f64::from(headers + WIRE_OVERHEAD_BYTES))
}

fn slowest_nic(context: &Context, plan: &JobPlan) -> Rate {
    let rates = plan
        .job
        .hosts
        .iter()
        .map(|&host| context.topology.line_rate(host));
    rates.min().unwrap_or_default()
}

fn nic_dropped(nic: &Nic) -> u64 {
    nic.receive_buffer()
        .map_or(0, |(counters, _)| counters.dropped_frames)
}

fn job_row<D: Driver>(
    driver: &D,
    flow_table: &FlowTable,
    index: JobId,
    collectives: &[CollectiveRow],
    trial: &Trial<'_>,
) -> JobRow {
    let context = driver.context();
    let (plan, topology) = (&context.jobs[index], &context.topology);
    let job = &plan.job;
    let failure = trial.stalls[index.index()].clone();
    let turns = job.turns();
    let done = turns.is_some_and(|turns| turns == collectives.len() as u64)
        && collectives.iter().all(|collective| collective.complete);
    // A background job is never done; it is complete if it ran until it was cut off.
    let complete = done || (job.background && failure.is_none());
    let end = collectives.last().and_then(|last| last.end);
    let end = end.filter(|_| done);
    let start = context.progress.start(index).map(Instant::since_start);
    let jct = end.zip(start).map(|(end, start)| end - start);
    let compute = (0..collectives.len() as u32).map(|number| plan.compute(number));
    let compute = compute.fold(Time::ZERO, Time::saturating_add);
    // The rate of an unfinished job is that until the trial's end.
    let until = end.unwrap_or(trial.ended.since_start());
    let span = start.map_or(Time::ZERO, |start| until.saturating_sub(start));
    let rx_bytes = flow_table.received_bytes[index] + under_way(driver, plan);
    JobRow {
        job: u32::from(index.number()),
        name: job.name.clone(),
        ranks: job.ranks(),
        background: job.background,
        leaf_fragmentation: Some(topology.leaf_span(&job.hosts).factor()),
        pod_fragmentation: Some(topology.pod_span(&job.hosts).factor()),
        start,
        end,
        jct,
        compute,
        // Within operation graphs computing overlaps with communication and is not counted here.
        exposed: jct
            .filter(|_| !plan.has_operations())
            .map(|jct| jct.saturating_sub(compute)),
        rx_bytes,
        ideal_ratio: ideal_ratio::of_job(collectives).filter(|_| done),
        rx_gbps: (!span.is_zero()).then(|| rx_bytes as f64 * 8.0 / span.as_s() / 1e9),
        complete,
        failure: failure.filter(|_| !complete),
    }
}

/// Returns the frame bytes accepted in a job's incomplete flows.
fn under_way<D: Driver>(driver: &D, plan: &JobPlan) -> u64 {
    if !driver.context().has_packets() {
        return 0;
    }
    let of_rank = |(rank, &host): (RankId, &HostId)| -> u64 {
        let NodeModel::Host(host) = driver.node(host) else {
            return 0;
        };
        let base = plan.places[rank].receive_base;
        let slots = base.run(plan.pairs.receive_count(rank) as u32);
        slots.map(|slot| host.nic().received_in_part(slot)).sum()
    };
    plan.job.hosts.numbered().map(of_rank).sum()
}

/// Sums the nodes' counters, in which flows that never ended are included.
fn totals<D: Driver>(driver: &D, flows: u64, counts: &Counts) -> Totals {
    let mut totals = Totals {
        flows,
        ..Totals::default()
    };
    for (_, node) in driver.nodes() {
        match node {
            NodeModel::Host(host) => {
                for port in 0..host.nic().ports() {
                    let transmitter = host.nic().transmitter(port);
                    let (frames, bytes) = transmitter.sent_data();
                    totals.tx_frames += frames;
                    totals.tx_bytes += bytes;
                    totals.xoff_frames += transmitter.mac().xoff_frames;
                    totals.xon_frames += transmitter.mac().xon_frames;
                }
                let counters = host.nic().counters();
                totals.rx_frames += counters.data_packets;
                totals.rx_bytes += counters.data_bytes;
                totals.retransmitted_frames += counters.retransmitted_packets;
                totals.acknowledgement_frames += counters.acknowledgements_sent;
                totals.grant_frames += counters.grants_sent;
                totals.nak_frames += counters.nak_sent;
                totals.timeouts += counters.local_ack_timeout_err;
                totals.nic_dropped_frames += nic_dropped(host.nic());
                totals.rx_marked_frames += counters.marked_packets;
                totals.cnp_frames += counters.np_cnp_sent;
                totals.given_up_frames += counters.given_up;
                totals.discarded_frames += counters.out_of_sequence;
                totals.duplicate_frames += counters.duplicate_request;
                totals.out_of_order_frames += counters.out_of_order;
                totals.flow_moves += host.nic().reroutes().1;
            }
            NodeModel::Switch(switch) => add_switch(&mut totals, switch),
        }
    }
    totals.take_share_of_marks();
    // At flow level NICs and ports count nothing; the engine counts for them.
    if let Some(carried) = driver.carried() {
        for host in driver.context().topology.host_ids() {
            let (sent, received) = (carried.sent(host.node(), 0), carried.received(host));
            totals.tx_frames += sent.frames;
            totals.tx_bytes += sent.bytes;
            totals.rx_frames += received.frames;
            totals.rx_bytes += received.bytes;
        }
    }
    for switch in &counts.switches {
        totals.dropped_frames += switch.dropped_frames;
        totals.dropped_bytes += switch.dropped_bytes;
        totals.lossless_dropped_frames += switch.lossless_dropped_frames;
        totals.marked_frames += switch.marked_frames;
        totals.notice_frames += switch.notice_frames;
        totals.flow_moves += switch.flow_moves;
    }
    for switch in &counts.signals {
        totals.signal_frames += switch.tx_signal_frames;
        totals.signal_xoff_frames += switch.tx_xoff_frames;
    }
    add_faults(&mut totals, &counts.ports);
    add_wire(&mut totals, &counts.ports);
    add_paused(&mut totals, &counts.ports, driver.context());
    totals
}

/// Adds what a switch's ports have sent and trimmed.
fn add_switch(totals: &mut Totals, switch: &Switch) {
    for port in switch.ports() {
        let mac = port.transmitter().mac();
        totals.xoff_frames += mac.xoff_frames;
        totals.xon_frames += mac.xon_frames;
        let counters = port.counters();
        totals.trimmed_frames += counters.trimmed_frames;
        totals.trimmed_bytes += counters.trimmed_bytes;
    }
}

/// Adds what was lost to faults and impairments.
fn add_faults(totals: &mut Totals, ports: &[PortRow]) {
    for port in ports {
        totals.lost_frames += port.lost_frames;
        totals.unsent_frames += port.unsent_frames;
        totals.watchdog_storms += port.watchdog_storms;
        totals.watchdog_dropped_frames += port.watchdog_dropped_frames;
    }
}

/// Adds the bytes that all links have carried, and the shares that were control packets and pauses.
fn add_wire(totals: &mut Totals, ports: &[PortRow]) {
    let sum = |bytes: fn(&PortRow) -> u64| ports.iter().map(bytes).sum::<u64>();
    let control = sum(|port| port.tx_control_wire_bytes);
    let pauses = sum(|port| port.tx_pause_wire_bytes);
    totals.wire_bytes = sum(|port| port.tx_data_wire_bytes) + control + pauses;
    if totals.wire_bytes > 0 {
        let percent = |bytes: u64| 100.0 * bytes as f64 / totals.wire_bytes as f64;
        (totals.control_wire, totals.pause_wire) = (percent(control), percent(pauses));
    }
}

/// Adds the time for which ports were paused, and names the port that was paused longest.
fn add_paused(totals: &mut Totals, ports: &[PortRow], context: &Context) {
    for port in ports.iter().filter(|port| !port.paused.is_zero()) {
        let node = NodeId::new(port.node);
        let sum = if context.topology.is_host(node) {
            &mut totals.nic_paused
        } else {
            &mut totals.switch_paused
        };
        *sum += port.paused;
        // Strictly longer: of equals the first is named.
        if port.paused > totals.most_paused {
            totals.most_paused = port.paused;
            totals.most_paused_port = Some(context.topology.port_name(node, port.port));
        }
    }
}

/// Explains why lossless frames may have been dropped, and what to do about it.
fn why_lossless_drops(context: &Context) -> &'static str {
    let mut rules = context.impairments.iter().flat_map(|link| &link.rules);
    if rules.any(|rule| matches!(rule.action, TesterAction::Hold(_))) {
        "an impairment holds frames back (`action: reorder`) and lets them go at once, for which no headroom is kept; \
         lower its `behind`, or set a `headroom` larger by as many frames as it holds back"
    } else if context
        .switches
        .iter()
        .any(|spec| spec.sharing.headroom_pool_bytes.is_some())
    {
        "the headroom that ports share (`headroom_pool`) ran out: raise it, or leave it out, and each port keeps its own"
    } else {
        "the headroom of their class is too small for the rate, the cables and the response time, for which \
         `headroom: model` is enough, or a watchdog sent frames on (`action: forward`), for which none is kept: let it \
         drop them"
    }
}

fn notes<D: Driver>(driver: &D, totals: &Totals, trial: &Trial<'_>) -> Notes {
    let mut notes = Notes::default();
    if let Some(stop) = &trial.stopped {
        notes.add(NoteCode::Stopped, &stop.why);
    }
    for left in trial.left_out {
        notes.add(NoteCode::FlowLevel, format!("at flow level {}", left.text));
    }
    if let Some(why) = trial.jumps_refused {
        let text = format!("`engine.steady_state: jump` jumps over nothing in this trial: {why}");
        notes.push(NoteRow::new(NoteCode::NoJumps, text).at("engine.steady_state"));
    }
    notes.extend(overflow::warning(driver));
    if driver.stats().central {
        notes.add(NoteCode::CentralEngine, format!(
            "in this fabric one node can affect another within {}, which is less than {CENTRAL_BELOW}, so windows go \
             from event to event: the results are the same, but the run is slower; longer cables or switch latencies \
             make it faster",
            Time::from_ps(driver.context().lookahead.least_ps),
        ));
    }
    let lossless = totals.lossless_dropped_frames;
    if lossless > 0 {
        notes.add(
            NoteCode::LosslessDrops,
            format!(
                "{lossless} frames of lossless classes were dropped: {}",
                why_lossless_drops(driver.context())
            ),
        );
    }
    let errors = driver.nodes().map(|(_, node)| match node {
        NodeModel::Host(host) => host.nic().errors().len(),
        NodeModel::Switch(_) => 0,
    });
    let gave_up: usize = errors.sum();
    if gave_up > 0 {
        let text = format!(
            "{gave_up} queue pairs gave up after {} timeouts (or NAKs, where they count) in a row; where their data arrived all the same, only the \
             acknowledgement was late: set `endpoint.nic.retransmission_timeout` above the longest round trip",
            driver.context().nic.retry_count + 1
        );
        let note = NoteRow::new(NoteCode::GaveUp, text);
        notes.push(note.at("endpoint.nic.retransmission_timeout"));
    }
    notes
}

fn engine<D: Driver>(driver: &D, threads: u16, ended: Instant, digest: Digest) -> EngineStats {
    let stats = driver.stats();
    let packet_hops = packet_hops(driver);
    let control = transmitters(driver, |transmitter| {
        let mac = transmitter.mac();
        transmitter.sent_control().0 + mac.xoff_frames + mac.xon_frames
    });
    EngineStats {
        engine: match (driver.context().has_packets(), stats.central) {
            // Flow level has no windows, whatever the lookahead.
            (false, _) => EngineKind::Flow,
            (true, true) => EngineKind::Central,
            (true, false) => EngineKind::Windowed,
        },
        packet_hops,
        data_packet_hops: packet_hops - control - notices::sent(driver) - credit::sent(driver),
        threads: u32::from(threads),
        digest: digest.to_hex(),
        windows: stats.windows,
        node_visits: stats.node_visits,
        window_ps: stats.window_ps,
        jumped_packet_hops: stats.jumped.packet_hops,
        jumped_periods: stats.jumped.periods,
        jumps: stats.jumped.jumps,
        jumped_ns: stats.jumped.time.as_ns(),
        simulated_ns: ended.since_start().as_ns(),
        ..EngineStats::default()
    }
}
