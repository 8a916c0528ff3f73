//! From measurements to the table and to JSON.

use serde::Serialize;

use crate::cases::{Case, Traffic};
use crate::failure::Failure;
use crate::machine;
use crate::once::Measured;
use crate::rounds::Manner;

/// One line: what a case is, what was measured, and what follows from it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    case: &'static str,
    hosts: u32,
    #[serde(flatten)]
    measured: Measured,
    million_packet_hops_per_s: f64,
    ns_per_packet_hop: f64,
    ns_per_data_packet_hop: f64,
    /// Missing for the kernel itself.
    ratio_to_kernel: Option<f64>,
    idle_bytes_per_host: f64,
    /// Missing for the kernel, which has no flows.
    bytes_per_flow: Option<f64>,
}

#[derive(Serialize)]
struct Report<'a> {
    machine: String,
    runs: u32,
    shortened: u64,
    threads: u16,
    on_core: bool,
    cases: &'a [Row],
}

/// The rows of cases and their measurements, which are in the same order.
pub(crate) fn rows(cases: &[Case], measured: &[Measured]) -> Vec<Row> {
    let ns_per_hop = |name: &str| {
        let found = cases
            .iter()
            .zip(measured)
            .find(|(case, _)| case.name == name);
        found.map(|(_, measured)| measured.run_s * 1e9 / measured.packet_hops as f64)
    };
    let row = |(case, measured): (&Case, &Measured)| {
        let kernel = case.traffic == Traffic::Kernel;
        let hops = measured.packet_hops as f64;
        let ns_per_packet_hop = measured.run_s * 1e9 / hops;
        let floor = ns_per_hop(case.kernel().name).filter(|_| !kernel);
        let on_the_way = measured.peak_bytes.saturating_sub(measured.idle_bytes);
        Row {
            case: case.name,
            hosts: case.fabric.hosts(),
            measured: measured.clone(),
            million_packet_hops_per_s: hops / measured.run_s / 1e6,
            ns_per_packet_hop,
            ns_per_data_packet_hop: measured.run_s * 1e9 / measured.data_packet_hops as f64,
            ratio_to_kernel: floor.map(|floor| ns_per_packet_hop / floor),
            idle_bytes_per_host: measured.idle_bytes as f64 / f64::from(case.fabric.hosts()),
            bytes_per_flow: (!kernel).then(|| on_the_way as f64 / measured.flows as f64),
        }
    };
    cases.iter().zip(measured).map(row).collect()
}

/// Everything, for programs.
pub(crate) fn json(rows: &[Row], manner: Manner) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(&Report {
        machine: machine::describe(),
        runs: manner.runs,
        shortened: manner.shorten,
        threads: manner.threads,
        on_core: manner.on_core,
        cases: rows,
    })?)
}

/// Waiting for a core longer than this is worth telling.
const BUSY_SHARE: f64 = 0.03;

const COLUMNS: [&str; 13] = [
    "case",
    "hosts",
    "flows",
    "packet-hops (M)",
    "M packet-hops/s",
    "ns/packet-hop",
    "ns/data packet-hop",
    "× kernel",
    "set-up (s)",
    "idle B/host",
    "B/flow",
    "peak (MiB)",
    "digest",
];

/// A table that reads well on a terminal and is Markdown.
pub(crate) fn markdown(rows: &[Row], manner: Manner) -> String {
    let mut lines = vec![COLUMNS.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..COLUMNS.len())
        .map(|column| {
            let cells = lines.iter().map(|line| line[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate();
        let padded = padded.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths
        .iter()
        .enumerate()
        .map(|(column, &width)| match column {
            0 => "-".repeat(width),
            _ => format!("{}:", "-".repeat(width - 1)),
        });
    let mut text = line(&lines[0]);
    text.push_str(&line(&rule.collect::<Vec<_>>()));
    for cells in &lines[1..] {
        text.push_str(&line(cells));
    }
    format!(
        "{text}\nBest of {}, {}, threads: {}, {}.{}",
        manner.runs,
        if manner.on_core {
            "time on a core"
        } else {
            "wall time"
        },
        manner.threads,
        machine::describe(),
        busy(rows)
    )
}

/// A word on cases that did not have a core to themselves even in their best run.
fn busy(rows: &[Row]) -> String {
    let waited = rows.iter().filter_map(|row| {
        let on_core = row.measured.run_on_core_s?;
        let share = 1.0 - on_core / row.measured.run_s;
        (share > BUSY_SHARE).then(|| format!("{} {:.0} %", row.case, share * 100.0))
    });
    let waited: Vec<String> = waited.collect();
    if waited.is_empty() {
        return String::new();
    }
    format!(
        "\nThe machine was busy; share of the best run spent waiting for a core: {}.",
        waited.join(", ")
    )
}

fn cells(row: &Row) -> [String; COLUMNS.len()] {
    let measured = &row.measured;
    let optional = |value: Option<f64>, decimals: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    [
        row.case.to_owned(),
        row.hosts.to_string(),
        measured.flows.to_string(),
        format!("{:.1}", measured.packet_hops as f64 / 1e6),
        format!("{:.1}", row.million_packet_hops_per_s),
        format!("{:.1}", row.ns_per_packet_hop),
        format!("{:.1}", row.ns_per_data_packet_hop),
        optional(row.ratio_to_kernel, 2),
        format!("{:.3}", measured.set_up_s),
        format!("{:.0}", row.idle_bytes_per_host),
        optional(row.bytes_per_flow, 0),
        format!("{:.1}", measured.peak_bytes as f64 / f64::from(1 << 20)),
        measured.digest.chars().take(8).collect(),
    ]
}
