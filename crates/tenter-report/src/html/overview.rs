//! The head of a trial in a report: its run, its outcome, and the table of its collectives.

use std::collections::BTreeSet;

use tenter_record::{Notes, Severity, Tiers};

use super::text::{add, count, escape, moved, number, time};
use crate::numbers::duration_s;
use crate::table::{CaptionedTable, Section, pause_word, sections, tiles};
use crate::text_table::{Align, TextTable};
use crate::trial_data::TrialData;

/// Adds the head and the results.
pub(super) fn section(id: usize, trial: &TrialData, tiers: &Tiers, page: &mut String) {
    let summary = &trial.summary;
    add(
        page,
        format_args!("<section id=\"results{id}\"><h2>Results</h2>"),
    );
    page.push_str("<dl class=\"tiles\">");
    for of in tiles(summary) {
        tile(of.label, &of.value, &of.note, page);
    }
    page.push_str("</dl>\n");
    notes(Severity::Warning, &summary.notes, page);
    for section in sections(summary) {
        answer(&section, page);
    }
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

/// An answer as the terminal prints it.
pub(super) fn answer(section: &Section, page: &mut String) {
    add(page, format_args!("<h3>{}</h3>", escape(&section.title)));
    for line in &section.lines {
        add(page, format_args!("<p class=\"lead\">{}</p>", escape(line)));
    }
    for CaptionedTable { caption, table } in &section.tables {
        if table.columns().is_empty() {
            add(
                page,
                format_args!("<p class=\"lead\">{}</p>", escape(caption)),
            );
        } else {
            text_table(caption, table, page);
        }
    }
    if !section.remark.is_empty() {
        let remark = escape(&section.remark);
        add(page, format_args!("<p class=\"lead\">{remark}</p>"));
    }
}

/// A table with the texts of its cells.
fn text_table(caption: &str, table: &TextTable, page: &mut String) {
    let class = |column: usize| match table.columns()[column].align {
        Align::Left => "",
        Align::Right => " class=\"n\"",
    };
    page.push_str("<div class=\"scroll\"><table>");
    if !caption.is_empty() {
        add(page, format_args!("<caption>{}</caption>", escape(caption)));
    }
    page.push_str("<thead><tr>");
    for (place, column) in table.columns().iter().enumerate() {
        let unit = match column.unit.as_str() {
            "" => String::new(),
            unit => format!("<br>{}", escape(unit)),
        };
        let (class, name) = (class(place), escape(&column.name));
        add(page, format_args!("<th{class}>{name}{unit}</th>"));
    }
    page.push_str("</tr></thead><tbody>");
    for row in table.rows() {
        page.push_str("<tr>");
        for (place, cell) in row.iter().enumerate().take(table.columns().len()) {
            add(
                page,
                format_args!("<td{}>{}</td>", class(place), escape(cell)),
            );
        }
        page.push_str("</tr>");
    }
    page.push_str("</tbody></table></div>\n");
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
