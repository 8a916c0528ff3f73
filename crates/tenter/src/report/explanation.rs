//! The text that `tenter explain` prints.

use std::fmt::{self, Write as _};

use crate::explain::{
    Bill, CircuitFacts, ClassFacts, Cost, CreditFacts, EcnAtRate, EcnFacts, EntropyFacts,
    Explanation, FabricFacts, IdealTime, JobFacts, OpticalPortFacts, PathClass, PcieFacts,
    PowerFacts, RecoveryFacts, ScheduledFacts, SwitchFacts, SwitchLine,
};

use crate::report::numbers::{binary_size, duration_s, grouped, si};
use crate::report::table::{FLOWS, GRAPH};
use crate::report::text_table::{TextColumn, TextTable};
use crate::report::time_unit::TimeUnit;

/// Formats an explanation for people: a block for each question, with a table if there are several
/// answers.
pub fn explanation_text(explanation: &Explanation) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(explanation, &mut text);
    text
}

/// Formats a run's cost, as in an explanation.
pub fn cost_text(cost: &Cost) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_cost(cost, &mut text);
    text
}

fn write(explanation: &Explanation, out: &mut String) -> fmt::Result {
    if !explanation.scenario.is_empty() {
        write!(out, "{}, ", explanation.scenario)?;
    }
    writeln!(out, "seed {}", explanation.seed)?;
    write_fabric(&explanation.fabric, out)?;
    write_paths(&explanation.paths, out)?;
    if let Some(switches) = explanation.longest_detour {
        writeln!(
            out,
            "These are the shortest paths; a detour passes up to {switches} switches."
        )?;
    }
    write_switch("switches", &explanation.switch, out)?;
    for tier in &explanation.tier_switches {
        write_switch(&format!("{} switches", tier.tier), &tier.switch, out)?;
    }
    if let Some(scheduled) = &explanation.scheduled {
        write_scheduled(scheduled, out)?;
    }
    if let Some(credit) = &explanation.credit {
        write_credit(credit, out)?;
    }
    if let Some(pcie) = &explanation.pcie {
        write_pcie(pcie, out)?;
    }
    if let Some(recovery) = &explanation.recovery {
        write_recovery(recovery, out)?;
    }
    if let Some(entropy) = &explanation.entropy {
        write_entropy(*entropy, out)?;
    }
    if let Some(circuits) = &explanation.circuits {
        write_circuits(circuits, out)?;
    }
    for job in &explanation.jobs {
        write_job(job, out)?;
    }
    write_cost(&explanation.cost, out)?;
    write_bill(&explanation.bill, out)?;
    if !explanation.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &explanation.notes {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

fn write_fabric(fabric: &FabricFacts, out: &mut String) -> fmt::Result {
    let bisection = fabric.bisection_gbps.map(|gbps| {
        let bound = if fabric.bisection_exact {
            ""
        } else {
            "at most "
        };
        format!(", bisection {bound}{}b/s", si(gbps * 1e9))
    });
    let planes = fabric.planes.map(|planes| format!(" on {planes} planes"));
    writeln!(
        out,
        "\nfabric: {}{}, {}, {}, {}{}",
        fabric.kind,
        planes.unwrap_or_default(),
        counted(fabric.hosts, "NIC"),
        counted(fabric.switches, "switch"),
        counted(fabric.cables, "cable"),
        bisection.unwrap_or_default(),
    )?;
    let mut table = TextTable::new(vec![
        TextColumn::name("tier"),
        TextColumn::number("switches", ""),
        TextColumn::number("ports", "at most"),
        TextColumn::number("down", ""),
        TextColumn::number("up", ""),
        TextColumn::number("oversubscription", ""),
    ]);
    for tier in &fabric.tiers {
        let ratio = match (tier.oversubscription_min, tier.oversubscription_max) {
            (Some(min), Some(max)) => span(min, max, |ratio| format!("{ratio:.2}")),
            _ => "-".to_owned(),
        };
        table.push(vec![
            tier.name.clone(),
            count(tier.switches),
            count(tier.ports_max),
            rate(tier.down_gbps),
            rate(tier.up_gbps),
            ratio,
        ]);
    }
    write!(out, "{table}")?;
    for pair in &fabric.pairs {
        writeln!(
            out,
            "  {} - {}: {} between each of {}, at {} Gb/s",
            pair.lower,
            pair.upper,
            span(pair.links_min, pair.links_max, count) + cables(pair.links_max),
            counted(pair.pairs, "pair"),
            span(pair.rate_min_gbps, pair.rate_max_gbps, whole),
        )?;
    }
    Ok(())
}

/// Formats many ports' total rate in the unit that it needs.
fn rate(gbps: f64) -> String {
    if gbps > 0.0 {
        format!("{}b/s", si(gbps * 1e9))
    } else {
        "-".to_owned()
    }
}

/// Maximum number of optical switch ports that are shown, and of changes.
const OPTICAL_ROWS: usize = 32;

fn write_circuits(circuits: &CircuitFacts, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\ncircuits: {} with {} each at most, {} ns through one; changes {} dark, {}",
        counted(circuits.optical_switches, "optical switch"),
        counted(circuits.ports_max, "port"),
        whole(circuits.delay_ns),
        span_of_time(circuits.reconfiguration_ns),
        if circuits.on_change == "drain" {
            "drained before"
        } else {
            "packets under way are lost"
        },
    )?;
    if let Some(spill) = circuits.spill_ns {
        let wait = span_of_time(spill);
        writeln!(
            out,
            "packets that would wait {wait} at circuits take the tree"
        )?;
    }
    match circuits.steering.as_deref() {
        Some("jobs") => writeln!(out, "steered when jobs start and end")?,
        Some(_) => writeln!(out, "steered by counters of NICs")?,
        None => {}
    }
    let mut table = TextTable::new(vec![
        TextColumn::name("switch"),
        TextColumn::number("port", ""),
        TextColumn::name("of"),
        TextColumn::number("joined with", ""),
        TextColumn::name("of"),
    ]);
    // Each circuit appears once, at its lower port.
    let once = |port: &&OpticalPortFacts| port.peer.is_none_or(|peer| port.port < peer);
    for port in circuits.ports.iter().filter(once).take(OPTICAL_ROWS) {
        table.push(vec![
            port.switch.clone(),
            port.port.to_string(),
            port.device.clone(),
            port.peer
                .map_or_else(|| "dark".to_owned(), |peer| peer.to_string()),
            port.peer_device.clone().unwrap_or_default(),
        ]);
    }
    write!(out, "{table}")?;
    write_more(circuits.ports.iter().filter(once).count(), out)?;
    for change in circuits.changes.iter().take(OPTICAL_ROWS) {
        let pairs = change.pairs.iter().map(|(a, b)| format!("{a} - {b}"));
        let dark = change.dark.iter().map(|port| format!("{port} dark"));
        let circuits: Vec<String> = pairs.chain(dark).collect();
        writeln!(
            out,
            "  at {} {}: {}",
            span_of_time(change.at_ns),
            change.switch,
            circuits.join(", ")
        )?;
    }
    write_more(circuits.changes.len(), out)
}

fn write_more(count: usize, out: &mut String) -> fmt::Result {
    match count.saturating_sub(OPTICAL_ROWS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more (--format json)"),
    }
}

fn write_paths(paths: &[PathClass], out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\nunloaded paths: round trip of the longest frame and its acknowledgement, BDP, and times of messages"
    )?;
    let round_trip = TimeUnit::of_all_ns(paths.iter().map(|path| path.round_trip_ns));
    let messages = paths.iter().flat_map(|path| &path.messages);
    let latency = TimeUnit::of_all_ns(messages.map(|message| message.latency_ns));
    let mut columns = vec![
        TextColumn::number("switches", ""),
        TextColumn::number("host pairs", ""),
        TextColumn::name("for example"),
        TextColumn::number("slowest", "Gb/s"),
        TextColumn::number("round trip", round_trip.name),
        TextColumn::number("BDP", "bytes"),
    ];
    let sizes = paths.first().map_or(&[][..], |path| &path.messages);
    let message = |bytes| TextColumn::number(&binary_size(bytes), latency.name);
    columns.extend(sizes.iter().map(|size| message(size.bytes)));
    let mut table = TextTable::new(columns);
    for path in paths {
        let mut cells = vec![
            path.switches.to_string(),
            path.host_pairs.map_or_else(|| "some".to_owned(), count),
            format!("{} - {}", path.from, path.to),
            whole(path.bottleneck_gbps),
            round_trip.number(path.round_trip_ns),
            count(path.bdp_bytes),
        ];
        let times = path.messages.iter();
        cells.extend(times.map(|message| latency.number(message.latency_ns)));
        table.push(cells);
    }
    write!(out, "{table}")
}

fn write_scheduled(scheduled: &ScheduledFacts, out: &mut String) -> fmt::Result {
    let memory = match (scheduled.leaf_bytes, scheduled.voq_bytes) {
        (Some(bytes), _) => format!("{} bytes at each leaf", count(bytes)),
        (None, Some(bytes)) => format!("{} bytes for each", count(bytes)),
        (None, None) => "unlimited memory".to_owned(),
    };
    writeln!(
        out,
        "\nscheduled fabric: virtual output queues with {memory}"
    )?;
    writeln!(
        out,
        "  a credit of {} bytes every {:.2} ns, which is {:.2} Gb/s; none at a port with {} bytes waiting",
        count(scheduled.credit_bytes),
        scheduled.credit_ns,
        scheduled.credit_gbps,
        count(scheduled.egress_buffer_bytes),
    )?;
    writeln!(
        out,
        "  the longest packet takes {:.1} % of its wire bytes in the fabric, whose speed-up is then {:.3}",
        scheduled.fabric_percent, scheduled.speed_up,
    )?;
    let times = [scheduled.control_ns, scheduled.cold_ns, scheduled.warm_ns];
    if let [Some(control), Some(cold), Some(warm)] = times {
        writeln!(
            out,
            "  a request or a credit takes {}; the longest packet {} without credit, and {} with",
            span_of_time(control),
            span_of_time(cold),
            span_of_time(warm),
        )?;
    }
    Ok(())
}

fn write_credit(credit: &CreditFacts, out: &mut String) -> fmt::Result {
    let lanes: Vec<String> = credit.lanes.iter().map(u8::to_string).collect();
    let noun = if lanes.len() == 1 { "lane" } else { "lanes" };
    writeln!(
        out,
        "\nsends by credit: {noun} {} with input buffers of {} bytes, or {} blocks; {} bytes at each port",
        lanes.join(", "),
        count(credit.lane_bytes),
        count(u64::from(credit.lane_blocks)),
        count(credit.port_bytes),
    )?;
    writeln!(
        out,
        "  credit returns {} after the start of a frame into {}; the link carries {} bytes in that time",
        span_of_time(credit.round_trip_ns),
        credit.link,
        count(credit.round_trip_bytes),
    )?;
    let verdict = match credit.short_links {
        0 => "all links keep their rates".to_owned(),
        short => format!(
            "{} of {} may not keep theirs",
            count(short),
            count(credit.links)
        ),
    };
    writeln!(
        out,
        "  with frames and flow-control packets of every {} bytes it needs {} to keep {} Gb/s: {verdict}",
        count(credit.update_bytes),
        count(credit.needed_bytes),
        whole(credit.link_gbps),
    )
}

fn write_switch(title: &str, switch: &SwitchFacts, out: &mut String) -> fmt::Result {
    let profile = switch.profile.as_deref();
    writeln!(
        out,
        "\n{title}: {}{}, {} ns",
        profile.map_or_else(String::new, |name| format!("{name}, ")),
        switch.forwarding,
        whole(switch.pipeline_ns),
    )?;
    for (number, pool) in switch.pools.iter().enumerate() {
        if let Some(bytes) = pool.bytes {
            writeln!(out, "  pool {number}: {} bytes shared", count(bytes))?;
        }
    }
    if let Some(bytes) = switch.headroom_pool_bytes {
        writeln!(
            out,
            "  headroom: {} bytes shared by all ports",
            count(bytes)
        )?;
    }
    if switch.partitions > 1 {
        writeln!(out, "  divided into {} equal parts", switch.partitions)?;
    }
    let mut table = TextTable::new(vec![
        TextColumn::number("class", ""),
        TextColumn::name("carries"),
        TextColumn::name("scheduling"),
        TextColumn::name("threshold"),
        TextColumn::number("empty pool", "bytes"),
        TextColumn::number("alone", "bytes"),
        TextColumn::number("reserved", "bytes"),
        TextColumn::number("headroom", "bytes/port"),
        TextColumn::name("marks"),
    ]);
    for class in &switch.classes {
        table.push(class_cells(class));
    }
    write!(out, "{table}")?;
    for class in &switch.classes {
        if let Some(lossless) = &class.lossless {
            writeln!(
                out,
                "  class {} pauses by {}; most headroom at {}, {} bytes in one switch",
                class.class,
                lossless.trigger,
                lossless.headroom_max_port,
                count(lossless.headroom_switch_max_bytes),
            )?;
        }
    }
    Ok(())
}

fn write_recovery(recovery: &RecoveryFacts, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\ncongestion control: a notification cuts a flow to {:.0} % of the line; alone, it is back at 90 % after {} and at the line after {}",
        recovery.cut_to_percent,
        span_of_time(recovery.nine_tenths_after_ns),
        span_of_time(recovery.line_after_ns),
    )
}

fn write_entropy(entropy: EntropyFacts, out: &mut String) -> fmt::Result {
    let goes_by = if entropy.learns {
        ", by marks and losses that answers tell of"
    } else {
        ", whatever becomes of packets"
    };
    writeln!(
        out,
        "\nentropy: `{}` of {} for each sender and receiver{goes_by}",
        entropy.kind,
        counted(entropy.values, "source port"),
    )
}

fn write_pcie(pcie: &PcieFacts, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\nPCIe: {} Gb/s, packets of {} bytes with {} bytes of overhead",
        whole(pcie.peak_gbps),
        pcie.max_payload_bytes,
        pcie.tlp_overhead_bytes,
    )?;
    let mut table = TextTable::new(vec![
        TextColumn::number("NICs", ""),
        TextColumn::name("for example"),
        TextColumn::number("line", "Gb/s payload"),
        TextColumn::number("DMA write", "Gb/s"),
        TextColumn::number("payload", "Gb/s"),
        TextColumn::number("of line", "%"),
        TextColumn::number("DMA read", "Gb/s"),
        TextColumn::number("payload", "Gb/s"),
        TextColumn::number("of line", "%"),
    ]);
    for nics in &pcie.nics {
        let mut cells = vec![
            count(nics.count),
            nics.example.clone(),
            format!("{:.1}", nics.line_payload_gbps),
        ];
        for direction in [nics.write, nics.read] {
            cells.push(format!("{:.1}", direction.link_gbps));
            cells.push(format!("{:.1}", direction.payload_gbps));
            cells.push(format!("{:.1}", direction.line_percent));
        }
        table.push(cells);
    }
    write!(out, "{table}")
}

fn class_cells(class: &ClassFacts) -> Vec<String> {
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), count);
    let headroom = class.lossless.as_ref().map(|lossless| {
        span(
            lossless.headroom_min_bytes,
            lossless.headroom_max_bytes,
            count,
        )
    });
    let marks = class.ecn.as_ref().map(marking);
    vec![
        class.class.to_string(),
        class.carries.clone(),
        class.scheduling.clone(),
        class.threshold.kind.clone(),
        bytes(class.threshold.empty_bytes),
        bytes(class.threshold.alone_bytes),
        count(class.reserved_bytes),
        headroom.unwrap_or_else(|| "-".to_owned()),
        marks.unwrap_or_else(|| "-".to_owned()),
    ]
}

/// Formats the queue lengths between which frames are marked, for each port rate if these differ.
fn marking(ecn: &EcnFacts) -> String {
    let span = |kmin: u64, kmax: u64| format!("{} to {} bytes", count(kmin), count(kmax));
    let differ = ecn
        .at_rates
        .iter()
        .any(|at| at.kmin_bytes != ecn.kmin_bytes);
    let spans = if differ {
        let at = |at: &EcnAtRate| {
            let span = span(at.kmin_bytes, at.kmax_bytes);
            format!("{span} at {}G", at.rate_gbps)
        };
        ecn.at_rates.iter().map(at).collect::<Vec<_>>().join(", ")
    } else {
        span(ecn.kmin_bytes, ecn.kmax_bytes)
    };
    format!("{spans}, up to {}", ecn.pmax)
}

fn write_job(job: &JobFacts, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\n{}: {} on {}, {}",
        job.name,
        counted(u64::from(job.ranks), "rank"),
        hosts(&job.hosts),
        rounds(job),
    )?;
    if let Some(before) = &job.after {
        writeln!(
            out,
            "  starts {} after the end of {before}",
            span_of_time(job.start_ns)
        )?;
    }
    let spans = [
        ("leaves", job.leaves, job.fewest_leaves),
        ("pods", job.pods, job.fewest_pods),
    ];
    for (what, groups, fewest) in spans {
        // Behind spines each leaf counts as a pod, so the second line would repeat the first.
        let differ = (job.pods, job.fewest_pods) != (job.leaves, job.fewest_leaves);
        if groups > fewest && (what != "pods" || differ) {
            let factor = f64::from(groups) / f64::from(fewest.max(1));
            writeln!(
                out,
                "  spans {groups} {what} where {fewest} would suffice: fragmentation {factor:.2}"
            )?;
        }
    }
    if job.compute_ns > 0.0 {
        let ms = job.compute_ns / 1e6;
        writeln!(out, "  computes {ms:.3} ms in each round of the list")?;
    }
    if job.collectives.is_empty() {
        return Ok(());
    }
    write_ideal_times(&job.collectives, out)
}

/// Writes the ideal time for each collective and size.
fn write_ideal_times(ideals: &[IdealTime], out: &mut String) -> fmt::Result {
    let unit = TimeUnit::of_all_ns(ideals.iter().map(|ideal| ideal.ideal_ns));
    let mut table = TextTable::new(vec![
        TextColumn::name("collective"),
        TextColumn::name("algorithm"),
        TextColumn::number("size", ""),
        TextColumn::number("transfers", ""),
        TextColumn::number("time", unit.name),
        TextColumn::number("busbw", "GB/s"),
    ]);
    for ideal in ideals {
        table.push(vec![
            ideal.collective.clone(),
            ideal.algorithm.clone(),
            binary_size(ideal.size_bytes),
            count(ideal.transfers),
            unit.number(ideal.ideal_ns),
            ideal
                .ideal_busbw_gbytes_per_s
                .map_or_else(|| "-".to_owned(), |busbw| format!("{busbw:.2}")),
        ]);
    }
    write!(out, "{table}")?;
    if ideals.iter().any(|ideal| ideal.collective == GRAPH) {
        writeln!(
            out,
            "  of operations the time is a lower bound: what the busiest port sends or the busiest stream computes; \
             waits of ranks for each other, such as the bubble of a pipeline, come in addition"
        )?;
    }
    Ok(())
}

fn rounds(job: &JobFacts) -> String {
    match (job.flows, job.background) {
        (0, false) if job.rounds == 1 => format!("run once; {}", times_of(job)),
        (0, false) => format!("run {}; {}", counted(job.rounds, "time"), times_of(job)),
        (0, true) => "in the background for as long as the others run; ideal times".to_owned(),
        (flows, _) => {
            let flows = counted(flows, "continuous flow");
            format!("{flows} for as long as the others run")
        }
    }
}

/// Returns what kind of times a job's table has.
fn times_of(job: &JobFacts) -> &'static str {
    let drawn = |ideal: &IdealTime| ideal.collective == FLOWS;
    if !job.collectives.is_empty() && job.collectives.iter().all(drawn) {
        "expected values, because sizes and starts are drawn"
    } else {
        "ideal times"
    }
}

/// Formats a job's hosts, as far as they fit on a line.
fn hosts(stretches: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = stretches.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    let rest = match stretches.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("hosts {}{rest}", shown.join(", "))
}

fn write_cost(cost: &Cost, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "\ncost of a run, {}",
        if cost.exact {
            "every transfer counted"
        } else {
            "estimated from some of the transfers"
        }
    )?;
    // `si` ends with a space where it has no prefix; here no unit follows.
    let hops = si(cost.packet_hops);
    let hops = hops.trim_end();
    let flows = counted(cost.flows, "flow");
    let is_of_flows = cost.level == "flow";
    if is_of_flows {
        writeln!(
            out,
            "  flows      {flows} at flow level, in place of {hops} packet-hops"
        )?;
    } else {
        writeln!(
            out,
            "  packets    {hops} packet-hops, {} of them data, in {flows}; pauses and retransmissions come in addition",
            si(cost.data_packet_hops).trim_end(),
        )?;
    }
    writeln!(
        out,
        "  simulated  {} ms or more",
        whole(cost.simulated_ns / 1e6)
    )?;
    let hops = if is_of_flows {
        String::new()
    } else {
        format!("{:.0} ns a packet-hop and ", cost.ns_per_packet_hop)
    };
    writeln!(
        out,
        "  time       {} on one thread at {hops}{:.1} us a flow",
        duration_s(cost.wall_s),
        cost.ns_per_flow / 1e3,
    )?;
    let memory = &cost.memory;
    let parts = [
        (memory.process_bytes, "program"),
        (memory.fabric_bytes, "fabric"),
        (memory.queue_pairs_bytes, "queue pairs"),
        (memory.flows_bytes, "flows"),
        (memory.packets_bytes, "packets in queues"),
        (memory.tables_bytes, "tables"),
        (memory.operations_bytes, "operations"),
    ];
    // A part of 0 bytes was not estimated, such as the queues of a load, and is left out.
    let parts = parts.iter().filter(|(bytes, _)| *bytes > 0);
    let parts: Vec<String> = parts
        .map(|&(bytes, of)| format!("{of} {}B", si(bytes as f64)))
        .collect();
    writeln!(
        out,
        "  memory     {}B: {}",
        si(cost.peak_bytes as f64),
        parts.join(", ")
    )
}

fn write_power(power: &PowerFacts, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "  static power by `{}`: switches {} W, their ports {} W, cable ends {} W, optical switches {} W; {} W in all",
        power.profile,
        whole(power.switches_watts),
        whole(power.ports_watts),
        whole(power.cable_ends_watts),
        whole(power.optical_switches_watts),
        whole(power.static_watts),
    )?;
    writeln!(
        out,
        "  power with all NICs at line rate: static {:.3} W per Gb/s; dynamic {:.2} to {:.2} pJ per bit, {} W at most",
        power.static_watts_per_gbps,
        power.least_pj_per_bit,
        power.most_pj_per_bit,
        whole(power.dynamic_watts_at_most),
    )
}

fn write_bill(bill: &Bill, out: &mut String) -> fmt::Result {
    writeln!(out, "\nbill of materials")?;
    for (gbps, nics) in &bill.nics {
        writeln!(out, "  {} at {} Gb/s", counted(*nics, "NIC"), whole(*gbps))?;
    }
    for switch in &bill.switches {
        write_switches(switch, out)?;
    }
    for cable in &bill.cables {
        writeln!(
            out,
            "  {} {} at {} Gb/s, {} ns (about {} m)",
            counted(cable.count, "cable"),
            cable.between,
            whole(cable.rate_gbps),
            whole(cable.delay_ns),
            whole(cable.length_m),
        )?;
    }
    if let (Some(watts), Some(each)) = (bill.switch_chips_watts, bill.watts_per_nic) {
        writeln!(
            out,
            "  power of the switch chips {} W, {} W for each NIC",
            count(watts),
            whole(each)
        )?;
    }
    if let Some(power) = &bill.power {
        write_power(power, out)?;
    }
    for open in &bill.not_known {
        writeln!(out, "  not known: {open}")?;
    }
    Ok(())
}

fn write_switches(switch: &SwitchLine, out: &mut String) -> fmt::Result {
    let ports = switch.ports.iter();
    let ports =
        ports.map(|(ports, gbps)| format!("{} at {} Gb/s", counted(*ports, "port"), whole(*gbps)));
    let ports: Vec<String> = ports.collect();
    write!(
        out,
        "  {}: {}",
        counted(switch.count, &format!("{} switch", switch.tier)),
        ports.join(" and "),
    )?;
    match switch.device_percent {
        Some(percent) if percent > 100.0 => {
            writeln!(out, ", which one device does not have ({percent:.0} %)")
        }
        Some(percent) => writeln!(out, ", {percent:.0} % of the device"),
        None => writeln!(out),
    }
}

/// Formats one value, or the least and the greatest.
fn span<T: PartialEq + Copy>(min: T, max: T, text: impl Fn(T) -> String) -> String {
    if min == max {
        text(min)
    } else {
        format!("{} to {}", text(min), text(max))
    }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), ending(number, noun))
}

fn cables(number: u64) -> &'static str {
    if number == 1 { " cable" } else { " cables" }
}

fn ending(number: u64, noun: &str) -> &'static str {
    match number {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    }
}

/// Formats a number with at most three decimals and no trailing zeros.
fn whole(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    if rest.is_empty() {
        whole
    } else {
        format!("{whole}.{rest}")
    }
}

/// Formats a time in the unit in which it is a readable number: `1 ms`.
fn span_of_time(ns: f64) -> String {
    let unit = TimeUnit::of_ns(ns);
    format!("{} {}", whole(ns / unit.ns), unit.name)
}
