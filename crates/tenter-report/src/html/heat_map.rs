//! The links of the fabric, tier by tier, coloured by load, pauses or drops.

use std::collections::BTreeMap;

use tenter_record::PortRow;

use super::rect::Rect;
use super::text::{add, count, escape, number, time};
use crate::trial_data::TrialData;
use tenter_record::{Direction, Tiers};

/// The most cells of one direction; beyond it neighbours share a cell that shows the greatest.
const CELLS: usize = 4_096;
/// The most rows of one direction.
const ROWS: usize = 128;
const LEFT: f64 = 110.0;
const WIDTH: f64 = 970.0;

/// Adds the section.
pub(super) fn section(id: usize, trial: &TrialData, tiers: &Tiers, page: &mut String) {
    let mut directions: BTreeMap<Direction, Vec<&PortRow>> = BTreeMap::new();
    for port in &trial.ports {
        directions
            .entry(tiers.direction(port))
            .or_default()
            .push(port);
    }
    add(page, format_args!("<section id=\"links{id}\">"));
    page.push_str(
        "<h2>Links</h2>\
         <p class=\"lead\">Every link of the fabric in each direction, one cell per sending port. Uneven colour within a row is uneven load balancing.</p>\
         <div class=\"controls\" role=\"group\" aria-label=\"What the colour shows\">\
         <button type=\"button\" data-metric=\"u\" aria-pressed=\"true\">Utilisation</button>\
         <button type=\"button\" data-metric=\"p\" aria-pressed=\"false\">Paused</button>\
         <button type=\"button\" data-metric=\"d\" aria-pressed=\"false\">Dropped</button>\
         <button type=\"button\" data-metric=\"q\" aria-pressed=\"false\">Deepest queue</button></div>",
    );
    let greatest = Greatest::of(&trial.ports);
    greatest.legend(page);
    super::fabric::draw(trial, tiers, page);
    // Upwards first, from the NICs; then down again.
    let (up, down): (Vec<_>, Vec<_>) = directions.iter().partition(|(way, _)| way.is_upward());
    for (&way, ports) in up.into_iter().chain(down.into_iter().rev()) {
        direction(&tiers.direction_name(way), way, ports, &greatest, page);
    }
    page.push_str("</section>\n");
}

/// The greatest value of any link, which has the full colour.
struct Greatest {
    paused: f64,
    dropped: f64,
    queue: f64,
}

impl Greatest {
    fn of(ports: &[PortRow]) -> Greatest {
        let greatest =
            |value: &dyn Fn(&PortRow) -> f64| ports.iter().map(value).fold(0.0, f64::max);
        Greatest {
            paused: greatest(&|port| port.paused.as_ns()),
            dropped: greatest(&|port| (port.dropped_frames + port.rx_dropped_frames) as f64),
            queue: greatest(&|port| port.queue_high_water_bytes as f64),
        }
    }

    fn legend(&self, page: &mut String) {
        let ends = [
            ("u", "100%".to_owned()),
            ("p", time(self.paused)),
            ("d", format!("{} frames", count(self.dropped as u64))),
            ("q", super::text::bytes(self.queue)),
        ];
        page.push_str("<p class=\"ramp\"><span>0</span><i aria-hidden=\"true\"></i>");
        for (metric, text) in ends {
            let hidden = if metric == "u" { "" } else { " hidden" };
            add(
                page,
                format_args!("<span data-end=\"{metric}\"{hidden}>{text}</span>"),
            );
        }
        page.push_str("</p>");
    }
}

/// All links from one tier to another.
fn direction(
    name: &str,
    way: Direction,
    ports: &[&PortRow],
    greatest: &Greatest,
    page: &mut String,
) {
    // NICs have one port each; their row is that of the switch to which they are cabled.
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
    add(
        page,
        format_args!(
            "<h3>{} <small>{} links; {}</small></h3>",
            escape(name),
            count(ports.len() as u64),
            utilisation(ports),
        ),
    );
    cells(name, &merged, greatest, page);
}

/// The utilisation of the ports whose counters were read, in words.
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

fn cells(name: &str, rows: &[(String, Vec<&PortRow>)], greatest: &Greatest, page: &mut String) {
    let total: usize = rows.iter().map(|row| row.1.len()).sum();
    let per_cell = total.div_ceil(CELLS);
    let columns = rows.iter().map(|row| row.1.len().div_ceil(per_cell)).max();
    let columns = columns.unwrap_or(1).max(1);
    let width = (WIDTH / columns as f64).min(36.0);
    let height = match rows.len() {
        0..=16 => 18.0,
        17..=48 => 11.0,
        _ => 6.0,
    };
    let gap = if width > 6.0 { 1.5 } else { 0.3 };
    add(
        page,
        format_args!(
            "<svg class=\"heat\" viewBox=\"0 0 1100 {}\" role=\"img\" tabindex=\"0\" data-marks aria-label=\"Links {}\">",
            rows.len() as f64 * height + 4.0,
            escape(name)
        ),
    );
    for (number, (label, ports)) in rows.iter().enumerate() {
        let y = number as f64 * height + 2.0;
        // A line of text is 12 high.
        let every = (12.0 / height).ceil() as usize;
        if number % every == 0 {
            add(
                page,
                format_args!(
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    LEFT - 8.0,
                    y + height.min(18.0) / 2.0 + 4.0,
                    escape(&shortened(label))
                ),
            );
        }
        for (column, group) in ports.chunks(per_cell).enumerate() {
            let x = LEFT + column as f64 * width;
            let place = Rect {
                x,
                y,
                width: width - gap,
                height: height - gap.min(1.5),
            };
            cell(place, group, greatest, page);
        }
    }
    page.push_str("</svg>\n");
}

fn cell(place: Rect, ports: &[&PortRow], greatest: &Greatest, page: &mut String) {
    let most = |value: &dyn Fn(&PortRow) -> f64| ports.iter().map(|p| value(p)).fold(0.0, f64::max);
    let share = |value: f64, of: f64| if of > 0.0 { value / of } else { 0.0 };
    let utilisation = most(&|port| port.utilisation).min(1.0);
    let paused = most(&|port| port.paused.as_ns());
    let dropped = most(&|port| (port.dropped_frames + port.rx_dropped_frames) as f64);
    let queue = most(&|port| port.queue_high_water_bytes as f64);
    let lead = match ports {
        [port] => format!("{}:{} → {}", port.node_name, port.port, port.peer_name),
        _ => format!(
            "{}:{} and {} more, the greatest",
            ports[0].node_name,
            ports[0].port,
            ports.len() - 1
        ),
    };
    // What nobody read is none of these.
    let read = |column: &str, text: String| {
        let is_read = ports.iter().any(|port| !port.unread.lacks(column));
        if is_read { text } else { "not read".to_owned() }
    };
    let busy = format!("{}% busy", number(utilisation * 100.0, 4));
    let tip = format!(
        "{lead}\n{} Gb/s, {}\npaused {}\ndropped frames {}\ndeepest queue {}",
        number(ports[0].rate_gbps, 4),
        read("utilisation", busy),
        read("paused_ns", time(paused)),
        if dropped > 0.0 {
            count(dropped as u64)
        } else {
            read("dropped_frames", "0".to_owned())
        },
        read("queue_high_water_bytes", super::text::bytes(queue)),
    );
    let Rect {
        x,
        y,
        width,
        height,
    } = place;
    let mark = match (
        dropped > 0.0,
        ports.iter().all(|p| p.unread.lacks("utilisation")),
    ) {
        (true, _) => " lossy",
        (false, true) => " unread",
        (false, false) => "",
    };
    add(
        page,
        format_args!(
            "<rect class=\"m{mark}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             style=\"--v:{:.3}\" data-u=\"{:.3}\" data-p=\"{:.3}\" data-d=\"{:.3}\" data-q=\"{:.3}\" data-t=\"{}\"/>",
            utilisation,
            utilisation,
            share(paused, greatest.paused),
            share(dropped, greatest.dropped),
            share(queue, greatest.queue),
            escape(&tip),
        ),
    );
}

/// A name that fits beside its row.
pub(super) fn shortened(name: &str) -> String {
    const FITS: usize = 18;
    if name.chars().count() <= FITS {
        return name.to_owned();
    }
    let start: String = name.chars().take(FITS - 1).collect();
    format!("{start}…")
}
