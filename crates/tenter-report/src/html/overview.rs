//! The head of a trial in a report: its run, its outcome, and the table of its collectives.

use std::collections::{BTreeMap, BTreeSet};

use tenter_record::{
    CollectiveRow, InterferenceRow, JobSummary, Notes, PowerRow, Severity, Summary,
};
use tenter_units::Time;

use super::text::{Unit, add, count, escape, fixed, moved, number, time};
use crate::numbers::{binary_size, duration_s, grouped};
use crate::table::{RateColumn, is_load_of_flows, of_trial, pause_word, rate_columns};
use crate::trial_data::TrialData;
use tenter_record::Tiers;

/// Adds the head and the results.
pub(super) fn section(id: usize, trial: &TrialData, tiers: &Tiers, page: &mut String) {
    let summary = &trial.summary;
    add(
        page,
        format_args!("<section id=\"results{id}\"><h2>Results</h2>"),
    );
    tiles(summary, page);
    notes(Severity::Warning, &summary.notes, page);
    for job in &summary.jobs {
        job_table(job, page);
    }
    interference(&summary.interference, page);
    notes(Severity::Note, &summary.notes, page);
    facts(trial, tiers, page);
    page.push_str("</section>\n");
}

/// One number at the head of a page: its name, and a remark.
pub(super) fn tile(name: &str, value: &str, about: &str, page: &mut String) {
    add(
        page,
        format_args!(
            "<div class=\"tile\"><dt>{name}</dt><dd>{}</dd><p>{}</p></div>",
            escape(value),
            escape(about)
        ),
    );
}

/// The name of the end of a job.
fn name_of_end(job: &JobSummary) -> &'static str {
    if is_load_of_flows(job) {
        "Last flow ended after"
    } else {
        "Job completion time"
    }
}

fn tiles(summary: &Summary, page: &mut String) {
    page.push_str("<dl class=\"tiles\">");
    let jobs = summary.measured_jobs().count();
    match summary
        .longest_job()
        .and_then(|job| Some((job, job.job.jct?)))
    {
        Some((job, jct)) => {
            let about = if jobs > 1 {
                format!("the longest of {jobs} jobs, {}", job.job.name)
            } else {
                format!("job {}, {} ranks", job.job.name, job.job.ranks)
            };
            tile(name_of_end(job), &time(jct.as_ns()), &about, page);
        }
        None => tile("Job completion time", "–", "no job was completed", page),
    }
    if let Some((job, row)) = summary.lowest_ideal() {
        let of = format!("{} of {}", row.collective, binary_size(row.size_bytes));
        let about = if jobs > 1 {
            format!("{}: {of}", job.job.name)
        } else {
            of
        };
        let value = Unit::of("%").show(row.percent_of_ideal.unwrap_or(0.0), 4);
        tile("Lowest share of ideal", &value, &about, page);
    }
    let totals = &summary.totals;
    let dropped = totals.dropped_frames + totals.nic_dropped_frames;
    let on_links = totals.lost_frames + totals.unsent_frames;
    let about = format!(
        "of {} sent; {}{} retransmitted",
        count(totals.tx_frames),
        if on_links > 0 {
            format!("{} dropped, {} on links; ", count(dropped), count(on_links))
        } else {
            String::new()
        },
        count(totals.retransmitted_frames)
    );
    tile("Frames lost", &count(dropped + on_links), &about, page);
    let paused = totals.nic_paused + totals.switch_paused;
    let about = totals.most_paused_port.as_ref().map_or_else(
        || "no port was paused".to_owned(),
        |port| {
            let longest = time(totals.most_paused.as_ns());
            format!("longest {port}: {longest}{}", of_trial(summary))
        },
    );
    let value = if paused.is_zero() {
        "never".to_owned()
    } else {
        time(paused.as_ns())
    };
    tile("Ports paused, in sum", &value, &about, page);
    let about = format!("{} congestion notifications", count(totals.cnp_frames));
    tile(
        "Frames marked (ECN)",
        &count(totals.marked_frames),
        &about,
        page,
    );
    if let Some(power) = &summary.power {
        power_tile(power, page);
    }
    page.push_str("</dl>\n");
}

/// The power of the fabric, and its use.
fn power_tile(power: &PowerRow, page: &mut String) {
    let unit = Unit::of("W");
    let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| unit.show(v, 4));
    let about = format!(
        "static, and {} dynamic; {} and {} per Gb/s delivered",
        shown(power.dynamic_power),
        shown(power.static_per_gbps),
        shown(power.dynamic_per_gbps)
    );
    let watts = shown(Some(power.static_power));
    tile("Power of the fabric", &watts, &about, page);
}

pub(super) fn notes(severity: Severity, notes: &Notes, page: &mut String) {
    let mut texts = notes
        .iter()
        .filter(|note| note.severity == severity)
        .peekable();
    if texts.peek().is_none() {
        return;
    }
    let (class, title) = match severity {
        Severity::Warning => ("warnings", "Read this before the numbers"),
        Severity::Note => ("notes", "Notes"),
    };
    add(
        page,
        format_args!("<aside class=\"{class}\"><h3>{title}</h3><ul>"),
    );
    for text in texts {
        add(page, format_args!("<li>{}</li>", escape(&text.text)));
    }
    page.push_str("</ul></aside>\n");
}

/// Units of the times of a table, so that a column has one.
fn unit_of(times: impl Iterator<Item = Option<Time>>) -> Unit {
    Unit::time(times.flatten().map(Time::as_ns).fold(0.0, f64::max))
}

/// The matrix of slowdowns: each measured job alone, beside all others, and beside each of them.
fn interference(rows: &[InterferenceRow], page: &mut String) {
    if rows.is_empty() {
        return;
    }
    // In the order of the scenario.
    let beside = |row: &InterferenceRow| Some((row.beside?, row.beside_name.clone()?));
    let others: BTreeMap<u32, String> = rows.iter().filter_map(beside).collect();
    page.push_str(
        "<h3>How much jobs slow each other down <small>completion time beside others over that alone\
         </small></h3><div class=\"scroll\"><table><thead><tr><th>job</th>\
         <th class=\"n\">alone</th><th class=\"n\">beside all</th><th class=\"n\">slowdown</th>",
    );
    for name in others.values() {
        add(page, format_args!("<th class=\"n\">{}</th>", escape(name)));
    }
    page.push_str("</tr></thead><tbody>\n");
    let ratio = |row: Option<&InterferenceRow>| {
        let slow_down = row.and_then(|row| row.slow_down);
        slow_down.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"))
    };
    let text = |at: Option<Time>| at.map_or_else(|| "–".to_owned(), |at| time(at.as_ns()));
    for all in rows.iter().filter(|row| row.beside.is_none()) {
        add(
            page,
            format_args!(
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
                escape(&all.job_name),
                text(all.alone),
                text(all.together),
                ratio(Some(all))
            ),
        );
        for &other in others.keys() {
            let mut pairs = rows.iter().filter(|row| row.job == all.job);
            let pair = pairs.find(|row| row.beside == Some(other));
            let cell = if other == all.job {
                String::new()
            } else {
                ratio(pair)
            };
            add(page, format_args!("<td class=\"n\">{cell}</td>"));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

fn job_table(job: &JobSummary, page: &mut String) {
    let row = &job.job;
    let state = match (row.jct, &row.failure) {
        _ if row.background => format!("background, {} received", moved(row.rx_bytes)),
        (_, Some(failure)) => format!("not completed: {failure}"),
        (Some(jct), None) if is_load_of_flows(job) => {
            format!("last flow ended after {}", time(jct.as_ns()))
        }
        (Some(jct), None) => format!("completed in {}", time(jct.as_ns())),
        (None, None) => "not completed".to_owned(),
    };
    add(
        page,
        format_args!(
            "<h3>{} <small>{} ranks, {}</small></h3>",
            escape(&row.name),
            grouped(i64::from(row.ranks)),
            escape(&state)
        ),
    );
    let rows = &job.collectives;
    if rows.is_empty() {
        return;
    }
    let whole = unit_of(rows.iter().map(|row| row.completion_time));
    let flow = unit_of(rows.iter().map(|row| row.fct_max));
    let iterations = rows.iter().any(|row| row.iteration > 0);
    let iteration_head = if iterations {
        "<th class=\"n\">iteration</th>"
    } else {
        ""
    };
    let rates = rate_columns(rows.iter());
    let rate_heads = rates.iter().fold(String::new(), |mut heads, rate| {
        let (name, unit) = (rate.name, rate.unit);
        add(
            &mut heads,
            format_args!("<th class=\"n\">{name}<br>{unit}</th>"),
        );
        heads
    });
    add(
        page,
        format_args!(
            "<div class=\"scroll\"><table><thead><tr><th>collective</th><th class=\"n\">size</th>{iteration_head}<th class=\"n\">time<br>{0}</th>{rate_heads}<th class=\"n\">FCT min<br>{1}</th><th class=\"n\">P50<br>{1}</th><th class=\"n\">P99<br>{1}</th><th class=\"n\">max<br>{1}</th><th class=\"n\">frames<br>sent</th><th class=\"n\">frames not<br>accepted</th><th class=\"n\">frames<br>retransmitted</th></tr></thead><tbody>",
            whole.name, flow.name
        ),
    );
    for row in rows {
        collective_row(row, [whole, flow], rates, iterations, page);
    }
    page.push_str("</tbody></table></div>\n");
}

fn collective_row(
    row: &CollectiveRow,
    [whole, flow]: [Unit; 2],
    rates: &[RateColumn],
    iterations: bool,
    page: &mut String,
) {
    let name = format!("{}, {}", row.collective, row.algorithm);
    let warm_up = if row.warm_up { " (warm-up)" } else { "" };
    add(
        page,
        format_args!(
            "<tr><td>{}</td><td class=\"n\">{}</td>",
            escape(&name),
            binary_size(row.size_bytes)
        ),
    );
    if iterations {
        add(
            page,
            format_args!("<td class=\"n\">{}{warm_up}</td>", row.iteration),
        );
    }
    let span = |time: Option<Time>, unit: Unit| {
        time.map_or_else(|| "–".to_owned(), |t| fixed(t.as_ns() / unit.factor, 4))
    };
    let float = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| fixed(v, 4));
    let mut cells = vec![span(row.completion_time, whole)];
    cells.extend(rates.iter().map(|rate| float((rate.of)(row))));
    cells.extend([
        span(row.fct_min, flow),
        span(row.fct_p50, flow),
        span(row.fct_p99, flow),
        span(row.fct_max, flow),
        count(row.tx_frames),
        grouped(row.frames_delta()),
        count(row.retransmitted_frames),
    ]);
    for cell in cells {
        add(page, format_args!("<td class=\"n\">{cell}</td>"));
    }
    page.push_str("</tr>");
}

/// The run: its content, place and time.
fn facts(trial: &TrialData, tiers: &Tiers, page: &mut String) {
    let summary = &trial.summary;
    let manifest = &trial.manifest;
    let switches = trial.switches.len();
    let rates: BTreeSet<u64> = trial
        .ports
        .iter()
        .map(|port| port.rate_gbps as u64)
        .collect();
    let rates: Vec<String> = rates.iter().map(u64::to_string).collect();
    let of_nics = trial.ports.iter().map(|port| port.node);
    let nics: BTreeSet<u32> = of_nics.filter(|&node| tiers.tier(node) == 0).collect();
    let nics = nics.len();
    let commit = manifest.run.commit.as_deref().unwrap_or("unknown commit");
    let processor = manifest.machine.cpu_model.as_deref().unwrap_or("unknown");
    let facts = [
        (
            "Fabric",
            format!(
                "{} NICs, {switches} switches, {} links at {} Gb/s",
                count(nics as u64),
                count(trial.ports.len() as u64 / 2),
                rates.join(" and ")
            ),
        ),
        (
            "Traffic",
            format!(
                "{} flows, {} on all links, {}% of it control packets, {}% {}",
                count(summary.totals.flows),
                moved(summary.totals.wire_bytes),
                number(summary.totals.control_wire, 2),
                number(summary.totals.pause_wire, 2),
                pause_word(&summary.totals)
            ),
        ),
        (
            "Simulated",
            format!(
                "{} in {}, {} packet-hops",
                time(summary.engine.simulated_ns),
                duration_s(summary.engine.wall_s),
                count(summary.engine.packet_hops)
            ),
        ),
        ("Seed", summary.seed.to_string()),
        ("Digest", summary.engine.digest.clone()),
        (
            "Program",
            format!("Tenter {}, {commit}", summary.tenter_version),
        ),
        ("Run", format!("{}, on {processor}", manifest.started_utc)),
        ("Command", manifest.run.command.join(" ")),
    ];
    page.push_str("<h3>About this trial</h3><dl class=\"facts\">");
    for (name, value) in facts {
        add(
            page,
            format_args!("<dt>{name}</dt><dd>{}</dd>", escape(&value)),
        );
    }
    page.push_str("</dl>\n");
}
