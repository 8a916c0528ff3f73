//! The fabric's links, tier by tier, coloured by load, pauses, drops or queues.

use std::collections::BTreeMap;

use tenter_results::PortRow;

use super::link_metrics::METRICS;
use super::plot::{Cell, CellMetric, CellRow, Cells, Num, Picture, Plot};
use super::text::{add, count, number};
use crate::report::trial_data::TrialData;
use tenter_results::{Direction, Tiers};

/// Maximum number of cells per direction; beyond it, neighbours share a cell that shows the
/// greatest value.
const CELLS: usize = 4_096;
/// Maximum number of rows in a picture of one direction.
const ROWS: usize = 128;

/// Heading above the pictures of links.
pub(super) const TITLE: &str = "Links";

/// Draws each tier's links in each direction: upwards from the NICs, then down again.
pub(super) fn pictures(trial: &TrialData, tiers: &Tiers) -> Vec<Picture> {
    let mut directions: BTreeMap<Direction, Vec<&PortRow>> = BTreeMap::new();
    for port in &trial.ports {
        directions
            .entry(tiers.direction(port))
            .or_default()
            .push(port);
    }
    let metrics = metrics(&trial.ports);
    let (up, down): (Vec<_>, Vec<_>) = directions.iter().partition(|(way, _)| way.is_upward());
    // The order in which a packet passes them.
    let ordered = up.into_iter().chain(down.into_iter().rev());
    ordered
        .map(|(&way, ports)| direction(tiers.direction_name(way), way, ports, &metrics))
        .collect()
}

/// Describes the metrics; any link's greatest value has the full colour.
fn metrics(ports: &[PortRow]) -> [CellMetric<'static>; 4] {
    let ports: Vec<&PortRow> = ports.iter().collect();
    METRICS.each_ref().map(|of| CellMetric {
        key: of.word,
        name: of.name,
        unit: of.unit,
        full: Num(of.full(of.most(&ports).max(0.0))),
        warns: of.word == "d",
    })
}

/// Draws all links from one tier to another.
fn direction(
    name: String,
    way: Direction,
    ports: &[&PortRow],
    metrics: &[CellMetric<'_>],
) -> Picture {
    // NICs have one port each, which would be a row with one cell. They are put into the row of
    // their switch.
    let mut rows: Vec<(&str, Vec<&PortRow>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for &port in ports {
        let row = if way.from == 0 && way.to != 0 {
            port.peer_name.as_str()
        } else {
            port.node_name.as_str()
        };
        let place = *places.entry(row).or_insert_with(|| {
            rows.push((row, Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(port);
    }
    let per_row = rows.len().div_ceil(ROWS);
    let merged: Vec<(String, Vec<&PortRow>)> = rows
        .chunks(per_row)
        .map(|rows| {
            let label = match rows {
                [one] => one.0.to_owned(),
                _ => format!("{} …", rows[0].0),
            };
            (label, rows.iter().flat_map(|row| row.1.clone()).collect())
        })
        .collect();
    let title = format!("Links {name}");
    let cells = Plot::Cells(Cells {
        title: &title,
        metrics,
        rows: cells(&merged),
    });
    let lead = format!(
        "{} links; {}",
        count(ports.len() as u64),
        utilisation(ports)
    );
    cells.picture(name, lead)
}

/// Describes the utilisation at ports whose counters were read.
fn utilisation(ports: &[&PortRow]) -> String {
    let read = ports
        .iter()
        .filter(|port| !port.unread.lacks("utilisation"));
    let shares: Vec<f64> = read.map(|port| port.utilisation).collect();
    if shares.is_empty() {
        return "their utilisation was not read".to_owned();
    }
    let unread = ports.len() - shares.len();
    let percent = |share: f64| number(share * 100.0, 3);
    let mut text = format!(
        "utilisation {}% on average, {}% to {}%",
        percent(shares.iter().sum::<f64>() / shares.len() as f64),
        percent(shares.iter().copied().fold(f64::INFINITY, f64::min)),
        percent(shares.iter().copied().fold(0.0, f64::max)),
    );
    if unread > 0 {
        add(
            &mut text,
            format_args!("; {} were not read", count(unread as u64)),
        );
    }
    text
}

/// Divides rows into cells; neighbours share a cell if there are too many.
fn cells(rows: &[(String, Vec<&PortRow>)]) -> Vec<CellRow> {
    let total: usize = rows.iter().map(|row| row.1.len()).sum();
    // One number for all rows, so that cells of different rows mean the same.
    let per_cell = total.div_ceil(CELLS).max(1);
    let row = |(name, ports): &(String, Vec<&PortRow>)| CellRow {
        name: name.clone(),
        cells: ports.chunks(per_cell).map(cell).collect(),
    };
    rows.iter().map(row).collect()
}

fn cell(ports: &[&PortRow]) -> Cell {
    let name = match ports {
        [port] => format!("{}:{} → {}", port.node_name, port.port, port.peer_name),
        _ => format!(
            "{}:{} and {} more, the greatest",
            ports[0].node_name,
            ports[0].port,
            ports.len() - 1
        ),
    };
    Cell {
        name,
        rate_bps: Num(ports[0].rate_gbps * 1e9),
        values: METRICS.iter().map(|of| Num(of.most(ports))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_greatest_of_its_ports_and_nothing_that_none_was_read_of() {
        let port = |port, utilisation, dropped_frames| PortRow {
            node_name: "leaf0".to_owned(),
            peer_name: format!("spine{port}"),
            port,
            rate_gbps: 400.0,
            utilisation,
            dropped_frames,
            queue_high_water_bytes: 100 * u64::from(port),
            ..PortRow::default()
        };
        let mut ports = [port(0, 0.5, 0), port(1, 0.25, 2), port(2, 0.0, 0)];
        ports[1].unread.add("dropped_frames");
        for column in ["utilisation", "dropped_frames"] {
            ports[2].unread.add(column);
        }
        let all: Vec<&PortRow> = ports.iter().collect();
        let one = cell(&all[..1]);
        assert_eq!(one.name, "leaf0:0 → spine0");
        assert_eq!(one.rate_bps, Num(4e11));
        assert_eq!(one.values, [50.0, 0.0, 0.0, 0.0].map(Num));
        let both = cell(&all[..2]);
        assert_eq!(both.name, "leaf0:0 and 1 more, the greatest");
        // Frames that were lost are counted, be it only where a port receives.
        assert_eq!(both.values, [50.0, 0.0, 2.0, 100.0].map(Num));
        let unread = cell(&all[2..]).values;
        assert!(unread[0].0.is_nan() && unread[2].0.is_nan());
        assert_eq!((unread[1], unread[3]), (Num(0.0), Num(200.0)));
        let full = metrics(&ports).map(|metric| metric.full);
        assert_eq!(full, [100.0, 0.0, 2.0, 200.0].map(Num));
    }

    #[test]
    fn many_links_share_cells_and_many_switches_rows() {
        let port = |node: u32, port: u16| PortRow {
            node,
            node_name: format!("leaf{node}"),
            port,
            peer_name: "spine".to_owned(),
            ..PortRow::default()
        };
        let ports: Vec<PortRow> = (0..300)
            .flat_map(|node| (0..32).map(move |at| port(node, at)))
            .collect();
        let way = Direction { from: 1, to: 2 };
        let ports: Vec<&PortRow> = ports.iter().collect();
        let Picture { lead, plot, .. } = direction("leaf → spine".to_owned(), way, &ports, &[]);
        assert!(lead.starts_with("9,600 links"), "{lead}");
        // Three switches to each of 100 rows, three ports to each of 32 cells.
        assert_eq!(plot.matches("\"cells\":[").count(), 100);
        assert_eq!(plot.matches("\"rate_bps\"").count(), 100 * 32);
        assert!(plot.contains("{\"name\":\"leaf297 …\",\"cells\""), "{plot}");
        assert!(plot.contains("leaf0:3 and 2 more, the greatest"), "{plot}");
    }
}
